// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <crocoddyl/core/solver-base.hpp>
#include <limits>

#include "solver/arrival_step.hpp"
#include "solver/interruption.hpp"
#include "solver/merit.hpp"

namespace prime {

/// Rollout of a step: linear, with the gaps re-evaluated (Multiple); through the dynamics with
/// feedback, with gaps that shrink by 1 - alpha (Feasible); through the dynamics from a feasible
/// start (Single).
enum class Rollout { Multiple, Feasible, Single };

/// Gauss-Newton solver of estimation problems: parametrized Riccati recursion, rollout, and a line
/// search on a merit function (Martinez, Griffin and Mastalli).
///
/// The last `np` components of every node's state are parameters p, equal in all nodes. They are
/// kept out of the recursion: a node has (V_x, V_xx, V_xp), while V_p and V_pp are one sum over the
/// nodes (`CostToGo`, `ParameterCostToGo`). One iteration consists of:
///
///  1. linearization of every node;
///  2. backward pass, with the gaps f_k = f(x_k-1, u_k-1) (-) x_k in the value gradient;
///  3. solution for state and parameters at the first node (`ArrivalStep`);
///  4. forward pass: dx+ = Fx dx + Fp dp + Fu du + f,   du = -k - K dx - K_p dp;
///  5. shorter and shorter steps along it until `Merit` accepts one. After a refusal, Levenberg-
///     Marquardt damping multiplies the diagonals of the Hessians by 1 + preg.
///
/// The linear algebra of a node is that of its `Stage`, which exploits the structure of its
/// dynamics. If the first node is an ActionArrival, its control corrects the initial state and the
/// parameters. Otherwise the initial state is the problem's x0, and only its parameters are free.
class SolverMultipleShooting : public crocoddyl::SolverAbstract {
 public:
  explicit SolverMultipleShooting(std::shared_ptr<crocoddyl::ShootingProblem> problem);

  /// At most `maxiter` iterations from (xs, us). Returns true when a step changes the cost by less
  /// than the share `th_stop` of it. Throws Interrupted between two trial steps after a request of
  /// `interruption`.
  bool solve(const std::vector<Eigen::VectorXd>& xs, const std::vector<Eigen::VectorXd>& us,
             std::size_t maxiter, bool is_feasible, double regularization) override;

  /// Parts of one iteration, as declared by SolverAbstract.
  void computeDirection(bool recalc) override;
  double tryStep(double steplength) override;
  double stoppingCriteria() override;
  const Eigen::Vector2d& expectedImprovement() override;

  /// Linearize at (xs, us) and compute the step (`dxs`, `dus`), without taking it.
  void direction(const std::vector<Eigen::VectorXd>& xs, const std::vector<Eigen::VectorXd>& us,
                 double regularization);
  const std::vector<Eigen::VectorXd>& dxs() const { return dxs_; }
  const std::vector<Eigen::VectorXd>& dus() const { return dus_; }
  /// Recompute the step for changed residuals (r of the nodes' data) on the last linearization.
  void redirect();
  /// Backward pass, first node included, on the last linearization. Returns false when the Hessian
  /// is not positive definite.
  bool backward();
  /// Linear rollout at full length, with slope and curvature of the cost's quadratic model along
  /// it.
  void forward();

  /// Update the robust weights of the disturbances at the current iterate. Returns the sum of the
  /// absolute changes of the nodes' costs that this causes.
  double reweight(const HeavyTails& tails);
  /// Alternate one iteration of `solve` with `reweight`, `iterations` times or until the remaining
  /// change of the cost is below `settled`. Returns true when the last iteration converged.
  bool improve(const std::vector<Eigen::VectorXd>& xs, const std::vector<Eigen::VectorXd>& us,
               std::size_t iterations, const HeavyTails& tails);

  /// Posterior covariances of the states up to `last` (at most all of them), by a forward pass over
  /// the factors of the last backward pass: P+ = (Fx - Fu K) P (.)^T + Fu Quu^-1 Fu^T.
  void computePosterior(std::size_t last = std::numeric_limits<std::size_t>::max());
  /// Posterior covariances of a few quantities, in a third of the time of all: of `jx (dx, dp)` at
  /// the last state, of `jz dz` at the last running node (in the variables of its stage), and of
  /// the parameters.
  struct Newest {
    Eigen::MatrixXd state, node, parameters;
  };
  Newest newestPosterior(const Eigen::MatrixXd& jx, const Eigen::MatrixXd& jz);
  /// Posterior covariance of (x, p) at node k (after computePosterior).
  Eigen::MatrixXd posterior(std::size_t k) const;
  /// Posterior covariance of `jx (dx, dp) + ju du` at running node k (after computePosterior).
  Eigen::MatrixXd covarianceAt(std::size_t k, const Eigen::MatrixXd& jx,
                               const Eigen::MatrixXd& ju) const;
  /// The same of `jz dz`, in the variables z = (decision, dx, dp) in which the node's stage works.
  Eigen::MatrixXd covarianceOf(std::size_t k, const Eigen::MatrixXd& jz) const;
  /// Its diagonal alone.
  Eigen::VectorXd varianceOf(std::size_t k, const Eigen::MatrixXd& jz) const;

  /// Move the window by one node: the first running node (behind the arrival node, if there is one)
  /// becomes the last one and is reused.
  void rotate();
  /// For each row of a node's residual at the last calc: the sum of squares over the running nodes,
  /// and the number of nodes in which it is not 0 (it is 0 where the reading is absent).
  Eigen::MatrixXd residualSquares() const;
  /// The first `size` rows of each running node's residual at its last calc, (T, size).
  Eigen::MatrixXd firstResiduals(Eigen::Index size) const;

  double largestGap() const;
  std::size_t refused() const {
    return refused_;
  }  ///< iterations of the last solve in which no step was accepted
  int rank() const {
    return arrival_.rank();
  }  ///< parameters that were solved for: fewer than np where some are held, or with
     ///< ParameterMethod::Nullspace

  /// Trust region: no iteration changes parameter i by more than `largest[i]`.
  ///
  /// Used when the initial guess is far from the solution: the quadratic model in coordinates such
  /// as the logarithms of an inertia is valid for steps of about one half, while the undamped step
  /// may be a hundred times as long. A bounded step that is refused shrinks the region to a
  /// quarter; an accepted full step doubles it, up to `largest`. The damping acts on state and
  /// parameters at the first node only, and is not part of the posterior. A guess whose parameters
  /// differ from those of its arrival node has a gap there, which is closed in addition.
  ///
  /// @param largest  (np) positive values, infinity for no bound; empty (the default): no bounds.
  void setLargestStep(const Eigen::VectorXd& largest);
  const Eigen::VectorXd& largestStep() const { return largest_; }

  /// Keep a parameter between two values from now on (infinite: no bound). An iterate that would
  /// cross a bound stops there. Bounds are not part of the posterior.
  void setBound(int parameter, double least, double most);

  /// Hold these parameters at their values from now on. The posterior treats them as known, and the
  /// recursion leaves out their columns.
  void setHeld(const std::vector<int>& parameters);

  /// Components of the state's tangent (without parameters) whose gap at the last state does not
  /// trigger a further iteration of `improve`, because the next window closes it.
  void setLeftOpen(const std::vector<int>& components);
  const std::vector<int>& leftOpen() const { return left_open_; }

  std::size_t threads = 1;
  std::shared_ptr<Interruption> interruption = std::make_shared<Interruption>();
  Rollout rollout = Rollout::Multiple;
  ParameterMethod method = ParameterMethod::Schur;
  double settled = 0.0;  ///< remainder of the cost [chi-square / 2] at which `improve` ends early
  double reach = 0.0;    ///< of a node's derivatives [m/s, rad/s]: see ActionSecondOrder::linearize

 private:
  enum class Done { Nothing, Linearization, Backward };  ///< since the last start

  void requireNodes() const;
  void bind();
  void start(const std::vector<Eigen::VectorXd>& xs, const std::vector<Eigen::VectorXd>& us,
             double regularization);
  void beginIterations(double regularization);
  bool iterate(std::size_t maxiter);
  double sumOfCosts() const;
  double remainder() const;
  void backwardDamped();
  void undamp();
  Eigen::MatrixXd posteriorOfFree(std::size_t k) const;
  std::size_t controlsAt(std::size_t k) const;
  void findFirstCovariance();
  void covarianceAtFirst(const Eigen::Ref<const Eigen::MatrixXd>& J, Eigen::MatrixXd& of_rows,
                         Eigen::MatrixXd& of_parameters);
  void placeBounds();
  void resize();
  void shareParameters();
  double evaluate(const std::vector<Eigen::VectorXd>& xs, const std::vector<Eigen::VectorXd>& us);
  void linearize();
  void makeTrial(double alpha);
  void rollTrial(double alpha);
  bool lineSearch();
  void tighten(bool again);
  void require(Done done) const;
  static double sumOfGaps(const std::vector<Eigen::VectorXd>& fs);
  const ArrivalStep::DataAbstract* arrivalData() const;
  template <class F>
  void forEachNode(const F& f);

  /// What closing the gaps costs, g^T f + f^T H f / 2 of the cost-to-go node by node: with its
  /// sign, and without.
  struct Closing {
    double sum = 0.0, size = 0.0;
    void add(const double change) { sum += change, size += std::abs(change); }
  };

  FreeParameters free_;
  int np_, m_;  ///< free parameters; components of a state's tangent without parameters
  bool has_arrival_;
  std::vector<Eigen::VectorXd> dxs_, dus_, xs_try_, us_try_, fs_try_;
  std::vector<CostToGo> values_;
  ParameterCostToGo common_;
  std::vector<Covariance> P_;
  std::size_t known_ = 0;  ///< states from the first one whose P_ is that of the last iteration
  Eigen::MatrixXd Ppp_;
  Covariance first_;             ///< of the first state after the last backward pass
  Eigen::MatrixXd first_pp_;     ///< and of the parameters
  bool first_is_known_ = false;  ///< both have been asked for
  std::vector<std::unique_ptr<Stage>> stages_;
  ArrivalStep arrival_;
  Eigen::VectorXd largest_;       ///< trust region, of all parameters
  Eigen::VectorXd least_, most_;  ///< bounds of all parameters; empty: none
  std::vector<int> left_open_;
  Merit merit_function_;
  Eigen::VectorXd deviation_;
  double cost_try_, slope_, curvature_, gaps_;
  Closing closing_;
  double damping_;  ///< of the last backward pass
  Done done_;
  std::size_t refused_;
};

}  // namespace prime
