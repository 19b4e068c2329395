// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "sensing/strapdown.hpp"

#include <pinocchio/spatial/explog.hpp>

namespace prime {

void Strapdown::start(const pinocchio::SE3& world_M_imu, const pinocchio::Motion& velocity) {
  R = world_M_imu.rotation();
  p = world_M_imu.translation();
  v = R * velocity.linear();
  w = velocity.angular();
  jumps.setZero();
  force_known = false;
}

void Strapdown::setForce(const Vector3& specific_force) {
  force = R * (specific_force - accelerometer_bias);
  force_known = true;
}

void Strapdown::step(const double dt, const Vector3& angular_velocity,
                     const Vector3& specific_force) {
  const Vector3 w_next = angular_velocity - gyro_bias;
  R = R * pinocchio::exp3(Vector3(0.5 * dt * (w + w_next)));
  const Vector3 force_next = R * (specific_force - accelerometer_bias);
  const Vector3 force_before = force_known ? force : force_next;
  const Vector3 v_next = v + dt * (0.5 * (force_before + force_next) + gravity);
  p += 0.5 * dt * (v + v_next);
  const Vector3 jump = dt * (force_next - force_before);
  jumps += jump * jump.transpose();
  v = v_next;
  w = w_next;
  force = force_next;
  force_known = true;
}

pinocchio::Motion velocityAtEnd(const pinocchio::Motion& mean, const Eigen::Matrix3d& R_world_base,
                                const pinocchio::SE3& base_M_imu, const Eigen::Vector3d& gyro,
                                const Eigen::Vector3d& force, const Eigen::Vector3d& gravity,
                                const double dt) {
  using Eigen::Vector3d;
  const Vector3d linear = mean.linear(), angular = mean.angular(), arm = base_M_imu.translation();
  const Vector3d now = base_M_imu.rotation() * gyro;
  const Vector3d alpha = 2.0 / dt * (now - angular);
  const Vector3d acceleration = base_M_imu.rotation() * force - alpha.cross(arm) -
                                angular.cross(angular.cross(arm) + linear) +
                                R_world_base.transpose() * gravity;
  return {linear + 0.5 * dt * acceleration, now};
}

}  // namespace prime
