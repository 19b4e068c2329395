// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// The implicit step: contact law, residual g(v+), its matrix A, Newton iteration.
#include <algorithm>
#include <pinocchio/spatial/skew.hpp>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "contact/smoothed_dynamics.hpp"
#include "linalg/solve_error.hpp"

namespace prime {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

Vector3d SmoothedDynamics::disturbance(const Data& d, const std::size_t i) const {
  const auto foot = contacts[i].foot;
  Vector3d xi = d.at.xi.segment<3>(foot_xi[foot]);
  if (foot_xi_size[foot] == 6)
    xi += Vector3d(d.at.xi.segment<3>(foot_xi[foot] + 3)).cross(d.lever[i]);
  return xi;
}

namespace {

/// A result of the law in other axes.
void turn(ContactLaw::Result& law, const Matrix3d& R) {
  law.impulse = R * law.impulse;
  law.d_velocity = R * law.d_velocity * R.transpose();
  law.d_friction = R * law.d_friction;
  law.d_softness = R * law.d_softness;
}

}  // namespace

void SmoothedDynamics::evaluateLaw(Data& d, const ContactLaw& law) const {
  const double mu = friction(d);
  const ContactLaw here = options.soft ? law.softened(softness(d)) : law;
  d.out.velocity.noalias() = d.Jmid * d.out.vplus;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    Vector3d c = d.out.velocity.segment<3>(3 * i) + disturbance(d, i);
    if (options.slopes) c = d.frame[contacts[i].foot] * c;
    c.z() += d.psi[i] / options.dt;
    here.evaluate(c, mu, d.law[i]);
    if (options.slopes) turn(d.law[i], d.frame[contacts[i].foot].transpose());
    d.out.impulse.segment<3>(3 * i) = d.law[i].impulse;
  }
}

void SmoothedDynamics::impulses(ContactDynamics::Data& data) const {
  if (nc() > 0) evaluateLaw(static_cast<Data&>(data), data.at.law);
}

/// g under another law than that of the point.
void SmoothedDynamics::evaluate(Data& d, const ContactLaw& law, const ConstRef& vplus) const {
  d.out.vplus = vplus;
  if (nc() > 0) evaluateLaw(d, law);
  balance(d);
}

/// A -= J^T (d lambda/dc) Jmid of a body's contacts. Its points have the velocities X_i V of one
/// twist V, so that this is T^T (sum X_i^T L_i X_i) T with T = dV/dv: `Rows` = 3 where one point is
/// all there is, else 6.
template <int Rows>
void SmoothedDynamics::addContactSlope(Data& d, const std::size_t b) const {
  const auto& body = bodies[b];
  const auto first = body.contacts[0];
  Eigen::Matrix<double, Rows, Rows> slope = Eigen::Matrix<double, Rows, Rows>::Zero();
  for (const auto i : body.contacts) {
    const Matrix3d& L = d.law[i].d_velocity;
    slope.template topLeftCorner<3, 3>() += L;
    if constexpr (Rows == 6) {
      const Matrix3d arm = pinocchio::skew(Vector3d(d.out.point[i] - d.out.point[first]));
      const Matrix3d turned = L * pinocchio::skew(Vector3d(d.point_mid[first] - d.point_mid[i]));
      slope.template topRightCorner<3, 3>() += turned;
      slope.template bottomLeftCorner<3, 3>() += arm * L;
      slope.template bottomRightCorner<3, 3>() += arm * turned;
    }
  }
  const auto by = d.twist[b].template leftCols<Rows>();
  const auto& indices = support[first];
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const Eigen::Matrix<double, Rows, 1> wrench =
        slope * d.twist_mid[b].row(k).template head<Rows>().transpose();
    auto column = d.column.head(indices.size());
    column = by.lazyProduct(wrench);
    for (std::size_t m = 0; m < indices.size(); ++m) d.by.next(indices[m], indices[k]) -= column[m];
  }
}

/// A = dg/dv+ = M - J^T (d lambda/dc) Jmid + losses, at the point of the last residual.
void SmoothedDynamics::matrix(ContactDynamics::Data& data) const {
  auto& d = static_cast<Data&>(data);
  d.by.next = d.M;
  for (std::size_t b = 0; b < bodies.size(); ++b)
    bodies[b].contacts.size() == 1 ? addContactSlope<3>(d, b) : addContactSlope<6>(d, b);
  addLossSlope(d);
}

/// step = A^-1 g
void SmoothedDynamics::newtonStep(Data& d) const {
  matrix(d);
  d.factors = d.by.next;
  d.step = d.out.g;
  if (branches_.factorize(d.factors)) {
    branches_.solve(d.factors, d.step);
  } else {
    d.lu.compute(d.by.next);
    d.step.noalias() = d.lu.solve(d.out.g);
  }
}

/// False when it does not converge, or when it needed a step below `shortest`.
bool SmoothedDynamics::newton(Data& d, const ContactLaw& law, const ConstRef& guess,
                              const double shortest) const {
  evaluate(d, law, guess);
  auto norm = [&d]() { return d.out.g.cwiseProduct(d.scale).lpNorm<Eigen::Infinity>(); };
  auto merit = [&d]() { return d.out.g.cwiseProduct(d.root_scale).squaredNorm(); };
  double value = merit();
  auto& iterations = d.out.iterations;
  for (iterations = 0; iterations < options.max_iterations; ++iterations) {
    if (norm() < options.tolerance) return true;
    newtonStep(d);
    if (!d.step.allFinite()) return false;
    d.v_before = d.out.vplus;
    double next = value;
    for (double t = 1.0; t >= shortest; t *= 0.5) {
      d.v_try = d.v_before - t * d.step;
      evaluate(d, law, d.v_try);
      next = merit();
      if (next < (1.0 - 1e-4 * t) * value) break;
    }
    const bool stuck = !(next < value);
    value = next;
    if (stuck) break;
  }
  // at round-off level the residual cannot fall further: the Newton step is then the error of v+
  if (norm() < 1e3 * options.tolerance) return true;
  newtonStep(d);
  return d.step.lpNorm<Eigen::Infinity>() < 1e-9 * (1.0 + d.out.vplus.lpNorm<Eigen::Infinity>());
}

/// What the law takes, in world axes: velocity of the contact and its disturbance, and the rate by
/// which the gap must close.
Vector3d SmoothedDynamics::lawVelocity(const Data& d, const std::size_t i) const {
  Vector3d c = d.out.velocity.segment<3>(3 * i) + disturbance(d, i);
  c += d.psi[i] / options.dt * d.frame[contacts[i].foot].row(2).transpose();
  return c;
}

void SmoothedDynamics::follow(ContactDynamics::Data& data,
                              const ContactDynamics::Data& before) const {
  auto& d = static_cast<Data&>(data);
  const auto& b = static_cast<const Data&>(before);
  d.law = b.law;
  for (std::size_t i = 0; i < contacts.size(); ++i) d.law_velocity[i] = lawVelocity(b, i);
  d.follows = true;
}

/// One Newton step with the law linear about where it was a step before; v_start is its result.
void SmoothedDynamics::startFromLaw(Data& d, const ConstRef& guess) const {
  d.out.vplus = guess;
  d.out.velocity.noalias() = d.Jmid * d.out.vplus;
  for (std::size_t i = 0; i < contacts.size(); ++i)
    d.out.impulse.segment<3>(3 * i) =
        d.law[i].impulse + d.law[i].d_velocity * (lawVelocity(d, i) - d.law_velocity[i]);
  balance(d);
  newtonStep(d);
  d.v_start = d.out.vplus - d.step;
}

void SmoothedDynamics::solveFrom(ContactDynamics::Data& data, const ConstRef& guess) const {
  // near its solution Newton needs no short steps; where it does, the residual has a local minimum
  // more often than not
  constexpr double kDirect = 1.0 / 16.0;
  auto& d = static_cast<Data&>(data);
  d.v_start = guess;
  if (std::exchange(d.follows, false) && d.v_start.allFinite()) startFromLaw(d, guess);
  if (d.v_start.allFinite() && newton(d, d.at.law, d.v_start, kDirect)) return;
  const bool warm = d.v_start != d.at.v;
  d.v_start = d.at.v;
  if (warm && newton(d, d.at.law, d.v_start, kDirect)) return;
  if (startConvex(d) || followCorrection(d)) return;
  std::ostringstream text;
  text << "contact dynamics: no solution after " << d.out.iterations
       << " Newton iterations (residual " << d.out.g.cwiseProduct(d.scale).lpNorm<Eigen::Infinity>()
       << "); largest speed " << d.at.v.lpNorm<Eigen::Infinity>() << ", largest force "
       << d.at.force.lpNorm<Eigen::Infinity>();
  if (!contacts.empty())
    text << ", lowest gap " << *std::min_element(d.out.gap.begin(), d.out.gap.end()) << " m";
  throw SolveError(text.str());
}

}  // namespace prime
