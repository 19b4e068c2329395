// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "sensing/leg_forces.hpp"

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <pinocchio/algorithm/center-of-mass.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <stdexcept>

#include "joints/friction.hpp"
#include "linalg/sizes.hpp"

namespace prime {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

const double kFrictionVelocity = DynamicsOptions().friction_velocity;  ///< e [rad/s]
constexpr int kFreeFlyer = 7;  ///< coordinates of a floating base

}  // namespace

LegForces::LegForces(const pinocchio::Model& model, const std::vector<ContactPoint>& contacts,
                     const std::vector<std::vector<int>>& columns, const double stretched)
    : sole(3, columns.size()),
      rate(3, columns.size()),
      normal(columns.size()),
      model_(model),
      data_(model),
      mass_(pinocchio::computeTotalMass(model)),
      torque_(VectorXd::Zero(model.nv)),
      q_(VectorXd::Zero(model.nq)),
      v_(torque_),
      a_(torque_) {
  if (model.njoints < 2) throw std::invalid_argument("leg forces: a model without any joint");
  const VectorXd none = VectorXd::Zero(model.nv - model.joints[1].nv());
  losses_ = {none, none, none, none, none.array() + 1.0, none, none, none.array() + 1.0};
  for (std::size_t foot = 0; foot < columns.size(); ++foot) {
    Leg leg{{}, columns[foot], {}, {}, {}, {}};
    for (const auto& contact : contacts)
      if (contact.foot == foot) leg.spheres.push_back(contact);
    const auto isOutside = [&model](const int column) { return column < 0 || column >= model.nv; };
    if (std::any_of(leg.columns.begin(), leg.columns.end(), isOutside) ||
        (!leg.spheres.empty() && leg.spheres.front().joint >= std::size_t(model.njoints)))
      throw std::invalid_argument("leg forces: a leg has joints that the model does not have");
    if (leg.spheres.empty() || leg.columns.empty())
      throw std::invalid_argument("leg forces: a foot has contacts, and joints that are its own");
    const Eigen::Index joints = leg.columns.size(), rows = leg.spheres.size() == 1 ? 3 : 6;
    leg.wrench_map.resize(joints, rows);
    leg.felt.resize(joints);
    leg.wrench.resize(rows);
    leg.svd = Eigen::JacobiSVD<MatrixXd>(joints, rows, Eigen::ComputeThinU | Eigen::ComputeThinV);
    leg.svd.setThreshold(stretched);
    legs_.push_back(std::move(leg));
  }
}

void LegForces::setLosses(const Losses& losses) {
  for (const auto* part :
       {&losses.added_armature, &losses.damping, &losses.dry_friction, &losses.gear_loss,
        &losses.gain, &losses.offset, &losses.stribeck, &losses.stribeck_velocity})
    if (part->size() != losses_.gain.size())
      throw std::invalid_argument("leg forces: one loss of each kind per joint behind the base");
  losses_ = losses;
}

/// Torques at the links from readings of the motors.
void LegForces::takeLosses(const ConstRef& rate, const ConstRef& acceleration,
                           const ConstRef& reading) {
  const auto& l = losses_;
  const auto nj = l.gain.size();
  if (reading.size() != nj)
    throw std::invalid_argument("leg forces: one torque per joint behind the base");
  auto torque = torque_.tail(nj);
  for (Eigen::Index j = 0; j < nj; ++j) {
    const double r = rate[j], moved = l.gain[j] * (reading[j] - l.offset[j]);
    const double sign = r / std::sqrt(r * r + kFrictionVelocity * kFrictionVelocity);
    double friction = l.dry_friction[j], unused;
    if (l.stribeck[j] != 0.0) friction += l.stribeck[j] * breakaway(r, l.stribeck_velocity[j]);
    if (l.gear_loss[j] != 0.0) friction += l.gear_loss[j] * torqueSize(moved, unused);
    torque[j] =
        moved - (l.damping[j] * r + friction * sign) - l.added_armature[j] * acceleration[j];
  }
}

double LegForces::carriedAtRest(const Vector3d& force, const ConstRef& position,
                                const ConstRef& rate, const ConstRef& torque) {
  requireSize("leg forces", "position", position.size(), model_.nq - kFreeFlyer);
  requireSize("leg forces", "rate", rate.size(), losses_.gain.size());
  q_.setZero();
  q_.segment<4>(3) =
      Eigen::Quaterniond::FromTwoVectors(force / force.norm(), Vector3d::UnitZ()).coeffs();
  q_.tail(model_.nq - kFreeFlyer) = position;
  v_.setZero();
  v_.tail(rate.size()) = rate;
  a_.setZero();
  evaluate(q_, v_, a_, torque);
  double sum = 0.0;
  for (const double part : normal) sum += part;
  return sum;
}

void LegForces::evaluate(const ConstRef& q, const ConstRef& v, const ConstRef& a,
                         const ConstRef& torque) {
  const auto nj = losses_.gain.size();
  requireSize("leg forces", "q", q.size(), model_.nq);
  requireSize("leg forces", "v", v.size(), model_.nv);
  requireSize("leg forces", "a", a.size(), model_.nv);
  requireSize("leg forces", "torque", torque.size(), nj);
  takeLosses(v.tail(nj), a.tail(nj), torque);
  pinocchio::computeJointJacobians(model_, data_, q);
  pinocchio::rnea(model_, data_, q, v, a);
  felt = data_.oMi[1].rotation().row(2).dot(data_.f[1].linear()) / mass_;
  for (std::size_t foot = 0; foot < legs_.size(); ++foot) {
    Leg& leg = legs_[foot];
    const std::size_t joint = leg.spheres.front().joint;
    Vector3d lowest = Vector3d::Constant(std::numeric_limits<double>::infinity());
    for (const auto& sphere : leg.spheres) {
      const Vector3d bottom =
          data_.oMi[joint].act(sphere.position) - sphere.radius * Vector3d::UnitZ();
      if (bottom.z() < lowest.z()) lowest = bottom;
    }
    sole.col(foot) = lowest;
    rate.col(foot) = pointVelocity(data_.oMi[joint].act(data_.v[joint]), lowest);
    normal[foot] = normalForce(leg, lowest);
  }
}

double LegForces::normalForce(Leg& leg, const Vector3d& sole_point) {
  for (std::size_t k = 0; k < leg.columns.size(); ++k) {
    const int column = leg.columns[k];
    leg.wrench_map.row(k).head<3>() = pointVelocity(data_.J.col(column), sole_point);
    if (leg.wrench_map.cols() == 6) leg.wrench_map.row(k).tail<3>() = data_.J.col(column).tail<3>();
    leg.felt[k] = data_.tau[column] - torque_[column];
  }
  if (!leg.felt.allFinite()) return std::numeric_limits<double>::quiet_NaN();
  if (leg.wrench_map.rows() == 3 && leg.wrench_map.cols() == 3) {
    // three joints and a force: far from a stretched leg there is one answer
    const Eigen::Matrix3d map = leg.wrench_map, inverse = map.inverse();
    if (map.norm() * inverse.norm() * leg.svd.threshold() < 1.0) return inverse.row(2) * leg.felt;
  }
  leg.svd.compute(leg.wrench_map);
  leg.wrench = leg.svd.solve(leg.felt);
  return leg.wrench[2];
}

}  // namespace prime
