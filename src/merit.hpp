// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>

namespace prime {

/// Merit `cost + nu gaps` of multiple shooting, gaps = sum |f_k|_1, with the rule by which a step is accepted.
///
/// What a step of length alpha is expected to bring takes the gaps into account twice: slope and curvature are those of the cost along the
/// rollout that closes them, and a share alpha of them is closed (Martinez, Griffin and Mastalli). The penalty nu falls by kForget per
/// iteration, but never below what makes the full step one of descent. A step must improve on the worst of the last kMemory iterates
/// (non-monotone Armijo rule): a valley that bends is followed with longer steps.
class Merit {
 public:
  void reset() { nu_ = 1.0, past_.clear(); }

  /// A new iteration at a point with (cost, gaps), and the model of the cost along the step.
  void begin(const double cost, const double gaps, const double slope, const double curvature) {
    gaps_ = gaps, slope_ = slope, curvature_ = curvature;
    past_.push_back({cost, gaps});
    if (past_.size() > kMemory) past_.pop_front();
    nu_ = std::max(1.0, kForget * nu_);
    if (gaps > kClosed) nu_ = std::max(nu_, (slope + 0.5 * curvature) / ((1.0 - kShare) * gaps));
  }

  double expected(const double alpha) const { return alpha * (slope_ + 0.5 * alpha * curvature_ - nu_ * gaps_); }

  /// `share` of the expected change is asked for.
  bool accepts(const double cost, const double gaps, const double alpha, const double share) const {
    if (!std::isfinite(cost) || !std::isfinite(gaps)) return false;
    double worst = 0.0;
    for (const auto& p : past_) worst = std::max(worst, p.cost + nu_ * p.gaps);
    const double round_off = 1e-12 * (1.0 + std::abs(worst));
    return cost + nu_ * gaps - worst <= share * std::min(expected(alpha), 0.0) + round_off;
  }

  double value(const double cost, const double gaps) const { return cost + nu_ * gaps; }

 private:
  static constexpr double kForget = 0.5, kShare = 0.5, kClosed = 1e-16;
  static constexpr std::size_t kMemory = 3;
  struct Point {
    double cost, gaps;
  };
  std::deque<Point> past_;
  double nu_ = 1.0, gaps_ = 0.0, slope_ = 0.0, curvature_ = 0.0;
};

}  // namespace prime
