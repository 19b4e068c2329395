// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "contact/contact_dynamics.hpp"

/// Ways to the solution of the contact step from a bad start. The corrected law is no gradient, its
/// Newton residual has local minima; the convex law has one solution, from which the corrected one
/// is near as a rule. Last resort is the path between the two: the convex solution is found along
/// sharper and sharper barriers. Solutions of g(v+; s) = 0, with s the share of De Saxce's
/// correction, form a curve that starts there (s = 0) and, solutions being bounded, must reach s =
/// 1; on the way it may turn back, so it is followed by its arc length (predictor along the
/// tangent, Newton corrector across it).
namespace prime {

namespace {

constexpr double kAnyStep = 1e-9;  ///< shortest Newton step
constexpr int kMaxSteps = 1000;
constexpr double kShortest = 1e-9;  ///< arc length [m/s]
constexpr double kLongest = 0.5;    ///< arc length [m/s]

}  // namespace

/// d(g, arc length)/d(v+, s) at the point of the last residual, factorized.
void ContactDynamics::pathTangent(Data& data) const {
  const Eigen::Index n = nv();
  matrix(data);
  data.path_matrix.topLeftCorner(n, n) = data.A;
  data.path_matrix.col(n).setZero();
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    // the correction adds to the normal velocity: d lambda/ds = d lambda/da mu (sqrt(|c_t|^2 +
    // eps^2) - eps)
    const double e = options.law.smoothing;
    const double slip =
        (data.velocity.segment<2>(3 * i) + disturbance(data, i).head<2>()).squaredNorm();
    const Eigen::Vector3d dlambda =
        data.law[i].d_velocity.col(2) * (data.friction * (std::sqrt(slip + e * e) - e));
    for (const auto k : support[i])
      data.path_matrix(k, n) -= data.J.block<3, 1>(3 * i, k).dot(dlambda);
  }
  data.path_matrix.row(n) = data.path_metric.cwiseProduct(data.path_tangent).transpose();
  data.path_lu.compute(data.path_matrix);
}

/// Newton on (v+, s), across the tangent. True when it contracts.
bool ContactDynamics::correctPath(Data& data) const {
  const Eigen::Index n = nv();
  double last = 0.0;
  for (int i = 0; i < 12; ++i) {
    data.law_now.correction = data.path_try[n];
    residual(data, data.path_try.head(n));
    const double size = data.g.cwiseProduct(data.scale).lpNorm<Eigen::Infinity>();
    if (!std::isfinite(size)) return false;
    if (size < 1e-6) return true;  // near enough: the end of the path is solved for exactly
    if (i > 2 && size > 0.5 * last) return false;
    last = size;
    pathTangent(data);
    data.path_rhs.head(n) = data.g;
    data.path_rhs[n] = 0.0;
    data.path_step.noalias() = data.path_lu.solve(data.path_rhs);
    data.path_try -= data.path_step;
  }
  return false;
}

/// Newton on the convex law, along barriers with these shares of the sharpness; v_start is its
/// solution.
bool ContactDynamics::solveConvex(Data& data, const std::initializer_list<double> shares) const {
  data.law_now.correction = 0.0;
  data.v_start = data.v;
  bool found = false;
  for (const double share : shares) {
    data.law_now.kappa = share * options.law.kappa;
    found = newton(data, data.v_start, kAnyStep);
    data.v_start = data.vplus;
  }
  return found;
}

/// Newton on the convex law, then on the corrected one.
bool ContactDynamics::startConvex(Data& data) const {
  const bool convex = solveConvex(data, {1.0});
  data.law_now = options.law;
  return convex && newton(data, data.v_start, kAnyStep);
}

bool ContactDynamics::followCorrection(Data& data) const {
  const Eigen::Index n = nv();
  if (!solveConvex(data, {1e-3, 1e-2, 1e-1, 1.0})) return false;
  data.path_now << data.vplus, 0.0;
  data.path_metric << data.M.diagonal() / data.M(0, 0), 0.01;
  data.path_tangent.setZero();
  data.path_tangent[n] = 1.0;
  double length = 0.1;
  for (int i = 0; i < kMaxSteps && length > kShortest; ++i) {
    data.law_now.correction = data.path_now[n];
    residual(data, data.path_now.head(n));
    pathTangent(data);
    data.path_rhs.setZero();
    data.path_rhs[n] = 1.0;
    data.path_tangent = data.path_lu.solve(data.path_rhs);
    data.path_tangent /= std::sqrt(data.path_tangent.cwiseAbs2().dot(data.path_metric));
    for (bool found = false; !found && length > kShortest;) {
      data.path_try = data.path_now + length * data.path_tangent;
      found = correctPath(data);
      length *= found ? 1.0 : 0.3;
    }
    if (data.path_try[n] >= options.law.correction) {
      const double share =
          (options.law.correction - data.path_now[n]) / (data.path_try[n] - data.path_now[n]);
      data.law_now = options.law;
      data.v_start = (1.0 - share) * data.path_now.head(n) + share * data.path_try.head(n);
      if (newton(data, data.v_start, kAnyStep)) return true;
      length *= 0.3;
      continue;
    }
    data.path_now = data.path_try;
    length = std::min(2.0 * length, kLongest);
  }
  data.law_now = options.law;
  return false;
}

}  // namespace prime
