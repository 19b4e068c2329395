// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "joints/joint_model.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "joints/friction.hpp"

namespace prime {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Quantity = JointQuantity;

namespace {

constexpr const char* kNames[kJointQuantities] = {
    "armature",    "damping",  "dry_friction",      "gear_loss",     "friction_lead",
    "torque_gain", "stribeck", "stribeck_velocity", "torque_offset", "torque_delay"};

constexpr int index(const Quantity quantity) { return static_cast<int>(quantity); }

/// Whether a quantity says what the motors' readings are worth.
constexpr bool isOfReadings(const Quantity quantity) {
  return quantity == Quantity::GearLoss || quantity == Quantity::TorqueGain ||
         quantity == Quantity::TorqueOffset || quantity == Quantity::TorqueDelay;
}

/// Whether a quantity may be below nothing.
constexpr bool isSigned(const Quantity quantity) {
  return quantity == Quantity::TorqueGain || quantity == Quantity::TorqueOffset ||
         quantity == Quantity::TorqueDelay;
}

}  // namespace

JointModel::JointModel(const VectorXd& damping, const VectorXd& dry_friction)
    : value_(MatrixXd::Zero(damping.size(), kJointQuantities)) {
  set(Quantity::Damping, damping);
  set(Quantity::DryFriction, dry_friction);
}

JointModel::Data::Data(const JointModel& model)
    : loss(VectorXd::Zero(model.nj())),
      dloss(loss),
      dturn(loss),
      by_a(loss),
      value(model.value_),
      slope(MatrixXd::Zero(value.rows(), value.cols())),
      torque(loss),
      gain(VectorXd::Ones(model.nj())),
      shift(loss),
      change(loss),
      sign(loss) {}

const char* JointModel::name(const Quantity quantity) { return kNames[index(quantity)]; }

void JointModel::set(const Quantity quantity, const VectorXd& value) {
  if (value.size() != value_.rows())
    throw std::invalid_argument(std::string("joint model: ") + name(quantity) + " of " +
                                std::to_string(value.size()) + " joints, not " +
                                std::to_string(value_.rows()));
  value_.col(index(quantity)) = value;
  const bool any = !value.isZero(0.0);
  reads_torque_ = reads_torque_ || (any && isOfReadings(quantity));
  breaks_away_ = breaks_away_ || (any && quantity == Quantity::Stribeck);
}

void JointModel::estimate(const Quantity quantity, const std::vector<int>& group,
                          const VectorXd& ratio, const double softness) {
  const int groups = group.empty() ? 0 : 1 + *std::max_element(group.begin(), group.end());
  const bool named = std::all_of(group.begin(), group.end(), [](const int g) { return g >= -1; });
  if (group.size() != nj() || ratio.size() != value_.rows() || groups < 1 || !named ||
      !(softness > 0.0))
    throw std::invalid_argument(std::string("joint model: ") + name(quantity) +
                                " needs a group (or -1) and a ratio for each joint, one group or "
                                "more, and a positive softness");
  const Block block{quantity, group, ratio, softness, static_cast<std::size_t>(groups)};
  const auto same = [quantity](const Block& other) { return other.quantity == quantity; };
  const auto found = std::find_if(blocks_.begin(), blocks_.end(), same);
  if (found == blocks_.end())
    blocks_.push_back(block);
  else
    *found = block;
  estimates_armature_ = estimates_armature_ || quantity == Quantity::Armature;
  reads_torque_ = reads_torque_ || isOfReadings(quantity);
  breaks_away_ = breaks_away_ || quantity == Quantity::Stribeck;
}

std::size_t JointModel::nparameters() const {
  std::size_t n = 0;
  for (const auto& block : blocks_) n += block.groups;
  return n;
}

void JointModel::valueOf(const Quantity quantity, const double softness, const double parameter,
                         double& value, double& slope) {
  value = parameter, slope = 1.0;
  if (isSigned(quantity)) return;
  // for p < 0 the sum would lose all digits
  const double root = std::sqrt(parameter * parameter + 4.0 * softness * softness);
  value =
      parameter > 0.0 ? 0.5 * (parameter + root) : 2.0 * softness * softness / (root - parameter);
  slope = value / root;
}

void JointModel::prepare(Data& d, const ConstRef& parameters, const ConstRef& reading,
                         const ConstRef& change) const {
  Eigen::Index first = 0;
  for (const auto& block : blocks_) {
    const int q = index(block.quantity);
    for (std::size_t j = 0; j < nj(); ++j) {
      if (block.group[j] < 0) continue;
      double value, slope;
      valueOf(block.quantity, block.softness, parameters[first + block.group[j]], value, slope);
      d.value(j, q) = block.ratio[j] * value;
      d.slope(j, q) = block.ratio[j] * slope;
    }
    first += static_cast<Eigen::Index>(block.groups);
  }
  if (!reads_torque_) return;
  d.gain = (-d.value.col(index(Quantity::TorqueGain)).array()).exp();
  d.change = change;
  d.shift = d.value.col(index(Quantity::TorqueOffset)) -
            d.value.col(index(Quantity::TorqueDelay)).cwiseProduct(change);
  d.torque = d.gain.cwiseProduct(reading - d.shift);
}

void JointModel::evaluate(Data& d, const ConstRef& rate, const ConstRef& acceleration,
                          const double width) const {
  const double e2 = width * width;
  for (std::size_t j = 0; j < nj(); ++j) {
    const double damping = d.value(j, index(Quantity::Damping));
    double friction = d.value(j, index(Quantity::DryFriction)), unused;
    if (reads_torque_)
      friction += d.value(j, index(Quantity::GearLoss)) * torqueSize(d.torque[j], unused);
    const double lead = d.value(j, index(Quantity::FrictionLead));
    const double ahead = rate[j] + lead * acceleration[j];
    const double root = std::sqrt(ahead * ahead + e2);
    double falling = 0.0;
    if (breaks_away_) {
      const double width = std::max(d.value(j, index(Quantity::StribeckVelocity)), kLeastVelocity);
      const double more = d.value(j, index(Quantity::Stribeck)) * breakaway(rate[j], width);
      friction += more;
      falling = -2.0 * more * rate[j] / (width * width);
    }
    d.sign[j] = ahead / root;
    d.dturn[j] = friction * e2 / (root * root * root);
    d.loss[j] = damping * rate[j] + friction * d.sign[j];
    d.dloss[j] = damping + d.dturn[j] + falling * d.sign[j];
    d.by_a[j] = d.dturn[j] * lead;
  }
  // what the readings are off reaches the links as a loss does
  if (reads_torque_) d.loss += d.gain.cwiseProduct(d.shift);
}

/// Slope of I a - moved of a joint in the value of a quantity.
double JointModel::byValue(const Data& d, const Quantity quantity, const std::size_t j,
                           const double rate, const double acceleration, const double force) {
  const double width = std::max(d.value(j, index(Quantity::StribeckVelocity)), kLeastVelocity);
  double unused;
  switch (quantity) {
    case Quantity::Armature:
      return acceleration;
    case Quantity::Damping:
      return rate;
    case Quantity::DryFriction:
      return d.sign[j];
    case Quantity::GearLoss:
      return torqueSize(d.torque[j], unused) * d.sign[j];
    case Quantity::FrictionLead:
      return d.dturn[j] * acceleration;
    case Quantity::Stribeck:
      return breakaway(rate, width) * d.sign[j];
    case Quantity::StribeckVelocity:
      return d.value(j, index(Quantity::Stribeck)) * breakaway(rate, width) * 2.0 * rate * rate /
             (width * width * width) * d.sign[j];
    default:
      return byMotor(d, quantity, j, force);
  }
}

/// The same of gain, offset and delay of a motor, by which its gear's loss changes too.
double JointModel::byMotor(const Data& d, const Quantity quantity, const std::size_t j,
                           const double force) {
  double by_torque;
  torqueSize(d.torque[j], by_torque);
  by_torque *= d.value(j, index(Quantity::GearLoss)) * d.sign[j];
  if (quantity == Quantity::TorqueGain)
    return d.gain[j] * (force - d.shift[j]) - d.torque[j] * by_torque;
  const double by_shift = d.gain[j] * (1.0 - by_torque);
  return quantity == Quantity::TorqueOffset ? by_shift : -d.change[j] * by_shift;
}

void JointModel::derivatives(const Data& d, const ConstRef& rate, const ConstRef& acceleration,
                             const ConstRef& force, Eigen::Ref<MatrixXd> by_parameters) const {
  by_parameters.setZero();
  Eigen::Index first = 0;
  for (const auto& block : blocks_) {
    for (std::size_t j = 0; j < nj(); ++j)
      if (block.group[j] >= 0)
        by_parameters(j, first + block.group[j]) =
            d.slope(j, index(block.quantity)) *
            byValue(d, block.quantity, j, rate[j], acceleration[j], force[j]);
    first += static_cast<Eigen::Index>(block.groups);
  }
}

void JointModel::addToGains(const ConstRef& change, Eigen::Ref<MatrixXd> by_parameters) const {
  Eigen::Index first = 0;
  for (const auto& block : blocks_) {
    for (std::size_t j = 0; j < nj() && block.quantity == Quantity::TorqueGain; ++j)
      if (block.group[j] >= 0) by_parameters(j, first + block.group[j]) += change[j];
    first += static_cast<Eigen::Index>(block.groups);
  }
}

}  // namespace prime
