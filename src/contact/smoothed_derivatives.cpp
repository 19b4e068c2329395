// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// Partial derivatives of the step's residual g in q, v, xi and the parameters.
#include "contact/smoothed_dynamics.hpp"

#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/spatial/skew.hpp>

namespace prime {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using pinocchio::Force;
using pinocchio::Motion;

void SmoothedDynamics::contactDerivatives(ContactDynamics::Data& base) const {
  auto& data = static_cast<Data&>(base);
  pinocchio::dIntegrate(data.work->model, data.at.q, data.half_step, data.mid_q, pinocchio::ARG0);
  pinocchio::dIntegrate(data.work->model, data.at.q, data.half_step, data.mid_v, pinocchio::ARG1);
  for (std::size_t b = 0; b < bodies.size(); ++b) addBodyDerivatives(data, b);
}

/// g_q -= d(J^T)/dq lambda, as wrenches at the body's reference. World spatial algebra: column S_k
/// of the Jacobian turns with the joints before it, dS_m/dq_k = S_k x S_m (k not behind m), and the
/// contact points move with the centres of their spheres.
void SmoothedDynamics::addForceGeometry(Data& data, const std::size_t b) const {
  const auto& body = bodies[b];
  const Vector3d& origin = data.out.point[body.contacts[0]];
  Force wrench(Force::Zero());
  Matrix3d moment = Matrix3d::Zero();  // sum (c lambda^T) - (c . lambda) I: what turning the
                                       // centres does to the moment
  for (const auto i : body.contacts) {
    const Vector3d lambda = data.out.impulse.segment<3>(3 * i);
    wrench += Force(lambda, data.out.point[i].cross(lambda));
    moment += data.center[i] * lambda.transpose();
  }
  moment.diagonal().array() -= moment.trace();
  const auto& indices = support[body.contacts[0]];
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const Motion S(data.work->pin.J.col(indices[k]));
    // the same for all m: (sum dp_i x lambda_i), dp_i = S_k at c_i, and along the normal
    data.moved.col(k) << Vector3d::Zero(), S.linear().cross(wrench.linear()) + moment * S.angular();
    for (const auto i : body.contacts) {
      const double dphi = data.by_center[i].dot(pointVelocity(S, data.center[i]));
      data.dphi_q(i, indices[k]) = dphi;
      data.moved.col(k).tail<3>() += dphi * data.dradius[i] * momentByRadius(data, i);
    }
    // (S_k x S_m) . f = -S_m . (S_k x* f), moved from the world's origin to the reference
    const Force turned = S.cross(wrench);
    data.turned.col(k) << -turned.linear(), origin.cross(turned.linear()) - turned.angular();
  }
}

/// What the radius on which a sphere rolls changes: the moment of its contact's impulse.
Vector3d SmoothedDynamics::momentByRadius(const Data& data, const std::size_t i) const {
  const Vector3d& normal = data.normal[contacts[i].foot];
  return -normal.cross(Vector3d(data.out.impulse.segment<3>(3 * i)));
}

/// And the velocity of its contact point.
Vector3d SmoothedDynamics::velocityByRadius(const Data& data, const std::size_t i) const {
  return -data.spin[i].cross(data.normal[contacts[i].foot]);
}

/// d(Jmid v+)/d q_mid: the velocity of the body changes by S_k x (V - V_parent(k)).
void SmoothedDynamics::velocityDerivatives(Data& data, const std::size_t i) const {
  const auto& contact = contacts[i];
  const auto foot = contact.foot;
  Motion V = Motion::Zero(), before = Motion::Zero();
  std::size_t current = 0;
  for (const auto k : support[i]) {
    if (joint_of_index_[k] != current) before = V, current = joint_of_index_[k];
    data.path[k] = before;
    V += Motion(data.columns_mid.col(k) * data.out.vplus[k]);
  }
  data.spin[i] = V.angular();
  data.dvel_gap[i] = data.dpsi[i] / options.dt * data.normal[foot];
  data.dvel_gap[i] += data.dradius[i] * velocityByRadius(data, i);
  for (const auto k : support[i]) {
    const Motion S(data.columns_mid.col(k));
    const Motion dV = S.cross(Motion(V - data.path[k]));
    const Vector3d dp = pointVelocity(data.columns_mid.col(k), data.center_mid[i]);
    data.dvel_mid.block<3, 1>(3 * i, k) =
        dV.linear() + dV.angular().cross(data.point_mid[i]) + V.angular().cross(dp);
  }
  const int nb = nv() - nj();
  const double half = options.midpoint ? 0.5 * options.dt : 0.0;
  const auto base = data.dvel_mid.block(3 * i, 0, 3, nb);
  data.dvel_q.middleRows<3>(3 * i) = data.dvel_mid.middleRows<3>(3 * i);
  data.dvel_v.middleRows<3>(3 * i) = half * data.dvel_mid.middleRows<3>(3 * i);
  data.dvel_q.block(3 * i, 0, 3, nb).noalias() = base * data.mid_q.topLeftCorner(nb, nb);
  data.dvel_v.block(3 * i, 0, 3, nb).noalias() = half * base * data.mid_v.topLeftCorner(nb, nb);
  if (foot_xi_size[foot] != 6) return;
  const Vector3d xi_angular = data.at.xi.segment<3>(foot_xi[foot] + 3);
  const Vector3d& lever = data.lever[i];
  for (const auto k : support[i])
    data.dvel_q.block<3, 1>(3 * i, k) +=
        xi_angular.cross(Vector3d(data.work->pin.J.col(k).tail<3>()).cross(lever));
}

/// g_q, g_v, g_xi, g_height, g_friction, g_slope -= T^T (wrenches at the body's reference), T of
/// addContactSlope.
void SmoothedDynamics::addBodyDerivatives(Data& data, const std::size_t b) const {
  const auto& body = bodies[b];
  const auto& indices = support[body.contacts[0]];
  const auto n = indices.size();
  const auto& T = data.twist[b];
  addForceGeometry(data, b);
  data.by_q.leftCols(n).setZero();
  data.by_v.leftCols(n).setZero();
  data.by_xi.setZero();
  Vector6d by_height = Vector6d::Zero(), by_friction = by_height, by_softness = by_height;
  Eigen::Matrix<double, 6, 2> by_slope = Eigen::Matrix<double, 6, 2>::Zero();
  for (const auto i : body.contacts) {
    const Vector3d arm = data.out.point[i] - data.out.point[body.contacts[0]];
    addContactWrenches(data, i, arm, by_height, by_friction, by_softness);
    if (options.slopes) slopeDerivatives(data, i, arm, by_slope);
  }
  for (std::size_t k = 0; k < n; ++k) {
    // joints before that of k do not turn with it
    std::size_t behind = k;
    while (behind > 0 && joint_of_index_[indices[behind - 1]] == joint_of_index_[indices[k]])
      --behind;
    auto column = data.column.head(n);
    column = T.lazyProduct(data.by_q.col(k) + data.moved.col(k));
    column.tail(n - behind) += T.bottomRows(n - behind).lazyProduct(data.turned.col(k));
    for (std::size_t m = 0; m < n; ++m) data.by.q(indices[m], indices[k]) -= column[m];
    column = T.lazyProduct(data.by_v.col(k));
    for (std::size_t m = 0; m < n; ++m) data.by.v(indices[m], indices[k]) -= column[m];
  }
  const auto xi = foot_xi[body.foot];
  for (std::size_t m = 0; m < n; ++m) {
    const auto row = indices[m];
    data.by.xi.row(row).segment(xi, foot_xi_size[body.foot]) -=
        T.row(m) * data.by_xi.leftCols(foot_xi_size[body.foot]);
    data.by.parameters(row, height_ + body.foot) += T.row(m).dot(by_height);
    data.by.parameters(row, friction_) -= friction(data) * T.row(m).dot(by_friction);
    if (options.slopes)
      data.by.parameters.row(row).segment<2>(slope(body.foot)) -= T.row(m) * by_slope;
    if (options.soft) data.by.parameters(row, softness_) -= T.row(m).dot(by_softness);
  }
}

/// What the parameter of softness changes in the impulse of a contact: by the law, by its gap.
Vector3d SmoothedDynamics::impulseBySoftness(const Data& data, const std::size_t i) const {
  const Vector3d& normal = data.normal[contacts[i].foot];
  const Vector3d faster = data.psi_by_softness[i] / options.dt * normal +
                          data.radius_by_softness[i] * velocityByRadius(data, i);
  return softnessSlope(data) * (data.law[i].d_softness + data.law[i].d_velocity * faster);
}

/// What changes of q, v, xi, height, friction and softness change in the impulse of a contact, as
/// wrenches at `arm` before it.
void SmoothedDynamics::addContactWrenches(Data& data, const std::size_t i, const Vector3d& arm,
                                          Vector6d& by_height, Vector6d& by_friction,
                                          Vector6d& by_softness) const {
  const auto& indices = support[i];
  Eigen::Matrix<double, 6, 3> slope;  // X_i^T L_i
  slope << data.law[i].d_velocity, pinocchio::skew(arm) * data.law[i].d_velocity;
  velocityDerivatives(data, i);
  for (std::size_t k = 0; k < indices.size(); ++k) {
    Vector3d dc = data.dvel_q.block<3, 1>(3 * i, indices[k]);
    dc += data.dphi_q(i, indices[k]) * data.dvel_gap[i];
    data.by_q.col(k) += slope * dc;
    data.by_v.col(k) += slope * data.dvel_v.block<3, 1>(3 * i, indices[k]);
  }
  data.by_xi.leftCols<3>() += slope;
  data.by_xi.rightCols<3>() -= slope * pinocchio::skew(data.lever[i]);
  const double rise = data.normal[contacts[i].foot].z();  // of the ground, what the gap loses
  by_height += rise * slope * data.dvel_gap[i];
  by_height.tail<3>() += rise * data.dradius[i] * momentByRadius(data, i);
  by_friction << by_friction.head<3>() + data.law[i].d_friction,
      by_friction.tail<3>() + arm.cross(data.law[i].d_friction);
  if (options.soft) {
    const Vector3d softer = impulseBySoftness(data, i);
    const double shorter = softnessSlope(data) * data.radius_by_softness[i];
    by_softness += (Vector6d() << softer, arm.cross(softer)).finished();
    by_softness.tail<3>() += shorter * momentByRadius(data, i);
  }
}

/// Derivative of the ground's normal by its slope.
Eigen::Matrix<double, 3, 2> SmoothedDynamics::normalBySlope(const Data& data,
                                                            const std::size_t foot) const {
  const Vector3d& n = data.normal[foot];
  const Matrix3d across = n.z() * (Matrix3d::Identity() - n * n.transpose());
  return -across.leftCols<2>();
}

/// What the slope changes in the impulse of a contact, and as wrenches at `arm` before it. A law
/// without preferred direction turns with the normal: with dn = w x n, d lambda = w x lambda + L
/// (dc - w x c), c: velocity without the gap's; the gap moves by dphi = dn . (centre - anchor), the
/// contact point by -r dn - dr/dphi dphi n.
void SmoothedDynamics::slopeDerivatives(Data& data, const std::size_t i, const Vector3d& arm,
                                        Eigen::Matrix<double, 6, 2>& by_slope) const {
  const auto foot = contacts[i].foot;
  const Vector3d& n = data.normal[foot];
  const Vector3d lambda = data.out.impulse.segment<3>(3 * i);
  const Vector3d c = data.out.velocity.segment<3>(3 * i) + disturbance(data, i);
  const Eigen::Matrix<double, 3, 2> by = normalBySlope(data, foot);
  for (int j = 0; j < 2; ++j) {
    const Vector3d dn = by.col(j), w = n.cross(dn);
    const double dphi = dn.dot(data.above[i]);
    const Vector3d dp = -data.radius[i] * dn - dphi * data.dradius[i] * n;
    const Vector3d dc = data.spin[i].cross(dp) - w.cross(c) + data.dpsi[i] / options.dt * dphi * n;
    const Vector3d dlambda = data.law[i].d_velocity * dc + w.cross(lambda);
    data.impulse_by_slope[i].col(j) = dlambda;
    by_slope.col(j) += (Vector6d() << dlambda, arm.cross(dlambda) + dp.cross(lambda)).finished();
  }
}

const ImpulseDerivatives& SmoothedDynamics::impulseDerivatives(ContactDynamics::Data& base) const {
  auto& data = static_cast<Data&>(base);
  auto& out = data.impulse_by;
  // velocity of the material points, then the law
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const auto foot = contacts[i].foot;
    const Matrix3d& L = data.law[i].d_velocity;
    for (const auto k : support[i]) {
      Vector3d dc = data.dvel_q.block<3, 1>(3 * i, k);
      dc += data.dphi_q(i, k) * data.dvel_gap[i];
      out.q.block<3, 1>(3 * i, k) = L * dc;
      out.v.block<3, 1>(3 * i, k) = L * data.dvel_v.block<3, 1>(3 * i, k);
      out.next.block<3, 1>(3 * i, k) = L * data.Jmid.block<3, 1>(3 * i, k);
    }
    out.xi.block<3, 3>(3 * i, foot_xi[foot]) = L;
    if (foot_xi_size[foot] == 6)
      out.xi.block<3, 3>(3 * i, foot_xi[foot] + 3) = -L * pinocchio::skew(data.lever[i]);
    out.parameters.block<3, 1>(3 * i, height_ + foot) =
        -data.normal[foot].z() * L * data.dvel_gap[i];
    if (options.slopes) out.parameters.block<3, 2>(3 * i, slope(foot)) = data.impulse_by_slope[i];
    out.parameters.block<3, 1>(3 * i, friction_) = friction(data) * data.law[i].d_friction;
    if (options.soft) out.parameters.block<3, 1>(3 * i, softness_) = impulseBySoftness(data, i);
  }
  return out;
}

}  // namespace prime
