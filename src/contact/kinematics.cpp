// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// Where a step begins: kinematics of the contacts, gaps, inertia and bias at (q, v).
#include <cmath>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <sstream>
#include <stdexcept>

#include "contact/contact_dynamics.hpp"

namespace prime {

using Eigen::VectorXd;

namespace {

void requireFinite(const VectorXd& x, const char* what) {
  if (x.allFinite()) return;
  std::ostringstream text;
  text << "contact dynamics: " << what << " is not finite: [" << x.transpose() << "]";
  throw std::runtime_error(text.str());
}

}  // namespace

ContactDynamics::Lent::Lent(const ContactDynamics& d, Data& data)
    : loan_(d.pool_, [&d]() { return std::make_unique<Workspace>(d.model()); }), data_(data) {
  for (std::size_t i = 0; i < d.links.size(); ++i)
    loan_->model.inertias[d.links[i]] = data.inertias[i];
  data.work = &*loan_;
}

void ContactDynamics::contactKinematics(Data& data) const {
  const double width = options.penetration_width, share = options.penetration_factor;
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
    if (options.rolling)
      data.point[i].z() -= contact.radius, data.point_mid[i].z() -= contact.radius;
    for (const auto k : support[i]) {
      data.J.block<3, 1>(3 * i, k) = pointVelocity(pin.J.col(k), data.point[i]);
      data.Jmid.block<3, 1>(3 * i, k) = pointVelocity(pin_mid.J.col(k), data.point_mid[i]);
    }
    const double phi = data.center[i].z() - contact.radius - data.height[contact.foot];
    const double root = std::sqrt(phi * phi + width * width);
    data.phi[i] = phi;
    data.psi[i] = 0.5 * (1.0 + share) * phi + 0.5 * (1.0 - share) * (root - width);
    data.dpsi[i] = 0.5 * (1.0 + share) + 0.5 * (1.0 - share) * phi / root;
  }
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const auto first = bodies[b].contacts[0];
    for (std::size_t j = 0; j < support[first].size(); ++j) {
      const auto k = support[first][j];
      data.twist[b].row(j) << data.J.block<3, 1>(3 * first, k).transpose(),
          pin.J.col(k).tail<3>().transpose();
      data.twist_mid[b].row(j) << data.Jmid.block<3, 1>(3 * first, k).transpose(),
          pin_mid.J.col(k).tail<3>().transpose();
    }
  }
}

void ContactDynamics::prepare(Data& data, const Eigen::Ref<const VectorXd>& q,
                              const Eigen::Ref<const VectorXd>& v,
                              const Eigen::Ref<const VectorXd>& force,
                              const Eigen::Ref<const VectorXd>& xi) const {
  data.q = q;
  data.v = v;
  data.force = force;
  data.xi = xi;
  data.law_now = options.law;
  requireFinite(data.q, "the configuration");
  requireFinite(data.v, "the velocity");
  requireFinite(data.force, "the generalized force");
  requireFinite(data.xi, "the contact disturbance");
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
