// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <algorithm>
#include <cmath>

namespace prime {

/// Merit `cost + nu gaps` of multiple shooting, gaps = sum |f_k|_1, with the rule by which a step
/// is accepted.
///
/// What a step of length alpha is expected to bring takes the gaps into account twice: slope and
/// curvature are those of the cost along the rollout that closes them, and a share alpha of them is
/// closed (Martinez, Griffin and Mastalli). The penalty nu grows to what makes the full step one of
/// descent; letting it fall again makes the iterates circle. A step must improve on a mean of the
/// iterates in which the past fades by kMemory per iteration (non-monotone Armijo rule of Zhang and
/// Hager): a valley that bends is followed with longer steps.
class Merit {
 public:
  void reset() { nu_ = 1.0, weight_ = 0.0, mean_cost_ = 0.0, mean_gaps_ = 0.0; }

  /// A new iteration at a point with (cost, gaps), and the model of the cost along the step.
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

  /// `share` of the expected change is asked for.
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
