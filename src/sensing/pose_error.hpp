// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <Eigen/Geometry>
#include <pinocchio/spatial/explog.hpp>

namespace prime {

/// Measured pose of a body on the base, and the estimated pose at the time of measurement.
///
/// The body has a lever arm from the base's origin. The measurement was taken `age` before a node,
/// in the step with the mean velocity `(v, omega)`, and in a world that is rotated by psi.
struct SeenPose {
  Eigen::Vector3d p, v, omega;  ///< of the base [m, m/s, rad/s], the latter two in its axes
  Eigen::Matrix3d R;            ///< of the base in the world
  Eigen::Vector3d phi;          ///< rotation between base and body [rad]
  Eigen::Vector3d lever;        ///< of the body in the base [m]
  Eigen::Vector3d psi;          ///< rotation of the world in which the pose was seen [rad]
  double age;                   ///< [s]
  Eigen::Vector3d p_seen;       ///< [m]
  Eigen::Matrix3d R_seen;

  /// Position and rotation of the estimate minus the measured ones, with `then = R exp(-age
  /// omega)`:
  ///
  ///     [exp(psi) (p - age R v + then lever) - p_seen;  log(R_seen^T exp(psi) then exp(phi))]
  ///
  /// [m, rad]
  Eigen::Matrix<double, 6, 1> error() const {
    const Eigen::Matrix3d world = pinocchio::exp3(psi);
    const Eigen::Matrix3d then = R * pinocchio::exp3(Eigen::Vector3d(-age * omega));
    const Eigen::Matrix3d body = world * then * pinocchio::exp3(phi);
    Eigen::Matrix<double, 6, 1> e;
    e << world * (p - age * (R * v) + then * lever) - p_seen,
        pinocchio::log3(Eigen::Matrix3d(R_seen.transpose() * body));
    return e;
  }
};

}  // namespace prime
