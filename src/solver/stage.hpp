// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <memory>

#include "nodes/action_least_squares.hpp"
#include "solver/free_parameters.hpp"

namespace prime {

/// Slope and curvature of the Gauss-Newton cost along a step.
struct DirectionalModel {
  double slope = 0.0, curvature = 0.0;
  void add(const Eigen::VectorXd& dr, const Eigen::Ref<const Eigen::VectorXd>& r) {
    slope += dr.dot(r), curvature += dr.squaredNorm();
  }
};

/// Cost-to-go of a node, `1/2 [dx; dp]^T V [dx; dp] + v^T [dx; dp]`. All nodes share the parameters
/// p, so that the terms in p alone (`ParameterCostToGo`) are kept as one sum over the nodes.
struct CostToGo {
  CostToGo(const int m, const int np) : xx(m, m), xp(m, np), x(m) {}
  Eigen::MatrixXd xx, xp;  ///< V_xx (full), V_xp
  Eigen::VectorXd x;       ///< V_x
};

/// V_pp (lower triangle) and V_p, summed over a node and all later ones.
struct ParameterCostToGo {
  Eigen::MatrixXd pp;
  Eigen::VectorXd p;
};

/// Posterior covariance of a node's state and of the parameters: blocks of one symmetric matrix,
/// P_pp common to all nodes.
struct Covariance {
  Covariance(const int m, const int np)
      : xx(Eigen::MatrixXd::Zero(m, m)), xp(Eigen::MatrixXd::Zero(m, np)) {}
  Eigen::MatrixXd xx, xp;
};

/// Rows of a Jacobian in (dx, dp), carried back from node to node, and the covariance that the
/// nodes passed so far contribute to them. Padded for the kernels.
struct CarriedRows {
  CarriedRows(int most, int columns);
  int count = 0;
  Eigen::MatrixXd J;           ///< (count, columns)
  Eigen::MatrixXd covariance;  ///< (count, count)
  Eigen::MatrixXd work;
};

/// Linear algebra of one node in the parametrized Riccati recursion, with its work space. There is
/// one subclass for each structure of the dynamics.
///
/// Backward, a stage minimizes `1/2 |r + dr|^2 + cost-to-go(dx+, dp)` over its decision y, with
/// dx+ = Fx dx + Fp dp + Fu y; the minimum is the cost-to-go of (dx, dp). Forward, it gives steps
/// and posterior covariances.
///
/// (dx, dp) is the tangent of the node's state: dx without the parameters, dp the last `np`
/// components. Costs-to-go, covariances and carried rows contain the free parameters only; steps
/// and Jacobians that are passed in contain all of them.
class Stage {
 public:
  using Model = crocoddyl::ActionModelAbstractTpl<double>;
  using DataAbstract = ActionLeastSquares::DataAbstract;
  using ConstRef = ActionLeastSquares::ConstRef;
  using MatrixXd = Eigen::MatrixXd;
  using VectorXd = Eigen::VectorXd;

  virtual ~Stage() = default;
  /// Cost, residuals and next state at (x, u). `next`: the next state of the trajectory, from which
  /// an iterative model may start.
  virtual void evaluate(Model& model, const std::shared_ptr<DataAbstract>& data, const ConstRef& x,
                        const ConstRef& u, const ConstRef&) {
    model.calc(data, x, u);
  }
  /// Derivatives at (x, u), the point of the last calc; `reach` as of ActionSecondOrder.
  virtual void linearize(Model& model, const std::shared_ptr<DataAbstract>& data, const ConstRef& x,
                         const ConstRef& u, double reach) = 0;
  /// Cost-to-go `value` from that of the next node; `common` gets this node's share. The diagonal
  /// of its Hessian is scaled by 1 + regularization. False: not positive definite.
  virtual bool eliminate(const DataAbstract& data, const CostToGo& next, double regularization,
                         CostToGo& value, ParameterCostToGo& common) = 0;
  /// Control step at (dx, dp) with the fraction alpha of the feed-forward: du = -alpha k - K dx -
  /// K_p dp.
  virtual void control(const DataAbstract& data, const VectorXd& dxp, double alpha,
                       VectorXd& du) = 0;
  /// Optimal du at (dx, dp), and the next (dx, dp): `F dx + Fu du + gap`.
  virtual void step(const DataAbstract& data, const VectorXd& dxp, const VectorXd& gap,
                    VectorXd& du, VectorXd& next, DirectionalModel& along) = 0;
  /// Posterior covariance of the next state from that of this one.
  virtual void propagate(const DataAbstract& data, const Covariance& P, const MatrixXd& Ppp,
                         Covariance& next) = 0;
  /// Rows in the next (dx, dp) become rows in this one's: the covariance of a few rows is had
  /// without that of the states.
  virtual void carry(const DataAbstract& data, CarriedRows& rows) = 0;
  /// Add rows `jz dz` in the stage's own variables.
  virtual void enter(const MatrixXd& jz, CarriedRows& rows) const = 0;
  /// `jx (dx, dp) + ju du` as a Jacobian in the stage's own variables z = (decision, dx, dp).
  virtual MatrixXd inVariables(const DataAbstract& data, const MatrixXd& jx,
                               const MatrixXd& ju) const = 0;
  /// Posterior covariance of `jz dz`, P that of (dx, dp) with the free parameters.
  virtual MatrixXd covariance(const MatrixXd& P, const MatrixXd& jz) const = 0;
  /// Its diagonal alone.
  virtual VectorXd variance(const MatrixXd& P, const MatrixXd& jz) const {
    return covariance(P, jz).diagonal();
  }
  /// The stage can serve this model as well.
  virtual bool fits(const Model& model) const = 0;

  static std::unique_ptr<Stage> make(const Model& model, const FreeParameters& free);
};

}  // namespace prime
