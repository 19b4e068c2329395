// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "linalg/square_root.hpp"

#include <Eigen/Householder>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "linalg/dense_kernels.hpp"

namespace prime {

using Eigen::Lower;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr int kSmall = 16;  ///< size up to which copies into padded buffers do not pay
constexpr int kPanel = 4;   ///< columns whose reflections are applied at once

/// Forward substitution, column by column.
void invertColumns(const Eigen::Ref<const MatrixXd>& L, MatrixXd& inverse) {
  const int n = L.rows();
  inverse.setZero(n, n);
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

/// A zero buffer for the kernels, which outlives the call.
MatrixXd& padded(const int n, MatrixXd& buffer) {
  buffer.setZero(n + kPadRows, n + kPadColumns);
  return buffer;
}

}  // namespace

void invertLower(const Eigen::Ref<const MatrixXd>& L, MatrixXd& inverse) {
  const int n = L.rows();
  if (n <= kSmall) return invertColumns(L, inverse);
  thread_local MatrixXd from, to;
  from.resize(n + kPadRows, n);
  from.topRows(n) = L;
  from.bottomRows(kPadRows).setZero();
  padded(n, to).diagonal().setOnes();
  invertTriangle(n, from.data(), from.rows(), to.data(), to.rows());
  inverse = to.topLeftCorner(n, n);
}

void gramOfLower(const MatrixXd& R, MatrixXd& gram) {
  const int n = R.rows();
  thread_local MatrixXd upper, lower;
  padded(n, upper).topLeftCorner(n, n).triangularView<Eigen::Upper>() = R.transpose();
  padded(n, lower);
  gramOfUpper(n, upper.data(), upper.rows(), lower.data(), lower.rows());
  gram = lower.topLeftCorner(n, n).triangularView<Lower>();
}

void updateRoot(Eigen::Ref<MatrixXd> L, Eigen::Ref<VectorXd> v) {
  const int n = L.rows();
  for (int k = 0; k < n; ++k) {
    if (v[k] == 0.0) continue;
    const double r = std::hypot(L(k, k), v[k]), c = L(k, k) / r, s = v[k] / r;
    L(k, k) = r;
    double* const column = L.data() + k * L.outerStride();
    for (int i = k + 1; i < n; ++i) {
      const double l = column[i];
      column[i] = c * l + s * v[i];
      v[i] = c * v[i] - s * l;
    }
  }
}

void rootOf(const Eigen::Ref<const MatrixXd>& wide, Eigen::Ref<MatrixXd> L) {
  const auto n = wide.rows();
  const Eigen::HouseholderQR<MatrixXd> qr(wide.transpose());
  L = qr.matrixQR().topRows(n).triangularView<Eigen::Upper>().transpose();
  for (int i = 0; i < n; ++i)
    if (L(i, i) < 0.0) L.col(i) *= -1.0;
}

namespace {

/// T of the product of the reflections 1 - tau_k v_k v_k^T = 1 - V T V^T.
void compactWY(const Eigen::Ref<const MatrixXd>& V, const double* tau, Eigen::Matrix4d& T) {
  T.setZero();
  for (int k = 0; k < kPanel; ++k) {
    T(k, k) = tau[k];
    if (k == 0) continue;
    const VectorXd along = V.leftCols(k).transpose() * V.col(k);
    T.col(k).head(k).noalias() = -tau[k] * T.topLeftCorner(k, k) * along;
  }
}

}  // namespace

void triangularizeStaircase(MatrixXd& A, const int rows, const std::vector<int>& first,
                            MatrixXd& work) {
  const int cols = A.cols() - 1, ld = A.rows();
  work.resize(ld + kPadRows, kPanel);
  Eigen::Matrix4d T;
  for (int j = 0, end = 0; j < cols; j += kPanel) {
    const int width = std::min(kPanel, cols - j);
    double tau[kPanel] = {}, beta;
    int reach = end;  // of the rows of this panel
    while (reach < rows && first[reach] < j + width) ++reach;
    work.topRows(std::max(reach - j, 0) + kPadRows).setZero();
    for (int k = 0; k < width; ++k) {
      const int at = j + k;
      while (end < rows && first[end] <= at) ++end;
      const int m = end - at;
      if (m < 2) continue;
      auto column = A.col(at).segment(at, m);
      column.makeHouseholderInPlace(tau[k], beta);
      auto v = work.col(k).segment(k, m);
      v = column;
      v[0] = 1.0;
      reflect(m, width - k - 1, v.data(), tau[k], &A(at, at + 1), ld);
      A(at, at) = beta;
    }
    if (end - j < 2) continue;
    compactWY(work.topRows(end - j), tau, T);
    reflectFour(end - j, cols + 1 - j - width, work.data(), work.rows(), T.data(),
                &A(j, j) + width * ld, ld);
  }
}

}  // namespace prime
