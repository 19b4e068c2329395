// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "contact/unmodelled_forces.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace prime {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;

namespace {

constexpr double kCertain = 50.0;  ///< logarithm of odds beyond which there is no doubt
constexpr int kBase = 6;           ///< disturbances of a floating base

double probability(const double odds) {
  return 1.0 / (1.0 + std::exp(-std::clamp(odds, -kCertain, kCertain)));
}

/// Logarithm of a Student-t density of `size` components with this square of their whitened values,
/// but for what depends on neither.
double logTail(const double square, const int size, const double dof) {
  return -0.5 * (dof + size) * std::log1p(square / dof);
}

/// Logarithm of the density of disturbances of the base with these variances, likewise.
template <class W, class V>
double logBase(const Eigen::MatrixBase<W>& w, const Eigen::MatrixBase<V>& variance,
               const double dof) {
  double sum = -0.5 * variance.array().log().sum();
  for (int part = 0; part < kBase; part += 3) {
    const auto square = w.template segment<3>(part).array().square();
    sum += logTail((square / variance.template segment<3>(part).array()).sum(), 3, dof);
  }
  return sum;
}

}  // namespace

UnmodelledForces::UnmodelledForces(const pinocchio::Model& model,
                                   const std::vector<std::vector<int>>& joints, const Prior& prior)
    : prior_(prior) {
  for (std::size_t contact = 0; contact < joints.size(); ++contact) {
    const auto& own = joints[contact];
    if (own.empty()) continue;
    if (own.size() != 3)
      throw std::invalid_argument("unmodelled forces: a leg has three joints, not " +
                                  std::to_string(own.size()));
    Leg leg;
    leg.contact = contact;
    for (int k = 0; k < 3; ++k) {
      const auto& joint = model.joints.at(own[k]);
      if (joint.nq() != 1 || joint.nv() != 1)
        throw std::invalid_argument("unmodelled forces: " + model.names[own[k]] +
                                    " is no joint with limits");
      leg.coordinates[k] = joint.idx_q(), leg.columns[k] = joint.idx_v();
      leg.least[k] = model.lowerPositionLimit[joint.idx_q()] + prior.stop;
      leg.most[k] = model.upperPositionLimit[joint.idx_q()] - prior.stop;
    }
    legs_.push_back(leg);
  }
}

void UnmodelledForces::expect(const Step& step, std::vector<UnmodelledForce>& found) const {
  std::fill(found.begin(), found.end(), UnmodelledForce{Vector3d::Zero(), Matrix3d::Zero()});
  std::vector<Candidate> candidates;
  Candidate candidate;
  for (const auto& leg : legs_)
    if (look(leg, step, candidate)) candidates.push_back(candidate);
  if (candidates.empty()) return;
  askBase(step, candidates);
  const double variance = prior_.stddev * prior_.stddev;
  for (const auto& c : candidates) {
    const double p = probability(c.odds);
    const Matrix3d wide = c.S + variance * Matrix3d::Identity();
    found[c.contact] = {p * variance * wide.inverse() * c.f,
                        p * c.S + p * (1.0 - p) * c.f * c.f.transpose()};
  }
}

/// Whether the torques of a leg are outliers that a force at its foot may explain; with which odds,
/// as far as the leg tells.
bool UnmodelledForces::look(const Leg& leg, const Step& step, Candidate& c) const {
  Vector3d at, w, stddev;
  Matrix3d J;
  for (int k = 0; k < 3; ++k) {
    const int column = leg.columns[k];
    at[k] = step.q[leg.coordinates[k]], w[k] = step.w[column], stddev[k] = step.stddev[column];
    J.col(k) = step.J.block<3, 1>(3 * leg.contact, column);
  }
  const auto deviations = w.array() / stddev.array();
  if (!((deviations.abs() >= prior_.least).any() && w.allFinite())) return false;
  if (!((at.array() > leg.least.array()).all() && (at.array() < leg.most.array()).all()))
    return false;
  Eigen::FullPivLU<Matrix3d> lu(J.transpose());
  lu.setThreshold(prior_.stretched);
  if (!lu.isInvertible()) return false;
  const Matrix3d root = lu.inverse() * stddev.asDiagonal();
  c.contact = leg.contact;
  c.S = root * root.transpose();
  c.f = lu.solve(w);
  const Matrix3d wide = c.S + prior_.stddev * prior_.stddev * Matrix3d::Identity();
  c.odds = prior_.odds - 0.5 * c.f.dot(wide.inverse() * c.f) -
           0.5 * std::log(wide.determinant() / c.S.determinant());
  for (const double deviation : deviations) c.odds -= logTail(deviation * deviation, 1, step.dof);
  const auto J_base = step.J.block<3, kBase>(3 * leg.contact, 0);
  c.on_base = J_base.transpose() * c.f;
  c.base_spread = (J_base.transpose() * c.S * J_base).diagonal();
  return true;
}

/// The base moves by the forces of the feet, and not by wrong torques.
void UnmodelledForces::askBase(const Step& step, std::vector<Candidate>& candidates) const {
  Vector6d w = step.w.head<kBase>(), variance = step.stddev.head<kBase>().array().square();
  for (const auto& c : candidates)
    if (c.likely()) w -= c.on_base, variance += c.base_spread;
  std::vector<double> told;
  for (const auto& c : candidates) {  // against what the others leave
    const double taken = c.likely() ? 1.0 : 0.0;
    const Vector6d rest = w + taken * c.on_base, spread = variance - taken * c.base_spread;
    told.push_back(logBase(rest - c.on_base, spread + c.base_spread, step.dof) -
                   logBase(rest, spread, step.dof));
  }
  for (std::size_t i = 0; i < candidates.size(); ++i) candidates[i].odds += told[i];
}

}  // namespace prime
