// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "sensing/leg_forces.hpp"

#include <Eigen/LU>
#include <limits>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <stdexcept>

namespace prime {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

LegForces::LegForces(const pinocchio::Model& model, const std::vector<ContactPoint>& contacts,
                     const std::vector<std::vector<int>>& columns, const double stretched)
    : sole(3, columns.size()),
      rate(3, columns.size()),
      normal(columns.size()),
      model_(model),
      data_(model) {
  for (std::size_t foot = 0; foot < columns.size(); ++foot) {
    Leg leg{{}, columns[foot], {}, {}, {}, {}};
    for (const auto& contact : contacts)
      if (contact.foot == foot) leg.spheres.push_back(contact);
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

void LegForces::evaluate(const ConstRef& q, const ConstRef& v, const ConstRef& a,
                         const ConstRef& torque) {
  pinocchio::computeJointJacobians(model_, data_, q);
  pinocchio::rnea(model_, data_, q, v, a);
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
    normal[foot] = normalForce(leg, lowest, torque);
  }
}

double LegForces::normalForce(Leg& leg, const Vector3d& sole_point, const ConstRef& torque) {
  for (std::size_t k = 0; k < leg.columns.size(); ++k) {
    const int column = leg.columns[k];
    leg.wrench_map.row(k).head<3>() = pointVelocity(data_.J.col(column), sole_point);
    if (leg.wrench_map.cols() == 6) leg.wrench_map.row(k).tail<3>() = data_.J.col(column).tail<3>();
    leg.felt[k] = data_.tau[column] - torque[column];
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
