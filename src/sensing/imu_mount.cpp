// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "sensing/imu_mount.hpp"

#include <cmath>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/spatial/explog.hpp>
#include <pinocchio/spatial/skew.hpp>
#include <stdexcept>

namespace prime {

using Eigen::Vector3d;
using pinocchio::Motion;
using pinocchio::SE3;

namespace {

constexpr std::size_t kBase = 1;

/// (A, V) of the IMU's body in base axes at the base's origin -> specific force in IMU axes.
Vector3d pointForce(const SE3& base_M_imu, const Motion& V, const Motion& A) {
  const Motion v = base_M_imu.actInv(V);
  return base_M_imu.actInv(A).linear() + v.angular().cross(v.linear());
}

/// Change of `pointForce` when V and A change by dV and dA.
Vector3d pointForceChange(const SE3& base_M_imu, const Motion& V, const Motion& dV,
                          const Motion& dA) {
  const Motion v = base_M_imu.actInv(V), dv = base_M_imu.actInv(dV);
  return base_M_imu.actInv(dA).linear() + dv.angular().cross(v.linear()) +
         v.angular().cross(dv.linear());
}

}  // namespace

ImuMount::Data::Data(const ImuMount& mount)
    : base_M_imu(SE3::Identity()),
      screw(mount.size(), Motion::Zero()),
      by_twist(Eigen::Matrix<double, 3, 6>::Zero()),
      by_accel(by_twist),
      by_rotation(Eigen::Matrix3d::Zero()),
      by_position(Eigen::Matrix3Xd::Zero(3, mount.size())),
      by_rate(by_position),
      by_joint_accel(by_position),
      by_lever(Eigen::Matrix3d::Zero()) {}

ImuMount::ImuMount(const pinocchio::Model& model, const std::size_t joint, const SE3& joint_M_imu)
    : last_M_imu_(joint_M_imu) {
  // a joint with one degree of freedom moves along a screw that is constant in its own frame
  pinocchio::Data data(model);
  pinocchio::computeJointJacobians(model, data, pinocchio::neutral(model));
  for (const auto j : model.supports.at(joint)) {
    if (j <= kBase) continue;
    const auto& m = model.joints[j];
    if (m.nv() != 1)
      throw std::invalid_argument("IMU: joint '" + model.names[j] +
                                  "' has more than one degree of freedom");
    const Motion axis = data.oMi[j].actInv(Motion(data.J.col(m.idx_v())));
    joints_.push_back({model.jointPlacements[j], axis, m.idx_q(), m.nq(), m.idx_v()});
  }
}

void ImuMount::place(Data& data, const ConstRef& q, const ConstRef& v, const double shift) const {
  SE3 pose = SE3::Identity();
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    const auto& joint = joints_[i];
    const double position = joint.nq == 2 ? std::atan2(q[joint.q + 1], q[joint.q]) : q[joint.q];
    pose = pose * joint.placement *
           pinocchio::exp6(Motion(joint.axis * (position + shift * v[joint.v])));
    data.screw[i] = pose.act(joint.axis);
  }
  data.base_M_imu = pose * last_M_imu_;
}

Motion ImuMount::relativeTwist(const Data& data, const ConstRef& v) const {
  Motion twist = Motion::Zero();
  for (std::size_t i = 0; i < joints_.size(); ++i) twist += data.screw[i] * v[joints_[i].v];
  return twist;
}

Vector3d ImuMount::angularVelocity(const Data& data, const ConstRef& v) const {
  return data.base_M_imu.rotation().transpose() *
         (v.segment<3>(3) + relativeTwist(data, v).angular());
}

void ImuMount::angularVelocityDerivatives(Data& data, const ConstRef& v) const {
  const Eigen::Matrix3d to_imu = data.base_M_imu.rotation().transpose();
  data.by_twist << Eigen::Matrix3d::Zero(), to_imu;
  Vector3d omega = v.segment<3>(3);
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    const Vector3d axis = data.screw[i].angular();
    data.by_position.col(i) = to_imu * omega.cross(axis);
    data.by_rate.col(i) = to_imu * axis;
    omega += axis * v[joints_[i].v];
  }
}

Vector3d ImuMount::specificForce(const Data& data, const ConstRef& v, const ConstRef& a,
                                 const Vector3d& gravity_base) const {
  Motion V(Vector6(v.head<6>())), A(Vector6(a.head<6>()));
  A.linear() -= gravity_base;
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    const Motion rate = data.screw[i] * v[joints_[i].v];
    A += data.screw[i] * a[joints_[i].v] + V.cross(rate);
    V += rate;
  }
  return pointForce(data.base_M_imu, V, A);
}

void ImuMount::specificForceDerivatives(Data& data, const ConstRef& v, const ConstRef& a,
                                        const Vector3d& gravity_base) const {
  const SE3& X = data.base_M_imu;
  const Motion base(Vector6(v.head<6>())), relative = relativeTwist(data, v), V = base + relative;
  for (int k = 0; k < 6; ++k) {
    const Motion unit(Vector6(Vector6::Unit(k)));
    data.by_twist.col(k) = pointForceChange(X, V, unit, unit.cross(relative));
    data.by_accel.col(k) = X.actInv(unit).linear();
  }
  data.by_rotation = -X.rotation().transpose() * pinocchio::skew(gravity_base);
  Motion before = base, A(Vector6(a.head<6>()));  // of the body before the joint
  A.linear() -= gravity_base;
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    const Motion& S = data.screw[i];
    const Motion rate = S * v[joints_[i].v], behind = V - before - rate, moved = before.cross(S);
    data.by_position.col(i) =
        pointForceChange(X, V, moved, A.cross(S) + moved.cross(Motion(V - before)));
    data.by_rate.col(i) = pointForceChange(X, V, S, moved + S.cross(behind));
    data.by_joint_accel.col(i) = X.actInv(S).linear();
    A += S * a[joints_[i].v] + before.cross(rate);
    before += rate;
  }
  const Eigen::Matrix3d to_imu = X.rotation().transpose();
  const Eigen::Matrix3d omega = pinocchio::skew(Vector3d(to_imu * V.angular()));
  data.by_lever = pinocchio::skew(Vector3d(to_imu * A.angular())) + omega * omega;
}

}  // namespace prime
