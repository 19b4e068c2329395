// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <Eigen/Core>
#include <algorithm>

namespace prime {

constexpr Eigen::Index kTile = 8;  ///< rows and columns that stay in the nearest cache

/// to = from^T diag(scale), tile by tile: one column after the other would touch a cache line for
/// each number.
inline void transposeInto(const Eigen::Ref<const Eigen::MatrixXd>& from,
                          Eigen::Ref<Eigen::MatrixXd> to, const Eigen::VectorXd& scale) {
  for (Eigen::Index j = 0; j < from.cols(); j += kTile)
    for (Eigen::Index i = 0; i < from.rows(); i += kTile) {
      const auto n = std::min(kTile, from.rows() - i), m = std::min(kTile, from.cols() - j);
      for (Eigen::Index k = 0; k < n; ++k)
        for (Eigen::Index l = 0; l < m; ++l) to(j + l, i + k) = from(i + k, j + l) * scale[i + k];
    }
}

/// to = from^T
inline void transposeInto(const Eigen::Ref<const Eigen::MatrixXd>& from,
                          Eigen::Ref<Eigen::MatrixXd> to) {
  for (Eigen::Index j = 0; j < from.cols(); j += kTile)
    for (Eigen::Index i = 0; i < from.rows(); i += kTile) {
      const auto n = std::min(kTile, from.rows() - i), m = std::min(kTile, from.cols() - j);
      for (Eigen::Index k = 0; k < n; ++k)
        for (Eigen::Index l = 0; l < m; ++l) to(j + l, i + k) = from(i + k, j + l);
    }
}

/// The upper triangle of a square matrix becomes the transpose of the lower one.
inline void mirrorLower(Eigen::MatrixXd& A) {
  for (Eigen::Index j = 0; j < A.cols(); j += kTile)
    for (Eigen::Index i = j; i < A.rows(); i += kTile)
      for (Eigen::Index k = i; k < std::min(i + kTile, A.rows()); ++k)
        for (Eigen::Index l = j; l < std::min(j + kTile, k); ++l) A(l, k) = A(k, l);
}

}  // namespace prime
