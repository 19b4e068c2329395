// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// What the step is made of: its model, contacts and feet, the parameters in force.
#include "contact/contact_dynamics.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace prime {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

constexpr double kLightest = 1e-9;  ///< link whose mass still counts [kg]

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
    for (auto k = support.size(); k-- > support.size() - model.joints[j].nv();)
      parent[support[k]] = k > 0 ? int(support[k - 1]) : -1;
  }
  return parent;
}

}  // namespace

ContactDynamics::ContactDynamics(const pinocchio::Model& model,
                                 const std::vector<ContactPoint>& contacts_,
                                 const std::vector<std::size_t>& links_, const VectorXd& damping,
                                 const VectorXd& friction, const bool floating_base_,
                                 const DynamicsOptions& options_)
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
  if (!(options.law.compliance > 0.0))
    throw std::invalid_argument("contact dynamics: the compliance must be positive");
  if (joint_friction.size() != joint_damping.size() ||
      model.nv - joint_damping.size() != (floating_base ? 6 : 0))
    throw std::invalid_argument(
        "contact dynamics: damping and friction of every joint behind the base, which is a "
        "free-flyer or fixed");
  std::vector<std::size_t> count;
  for (const auto& contact : contacts) {
    if (contact.foot >= count.size()) count.resize(contact.foot + 1, 0);
    ++count[contact.foot];
    support.push_back(supportIndices(model, contact.joint));
    const auto same = [&contact](const ContactBody& body) {
      return body.joint == contact.joint && body.foot == contact.foot;
    };
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
      step(v),
      column(v),
      v_start(v),
      v_before(v),
      v_try(v),
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
           {MatrixXd::Zero(d.ncone(), d.nv()), MatrixXd::Zero(d.ncone(), d.nv()),
            MatrixXd::Zero(d.ncone(), d.nv()), MatrixXd::Zero(d.ncone(), d.nxi()),
            MatrixXd::Zero(d.ncone(), d.nfeet()), VectorXd::Zero(d.ncone())}},
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

bool ContactDynamics::setParameters(Data& data, const Eigen::Ref<const VectorXd>& theta,
                                    const Eigen::Ref<const VectorXd>& height,
                                    const double friction) const {
  const bool same_ground = data.height == height && data.friction == friction;
  data.height = height;
  data.friction = friction;
  if (data.parameters_set && data.theta == theta) return !same_ground;
  data.parameters_set = false;  // nor are they, if there is no inertia at theta
  Vector10d pi;
  Matrix10d jacobian;
  for (std::size_t i = 0; i < links.size(); ++i) {
    inertiaFromTheta(options.manifold, theta.segment<10>(10 * i), pi, jacobian);
    if (!pi.allFinite() || pi[0] < kLightest) {
      std::ostringstream text;
      text << "contact dynamics: the inertia of link " << links[i]
           << " vanishes or is not finite: theta = [" << theta.transpose() << "]";
      throw std::runtime_error(text.str());
    }
    data.dtheta[i] = jacobian;
    data.inertias[i] = pinocchio::Inertia::FromDynamicParameters(pi);
  }
  data.theta = theta;
  data.parameters_set = true;
  return true;
}

}  // namespace prime
