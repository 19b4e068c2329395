// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "residuals/imu_residual.hpp"

namespace prime {

namespace {

using Eigen::Vector3d;

/// Turn of the heading of the IMU's own filter: `e = up^T exp(-phi) omega_imu - reading` [rad/s],
/// mean over the step that ends at the node, as of the gyro, but without the gyro's bias: the
/// filter has taken that out. How its world lies in ours does not matter, so no parameter holds it.
///
/// Reading: the rate about the vertical, and the vertical `up` in IMU axes by the same filter; a
/// degree of error in it changes the rate by its cosine.
class Heading : public ImuResidual {
 public:
  explicit Heading(const Context& context) : ImuResidual("heading", context, When::State, 4, 1) {}

  void value(const NodePoint& at, const Reading& reading, Scratch* scratch,
             Vector e) const override {
    auto& imu = chain(scratch);
    mount.place(imu, at.q, at.v, -0.5 * at.dt);
    e[0] = up(reading).dot(turned(at, mount.angularVelocity(imu, at.v))) - reading.value[0];
  }

  void jacobian(const NodePoint& at, const Reading& reading, Scratch* scratch,
                Matrix J) const override {
    auto& imu = chain(scratch);
    mount.place(imu, at.q, at.v, -0.5 * at.dt);
    mount.angularVelocityDerivatives(imu, at.v);
    // of the vertical before the IMU turned in its mount
    const Vector3d axis =
        turn_.empty() ? up(reading) : Vector3d(pinocchio::exp3(turn(at)) * up(reading));
    for (int i = 0; i < 6; ++i) J(0, velocity_[i]) = axis.dot(imu.by_twist.col(i));
    for (int i = 0; i < mount.size(); ++i) {
      const Vector3d by_rate = imu.by_rate.col(i) - 0.5 * at.dt * imu.by_position.col(i);
      J(0, joint_position_[i]) = axis.dot(imu.by_position.col(i));
      J(0, joint_velocity_[i]) = axis.dot(by_rate);
    }
    if (turn_.empty()) return;
    // d(exp(-phi) u) = exp(-phi) [u]x Jl(phi) dphi
    Eigen::Matrix3d left = Eigen::Matrix3d::Zero();
    pinocchio::Jexp3(Vector3d(-turn(at)), left);  // left Jacobian at phi
    const Vector3d omega = mount.angularVelocity(imu, at.v);
    const Eigen::RowVector3d by_turn = axis.transpose() * pinocchio::skew(omega) * left;
    for (int i = 0; i < 3; ++i) J(0, turn_[i]) = by_turn[i];
  }

 private:
  static Vector3d up(const Reading& reading) { return reading.value.segment<3>(1); }
};

const Residual::Registration registered("heading", [](const Residual::Context& context) {
  return std::make_shared<Heading>(context);
});

}  // namespace

}  // namespace prime
