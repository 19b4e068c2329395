// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <crocoddyl/core/solvers/fddp.hpp>

#include "stage.hpp"

namespace prime {

/// Multiple-shooting Gauss-Newton on the Riccati recursion: one backward pass, linear rollout, merit line search.
///
/// One iteration: linearize every node; backward pass with the gaps f_k = f(x_k-1, u_k-1) (-) x_k in the value gradient; linear rollout
/// `dx+ = Fx dx + Fu du + f, du = -k - K dx`; step along it, accepted when the merit `cost + nu sum |f|_1` falls enough, with the
/// penalty nu raised until the step is one of descent (Martinez, Griffin, Mastalli: multiple-shooting rollout and merit function).
/// The linear algebra of a node is that of its `Stage`, which knows the structure of the dynamics. (Crocoddyl's gains K, k stay empty.)
class SolverMultipleShooting : public crocoddyl::SolverFDDP {
 public:
  explicit SolverMultipleShooting(std::shared_ptr<crocoddyl::ShootingProblem> problem);

  /// At most `maxiter` iterations from (xs, us); true when the expected improvement fell below `th_stop` relative to the cost.
  bool solve(const std::vector<Eigen::VectorXd>& xs, const std::vector<Eigen::VectorXd>& us, std::size_t maxiter, bool is_feasible,
             double regularization) override;

  /// Posterior covariances of all states, by a forward pass through the last backward pass: P+ = (Fx - Fu K) P (.)^T + Fu Quu^-1 Fu^T.
  void computePosterior();
  const std::vector<Eigen::MatrixXd>& posterior() const { return P_; }
  /// Posterior covariance of `jx dx + ju du` at running node k (after computePosterior).
  Eigen::MatrixXd covarianceAt(std::size_t k, const Eigen::MatrixXd& jx, const Eigen::MatrixXd& ju) const;

  double largestGap() const;
  std::size_t refused() const { return refused_; }  ///< iterations of the last solve in which no step was accepted

  std::size_t threads = 1;

 private:
  double evaluate(const std::vector<Eigen::VectorXd>& xs, const std::vector<Eigen::VectorXd>& us);
  void linearize();
  bool riccati();
  void rollout();
  bool lineSearch();
  template <class F>
  void forEachNode(const F& f);
  void bindStages();

  std::vector<Eigen::VectorXd> dxs_, dus_, fs_try_;
  std::vector<Eigen::MatrixXd> P_;
  std::vector<std::unique_ptr<Stage>> stages_;
  double slope_, curvature_, gaps_, nu_;
  std::size_t refused_;
};

}  // namespace prime
