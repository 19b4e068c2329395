// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// The implicit step: contact law, residual g(v+), its matrix A, Newton iteration.
#include "contact/contact_dynamics.hpp"

#include <pinocchio/spatial/skew.hpp>

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace prime {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

Vector3d ContactDynamics::disturbance(const Data& data, const std::size_t i) const {
  const auto foot = contacts[i].foot;
  Vector3d xi = data.xi.segment<3>(foot_xi[foot]);
  if (foot_xi_size[foot] == 6)
    xi += Vector3d(data.xi.segment<3>(foot_xi[foot] + 3)).cross(data.lever[i]);
  return xi;
}

void ContactDynamics::evaluateLaw(Data& data, const VectorXd& vplus) const {
  data.velocity.noalias() = data.Jmid * vplus;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    Vector3d c = data.velocity.segment<3>(3 * i) + disturbance(data, i);
    c.z() += data.psi[i] / options.dt;
    data.law_now.evaluate(c, data.friction, data.law[i]);
    data.impulse.segment<3>(3 * i) = data.law[i].impulse;
  }
}

void ContactDynamics::residual(Data& data, const Eigen::Ref<const VectorXd>& vplus) const {
  data.vplus = vplus;
  evaluateLaw(data, data.vplus);
  balance(data);
}

/// g of v+ and the contact impulses.
void ContactDynamics::balance(Data& data) const {
  const double dt = options.dt, e2 = options.friction_velocity * options.friction_velocity;
  data.a = data.vplus - data.v;
  data.g.noalias() = data.M * data.a;
  data.g += dt * (data.bias - data.force);
  data.g.noalias() -= data.J.transpose() * data.impulse;
  const auto offset = nv() - nj();
  for (std::size_t j = 0; j < nj(); ++j) {
    // joint losses at the middle of the step: the instant at which the averaged torque is centred
    const double rate = 0.5 * (data.v[offset + j] + data.vplus[offset + j]),
                 root = std::sqrt(rate * rate + e2);
    data.loss[j] = joint_damping[j] * rate + joint_friction[j] * rate / root;
    data.dloss[j] = joint_damping[j] + joint_friction[j] * e2 / (root * root * root);
    data.g[offset + j] += dt * data.loss[j];
  }
}

/// A -= J^T (d lambda/dc) Jmid of a body's contacts. Its points have the velocities X_i V of one
/// twist V, so that this is T^T (sum X_i^T L_i X_i) T with T = dV/dv: `Rows` = 3 where one point is
/// all there is, else 6.
template <int Rows>
void ContactDynamics::addContactSlope(Data& data, const std::size_t b) const {
  const auto& body = bodies[b];
  const auto first = body.contacts[0];
  Eigen::Matrix<double, Rows, Rows> slope = Eigen::Matrix<double, Rows, Rows>::Zero();
  for (const auto i : body.contacts) {
    const Matrix3d& L = data.law[i].d_velocity;
    slope.template topLeftCorner<3, 3>() += L;
    if constexpr (Rows == 6) {
      const Matrix3d arm = pinocchio::skew(Vector3d(data.point[i] - data.point[first]));
      const Matrix3d turned =
          L * pinocchio::skew(Vector3d(data.point_mid[first] - data.point_mid[i]));
      slope.template topRightCorner<3, 3>() += turned;
      slope.template bottomLeftCorner<3, 3>() += arm * L;
      slope.template bottomRightCorner<3, 3>() += arm * turned;
    }
  }
  const auto by = data.twist[b].template leftCols<Rows>();
  const auto& indices = support[first];
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const Eigen::Matrix<double, Rows, 1> wrench =
        slope * data.twist_mid[b].row(k).template head<Rows>().transpose();
    auto column = data.column.head(indices.size());
    column = by.lazyProduct(wrench);
    for (std::size_t m = 0; m < indices.size(); ++m) data.A(indices[m], indices[k]) -= column[m];
  }
}

/// A = dg/dv+ = M - J^T (d lambda/dc) Jmid + losses, at the point of the last residual.
void ContactDynamics::matrix(Data& data) const {
  data.A = data.M;
  for (std::size_t b = 0; b < bodies.size(); ++b)
    bodies[b].contacts.size() == 1 ? addContactSlope<3>(data, b) : addContactSlope<6>(data, b);
  const auto offset = nv() - nj();
  for (std::size_t j = 0; j < nj(); ++j)
    data.A(offset + j, offset + j) += 0.5 * options.dt * data.dloss[j];
}

/// step = A^-1 g
void ContactDynamics::newtonStep(Data& data) const {
  matrix(data);
  data.factors = data.A;
  data.step = data.g;
  if (branches_.factorize(data.factors)) {
    branches_.solve(data.factors, data.step);
  } else {
    data.lu.compute(data.A);
    data.step.noalias() = data.lu.solve(data.g);
  }
}

/// False when it does not converge, or when it needed a step below `shortest`.
bool ContactDynamics::newton(Data& data, const Eigen::Ref<const VectorXd>& guess,
                             const double shortest) const {
  residual(data, guess);
  auto norm = [&data]() { return data.g.cwiseProduct(data.scale).lpNorm<Eigen::Infinity>(); };
  auto merit = [&data]() { return data.g.cwiseProduct(data.root_scale).squaredNorm(); };
  double value = merit();
  for (data.iterations = 0; data.iterations < options.max_iterations; ++data.iterations) {
    if (norm() < options.tolerance) return true;
    newtonStep(data);
    if (!data.step.allFinite()) return false;
    data.v_before = data.vplus;
    double next = value;
    for (double t = 1.0; t >= shortest; t *= 0.5) {
      data.v_try = data.v_before - t * data.step;
      residual(data, data.v_try);
      next = merit();
      if (next < (1.0 - 1e-4 * t) * value) break;
    }
    const bool stuck = !(next < value);
    value = next;
    if (stuck) break;
  }
  // at round-off level the residual cannot fall further: the Newton step is then the error of v+
  if (norm() < 1e3 * options.tolerance) return true;
  newtonStep(data);
  return data.step.lpNorm<Eigen::Infinity>() < 1e-9 * (1.0 + data.vplus.lpNorm<Eigen::Infinity>());
}

void ContactDynamics::solve(Data& data, const Eigen::Ref<const VectorXd>& guess) const {
  // near its solution Newton needs no short steps; where it does, the residual has a local minimum
  // more often than not
  constexpr double kDirect = 1.0 / 16.0;
  data.v_start = guess;
  if (data.v_start.allFinite() && newton(data, data.v_start, kDirect)) return;
  const bool warm = data.v_start != data.v;
  data.v_start = data.v;
  if (warm && newton(data, data.v_start, kDirect)) return;
  if (startConvex(data) || followCorrection(data)) return;
  std::ostringstream text;
  text << "contact dynamics: no solution after " << data.iterations
       << " Newton iterations (residual "
       << data.g.cwiseProduct(data.scale).lpNorm<Eigen::Infinity>() << "); largest speed "
       << data.v.lpNorm<Eigen::Infinity>() << ", largest force "
       << data.force.lpNorm<Eigen::Infinity>();
  if (!contacts.empty())
    text << ", lowest gap " << *std::min_element(data.phi.begin(), data.phi.end()) << " m";
  throw std::runtime_error(text.str());
}

}  // namespace prime
