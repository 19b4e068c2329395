// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "nodes/state_parameters.hpp"

#include <pinocchio/algorithm/joint-configuration.hpp>
#include <stdexcept>
#include <string>

namespace prime {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using ConstRef = Eigen::Ref<const VectorXd>;

// Pinocchio's Lie group algorithms get plain vectors and matrices: those are the instances that
// libpinocchio holds, of any other type the compiler makes its own for all joints (50 s).

namespace {

/// A number of parameters whose covariance fits in memory. A negative one of Python is a huge one.
std::size_t allowed(const std::size_t np) {
  constexpr std::size_t kMost = 10000;  // 800 MB of a covariance; humanoids have some 100
  if (np <= kMost) return np;
  throw std::invalid_argument("state: " + std::to_string(np) + " parameters, of at most " +
                              std::to_string(kMost));
}

}  // namespace

StateParameters::StateParameters(const pinocchio::Model& model, const std::size_t np)
    : StateAbstractTpl<double>(model.nq + model.nv + allowed(np), 2 * model.nv + np),
      model_(model),
      np_(np) {
  nv_ = model.nv;
  nq_ = model.nq;
}

VectorXd StateParameters::zero() const {
  VectorXd x = VectorXd::Zero(nx_);
  x.head(nq_) = pinocchio::neutral(model_);
  return x;
}

VectorXd StateParameters::rand() const {
  VectorXd dx = VectorXd::Random(ndx_), x(nx_);
  integrate(zero(), dx, x);
  return x;
}

void StateParameters::diff(const ConstRef& x0, const ConstRef& x1, Eigen::Ref<VectorXd> dx) const {
  dx.head(nv_) = pinocchio::difference(model_, VectorXd(x0.head(nq_)), VectorXd(x1.head(nq_)));
  dx.tail(nv_ + np_) = x1.tail(nv_ + np_) - x0.tail(nv_ + np_);
}

void StateParameters::integrate(const ConstRef& x, const ConstRef& dx,
                                Eigen::Ref<VectorXd> out) const {
  out.head(nq_) = pinocchio::integrate(model_, VectorXd(x.head(nq_)), VectorXd(dx.head(nv_)));
  out.tail(nv_ + np_) = x.tail(nv_ + np_) + dx.tail(nv_ + np_);
}

void StateParameters::Jdiff(const ConstRef& x0, const ConstRef& x1, Eigen::Ref<MatrixXd> J0,
                            Eigen::Ref<MatrixXd> J1, const crocoddyl::Jcomponent which) const {
  const VectorXd q0 = x0.head(nq_), q1 = x1.head(nq_);
  auto fill = [&](Eigen::Ref<MatrixXd> J, const pinocchio::ArgumentPosition arg) {
    const double sign = arg == pinocchio::ARG0 ? -1.0 : 1.0;
    MatrixXd block = sign * MatrixXd::Identity(nv_, nv_);  // only the joints' blocks are written
    pinocchio::dDifference(model_, q0, q1, block, arg);
    J.setZero();
    J.topLeftCorner(nv_, nv_) = block;
    J.diagonal().tail(nv_ + np_).setConstant(sign);
  };
  if (which == crocoddyl::first || which == crocoddyl::both) fill(J0, pinocchio::ARG0);
  if (which == crocoddyl::second || which == crocoddyl::both) fill(J1, pinocchio::ARG1);
}

void StateParameters::Jintegrate(const ConstRef& x, const ConstRef& dx, Eigen::Ref<MatrixXd> J0,
                                 Eigen::Ref<MatrixXd> J1, const crocoddyl::Jcomponent which,
                                 const crocoddyl::AssignmentOp op) const {
  const VectorXd q = x.head(nq_), dq = dx.head(nv_);
  auto fill = [&](Eigen::Ref<MatrixXd> J, const pinocchio::ArgumentPosition arg) {
    const double sign = op == crocoddyl::rmfrom ? -1.0 : 1.0;
    if (op == crocoddyl::setto) J.setZero();
    MatrixXd block = MatrixXd::Zero(nv_, nv_);  // Pinocchio writes the blocks of the joints only
    pinocchio::dIntegrate(model_, q, dq, block, arg, pinocchio::SETTO);
    J.topLeftCorner(nv_, nv_) += sign * block;
    J.diagonal().tail(nv_ + np_).array() += sign;
  };
  if (which == crocoddyl::first || which == crocoddyl::both) fill(J0, pinocchio::ARG0);
  if (which == crocoddyl::second || which == crocoddyl::both) fill(J1, pinocchio::ARG1);
}

void StateParameters::JintegrateTransport(const ConstRef& x, const ConstRef& dx,
                                          Eigen::Ref<MatrixXd> Jin,
                                          const crocoddyl::Jcomponent which) const {
  const auto arg = which == crocoddyl::first ? pinocchio::ARG0 : pinocchio::ARG1;
  const MatrixXd block = Jin.topRows(nv_);
  MatrixXd moved = block;  // only the rows of joints are written
  const VectorXd q = x.head(nq_), dq = dx.head(nv_);
  pinocchio::dIntegrateTransport(model_, q, dq, block, moved, arg);
  Jin.topRows(nv_) = moved;
}

std::shared_ptr<crocoddyl::StateBase> StateParameters::cloneAsDouble() const {
  return std::make_shared<StateParameters>(*this);
}

std::shared_ptr<crocoddyl::StateBase> StateParameters::cloneAsFloat() const {
  throw std::runtime_error("StateParameters exists in double precision only");
}

}  // namespace prime
