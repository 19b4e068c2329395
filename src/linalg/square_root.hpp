// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <Eigen/Core>
#include <vector>

namespace prime {

/// Inverse of a lower triangular matrix; only the lower part of `L` is read, the upper one of
/// `inverse` is zero.
void invertLower(const Eigen::Ref<const Eigen::MatrixXd>& L, Eigen::MatrixXd& inverse);

/// Lower part of R^T R for a lower triangular R; the upper one of `gram` is zero.
void gramOfLower(const Eigen::MatrixXd& R, Eigen::MatrixXd& gram);

/// L L^T of a lower triangular L, of which only the lower part is read.
void squareOfLower(const Eigen::MatrixXd& L, Eigen::MatrixXd& square);

/// L L^T += v v^T of a lower triangular L with a positive diagonal, by plane rotations, which use v
/// up. Nothing changes above the first element of v that is not zero.
void updateRoot(Eigen::Ref<Eigen::MatrixXd> L, Eigen::Ref<Eigen::VectorXd> v);

/// Root of the covariance with other variables in the place of some, by plane rotations: row
/// `indices[i]` becomes row i of `rows`, which are used up.
///
/// @param L (n, n) lower triangular root, with a positive diagonal before and after
/// @param rows (k, n + m) in the columns of L, and in m more that are the new variables' own
void replaceRows(Eigen::Ref<Eigen::MatrixXd> L, const std::vector<int>& indices,
                 Eigen::Ref<Eigen::MatrixXd> rows);

/// Lower triangular L with `L L^T = wide wide^T` and a positive diagonal.
void rootOf(const Eigen::Ref<const Eigen::MatrixXd>& wide, Eigen::Ref<Eigen::MatrixXd> L);

/// Householder triangularization of sparse rows: a row takes part only from its first nonzero
/// column on.
///
/// `A` (rows + kPadRows, cols + 1), the padding zero: sorted such that `first[i]`, the first
/// nonzero column of row i, does not fall; its last column is the right-hand side. On return the
/// upper triangle of the first `cols` rows holds R and its right-hand side, what lies below is
/// arbitrary.
void triangularizeStaircase(Eigen::MatrixXd& A, int rows, const std::vector<int>& first,
                            Eigen::MatrixXd& work);

}  // namespace prime
