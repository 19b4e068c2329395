// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// Derivatives of a running node: the implicit ones that the window's solver takes, and Crocoddyl's.
#include <pinocchio/spatial/explog.hpp>
#include <stdexcept>

#include "nodes/action_measurement.hpp"

namespace prime {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The point of G is nearer than a change of velocity by `reach`, of positions by that in one step.
/// A cone's rows switch, and have no such neighbourhood. Anchors of slopes that have moved are left
/// to the next derivatives: feet that have just landed, on legs that give way, tell a slope wrong.
bool ActionMeasurement::isWithin(const Data& d, const double reach) const {
  const auto &then = d.expanded, &now = d.dynamics.at;
  if (!d.has_G || !(reach > 0.0) || dynamics->ncone() > 0) return false;
  const auto near = [](const auto& a, const auto& b, const double most) {
    return (a - b).template lpNorm<Eigen::Infinity>() <= most;
  };
  const auto heights = [this](const VectorXd& p) {
    return p.segment(first_height_, dynamics->nfeet());
  };
  return then.law == now.law && then.stance == now.stance && then.reading == now.reading &&
         then.reading_change == now.reading_change && near(then.v, now.v, reach) &&
         near(d.expanded_next, d.dynamics.out.vplus, reach) && near(then.xi, now.xi, reach) &&
         near(then.q, now.q, dt * reach) && near(then.parameters, now.parameters, reach) &&
         near(heights(then.parameters), heights(now.parameters), dt * reach);
}

/// G = dg/dz, z = (xi, v+, q, v, p); rows of the joints in units of their readings.
void ActionMeasurement::collectDerivatives(Data& d) const {
  if (!d.solved) throw std::logic_error("node: derivatives are those at a calc, which is missing");
  const auto& by = d.dynamics.by;
  d.expanded = d.dynamics.at;
  d.expanded_next = d.dynamics.out.vplus;
  d.has_G = true;
  dynamics->derivatives(*d.solved);
  d.G.leftCols(nxi_) = by.xi;
  d.G.middleCols(nxi_, nv_) = by.next;
  d.G.middleCols(nu_, nv_) = by.q;
  d.G.middleCols(nu_ + nv_, nv_) = by.v;
  d.G.middleCols(nu_ + 2 * nv_, dynamics->nparameters()) = by.parameters;
  const auto& joints = dynamics->joints;
  if (!joints.readsTorque()) return;
  const int first = nu_ + 2 * nv_ + dynamics->nparameters() - joints.nparameters();
  auto rows = d.G.bottomRows(nj_);
  joints.addToGains(d.dynamics.out.g.tail(nj_), rows.middleCols(first, joints.nparameters()));
  rows.array().colwise() /= d.dynamics.joints.gain.array();
}

void ActionMeasurement::linearize(const std::shared_ptr<DataAbstract>& data, const ConstRef& x,
                                  const double reach) {
  auto& d = static_cast<Data&>(*data);
  if (!isWithin(d, reach)) {
    collectDerivatives(d);
    d.has_D = false;
  }
  d.force_weight = input->weight_force / dt;
  if (dynamics->floating_base) {
    // q+ = q (+) dt v+ of a free-flyer
    const Eigen::Matrix<double, 6, 1> step = dt * d.dynamics.out.vplus.head<6>();
    Eigen::Matrix<double, 6, 6> J;
    d.E = pinocchio::exp6(pinocchio::Motion(step)).toActionMatrixInverse();
    pinocchio::Jexp6(pinocchio::Motion(step), J);
    d.T = dt * J;
  }
  sensorJacobian(d, x, true);
}

/// Weights of the rows that touch one variable, and the dense rows, in the variables of z.
void ActionMeasurement::sensorJacobian(Data& d, const ConstRef& x, const bool step) const {
  const auto q = nu_ + nv_ - nj_;
  d.diagonal.head(nxi_) = input->weight_xi;
  d.diagonal.segment(q, nj_) = input->encoders.weight;
  d.diagonal.segment(q + nv_, nj_) = input->rates.weight;
  d.S.setZero();
  const auto at = pointOf(d, x, step);
  const auto& entries = model->entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& residual = *entries[i].residual;
    const auto& reading = input->readings[i];
    if (!reading.present() || (residual.when == Residual::When::Step && !step)) continue;
    auto rows = d.S.middleRows(entries[i].row, residual.rows);
    residual.jacobian(at, reading, d.scratch[i].get(), rows);
    rows.array().colwise() *= reading.weight.array();
  }
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
  d.Rx.block(row_encoder_, q, nj_, nj_).diagonal() = input->encoders.weight;
  d.Rx.block(row_rate_, nv_ + q, nj_, nj_).diagonal() = input->rates.weight;
  const auto dense = d.S.rows();
  const auto& columns = model->columns();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto column = d.S.col(i);
    const int z = columns[i];
    if (z >= static_cast<int>(nu_)) {
      d.Rx.col(z - nu_).tail(dense) += column;
    } else if (z < nxi_) {
      d.Ru.col(nv_ + z).tail(dense) += column;
    } else {
      d.Rx.bottomRows(dense).noalias() += column * d.D.row(z - nxi_).head(nx);
      d.Ru.bottomRows(dense).noalias() += column * d.D.row(z - nxi_).tail(nu_);
    }
  }
}

void ActionMeasurement::calcDiff(const std::shared_ptr<DataAbstract>& data, const ConstRef& x,
                                 const ConstRef&) {
  auto& d = static_cast<Data&>(*data);
  const auto nx = state_->get_ndx();
  const int nb = nv_ - nj_;
  d.of_state = false;
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
  sensorJacobian(d, x, false);
  d.diagonal.head(nxi_).setZero();
  d.force_weight.setZero();
  makeStateJacobian(d);
  assembleSparse(d, true);
}

/// Rx, Ru of a node without step.
void ActionMeasurement::makeStateJacobian(Data& d) const {
  const auto q = nv_ - nj_;
  const int nu = static_cast<int>(nu_);
  if (!d.of_state) {
    d.Rx.setZero();
    d.Ru.setZero();
    d.Lxx.setZero();
    d.of_state = true;
  }
  d.Rx.block(row_encoder_, q, nj_, nj_).diagonal() = input->encoders.weight;
  d.Rx.block(row_rate_, nv_ + q, nj_, nj_).diagonal() = input->rates.weight;
  const auto& columns = model->columns();
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i] >= nu) d.Rx.col(columns[i] - nu).tail(d.S.rows()) = d.S.col(i);
}

/// Hessian of the dense rows of a state: each touches few of its variables.
void ActionMeasurement::assembleTouched(Data& d) const {
  const auto& columns = model->columns();
  const int nu = static_cast<int>(nu_);
  d.Lxx.diagonal().head(2 * nv_).setZero();
  for (const int j : columns)
    for (const int i : columns)
      if (i >= nu && j >= nu) d.Lxx(i - nu, j - nu) = 0.0;
  for (Eigen::Index k = 0; k < d.S.rows(); ++k) {
    d.touched.clear();
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (columns[i] >= nu && d.S(k, i) != 0.0) d.touched.push_back(i);
    for (const int j : d.touched)
      for (const int i : d.touched)
        d.Lxx(columns[i] - nu, columns[j] - nu) += d.S(k, i) * d.S(k, j);
  }
}

/// Gauss-Newton cost model: rows of encoders, rates and disturbances touch one variable each, the
/// others are dense.
void ActionMeasurement::assembleSparse(Data& d, const bool terminal) const {
  const auto dense = d.r.size() - row_dense_;
  const auto Rx = d.Rx.bottomRows(dense);
  d.Lx.noalias() = Rx.transpose() * d.r.tail(dense);
  if (terminal)
    assembleTouched(d);
  else
    d.Lxx.noalias() = Rx.transpose() * Rx;
  const auto& wp = input->encoders.weight;
  const auto& wv = input->rates.weight;
  d.Lx.segment(nv_ - nj_, nj_) += wp.cwiseProduct(d.r.segment(row_encoder_, nj_));
  d.Lx.segment(2 * nv_ - nj_, nj_) += wv.cwiseProduct(d.r.segment(row_rate_, nj_));
  d.Lxx.diagonal().segment(nv_ - nj_, nj_) += wp.cwiseAbs2();
  d.Lxx.diagonal().segment(2 * nv_ - nj_, nj_) += wv.cwiseAbs2();
  if (terminal) return;
  const auto by_control = nr_ - row_step_;
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

VectorXd ActionMeasurement::contactForce(const std::shared_ptr<DataAbstract>& data) const {
  return static_cast<const Data&>(*data).dynamics.out.impulse / dt;
}

void ActionMeasurement::contactForces(const std::shared_ptr<DataAbstract>& data, VectorXd& f,
                                      MatrixXd& f_z) const {
  auto& d = static_cast<Data&>(*data);
  const auto& by = dynamics->impulseDerivatives(d.dynamics);
  f = contactForce(data);
  for (std::size_t i = 0; i < d.unmodelled.size(); ++i) f.segment<3>(3 * i) += d.unmodelled[i].mean;
  f_z.setZero(f.size(), d.G.cols());
  f_z.leftCols(nxi_) = by.xi / dt;
  f_z.middleCols(nxi_, nv_) = by.next / dt;
  f_z.middleCols(nu_, nv_) = by.q / dt;
  f_z.middleCols(nu_ + nv_, nv_) = by.v / dt;
  f_z.middleCols(nu_ + 2 * nv_, dynamics->nparameters()) = by.parameters / dt;
}

void ActionMeasurement::addUnmodelled(const Data& data, MatrixXd& covariance) {
  for (std::size_t i = 0; i < data.unmodelled.size(); ++i)
    covariance.block<3, 3>(3 * i, 3 * i) += data.unmodelled[i].covariance;
}

MatrixXd ActionMeasurement::residualJacobian(const std::shared_ptr<DataAbstract>& data) const {
  const auto& d = static_cast<const Data&>(*data);
  const int position = nxi_ + nv_ + nb(), rate = position + nv_;  // of the joints in z
  MatrixXd J = MatrixXd::Zero(d.r.size(), d.G.cols());
  J.topRows(nv_) = d.force_weight.asDiagonal() * d.G;
  J.block(nv_, 0, nxi_, nxi_).diagonal() = d.diagonal.head(nxi_);
  J.block(row_encoder_, position, nj_, nj_).diagonal() = d.diagonal.segment(position, nj_);
  J.block(row_rate_, rate, nj_, nj_).diagonal() = d.diagonal.segment(rate, nj_);
  for (std::size_t i = 0; i < d.columns.size(); ++i)
    J.col(d.columns[i]).tail(d.S.rows()) = d.S.col(i);
  return J;
}

}  // namespace prime
