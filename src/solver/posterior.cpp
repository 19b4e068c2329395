// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// Posterior covariances of SolverMultipleShooting, from its last backward pass.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "linalg/sizes.hpp"
#include "linalg/transpose.hpp"
#include "solver/solver_multiple_shooting.hpp"

namespace prime {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// What round-off leaves of an odd part grows tenfold in some 70 nodes; it is taken out before.
constexpr std::size_t kMirrored = 50;

/// Of no rows nothing is asked.
void requireColumns(const MatrixXd& J, const std::size_t columns) {
  if (J.rows() > 0) requireSize("window problem", "a row of a Jacobian", J.cols(), columns);
}

}  // namespace

void SolverMultipleShooting::computePosterior(const std::size_t last) {
  require(Done::Backward);
  const std::size_t T = problem_->get_T(), first = has_arrival_, end = std::min(last, T);
  if (P_.empty()) P_.assign(T + 1, Covariance(m_, np_)), Ppp_ = MatrixXd::Zero(np_, np_);
  findFirstCovariance();
  P_[first] = first_;
  Ppp_ = first_pp_;
  for (std::size_t t = first; t < end; ++t) {
    stages_[t]->propagate(*problem_->get_runningDatas()[t], P_[t], Ppp_, P_[t + 1]);
    if ((t + 1) % kMirrored == 0) mirrorLower(P_[t + 1].xx);
  }
  known_ = end + 1;
}

/// Of the first state and the parameters, without damping.
void SolverMultipleShooting::findFirstCovariance() {
  undamp();
  if (!first_is_known_) arrival_.covariance(arrivalData(), first_, first_pp_);
  first_is_known_ = true;
}

/// Refused steps and the trust region have damped the Hessians: that is no knowledge. Some damping
/// stays where they are not definite without.
void SolverMultipleShooting::undamp() {
  if (!(damping_ > 0.0) && !arrival_.bounded()) return;
  const double next = std::exchange(preg_, 0.0);
  const VectorXd largest = std::exchange(arrival_.largest, VectorXd());
  const bool definite = backward();
  arrival_.largest = largest;
  if (!definite) backwardDamped();
  preg_ = next;
}

SolverMultipleShooting::Newest SolverMultipleShooting::newestPosterior(const MatrixXd& jx,
                                                                       const MatrixXd& jz) {
  require(Done::Backward);
  undamp();
  const std::size_t T = problem_->get_T(), first = has_arrival_;
  requireColumns(jx, problem_->get_ndx());
  requireColumns(jz, problem_->get_ndx() + problem_->get_runningModels().back()->get_nu());
  const auto& datas = problem_->get_runningDatas();
  const int nx = jx.rows(), nz = jz.rows();
  CarriedRows rows(nx + nz, m_ + np_);
  rows.J.topRows(nx) = free_.columnsOf(jx);
  rows.count = nx;
  for (std::size_t t = T; t-- > first;) {
    stages_[t]->carry(*datas[t], rows);
    if (t + 1 == T) stages_[t]->enter(jz, rows);
  }
  MatrixXd by_first, parameters;
  covarianceAtFirst(rows.J.topRows(rows.count), by_first, parameters);
  const auto whole = [&](const int from, const int n) -> MatrixXd {
    return rows.covariance.block(from, from, n, n) + by_first.block(from, from, n, n);
  };
  return {whole(0, nx), whole(nx, nz), free_.widened(parameters)};
}

/// Of rows `J (dx, dp)` of the first state, and of the parameters.
void SolverMultipleShooting::covarianceAtFirst(const Eigen::Ref<const MatrixXd>& J,
                                               MatrixXd& of_rows, MatrixXd& of_parameters) {
  if (!first_is_known_ && arrival_.covarianceOf(arrivalData(), J, of_rows, of_parameters)) return;
  findFirstCovariance();
  const auto& P = first_;
  const auto Jx = J.leftCols(m_);
  const auto Jp = J.rightCols(np_);
  MatrixXd by_x = Jx * P.xx, by_p = Jp * first_pp_;
  by_x.noalias() += Jp * P.xp.transpose();
  by_p.noalias() += Jx * P.xp;
  of_rows.noalias() = by_x * Jx.transpose();
  of_rows.noalias() += by_p * Jp.transpose();
  of_parameters = first_pp_;
}

MatrixXd SolverMultipleShooting::posterior(const std::size_t k) const {
  return free_.widened(posteriorOfFree(k));
}

/// With the free parameters alone.
MatrixXd SolverMultipleShooting::posteriorOfFree(const std::size_t k) const {
  if (P_.empty()) throw std::logic_error("window problem: compute the posterior first");
  if (k < std::size_t(has_arrival_) || k >= P_.size())
    throw std::invalid_argument("window problem: no state " + std::to_string(k));
  if (k >= known_)
    throw std::invalid_argument("window problem: no posterior of state " + std::to_string(k));
  const auto& P = P_[k];
  MatrixXd whole(m_ + np_, m_ + np_);
  whole << P.xx, P.xp, P.xp.transpose(), Ppp_;
  return whole;
}

std::size_t SolverMultipleShooting::controlsAt(const std::size_t k) const {
  if (k == stages_.size())
    throw std::invalid_argument("window problem: the last state has no control");
  return problem_->get_runningModels()[k]->get_nu();
}

MatrixXd SolverMultipleShooting::covarianceAt(const std::size_t k, const MatrixXd& jx,
                                              const MatrixXd& ju) const {
  const MatrixXd P = posteriorOfFree(k);
  requireColumns(ju, controlsAt(k));
  requireColumns(jx, problem_->get_ndx());
  requireSize("window problem", "ju", ju.rows(), jx.rows());
  return stages_[k]->covariance(P,
                                stages_[k]->inVariables(*problem_->get_runningDatas()[k], jx, ju));
}

MatrixXd SolverMultipleShooting::covarianceOf(const std::size_t k, const MatrixXd& jz) const {
  const MatrixXd P = posteriorOfFree(k);
  requireColumns(jz, problem_->get_ndx() + controlsAt(k));
  return stages_[k]->covariance(P, jz);
}

VectorXd SolverMultipleShooting::varianceOf(const std::size_t k, const MatrixXd& jz) const {
  const MatrixXd P = posteriorOfFree(k);
  requireColumns(jz, problem_->get_ndx() + controlsAt(k));
  return stages_[k]->variance(P, jz);
}

}  // namespace prime
