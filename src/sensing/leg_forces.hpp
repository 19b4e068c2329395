// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <Eigen/SVD>
#include <pinocchio/multibody/data.hpp>
#include <pinocchio/multibody/model.hpp>
#include <vector>

#include "contact/contact_dynamics.hpp"

namespace prime {

/// Where the soles are, how they move, and the force at each foot that the torques of its own leg
/// imply.
///
///     J_leg^T f = tau_rnea(q, v, a) - tau    for the joints of the leg
///
/// A foot with several spheres also transmits a moment; its sole is its lowest sphere. A stretched
/// leg hides the force along it: then the smallest wrench that explains the torques.
class LegForces {
 public:
  /// @param contacts  spheres; those of a foot are on one joint.
  /// @param columns   by foot: the joints that are its leg's own, as indices of velocities.
  /// @param stretched  ratio of singular values of a leg's Jacobian below which it counts as
  /// singular.
  LegForces(const pinocchio::Model& model, const std::vector<ContactPoint>& contacts,
            const std::vector<std::vector<int>>& columns, double stretched);

  /// What `evaluate` has found, by feet; world axes.
  Eigen::Matrix3Xd sole, rate;  ///< points [m] and velocities [m/s] of the soles
  Eigen::VectorXd normal;       ///< upward forces [N]; NaN at a leg whose torque is not finite

  using ConstRef = Eigen::Ref<const Eigen::VectorXd>;
  /// @param torque  (nv) of the joints, losses taken off; those of the base are not looked at.
  void evaluate(const ConstRef& q, const ConstRef& v, const ConstRef& a, const ConstRef& torque);

 private:
  struct Leg {
    std::vector<ContactPoint> spheres;
    std::vector<int> columns;
    Eigen::MatrixXd wrench_map;  ///< J_leg^T
    Eigen::VectorXd felt, wrench;
    Eigen::JacobiSVD<Eigen::MatrixXd> svd;
  };

  double normalForce(Leg& leg, const Eigen::Vector3d& sole_point, const ConstRef& torque);

  pinocchio::Model model_;
  pinocchio::Data data_;
  std::vector<Leg> legs_;
};

}  // namespace prime
