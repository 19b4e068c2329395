// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include "residuals/residual.hpp"

namespace prime {

/// What the residuals of an IMU share: its mount, and the variables of the base and of the joints
/// between base and IMU.
class ImuResidual : public Residual {
 public:
  ImuResidual(const std::string& name, const Context& context, const When when = When::State,
              const int values = 3)
      : Residual(name, 3, values, when), mount(context.mount) {}

  void bind(Columns& columns) override {
    const auto& z = columns.variables;
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
  struct Chain : Scratch {
    explicit Chain(const ImuMount& mount) : imu(mount) {}
    ImuMount::Data imu;
    Eigen::VectorXd mid, acceleration;
  };

  static ImuMount::Data& chain(Scratch* scratch) { return static_cast<Chain*>(scratch)->imu; }

  // places of v+, q, v of the base and of the chain's joints
  std::vector<int> next_, position_, velocity_, joint_next_, joint_position_, joint_velocity_;
};

}  // namespace prime
