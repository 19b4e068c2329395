// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "linalg/branch_elimination.hpp"

#include <algorithm>
#include <cmath>

namespace prime {

namespace {

constexpr double kSmallest = 1e-13;  ///< pivot relative to what it was before the elimination

}  // namespace

BranchElimination::BranchElimination(const std::vector<int>& parent) : path_(parent.size()) {
  for (std::size_t k = 0; k < parent.size(); ++k) {
    auto& runs = path_[k];
    for (int i = parent[k]; i >= 0; i = parent[i]) {
      if (!runs.empty() && runs.back().start == i + 1)
        --runs.back().start, ++runs.back().size;
      else
        runs.push_back({i, 1});
    }
    std::reverse(runs.begin(), runs.end());
  }
}

bool BranchElimination::factorize(Eigen::MatrixXd& A) const {
  const auto n = A.rows();
  double* const a = A.data();
  for (auto k = n; k-- > 0;) {
    double* const column = a + k * n;
    const double pivot = column[k];
    if (!(std::abs(pivot) > 0.0)) return false;
    const double inverse = 1.0 / pivot;
    for (const auto& run : path_[k])
      for (int i = run.start; i < run.start + run.size; ++i) column[i] *= inverse;
    for (const auto& across : path_[k]) {
      for (int j = across.start; j < across.start + across.size; ++j) {
        double* const other = a + j * n;
        const double factor = other[k], before = std::abs(other[j]);
        for (const auto& run : path_[k])
          for (int i = run.start; i < run.start + run.size; ++i) other[i] -= factor * column[i];
        if (!(std::abs(other[j]) > kSmallest * before)) return false;
      }
    }
  }
  return true;
}

void BranchElimination::solve(const Eigen::MatrixXd& factors, Eigen::VectorXd& b) const {
  const auto n = factors.rows();
  for (auto k = n; k-- > 0;) {
    const double* const column = factors.data() + k * n;
    const double factor = b[k];
    for (const auto& run : path_[k])
      for (int i = run.start; i < run.start + run.size; ++i) b[i] -= factor * column[i];
  }
  for (Eigen::Index k = 0; k < n; ++k) {
    double sum = b[k];
    for (const auto& run : path_[k])
      for (int j = run.start; j < run.start + run.size; ++j) sum -= factors(k, j) * b[j];
    b[k] = sum / factors(k, k);
  }
}

}  // namespace prime
