// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include <pinocchio/spatial/explog.hpp>

#include "residuals/imu_residual.hpp"

namespace prime {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Orientation of the IMU's own filter, in its own world: `e = log3(R_world_imu exp(phi) M^T)`
/// [rad], world axes: roll, pitch and heading; `M = exp(dphi) R_0 R_filter`.
///
/// R_0: the filter's world in ours, as it was taken at first, a turn about the vertical. Reading:
/// quaternions of R_0 and R_filter, 8 values. Parameter `orientation_frame`: dphi, the filter's
/// slow errors of roll and pitch, and the drift of its heading.
class Orientation : public ImuResidual {
 public:
  explicit Orientation(const Context& context)
      : ImuResidual("orientation", context, When::State, 8) {}

  std::vector<ParameterBlock> parameters() const override {
    auto blocks = ImuResidual::parameters();
    blocks.push_back({"orientation_frame", 3});
    return blocks;
  }

  std::vector<int> outliers() const override { return {3}; }

  void bind(Columns& columns) override {
    ImuResidual::bind(columns);
    frame_ = columns.takeParameters("orientation_frame");
    frame_first_ = columns.findParameters("orientation_frame").first;
  }

  void value(const NodePoint& at, const Reading& reading, Scratch* scratch,
             Vector e) const override {
    e = pinocchio::log3(error(at, reading, scratch));
  }

  void jacobian(const NodePoint& at, const Reading& reading, Scratch* scratch,
                Matrix J) const override {
    const Matrix3d E = error(at, reading, scratch);
    auto& imu = chain(scratch);
    const Vector3d drift = at.p.segment<3>(frame_first_);
    Matrix3d by_world, by_error, by_drift;
    by_world.setZero(), by_error.setZero(), by_drift.setZero();
    pinocchio::Jlog3(Matrix3d(E.transpose()), by_world);  // inverse left Jacobian of log E
    pinocchio::Jlog3(E, by_error);
    pinocchio::Jexp3(Vector3d(-drift), by_drift);  // left Jacobian of drift
    const Matrix3d by_base = by_world * at.R_world_base;
    const Matrix3d by_frame = -by_error * by_drift;
    for (int i = 0; i < 3; ++i) {
      J.col(position_[3 + i]) = by_base.col(i);
      J.col(frame_[i]) = by_frame.col(i);
    }
    for (int i = 0; i < mount.size(); ++i)
      J.col(joint_position_[i]) = by_base * imu.screw[i].angular();
    if (turn_.empty()) return;
    Matrix3d left = Matrix3d::Zero();
    pinocchio::Jexp3(Vector3d(-turn(at)), left);  // left Jacobian of phi
    const Matrix3d by_turn = by_base * imu.base_M_imu.rotation() * left;
    for (int i = 0; i < 3; ++i) J.col(turn_[i]) = by_turn.col(i);
  }

 private:
  /// R_world_imu exp(phi) M^T
  Matrix3d error(const NodePoint& at, const Reading& reading, Scratch* scratch) const {
    auto& imu = chain(scratch);
    mount.place(imu, at.q, at.v, 0.0);
    const auto rotation = [&reading](const int from) {
      return Eigen::Quaterniond(reading.value.segment<4>(from)).toRotationMatrix();
    };
    const Matrix3d M =
        pinocchio::exp3(Vector3d(at.p.segment<3>(frame_first_))) * rotation(0) * rotation(4);
    const Matrix3d imu_turn = pinocchio::exp3(turn(at));
    return at.R_world_base * imu.base_M_imu.rotation() * imu_turn * M.transpose();
  }

  std::vector<int> frame_;
  int frame_first_ = 0;
};

const Residual::Registration orientation("orientation", [](const Residual::Context& context) {
  return std::make_shared<Orientation>(context);
});

}  // namespace

}  // namespace prime
