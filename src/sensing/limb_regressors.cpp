// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "sensing/limb_regressors.hpp"

#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/regressor.hpp>
#include <stdexcept>
#include <string>

namespace prime {

LimbRegressors::LimbRegressors(const pinocchio::Model& model,
                               const std::vector<std::vector<int>>& limbs)
    : model_(model), data_(model), limbs_(limbs) {
  for (const auto& joints : limbs_) {
    for (const int j : joints)
      if (j < 1 || j >= model.njoints)
        throw std::invalid_argument("limb regressors: the model has no joint " + std::to_string(j));
    if (joints.empty()) throw std::invalid_argument("limb regressors: a limb has joints");
    out_.emplace_back(joints.size(), 4);
  }
}

const std::vector<Eigen::MatrixXd>& LimbRegressors::evaluate(const ConstRef& q, const ConstRef& v,
                                                             const ConstRef& a) {
  pinocchio::forwardKinematics(model_, data_, q, v, a);
  pinocchio::computeJointJacobians(model_, data_);
  Eigen::MatrixXd body = Eigen::MatrixXd::Zero(6, 10);
  for (std::size_t i = 0; i < limbs_.size(); ++i) {
    const int last = limbs_[i].back();
    const auto& world_M_link = data_.oMi[last];
    pinocchio::bodyRegressor(data_.v[last], data_.a[last] - world_M_link.actInv(model_.gravity),
                             body);
    for (std::size_t k = 0; k < limbs_[i].size(); ++k) {
      const pinocchio::Motion column(data_.J.col(model_.joints[limbs_[i][k]].idx_v()));
      out_[i].row(k).noalias() =
          world_M_link.actInv(column).toVector().transpose() * body.leftCols<4>();
    }
  }
  return out_;
}

}  // namespace prime
