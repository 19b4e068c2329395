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
    e[0] = up(reading).dot(turnRate(at, scratch)) - reading.value[0];
  }

  void jacobian(const NodePoint& at, const Reading& reading, Scratch* scratch,
                Matrix J) const override {
    auto& by_z = static_cast<Chain*>(scratch)->by_z;
    by_z.setZero(3, J.cols());
    turnRateJacobian(at, scratch, by_z);
    J.row(0).noalias() = up(reading).transpose() * by_z;
  }

 private:
  static Vector3d up(const Reading& reading) { return reading.value.segment<3>(1); }
};

const Residual::Registration heading("heading", [](const Residual::Context& context) {
  return std::make_shared<Heading>(context);
});

}  // namespace

}  // namespace prime
