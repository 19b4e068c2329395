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
///     e = [p - age R v + R B l - p_read;  log(R_read^T R B exp(phi))],  B = exp(-age omega)
///
/// [m, rad], back along the step, whose mean velocity is (v, omega). phi: parameter `mocap`,
/// rotation between base and tracked body [rad]. l: `mocap_position`, where mounts are parameters:
/// place of the body in the base against the model's [m].
class Mocap : public Residual {
 public:
  explicit Mocap(const Context& context)
      : Residual("mocap", 6, 7), movable_(context.mounts) {}

  std::vector<ParameterBlock> parameters() const override {
    if (movable_) return {{"mocap", 3}, {"mocap_position", 3}};
    return {{"mocap", 3}};
  }

  void bind(Columns& columns) override {
    const auto& z = columns.variables;
    position_ = columns.take(z.position, 6);
    velocity_ = columns.take(z.velocity, 6);
    offset_ = columns.takeParameters("mocap");
    offset_first_ = columns.findParameters("mocap").first;
    lever_ = columns.takeParameters("mocap_position");
    lever_first_ = columns.findParameters("mocap_position").first;
  }

  void value(const NodePoint& at, const Reading& reading, Scratch*, Vector e) const override {
    const SeenPose seen{at.q.head<3>(),          at.v.head<3>(), at.v.segment<3>(3),
                        at.R_world_base,         phi(at),        lever(at),
                        reading.age,             reading.value.head<3>(),
                        rotation(reading)};
    e.head<3>() = seen.place();
    e.tail<3>() = seen.turn();
  }

  void jacobian(const NodePoint& at, const Reading& reading, Scratch*, Matrix J) const override {
    const Vector3d v = at.v.head<3>(), back = -reading.age * at.v.segment<3>(3), l = lever(at);
    const Matrix3d& R = at.R_world_base;
    const Matrix3d turn = pinocchio::exp3(back), offset = pinocchio::exp3(phi(at));
    Matrix3d by_log, by_back, by_phi = Matrix3d::Zero();
    pinocchio::Jlog3(Matrix3d(rotation(reading).transpose() * R * turn * offset), by_log);
    pinocchio::Jexp3(back, by_back);
    pinocchio::Jexp3(phi(at), by_phi);
    const Matrix3d moved = R * pinocchio::skew(Vector3d(reading.age * v - turn * l));
    const Matrix3d swung = reading.age * R * turn * pinocchio::skew(l) * by_back;
    const Matrix3d turned = by_log * (turn * offset).transpose();
    const Matrix3d turned_back = -reading.age * by_log * offset.transpose() * by_back;
    by_phi = (by_log * by_phi).eval();
    for (int i = 0; i < 3; ++i) {
      J.col(position_[i]).head<3>() = R.col(i);
      J.col(position_[3 + i]).head<3>() = moved.col(i);
      J.col(velocity_[i]).head<3>() = -reading.age * R.col(i);
      J.col(position_[3 + i]).tail<3>() = turned.col(i);
      J.col(velocity_[3 + i]).head<3>() = swung.col(i);
      J.col(velocity_[3 + i]).tail<3>() = turned_back.col(i);
      J.col(offset_[i]).tail<3>() = by_phi.col(i);
    }
    if (lever_.empty()) return;
    const Matrix3d then = R * turn;
    for (int i = 0; i < 3; ++i) J.col(lever_[i]).head<3>() = then.col(i);
  }

 private:
  Vector3d phi(const NodePoint& at) const { return at.p.segment<3>(offset_first_); }
  Vector3d lever(const NodePoint& at) const {
    if (lever_.empty()) return Vector3d::Zero();
    return at.p.segment<3>(lever_first_);
  }
  static Matrix3d rotation(const Reading& reading) {
    return Eigen::Quaterniond(reading.value.tail<4>()).toRotationMatrix();
  }

  bool movable_;
  std::vector<int> position_, velocity_, offset_, lever_;
  int offset_first_ = 0, lever_first_ = -1;
};

const Residual::Registration registered("mocap", [](const Residual::Context& context) {
  return std::make_shared<Mocap>(context);
});

}  // namespace

}  // namespace prime
