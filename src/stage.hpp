// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <memory>

#include "action_least_squares.hpp"

namespace prime {

/// Slope and curvature of the Gauss-Newton cost along a step.
struct Along {
  double slope = 0.0, curvature = 0.0;
  void add(const Eigen::VectorXd& dr, const Eigen::Ref<const Eigen::VectorXd>& r) { slope += dr.dot(r), curvature += dr.squaredNorm(); }
};

/// Linear algebra of one node in the Riccati recursion, with its work space: one kind for each structure of the dynamics.
///
/// The recursion minimizes over the node's decision y in `1/2 |r + dr|^2 + 1/2 dx+^T V+ dx+ + v+^T dx+`, which leaves the cost-to-go (V, v)
/// of dx; forward it gives steps and posterior covariances. V and P are stored in full.
class Stage {
 public:
  using Model = crocoddyl::ActionModelAbstractTpl<double>;
  using DataAbstract = ActionLeastSquares::DataAbstract;
  using ConstRef = ActionLeastSquares::ConstRef;
  using MatrixXd = Eigen::MatrixXd;
  using VectorXd = Eigen::VectorXd;

  virtual ~Stage() = default;
  /// Derivatives at (x, u), the point of the last calc.
  virtual void linearize(Model& model, const std::shared_ptr<DataAbstract>& data, const ConstRef& x, const ConstRef& u) = 0;
  /// Cost-to-go (V, v) from that of the next node; its Hessian's diagonal is scaled by 1 + regularization. False: not positive definite.
  virtual bool eliminate(const DataAbstract& data, const MatrixXd& V_next, const VectorXd& v_next, double regularization, MatrixXd& V,
                         VectorXd& v) = 0;
  /// Optimal du at dx, and the next dx: `F dx + Fu du + gap`.
  virtual void step(const DataAbstract& data, const VectorXd& dx, const VectorXd& gap, VectorXd& du, VectorXd& dx_next, Along& along) = 0;
  /// Posterior covariance of the next state from that of this one.
  virtual void propagate(const DataAbstract& data, const MatrixXd& P, MatrixXd& P_next) = 0;
  /// Posterior covariance of `jx dx + ju du`.
  virtual MatrixXd covariance(const DataAbstract& data, const MatrixXd& P, const MatrixXd& jx, const MatrixXd& ju) const = 0;
  /// The stage can serve this model as well.
  virtual bool fits(const Model& model) const = 0;

  static std::unique_ptr<Stage> make(const Model& model);
};

}  // namespace prime
