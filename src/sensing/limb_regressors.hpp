// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <Eigen/Core>
#include <pinocchio/multibody/data.hpp>
#include <pinocchio/multibody/model.hpp>
#include <vector>

namespace prime {

/// Torques of limbs due to loads that their last links carry.
///
///     tau = J^T Y (dm, d(m c))
///
/// Y: columns of mass and first moment of the last link's body regressor, J: Jacobian of that link,
/// both in its own axes, at a motion of the nominal robot.
class LimbRegressors {
 public:
  using ConstRef = Eigen::Ref<const Eigen::VectorXd>;

  /// @param limbs  ids of the joints of each limb, root first; the last one carries the last link.
  LimbRegressors(const pinocchio::Model& model, const std::vector<std::vector<int>>& limbs);

  /// J^T Y (joints, 4) of each limb at q, v, a.
  const std::vector<Eigen::MatrixXd>& evaluate(const ConstRef& q, const ConstRef& v,
                                               const ConstRef& a);

 private:
  pinocchio::Model model_;
  pinocchio::Data data_;
  std::vector<std::vector<int>> limbs_;
  std::vector<Eigen::MatrixXd> out_;
};

}  // namespace prime
