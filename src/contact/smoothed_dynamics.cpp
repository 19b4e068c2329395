// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// What the smoothed step keeps, and where its contacts are.
#include "contact/smoothed_dynamics.hpp"

#include <cmath>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>

namespace prime {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

/// Per velocity index the one before it on the path from the root; -1 at the root.
std::vector<int> parentOfIndex(const pinocchio::Model& model) {
  std::vector<int> parent(model.nv);
  for (int j = 1; j < model.njoints; ++j) {
    int before = -1;
    for (const auto i : model.supports[j]) {
      if (i == 0) continue;
      for (int k = 0; k < model.joints[i].nv(); ++k) {
        parent[model.joints[i].idx_v() + k] = before;
        before = model.joints[i].idx_v() + k;
      }
    }
  }
  return parent;
}

}  // namespace

SmoothedDynamics::SmoothedDynamics(const pinocchio::Model& model,
                                   const std::vector<ContactPoint>& contacts_,
                                   const std::vector<std::size_t>& links_, const VectorXd& damping,
                                   const VectorXd& dry_friction, const bool floating_base_,
                                   const DynamicsOptions& options_)
    : ContactDynamics(model, contacts_, links_, damping, dry_friction, floating_base_, options_),
      branches_(parentOfIndex(model)) {}

SmoothedDynamics::Data::Homotopy::Homotopy(const int n)
    : now(n), next(n), tangent(n), metric(n), rhs(n), step(n), matrix(n, n), lu(n) {}

SmoothedDynamics::Data::Data(const SmoothedDynamics& d)
    : ContactDynamics::Data(d),
      law(d.nc()),
      psi(d.nc(), 0.0),
      dpsi(psi),
      q_mid(at.q),
      half_step(at.v),
      Jmid(out.J),
      mid_q(M),
      mid_v(M),
      columns_mid(6, d.nv()),
      center_mid(center),
      point_mid(center),
      column(at.v),
      factors(M),
      dvel_mid(out.J),
      dvel_q(out.J),
      dvel_v(out.J),
      dphi_q(MatrixXd::Zero(d.nc(), d.nv())),
      path(d.nv()),
      by_q(6, d.nv()),
      by_v(by_q),
      moved(by_q),
      turned(by_q),
      homotopy(d.nv() + 1) {
  for (const auto& body : d.bodies) twist.emplace_back(d.support[body.contacts[0]].size(), 6);
  twist_mid = twist;
}

void SmoothedDynamics::contactKinematics(ContactDynamics::Data& data) const {
  auto& d = static_cast<Data&>(data);
  auto& [model, pin, pin_bias, pin_mid] = *d.work;
  d.half_step = (options.midpoint ? 0.5 * options.dt : 0.0) * d.at.v;
  pinocchio::integrate(model, d.at.q, d.half_step, d.q_mid);
  pinocchio::computeJointJacobians(model, pin_mid, d.q_mid);
  d.columns_mid = pin_mid.J;
  for (std::size_t i = 0; i < contacts.size(); ++i) placeContact(d, i);
  for (std::size_t b = 0; b < bodies.size(); ++b) placeBody(d, b);
}

/// Point, gap and Jacobians of a contact.
void SmoothedDynamics::placeContact(Data& d, const std::size_t i) const {
  const double width = options.penetration_width, share = options.penetration_factor;
  const auto& [model, pin, pin_bias, pin_mid] = *d.work;
  const auto& contact = contacts[i];
  d.center[i] = pin.oMi[contact.joint].act(contact.position);
  d.center_mid[i] = pin_mid.oMi[contact.joint].act(contact.position);
  d.lever[i] = pin.oMi[contact.joint].rotation() * contact.lever;
  d.out.point[i] = d.center[i];
  d.point_mid[i] = d.center_mid[i];
  if (options.rolling) {
    d.out.point[i].z() -= contact.radius;
    d.point_mid[i].z() -= contact.radius;
  }
  for (const auto k : support[i]) {
    d.out.J.block<3, 1>(3 * i, k) = pointVelocity(pin.J.col(k), d.out.point[i]);
    d.Jmid.block<3, 1>(3 * i, k) = pointVelocity(pin_mid.J.col(k), d.point_mid[i]);
  }
  const double phi = d.center[i].z() - contact.radius - height(d, contact.foot);
  const double root = std::sqrt(phi * phi + width * width);
  d.out.gap[i] = phi;
  d.psi[i] = 0.5 * (1.0 + share) * phi + 0.5 * (1.0 - share) * (root - width);
  d.dpsi[i] = 0.5 * (1.0 + share) + 0.5 * (1.0 - share) * phi / root;
}

/// Twists of a body by the velocities along its support.
void SmoothedDynamics::placeBody(Data& d, const std::size_t b) const {
  const auto first = bodies[b].contacts[0];
  for (std::size_t j = 0; j < support[first].size(); ++j) {
    const auto k = support[first][j];
    d.twist[b].row(j) << d.out.J.block<3, 1>(3 * first, k).transpose(),
        d.work->pin.J.col(k).tail<3>().transpose();
    d.twist_mid[b].row(j) << d.Jmid.block<3, 1>(3 * first, k).transpose(),
        d.work->pin_mid.J.col(k).tail<3>().transpose();
  }
}

}  // namespace prime
