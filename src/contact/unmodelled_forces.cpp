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

double probability(const double odds) {
  return 1.0 / (1.0 + std::exp(-std::clamp(odds, -kCertain, kCertain)));
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

void UnmodelledForces::expect(const ConstRef& q, const MatrixXd& J, const ConstRef& w,
                              const ConstRef& stddev, std::vector<UnmodelledForce>& found) const {
  std::fill(found.begin(), found.end(), UnmodelledForce{Vector3d::Zero(), Matrix3d::Zero()});
  for (const auto& leg : legs_) {
    Vector3d at, torque, deviation;
    Matrix3d own;
    for (int k = 0; k < 3; ++k) {
      const int column = leg.columns[k];
      at[k] = q[leg.coordinates[k]], torque[k] = w[column], deviation[k] = stddev[column];
      own.col(k) = J.block<3, 1>(3 * leg.contact, column);
    }
    const bool stands_out = (torque.cwiseAbs().array() >= prior_.least * deviation.array()).any();
    const bool free = (at.array() > leg.least.array()).all() && (at.array() < leg.most.array()).all();
    if (stands_out && free && torque.allFinite()) found[leg.contact] = test(own, torque, deviation);
  }
}

UnmodelledForce UnmodelledForces::test(const Matrix3d& J, const Vector3d& w,
                                       const Vector3d& stddev) const {
  Eigen::FullPivLU<Matrix3d> lu(J.transpose());
  lu.setThreshold(prior_.stretched);
  if (!lu.isInvertible()) return {Vector3d::Zero(), Matrix3d::Zero()};
  const Matrix3d root = lu.inverse() * stddev.asDiagonal(), S = root * root.transpose();
  const double variance = prior_.stddev * prior_.stddev;
  const Matrix3d wide = S + variance * Matrix3d::Identity();
  const Vector3d f = lu.solve(w), explained = wide.inverse() * f;
  // f^T S^-1 f is the square of the whitened torques
  const double square = w.cwiseQuotient(stddev).squaredNorm() - f.dot(explained);
  const double spread = std::log(wide.determinant() / S.determinant());
  const double p = probability(prior_.odds + 0.5 * (square - spread));
  return {p * variance * explained, p * S + p * (1.0 - p) * f * f.transpose()};
}

}  // namespace prime
