// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// Partial derivatives of the step's residual g in q, v, xi and the parameters.
#include "contact_dynamics.hpp"

#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/regressor.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>

namespace prime {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
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
  for (std::size_t j = 0; j < nj(); ++j) data.g_v(offset + j, offset + j) += 0.5 * dt * data.dloss[j];
  data.g_xi.setZero();
  data.g_height.setZero();
  data.g_friction.setZero();
  contactDerivatives(data);
  for (std::size_t i = 0; i < links.size(); ++i) addInertiaDerivatives(data, i);
}

void ContactDynamics::contactDerivatives(Data& data) const {
  pinocchio::dIntegrate(data.work->model, data.q, data.half_step, data.mid_q, pinocchio::ARG0);
  pinocchio::dIntegrate(data.work->model, data.q, data.half_step, data.mid_v, pinocchio::ARG1);
  for (std::size_t i = 0; i < contacts.size(); ++i) addContactDerivatives(data, i);
}

/// g_q -= d(J^T)/dq lambda. World spatial algebra: column S_k of the Jacobian turns with the joints before it, dS_m/dq_k = S_k x S_m (k not
/// behind m), and the contact point moves with the centre of the sphere.
void ContactDynamics::addForceGeometry(Data& data, const std::size_t i) const {
  const auto& joint = joint_of_index_;
  const Vector3d p = data.point[i], lambda = data.impulse.segment<3>(3 * i);
  const Force wrench(lambda, p.cross(lambda));
  for (const auto k : support[i]) {
    const Motion S(data.work->pin.J.col(k));
    const Vector3d dp = pointVelocity(data.work->pin.J.col(k), data.center[i]), turning = dp.cross(lambda);
    data.dphi_q(i, k) = dp.z();
    // (S_k x S_m) . f = -S_m . (S_k x* f)
    const Force moved(Vector3d::Zero(), turning), turned = moved - S.cross(wrench);
    for (const auto m : support[i])
      data.g_q(m, k) -= data.work->pin.J.col(m).dot(joint[k] <= joint[m] ? turned.toVector() : moved.toVector());
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
  const Vector3d& lever = data.lever[i];
  for (const auto k : support[i])
    data.dvel_q.block<3, 1>(3 * i, k) += xi_angular.cross(Vector3d(data.work->pin.J.col(k).tail<3>()).cross(lever));
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
    const Vector3d& lever = data.lever[i];
    Matrix3d cross;  // xi_angular x lever = -[lever]x xi_angular
    cross << 0, lever.z(), -lever.y(), -lever.z(), 0, lever.x(), lever.y(), -lever.x(), 0;
    data.g_xi.middleCols<3>(foot_xi[foot] + 3).noalias() -= data.LJ.transpose() * cross;
  }
  data.g_height.col(foot) += data.dpsi[i] / dt * data.LJ.row(2).transpose();
  data.g_friction.noalias() -= Ji.transpose() * data.law[i].d_friction;
}

ImpulseDerivatives ContactDynamics::impulseDerivatives(const Data& data) const {
  const double dt = options.dt;
  const auto rows = 3 * nc();
  ImpulseDerivatives out{Eigen::MatrixXd(rows, nv()),          data.dvel_q,         data.dvel_v, Eigen::MatrixXd::Zero(rows, nxi_),
                         Eigen::MatrixXd::Zero(rows, nfeet()), VectorXd::Zero(rows)};
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
    if (foot_xi_size[foot] == 6) out.xi.block<3, 3>(3 * i, foot_xi[foot] + 3) = -L * pinocchio::skew(data.lever[i]);
    out.height.block<3, 1>(3 * i, foot) = -data.dpsi[i] / dt * L.col(2);
    out.friction.segment<3>(3 * i) = data.law[i].d_friction;
  }
  return out;
}

void ContactDynamics::addInertiaDerivatives(Data& data, const std::size_t i) const {
  const auto link = links[i];
  const auto& oMi = data.work->pin.oMi[link];
  pinocchio::bodyRegressor(oMi.actInv(data.work->pin.ov[link]), oMi.actInv(data.work->pin.oa_gf[link]), data.body_regressor);
  data.regressor.noalias() = options.dt * data.body_regressor * data.dtheta[i];
  auto out = data.g_theta.middleCols<10>(10 * i);
  for (const auto k : link_support_[i]) {
    const Motion S = oMi.actInv(Motion(data.work->pin.J.col(k)));
    out.row(k).noalias() = S.toVector().transpose() * data.regressor;
  }
}

}  // namespace prime
