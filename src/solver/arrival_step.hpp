// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <Eigen/Cholesky>

#include "solver/stage.hpp"

namespace prime {

/// Elimination of the parameters at the first node: by the inverse of V_pp (Schur complement), or
/// by its inverse on the complement of its null space. The latter leaves unobserved directions
/// unchanged.
enum class ParameterMethod { Schur, Nullspace };

/// Step of state and parameters at the first node: the minimizer of the arrival cost plus the
/// cost-to-go of all nodes.
///
///     [Vxx Vxp; Vpx Vpp] [dx; dp] = -[vx; vp]
///
///     (Vxx - B B^T) dx = -(vx - B T^T vp),   dp = -T (T^T vp + B^T dx),   B = Vxp T
///     T T^T = Vpp^-1                          (Schur)
///     T T^T = D Y (Y^T D Vpp D Y)^-1 Y^T D    (nullspace)
///
/// D scales Vpp to a unit diagonal; Y holds the eigenvectors of the scaled Vpp whose eigenvalues
/// exceed kRank. If an arrival node precedes the window, its control u is the unknown:
/// dx_1 = J u + gap, where J is the identity except at the base. Otherwise the first state is given
/// and dx = 0. Only free parameters take part; held ones have dp = 0.
///
/// Trust region (`largest`): Vpp + damping diag(1/largest^2) replaces Vpp, with about the smallest
/// damping for which every |dp_i| <= radius largest_i, radius <= 1. The backward pass need not be
/// repeated, because the parameters are eliminated here and nowhere else.
///
/// Bounds (`least`, `most`): a parameter that would cross its bound is set to it, and all others
/// take the conditional minimizer, `dz -= S_b S_bb^-1 (dp_b - bound)`, S = H^-1.
class ArrivalStep {
 public:
  using DataAbstract = ActionLeastSquares::DataAbstract;
  using MatrixXd = Eigen::MatrixXd;
  using VectorXd = Eigen::VectorXd;

  ArrivalStep(int m, const FreeParameters& free);

  /// Factorize the system above. `arrival`: data of the arrival node, nullptr when the first state
  /// is given. `common.pp` holds the lower triangle. Returns false when the Hessian is not positive
  /// definite.
  bool eliminate(const DataAbstract* arrival, const CostToGo& value,
                 const ParameterCostToGo& common, double regularization, ParameterMethod method);
  /// The solution: du = (du_x, du_p), and (dx, dp) at the first node, with all parameters.
  void step(const DataAbstract* arrival, const VectorXd& gap, VectorXd& du, VectorXd& next,
            DirectionalModel& along) const;
  /// Posterior covariance at the first node. Directions in the null space count as known.
  void covariance(const DataAbstract* arrival, Covariance& P, MatrixXd& Ppp) const;

  /// Faster: posterior covariance of the rows `J (dx, dp)` and of the parameters alone. Returns
  /// false, and computes nothing, when state and parameters were factorized separately.
  bool covarianceOf(const DataAbstract* arrival, const Eigen::Ref<const MatrixXd>& J,
                    MatrixXd& of_rows, MatrixXd& Ppp) const;

  int rank() const {
    return Tt_.rows();
  }  ///< parameters, or combinations of them, that are solved for

  void resetRegion() { radius_ = 1.0, damping_ = 0.0; }
  void scaleRegion(const double factor) { radius_ = std::min(1.0, factor * radius_); }
  bool bounded() const {
    return !extra_.isZero(0.0);
  }  ///< the last step is the longest that the trust region allows
  /// Share of the unshrunk trust region that kept the last step short, 1 if that did not.
  double share() const { return bounded() ? radius_ : 1.0; }

  VectorXd largest;      ///< (np) step of each parameter, or infinity; empty: any step
  VectorXd least, most;  ///< (np) bounds of dp; empty: none

 private:
  static constexpr double kRank = 1e-10;
  static constexpr double kLeast = 1e-3, kMost = 1e15,
                          kRaise =
                              4.0;  ///< damping (in units of chi-square), factor between two trials
  void assemble(const DataAbstract& arrival);
  bool invertParameters(ParameterMethod method);
  bool findComplement();
  bool resolve(bool with_state, ParameterMethod method);
  bool resolveAtOnce(bool with_state);
  bool tooLong() const;
  bool shorten(bool with_state, ParameterMethod method);
  VectorXd minimizer(const VectorXd& g, bool with_state) const;
  VectorXd response(int parameter, bool with_state) const;
  void keepBounds(bool with_state);
  void covarianceOfParameters(MatrixXd& Ppp) const;
  void covarianceAtOnce(Covariance& P, MatrixXd& Ppp) const;
  void covarianceByParts(Covariance& P, MatrixXd& Ppp) const;

  FreeParameters free_;
  int m_, np_, b_;
  double radius_, damping_;  ///< share of `largest` in force; damping of the last step: the search
                             ///< for the next starts nearby
  MatrixXd H_;               ///< (n, n), lower triangle
  VectorXd g_, du_;          ///< (n)
  VectorXd extra_;           ///< (np) what the trust region adds to the diagonal of Vpp
  VectorXd D_,
      known_;   ///< (np) scale of Vpp; (rank) eigenvalues of the complement of its null space
  MatrixXd Y_;  ///< (np, rank) and their eigenvectors
  MatrixXd Tt_, Bt_, Vxx_;
  bool at_once_ = false;  ///< Schur: the factors are in root_, and only the size of Tt_ counts
  MatrixXd root_;         ///< Cholesky factor of [Vpp .; Vxp Vxx], below it L^-1 v; padded
  Eigen::LLT<MatrixXd> llt_;
};

}  // namespace prime
