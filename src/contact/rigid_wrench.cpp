// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// Wrenches of rigid feet: how their contacts share them, and which of them friction and unilateral
// contact allow.
#include <Eigen/Eigenvalues>
#include <cmath>
#include <pinocchio/spatial/skew.hpp>
#include <stdexcept>

#include "contact/rigid_dynamics.hpp"

namespace prime {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using pinocchio::skew;

namespace {

constexpr double kIdle = 1e-6;    ///< share in the wrench of a contact that would have to pull
constexpr double kSmooth = 1e-3;  ///< of the norm of the tangential impulse at zero [N s]
constexpr double kInLine =
    1e-6;  ///< of a contact from an edge of its sole, relative to the edge's length

}  // namespace

/// Sole, convex hull and torsional radius of a surface from the levers of its contacts; `up`:
/// roughly its normal.
void RigidDynamics::findSole(Foot& foot, const Vector3d& up) {
  const auto& l = foot.lever;
  const auto n = l.size();
  foot.centre.setZero();
  for (const auto& p : l) foot.centre += p / n;
  Matrix3d scatter = Matrix3d::Zero();
  for (const auto& p : l) scatter += (p - foot.centre) * (p - foot.centre).transpose();
  const Eigen::SelfAdjointEigenSolver<Matrix3d> axes(scatter);
  if (n < 3 || axes.eigenvalues()[1] < 1e-4 * axes.eigenvalues()[2])
    throw std::invalid_argument(
        "rigid dynamics: a foot has one contact, or three and more that are not in line");
  foot.normal = axes.eigenvectors().col(0);
  if (foot.normal.dot(up) < 0.0) foot.normal *= -1.0;
  foot.radius = 0.0;
  for (const auto& p : l) foot.radius += (p - foot.centre).norm() / n;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const Vector3d along = l[j] - l[i];
      bool edge = i != j;
      for (std::size_t k = 0; edge && k < n; ++k) {
        const double inside = foot.normal.dot(along.cross(l[k] - l[i])),
                     width = kInLine * along.squaredNorm();
        // contacts on the edge lie between its ends
        edge = inside > width || (inside > -width && (l[k] - l[i]).dot(l[k] - l[j]) <= 0.0);
      }
      if (edge) foot.edges.emplace_back(i, j);
    }
}

/// Smallest impulses that make up the wrench, among contacts that push: sum f_i = F, sum l_i x f_i
/// = T. Contacts that would pull are left out one by one; where the centre of pressure lies outside
/// of the sole the last three share it, one of them pulling.
void RigidDynamics::spreadWrench(Data& d, const std::size_t f) const {
  const auto& foot = feet_[f];
  const auto n = foot.contacts.size();
  const auto wrench = d.lambda.segment<6>(foot.row);
  auto& P = d.spread[f];
  auto& share = d.share[f];
  share.setOnes();
  for (std::size_t left = n;; --left) {
    Eigen::Matrix<double, 6, 6> gram = Eigen::Matrix<double, 6, 6>::Zero();
    for (std::size_t i = 0; i < n; ++i) {
      const Matrix3d l = skew(d.out.point[foot.contacts[i]] - d.origin[f]);
      gram.topLeftCorner<3, 3>().diagonal().array() += share[i];
      gram.bottomLeftCorner<3, 3>() += share[i] * l;
      gram.bottomRightCorner<3, 3>() -= share[i] * l * l;
    }
    const Eigen::LDLT<Eigen::Matrix<double, 6, 6>> ldlt(gram.selfadjointView<Eigen::Lower>());
    const Eigen::Matrix<double, 6, 6> inverse = ldlt.solve(Eigen::Matrix<double, 6, 6>::Identity());
    std::size_t worst = n;
    double lowest = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      const Matrix3d l = skew(d.out.point[foot.contacts[i]] - d.origin[f]);
      auto rows = P.middleRows<3>(3 * i);
      rows = share[i] * (inverse.topRows<3>() - l * inverse.bottomRows<3>());
      const Vector3d impulse = rows * wrench;
      d.out.impulse.segment<3>(3 * foot.contacts[i]) = impulse;
      if (share[i] == 1.0 && impulse.z() < lowest) worst = i, lowest = impulse.z();
    }
    if (worst == n || left == 3) return;
    share[worst] = kIdle;
  }
}

void RigidDynamics::spreadWrenches(Data& d) const {
  d.out.impulse.setZero();
  for (std::size_t f = 0; f < feet_.size(); ++f) {
    if (d.at.stance[f] == Stance::Open) continue;
    if (feet_[f].surface)
      spreadWrench(d, f);
    else
      d.out.impulse.segment<3>(3 * feet_[f].contacts.front()) = d.lambda.segment<3>(feet_[f].row);
  }
}

/// Derivatives of lambda = -c/mu_c, spread as they are now.
const ImpulseDerivatives& RigidDynamics::impulseDerivatives(ContactDynamics::Data& data) const {
  auto& d = static_cast<Data&>(data);
  const auto n = 3 * nc();
  MatrixXd by_lambda = MatrixXd::Zero(n, nxi());
  for (std::size_t f = 0; f < feet_.size(); ++f) {
    const auto& foot = feet_[f];
    if (d.at.stance[f] == Stance::Open) continue;
    for (std::size_t i = 0; i < foot.contacts.size(); ++i) {
      auto block = by_lambda.block(3 * foot.contacts[i], foot.row, 3, foot.size);
      if (foot.surface)
        block = d.spread[f].middleRows<3>(3 * i);
      else
        block.setIdentity();
    }
  }
  by_lambda *= -1.0 / rigid.damping;
  auto& out = d.impulse_by;
  out.next.noalias() = by_lambda * d.Jc;
  out.q.noalias() = by_lambda * d.c_q;
  out.v.noalias() = by_lambda * d.c_v;
  out.xi = by_lambda;
  out.parameters.middleCols(height_, nfeet()).noalias() = by_lambda * d.c_height;
  return out;
}

/// friction:  |F_t| - mu F_z;   edge a -> b of the sole:  -(b - a)/|b - a| . (T - l_a x F)/r; yaw:
/// |n . (T - l_0 x F)|/r - mu n . F
void RigidDynamics::cone(const Solved& solved) const {
  auto& d = static_cast<Data&>(solved.data());
  d.cone.h.setConstant(-1.0);
  for (std::size_t f = 0; f < feet_.size(); ++f) {
    const auto& foot = feet_[f];
    if (d.at.stance[f] == Stance::Open) continue;
    const Vector3d F = d.lambda.segment<3>(foot.row);
    d.cone.h[foot.cone] =
        std::sqrt(F.head<2>().squaredNorm() + kSmooth * kSmooth) - kSmooth - friction(d) * F.z();
    if (!foot.surface) continue;
    const Matrix3d Rt = d.turn[f].transpose();
    const Vector3d Fl = Rt * F, T = Rt * d.lambda.segment<3>(foot.row + 3);
    for (std::size_t e = 0; e < foot.edges.size(); ++e) {
      const Vector3d &a = foot.lever[foot.edges[e].first],
                     along = (foot.lever[foot.edges[e].second] - a).normalized();
      d.cone.h[foot.cone + 1 + e] = -along.dot(T - a.cross(Fl)) / foot.radius;
    }
    const double yaw = foot.normal.dot(T - foot.centre.cross(Fl)) / foot.radius;
    d.cone.h[foot.cone + 1 + foot.edges.size()] = std::abs(yaw) - friction(d) * foot.normal.dot(Fl);
  }
}

void RigidDynamics::coneDerivatives(Data& d) const {
  auto& by = d.cone.by;
  d.h_lambda.setZero();
  for (auto* matrix : {&by.next, &by.q, &by.v, &by.xi, &by.parameters}) matrix->setZero();
  for (std::size_t f = 0; f < feet_.size(); ++f) {
    const auto& foot = feet_[f];
    if (d.at.stance[f] == Stance::Open) continue;
    const auto first = foot.cone, rows = foot.surface ? 2 + foot.edges.size() : 1;
    const Vector3d F = d.lambda.segment<3>(foot.row);
    d.h_lambda.row(first).head<2>() =
        F.head<2>().transpose() / std::sqrt(F.head<2>().squaredNorm() + kSmooth * kSmooth);
    d.h_lambda(first, 2) = -friction(d);
    by.parameters(first, friction_) = -friction(d) * F.z();
    if (foot.surface) surfaceConeDerivatives(d, f);
    auto h_lambda = d.h_lambda.block(first, 0, rows, foot.size);
    h_lambda *= -1.0 / rigid.damping;  // dlambda = -dc/mu_c
    auto chain = [&](auto&& out, const MatrixXd& dc) {
      out.middleRows(first, rows).noalias() += h_lambda * dc.middleRows(foot.row, foot.size);
    };
    chain(by.next, d.Jc);
    chain(by.q, d.c_q);
    chain(by.v, d.c_v);
    chain(by.parameters.middleCols(height_, nfeet()), d.c_height);
    by.xi.block(first, foot.row, rows, foot.size) = h_lambda;
  }
}

/// Edges and yaw moment: by the wrench, and by the foot's turn with the wrench fixed in the world.
void RigidDynamics::surfaceConeDerivatives(Data& d, const std::size_t f) const {
  const auto& foot = feet_[f];
  const Matrix3d R = d.turn[f];
  const Vector3d F = d.lambda.segment<3>(foot.row), T = d.lambda.segment<3>(foot.row + 3),
                 Fl = R.transpose() * F;
  const auto last = foot.cone + 1 + foot.edges.size();
  // h = u . (T - l x F) + s n . F in the foot's axes
  auto put = [&](const std::size_t row, const Vector3d& u, const Vector3d& l, const double s) {
    const Vector3d by_force = R * (l.cross(u) + s * foot.normal), by_moment = R * u;
    d.h_lambda.row(row) << by_force.transpose(), by_moment.transpose();
    const Vector3d turn = by_force.cross(F) + by_moment.cross(T);
    for (const auto k : supportOf(foot))
      d.cone.by.q(row, k) += turn.dot(d.work->pin.J.col(k).tail<3>());
  };
  for (std::size_t e = 0; e < foot.edges.size(); ++e) {
    const Vector3d &a = foot.lever[foot.edges[e].first],
                   along = (foot.lever[foot.edges[e].second] - a).normalized();
    put(foot.cone + 1 + e, -along / foot.radius, a, 0.0);
  }
  const double yaw = foot.normal.dot(R.transpose() * T - foot.centre.cross(Fl));
  put(last, std::copysign(1.0, yaw) * foot.normal / foot.radius, foot.centre, -friction(d));
  d.cone.by.parameters(last, friction_) = -friction(d) * foot.normal.dot(Fl);
}

}  // namespace prime
