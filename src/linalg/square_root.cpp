// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "linalg/square_root.hpp"

#include <Eigen/Householder>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "linalg/dense_kernels.hpp"
#include "linalg/transpose.hpp"

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

/// A buffer for the kernels, which outlives the call: zero at first, and the padding for ever.
MatrixXd& padded(const int n, MatrixXd& buffer) {
  if (buffer.rows() != n + kPadRows) buffer.setZero(n + kPadRows, n + kPadColumns);
  return buffer;
}

}  // namespace

void invertLower(const Eigen::Ref<const MatrixXd>& L, MatrixXd& inverse) {
  const int n = L.rows();
  if (n <= kSmall) return invertColumns(L, inverse);
  thread_local MatrixXd from, to;  // as large as they have ever had to be
  const int rows = n + kPadRows;
  if (to.rows() < rows) from.setZero(rows, rows), to.setZero(rows, rows);
  from.topLeftCorner(n, n) = L;
  from.block(n, 0, kPadRows, n).setZero();
  for (int j = 0; j < n; ++j) to.col(j).segment(j, rows - j).setZero();  // above it always is
  to.diagonal().head(n).setOnes();
  invertTriangle(n, from.data(), from.rows(), to.data(), to.rows());
  inverse = to.topLeftCorner(n, n);
}

void gramOfLower(const MatrixXd& R, MatrixXd& gram) {
  const int n = R.rows();
  thread_local MatrixXd upper, lower;
  transposeInto(R, padded(n, upper).topLeftCorner(n, n));
  padded(n, lower);
  gramOfUpper(n, upper.data(), upper.rows(), lower.data(), lower.rows());
  gram = lower.topLeftCorner(n, n).triangularView<Lower>();
}

void squareOfLower(const MatrixXd& L, MatrixXd& square) {
  constexpr int kColumns = 4;  // at a time, as many as the kernel takes at once
  const int n = L.rows();
  thread_local MatrixXd from, to;
  padded(n, from).topLeftCorner(n, n).triangularView<Lower>() = L;
  padded(n, to);
  for (int j = 0; j < n; j += kColumns) {
    const int m = std::min(kColumns, n - j);
    timesTransposed(false, n - j, m, j + m, &from(j, 0), from.rows(), &from(j, 0), from.rows(),
                    &to(j, j), to.rows());
  }
  square = to.topLeftCorner(n, n).selfadjointView<Lower>();
}

namespace {

/// Rotation of the plane of two columns, in which (a, b) becomes (length, 0).
struct Rotation {
  Rotation(const double a, const double b) : length(std::sqrt(a * a + b * b)) {
    if (length > 0.0) c = a / length, s = b / length;
  }
  void turn(double& a, double& b) const {
    const double before = a;
    a = c * a + s * b;
    b = c * b - s * before;
  }
  void turn(const int n, double* const a, double* const b) const {
    for (int i = 0; i < n; ++i) turn(a[i], b[i]);
  }
  double length, c = 1.0, s = 0.0;
};

}  // namespace

void updateRoot(Eigen::Ref<MatrixXd> L, Eigen::Ref<VectorXd> v) {
  const int n = L.rows();
  for (int k = 0; k < n; ++k) {
    if (v[k] == 0.0) continue;
    const Rotation rotation(L(k, k), v[k]);
    L(k, k) = rotation.length;
    double* const column = L.data() + k * L.outerStride();
    rotation.turn(n - k - 1, column + k + 1, v.data() + k + 1);
  }
}

/// A variable that is replaced leaves its column to those behind it, as noise. The new row then
/// keeps its part in its own column, last of the columns behind first: so none fills up above its
/// diagonal.
void replaceRows(Eigen::Ref<MatrixXd> L, const std::vector<int>& indices,
                 Eigen::Ref<MatrixXd> rows) {
  const int n = L.rows(), all = rows.cols(), k = rows.rows();
  for (int i = 0; i < k; ++i) {
    const int at = indices[i], left = k - i;  // of the new rows
    double* const own = L.data() + at * L.outerStride();
    double* const row = &rows(i, 0);
    const auto column = [&](const int j) { return row + j * rows.outerStride(); };
    for (int j = at + 1; j < n; ++j) {
      if (own[j] == 0.0) continue;
      double* const other = L.data() + j * L.outerStride();
      const Rotation rotation(other[j], own[j]);
      rotation.turn(n - j, other + j, own + j);
      rotation.turn(left, column(j), column(at));
    }
    for (int j = n; j < all; ++j)
      Rotation(*column(at), *column(j)).turn(left, column(at), column(j));
    for (int j = n - 1; j > at; --j) {
      if (*column(j) == 0.0) continue;
      const Rotation rotation(*column(at), *column(j));
      rotation.turn(n - j, own + j, L.data() + j * (L.outerStride() + 1));
      rotation.turn(left, column(at), column(j));
    }
    for (int j = 0; j <= at; ++j) L(at, j) = *column(j);
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
