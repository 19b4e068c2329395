// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "residuals/imu_residual.hpp"

namespace prime {

namespace {

/// Accelerometer: `e = exp(-phi) f_imu + b_a - reading` [m/s^2], IMU axes, triangular mean centred
/// at the node. `f_imu` is the specific force at the mean velocity (v + v+)/2 and the acceleration
/// (v+ - v)/dt of the step that follows.
///
/// Parameter `imu_position`, where mounts are parameters: l, by which the IMU is away from its
/// place in the model, in the axes that the model has of it [m]. It adds
/// `alpha x l + omega x (omega x l)` to the specific force.
class Accelerometer : public ImuResidual {
 public:
  explicit Accelerometer(const Context& context)
      : ImuResidual("accelerometer", context, When::Step) {}

  std::vector<ParameterBlock> parameters() const override {
    auto blocks = ImuResidual::parameters();
    if (mounts()) blocks.push_back({"imu_position", 3});
    blocks.push_back({"accelerometer_bias", 3});
    return blocks;
  }

  void bind(Columns& columns) override {
    ImuResidual::bind(columns);
    bias_ = columns.takeParameters("accelerometer_bias");
    bias_first_ = columns.findParameters("accelerometer_bias").first;
    lever_ = columns.takeParameters("imu_position");
    lever_first_ = columns.findParameters("imu_position").first;
  }

  void value(const NodePoint& at, const Reading& reading, Scratch* scratch,
             Vector e) const override {
    auto& chain = static_cast<Chain&>(*scratch);
    const Eigen::Vector3d gravity = place(at, chain);
    e = turned(at, mount.specificForce(chain.imu, chain.mid, chain.acceleration, gravity)) -
        reading.value + at.p.segment<3>(bias_first_);
  }

  void jacobian(const NodePoint& at, const Reading&, Scratch* scratch, Matrix J) const override {
    auto& chain = static_cast<Chain&>(*scratch);
    const Eigen::Vector3d gravity = place(at, chain);
    auto& imu = chain.imu;
    mount.specificForceDerivatives(imu, chain.mid, chain.acceleration, gravity);
    for (int i = 0; i < 6; ++i) {
      J.col(next_[i]) = 0.5 * imu.by_twist.col(i) + imu.by_accel.col(i) / at.dt;
      J.col(velocity_[i]) = 0.5 * imu.by_twist.col(i) - imu.by_accel.col(i) / at.dt;
    }
    for (int i = 0; i < 3; ++i) J.col(position_[3 + i]) = imu.by_rotation.col(i);
    for (int i = 0; i < mount.size(); ++i) {
      J.col(joint_next_[i]) = 0.5 * imu.by_rate.col(i) + imu.by_joint_accel.col(i) / at.dt;
      J.col(joint_position_[i]) = imu.by_position.col(i);
      J.col(joint_velocity_[i]) = 0.5 * imu.by_rate.col(i) - imu.by_joint_accel.col(i) / at.dt;
    }
    for (std::size_t i = 0; i < lever_.size(); ++i) J.col(lever_[i]) = imu.by_lever.col(i);
    turnJacobian(at, mount.specificForce(imu, chain.mid, chain.acceleration, gravity), J);
    for (int i = 0; i < 3; ++i) J(i, bias_[i]) = 1.0;
  }

 private:
  /// Chain, mean velocity and acceleration of the step that follows; gravity in base axes.
  Eigen::Vector3d place(const NodePoint& at, Chain& chain) const {
    const auto& next = at.step->out.vplus;
    chain.mid = 0.5 * (at.v + next);
    chain.acceleration = (next - at.v) / at.dt;
    mount.place(chain.imu, at.q, at.v, 0.0);
    if (!lever_.empty()) ImuMount::move(chain.imu, at.p.segment<3>(lever_first_));
    return at.R_world_base.transpose() * at.dynamics->model().gravity.linear();
  }

  std::vector<int> bias_, lever_;  ///< the latter empty where mounts are no parameters
  int bias_first_ = 0, lever_first_ = -1;
};

const Residual::Registration accelerometer("accelerometer", [](const Residual::Context& context) {
  return std::make_shared<Accelerometer>(context);
});

}  // namespace

}  // namespace prime
