// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <Eigen/Cholesky>

#include "stage.hpp"

namespace prime {

/// How the parameters are eliminated in front of the first node: by the inverse of V_pp, or by its inverse on the complement of its null
/// space, where directions that nothing is known about stay as they are.
enum class ParameterMethod { Schur, Nullspace };

/// State and parameters at the first node: minimizer of the arrival cost plus the cost-to-go of all nodes.
///
///     [Vxx Vxp; Vpx Vpp] [dx; dp] = -[vx; vp],   T T^T = Vpp^-1 (Schur) or D Y (Y^T D Vpp D Y)^-1 Y^T D (nullspace)
///     (Vxx - B B^T) dx = -(vx - B T^T vp),  B = Vxp T;   dp = -T (T^T vp + B^T dx)
///
/// Y: eigenvectors of Vpp, scaled by D to a unit diagonal, with eigenvalues above kRank. With an arrival node in front its control u is
/// the unknown, dx_1 = J u + gap with J the identity but for the base; without one the first state is given and dx = 0.
class ArrivalStep {
 public:
  using DataAbstract = ActionLeastSquares::DataAbstract;
  using MatrixXd = Eigen::MatrixXd;
  using VectorXd = Eigen::VectorXd;

  ArrivalStep(int m, int np);

  /// `arrival`: data of the arrival node, nullptr when the first state is given. `common.pp` holds the lower triangle. False: the Hessian
  /// is not positive definite.
  bool eliminate(const DataAbstract* arrival, const Value& value, const ParameterCost& common, double regularization,
                 ParameterMethod method);
  /// du = (du_x, du_p), and (dx, dp) at the first node.
  void step(const DataAbstract* arrival, const VectorXd& gap, VectorXd& du, VectorXd& next, Along& along) const;
  /// Posterior covariance at the first node; directions in the null space are held and add nothing.
  void covariance(const DataAbstract* arrival, Covariance& P, MatrixXd& Ppp) const;

  int rank() const { return Tt_.rows(); }  ///< parameters, or combinations of them, that are solved for

 private:
  static constexpr double kRank = 1e-10;
  void assemble(const DataAbstract& arrival);
  bool invertParameters(ParameterMethod method);

  int m_, np_, b_;
  MatrixXd H_;       ///< (n, n), lower triangle
  VectorXd g_, du_;  ///< (n)
  MatrixXd Tt_, Bt_;
  Eigen::LLT<MatrixXd> llt_;
};

}  // namespace prime
