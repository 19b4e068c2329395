// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// What the step is made of: its model, the parameters in force, kinematics and inertia at (q, v).
#include "contact_dynamics.hpp"

#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace prime {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

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

/// Per velocity index the one before it on the path from the root; -1 at the root.
std::vector<int> parentOfIndex(const pinocchio::Model& model) {
  std::vector<int> parent(model.nv);
  for (int j = 1; j < model.njoints; ++j) {
    auto support = supportIndices(model, j);
    for (auto k = support.size(); k-- > support.size() - model.joints[j].nv();) parent[support[k]] = k > 0 ? int(support[k - 1]) : -1;
  }
  return parent;
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
      branches_(parentOfIndex(model)),
      nxi_(0) {
  if (!(options.law.compliance > 0.0)) throw std::invalid_argument("contact dynamics: the compliance must be positive");
  std::vector<std::size_t> count;
  for (const auto& contact : contacts) {
    if (contact.foot >= count.size()) count.resize(contact.foot + 1, 0);
    ++count[contact.foot];
    support.push_back(supportIndices(model, contact.joint));
    const auto same = [&contact](const ContactBody& body) { return body.joint == contact.joint && body.foot == contact.foot; };
    auto body = std::find_if(bodies.begin(), bodies.end(), same);
    if (body == bodies.end()) body = bodies.insert(body, {contact.joint, contact.foot, {}});
    body->contacts.push_back(support.size() - 1);
  }
  for (const auto link : links) link_support_.push_back(supportIndices(model, link));
  for (const auto n : count) {
    foot_xi.push_back(nxi_);
    foot_xi_size.push_back(n > 1 ? 6 : 3);
    nxi_ += foot_xi_size.back();
  }
}

ContactDynamics::Data::Data(const ContactDynamics& d)
    : q(VectorXd::Zero(d.nq())),
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
      column(v),
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
      columns_mid(6, d.nv()),
      center(d.nc(), Vector3d::Zero()),
      point(center),
      center_mid(center),
      point_mid(center),
      lever(center),
      phi(d.nc(), 0.0),
      psi(phi),
      dpsi(phi),
      law(d.nc()),
      cone{VectorXd::Constant(d.ncone(), -1.0),
           {MatrixXd::Zero(d.ncone(), d.nv()), MatrixXd::Zero(d.ncone(), d.nv()), MatrixXd::Zero(d.ncone(), d.nv()),
            MatrixXd::Zero(d.ncone(), d.nxi()), MatrixXd::Zero(d.ncone(), d.nfeet()), VectorXd::Zero(d.ncone())}},
      impulse(VectorXd::Zero(3 * d.nc())),
      velocity(impulse),
      inertias(d.links.size()),
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
      factors(M),
      lu(d.nv()),
      path(d.nv()),
      by_q(6, d.nv()),
      by_v(by_q),
      moved(by_q),
      turned(by_q),
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
      parameters_set(false) {
  for (std::size_t i = 0; i < d.links.size(); ++i) inertias[i] = d.model().inertias[d.links[i]];
  for (const auto& body : d.bodies) twist.emplace_back(d.support[body.contacts[0]].size(), 6);
  twist_mid = twist;
}

ContactDynamics::Lent::Lent(const ContactDynamics& d, Data& data)
    : loan_(d.pool_, [&d]() { return std::make_unique<Workspace>(d.model()); }), data_(data) {
  for (std::size_t i = 0; i < d.links.size(); ++i) loan_->model.inertias[d.links[i]] = data.inertias[i];
  data.work = &*loan_;
}

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
    data.inertias[i] = pinocchio::Inertia::FromDynamicParameters(pi);
  }
  return true;
}

void ContactDynamics::contactKinematics(Data& data) const {
  const double width = options.penetration_width, low = options.penetration_factor;
  auto& [model, pin, pin_bias, pin_mid] = *data.work;
  data.half_step = (options.midpoint ? 0.5 * options.dt : 0.0) * data.v;
  pinocchio::integrate(model, data.q, data.half_step, data.q_mid);
  pinocchio::computeJointJacobians(model, pin_mid, data.q_mid);
  data.columns_mid = pin_mid.J;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const auto& contact = contacts[i];
    data.center[i] = pin.oMi[contact.joint].act(contact.position);
    data.center_mid[i] = pin_mid.oMi[contact.joint].act(contact.position);
    data.lever[i] = pin.oMi[contact.joint].rotation() * contact.lever;
    data.point[i] = data.center[i];
    data.point_mid[i] = data.center_mid[i];
    if (options.rolling) data.point[i].z() -= contact.radius, data.point_mid[i].z() -= contact.radius;
    for (const auto k : support[i]) {
      data.J.block<3, 1>(3 * i, k) = pointVelocity(pin.J.col(k), data.point[i]);
      data.Jmid.block<3, 1>(3 * i, k) = pointVelocity(pin_mid.J.col(k), data.point_mid[i]);
    }
    const double phi = data.center[i].z() - contact.radius - data.height[contact.foot];
    const double root = std::sqrt(phi * phi + width * width);
    data.phi[i] = phi;
    data.psi[i] = 0.5 * (1.0 + low) * phi + 0.5 * (1.0 - low) * (root - width);
    data.dpsi[i] = 0.5 * (1.0 + low) + 0.5 * (1.0 - low) * phi / root;
  }
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const auto first = bodies[b].contacts[0];
    for (std::size_t j = 0; j < support[first].size(); ++j) {
      const auto k = support[first][j];
      data.twist[b].row(j) << data.J.block<3, 1>(3 * first, k).transpose(), pin.J.col(k).tail<3>().transpose();
      data.twist_mid[b].row(j) << data.Jmid.block<3, 1>(3 * first, k).transpose(), pin_mid.J.col(k).tail<3>().transpose();
    }
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
  const Lent lent(*this, data);
  auto& [model, pin, pin_bias, pin_mid] = *data.work;
  pinocchio::crba(model, pin, Eigen::Ref<const VectorXd>(data.q), pinocchio::Convention::WORLD);
  data.M = pin.M.selfadjointView<Eigen::Upper>();
  data.bias = pinocchio::nonLinearEffects(model, pin_bias, data.q, data.v);
  data.scale = data.M.diagonal().cwiseInverse();
  data.root_scale = data.scale.cwiseSqrt();
  contactKinematics(data);
}

}  // namespace prime
