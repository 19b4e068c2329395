// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "contact_dynamics.hpp"

#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/regressor.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace prime {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using pinocchio::Force;
using pinocchio::Motion;

namespace {

/// Velocity indices of the joints between the universe and `joint`, root first.
std::vector<std::size_t> supportIndices(const pinocchio::Model& model, const std::size_t joint) {
  std::vector<std::size_t> indices;
  for (const auto j : model.supports[joint]) {
    if (j == 0) continue;
    for (int k = 0; k < model.joints[j].nv(); ++k) indices.push_back(model.joints[j].idx_v() + k);
  }
  return indices;
}

std::vector<std::size_t> jointOfIndex(const pinocchio::Model& model) {
  std::vector<std::size_t> joint(model.nv);
  for (int j = 1; j < model.njoints; ++j)
    for (int k = 0; k < model.joints[j].nv(); ++k) joint[model.joints[j].idx_v() + k] = j;
  return joint;
}

/// Velocity of the world point p under the spatial velocity `twist` (linear at the world's origin, angular).
template <class Twist>
Vector3d pointVelocity(const Twist& twist, const Vector3d& p) {
  return twist.template head<3>() + Vector3d(twist.template tail<3>()).cross(p);
}

std::string describe(const char* what, const VectorXd& x) {
  std::ostringstream text;
  text << "contact dynamics: " << what << " is not finite: [" << x.transpose() << "]";
  return text.str();
}

}  // namespace

ContactDynamics::ContactDynamics(const pinocchio::Model& model, const std::vector<ContactPoint>& contacts_,
                                 const std::vector<std::size_t>& links_, const VectorXd& damping, const VectorXd& friction,
                                 const bool floating_base_, const DynamicsOptions& options_)
    : contacts(contacts_),
      links(links_),
      joint_damping(damping),
      joint_friction(friction),
      floating_base(floating_base_),
      options(options_),
      model_(model),
      joint_of_index_(jointOfIndex(model)),
      nxi_(0) {
  if (!(options.law.compliance > 0.0)) throw std::invalid_argument("contact dynamics: the compliance must be positive");
  std::vector<std::size_t> count;
  for (const auto& contact : contacts) {
    if (contact.foot >= count.size()) count.resize(contact.foot + 1, 0);
    ++count[contact.foot];
    support.push_back(supportIndices(model, contact.joint));
  }
  for (const auto link : links) link_support_.push_back(supportIndices(model, link));
  for (const auto n : count) {
    foot_xi.push_back(nxi_);
    foot_xi_size.push_back(n > 1 ? 6 : 3);
    nxi_ += foot_xi_size.back();
  }
}

ContactDynamics::Data::Data(const ContactDynamics& d)
    : model(d.model()),
      pin(d.model()),
      pin_bias(d.model()),
      pin_mid(d.model()),
      q(VectorXd::Zero(d.nq())),
      v(VectorXd::Zero(d.nv())),
      vplus(VectorXd::Zero(d.nv())),
      force(VectorXd::Zero(d.nv())),
      xi(VectorXd::Zero(d.nxi())),
      theta(VectorXd::Zero(d.ntheta())),
      height(VectorXd::Zero(d.nfeet())),
      friction(0.8),
      M(MatrixXd::Zero(d.nv(), d.nv())),
      A(M),
      bias(v),
      g(v),
      g_try(v),
      step(v),
      v_try(v),
      v_start(v),
      loss(VectorXd::Zero(d.nj())),
      dloss(loss),
      scale(v),
      root_scale(v),
      q_mid(q),
      half_step(v),
      J(MatrixXd::Zero(3 * d.nc(), d.nv())),
      Jmid(J),
      mid_q(M),
      mid_v(M),
      center(d.nc(), Vector3d::Zero()),
      point(center),
      center_mid(center),
      point_mid(center),
      phi(d.nc(), 0.0),
      psi(phi),
      dpsi(phi),
      law(d.nc()),
      impulse(VectorXd::Zero(3 * d.nc())),
      velocity(impulse),
      dtheta(d.links.size(), MatrixXd::Zero(10, 10)),
      iterations(0),
      g_q(M),
      g_v(M),
      g_xi(MatrixXd::Zero(d.nv(), d.nxi())),
      g_theta(MatrixXd::Zero(d.nv(), d.ntheta())),
      g_height(MatrixXd::Zero(d.nv(), d.nfeet())),
      g_friction(v),
      dvel_mid(J),
      dvel_q(J),
      dvel_v(J),
      dphi_q(MatrixXd::Zero(d.nc(), d.nv())),
      lu(d.nv()),
      path(d.nv()),
      LJ(3, d.nv()),
      body_regressor(MatrixXd::Zero(6, 10)),
      regressor(body_regressor),
      a(v),
      path_now(d.nv() + 1),
      path_try(path_now),
      path_tangent(path_now),
      path_metric(path_now),
      path_rhs(path_now),
      path_step(path_now),
      path_matrix(d.nv() + 1, d.nv() + 1),
      path_lu(d.nv() + 1),
      parameters_set(false) {}

bool ContactDynamics::setParameters(Data& data, const Eigen::Ref<const VectorXd>& theta, const Eigen::Ref<const VectorXd>& height,
                                    const double friction) const {
  const bool same_ground = data.height == height && data.friction == friction;
  data.height = height;
  data.friction = friction;
  if (data.parameters_set && data.theta == theta) return !same_ground;
  data.theta = theta;
  data.parameters_set = true;
  Vector10d pi;
  Matrix10d jacobian;
  for (std::size_t i = 0; i < links.size(); ++i) {
    inertiaFromTheta(options.manifold, theta.segment<10>(10 * i), pi, jacobian);
    if (!pi.allFinite() || pi[0] < 1e-9) throw std::runtime_error(describe("inertia", theta));
    data.dtheta[i] = jacobian;
    data.model.inertias[links[i]] = pinocchio::Inertia::FromDynamicParameters(pi);
  }
  return true;
}

void ContactDynamics::contactKinematics(Data& data) const {
  const double width = options.penetration_width, low = options.penetration_factor;
  data.half_step = (options.midpoint ? 0.5 * options.dt : 0.0) * data.v;
  pinocchio::integrate(data.model, data.q, data.half_step, data.q_mid);
  pinocchio::computeJointJacobians(data.model, data.pin_mid, data.q_mid);
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const auto& contact = contacts[i];
    data.center[i] = data.pin.oMi[contact.joint].act(contact.position);
    data.center_mid[i] = data.pin_mid.oMi[contact.joint].act(contact.position);
    data.point[i] = data.center[i];
    data.point_mid[i] = data.center_mid[i];
    if (options.rolling) data.point[i].z() -= contact.radius, data.point_mid[i].z() -= contact.radius;
    for (const auto k : support[i]) {
      data.J.block<3, 1>(3 * i, k) = pointVelocity(data.pin.J.col(k), data.point[i]);
      data.Jmid.block<3, 1>(3 * i, k) = pointVelocity(data.pin_mid.J.col(k), data.point_mid[i]);
    }
    const double phi = data.center[i].z() - contact.radius - data.height[contact.foot];
    const double root = std::sqrt(phi * phi + width * width);
    data.phi[i] = phi;
    data.psi[i] = 0.5 * (1.0 + low) * phi + 0.5 * (1.0 - low) * (root - width);
    data.dpsi[i] = 0.5 * (1.0 + low) + 0.5 * (1.0 - low) * phi / root;
  }
}

void ContactDynamics::prepare(Data& data, const Eigen::Ref<const VectorXd>& q, const Eigen::Ref<const VectorXd>& v,
                              const Eigen::Ref<const VectorXd>& force, const Eigen::Ref<const VectorXd>& xi) const {
  data.q = q;
  data.v = v;
  data.force = force;
  data.xi = xi;
  data.law_now = options.law;
  if (!data.q.allFinite()) throw std::runtime_error(describe("the configuration", data.q));
  if (!data.v.allFinite()) throw std::runtime_error(describe("the velocity", data.v));
  if (!data.force.allFinite()) throw std::runtime_error(describe("the generalized force", data.force));
  if (!data.xi.allFinite()) throw std::runtime_error(describe("the contact disturbance", data.xi));
  // as a Ref it is the instance that libpinocchio holds: 40 s and 1 GB less to compile
  pinocchio::crba(data.model, data.pin, Eigen::Ref<const VectorXd>(data.q), pinocchio::Convention::WORLD);
  data.M = data.pin.M.selfadjointView<Eigen::Upper>();
  data.bias = pinocchio::nonLinearEffects(data.model, data.pin_bias, data.q, data.v);
  data.scale = data.M.diagonal().cwiseInverse();
  data.root_scale = data.scale.cwiseSqrt();
  contactKinematics(data);
}

Vector3d ContactDynamics::disturbance(const Data& data, const std::size_t i) const {
  const auto foot = contacts[i].foot;
  Vector3d xi = data.xi.segment<3>(foot_xi[foot]);
  if (foot_xi_size[foot] == 6)
    xi += Vector3d(data.xi.segment<3>(foot_xi[foot] + 3)).cross(data.pin.oMi[contacts[i].joint].rotation() * contacts[i].lever);
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
  const double dt = options.dt, e2 = options.friction_velocity * options.friction_velocity;
  data.vplus = vplus;
  evaluateLaw(data, data.vplus);
  data.a = data.vplus - data.v;
  data.g.noalias() = data.M * data.a;
  data.g += dt * (data.bias - data.force);
  data.g.noalias() -= data.J.transpose() * data.impulse;
  const auto offset = nv() - nj();
  for (std::size_t j = 0; j < nj(); ++j) {
    // joint losses at the middle of the step: the instant at which the averaged torque is centred
    const double rate = 0.5 * (data.v[offset + j] + data.vplus[offset + j]), root = std::sqrt(rate * rate + e2);
    data.loss[j] = joint_damping[j] * rate + joint_friction[j] * rate / root;
    data.dloss[j] = joint_damping[j] + joint_friction[j] * e2 / (root * root * root);
    data.g[offset + j] += dt * data.loss[j];
  }
}

/// A = dg/dv+ = M - J^T (d lambda/dc) Jmid + losses, at the point of the last residual.
void ContactDynamics::matrix(Data& data) const {
  data.A = data.M;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Matrix3d& L = data.law[i].d_velocity;
    for (const auto k : support[i]) {
      const Vector3d column = L * data.Jmid.block<3, 1>(3 * i, k);
      for (const auto m : support[i]) data.A(m, k) -= data.J.block<3, 1>(3 * i, m).dot(column);
    }
  }
  const auto offset = nv() - nj();
  for (std::size_t j = 0; j < nj(); ++j) data.A(offset + j, offset + j) += 0.5 * options.dt * data.dloss[j];
}

bool ContactDynamics::newton(Data& data, const Eigen::Ref<const VectorXd>& guess) const {
  residual(data, guess);
  auto norm = [&data]() { return data.g.cwiseProduct(data.scale).lpNorm<Eigen::Infinity>(); };
  auto merit = [&data]() { return data.g.cwiseProduct(data.root_scale).squaredNorm(); };
  double value = merit();
  for (data.iterations = 0; data.iterations < options.max_iterations; ++data.iterations) {
    if (norm() < options.tolerance) return true;
    matrix(data);
    data.lu.compute(data.A);
    data.step.noalias() = data.lu.solve(data.g);
    if (!data.step.allFinite()) return false;
    data.v_try = data.vplus;
    double t = 1.0, next = value;
    for (int halving = 0; halving < 30; ++halving, t *= 0.5) {
      data.g_try = data.v_try - t * data.step;
      residual(data, data.g_try);
      next = merit();
      if (next < (1.0 - 1e-4 * t) * value) break;
    }
    const bool stuck = !(next < value);
    value = next;
    if (stuck) break;
  }
  // at round-off level the residual cannot fall further: the Newton step is then the error of v+
  if (norm() < 1e3 * options.tolerance) return true;
  matrix(data);
  data.lu.compute(data.A);
  data.step.noalias() = data.lu.solve(data.g);
  return data.step.lpNorm<Eigen::Infinity>() < 1e-9 * (1.0 + data.vplus.lpNorm<Eigen::Infinity>());
}

void ContactDynamics::solve(Data& data, const Eigen::Ref<const VectorXd>& guess) const {
  data.v_start = guess;
  if (data.v_start.allFinite() && newton(data, data.v_start)) return;
  data.v_start = data.v;
  if (newton(data, data.v_start)) return;
  if (followCorrection(data)) return;
  std::ostringstream text;
  text << "contact dynamics: no solution after " << data.iterations << " Newton iterations (residual "
       << data.g.cwiseProduct(data.scale).lpNorm<Eigen::Infinity>() << "); largest speed " << data.v.lpNorm<Eigen::Infinity>()
       << ", largest force " << data.force.lpNorm<Eigen::Infinity>();
  if (!contacts.empty()) text << ", lowest gap " << *std::min_element(data.phi.begin(), data.phi.end()) << " m";
  throw std::runtime_error(text.str());
}

void ContactDynamics::derivatives(Data& data) const {
  const double dt = options.dt;
  matrix(data);
  data.a = (data.vplus - data.v) / dt;
  pinocchio::computeRNEADerivatives(data.model, data.pin, data.q, data.v, data.a);
  data.g_q = dt * data.pin.dtau_dq;
  data.g_v = dt * data.pin.dtau_dv - data.M;
  const auto offset = nv() - nj();
  for (std::size_t j = 0; j < nj(); ++j) data.g_v(offset + j, offset + j) += 0.5 * dt * data.dloss[j];
  data.g_xi.setZero();
  data.g_height.setZero();
  data.g_friction.setZero();
  pinocchio::dIntegrate(data.model, data.q, data.half_step, data.mid_q, pinocchio::ARG0);
  pinocchio::dIntegrate(data.model, data.q, data.half_step, data.mid_v, pinocchio::ARG1);
  for (std::size_t i = 0; i < contacts.size(); ++i) addContactDerivatives(data, i);
  for (std::size_t i = 0; i < links.size(); ++i) addInertiaDerivatives(data, i);
}

/// g_q -= d(J^T)/dq lambda. World spatial algebra: column S_k of the Jacobian turns with the joints before it, dS_m/dq_k = S_k x S_m (k not
/// behind m), and the contact point moves with the centre of the sphere.
void ContactDynamics::addForceGeometry(Data& data, const std::size_t i) const {
  const auto& joint = joint_of_index_;
  const Vector3d p = data.point[i], lambda = data.impulse.segment<3>(3 * i);
  const Force wrench(lambda, p.cross(lambda));
  for (const auto k : support[i]) {
    const Motion S(data.pin.J.col(k));
    const Vector3d dp = pointVelocity(data.pin.J.col(k), data.center[i]), turning = dp.cross(lambda);
    data.dphi_q(i, k) = dp.z();
    // (S_k x S_m) . f = -S_m . (S_k x* f)
    const Force moved(Vector3d::Zero(), turning), turned = moved - S.cross(wrench);
    for (const auto m : support[i]) data.g_q(m, k) -= data.pin.J.col(m).dot(joint[k] <= joint[m] ? turned.toVector() : moved.toVector());
  }
}

/// d(Jmid v+)/d q_mid: the velocity of the body changes by S_k x (V - V_parent(k)).
void ContactDynamics::velocityDerivatives(Data& data, const std::size_t i) const {
  const auto& contact = contacts[i];
  const auto foot = contact.foot;
  Motion V = Motion::Zero(), before = Motion::Zero();
  std::size_t current = 0;
  for (const auto k : support[i]) {
    if (joint_of_index_[k] != current) before = V, current = joint_of_index_[k];
    data.path[k] = before;
    V += Motion(data.pin_mid.J.col(k) * data.vplus[k]);
  }
  for (const auto k : support[i]) {
    const Motion S(data.pin_mid.J.col(k));
    const Motion dV = S.cross(Motion(V - data.path[k]));
    const Vector3d dp = pointVelocity(data.pin_mid.J.col(k), data.center_mid[i]);
    data.dvel_mid.block<3, 1>(3 * i, k) = dV.linear() + dV.angular().cross(data.point_mid[i]) + V.angular().cross(dp);
  }
  const int nb = nv() - nj();
  const double half = options.midpoint ? 0.5 * options.dt : 0.0;
  const auto base = data.dvel_mid.block(3 * i, 0, 3, nb);
  data.dvel_q.middleRows<3>(3 * i) = data.dvel_mid.middleRows<3>(3 * i);
  data.dvel_v.middleRows<3>(3 * i) = half * data.dvel_mid.middleRows<3>(3 * i);
  data.dvel_q.block(3 * i, 0, 3, nb).noalias() = base * data.mid_q.topLeftCorner(nb, nb);
  data.dvel_v.block(3 * i, 0, 3, nb).noalias() = half * base * data.mid_v.topLeftCorner(nb, nb);
  if (foot_xi_size[foot] != 6) return;
  const Vector3d xi_angular = data.xi.segment<3>(foot_xi[foot] + 3);
  const Vector3d lever = data.pin.oMi[contact.joint].rotation() * contact.lever;
  for (const auto k : support[i]) data.dvel_q.block<3, 1>(3 * i, k) += xi_angular.cross(Vector3d(data.pin.J.col(k).tail<3>()).cross(lever));
}

void ContactDynamics::addContactDerivatives(Data& data, const std::size_t i) const {
  const auto& contact = contacts[i];
  const auto foot = contact.foot;
  const double dt = options.dt;
  addForceGeometry(data, i);
  velocityDerivatives(data, i);
  const auto Ji = data.J.middleRows<3>(3 * i);
  data.LJ.noalias() = data.law[i].d_velocity.transpose() * Ji;  // (J^T L)^T
  for (const auto k : support[i]) {
    Vector3d dc = data.dvel_q.block<3, 1>(3 * i, k);
    dc.z() += data.dpsi[i] / dt * data.dphi_q(i, k);
    const Vector3d dc_v = data.dvel_v.block<3, 1>(3 * i, k);
    for (const auto m : support[i]) {
      data.g_q(m, k) -= data.LJ.col(m).dot(dc);
      data.g_v(m, k) -= data.LJ.col(m).dot(dc_v);
    }
  }
  data.g_xi.middleCols<3>(foot_xi[foot]) -= data.LJ.transpose();
  if (foot_xi_size[foot] == 6) {
    const Vector3d lever = data.pin.oMi[contact.joint].rotation() * contact.lever;
    Matrix3d cross;  // xi_angular x lever = -[lever]x xi_angular
    cross << 0, lever.z(), -lever.y(), -lever.z(), 0, lever.x(), lever.y(), -lever.x(), 0;
    data.g_xi.middleCols<3>(foot_xi[foot] + 3).noalias() -= data.LJ.transpose() * cross;
  }
  data.g_height.col(foot) += data.dpsi[i] / dt * data.LJ.row(2).transpose();
  data.g_friction.noalias() -= Ji.transpose() * data.law[i].d_friction;
}

void ContactDynamics::addInertiaDerivatives(Data& data, const std::size_t i) const {
  const auto link = links[i];
  const auto& oMi = data.pin.oMi[link];
  pinocchio::bodyRegressor(oMi.actInv(data.pin.ov[link]), oMi.actInv(data.pin.oa_gf[link]), data.body_regressor);
  data.regressor.noalias() = options.dt * data.body_regressor * data.dtheta[i];
  auto out = data.g_theta.middleCols<10>(10 * i);
  for (const auto k : link_support_[i]) {
    const Motion S = oMi.actInv(Motion(data.pin.J.col(k)));
    out.row(k).noalias() = S.toVector().transpose() * data.regressor;
  }
}

}  // namespace prime
