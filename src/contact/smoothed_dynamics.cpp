// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// What the smoothed step keeps, and where its contacts are.
#include "contact/smoothed_dynamics.hpp"

#include <algorithm>
#include <cmath>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <tuple>

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
                                   const std::vector<std::size_t>& links_,
                                   const JointModel& joints_, const bool floating_base_,
                                   const DynamicsOptions& options_)
    : ContactDynamics(model, contacts_, links_, joints_, floating_base_, options_),
      reach_(VectorXd::Constant(nfeet(), kSlopeReach)),
      from_middle_(nc()),
      hardest_(stiffness(0.0)),
      branches_(parentOfIndex(model)) {
  for (const auto& body : bodies) {
    Vector3d middle = Vector3d::Zero();
    for (const auto i : body.contacts) middle += contacts[i].position / body.contacts.size();
    double& reach = reach_[contacts[body.contacts[0]].foot];
    for (const auto i : body.contacts) {
      from_middle_[i] = contacts[i].position - middle;
      reach = std::max(reach, kSlopeReach + kSoleReach * from_middle_[i].norm());
    }
  }
}

SmoothedDynamics::Data::Homotopy::Homotopy(const int n)
    : now(n), next(n), tangent(n), metric(n), rhs(n), step(n), matrix(n, n), lu(n) {}

SmoothedDynamics::Data::Data(const SmoothedDynamics& d)
    : ContactDynamics::Data(d),
      law(d.nc()),
      law_velocity(d.nc(), Eigen::Vector3d::Zero()),
      psi(d.nc(), 0.0),
      dpsi(psi),
      psi_by_softness(psi),
      radius(psi),
      dradius(psi),
      radius_by_softness(psi),
      normal(d.nfeet(), Eigen::Vector3d::UnitZ()),
      above(center),
      by_center(d.nc(), Eigen::Vector3d::UnitZ()),
      frame(d.nfeet(), Eigen::Matrix3d::Identity()),
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
      spin(d.nc(), Eigen::Vector3d::Zero()),
      dvel_gap(spin),
      impulse_by_slope(d.nc(), Eigen::Matrix<double, 3, 2>::Zero()),
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
  if (nc() > 0) placeSoftness(d);  // a robot without contacts has no ground among its parameters
  for (std::size_t f = 0; options.slopes && f < nfeet(); ++f) placeGround(d, f);
  for (std::size_t i = 0; i < contacts.size(); ++i) placeContact(d, i);
  for (std::size_t b = 0; b < bodies.size(); ++b) placeBody(d, b);
}

/// How far the ground, which is as soft everywhere, gives way. On hard ground a sphere that is too
/// low is a height that is off, and no penetration: it rolls on its whole radius.
void SmoothedDynamics::placeSoftness(Data& d) const {
  const double sigma = softness(d);
  std::tie(d.share, d.dshare) = correctedShare(sigma);
  const double hard = std::min(1.0, stiffnessAt(sigma) / hardest_);
  d.soft = (1.0 - hard) * (1.0 - hard);
  d.dsoft = 2.0 * (1.0 - d.dshare / d.share) * hard * (1.0 - hard);
}

/// Normal of the ground under a foot, and the rotation that takes it to the third axis on the
/// shortest way.
void SmoothedDynamics::placeGround(Data& d, const std::size_t foot) const {
  Vector3d& n = d.normal[foot];
  n << -d.at.parameters.segment<2>(slope(foot)), 1.0;
  n.normalize();
  const double x = n.x(), y = n.y(), z = n.z(), share = 1.0 / (1.0 + z);
  d.frame[foot] << 1.0 - share * x * x, -share * x * y, -x, -share * x * y, 1.0 - share * y * y, -y,
      x, y, z;
}

/// Gap, point and Jacobians of a contact.
void SmoothedDynamics::placeContact(Data& d, const std::size_t i) const {
  const double width = options.penetration_width;
  const double share = d.share;
  const auto& [model, pin, pin_bias, pin_mid] = *d.work;
  const auto& contact = contacts[i];
  const Vector3d& normal = d.normal[contact.foot];
  d.center[i] = pin.oMi[contact.joint].act(contact.position);
  d.center_mid[i] = pin_mid.oMi[contact.joint].act(contact.position);
  d.lever[i] = pin.oMi[contact.joint].rotation() * from_middle_[i];
  d.above[i] = d.center[i] - Vector3d(0.0, 0.0, height(d, contact.foot));
  if (options.slopes) {
    const Eigen::Vector2d away = d.above[i].head<2>() - d.at.anchor.segment<2>(2 * contact.foot);
    const double reach = reach_[contact.foot];
    const double share = 1.0 / (reach * reach + away.squaredNorm());
    const double root = reach * std::sqrt(share);
    d.above[i].head<2>() = root * away;
    d.by_center[i] << root * (normal.head<2>() - share * away.dot(normal.head<2>()) * away),
        normal.z();
  }
  const double phi = normal.dot(d.above[i]) - contact.radius;
  const double root = std::sqrt(phi * phi + width * width);
  d.out.gap[i] = phi;
  d.psi[i] = 0.5 * (1.0 + share) * phi + 0.5 * (1.0 - share) * (root - width);
  d.dpsi[i] = 0.5 * (1.0 + share) + 0.5 * (1.0 - share) * phi / root;
  d.psi_by_softness[i] = 0.5 * d.dshare * (phi - root + width);
  if (options.rolling) {
    const double quarter = 0.25 * (root - phi);  // half of what is below the ground
    d.radius[i] = contact.radius - d.soft * quarter;
    d.dradius[i] = 0.25 * d.soft * (1.0 - phi / root);
    d.radius_by_softness[i] = -d.dsoft * quarter;
  }
  d.out.point[i] = d.center[i] - d.radius[i] * normal;
  d.point_mid[i] = d.center_mid[i] - d.radius[i] * normal;
  for (const auto k : support[i]) {
    d.out.J.block<3, 1>(3 * i, k) = pointVelocity(pin.J.col(k), d.out.point[i]);
    d.Jmid.block<3, 1>(3 * i, k) = pointVelocity(pin_mid.J.col(k), d.point_mid[i]);
  }
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
