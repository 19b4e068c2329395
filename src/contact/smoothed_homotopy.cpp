// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "contact/smoothed_dynamics.hpp"

/// Ways to the solution of the contact step from a bad start. The corrected law is no gradient, its
/// Newton residual has local minima; the convex law has one solution, from which the corrected one
/// is near as a rule. Last resort is the path between the two: the convex solution is found along
/// sharper and sharper barriers. Solutions of g(v+; s) = 0, with s the share of De Saxce's
/// correction, form a curve that starts there (s = 0) and, solutions being bounded, must reach
/// s = 1; on the way it may turn back, so it is followed by its arc length (predictor along the
/// tangent, Newton corrector across it).
namespace prime {

namespace {

constexpr double kAnyStep = 1e-9;  ///< shortest Newton step
constexpr int kMaxSteps = 1000;
constexpr double kShortest = 1e-9;  ///< arc length [m/s]
constexpr double kLongest = 0.5;    ///< arc length [m/s]

ContactLaw corrected(ContactLaw law, const double share) {
  law.correction = share;
  return law;
}

}  // namespace

/// d(g, arc length)/d(v+, s) at the point of the last residual, factorized.
void SmoothedDynamics::pathTangent(Data& d) const {
  const Eigen::Index n = nv();
  auto& path = d.homotopy;
  matrix(d);
  path.matrix.topLeftCorner(n, n) = d.by.next;
  path.matrix.col(n).setZero();
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    // the correction adds to the normal velocity: d lambda/ds = d lambda/da mu (sqrt(|c_t|^2 +
    // eps^2) - eps)
    const double e = d.at.law.smoothing;
    const Eigen::Vector3d c = d.out.velocity.segment<3>(3 * i) + disturbance(d, i);
    const Eigen::Vector3d& normal = d.normal[contacts[i].foot];
    const double slip = (c - normal.dot(c) * normal).squaredNorm();
    const Eigen::Vector3d dlambda =
        d.law[i].d_velocity * normal * (friction(d) * (std::sqrt(slip + e * e) - e));
    for (const auto k : support[i]) path.matrix(k, n) -= d.out.J.block<3, 1>(3 * i, k).dot(dlambda);
  }
  path.matrix.row(n) = path.metric.cwiseProduct(path.tangent).transpose();
  path.lu.compute(path.matrix);
}

/// Newton on (v+, s), across the tangent. True when it contracts.
bool SmoothedDynamics::correctPath(Data& d) const {
  const Eigen::Index n = nv();
  auto& path = d.homotopy;
  double last = 0.0;
  for (int i = 0; i < 12; ++i) {
    evaluate(d, corrected(d.at.law, path.next[n]), path.next.head(n));
    const double size = d.out.g.cwiseProduct(d.scale).lpNorm<Eigen::Infinity>();
    if (!std::isfinite(size)) return false;
    if (size < 1e-6) return true;  // near enough: the end of the path is solved for exactly
    if (i > 2 && size > 0.5 * last) return false;
    last = size;
    pathTangent(d);
    path.rhs.head(n) = d.out.g;
    path.rhs[n] = 0.0;
    path.step.noalias() = path.lu.solve(path.rhs);
    path.next -= path.step;
  }
  return false;
}

/// Newton on the convex law, along barriers with these shares of the sharpness; v_start is its
/// solution.
bool SmoothedDynamics::solveConvex(Data& d, const std::initializer_list<double> shares) const {
  ContactLaw law = corrected(d.at.law, 0.0);
  d.v_start = d.at.v;
  bool found = false;
  for (const double share : shares) {
    law.kappa = share * d.at.law.kappa;
    found = newton(d, law, d.v_start, kAnyStep);
    d.v_start = d.out.vplus;
  }
  return found;
}

/// Newton on the convex law, then on the corrected one.
bool SmoothedDynamics::startConvex(Data& d) const {
  return solveConvex(d, {1.0}) && newton(d, d.at.law, d.v_start, kAnyStep);
}

bool SmoothedDynamics::followCorrection(Data& d) const {
  const Eigen::Index n = nv();
  auto& path = d.homotopy;
  const double whole = d.at.law.correction;
  if (!solveConvex(d, {1e-3, 1e-2, 1e-1, 1.0})) return false;
  path.now << d.out.vplus, 0.0;
  path.metric << d.M.diagonal() / d.M(0, 0), 0.01;
  path.tangent.setZero();
  path.tangent[n] = 1.0;
  double length = 0.1;
  for (int i = 0; i < kMaxSteps && length > kShortest; ++i) {
    evaluate(d, corrected(d.at.law, path.now[n]), path.now.head(n));
    pathTangent(d);
    path.rhs.setZero();
    path.rhs[n] = 1.0;
    path.tangent = path.lu.solve(path.rhs);
    path.tangent /= std::sqrt(path.tangent.cwiseAbs2().dot(path.metric));
    for (bool found = false; !found && length > kShortest;) {
      path.next = path.now + length * path.tangent;
      found = correctPath(d);
      length *= found ? 1.0 : 0.3;
    }
    if (path.next[n] >= whole) {
      const double share = (whole - path.now[n]) / (path.next[n] - path.now[n]);
      d.v_start = (1.0 - share) * path.now.head(n) + share * path.next.head(n);
      if (newton(d, d.at.law, d.v_start, kAnyStep)) return true;
      length *= 0.3;
      continue;
    }
    path.now = path.next;
    length = std::min(2.0 * length, kLongest);
  }
  return false;
}

}  // namespace prime
