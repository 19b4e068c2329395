// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// Partial derivatives of the step's residual g in q, v, xi and the parameters.
#include "contact/contact_dynamics.hpp"

#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/regressor.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>

namespace prime {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using Vector6d = Eigen::Matrix<double, 6, 1>;
using pinocchio::Force;
using pinocchio::Motion;

void ContactDynamics::derivatives(Data& data) const {
  const double dt = options.dt;
  const Lent lent(*this, data);
  auto& [model, pin, pin_bias, pin_mid] = *data.work;
  matrix(data);
  data.a = (data.vplus - data.v) / dt;
  pinocchio::computeRNEADerivatives(model, pin, data.q, data.v, data.a);
  data.g_q = dt * pin.dtau_dq;
  data.g_v = dt * pin.dtau_dv - data.M;
  const auto offset = nv() - nj();
  for (std::size_t j = 0; j < nj(); ++j)
    data.g_v(offset + j, offset + j) += 0.5 * dt * data.dloss[j];
  data.g_xi.setZero();
  data.g_height.setZero();
  data.g_friction.setZero();
  contactDerivatives(data);
  for (std::size_t i = 0; i < links.size(); ++i) addInertiaDerivatives(data, i);
}

void ContactDynamics::contactDerivatives(Data& data) const {
  pinocchio::dIntegrate(data.work->model, data.q, data.half_step, data.mid_q, pinocchio::ARG0);
  pinocchio::dIntegrate(data.work->model, data.q, data.half_step, data.mid_v, pinocchio::ARG1);
  for (std::size_t b = 0; b < bodies.size(); ++b) addBodyDerivatives(data, b);
}

/// g_q -= d(J^T)/dq lambda, as wrenches at the body's reference. World spatial algebra: column S_k
/// of the Jacobian turns with the joints before it, dS_m/dq_k = S_k x S_m (k not behind m), and the
/// contact points move with the centres of their spheres.
void ContactDynamics::addForceGeometry(Data& data, const std::size_t b) const {
  const auto& body = bodies[b];
  const Vector3d& origin = data.point[body.contacts[0]];
  Force wrench(Force::Zero());
  Matrix3d moment = Matrix3d::Zero();  // sum (c lambda^T) - (c . lambda) I: what turning the
                                       // centres does to the moment
  for (const auto i : body.contacts) {
    const Vector3d lambda = data.impulse.segment<3>(3 * i);
    wrench += Force(lambda, data.point[i].cross(lambda));
    moment += data.center[i] * lambda.transpose();
  }
  moment.diagonal().array() -= moment.trace();
  const auto& indices = support[body.contacts[0]];
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const Motion S(data.work->pin.J.col(indices[k]));
    for (const auto i : body.contacts)
      data.dphi_q(i, indices[k]) = pointVelocity(S, data.center[i]).z();
    // the same for all m: (sum dp_i x lambda_i), dp_i = S_k at c_i
    data.moved.col(k) << Vector3d::Zero(), S.linear().cross(wrench.linear()) + moment * S.angular();
    // (S_k x S_m) . f = -S_m . (S_k x* f), moved from the world's origin to the reference
    const Force turned = S.cross(wrench);
    data.turned.col(k) << -turned.linear(), origin.cross(turned.linear()) - turned.angular();
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
    V += Motion(data.columns_mid.col(k) * data.vplus[k]);
  }
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
  const Vector3d xi_angular = data.xi.segment<3>(foot_xi[foot] + 3);
  const Vector3d& lever = data.lever[i];
  for (const auto k : support[i])
    data.dvel_q.block<3, 1>(3 * i, k) +=
        xi_angular.cross(Vector3d(data.work->pin.J.col(k).tail<3>()).cross(lever));
}

/// g_q, g_v, g_xi, g_height, g_friction -= T^T (wrenches at the body's reference), T of
/// addContactSlope.
void ContactDynamics::addBodyDerivatives(Data& data, const std::size_t b) const {
  const auto& body = bodies[b];
  const auto& indices = support[body.contacts[0]];
  const auto n = indices.size();
  const auto& T = data.twist[b];
  addForceGeometry(data, b);
  data.by_q.leftCols(n).setZero();
  data.by_v.leftCols(n).setZero();
  data.by_xi.setZero();
  Vector6d by_height = Vector6d::Zero(), by_friction = by_height;
  for (const auto i : body.contacts)
    addContactWrenches(data, i, data.point[i] - data.point[body.contacts[0]], by_height,
                       by_friction);
  for (std::size_t k = 0; k < n; ++k) {
    // joints before that of k do not turn with it
    std::size_t behind = k;
    while (behind > 0 && joint_of_index_[indices[behind - 1]] == joint_of_index_[indices[k]])
      --behind;
    auto column = data.column.head(n);
    column = T.lazyProduct(data.by_q.col(k) + data.moved.col(k));
    column.tail(n - behind) += T.bottomRows(n - behind).lazyProduct(data.turned.col(k));
    for (std::size_t m = 0; m < n; ++m) data.g_q(indices[m], indices[k]) -= column[m];
    column = T.lazyProduct(data.by_v.col(k));
    for (std::size_t m = 0; m < n; ++m) data.g_v(indices[m], indices[k]) -= column[m];
  }
  const auto xi = foot_xi[body.foot];
  for (std::size_t m = 0; m < n; ++m) {
    const auto row = indices[m];
    data.g_xi.row(row).segment(xi, foot_xi_size[body.foot]) -=
        T.row(m) * data.by_xi.leftCols(foot_xi_size[body.foot]);
    data.g_height(row, body.foot) += T.row(m).dot(by_height);
    data.g_friction[row] -= T.row(m).dot(by_friction);
  }
}

/// What changes of q, v, xi, height and friction change in the impulse of a contact, as wrenches at
/// `arm` before it.
void ContactDynamics::addContactWrenches(Data& data, const std::size_t i, const Vector3d& arm,
                                         Vector6d& by_height, Vector6d& by_friction) const {
  const double dt = options.dt;
  const auto& indices = support[i];
  Eigen::Matrix<double, 6, 3> slope;  // X_i^T L_i
  slope << data.law[i].d_velocity, pinocchio::skew(arm) * data.law[i].d_velocity;
  velocityDerivatives(data, i);
  for (std::size_t k = 0; k < indices.size(); ++k) {
    Vector3d dc = data.dvel_q.block<3, 1>(3 * i, indices[k]);
    dc.z() += data.dpsi[i] / dt * data.dphi_q(i, indices[k]);
    data.by_q.col(k) += slope * dc;
    data.by_v.col(k) += slope * data.dvel_v.block<3, 1>(3 * i, indices[k]);
  }
  data.by_xi.leftCols<3>() += slope;
  data.by_xi.rightCols<3>() -= slope * pinocchio::skew(data.lever[i]);
  by_height += data.dpsi[i] / dt * slope.col(2);
  by_friction << by_friction.head<3>() + data.law[i].d_friction,
      by_friction.tail<3>() + arm.cross(data.law[i].d_friction);
}

ImpulseDerivatives ContactDynamics::impulseDerivatives(const Data& data) const {
  const double dt = options.dt;
  const auto rows = 3 * nc();
  ImpulseDerivatives out{Eigen::MatrixXd(rows, nv()),
                         data.dvel_q,
                         data.dvel_v,
                         Eigen::MatrixXd::Zero(rows, nxi_),
                         Eigen::MatrixXd::Zero(rows, nfeet()),
                         VectorXd::Zero(rows)};
  // velocity of the material points, then the law
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const auto foot = contacts[i].foot;
    const Matrix3d& L = data.law[i].d_velocity;
    auto by_q = out.q.middleRows<3>(3 * i);
    by_q.row(2) += data.dpsi[i] / dt * data.dphi_q.row(i);
    by_q = (L * by_q).eval();
    out.v.middleRows<3>(3 * i) = L * data.dvel_v.middleRows<3>(3 * i);
    out.next.middleRows<3>(3 * i) = L * data.Jmid.middleRows<3>(3 * i);
    out.xi.block<3, 3>(3 * i, foot_xi[foot]) = L;
    if (foot_xi_size[foot] == 6)
      out.xi.block<3, 3>(3 * i, foot_xi[foot] + 3) = -L * pinocchio::skew(data.lever[i]);
    out.height.block<3, 1>(3 * i, foot) = -data.dpsi[i] / dt * L.col(2);
    out.friction.segment<3>(3 * i) = data.law[i].d_friction;
  }
  return out;
}

void ContactDynamics::addInertiaDerivatives(Data& data, const std::size_t i) const {
  const auto link = links[i];
  const auto& oMi = data.work->pin.oMi[link];
  pinocchio::bodyRegressor(oMi.actInv(data.work->pin.ov[link]),
                           oMi.actInv(data.work->pin.oa_gf[link]), data.body_regressor);
  data.regressor.noalias() = options.dt * data.body_regressor * data.dtheta[i];
  auto out = data.g_theta.middleCols<10>(10 * i);
  for (const auto k : link_support_[i]) {
    const Motion S = oMi.actInv(Motion(data.work->pin.J.col(k)));
    out.row(k).noalias() = S.toVector().transpose() * data.regressor;
  }
}

}  // namespace prime
