// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <pinocchio/spatial/explog.hpp>
#include <pinocchio/spatial/skew.hpp>

#include "residuals/residual.hpp"

namespace prime {

/// Base class of the residuals of an IMU: its mount, and the variables of the base and of the
/// joints between base and IMU.
///
/// Where mounts are parameters, the block `imu_rotation` is the rotation phi of the true IMU
/// relative to the model's: a vector u in axes of the model's IMU is `exp(-phi) u` in axes of the
/// true one.
class ImuResidual : public Residual {
 public:
  ImuResidual(const std::string& name, const Context& context, const When when = When::State,
              const int values = 3, const int rows = 3)
      : Residual(name, rows, values, when), mount(context.mount), turnable_(context.mounts) {}

  std::vector<ParameterBlock> parameters() const override {
    if (turnable_) return {{"imu_rotation", 3}};
    return {};
  }

  void bind(Columns& columns) override {
    const auto& z = columns.variables;
    turn_ = columns.takeParameters("imu_rotation");
    turn_first_ = columns.findParameters("imu_rotation").first;
    next_ = columns.take(z.next, 6);
    position_ = columns.take(z.position, 6);
    velocity_ = columns.take(z.velocity, 6);
    for (const auto& joint : mount.joints()) {
      joint_next_.push_back(columns.take(z.next + joint.v));
      joint_position_.push_back(columns.take(z.position + joint.v));
      joint_velocity_.push_back(columns.take(z.velocity + joint.v));
    }
  }

  std::unique_ptr<Scratch> createScratch() const override { return std::make_unique<Chain>(mount); }

  const ImuMount mount;

 protected:
  bool mounts() const { return turnable_; }

  struct Chain : Scratch {
    explicit Chain(const ImuMount& mount) : imu(mount) {}
    ImuMount::Data imu;
    Eigen::VectorXd mid, acceleration;
    Eigen::MatrixXd by_z;  ///< of three rows, where a residual has a combination of them
  };

  static ImuMount::Data& chain(Scratch* scratch) { return static_cast<Chain*>(scratch)->imu; }

  /// The rotation phi; 0 where mounts are no parameters.
  Eigen::Vector3d turn(const NodePoint& at) const {
    if (turn_.empty()) return Eigen::Vector3d::Zero();
    return at.p.segment<3>(turn_first_);
  }
  /// Rotate a vector from the axes of the model's IMU into those of the true one.
  Eigen::Vector3d turned(const NodePoint& at, const Eigen::Vector3d& vector) const {
    return turn_.empty() ? vector : pinocchio::exp3(Eigen::Vector3d(-turn(at))) * vector;
  }
  /// Jacobian of `turned` from that of the vector: `d(exp(-phi) u) = exp(-phi) (du + [u]x Jl(phi)
  /// dphi)`.
  void turnJacobian(const NodePoint& at, const Eigen::Vector3d& vector, Matrix J) const {
    if (turn_.empty()) return;
    const Eigen::Vector3d phi = turn(at);
    const Eigen::Matrix3d back = pinocchio::exp3(Eigen::Vector3d(-phi));
    Eigen::Matrix3d left = Eigen::Matrix3d::Zero();
    pinocchio::Jexp3(Eigen::Vector3d(-phi), left);  // left Jacobian at phi
    for (Eigen::Index i = 0; i < J.cols(); ++i) J.col(i) = (back * J.col(i)).eval();
    const Eigen::Matrix3d by_turn = back * pinocchio::skew(vector) * left;
    for (int i = 0; i < 3; ++i) J.col(turn_[i]) = by_turn.col(i);
  }

  /// Angular velocity of the true IMU, `exp(-phi) omega_imu`, mean over the step that ends at the
  /// node. v_k is the mean velocity over that step, so the chain stands where the joints were in
  /// the middle of it.
  Eigen::Vector3d turnRate(const NodePoint& at, Scratch* scratch) const {
    auto& imu = chain(scratch);
    mount.place(imu, at.q, at.v, -0.5 * at.dt);
    return turned(at, mount.angularVelocity(imu, at.v));
  }
  /// Jacobian of `turnRate`; J (3, columns) is zero on entry.
  void turnRateJacobian(const NodePoint& at, Scratch* scratch, Matrix J) const {
    auto& imu = chain(scratch);
    mount.place(imu, at.q, at.v, -0.5 * at.dt);
    mount.angularVelocityDerivatives(imu, at.v);
    for (int i = 0; i < 6; ++i) J.col(velocity_[i]) = imu.by_twist.col(i);
    for (int i = 0; i < mount.size(); ++i) {
      J.col(joint_position_[i]) = imu.by_position.col(i);
      J.col(joint_velocity_[i]) = imu.by_rate.col(i) - 0.5 * at.dt * imu.by_position.col(i);
    }
    turnJacobian(at, mount.angularVelocity(imu, at.v), J);
  }

  // places of v+, q, v of the base and of the chain's joints
  std::vector<int> next_, position_, velocity_, joint_next_, joint_position_, joint_velocity_;
  std::vector<int> turn_;  ///< of phi; empty where mounts are no parameters

 private:
  bool turnable_;
  int turn_first_ = -1;
};

}  // namespace prime
