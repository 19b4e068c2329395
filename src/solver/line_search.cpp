// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// The iterations of SolverMultipleShooting: trial points, the search along them, shorter steps
// where it fails.
#include <limits>

#include "linalg/solve_error.hpp"
#include "solver/solver_multiple_shooting.hpp"

namespace prime {

using Eigen::VectorXd;

namespace {

constexpr double kStepLengths[] = {1.0, 0.5, 0.25, 0.125, 0.0625};
constexpr double kLeastDamping = 1e-9;  ///< below: none

}  // namespace

double SolverMultipleShooting::sumOfGaps(const std::vector<VectorXd>& fs) {
  double sum = 0.0;
  for (const auto& f : fs) sum += f.lpNorm<1>();
  return sum;
}

/// The trial point at a fraction of the linear rollout.
void SolverMultipleShooting::makeTrial(const double alpha) {
  const std::size_t T = problem_->get_T();
  for (std::size_t t = 0; t <= T; ++t) {
    const auto& state = t < T ? problem_->get_runningModels()[t]->get_state()
                              : problem_->get_terminalModel()->get_state();
    state->integrate(xs_[t], alpha * dxs_[t], xs_try_[t]);
    if (t < T) us_try_[t] = us_[t] + alpha * dus_[t];
  }
}

/// The trial point by a rollout through the dynamics, with feedback; (1 - alpha) of each gap is
/// left open.
void SolverMultipleShooting::rollTrial(const double alpha) {
  const auto& models = problem_->get_runningModels();
  const std::size_t T = problem_->get_T();
  models[0]->get_state()->integrate(xs_[0], alpha * dxs_[0], xs_try_[0]);
  for (std::size_t t = 0; t < T; ++t) {
    const auto& state = models[t]->get_state();
    const auto& data = problem_->get_runningDatas()[t];
    if (t == 0 && has_arrival_) {
      us_try_[0] = us_[0] + alpha * dus_[0];
    } else {
      state->diff(xs_[t], xs_try_[t], deviation_);
      stages_[t]->control(*data, deviation_, alpha, us_try_[t]);
      us_try_[t] += us_[t];
    }
    models[t]->calc(data, xs_try_[t], us_try_[t]);
    state->integrate(data->xnext, (alpha - 1.0) * fs_[t + 1], xs_try_[t + 1]);
  }
}

double SolverMultipleShooting::tryStep(const double alpha) {
  if (rollout == Rollout::Multiple)
    makeTrial(alpha);
  else
    rollTrial(alpha);
  cost_try_ = evaluate(xs_try_, us_try_);
  return cost_ - cost_try_;
}

bool SolverMultipleShooting::lineSearch() {
  merit_function_.begin(cost_, gaps_, slope_, curvature_);
  merit_ = merit_function_.value(cost_, gaps_);
  for (const double alpha : kStepLengths) {
    double change = 0.0;
    interruption->check();
    try {
      change = tryStep(alpha);
    } catch (const SolveError&) {
      continue;  // an infeasible trial point: shorten the step
    }
    if (!merit_function_.accepts(cost_try_, sumOfGaps(fs_try_), alpha, th_acceptstep_)) continue;
    steplength_ = alpha;
    dVexp_ = merit_function_.expected(alpha);
    dV_ = change;
    cost_ = cost_try_;
    std::swap(xs_, xs_try_);
    std::swap(us_, us_try_);
    std::swap(fs_, fs_try_);
    return true;
  }
  return false;
}

/// After a refused step: a smaller trust region where that bounds the step; damping where it does
/// not, or has not been enough.
void SolverMultipleShooting::tighten(const bool again) {
  const bool bounded = arrival_.bounded();
  if (bounded) arrival_.scaleRegion(0.25);
  if (!bounded || again) preg_ = std::max(10.0 * preg_, 1e-3);
  evaluate(xs_, us_);  // the nodes hold a refused trial point
}

/// Change of the cost by the step: what closing the gaps costs, every gap by itself, and what is
/// gained beside it. (The sum of the two may be near zero far from a solution.) The gain is that of
/// the undamped step in the unshrunk trust region, or more: a step may promise little only because
/// others have been refused. Of a convex model the gain is concave in the radius, so D(1) <= D(r) /
/// r.
double SolverMultipleShooting::stoppingCriteria() {
  const double gain = std::max(0.0, closing_.sum - slope_ - 0.5 * curvature_);
  return (1.0 + damping_) * (gain / arrival_.share() + closing_.size) + gaps_;
}

const Eigen::Vector2d& SolverMultipleShooting::expectedImprovement() {
  d_ << slope_, curvature_;
  return d_;
}

bool SolverMultipleShooting::solve(const std::vector<VectorXd>& xs, const std::vector<VectorXd>& us,
                                   const std::size_t maxiter, const bool,
                                   const double regularization) {
  start(xs, us, regularization);
  return iterate(maxiter);
}

bool SolverMultipleShooting::improve(const std::vector<VectorXd>& xs,
                                     const std::vector<VectorXd>& us, const std::size_t iterations,
                                     const HeavyTails& tails) {
  start(xs, us, 0.0);
  bool converged = false;
  for (std::size_t i = 0; i < iterations; ++i) {
    if (i > 0) {  // another cost at the same point; a refused step asks for damping
      beginIterations(steplength_ > 0.0 ? 0.0 : preg_);
      cost_ = sumOfCosts();
    }
    converged = iterate(1);
    const double changed = reweight(tails);
    if (changed + remainder() < settled) break;
  }
  return converged;
}

/// What the last step has left to do: the change of the cost that its quadratic model did not
/// foresee, and what closing the gaps that it left costs, by the cost-to-go of before. Of the last
/// gap only what is not left open.
double SolverMultipleShooting::remainder() const {
  if (steplength_ < 1.0) return std::numeric_limits<double>::infinity();
  double sum = std::abs(dV_ + slope_ + 0.5 * curvature_);
  const auto closing = [this](const std::size_t t, const auto& gap) {
    return 0.5 * gap.dot(values_[t].xx * gap);
  };
  const std::size_t last = fs_.size() - 1;
  for (std::size_t t = has_arrival_ + 1; t < last; ++t) sum += closing(t, fs_[t].head(m_));
  VectorXd open = fs_[last].head(m_);
  for (const int i : left_open_) open[i] = 0.0;
  sum += closing(last, open);
  return sum;
}

bool SolverMultipleShooting::iterate(const std::size_t maxiter) {
  bool accepted = true;
  for (std::size_t i = 0; i < maxiter; ++i) {
    interruption->check();
    computeDirection(true);
    ++iter_;
    const bool again = !accepted;
    accepted = lineSearch();
    stop_ = stoppingCriteria();
    if (!accepted) {
      ++refused_;
      steplength_ = 0.0;
      tighten(again);
      if (preg_ > 1e6) return false;
      continue;
    }
    if (steplength_ == 1.0) arrival_.scaleRegion(2.0);
    if (preg_ > 0.0) preg_ = preg_ * 0.1 < kLeastDamping ? 0.0 : preg_ * 0.1;
    // the search lets the cost rise at times: that is no end
    if (std::max(stop_, std::abs(dV_)) < th_stop_ * (1.0 + std::abs(cost_))) return true;
  }
  return false;
}

}  // namespace prime
