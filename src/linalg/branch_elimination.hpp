// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <Eigen/Core>
#include <vector>

namespace prime {

/// Gaussian elimination of matrices that have the pattern of a mass matrix: A(i, k) = 0 unless i
/// lies on the path from the root to k or k on the path to i. Eliminated from the leaves nothing
/// fills in, and a joint costs the square of its depth (Featherstone 2005, "Efficient factorization
/// of the joint-space inertia matrix for branched kinematic trees"; here for unsymmetric matrices).
///
///     A = U L,   U unit upper, L lower triangular, both with the pattern of A
///
/// There is no pivoting: A is a mass matrix plus what the contacts of each branch add, and its
/// pivots are inertias.
class BranchElimination {
 public:
  /// `parent[k] < k`: the index before k on the path from the root; -1 at a root.
  explicit BranchElimination(const std::vector<int>& parent);

  /// U and L in the place of A. False: a pivot has vanished.
  bool factorize(Eigen::MatrixXd& A) const;
  /// x = A^-1 b in the place of b.
  void solve(const Eigen::MatrixXd& factors, Eigen::VectorXd& b) const;

 private:
  struct Run {
    int start, size;
  };
  std::vector<std::vector<Run>>
      path_;  ///< per index: those before it on its path, as runs of consecutive ones
};

}  // namespace prime
