// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "control/solver_receding_horizon.hpp"

#include <cmath>
#include <stdexcept>

namespace prime {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr double kSteps[] = {1.0, 0.5, 0.25, 0.1};
constexpr double kWorse = 1.5;            ///< cost of an accepted step relative to the guess's
constexpr double kDamping = 1e-9;         ///< of the Hessians, where all is well
constexpr double kLargestDamping = 1e-1;  ///< beyond it the direction is given up
constexpr double kMoreDamping = 1e3;

}  // namespace

bool SolverRecedingHorizon::improve(const VectorXd& x0, const Eigen::Ref<const MatrixXd>& xs,
                                    const Eigen::Ref<const MatrixXd>& us,
                                    const std::size_t iterations) {
  const auto N = static_cast<Eigen::Index>(problem_->get_T());
  if (xs.cols() != N + 1 || us.cols() != N)
    throw std::invalid_argument("receding horizon: a guess needs N + 1 states and N controls");
  std::vector<VectorXd> x(N + 1), u(N);
  for (Eigen::Index k = 0; k <= N; ++k) x[k] = xs.col(k);
  for (Eigen::Index k = 0; k < N; ++k) u[k] = us.col(k);
  problem_->set_x0(x0);
  setCandidate(x, u, false);
  preg_ = dreg_ = kDamping;
  bool moved = false;
  for (std::size_t i = 0; i < iterations; ++i) {
    if (direction() && search()) {
      moved = true;
    } else {
      ++refused_;
      preg_ = dreg_ = std::min(preg_ * kMoreDamping, kLargestDamping);
    }
  }
  return moved;
}

bool SolverRecedingHorizon::direction() {
  for (bool again = false;; again = true) {
    try {
      computeDirection(!again);
      return true;
    } catch (const std::exception&) {  // Quu is not positive definite
      if (preg_ >= kLargestDamping) return false;
      preg_ = dreg_ = std::min(preg_ * kMoreDamping, kLargestDamping);
    }
  }
}

bool SolverRecedingHorizon::search() {
  const double allowed = kWorse * std::abs(cost_);
  double cheapest = std::numeric_limits<double>::infinity(), best = 0.0;
  for (const double alpha : kSteps) {
    try {
      tryStep(alpha);
    } catch (const std::exception&) {  // the rollout left the range of numbers
      continue;
    }
    if (!std::isfinite(cost_try_)) continue;
    if (cost_try_ < cheapest) cheapest = cost_try_, best = alpha;
    if (cost_try_ <= allowed) break;
  }
  if (best == 0.0) return false;
  if (cost_try_ != cheapest) tryStep(best);
  setCandidate(xs_try_, us_try_, best == 1.0);
  cost_ = cost_try_;
  return true;
}

MatrixXd SolverRecedingHorizon::states() const {
  MatrixXd out(xs_.front().size(), xs_.size());
  for (std::size_t k = 0; k < xs_.size(); ++k) out.col(k) = xs_[k];
  return out;
}

MatrixXd SolverRecedingHorizon::controls() const {
  MatrixXd out(us_.front().size(), us_.size());
  for (std::size_t k = 0; k < us_.size(); ++k) out.col(k) = us_[k];
  return out;
}

}  // namespace prime
