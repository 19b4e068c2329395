// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include <pinocchio/spatial/explog.hpp>
#include <pinocchio/spatial/skew.hpp>

#include "residuals/residual.hpp"

namespace prime {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Odometry of a LiDAR or camera, `age` before the node: pose of the base in a frame that drifts,
/// and its velocity.
///
///     e = [p - age R v - (p_K + R_K r);  log((R_K S)^T R exp(-age omega));  v - v_read]
///     p_K = p_0 + dp,  R_K = exp(dphi) R_0                             [m, rad, m/s]
///
/// (p_K, R_K): pose in the world of the odometry's last key frame; (r, S): what the odometry says
/// of the base relative to it. Reading: (p_0, quaternion of R_0, r, quaternion of S, v_read), 17
/// values. Parameter `odometry_frame`: (dp, dphi), a random walk, which is the drift.
class ExternalOdometry : public Residual {
 public:
  explicit ExternalOdometry(const Context&) : Residual("external_odometry", 9, 17) {}

  std::vector<ParameterBlock> parameters() const override { return {{"odometry_frame", 6}}; }

  std::vector<int> outliers() const override { return {6, 3}; }

  void bind(Columns& columns) override {
    const auto& z = columns.variables;
    position_ = columns.take(z.position, 6);
    velocity_ = columns.take(z.velocity, 6);
    frame_ = columns.takeParameters("odometry_frame");
    frame_first_ = columns.findParameters("odometry_frame").first;
  }

  void value(const NodePoint& at, const Reading& reading, Scratch*, Vector e) const override {
    const Seen seen(at, reading, frame_first_);
    e.head<3>() = at.q.head<3>() - reading.age * (at.R_world_base * at.v.head<3>()) -
                  seen.key_position - seen.arm;
    e.segment<3>(3) = pinocchio::log3(seen.error);
    e.tail<3>() = at.v.head<3>() - reading.value.tail<3>();
  }

  void jacobian(const NodePoint& at, const Reading& reading, Scratch*, Matrix J) const override {
    const Seen seen(at, reading, frame_first_);
    const Matrix3d& R = at.R_world_base;
    const Vector3d back = -reading.age * at.v.segment<3>(3),
                   turn = at.p.segment<3>(frame_first_ + 3);
    Matrix3d by_log, by_back, by_turn;
    by_log.setZero(), by_back.setZero(), by_turn.setZero();
    pinocchio::Jlog3(seen.error, by_log);
    pinocchio::Jexp3(back, by_back);
    pinocchio::Jexp3(Vector3d(-turn), by_turn);  // the left Jacobian of turn
    const Matrix3d moved = reading.age * R * pinocchio::skew(Vector3d(at.v.head<3>()));
    const Matrix3d turned = by_log * pinocchio::exp3(back).transpose();
    const Matrix3d turned_back = -reading.age * by_log * by_back;
    const Matrix3d arm_by_turn = pinocchio::skew(seen.arm) * by_turn;
    const Matrix3d turned_by_turn = -by_log * seen.R_then.transpose() * by_turn;
    for (int i = 0; i < 3; ++i) {
      J.col(position_[i]).head<3>() = R.col(i);
      J.col(position_[3 + i]).head<3>() = moved.col(i);
      J.col(velocity_[i]).head<3>() = -reading.age * R.col(i);
      J(i, frame_[i]) = -1.0;
      J.col(frame_[3 + i]).head<3>() = arm_by_turn.col(i);
      J.col(position_[3 + i]).segment<3>(3) = turned.col(i);
      J.col(velocity_[3 + i]).segment<3>(3) = turned_back.col(i);
      J.col(frame_[3 + i]).segment<3>(3) = turned_by_turn.col(i);
      J(6 + i, velocity_[i]) = 1.0;
    }
  }

 private:
  /// What a reading says of the base's pose at its own time.
  struct Seen {
    Seen(const NodePoint& at, const Reading& reading, const int first) {
      const auto rotation = [&reading](const int from) {
        return Eigen::Quaterniond(reading.value.segment<4>(from)).toRotationMatrix();
      };
      const Matrix3d R_key = pinocchio::exp3(Vector3d(at.p.segment<3>(first + 3))) * rotation(3);
      key_position = reading.value.head<3>() + at.p.segment<3>(first);
      arm = R_key * reading.value.segment<3>(7);
      R_then =
          at.R_world_base * pinocchio::exp3(Vector3d(-reading.age * Vector3d(at.v.segment<3>(3))));
      error = (R_key * rotation(10)).transpose() * R_then;
    }
    Vector3d key_position, arm;
    Matrix3d R_then, error;
  };

  std::vector<int> position_, velocity_, frame_;
  int frame_first_ = 0;
};

const Residual::Registration external_odometry("external_odometry",
                                               [](const Residual::Context& context) {
                                                 return std::make_shared<ExternalOdometry>(context);
                                               });

}  // namespace

}  // namespace prime
