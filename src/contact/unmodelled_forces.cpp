// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "contact/unmodelled_forces.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace prime {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;

namespace {

constexpr double kCertain = 50.0;  ///< logarithm of odds beyond which there is no doubt
constexpr int kBase = 6;           ///< disturbances of a floating base
constexpr double kNowhere = std::numeric_limits<double>::infinity();  ///< a stop that is none

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
      if (own[k] < 1 || own[k] >= model.njoints)
        throw std::invalid_argument("unmodelled forces: the model has no joint " +
                                    std::to_string(own[k]));
      const auto& joint = model.joints[own[k]];
      if (joint.nv() != 1)
        throw std::invalid_argument("unmodelled forces: " + model.names[own[k]] +
                                    " has more than one degree of freedom");
      leg.coordinates[k] = joint.idx_q(), leg.columns[k] = joint.idx_v();
      const double lower = model.lowerPositionLimit[joint.idx_q()];
      const double upper = model.upperPositionLimit[joint.idx_q()];
      // a continuous joint has no stops, and a URDF may leave limits out
      const bool stops = joint.nq() == 1 && lower < upper;
      leg.least[k] = stops ? lower + prior.stop : -kNowhere;
      leg.most[k] = stops ? upper - prior.stop : kNowhere;
    }
    legs_.push_back(leg);
  }
}

void UnmodelledForces::expect(const Step& step, std::vector<UnmodelledForce>& found) const {
  std::fill(found.begin(), found.end(), UnmodelledForce{Vector3d::Zero(), Matrix3d::Zero()});
  std::vector<Candidate> candidates;
  std::vector<Torques> stopped;
  Candidate candidate;
  for (const auto& leg : legs_) {
    const auto torques = torquesOf(leg, step);
    if (!torques.stop.isZero())
      stopped.push_back(torques);
    else if (look(torques, step, candidate))
      candidates.push_back(candidate);
  }
  if (candidates.empty() && stopped.empty()) return;
  Base base{step.w.head<kBase>(), step.stddev.head<kBase>().array().square()};
  askBase(base, step.dof, candidates);
  for (const auto& c : candidates)
    if (c.likely()) base.w -= c.on_base, base.variance += c.base_spread;
  for (const auto& leg : stopped) {
    if (!lookAtStop(leg, step, base, candidate)) continue;
    candidates.push_back(candidate);
    if (candidate.likely()) base.w -= candidate.on_base;
  }
  const double variance = prior_.stddev * prior_.stddev;
  for (const auto& c : candidates) {
    const double p = probability(c.odds);
    const Matrix3d wide = c.S + variance * Matrix3d::Identity();
    found[c.contact] = {p * variance * wide.inverse() * c.f,
                        p * c.S + p * (1.0 - p) * c.f * c.f.transpose()};
  }
}

UnmodelledForces::Torques UnmodelledForces::torquesOf(const Leg& leg, const Step& step) const {
  Torques at;
  at.contact = leg.contact;
  for (int k = 0; k < 3; ++k) {
    const int column = leg.columns[k];
    const double q = step.q[leg.coordinates[k]];
    at.w[k] = step.w[column], at.stddev[k] = step.stddev[column];
    at.J.col(k) = step.J.block<3, 1>(3 * leg.contact, column);
    at.stop[k] = int(q <= leg.least[k]) - int(q >= leg.most[k]);
  }
  return at;
}

/// Whether the torques of a leg are outliers that a force at its foot may explain; with which odds,
/// as far as the leg tells.
bool UnmodelledForces::look(const Torques& leg, const Step& step, Candidate& c) const {
  const auto deviations = leg.w.array() / leg.stddev.array();
  if (!((deviations.abs() >= prior_.least).any() && leg.w.allFinite())) return false;
  Eigen::FullPivLU<Matrix3d> lu(leg.J.transpose());
  lu.setThreshold(prior_.stretched);
  if (!lu.isInvertible()) return false;
  const Matrix3d root = lu.inverse() * leg.stddev.asDiagonal();
  c.contact = leg.contact;
  c.S = root * root.transpose();
  c.f = lu.solve(leg.w);
  const Matrix3d wide = c.S + prior_.stddev * prior_.stddev * Matrix3d::Identity();
  c.odds = prior_.odds - 0.5 * c.f.dot(wide.inverse() * c.f) -
           0.5 * std::log(wide.determinant() / c.S.determinant());
  for (const double deviation : deviations) c.odds -= logTail(deviation * deviation, 1, step.dof);
  const auto J_base = step.J.block<3, kBase>(3 * leg.contact, 0);
  c.on_base = J_base.transpose() * c.f;
  c.base_spread = (J_base.transpose() * c.S * J_base).diagonal();
  return true;
}

/// Whether a force at its foot may explain what a leg with a joint at its stop and the base lack;
/// with which odds.
bool UnmodelledForces::lookAtStop(const Torques& leg, const Step& step, const Base& base,
                                  Candidate& c) const {
  const double spread = prior_.stddev * prior_.stddev;
  const Eigen::Array3d away = leg.stop.array().cast<double>(), own = leg.stddev.array().square(),
                       moved = leg.J.colwise().squaredNorm().transpose().array() * spread,
                       variance = own + away.abs() * moved;
  const Eigen::Array3d deviations = leg.w.array() / variance.sqrt();
  const bool unusual = (deviations.abs() >= prior_.least).any() ||
                       (base.w.array().abs() >= prior_.least * base.variance.array().sqrt()).any();
  if (!(unusual && leg.w.allFinite() && base.w.allFinite())) return false;
  const Eigen::Matrix<double, 3, kBase> J_base = step.J.block<3, kBase>(3 * leg.contact, 0);
  const Eigen::DiagonalMatrix<double, 3> known(variance.inverse().matrix());
  const Eigen::DiagonalMatrix<double, kBase> base_known(base.variance.cwiseInverse());
  const Matrix3d information =
      leg.J * known * leg.J.transpose() + J_base * base_known * J_base.transpose();
  c.contact = leg.contact;
  c.S = information.inverse();
  c.f = c.S * (leg.J * (known * leg.w) + J_base * (base_known * base.w));
  const Matrix3d wide = c.S + spread * Matrix3d::Identity();
  const Vector3d mean = spread * wide.inverse() * c.f;
  const Vector3d rest = leg.w - leg.J.transpose() * mean;
  if ((rest.array() * away < -prior_.least * leg.stddev.array()).any()) return false;
  c.on_base = J_base.transpose() * c.f;
  c.odds = prior_.odds - 0.5 * mean.squaredNorm() / spread -
           0.5 * std::log(wide.determinant() / c.S.determinant()) +
           logBase(base.w - J_base.transpose() * mean, base.variance, step.dof) -
           logBase(base.w, base.variance, step.dof);
  for (int k = 0; k < 3; ++k)
    c.odds += logTail(rest[k] * rest[k] / variance[k], 1, step.dof) -
              logTail(deviations[k] * deviations[k], 1, step.dof);
  return true;
}

/// The base moves by the forces of the feet, and not by wrong torques.
void UnmodelledForces::askBase(const Base& base, const double dof,
                               std::vector<Candidate>& candidates) const {
  auto [w, variance] = base;
  for (const auto& c : candidates)
    if (c.likely()) w -= c.on_base, variance += c.base_spread;
  std::vector<double> told;
  for (const auto& c : candidates) {  // against what the others leave
    const double taken = c.likely() ? 1.0 : 0.0;
    const Vector6d rest = w + taken * c.on_base, spread = variance - taken * c.base_spread;
    told.push_back(logBase(rest - c.on_base, spread + c.base_spread, dof) -
                   logBase(rest, spread, dof));
  }
  for (std::size_t i = 0; i < candidates.size(); ++i) candidates[i].odds += told[i];
}

}  // namespace prime
