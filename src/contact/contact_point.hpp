// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <Eigen/Core>
#include <pinocchio/spatial/motion.hpp>
#include <string>
#include <vector>

namespace prime {

/// A contact sphere, fixed in the frame of a joint.
struct ContactPoint {
  std::string name;
  std::size_t joint;         ///< joint that carries it
  Eigen::Vector3d position;  ///< centre in the joint's frame [m]
  Eigen::Vector3d lever;  ///< centre relative to the foot's frame origin, in the joint's frame [m]
  double radius;          ///< [m]
  std::size_t foot;       ///< index of the foot: contacts of a foot share ground and disturbance
};

/// Contacts of one foot on one joint. Their forces add up to one wrench, so that products with
/// Jacobians are computed once for all of them.
struct ContactBody {
  std::size_t joint, foot;
  std::vector<std::size_t> contacts;
};

/// Contact flag of a foot in a step. The smoothed law needs none.
enum class Stance { Open, Closed, Landing };

/// Velocity of the world point p under the spatial velocity `twist` (linear at the world's origin,
/// angular).
template <class Twist>
Eigen::Vector3d pointVelocity(const Twist& twist, const Eigen::Vector3d& p) {
  return twist.template head<3>() + Eigen::Vector3d(twist.template tail<3>()).cross(p);
}
inline Eigen::Vector3d pointVelocity(const pinocchio::Motion& twist, const Eigen::Vector3d& p) {
  return twist.linear() + twist.angular().cross(p);
}

}  // namespace prime
