// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// What the arrival cost knows of one variable by others.
#include <cmath>

#include "linalg/dense_kernels.hpp"
#include "linalg/solve_error.hpp"
#include "nodes/action_arrival.hpp"

namespace prime {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// In units of the deviations, by a Cholesky factorization of the correlations of (others, own):
/// its last row is `L^-1 r`, and what is left of the last diagonal element is the variance.
ActionArrival::Regression ActionArrival::regression(const int own, const std::vector<int>& others,
                                                    const double ridge) const {
  const int k = others.size();
  requireIndices(others);
  requireIndices({own});
  const MatrixXd P = covariance();
  const auto at = [&](const int i) { return i < k ? others[i] : own; };
  MatrixXd root = MatrixXd::Zero(k + 1 + kPadRows, k + 1 + kPadColumns);
  VectorXd scale(k + 1);
  for (int i = 0; i <= k; ++i) scale[i] = std::sqrt(P(at(i), at(i)));
  for (int j = 0; j <= k; ++j)
    for (int i = j; i <= k; ++i) root(i, j) = P(at(i), at(j)) / (scale[i] * scale[j]);
  root.diagonal().head(k).array() += ridge;
  if (!partialCholesky(k + 1, k, root.data(), root.rows()))
    throw SolveError("arrival cost: correlations that are not positive definite");
  VectorXd a = root.row(k).head(k).transpose();
  root.topLeftCorner(k, k).triangularView<Eigen::Lower>().transpose().solveInPlace(a);
  Regression out{VectorXd::Zero(P.rows()), scale[k] * scale[k] * root(k, k)};
  for (int i = 0; i < k; ++i) out.row[others[i]] = a[i] * scale[k] / scale[i];
  return out;
}

}  // namespace prime
