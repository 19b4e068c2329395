// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// What the sensors say about a node: residuals and their Jacobians.
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/spatial/explog.hpp>

#include "nodes/action_measurement.hpp"

namespace prime {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using pinocchio::skew;

void ActionMeasurement::stateResidual(Data& d, const ConstRef& x) const {
  const auto nq = dynamics->nq();
  const auto& in = *input;
  const auto p = x.tail(np);
  // joints: a difference on the manifold, since continuous joints have more coordinates than rates
  pinocchio::difference(dynamics->model(), in.position, x.head(nq), d.dq);
  d.r.segment(row_encoder_, nj_) = in.weight_position.cwiseProduct(d.dq.tail(nj_));
  d.r.segment(row_rate_, nj_) =
      in.weight_velocity.cwiseProduct(x.segment(nq + nv_ - nj_, nj_) - in.velocity);
  d.r.segment(row_gyro_, 6 + kPoseRows).setZero();
  if (!dynamics->floating_base) return;

  const Vector3d v = x.segment<3>(nq), omega = x.segment<3>(nq + 3);
  const Matrix3d R = baseRotation(x);
  const auto q = x.head(nq), rates = x.segment(nq, nv_);
  if (!in.weight_gyro.isZero(0.0)) {
    // v_k is the mean over the past step: where the joints were in the middle of it
    mount.place(d.imu, q, rates, -0.5 * dt);
    Vector3d e = mount.angularVelocity(d.imu, rates) - in.gyro;
    if (layout.gyro_bias >= 0) e += p.segment<3>(layout.gyro_bias);
    d.r.segment<3>(row_gyro_) = in.weight_gyro.cwiseProduct(e);
  }
  if (in.weight_tilt > 0.0) {
    mount.place(d.imu, q, rates, 0.0);
    d.r.segment<3>(row_tilt_) =
        in.weight_tilt *
        ((R * d.imu.base_M_imu.rotation()).row(2) - in.orientation.row(2)).transpose();
  }
  const Matrix3d offset = layout.mocap >= 0 ? pinocchio::exp3(Vector3d(p.segment<3>(layout.mocap)))
                                            : Matrix3d::Identity();
  for (std::size_t i = 0; i < NodeInput::kPoses; ++i) {
    const auto& pose = in.pose[i];
    if (!(pose.weight_position > 0.0) && !(pose.weight_rotation > 0.0)) continue;
    // back along the step, whose mean velocity is v_k
    const Matrix3d R_then = R * pinocchio::exp3(Vector3d(-pose.age * omega));
    d.r.segment<3>(row_pose_ + 6 * i) =
        pose.weight_position * (x.head<3>() - pose.age * (R * v) - pose.position);
    d.r.segment<3>(row_pose_ + 6 * i + 3) =
        pose.weight_rotation *
        pinocchio::log3(Matrix3d(pose.rotation.transpose() * R_then * offset));
  }
}

/// Weights of the rows that touch one variable, and the dense rows but for the accelerometer's, in
/// the variables of z.
void ActionMeasurement::sensorJacobian(Data& d, const ConstRef& x) const {
  const auto& in = *input;
  const auto q = nu_ + nv_ - nj_;
  d.diagonal.head(nxi_) = in.weight_xi;
  d.diagonal.segment(q, nj_) = in.weight_position;
  d.diagonal.segment(q + nv_, nj_) = in.weight_velocity;
  d.S.setZero();
  if (!dynamics->floating_base) return;
  if (!in.weight_gyro.isZero(0.0)) gyroJacobian(d, x);
  if (in.weight_tilt > 0.0) tiltJacobian(d, x);
  poseJacobian(d, x);
}

void ActionMeasurement::gyroJacobian(Data& d, const ConstRef& x) const {
  const auto nq = dynamics->nq();
  const auto rates = x.segment(nq, nv_);
  const auto weight = input->weight_gyro.asDiagonal();
  const int n = mount.size();
  mount.place(d.imu, x.head(nq), rates, -0.5 * dt);
  mount.angularVelocityDerivatives(d.imu, rates);
  auto rows = d.S.topRows<3>();
  rows.middleCols<6>(kVelocity) = weight * d.imu.by_twist;
  rows.middleCols(column_chain_ + n, n) = weight * d.imu.by_position;
  rows.middleCols(column_chain_ + 2 * n, n) =
      weight * (d.imu.by_rate - 0.5 * dt * d.imu.by_position);
  if (column_gyro_ >= 0) rows.middleCols<3>(column_gyro_).diagonal() = input->weight_gyro;
}

void ActionMeasurement::tiltJacobian(Data& d, const ConstRef& x) const {
  const auto nq = dynamics->nq();
  mount.place(d.imu, x.head(nq), x.segment(nq, nv_), 0.0);
  // up, seen from the base, turns with whatever carries the IMU
  const Matrix3d scaled = input->weight_tilt * d.imu.base_M_imu.rotation().transpose();
  const Matrix3d turn = scaled * skew(Vector3d(baseRotation(x).row(2).transpose()));
  auto rows = d.S.middleRows<3>(row_tilt_ - row_gyro_);
  rows.middleCols<3>(kPosition + 3) = turn;
  for (int i = 0; i < mount.size(); ++i)
    rows.col(column_chain_ + mount.size() + i) = turn * d.imu.screw[i].angular();
}

void ActionMeasurement::poseJacobian(Data& d, const ConstRef& x) const {
  const auto nq = dynamics->nq();
  const Vector3d v = x.segment<3>(nq), omega = x.segment<3>(nq + 3);
  const Matrix3d R = baseRotation(x);
  const Vector3d phi =
      layout.mocap >= 0 ? Vector3d(x.tail(np).segment<3>(layout.mocap)) : Vector3d::Zero();
  Matrix3d Jlog, Jexp;
  for (std::size_t i = 0; i < NodeInput::kPoses; ++i) {
    const auto& pose = input->pose[i];
    if (!(pose.weight_position > 0.0) && !(pose.weight_rotation > 0.0)) continue;
    const auto row = row_pose_ - row_gyro_ + 6 * i;
    const double wp = pose.weight_position, wr = pose.weight_rotation, s = pose.age;
    d.S.block<3, 3>(row, kPosition) = wp * R;
    d.S.block<3, 3>(row, kPosition + 3) = wp * s * R * skew(v);
    d.S.block<3, 3>(row, kVelocity) = -wp * s * R;
    const Vector3d back = -s * omega;
    const Matrix3d turn = pinocchio::exp3(back), offset = pinocchio::exp3(phi);
    pinocchio::Jlog3(Matrix3d(pose.rotation.transpose() * R * turn * offset), Jlog);
    d.S.block<3, 3>(row + 3, kPosition + 3) = wr * Jlog * (turn * offset).transpose();
    pinocchio::Jexp3(back, Jexp);
    d.S.block<3, 3>(row + 3, kVelocity + 3) = -wr * s * Jlog * offset.transpose() * Jexp;
    if (column_mocap_ < 0) continue;
    pinocchio::Jexp3(phi, Jexp);
    d.S.block<3, 3>(row + 3, column_mocap_) = wr * Jlog * Jexp;
  }
}

/// Chain, mean velocity and acceleration of the step that follows the node.
void ActionMeasurement::placeAccelerometer(Data& d, const ConstRef& x) const {
  const auto nq = dynamics->nq();
  const auto v = x.segment(nq, nv_);
  d.mid = 0.5 * (v + d.dynamics.vplus);
  d.acceleration = (d.dynamics.vplus - v) / dt;
  d.gravity_base = baseRotation(x).transpose() * dynamics->model().gravity.linear();
  mount.place(d.imu, x.head(nq), v, 0.0);
}

void ActionMeasurement::accelerometer(Data& d, const ConstRef& x) const {
  d.r.tail<3>().setZero();
  if (!dynamics->floating_base || input->weight_accelerometer.isZero(0.0)) return;
  placeAccelerometer(d, x);
  Vector3d e =
      mount.specificForce(d.imu, d.mid, d.acceleration, d.gravity_base) - input->accelerometer;
  if (layout.accelerometer_bias >= 0) e += x.tail(np).segment<3>(layout.accelerometer_bias);
  d.r.tail<3>() = input->weight_accelerometer.cwiseProduct(e);
}

void ActionMeasurement::accelerometerJacobian(Data& d, const ConstRef& x) const {
  if (!dynamics->floating_base || input->weight_accelerometer.isZero(0.0)) return;
  const auto weight = input->weight_accelerometer.asDiagonal();
  placeAccelerometer(d, x);
  auto& imu = d.imu;
  mount.specificForceDerivatives(imu, d.mid, d.acceleration, d.gravity_base);
  const int n = mount.size();
  auto rows = d.S.bottomRows<3>();
  rows.middleCols<6>(kNext) = weight * (0.5 * imu.by_twist + imu.by_accel / dt);
  rows.middleCols<3>(kPosition + 3) = weight * imu.by_rotation;
  rows.middleCols<6>(kVelocity) = weight * (0.5 * imu.by_twist - imu.by_accel / dt);
  rows.middleCols(column_chain_, n) = weight * (0.5 * imu.by_rate + imu.by_joint_accel / dt);
  rows.middleCols(column_chain_ + n, n) = weight * imu.by_position;
  rows.middleCols(column_chain_ + 2 * n, n) =
      weight * (0.5 * imu.by_rate - imu.by_joint_accel / dt);
  if (column_accelerometer_ >= 0)
    rows.middleCols<3>(column_accelerometer_).diagonal() = input->weight_accelerometer;
}

}  // namespace prime
