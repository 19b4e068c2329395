// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <algorithm>
#include <cmath>

namespace prime {

constexpr double kTorqueWidth = 0.1;     ///< t of the smoothed |tau| [Nm]
constexpr double kLeastVelocity = 1e-3;  ///< of Stribeck's friction [rad/s]

/// |tau| = sqrt(tau^2 + t^2) - t, and its slope.
inline double torqueSize(const double torque, double& slope) {
  const double root = std::sqrt(torque * torque + kTorqueWidth * kTorqueWidth);
  slope = torque / root;
  return root - kTorqueWidth;
}

/// What is left at a joint rate of the friction of a joint that begins to move: exp(-(r/n)^2).
inline double breakaway(const double rate, const double velocity) {
  const double ratio = rate / std::max(velocity, kLeastVelocity);
  return std::exp(-ratio * ratio);
}

}  // namespace prime
