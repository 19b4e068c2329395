// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include <pinocchio/spatial/skew.hpp>

#include "residuals/imu_residual.hpp"

namespace prime {

namespace {

/// Attitude of the IMU's own filter, of which only the vertical is used:
/// `e = exp(-phi) up_imu - reading`, unit vectors in IMU axes. Its heading drifts.
class Tilt : public ImuResidual {
 public:
  explicit Tilt(const Context& context) : ImuResidual("tilt", context) {}

  void value(const NodePoint& at, const Reading& reading, Scratch* scratch,
             Vector e) const override {
    auto& imu = chain(scratch);
    mount.place(imu, at.q, at.v, 0.0);
    e = turned(at, up(at, imu)) - reading.value;
  }

  void jacobian(const NodePoint& at, const Reading&, Scratch* scratch, Matrix J) const override {
    auto& imu = chain(scratch);
    mount.place(imu, at.q, at.v, 0.0);
    // up, seen from the base, turns with whatever carries the IMU
    const Eigen::Vector3d base_up = at.R_world_base.row(2).transpose();
    const Eigen::Matrix3d to_imu = imu.base_M_imu.rotation().transpose();
    const Eigen::Matrix3d by_turn = to_imu * pinocchio::skew(base_up);
    for (int i = 0; i < 3; ++i) J.col(position_[3 + i]) = by_turn.col(i);
    for (int i = 0; i < mount.size(); ++i)
      J.col(joint_position_[i]) = by_turn * imu.screw[i].angular();
    turnJacobian(at, up(at, imu), J);
  }

 private:
  /// The vertical in axes of the model's IMU.
  static Eigen::Vector3d up(const NodePoint& at, const ImuMount::Data& imu) {
    return (at.R_world_base * imu.base_M_imu.rotation()).row(2).transpose();
  }
};

const Residual::Registration tilt("tilt", [](const Residual::Context& context) {
  return std::make_shared<Tilt>(context);
});

}  // namespace

}  // namespace prime
