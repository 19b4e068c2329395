// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "control/action_whole_body.hpp"

#include <limits>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <stdexcept>

#include "linalg/sizes.hpp"

namespace prime {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

WholeBodyWeights::WholeBodyWeights(const Index nj)
    : joint_position(VectorXd::Zero(nj)),
      joint_velocity(VectorXd::Zero(nj)),
      torque(VectorXd::Zero(nj)),
      largest_torque(VectorXd::Constant(nj, std::numeric_limits<double>::infinity())),
      lowest_position(-largest_torque),
      highest_position(largest_torque) {
  for (auto* w : {&position, &linear_velocity, &orientation, &angular_velocity, &force,
                  &foot_position, &foot_velocity})
    w->setZero();
}

WholeBodyTarget::WholeBodyTarget(const Index nj, const std::size_t points)
    : position(Vector3d::Zero()),
      linear_velocity(Vector3d::Zero()),
      angular_velocity(Vector3d::Zero()),
      rotation(Eigen::Matrix3d::Identity()),
      joint_position(VectorXd::Zero(nj)),
      joint_velocity(VectorXd::Zero(nj)),
      torque(VectorXd::Zero(nj)),
      stands(points, true),
      force(MatrixXd::Zero(points, 3)),
      foot_position(MatrixXd::Zero(points, 3)),
      foot_velocity(MatrixXd::Zero(points, 3)),
      foot_weight(VectorXd::Zero(points)) {}

ActionWholeBody::Data::Data(ActionWholeBody* model) : DataAbstract(model), body(*model->body) {
  const Index nv = model->body->model().nv;
  // forces and their pyramids: three and five rows a point
  const Index rows = 8 * static_cast<Index>(model->body->size());
  q = q_next = VectorXd::Zero(model->body->model().nq);
  dq = VectorXd::Zero(nv);
  move_q = move_v = MatrixXd::Identity(nv, nv);
  rows_x = MatrixXd::Zero(rows, 2 * nv);
  rows_u = MatrixXd::Zero(rows, model->body->nu());
  rows_r = VectorXd::Zero(rows);
}

ActionWholeBody::ActionWholeBody(std::shared_ptr<crocoddyl::StateAbstractTpl<double>> state,
                                 std::shared_ptr<WholeBody> body_,
                                 std::shared_ptr<WholeBodyWeights> weights_, const double dt_)
    : Base(state, body_->nu(), 0),
      body(body_),
      weights(weights_),
      target(body_->nu(), body_->size()),
      dt(dt_) {
  const auto& model = body->model();
  if (state->get_nx() != static_cast<std::size_t>(model.nq + model.nv) ||
      state->get_ndx() != static_cast<std::size_t>(2 * model.nv))
    throw std::invalid_argument("whole-body node: the state must be (q, v) of the model");
  for (const auto* each :
       {&weights->joint_position, &weights->joint_velocity, &weights->torque,
        &weights->largest_torque, &weights->lowest_position, &weights->highest_position})
    requireSize("whole-body node", "a weight of the joints", each->size(), body->nu());
  if (!(dt > 0.0)) throw std::invalid_argument("whole-body node: its duration must be positive");
}

void ActionWholeBody::calc(const std::shared_ptr<DataAbstract>& data, const ConstRef& x,
                           const ConstRef& u) {
  auto& d = static_cast<Data&>(*data);
  const auto& model = body->model();
  body->step(d.body, x.head(model.nq), x.tail(model.nv), u, target.stands, dt);
  d.dq = 0.5 * dt * (x.tail(model.nv) + d.body.v_next);
  d.q = x.head(model.nq);
  pinocchio::integrate(model, d.q, d.dq, d.q_next);
  d.xnext.head(model.nq) = d.q_next;
  d.xnext.tail(model.nv) = d.body.v_next;
  d.cost = dt * (stateCost(x) + footCost(d, x) + controlCost(u) + forceCost(d));
}

void ActionWholeBody::calc(const std::shared_ptr<DataAbstract>& data, const ConstRef& x) {
  auto& d = static_cast<Data&>(*data);
  body->place(d.body, x.head(body->model().nq));
  d.xnext = x;
  d.cost = dt * (stateCost(x) + footCost(d, x));
}

void ActionWholeBody::calcDiff(const std::shared_ptr<DataAbstract>& data, const ConstRef& x,
                               const ConstRef& u) {
  auto& d = static_cast<Data&>(*data);
  const auto& model = body->model();
  body->differentiate(d.body, x.head(model.nq), x.tail(model.nv));
  motionSlopes(d, x);
  d.Lx.setZero();
  d.Lxx.setZero();
  d.Lxu.setZero();
  stateSlopes(d, x);
  footSlopes(d, x);
  controlSlopes(d, u);
  forceSlopes(d);
  for (auto* slope : {&d.Lxx, &d.Lxu, &d.Luu}) *slope *= dt;
  d.Lx *= dt;
  d.Lu *= dt;
}

void ActionWholeBody::calcDiff(const std::shared_ptr<DataAbstract>& data, const ConstRef& x) {
  auto& d = static_cast<Data&>(*data);
  d.Lx.setZero();
  d.Lxx.setZero();
  stateSlopes(d, x);
  footSlopes(d, x);
  d.Lx *= dt;
  d.Lxx *= dt;
}

void ActionWholeBody::motionSlopes(Data& d, const ConstRef& x) const {
  const auto& model = body->model();
  const Index nv = model.nv;
  constexpr int b = WholeBody::kBase;
  d.q = x.head(model.nq);
  pinocchio::dIntegrate(model, d.q, d.dq, d.move_q, pinocchio::ARG0);
  pinocchio::dIntegrate(model, d.q, d.dq, d.move_v, pinocchio::ARG1);
  const auto base = d.move_v.topLeftCorner<b, b>();  // joints move as they are told
  const double half = 0.5 * dt;
  const auto advance = [&](Eigen::Ref<MatrixXd> out, const MatrixXd& slope) {
    out.topRows(b).noalias() = half * base * slope.topRows(b);
    out.bottomRows(nv - b) = half * slope.bottomRows(nv - b);
  };
  advance(d.Fx.topLeftCorner(nv, nv), d.body.v_q);
  advance(d.Fx.topRightCorner(nv, nv), d.body.v_v);
  advance(d.Fu.topRows(nv), d.body.v_u);
  d.Fx.block<b, b>(0, nv) += half * base;
  d.Fx.topRightCorner(nv, nv).diagonal().tail(nv - b).array() += half;
  d.Fx.topLeftCorner<b, b>() += d.move_q.topLeftCorner<b, b>();
  d.Fx.topLeftCorner(nv, nv).diagonal().tail(nv - b).array() += 1.0;
  d.Fx.bottomLeftCorner(nv, nv) = d.body.v_q;
  d.Fx.bottomRightCorner(nv, nv) = d.body.v_v;
  d.Fu.bottomRows(nv) = d.body.v_u;
}

std::shared_ptr<crocoddyl::ActionModelBase> ActionWholeBody::cloneAsDouble() const {
  return std::make_shared<ActionWholeBody>(*this);
}

std::shared_ptr<crocoddyl::ActionModelBase> ActionWholeBody::cloneAsFloat() const {
  throw std::runtime_error("whole-body nodes exist in double precision only");
}

}  // namespace prime
