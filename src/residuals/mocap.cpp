// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include <pinocchio/spatial/explog.hpp>
#include <pinocchio/spatial/skew.hpp>

#include "residuals/residual.hpp"
#include "sensing/pose_error.hpp"

namespace prime {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Motion capture: pose of the tracked body, taken `age` before the node. Reading: position [m] and
/// quaternion (xyzw).
///
///     e = [p - age R v - p_read;  log(R_read^T R exp(-age omega) exp(phi))]   [m, rad]
///
/// back along the step, whose mean velocity is (v, omega). phi: parameter `mocap`, rotation between
/// base and tracked body [rad].
class Mocap : public Residual {
 public:
  explicit Mocap(const Context&) : Residual("mocap", 6, 7) {}

  std::vector<ParameterBlock> parameters() const override { return {{"mocap", 3}}; }

  void bind(Columns& columns) override {
    const auto& z = columns.variables;
    position_ = columns.take(z.position, 6);
    velocity_ = columns.take(z.velocity, 6);
    offset_ = columns.takeParameters("mocap");
    offset_first_ = columns.findParameters("mocap").first;
  }

  void value(const NodePoint& at, const Reading& reading, Scratch*, Vector e) const override {
    const SeenPose seen{at.q.head<3>(), at.v.head<3>(), at.v.segment<3>(3),      at.R_world_base,
                        phi(at),        reading.age,    reading.value.head<3>(), rotation(reading)};
    e.head<3>() = seen.place();
    e.tail<3>() = seen.turn();
  }

  void jacobian(const NodePoint& at, const Reading& reading, Scratch*, Matrix J) const override {
    const Vector3d v = at.v.head<3>(), back = -reading.age * at.v.segment<3>(3);
    const Matrix3d& R = at.R_world_base;
    const Matrix3d turn = pinocchio::exp3(back), offset = pinocchio::exp3(phi(at));
    Matrix3d by_log, by_back, by_phi = Matrix3d::Zero();
    pinocchio::Jlog3(Matrix3d(rotation(reading).transpose() * R * turn * offset), by_log);
    pinocchio::Jexp3(back, by_back);
    pinocchio::Jexp3(phi(at), by_phi);
    const Matrix3d moved = reading.age * R * pinocchio::skew(v);
    const Matrix3d turned = by_log * (turn * offset).transpose();
    const Matrix3d turned_back = -reading.age * by_log * offset.transpose() * by_back;
    by_phi = (by_log * by_phi).eval();
    for (int i = 0; i < 3; ++i) {
      J.col(position_[i]).head<3>() = R.col(i);
      J.col(position_[3 + i]).head<3>() = moved.col(i);
      J.col(velocity_[i]).head<3>() = -reading.age * R.col(i);
      J.col(position_[3 + i]).tail<3>() = turned.col(i);
      J.col(velocity_[3 + i]).tail<3>() = turned_back.col(i);
      J.col(offset_[i]).tail<3>() = by_phi.col(i);
    }
  }

 private:
  Vector3d phi(const NodePoint& at) const { return at.p.segment<3>(offset_first_); }
  static Matrix3d rotation(const Reading& reading) {
    return Eigen::Quaterniond(reading.value.tail<4>()).toRotationMatrix();
  }

  std::vector<int> position_, velocity_, offset_;
  int offset_first_ = 0;
};

const Residual::Registration registered("mocap", [](const Residual::Context& context) {
  return std::make_shared<Mocap>(context);
});

}  // namespace

}  // namespace prime
