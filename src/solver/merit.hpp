// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <algorithm>
#include <cmath>

namespace prime {

/// Merit function `cost + nu gaps` of multiple shooting, gaps = sum |f_k|_1, and the acceptance
/// rule of the line search.
///
/// The expected change of a step of length alpha contains the gaps twice: slope and curvature of
/// the cost are those along the rollout that closes the gaps, and the step closes a share alpha of
/// them (Martinez, Griffin and Mastalli). The penalty nu only grows, to the value at which the full
/// step is a descent direction; decreasing it makes the iterates cycle. A step must improve on a
/// weighted mean of the previous iterates, whose weights decay by kMemory per iteration
/// (non-monotone Armijo rule of Zhang and Hager): longer steps follow a curved valley.
class Merit {
 public:
  void reset() { nu_ = 1.0, weight_ = 0.0, mean_cost_ = 0.0, mean_gaps_ = 0.0; }

  /// Begin an iteration at an iterate with (cost, gaps). slope, curvature: of the cost along the
  /// step.
  void begin(const double cost, const double gaps, const double slope, const double curvature) {
    gaps_ = gaps, slope_ = slope, curvature_ = curvature;
    const double past = kMemory * weight_;
    weight_ = past + 1.0;
    mean_cost_ = (past * mean_cost_ + cost) / weight_;
    mean_gaps_ = (past * mean_gaps_ + gaps) / weight_;
    if (gaps > kClosed) nu_ = std::max(nu_, (slope + 0.5 * curvature) / ((1.0 - kShare) * gaps));
  }

  double expected(const double alpha) const {
    return alpha * (slope_ + 0.5 * alpha * curvature_ - nu_ * gaps_);
  }

  /// Whether a trial is accepted: it must bring `share` of the expected change.
  bool accepts(const double cost, const double gaps, const double alpha, const double share) const {
    const double merit = value(cost, gaps), mean = value(mean_cost_, mean_gaps_);
    const double round_off = 1e-12 * (1.0 + std::abs(mean));
    return std::isfinite(merit) &&
           merit - mean <= share * std::min(expected(alpha), 0.0) + round_off;
  }

  double value(const double cost, const double gaps) const { return cost + nu_ * gaps; }

 private:
  static constexpr double kMemory = 0.3, kShare = 0.5, kClosed = 1e-16;
  double nu_ = 1.0, gaps_ = 0.0, slope_ = 0.0, curvature_ = 0.0;
  double weight_ = 0.0, mean_cost_ = 0.0, mean_gaps_ = 0.0;
};

}  // namespace prime
