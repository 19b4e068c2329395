// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include "nodes/action_second_order.hpp"

namespace prime {

/// Arrival node, the first node of the window. Its control u corrects the initial state and the
/// parameters; its cost is the prior knowledge of both.
///
///     x_1 = x_ref (+) u,   r = L^-1 (u - m),   P = L L^T
///
/// (x_ref, m, L) represent the cost-to-come of all nodes that have left the window. The mean is
/// stored as the deviation m from the linearization point x_ref, which keeps the gradient of the
/// cost-to-come. L is a lower triangular square root of the covariance P of state and parameters.
class ActionArrival : public ActionLeastSquares {
 public:
  ActionArrival(std::shared_ptr<crocoddyl::StateAbstractTpl<double>> state,
                const Eigen::VectorXd& reference, const Eigen::MatrixXd& covariance);

  void calc(const std::shared_ptr<DataAbstract>& data, const ConstRef& x,
            const ConstRef& u) override;
  void calc(const std::shared_ptr<DataAbstract>& data, const ConstRef& x) override {
    calc(data, x, mean);
  }
  void calcDiff(const std::shared_ptr<DataAbstract>& data, const ConstRef& x,
                const ConstRef& u) override;
  void calcDiff(const std::shared_ptr<DataAbstract>& data, const ConstRef& x) override {
    calcDiff(data, x, mean);
  }

  /// Compute `Fu`, `Ru = L^-1` and the lower triangle of `Luu = P^-1` only, as ArrivalStep needs.
  void linearize(const std::shared_ptr<DataAbstract>& data, const ConstRef& u);

  /// Marginalize a node that leaves the window: minimize `arrival + 1/2 |r(x0, u0)|^2` over (x0,
  /// u0), propagate the result through the node's dynamics, and add process noise.
  ///
  /// The node is linearized at its smoothed point (x0, u0). The new mean is relative to
  /// `reference`, the smoothed point of the next node. The update is an orthogonal
  /// triangularization of the stacked residuals (square-root information form), then of the
  /// propagated square root. No measurement is used twice: only those of the node that leaves
  /// enter. Position and heading stay unknown when nothing measures them, wherever the
  /// linearization points move. The exception is sloping ground: see `release`.
  ///
  /// @param noise  (ndx, k) square root of the covariance of the process noise.
  void marginalize(ActionLeastSquares& node, const std::shared_ptr<DataAbstract>& data,
                   const ConstRef& x0, const ConstRef& u0, const ConstRef& reference,
                   const Eigen::Ref<const Eigen::MatrixXd>& noise);

  /// Replace the prior of the tangent variables `indices` by `rows * dx + N(0, stddev^2)`, and
  /// shift their reference by `change`. Throws where a standard deviation is not above 0.
  void replacePrior(const std::vector<int>& indices, const Eigen::Ref<const Eigen::MatrixXd>& rows,
                    const ConstRef& stddev, const ConstRef& change);

  /// Add independent noise: covariance += noise noise^T.
  void inflateCovariance(const Eigen::Ref<const Eigen::MatrixXd>& noise);

  /// Remove rigid motions of the whole world (horizontal position and heading) from the errors of
  /// state and parameters. From then on these errors are relative to the base at `reference`, which
  /// is held fixed.
  ///
  /// Needed when nothing measures position and heading: a slope of the ground is defined at a
  /// place, so that rows linearized at different points would seem to measure where the base is.
  /// Let g = axes^T dx be the part of dx that `motions` undo, and D the displacement of the base
  /// accumulated so far:
  ///
  ///     dx := dx - motions g + motions N(0, stddev^2),   D := carry D + g
  ///
  /// @param motions (ndx, 3) tangent of a motion of the world along x, y and about the vertical
  /// @param axes (6, 3) rows of the base, with `axes^T motions = 1`
  /// @param carry (3, 3) maps the displacement at the previous reference to this one
  void release(const Eigen::Ref<const Eigen::MatrixXd>& motions,
               const Eigen::Ref<const Eigen::MatrixXd>& axes, const Eigen::Matrix3d& carry,
               double stddev);
  /// Covariance (3, 3) of the displacement removed so far: x, y [m] and heading [rad] of the base.
  /// Later measurements do not correct it, except that the next node corrects the newest part.
  Eigen::Matrix3d displacement() const;
  /// Give it back, as when something measures the place: the inverse of `release`.
  void restore(const Eigen::Ref<const Eigen::MatrixXd>& motions);

  Eigen::MatrixXd covariance() const;
  /// Regression of a variable on others, of the covariance P: `dx_own = row dx + n`.
  struct Regression {
    Eigen::VectorXd row;  ///< (ndx), `P_ox P_xx^-1` at the others, 0 elsewhere
    double variance;      ///< of n, `P_oo - row P_xo`
  };
  /// @param ridge  added to the correlations of the others with themselves, of which some may be
  /// known together only
  Regression regression(int own, const std::vector<int>& others, double ridge) const;
  /// x0 (-) x_ref: the control that takes the first state to x0.
  Eigen::VectorXd correction(const ConstRef& x0) const;
  /// Root mean square of `L^-1 (x0 (-) x_ref - m)`: below 1 where x0 fits what was known of it.
  double strain(const ConstRef& x0) const;
  /// x_ref (+) m
  Eigen::VectorXd estimate() const;

  /// Lower triangular root L of the covariance, with a positive diagonal.
  const Eigen::MatrixXd& root() const { return L_; }
  void setRoot(const Eigen::MatrixXd& L);

  Eigen::VectorXd reference, mean;

 private:
  using Matrix6 = Eigen::Matrix<double, 6, 6>;

  void marginalizeLinear(ActionLinear& node, const std::shared_ptr<DataAbstract>& data,
                         const ConstRef& x0, const ConstRef& u0);
  void marginalizeSecondOrder(ActionSecondOrder& node, const std::shared_ptr<DataAbstract>& data,
                              const ConstRef& x0, const ConstRef& u0);
  static ActionSecondOrder::BaseMatrix carryBack(const Eigen::VectorXd& dx, int nb);
  /// L^-1, computed anew where L has changed.
  const Eigen::MatrixXd& inverseRoot();
  void rootHasChanged();
  void requireIndices(const std::vector<int>& indices) const;
  void requireNoise(const Eigen::Ref<const Eigen::MatrixXd>& noise) const;
  void requireMotions(const Eigen::Ref<const Eigen::MatrixXd>& motions) const;
  void stackRows(const ActionSecondOrder& node, const ActionSecondOrder::Data& d);
  void keepHeadingUnknown(const ActionSecondOrder& node, const ConstRef& x0, const ConstRef& xi);
  Matrix6 guessed(const Eigen::MatrixXd& coefficients) const;
  void stackDisplacement(const ActionSecondOrder& node, const ActionSecondOrder::Data& d);
  void carryDisplacement(int eliminated);
  void toNextPosition(const ActionSecondOrder& node, const ActionSecondOrder::Data& d,
                      Eigen::MatrixXd& rows) const;
  void orderColumns(const ActionSecondOrder& node);
  void sortRows();
  void widen(const Eigen::Ref<const Eigen::MatrixXd>& noise);

  /// Of the displacement before the last release and by it.
  Matrix6 displacements_ = Matrix6::Zero();
  Matrix6 fall_;             ///< of that covariance, by the node that leaves
  Eigen::MatrixXd shared_;   ///< covariance (6, ndx) of both with the tangent
  Eigen::MatrixXd carried_;  ///< coefficients (6, nz) of both in z
  Eigen::MatrixXd L_, Linv_;
  bool inverted_ = false;                   ///< Linv_ is the inverse of L_
  std::weak_ptr<DataAbstract> linearized_;  ///< has that, and P^-1
  Eigen::MatrixXd stacked_, sorted_, reflections_, F_;
  Eigen::VectorXd rhs_, work_, deviation_, gap_;
  std::vector<int> target_;     ///< column of a variable of z in the order of elimination
  std::vector<int> column_of_;  ///< its inverse
  std::vector<int> order_, first_, empty_;
};

}  // namespace prime
