// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <Eigen/Core>
#include <pinocchio/spatial/motion.hpp>
#include <pinocchio/spatial/se3.hpp>

namespace prime {

/// Strapdown integration: pose and velocity of an IMU in the world, from its samples.
///
///     R+ = R exp((w + w+) dt/2),   v+ = v + ((R f + R+ f+)/2 + g) dt,   p+ = p + (v + v+) dt/2
///
/// w: angular velocity, f: specific force, both without their biases.
struct Strapdown {
  using Vector3 = Eigen::Vector3d;

  Eigen::Matrix3d R = Eigen::Matrix3d::Identity();   ///< attitude of the IMU
  Vector3 p = Vector3::Zero(), v = Vector3::Zero();  ///< position [m], velocity [m/s], world axes
  Vector3 w = Vector3::Zero();                       ///< angular velocity, IMU axes [rad/s]
  Vector3 force = Vector3::Zero();                   ///< R f of the last sample [m/s^2]
  bool force_known = false;                          ///< else the next sample stands in for it
  Eigen::Matrix3d jumps = Eigen::Matrix3d::Zero();   ///< sum of (dt df)(dt df)^T, df: change of R f
                                                     ///< between samples [m^2/s^2]
  Vector3 gravity = Vector3::Zero();                 ///< world axes [m/s^2]
  Vector3 gyro_bias = Vector3::Zero(), accelerometer_bias = Vector3::Zero();

  /// Begin at the pose `world_M_imu` and the spatial velocity `velocity` (IMU axes, at the IMU).
  void start(const pinocchio::SE3& world_M_imu, const pinocchio::Motion& velocity);

  /// The specific force [m/s^2, IMU axes, with bias] of the sample at the start.
  void setForce(const Vector3& specific_force);

  /// Integrate over dt [s], to the next sample (with its biases).
  void step(double dt, const Vector3& angular_velocity, const Vector3& specific_force);

  pinocchio::SE3 pose() const { return {R, p}; }
  pinocchio::Motion velocity() const { return {R.transpose() * v, w}; }
};

/// Velocity (base axes) of a rigid base with IMU at the end of a step of dt, whose mean is `mean`:
/// half a step of acceleration is added.
///
///     v(t) - mean = integral (s/dt) dv/ds ds = dt/2 (f_ramp - w x v + R^T g - lever arm terms)
///
/// `gyro` at the end, `force`: mean with a weight that grows linearly to it; both without biases.
pinocchio::Motion velocityAtEnd(const pinocchio::Motion& mean, const Eigen::Matrix3d& R_world_base,
                                const pinocchio::SE3& base_M_imu, const Eigen::Vector3d& gyro,
                                const Eigen::Vector3d& force, const Eigen::Vector3d& gravity,
                                double dt);

}  // namespace prime
