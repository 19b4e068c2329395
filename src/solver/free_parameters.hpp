// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace prime {

/// Free parameters of a window: all parameters except those that are held at their values.
///
/// Held parameters have no columns in the Riccati recursion. Vectors and Jacobians of nodes contain
/// all parameters, those of the recursion only the free ones.
class FreeParameters {
 public:
  explicit FreeParameters(const int all, const std::vector<int>& held = {}) : all_(all) {
    for (const int i : held)
      if (i < 0 || i >= all)
        throw std::invalid_argument("window problem: there is no parameter " + std::to_string(i) +
                                    " among " + std::to_string(all) + " that could be held");
    for (int i = 0; i < all; ++i)
      if (std::find(held.begin(), held.end(), i) == held.end()) free_.push_back(i);
  }

  int size() const { return static_cast<int>(free_.size()); }
  int all() const { return all_; }
  bool whole() const { return size() == all_; }
  int operator[](const int i) const { return free_[i]; }
  bool operator==(const FreeParameters& other) const {
    return all_ == other.all_ && free_ == other.free_;
  }

  /// The free entries of a vector of all parameters.
  Eigen::VectorXd of(const Eigen::Ref<const Eigen::VectorXd>& parameters) const {
    Eigen::VectorXd out(size());
    for (int i = 0; i < size(); ++i) out[i] = parameters[free_[i]];
    return out;
  }
  /// to(., i) = from(., parameter i)
  void columns(const Eigen::Ref<const Eigen::MatrixXd>& from,
               Eigen::Ref<Eigen::MatrixXd> to) const {
    for (int i = 0; i < size(); ++i) to.col(i) = from.col(free_[i]);
  }
  /// Columns (., front + size) of a Jacobian (., front + all) whose last ones are the parameters.
  Eigen::MatrixXd columnsOf(const Eigen::Ref<const Eigen::MatrixXd>& J) const {
    const auto front = J.cols() - all_;
    Eigen::MatrixXd out(J.rows(), front + size());
    out.leftCols(front) = J.leftCols(front);
    columns(J.rightCols(all_), out.rightCols(size()));
    return out;
  }
  /// Rows and columns (size) of a symmetric matrix (all); lower triangle.
  Eigen::MatrixXd lowerOf(const Eigen::Ref<const Eigen::MatrixXd>& H) const {
    Eigen::MatrixXd out(size(), size());
    for (int j = 0; j < size(); ++j)
      for (int i = j; i < size(); ++i) out(i, j) = H(free_[i], free_[j]);
    return out;
  }
  /// Covariance (front + all) from one (front + size): held parameters have variance 0.
  Eigen::MatrixXd widened(const Eigen::Ref<const Eigen::MatrixXd>& P) const {
    const auto front = P.cols() - size();
    const auto at = [&](const Eigen::Index i) { return i < front ? i : front + free_[i - front]; };
    Eigen::MatrixXd out = Eigen::MatrixXd::Zero(front + all_, front + all_);
    for (Eigen::Index j = 0; j < P.cols(); ++j)
      for (Eigen::Index i = 0; i < P.rows(); ++i) out(at(i), at(j)) = P(i, j);
    return out;
  }

 private:
  int all_;
  std::vector<int> free_;
};

}  // namespace prime
