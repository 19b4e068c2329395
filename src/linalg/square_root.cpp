// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "linalg/square_root.hpp"

#include <Eigen/Householder>
#include <Eigen/QR>
#include <algorithm>

#include "linalg/dense_kernels.hpp"

namespace prime {

using Eigen::Lower;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr int kSmall = 40;  ///< size up to which products of blocks do not pay

/// Forward substitution, column by column.
void invertColumns(const Eigen::Ref<const MatrixXd>& L, MatrixXd& inverse) {
  const int n = L.rows();
  for (int j = 0; j < n; ++j) {
    double* const x = &inverse(0, j);
    x[j] = 1.0;
    for (int k = j; k < n; ++k) {
      const double* const column = L.data() + k * L.outerStride();
      const double value = x[k] /= column[k];
      for (int i = k + 1; i < n; ++i) x[i] -= value * column[i];
    }
  }
}

}  // namespace

void invertLower(const Eigen::Ref<const MatrixXd>& L, MatrixXd& inverse) {
  const int n = L.rows(), block = 12;
  inverse.setZero(n, n);
  if (n <= kSmall) return invertColumns(L, inverse);
  // by block columns: the inverse of the diagonal block, then forward substitution below it
  for (int j = 0; j < n; j += block) {
    const int w = std::min(block, n - j), below = n - j - w;
    auto corner = inverse.block(j, j, w, w);
    corner.setIdentity();
    L.block(j, j, w, w).triangularView<Lower>().solveInPlace(corner);
    if (below == 0) continue;
    auto rest = inverse.block(j + w, j, below, w);
    rest.noalias() = -L.block(j + w, j, below, w) * corner;
    L.bottomRightCorner(below, below).triangularView<Lower>().solveInPlace(rest);
  }
}

void addGramOfLower(const MatrixXd& R, Eigen::Ref<MatrixXd> H) {
  const int n = R.rows(), block = 16;
  for (int i = 0; i < n; i += block) {
    const int w = std::min(block, n - i), length = i + w;
    H.topLeftCorner(length, length)
        .selfadjointView<Lower>()
        .rankUpdate(R.block(i, 0, w, length).transpose());
  }
}

void rootOf(const Eigen::Ref<const MatrixXd>& wide, Eigen::Ref<MatrixXd> L) {
  const auto n = wide.rows();
  const Eigen::HouseholderQR<MatrixXd> qr(wide.transpose());
  L = qr.matrixQR().topRows(n).triangularView<Eigen::Upper>().transpose();
  for (int i = 0; i < n; ++i)
    if (L(i, i) < 0.0) L.col(i) *= -1.0;
}

void triangularizeStaircase(MatrixXd& A, const int rows, const std::vector<int>& first,
                            VectorXd& work) {
  const int cols = A.cols() - 1;
  work.resize(A.rows() + kPadRows);
  double tau, beta;
  for (int j = 0, end = 0; j < cols; ++j) {
    while (end < rows && first[end] <= j) ++end;
    const int m = end - j;
    if (m < 2) continue;
    auto column = A.col(j).segment(j, m);
    column.makeHouseholderInPlace(tau, beta);
    work.head(m) = column;
    work[0] = 1.0;
    work.segment(m, kPadRows).setZero();
    reflect(m, cols - j, work.data(), tau, &A(j, j + 1), A.rows());
    A(j, j) = beta;
  }
}

}  // namespace prime
