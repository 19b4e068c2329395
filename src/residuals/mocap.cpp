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
///     e = [W (p - s R v + R B l) - p_read;  log(R_read^T W R B exp(phi))],   B = exp(-s omega)
///
/// [m, rad], s = age + delay back along the step, whose mean velocity is (v, omega); W = exp(psi),
/// psi horizontal. phi: parameter `mocap`, rotation between base and tracked body [rad]. Where
/// mounts are parameters, also `mocap_position` l, place of the body in the base against the
/// model's [m], `mocap_delay`, by which stamps are late [s], and `mocap_world` psi, roll and pitch
/// of its world against gravity [rad].
class Mocap : public Residual {
 public:
  explicit Mocap(const Context& context) : Residual("mocap", 6, 7), mounts_(context.mounts) {}

  std::vector<ParameterBlock> parameters() const override {
    if (!mounts_) return {{"mocap", 3}};
    return {{"mocap", 3}, {"mocap_position", 3}, {"mocap_delay", 1}, {"mocap_world", 2}};
  }

  void bind(Columns& columns) override {
    const auto& z = columns.variables;
    position_ = columns.take(z.position, 6);
    velocity_ = columns.take(z.velocity, 6);
    offset_.bind(columns, "mocap");
    lever_.bind(columns, "mocap_position");
    delay_.bind(columns, "mocap_delay");
    world_.bind(columns, "mocap_world");
  }

  void value(const NodePoint& at, const Reading& reading, Scratch*, Vector e) const override {
    e = pose(at, reading).error();
  }

  void jacobian(const NodePoint& at, const Reading& reading, Scratch*, Matrix J) const override {
    const SeenPose seen = pose(at, reading);
    const Vector3d back = -seen.age * seen.omega;
    const Matrix3d turn = pinocchio::exp3(back), offset = pinocchio::exp3(seen.phi);
    const Matrix3d world = pinocchio::exp3(seen.psi), A = world * seen.R;
    Matrix3d by_log, by_back, by_phi = Matrix3d::Zero();
    pinocchio::Jlog3(Matrix3d(seen.R_seen.transpose() * A * turn * offset), by_log);
    pinocchio::Jexp3(back, by_back);
    pinocchio::Jexp3(seen.phi, by_phi);
    const Matrix3d by_turn = by_log * offset.transpose();  // of the base then
    const Matrix3d moved = A * pinocchio::skew(Vector3d(seen.age * seen.v - turn * seen.lever));
    const Matrix3d swung = seen.age * A * turn * pinocchio::skew(seen.lever) * by_back;
    const Matrix3d turned = by_turn * turn.transpose(), turned_back = -seen.age * by_turn * by_back;
    by_phi = (by_log * by_phi).eval();
    for (int i = 0; i < 3; ++i) {
      J.col(position_[i]).head<3>() = A.col(i);
      J.col(position_[3 + i]).head<3>() = moved.col(i);
      J.col(position_[3 + i]).tail<3>() = turned.col(i);
      J.col(velocity_[i]).head<3>() = -seen.age * A.col(i);
      J.col(velocity_[3 + i]).head<3>() = swung.col(i);
      J.col(velocity_[3 + i]).tail<3>() = turned_back.col(i);
      J.col(offset_.columns[i]).tail<3>() = by_phi.col(i);
    }
    if (mounts_) mountJacobian(seen, world, seen.R * turn, by_turn, J);
  }

 private:
  /// A parameter block: its columns, and its first index in p; none where it is no parameter.
  struct Block {
    void bind(Columns& all, const std::string& name) {
      columns = all.takeParameters(name);
      first = all.findParameters(name).first;
    }
    /// Its values in front, zeros behind.
    Vector3d of(const NodePoint& at) const {
      Vector3d out = Vector3d::Zero();
      for (std::size_t i = 0; i < columns.size(); ++i) out[i] = at.p[first + static_cast<int>(i)];
      return out;
    }
    std::vector<int> columns;
    int first = -1;
  };

  SeenPose pose(const NodePoint& at, const Reading& reading) const {
    return {
        at.q.head<3>(),          at.v.head<3>(),
        at.v.segment<3>(3),      at.R_world_base,
        offset_.of(at),          lever_.of(at),
        world_.of(at),           reading.age + delay_.of(at)[0],
        reading.value.head<3>(), Eigen::Quaterniond(reading.value.tail<4>()).toRotationMatrix()};
  }

  /// By place of the body, delay and world; `then`: rotation of the base when it was seen;
  /// `by_turn`: of the error's rotation by that.
  void mountJacobian(const SeenPose& seen, const Matrix3d& world, const Matrix3d& then,
                     const Matrix3d& by_turn, Matrix J) const {
    Matrix3d by_psi = Matrix3d::Zero();
    pinocchio::Jexp3(seen.psi, by_psi);
    const Vector3d place = seen.p - seen.age * (seen.R * seen.v) + then * seen.lever;
    const Matrix3d swayed = -world * pinocchio::skew(place) * by_psi;
    const Matrix3d rolled = by_turn * then.transpose() * by_psi, at_lever = world * then;
    for (int i = 0; i < 3; ++i) J.col(lever_.columns[i]).head<3>() = at_lever.col(i);
    for (int i = 0; i < 2; ++i) J.col(world_.columns[i]) << swayed.col(i), rolled.col(i);
    const Vector3d late = -(world * seen.R) * seen.v - at_lever * seen.omega.cross(seen.lever);
    J.col(delay_.columns[0]) << late, Vector3d(-by_turn * seen.omega);
  }

  bool mounts_;
  std::vector<int> position_, velocity_;
  Block offset_, lever_, delay_, world_;
};

const Residual::Registration mocap("mocap", [](const Residual::Context& context) {
  return std::make_shared<Mocap>(context);
});

}  // namespace

}  // namespace prime
