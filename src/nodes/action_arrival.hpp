// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include "nodes/action_second_order.hpp"

namespace prime {

/// First node of the window: its control is the correction of the initial state and parameters, its
/// cost what is known of them.
///
///     x_1 = x_ref (+) u,   r = L^-1 (u - m),   P = L L^T
///
/// (x_ref, m, L): cost-to-come of all nodes that left the window. The mean is carried as deviation
/// m from the point of linearization, which keeps the gradient of the cost-to-come; L is a lower
/// triangular square root of the covariance of state and parameters.
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

  /// `Fu`, `Ru = L^-1` and the lower part of `Luu = P^-1` only: what ArrivalStep needs.
  void linearize(const std::shared_ptr<DataAbstract>& data, const ConstRef& u);

  /// Let a node leave: minimize `arrival + 1/2 |r(x0, u0)|^2` over (x0, u0), push it through the
  /// node's dynamics and add the process noise `noise` (ndx, k), a square root of its covariance.
  ///
  /// The node is linearized at (x0, u0), its smoothed point, and the new mean is relative to
  /// `reference`, the smoothed point of the next node: an orthogonal triangularization of the
  /// stacked residuals (square-root information form), then of the propagated square root. No
  /// measurement is used twice: only those of the node that leaves enter. What the measurements do
  /// not see of a motion of the world (place and heading, without motion capture) stays unknown,
  /// however the points of linearization move; but where the ground slopes: see `release`.
  void marginalize(ActionLeastSquares& node, const std::shared_ptr<DataAbstract>& data,
                   const ConstRef& x0, const ConstRef& u0, const ConstRef& reference,
                   const Eigen::Ref<const Eigen::MatrixXd>& noise);

  /// Replace the knowledge of the variables `indices` (of the tangent) by `rows * dx + N(0,
  /// std^2)`, and shift their reference by `change`.
  void replacePrior(const std::vector<int>& indices, const Eigen::Ref<const Eigen::MatrixXd>& rows,
                    const ConstRef& stddev, const ConstRef& change);

  /// Add independent noise: covariance += noise noise^T.
  void inflateCovariance(const Eigen::Ref<const Eigen::MatrixXd>& noise);

  /// Take what moves the whole world, place and heading, out of what is known: from then on the
  /// errors of state and parameters are those beside the base at `reference`, which stays where it
  /// is. Where nothing measures them, cost-to-come of other points of linearization would, through
  /// the ground: its slope under a foot stands at a place.
  ///
  /// With g = axes^T dx the part of dx that `motions` undo, and displacement D of the base so far:
  ///
  ///     dx := dx - motions g + motions N(0, stddev^2),   D := carry D + g
  ///
  /// @param motions (ndx, 3) tangent of a motion of the world along x, y and about the vertical
  /// @param axes (6, 3) `axes^T motions = 1`: rows of the base in it
  /// @param carry (3, 3) takes the displacement of the base at the reference before to this one
  void release(const Eigen::Ref<const Eigen::MatrixXd>& motions,
               const Eigen::Ref<const Eigen::MatrixXd>& axes, const Eigen::Matrix3d& carry,
               double stddev);
  /// Covariance (3, 3) of all that has been taken out: the base's place x, y [m] and heading [rad].
  /// Of what is learned later only the next node corrects what was taken out last.
  Eigen::Matrix3d displacement() const;
  /// Give it back, as when something measures the place: the inverse of `release`.
  void restore(const Eigen::Ref<const Eigen::MatrixXd>& motions);

  Eigen::MatrixXd covariance() const;
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
