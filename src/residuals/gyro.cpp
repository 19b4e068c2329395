// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "residuals/imu_residual.hpp"

namespace prime {

namespace {

/// Gyro: `e = exp(-phi) omega_imu + b_g - reading` [rad/s], IMU axes, mean over the step that ends
/// at the node.
class Gyro : public ImuResidual {
 public:
  explicit Gyro(const Context& context) : ImuResidual("gyro", context) {}

  std::vector<ParameterBlock> parameters() const override {
    auto blocks = ImuResidual::parameters();
    blocks.push_back({"gyro_bias", 3});
    return blocks;
  }

  void bind(Columns& columns) override {
    ImuResidual::bind(columns);
    bias_ = columns.takeParameters("gyro_bias");
    bias_first_ = columns.findParameters("gyro_bias").first;
  }

  void value(const NodePoint& at, const Reading& reading, Scratch* scratch,
             Vector e) const override {
    e = turnRate(at, scratch) - reading.value + at.p.segment<3>(bias_first_);
  }

  void jacobian(const NodePoint& at, const Reading&, Scratch* scratch, Matrix J) const override {
    turnRateJacobian(at, scratch, J);
    for (int i = 0; i < 3; ++i) J(i, bias_[i]) = 1.0;
  }

 private:
  std::vector<int> bias_;
  int bias_first_ = 0;
};

const Residual::Registration gyro("gyro", [](const Residual::Context& context) {
  return std::make_shared<Gyro>(context);
});

}  // namespace

}  // namespace prime
