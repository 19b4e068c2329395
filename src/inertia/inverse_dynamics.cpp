// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "inertia/inverse_dynamics.hpp"

#include <pinocchio/algorithm/center-of-mass.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/regressor.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <stdexcept>

namespace prime {

InverseDynamics::InverseDynamics(const pinocchio::Model& model)
    : model_(model), data_(model_), neutral_(pinocchio::neutral(model_)) {
  if (model_.nv != model_.njoints - 1)
    throw std::invalid_argument("inverse dynamics: joints have one degree of freedom");
}

void InverseDynamics::resize(const Eigen::Index n) {
  const auto nv = model_.nv;
  torque.resize(n, nv);
  for (auto* by : {&by_q, &by_v, &by_a}) by->resize(n * nv, nv);
  by_inertia.resize(n * nv, 10 * nv);
  by_gravity.resize(n * nv, 3);
}

void InverseDynamics::evaluate(const Eigen::VectorXd& pi, const Eigen::Vector3d& gravity,
                               const Rows& q, const Rows& v, const Rows& a) {
  const auto nv = model_.nv;
  if (pi.size() != 10 * nv) throw std::invalid_argument("inverse dynamics: 10 numbers per body");
  for (const auto* rows : {&q, &v, &a})
    if (rows->cols() != nv || rows->rows() != q.rows())
      throw std::invalid_argument("inverse dynamics: q, v and a have one row per instant");
  mass_ = 0.0;
  for (int j = 1; j < model_.njoints; ++j) {
    model_.inertias[j] = pinocchio::Inertia::FromDynamicParameters(pi.segment<10>(10 * (j - 1)));
    mass_ += pi[10 * (j - 1)];
  }
  model_.gravity.linear() = gravity;
  resize(q.rows());
  for (Eigen::Index k = 0; k < q.rows(); ++k)
    instant(k, pinocchio::integrate(model_, neutral_, Eigen::VectorXd(q.row(k))), v.row(k),
            a.row(k));
}

void InverseDynamics::instant(const Eigen::Index k, const Eigen::VectorXd& q,
                              const Eigen::VectorXd& v, const Eigen::VectorXd& a) {
  const auto nv = model_.nv;
  pinocchio::computeRNEADerivatives(model_, data_, q, v, a);
  torque.row(k) = data_.tau;
  by_q.middleRows(k * nv, nv) = data_.dtau_dq;
  by_v.middleRows(k * nv, nv) = data_.dtau_dv;
  by_a.middleRows(k * nv, nv) = data_.M.selfadjointView<Eigen::Upper>();
  by_inertia.middleRows(k * nv, nv) =
      pinocchio::computeJointTorqueRegressor(model_, data_, q, v, a);
  by_gravity.middleRows(k * nv, nv) =
      -mass_ * pinocchio::jacobianCenterOfMass(model_, data_, q, false).transpose();
}

}  // namespace prime
