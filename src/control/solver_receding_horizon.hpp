// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <crocoddyl/core/solvers/fddp.hpp>

namespace prime {

/// Feasibility-driven DDP for a receding horizon: a few iterations a tick, whose duration is
/// bounded.
///
/// An iteration is Crocoddyl's: linearization, backward pass (gains K), rollout with feedback that
/// closes the gaps by the step's share alpha. What differs is the policy around it. The guess is
/// the shifted plan of the tick before, hence close to the optimum, and the measured state is a gap
/// of its own at the first node; so the full step is tried first, shorter ones only if it is not
/// finite or costs more than `kWorse` times the guess; of these the cheapest is taken. Without one
/// the guess stays, `refused` counts it, and the next iteration is damped.
class SolverRecedingHorizon : public crocoddyl::SolverFDDP {
 public:
  explicit SolverRecedingHorizon(std::shared_ptr<crocoddyl::ShootingProblem> problem)
      : SolverFDDP(problem) {}

  /// Improve the guess (nx, N + 1), (nu, N) from the state x0. True: at least one step was taken.
  bool improve(const Eigen::VectorXd& x0, const Eigen::Ref<const Eigen::MatrixXd>& xs,
               const Eigen::Ref<const Eigen::MatrixXd>& us, std::size_t iterations);

  Eigen::MatrixXd states() const;    ///< (nx, N + 1)
  Eigen::MatrixXd controls() const;  ///< (nu, N)
  std::size_t refused() const { return refused_; }

 private:
  bool direction();
  bool search();

  std::size_t refused_ = 0;  ///< iterations without a step so far
};

}  // namespace prime
