// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// Derivatives of a running node: the implicit ones that the window's solver takes, and Crocoddyl's.
#include <pinocchio/spatial/explog.hpp>

#include "nodes/action_measurement.hpp"

namespace prime {

using Eigen::MatrixXd;
using Eigen::VectorXd;

void ActionMeasurement::coneJacobian(Data& d) const {
  const auto n = dynamics->ncone();
  if (n == 0) return;
  const auto& cone = d.dynamics.cone;
  for (std::size_t i = 0; i < n; ++i) {
    if (!(cone.h[i] > 0.0)) continue;
    auto row = d.S.row(row_cone_ - row_gyro_ + i);
    auto column = column_cone_.begin();
    auto put = [&](const auto& by) {
      for (Eigen::Index k = 0; k < by.size(); ++k) row[*column++] = input->weight_cone / dt * by[k];
    };
    put(cone.by.xi.row(i)), put(cone.by.next.row(i)), put(cone.by.q.row(i)), put(cone.by.v.row(i));
    if (layout.height >= 0) put(cone.by.height.row(i));
    if (layout.friction >= 0)
      row[*column] = input->weight_cone / dt * d.dynamics.friction * cone.by.friction[i];
  }
}

/// G = dg/dz, z = (xi, v+, q, v, p)
void ActionMeasurement::collectDerivatives(Data& d) const {
  auto& dyn = d.dynamics;
  dynamics->derivatives(dyn);
  const auto p = nu_ + 2 * nv_;
  d.G.leftCols(nxi_) = dyn.g_xi;
  d.G.middleCols(nxi_, nv_) = dyn.A;
  d.G.middleCols(nu_, nv_) = dyn.g_q;
  d.G.middleCols(nu_ + nv_, nv_) = dyn.g_v;
  if (layout.theta >= 0) d.G.middleCols(p + layout.theta, dynamics->ntheta()) = dyn.g_theta;
  if (layout.height >= 0) d.G.middleCols(p + layout.height, dynamics->nfeet()) = dyn.g_height;
  if (layout.friction >= 0) d.G.col(p + layout.friction) = dyn.friction * dyn.g_friction;
}

void ActionMeasurement::linearize(const std::shared_ptr<DataAbstract>& data, const ConstRef& x) {
  auto& d = static_cast<Data&>(*data);
  collectDerivatives(d);
  d.has_D = false;
  d.force_weight = input->weight_force / dt;
  if (dynamics->floating_base) {
    // q+ = q (+) dt v+ of a free-flyer
    const Eigen::Matrix<double, 6, 1> step = dt * d.dynamics.vplus.head<6>();
    Eigen::Matrix<double, 6, 6> J;
    d.E = pinocchio::exp6(pinocchio::Motion(step)).toActionMatrixInverse();
    pinocchio::Jexp6(pinocchio::Motion(step), J);
    d.T = dt * J;
  }
  sensorJacobian(d, x);
  coneJacobian(d);
  accelerometerJacobian(d, x);
}

/// dv+/d(q, v, p, u): the linear system of the implicit function theorem, or a selection in the
/// inverse form.
void ActionMeasurement::makeD(Data& d) const {
  if (d.has_D) return;
  const auto nx = state_->get_ndx();
  d.has_D = true;
  if (inverse) {
    d.D.setZero();
    d.D.middleCols(nx, nv_).diagonal().setOnes();
    return;
  }
  d.rhs.leftCols(nx) = -d.G.rightCols(nx);
  d.rhs.middleCols(nx, nv_).setZero();
  d.rhs.middleCols(nx, nv_).diagonal().setConstant(dt);
  d.rhs.rightCols(nxi_) = -d.G.leftCols(nxi_);
  d.dynamics.lu.compute(d.G.middleCols(nxi_, nv_));
  d.D.noalias() = d.dynamics.lu.solve(d.rhs);
}

/// Rx, Ru of the explicit form.
void ActionMeasurement::makeResidualJacobians(Data& d) const {
  const auto nx = state_->get_ndx();
  const auto q = nv_ - nj_;
  d.Rx.setZero();
  d.Ru.setZero();
  if (inverse) {
    d.Rx.topRows(nv_) = d.force_weight.asDiagonal() * d.G.rightCols(nx);
    d.Ru.topLeftCorner(nv_, nv_) = d.force_weight.asDiagonal() * d.G.middleCols(nxi_, nv_);
    d.Ru.topRightCorner(nv_, nxi_) = d.force_weight.asDiagonal() * d.G.leftCols(nxi_);
  } else {
    d.Ru.topLeftCorner(nv_, nv_).diagonal() = input->weight_force;
  }
  d.Ru.block(nv_, nv_, nxi_, nxi_).diagonal() = input->weight_xi;
  d.Rx.block(row_encoder_, q, nj_, nj_).diagonal() = input->weight_position;
  d.Rx.block(row_rate_, nv_ + q, nj_, nj_).diagonal() = input->weight_velocity;
  if (!dynamics->floating_base) return;
  for (std::size_t i = kPosition; i < columns_.size(); ++i)
    if (columns_[i] >= static_cast<int>(nu_))
      d.Rx.col(columns_[i] - nu_).tail(d.S.rows()) = d.S.col(i);
  if (const auto n = dynamics->ncone()) {
    const auto rows = row_cone_ - row_gyro_;
    for (int z = 0; z < static_cast<int>(nu_); ++z) {
      const auto column = d.S.col(column_cone_[z]).segment(rows, n);
      if (z < nxi_) {
        d.Ru.col(nv_ + z).segment(row_cone_, n) += column;
        continue;
      }
      d.Rx.middleRows(row_cone_, n).noalias() += column * d.D.row(z - nxi_).head(nx);
      d.Ru.middleRows(row_cone_, n).noalias() += column * d.D.row(z - nxi_).tail(nu_);
    }
  }
  const auto by_next = d.S.bottomLeftCorner<3, 6>();
  d.Rx.bottomRows<3>().noalias() += by_next * d.D.topLeftCorner(6, nx);
  d.Ru.bottomRows<3>().noalias() += by_next * d.D.topRightCorner(6, nu_);
  for (int i = 0; i < mount.size(); ++i) {
    const auto by_joint = d.S.bottomRows<3>().col(column_chain_ + i);
    const auto row = d.D.row(mount.joints()[i].v);
    d.Rx.bottomRows<3>().noalias() += by_joint * row.head(nx);
    d.Ru.bottomRows<3>().noalias() += by_joint * row.tail(nu_);
  }
}

void ActionMeasurement::calcDiff(const std::shared_ptr<DataAbstract>& data, const ConstRef& x,
                                 const ConstRef&) {
  auto& d = static_cast<Data&>(*data);
  const auto nx = state_->get_ndx();
  const int nb = nv_ - nj_;
  linearize(data, x);
  makeD(d);
  makeResidualJacobians(d);
  d.Fx.middleRows(nv_, nv_) = d.D.leftCols(nx);
  d.Fu.middleRows(nv_, nv_) = d.D.rightCols(nu_);
  d.Fx.topRows(nv_) = dt * d.D.leftCols(nx);
  d.Fu.topRows(nv_) = dt * d.D.rightCols(nu_);
  d.Fx.topRows(nb).noalias() = d.T * d.D.topLeftCorner(nb, nx);
  d.Fu.topRows(nb).noalias() = d.T * d.D.topRightCorner(nb, nu_);
  d.Fx.topLeftCorner(nb, nb) += d.E;
  d.Fx.topLeftCorner(nv_, nv_).diagonal().tail(nj_).array() += 1.0;
  d.Fx.bottomRightCorner(np, np).setIdentity();
  assembleSparse(d, false);
}

void ActionMeasurement::calcDiff(const std::shared_ptr<DataAbstract>& data, const ConstRef& x) {
  auto& d = static_cast<Data&>(*data);
  sensorJacobian(d, x);
  d.diagonal.head(nxi_).setZero();
  d.D.setZero();
  d.force_weight.setZero();
  makeResidualJacobians(d);
  d.Ru.setZero();
  assembleSparse(d, true);
}

/// Gauss-Newton cost model: rows of encoders, rates and disturbances touch one variable each, the
/// others are dense.
void ActionMeasurement::assembleSparse(Data& d, const bool terminal) const {
  const auto dense = d.r.size() - row_gyro_;
  const auto Rx = d.Rx.bottomRows(dense);
  const auto r = d.r.tail(dense);
  d.Lx.noalias() = Rx.transpose() * r;
  d.Lxx.noalias() = Rx.transpose() * Rx;
  const auto& wp = input->weight_position;
  const auto& wv = input->weight_velocity;
  d.Lx.segment(nv_ - nj_, nj_) += wp.cwiseProduct(d.r.segment(row_encoder_, nj_));
  d.Lx.segment(2 * nv_ - nj_, nj_) += wv.cwiseProduct(d.r.segment(row_rate_, nj_));
  d.Lxx.diagonal().segment(nv_ - nj_, nj_) += wp.cwiseAbs2();
  d.Lxx.diagonal().segment(2 * nv_ - nj_, nj_) += wv.cwiseAbs2();
  if (terminal) return;
  const auto by_control = nr_ - row_cone_;
  const auto Ax = d.Rx.bottomRows(by_control);
  const auto Au = d.Ru.bottomRows(by_control);
  d.Lu.noalias() = Au.transpose() * d.r.tail(by_control);
  d.Lxu.noalias() = Ax.transpose() * Au;
  d.Luu.noalias() = Au.transpose() * Au;
  d.Lu.tail(nxi_) += input->weight_xi.cwiseProduct(d.r.segment(nv_, nxi_));
  d.Luu.diagonal().tail(nxi_) += input->weight_xi.cwiseAbs2();
  if (!inverse) {
    d.Lu.head(nv_) += input->weight_force.cwiseProduct(d.r.head(nv_));
    d.Luu.diagonal().head(nv_) += input->weight_force.cwiseAbs2();
    return;
  }
  const auto Wx = d.Rx.topRows(nv_);
  const auto Wu = d.Ru.topRows(nv_);
  d.Lx.noalias() += Wx.transpose() * d.r.head(nv_);
  d.Lu.noalias() += Wu.transpose() * d.r.head(nv_);
  d.Lxx.noalias() += Wx.transpose() * Wx;
  d.Lxu.noalias() += Wx.transpose() * Wu;
  d.Luu.noalias() += Wu.transpose() * Wu;
}

void ActionMeasurement::contactForces(const std::shared_ptr<DataAbstract>& data, VectorXd& f,
                                      MatrixXd& f_x, MatrixXd& f_u) const {
  auto& d = static_cast<Data&>(*data);
  const auto& dyn = d.dynamics;
  const auto nx = state_->get_ndx();
  makeD(d);
  f = dyn.impulse / dt;
  const auto by = dynamics->impulseDerivatives(dyn);
  MatrixXd fz = by.next * d.D;
  fz.leftCols(nv_) += by.q;
  fz.middleCols(nv_, nv_) += by.v;
  if (layout.height >= 0) fz.middleCols(2 * nv_ + layout.height, dynamics->nfeet()) += by.height;
  if (layout.friction >= 0) fz.col(2 * nv_ + layout.friction) += dyn.friction * by.friction;
  fz.rightCols(nxi_) += by.xi;
  fz /= dt;
  f_x = fz.leftCols(nx);
  f_u = fz.rightCols(nu_);
}

}  // namespace prime
