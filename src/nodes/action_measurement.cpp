// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// Value of a running node: its dynamics, its residual, the weights of outliers.
#include "nodes/action_measurement.hpp"
#include "linalg/solve_error.hpp"

#include <algorithm>
#include <cmath>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <stdexcept>
#include <string>
#include <utility>

namespace prime {

using Eigen::Matrix3d;
using Eigen::VectorXd;

namespace {

constexpr double kLeastWeight = 1e-12;  ///< of a row that is not absent

/// Disturbance of the inverse form, of the joints in units of their readings.
void disturbanceOf(const ContactDynamics::Data& dynamics, const double dt, VectorXd& force) {
  force = dynamics.out.g / dt;
  force.tail(dynamics.joints.gain.size()).array() /= dynamics.joints.gain.array();
}

}  // namespace

ActionMeasurement::ActionMeasurement(std::shared_ptr<StateParameters> state,
                                     std::shared_ptr<const MeasurementModel> model_,
                                     const bool inverse_)
    : ActionSecondOrder(state, model_->dynamics->nv(), model_->dynamics->nj(),
                        model_->dynamics->nxi(), model_->denseRows(), model_->np(),
                        model_->dynamics->options.dt, inverse_),
      input(std::make_shared<NodeInput>(model_)),
      model(model_),
      dynamics(model_->dynamics),
      row_encoder_(nv_ + nxi_),
      row_rate_(row_encoder_ + nj_),
      row_dense_(row_rate_ + nj_),
      row_step_(nr_ - model_->stepRows()),
      first_height_(model_->dynamics->ntheta()) {
  if (state->get_nx() != dynamics->nq() + nv_ + np || state->get_ndx() != 2 * nv_ + np)
    throw std::invalid_argument("node: the state must be (q, v, p) of its measurement model");
}

/// The step that x and u ask for. In the inverse form the force is the measured one.
void ActionMeasurement::setPoint(Data& d, const ConstRef& x, const ConstRef& u) const {
  auto& point = d.point;
  const auto nq = dynamics->nq();
  point.q = x.head(nq);
  point.v = x.segment(nq, nv_);
  point.force << input->base_wrench, input->torque;
  point.force += input->outer_force;
  point.reading = input->torque;
  point.reading_change = input->torque_change;
  if (!inverse) point.force += u.head(nv_);
  point.xi = u.tail(nxi_);
  point.parameters = x.segment(nq + nv_, dynamics->nparameters());
  dynamics->moveGround(point, input->height_offset.array() - input->ground_depth,
                       input->slope_offset.array());
  point.anchor = dynamics->anchor + input->anchor_offset;
  point.law = input->law;
  point.stance = input->stance;
}

/// v+ of the forward form. The window evaluates a node again and again at the same point: nothing
/// is done twice.
void ActionMeasurement::solveDynamics(Data& d, const ConstRef& x, const ConstRef& u) const {
  auto& dyn = d.dynamics;
  const bool guessed = std::exchange(d.has_guess, false);
  setPoint(d, x, u);
  if (d.solved && dyn.at == d.point) return;
  // the best start is a prediction, then the last solution of the same node; after a failure or for
  // another node it is the velocity
  if (guessed)
    d.q_step = d.guess;
  else if (d.solved && d.input == input.get())
    d.q_step = dyn.out.vplus;
  else
    d.q_step = d.point.v;
  d.solved.reset();
  d.solved = dynamics->solve(dynamics->prepare(dyn, d.point), d.q_step);
  d.input = input.get();
}

void ActionMeasurement::calc(const std::shared_ptr<DataAbstract>& data, const ConstRef& x,
                             const ConstRef& u) {
  auto& d = static_cast<Data&>(*data);
  const auto nq = dynamics->nq();
  if (inverse) {
    setPoint(d, x, u);
    d.solved.reset();
    d.solved = dynamics->residual(dynamics->prepare(d.dynamics, d.point), u.head(nv_));
    disturbanceOf(d.dynamics, dt, d.force);
    d.r.head(nv_) = input->weight_force.cwiseProduct(d.force);
  } else {
    solveDynamics(d, x, u);
    d.r.head(nv_) = input->weight_force.cwiseProduct(u.head(nv_));
  }
  d.r.segment(nv_, nxi_) = input->weight_xi.cwiseProduct(u.tail(nxi_));
  const auto& next = d.dynamics.out.vplus;
  d.q_step = dt * next;
  pinocchio::integrate(dynamics->model(), d.point.q, d.q_step, d.q_next);
  d.xnext.head(nq) = d.q_next;
  d.xnext.segment(nq, nv_) = next;
  d.xnext.tail(np) = x.tail(np);
  if (dynamics->ncone() > 0) dynamics->cone(*d.solved);
  directResidual(d, x);
  sensorResidual(d, x, true);
  sumUp(d);
}

void ActionMeasurement::calc(const std::shared_ptr<DataAbstract>& data, const ConstRef& x) {
  auto& d = static_cast<Data&>(*data);
  d.r.head(nv_ + nxi_).setZero();
  directResidual(d, x);
  sensorResidual(d, x, false);
  d.xnext = x;
  sumUp(d);
}

/// Joint positions and rates. A difference on the manifold, since continuous joints have more
/// coordinates than rates.
void ActionMeasurement::directResidual(Data& d, const ConstRef& x) const {
  const auto nq = dynamics->nq();
  const auto& in = *input;
  d.q = x.head(nq);
  pinocchio::difference(dynamics->model(), in.encoders.value, d.q, d.dq);
  d.r.segment(row_encoder_, nj_) = in.encoders.weight.cwiseProduct(d.dq.tail(nj_));
  d.r.segment(row_rate_, nj_) =
      in.rates.weight.cwiseProduct(x.segment(nq + nv_ - nj_, nj_) - in.rates.value);
}

NodePoint ActionMeasurement::pointOf(Data& d, const ConstRef& x, const bool step) const {
  const auto nq = dynamics->nq();
  const Matrix3d R = dynamics->floating_base
                         ? Eigen::Quaterniond(x[6], x[3], x[4], x[5]).toRotationMatrix()
                         : Matrix3d::Identity();
  return {x.head(nq), x.segment(nq, nv_),           x.tail(np),
          R,          step ? &d.dynamics : nullptr, dynamics.get(),
          dt};
}

/// Rows of the sensors, whitened; `step`: also of those that look at the step that follows.
void ActionMeasurement::sensorResidual(Data& d, const ConstRef& x, const bool step) const {
  const auto at = pointOf(d, x, step);
  const auto& entries = model->entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& residual = *entries[i].residual;
    const auto& reading = input->readings[i];
    auto rows = d.r.segment(row_dense_ + entries[i].row, residual.rows);
    if (!reading.present() || (residual.when == Residual::When::Step && !step)) {
      rows.setZero();
      continue;
    }
    residual.value(at, reading, d.scratch[i].get(), rows);
    rows.array() *= reading.weight.array();
  }
}

/// The cost of the residual. Throws SolveError that names what is not finite.
void ActionMeasurement::sumUp(Data& d) const {
  d.cost = 0.5 * d.r.squaredNorm();
  if (std::isfinite(d.cost)) return;
  Eigen::Index row = 0;
  while (row < d.r.size() - 1 && std::isfinite(d.r[row] * d.r[row])) ++row;
  throw SolveError("the residual of the " + nameOfRow(row) + " is not finite");
}

std::string ActionMeasurement::nameOfRow(const std::size_t row) const {
  std::string name;
  for (const auto& rows : model->rows())
    if (row >= std::size_t(rows.first) && rows.size > 0) name = rows.name;
  return name;
}

namespace {

/// Degrees of freedom from which tails are as light as a Gaussian's: nothing is an outlier.
constexpr double kLight = 1e6;
/// Deviations beyond which an outlier weighs no less: else nothing holds it, and it goes where
/// round-off takes it.
constexpr double kFarthest = 1e3;

/// Weights of `size` components from `start` that are an outlier together; e: what they are.
template <class Error>
void reweightGroup(const double dof, const VectorXd& nominal, const Error& e, VectorXd& weight,
                   const int start, const int size) {
  if (std::isinf(dof)) return;
  const double square =
      nominal.segment(start, size).cwiseProduct(e.segment(start, size)).squaredNorm();
  const double felt = dof + std::min(square, kFarthest * kFarthest);
  weight.segment(start, size) =
      std::min(1.0, std::sqrt((dof + size) / felt)) * nominal.segment(start, size);
}

}  // namespace

void ActionMeasurement::reweight(const std::shared_ptr<DataAbstract>& data, Eigen::Ref<VectorXd> u,
                                 const HeavyTails& tails) {
  auto& d = static_cast<Data&>(*data);
  auto& in = *input;
  if (inverse)
    disturbanceOf(d.dynamics, dt, d.force);
  else
    d.force = u.head(nv_);
  const auto xi = u.tail(nxi_);
  for (std::size_t f = 0; f < dynamics->nfeet(); ++f)
    reweightGroup(tails.contact, in.nominal_xi, xi, in.weight_xi, dynamics->foot_xi[f],
                  dynamics->foot_xi_size[f]);
  findUnmodelled(d, tails.force);
  if (!inverse) u.head(nv_) = d.force;  // the same motion
  reweightForces(d, tails.force);
  d.r.head(nv_) = in.weight_force.cwiseProduct(d.force);
  d.r.segment(nv_, nxi_) = in.weight_xi.cwiseProduct(xi);
  reweightReadings(d, tails.reading);
  d.cost = 0.5 * d.r.squaredNorm();
}

/// Forces at the feet that the torques of their legs tell; w without them goes to `d.force`.
void ActionMeasurement::findUnmodelled(Data& d, const double dof) const {
  auto& in = *input;
  d.needed = d.force + in.outer_force;
  d.brought.setZero();
  in.outer_force.setZero();
  if (in.weighed && dof < kLight && !model->unmodelled.empty()) {
    const auto& J = d.dynamics.out.J;
    auto stddev = d.rhs.col(0);  // scratch: D is made from G anew
    stddev = in.nominal_force.cwiseInverse();
    model->unmodelled.expect({d.dynamics.at.q, J, d.needed, stddev, dof}, d.unmodelled);
    for (std::size_t i = 0; i < d.unmodelled.size(); ++i) {
      const auto& found = d.unmodelled[i];
      if (found.mean.isZero(0.0)) continue;
      const auto J_i = J.middleRows<3>(3 * i);
      in.outer_force.noalias() += J_i.transpose() * found.mean;
      for (Eigen::Index k = 0; k < d.brought.size(); ++k)
        d.brought[k] += J_i.col(k).dot(found.covariance * J_i.col(k));
    }
  }
  d.force = d.needed - in.outer_force;
}

/// Weights of base and joints, from what is left of w: of joints that tell a force at their foot
/// from all of it, for that is what they are asked for.
void ActionMeasurement::reweightForces(Data& d, const double dof) const {
  auto& in = *input;
  const int nb = nv_ - nj_;
  for (int part = 0; part < nb && in.weighed; part += 3)
    reweightGroup(dof, in.nominal_force, d.force, in.weight_force, part, 3);
  for (int k = 0; k < nb; ++k)
    if (d.brought[k] > 0.0)
      in.weight_force[k] /= std::sqrt(1.0 + d.brought[k] * std::pow(in.nominal_force[k], 2));
  for (int j = nb; j < nv_; ++j)
    reweightGroup(dof, in.nominal_force, d.needed, in.weight_force, j, 1);
}

/// Readings that can be outliers, at their residuals of the last calc.
void ActionMeasurement::reweightReadings(Data& d, const double dof) const {
  const auto& entries = model->entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto groups = entries[i].residual->outliers();
    auto& reading = input->readings[i];
    if (groups.empty() || !reading.present()) continue;
    auto rows = d.r.segment(row_dense_ + entries[i].row, entries[i].residual->rows);
    const VectorXd e = rows.cwiseQuotient(reading.weight.cwiseMax(kLeastWeight));
    int start = 0;
    for (const int size : groups) {
      reweightGroup(dof, reading.nominal, e, reading.weight, start, size);
      start += size;
    }
    rows = reading.weight.cwiseProduct(e);
  }
}

}  // namespace prime
