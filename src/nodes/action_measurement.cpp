// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// What a running node is given, its dynamics and residuals, the weights of outliers.
#include "nodes/action_measurement.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <stdexcept>
#include <string>
#include <utility>

namespace prime {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

ParameterLayout ParameterLayout::make(const ContactDynamics& dynamics, const bool imu,
                                      const bool mocap) {
  ParameterLayout l;
  auto take = [&l](int& offset, const std::size_t n) {
    if (n == 0) return;
    offset = l.size;
    l.size += static_cast<int>(n);
  };
  take(l.theta, dynamics.ntheta());
  take(l.accelerometer_bias, imu ? 3 : 0);
  take(l.gyro_bias, imu ? 3 : 0);
  take(l.height, dynamics.nfeet());
  take(l.friction, dynamics.nc() > 0 ? 1 : 0);
  take(l.mocap, mocap ? 3 : 0);
  return l;
}

NodeInput::NodeInput(const ContactDynamics& d)
    : position(pinocchio::neutral(d.model())),
      velocity(VectorXd::Zero(d.nj())),
      torque(velocity),
      base_wrench(VectorXd::Zero(d.nv() - d.nj())),
      gyro(Vector3d::Zero()),
      accelerometer(Vector3d::Zero()),
      orientation(Matrix3d::Identity()),
      weight_position(velocity),
      weight_velocity(velocity),
      weight_force(VectorXd::Zero(d.nv())),
      weight_xi(VectorXd::Zero(d.nxi())),
      nominal_force(weight_force),
      nominal_xi(weight_xi),
      stance(d.nfeet(), Stance::Open) {}

ActionMeasurement::ActionMeasurement(std::shared_ptr<StateParameters> state,
                                     std::shared_ptr<ContactDynamics> dynamics_,
                                     const ParameterLayout& layout_, const ImuMount& mount_,
                                     const VectorXd& nominal_, const bool inverse_)
    : ActionSecondOrder(state, dynamics_->nv(), dynamics_->nj(), dynamics_->nxi(),
                        9 + kPoseRows + dynamics_->ncone(), layout_.size, dynamics_->options.dt,
                        inverse_),
      input(std::make_shared<NodeInput>(*dynamics_)),
      dynamics(dynamics_),
      layout(layout_),
      mount(mount_),
      nominal(nominal_) {
  if (nominal.size() != static_cast<int>(dynamics->ntheta() + dynamics->nfeet() + 1))
    throw std::invalid_argument(
        "nominal parameters: theta of every link, one height per foot, log friction");
  row_encoder_ = nv_ + nxi_;
  row_rate_ = row_encoder_ + nj_;
  row_gyro_ = row_rate_ + nj_;
  row_tilt_ = row_gyro_ + 3;
  row_pose_ = row_tilt_ + 3;
  row_cone_ = row_pose_ + kPoseRows;
  row_accelerometer_ = row_cone_ + dynamics->ncone();
  if (dynamics->floating_base)
    takeSensorColumns();
  else if (dynamics->ncone() > 0)
    throw std::invalid_argument("rigid contacts need a floating base");
  if (dynamics->ncone() > 0) takeConeColumns();
}

int ActionMeasurement::takeColumns(const int start, const int size) {
  const int at = columns_.size();
  for (int i = 0; i < size; ++i) columns_.push_back(start + i);
  return at;
}

void ActionMeasurement::takeSensorColumns() {
  const int q = nu_, p = q + 2 * nv_;
  takeColumns(nxi_, 6);  // kNext
  takeColumns(q, 6);
  takeColumns(q + nv_, 6);
  column_gyro_ = layout.gyro_bias >= 0 ? takeColumns(p + layout.gyro_bias, 3) : -1;
  column_accelerometer_ =
      layout.accelerometer_bias >= 0 ? takeColumns(p + layout.accelerometer_bias, 3) : -1;
  column_mocap_ = layout.mocap >= 0 ? takeColumns(p + layout.mocap, 3) : -1;
  column_chain_ = columns_.size();
  for (const int start : {nxi_, q, q + nv_})
    for (const auto& joint : mount.joints()) takeColumns(start + joint.v, 1);
}

/// After those of the sensors, which it shares.
void ActionMeasurement::takeConeColumns() {
  const int p = nu_ + 2 * nv_;
  std::vector<int> place(p + layout.size, -1);
  for (std::size_t i = 0; i < columns_.size(); ++i) place[columns_[i]] = i;
  auto find = [&](const int z) { return place[z] >= 0 ? place[z] : takeColumns(z, 1); };
  for (int z = 0; z < p; ++z) column_cone_.push_back(find(z));
  for (std::size_t f = 0; layout.height >= 0 && f < dynamics->nfeet(); ++f)
    column_cone_.push_back(find(p + layout.height + f));
  if (layout.friction >= 0) column_cone_.push_back(find(p + layout.friction));
}

bool ActionMeasurement::setParameters(Data& d, const ConstRef& x) const {
  const auto p = x.tail(layout.size);
  const auto nt = dynamics->ntheta(), nf = dynamics->nfeet();
  d.theta = nominal.head(nt);
  d.height = nominal.segment(nt, nf);
  if (layout.theta >= 0) d.theta = p.segment(layout.theta, nt);
  if (layout.height >= 0) d.height = p.segment(layout.height, nf);
  d.height.array() -= input->ground_depth;
  const double log_friction = layout.friction >= 0 ? p[layout.friction] : nominal[nt + nf];
  return dynamics->setParameters(d.dynamics, d.theta, d.height, std::exp(log_friction));
}

/// v+ of the forward form. The window evaluates a node again and again at the same point: nothing
/// is done twice.
void ActionMeasurement::solveDynamics(Data& d, const ConstRef& x, const ConstRef& u) const {
  const auto q = x.head(dynamics->nq()), v = x.segment(dynamics->nq(), nv_);
  const auto xi = u.tail(nxi_);
  auto& dyn = d.dynamics;
  d.force << input->base_wrench, input->torque;
  d.force += u.head(nv_);
  const bool guessed = std::exchange(d.has_guess, false);
  bool moved = setParameters(d, x) || dyn.law_now.kappa != dynamics->options.law.kappa;
  moved |= dynamics->setStance(dyn, input->stance);
  if (d.solved && !moved && dyn.q == q && dyn.v == v && dyn.force == d.force && dyn.xi == xi)
    return;
  // the best start is a prediction, then the last solution of the same node; after a failure or for
  // another node it is the velocity
  if (guessed)
    d.q_step = d.guess;
  else if (d.solved && d.input == input.get())
    d.q_step = dyn.vplus;
  else
    d.q_step = v;
  d.solved = false;
  dynamics->prepare(dyn, q, v, d.force, xi);
  dynamics->solve(dyn, d.q_step);
  d.solved = true;
  d.input = input.get();
}

void ActionMeasurement::calc(const std::shared_ptr<DataAbstract>& data, const ConstRef& x,
                             const ConstRef& u) {
  auto& d = static_cast<Data&>(*data);
  const auto nq = dynamics->nq();
  if (inverse) {
    setParameters(d, x);
    dynamics->setStance(d.dynamics, input->stance);
    d.force << input->base_wrench, input->torque;
    dynamics->prepare(d.dynamics, x.head(nq), x.segment(nq, nv_), d.force, u.tail(nxi_));
    dynamics->residual(d.dynamics, u.head(nv_));
    d.r.head(nv_) = input->weight_force.cwiseProduct(d.dynamics.g) / dt;
  } else {
    solveDynamics(d, x, u);
    d.r.head(nv_) = input->weight_force.cwiseProduct(u.head(nv_));
  }
  d.r.segment(nv_, nxi_) = input->weight_xi.cwiseProduct(u.tail(nxi_));
  d.q_step = dt * d.dynamics.vplus;
  pinocchio::integrate(dynamics->model(), x.head(nq), d.q_step, d.xnext.head(nq));
  d.xnext.segment(nq, nv_) = d.dynamics.vplus;
  d.xnext.tail(np) = x.tail(np);
  stateResidual(d, x);
  coneResidual(d);
  accelerometer(d, x);
  sumUp(d);
}

void ActionMeasurement::calc(const std::shared_ptr<DataAbstract>& data, const ConstRef& x) {
  auto& d = static_cast<Data&>(*data);
  d.r.head(nv_ + nxi_).setZero();
  d.r.tail(nr_ - row_cone_).setZero();
  stateResidual(d, x);
  d.xnext = x;
  sumUp(d);
}

/// The cost of the residual. Throws std::runtime_error that names what is not finite.
void ActionMeasurement::sumUp(Data& d) const {
  d.cost = 0.5 * d.r.squaredNorm();
  if (std::isfinite(d.cost)) return;
  const std::size_t row =
      std::find_if(d.r.begin(), d.r.end(), [](const double r) { return !std::isfinite(r * r); }) -
      d.r.begin();
  const std::size_t contact = nv_;
  const std::pair<std::size_t, const char*> parts[] = {
      {row_accelerometer_, "specific force"}, {row_cone_, "wrench cone"},
      {row_pose_, "motion capture pose"},     {row_tilt_, "attitude of the IMU"},
      {row_gyro_, "angular velocity"},        {row_rate_, "joint rates"},
      {row_encoder_, "joint positions"},      {contact, "contact disturbance"}};
  const auto* part = std::find_if(std::begin(parts), std::end(parts),
                                  [row](const auto& p) { return row >= p.first; });
  const char* name = part == std::end(parts) ? "generalized force" : part->second;
  throw std::runtime_error(std::string("the residual of the ") + name + " is not finite");
}

void ActionMeasurement::coneResidual(Data& d) const {
  const auto n = dynamics->ncone();
  if (n == 0) return;
  dynamics->cone(d.dynamics);
  d.r.segment(row_cone_, n) = input->weight_cone / dt * d.dynamics.cone.h.cwiseMax(0.0);
}

void ActionMeasurement::reweight(const std::shared_ptr<DataAbstract>& data, const ConstRef& u,
                                 const HeavyTails& tails) {
  auto& d = static_cast<Data&>(*data);
  auto& in = *input;
  if (inverse)
    d.force = d.dynamics.g / dt;
  else
    d.force = u.head(nv_);
  // what is an outlier together: `size` components from `start`
  auto group = [](const double dof, const VectorXd& nominal, const auto& e, VectorXd& weight,
                  const int start, const int size) {
    if (std::isinf(dof)) return;
    const double square =
        nominal.segment(start, size).cwiseProduct(e.segment(start, size)).squaredNorm();
    weight.segment(start, size) =
        std::min(1.0, std::sqrt((dof + size) / (dof + square))) * nominal.segment(start, size);
  };
  const auto xi = u.tail(nxi_);
  for (std::size_t f = 0; f < dynamics->nfeet(); ++f)
    group(tails.contact, in.nominal_xi, xi, in.weight_xi, dynamics->foot_xi[f],
          dynamics->foot_xi_size[f]);
  const int nb = nv_ - nj_;
  for (int part = 0; part < nb; part += 3)
    group(tails.force, in.nominal_force, d.force, in.weight_force, part, 3);
  for (int j = nb; j < nv_; ++j)
    group(tails.force, in.nominal_force, d.force, in.weight_force, j, 1);
  d.r.head(nv_) = in.weight_force.cwiseProduct(d.force);
  d.r.segment(nv_, nxi_) = in.weight_xi.cwiseProduct(xi);
}

}  // namespace prime
