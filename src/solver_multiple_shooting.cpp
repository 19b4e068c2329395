// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "solver_multiple_shooting.hpp"

#include <exception>

#include "action_least_squares.hpp"

namespace prime {

using Eigen::MatrixXd;
using Eigen::VectorXd;

SolverMultipleShooting::SolverMultipleShooting(std::shared_ptr<crocoddyl::ShootingProblem> problem)
    : SolverFDDP(problem), slope_(0.0), curvature_(0.0), gaps_(0.0), nu_(1.0), refused_(0) {
  const auto T = problem_->get_T(), n = problem_->get_ndx();
  dxs_.assign(T + 1, VectorXd::Zero(n));
  fs_try_ = dxs_;
  P_.assign(T + 1, MatrixXd::Zero(n, n));
  for (const auto& model : problem_->get_runningModels()) dus_.push_back(VectorXd::Zero(model->get_nu()));
  th_stop_ = 1e-9;
  alphas_ = {1.0, 0.5, 0.25, 0.125, 0.0625};
  reg_min_ = 1e-9;
}

/// Nodes may have been exchanged since the last solve.
void SolverMultipleShooting::bindStages() {
  const auto& models = problem_->get_runningModels();
  stages_.resize(models.size());
  for (std::size_t t = 0; t < models.size(); ++t)
    if (!stages_[t] || !stages_[t]->fits(*models[t])) stages_[t] = Stage::make(*models[t]);
}

/// Nodes are independent; an exception must not leave a parallel region, so the first one is carried out of it.
template <class F>
void SolverMultipleShooting::forEachNode(const F& f) {
  const int T = problem_->get_T();
  std::exception_ptr error = nullptr;
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(dynamic)
  for (int t = 0; t <= T; ++t) {
    try {
      f(t);
    } catch (...) {
#pragma omp critical
      if (!error) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

double SolverMultipleShooting::evaluate(const std::vector<VectorXd>& xs, const std::vector<VectorXd>& us) {
  const std::size_t T = problem_->get_T();
  forEachNode([&](const std::size_t t) {
    if (t == T) {
      problem_->get_terminalModel()->calc(problem_->get_terminalData(), xs[T]);
    } else {
      const auto& data = problem_->get_runningDatas()[t];
      problem_->get_runningModels()[t]->calc(data, xs[t], us[t]);
      problem_->get_runningModels()[t]->get_state()->diff(xs[t + 1], data->xnext, fs_try_[t + 1]);
    }
  });
  double cost = problem_->get_terminalData()->cost;
  for (std::size_t t = 0; t < T; ++t) cost += problem_->get_runningDatas()[t]->cost;
  return cost;
}

void SolverMultipleShooting::linearize() {
  const std::size_t T = problem_->get_T();
  forEachNode([&](const std::size_t t) {
    if (t == T)
      problem_->get_terminalModel()->calcDiff(problem_->get_terminalData(), xs_[T]);
    else
      stages_[t]->linearize(*problem_->get_runningModels()[t], problem_->get_runningDatas()[t], xs_[t], us_[t]);
  });
}

bool SolverMultipleShooting::riccati() {
  const std::size_t T = problem_->get_T();
  Vxx_[T] = problem_->get_terminalData()->Lxx;
  Vx_[T] = problem_->get_terminalData()->Lx;
  for (std::size_t t = T; t-- > 0;) {
    Vx_[t + 1].noalias() += Vxx_[t + 1] * fs_[t + 1];
    if (!stages_[t]->eliminate(*problem_->get_runningDatas()[t], Vxx_[t + 1], Vx_[t + 1], preg_, Vxx_[t], Vx_[t])) return false;
  }
  return true;
}

/// Linear rollout at full length; slope and curvature of the quadratic model of the cost along it.
void SolverMultipleShooting::rollout() {
  const std::size_t T = problem_->get_T();
  dxs_[0].setZero();
  Along along;
  gaps_ = 0.0;
  for (std::size_t t = 0; t < T; ++t) {
    stages_[t]->step(*problem_->get_runningDatas()[t], dxs_[t], fs_[t + 1], dus_[t], dxs_[t + 1], along);
    gaps_ += fs_[t + 1].lpNorm<1>();
  }
  const auto& d = static_cast<const ActionLeastSquares::Data&>(*problem_->get_terminalData());
  along.add(d.Rx * dxs_[T], d.r);
  slope_ = along.slope;
  curvature_ = along.curvature;
}

bool SolverMultipleShooting::lineSearch() {
  const std::size_t T = problem_->get_T();
  // the penalty must outweigh what closing the gaps costs
  const double model = slope_ + 0.5 * curvature_;
  if (gaps_ > th_gaptol_ && model > 0.0) nu_ = std::max(nu_, 2.0 * model / gaps_);
  merit_ = cost_ + nu_ * gaps_;
  for (const double alpha : alphas_) {
    for (std::size_t t = 0; t <= T; ++t) {
      const auto& state = t < T ? problem_->get_runningModels()[t]->get_state() : problem_->get_terminalModel()->get_state();
      state->integrate(xs_[t], alpha * dxs_[t], xs_try_[t]);
      if (t < T) us_try_[t] = us_[t] + alpha * dus_[t];
    }
    try {
      cost_try_ = evaluate(xs_try_, us_try_);
    } catch (const std::runtime_error&) {
      continue;  // an infeasible trial point: shorten the step
    }
    double gaps = 0.0;
    for (std::size_t t = 1; t <= T; ++t) gaps += fs_try_[t].lpNorm<1>();
    const double expected = alpha * slope_ + 0.5 * alpha * alpha * curvature_ - alpha * nu_ * gaps_;
    const double round_off = 1e-12 * (1.0 + std::abs(merit_));
    if (std::isfinite(cost_try_) && cost_try_ + nu_ * gaps - merit_ <= th_acceptstep_ * expected + round_off) {
      steplength_ = alpha;
      dVexp_ = expected;
      dV_ = cost_ - cost_try_;
      cost_ = cost_try_;
      std::swap(xs_, xs_try_);
      std::swap(us_, us_try_);
      std::swap(fs_, fs_try_);
      return true;
    }
  }
  return false;
}

bool SolverMultipleShooting::solve(const std::vector<VectorXd>& xs, const std::vector<VectorXd>& us, const std::size_t maxiter,
                                   const bool is_feasible, const double regularization) {
  Eigen::setNbThreads(1);  // Eigen's own threads make small products slower by an order of magnitude
  bindStages();
  setCandidate(xs, us, is_feasible);
  preg_ = std::isnan(regularization) ? 0.0 : regularization;
  nu_ = 1.0;
  refused_ = 0;
  cost_ = evaluate(xs_, us_);
  std::swap(fs_, fs_try_);
  for (iter_ = 0; iter_ < maxiter;) {
    linearize();
    while (!riccati()) {
      preg_ = std::max(10.0 * preg_, 1e-6);
      if (preg_ > reg_max_) throw std::runtime_error("window problem: the Hessian is not positive definite");
      linearize();
    }
    rollout();
    ++iter_;
    const double expected = -(slope_ + 0.5 * curvature_);
    stop_ = std::abs(expected) + gaps_;
    const bool accepted = lineSearch();
    if (accepted && preg_ > 0.0) preg_ = preg_ * 0.1 < reg_min_ ? 0.0 : preg_ * 0.1;
    if (!accepted) {
      ++refused_;
      preg_ = std::max(10.0 * preg_, 1e-3);
      evaluate(xs_, us_);  // the nodes hold a refused trial point
      if (preg_ > 1e6) return false;
    }
    if (accepted && stop_ < th_stop_ * (1.0 + std::abs(cost_))) return true;
  }
  return false;
}

void SolverMultipleShooting::computePosterior() {
  P_[0].setZero();
  for (std::size_t t = 0; t < problem_->get_T(); ++t) stages_[t]->propagate(*problem_->get_runningDatas()[t], P_[t], P_[t + 1]);
}

MatrixXd SolverMultipleShooting::covarianceAt(const std::size_t k, const MatrixXd& jx, const MatrixXd& ju) const {
  return stages_.at(k)->covariance(*problem_->get_runningDatas()[k], P_[k], jx, ju);
}

double SolverMultipleShooting::largestGap() const {
  double gap = 0.0;
  for (std::size_t t = 1; t < fs_.size(); ++t) gap = std::max(gap, fs_[t].lpNorm<Eigen::Infinity>());
  return gap;
}

}  // namespace prime
