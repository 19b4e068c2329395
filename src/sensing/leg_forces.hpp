// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <Eigen/SVD>
#include <pinocchio/multibody/data.hpp>
#include <pinocchio/multibody/model.hpp>
#include <vector>

#include "contact/contact_dynamics.hpp"

namespace prime {

/// Positions and velocities of the soles, and the force at each foot that the torques of its leg
/// imply.
///
///     J_leg^T f = tau_rnea(q, v, a) - tau    for the joints of the leg
///     tau   = moved - b r - (F + S exp(-(r/n)^2) + c |moved|) s - dI a
///     moved = e^-k (reading - o),   s = r/sqrt(r^2 + e^2)
///
/// with the joint losses at rates r and accelerations a (JointModel; dI: armature beyond the
/// model's). A foot with several spheres also transmits a moment; its sole is its lowest sphere.
/// The torques of a stretched leg do not determine the force along it: then the result is the
/// smallest wrench that explains the torques.
class LegForces {
 public:
  /// Of each joint behind the base (nj), in SI.
  struct Losses {
    Eigen::VectorXd added_armature, damping, dry_friction, gear_loss, gain, offset, stribeck,
        stribeck_velocity;
  };

  /// @param contacts  spheres; those of a foot are on one joint.
  /// @param columns   by foot: velocity indices of the joints of its leg.
  /// @param stretched  ratio of singular values of a leg's Jacobian below which it counts as
  /// singular.
  LegForces(const pinocchio::Model& model, const std::vector<ContactPoint>& contacts,
            const std::vector<std::vector<int>>& columns, double stretched);

  /// Results of `evaluate`, by foot; world axes.
  Eigen::Matrix3Xd sole, rate;  ///< points [m] and velocities [m/s] of the soles
  Eigen::VectorXd normal;       ///< upward forces [N]; NaN at a leg whose torque is not finite
  double felt = 0.0;            ///< upward force that the motion needs, per mass [m/s2]

  using ConstRef = Eigen::Ref<const Eigen::VectorXd>;
  /// At a full state with acceleration; torque: (nj) of the motors [Nm]. Throws
  /// std::invalid_argument for other sizes.
  void evaluate(const ConstRef& q, const ConstRef& v, const ConstRef& a, const ConstRef& torque);
  /// Sum of the upward forces of a robot at rest, whose base feels `force` [m/s2] as gravity, with
  /// joints at `position` (their coordinates in q), at constant rates.
  double carriedAtRest(const Eigen::Vector3d& force, const ConstRef& position, const ConstRef& rate,
                       const ConstRef& torque);
  /// Use these losses from now on. Throws std::invalid_argument.
  void setLosses(const Losses& losses);

 private:
  struct Leg {
    std::vector<ContactPoint> spheres;
    std::vector<int> columns;
    Eigen::MatrixXd wrench_map;  ///< J_leg^T
    Eigen::VectorXd felt, wrench;
    Eigen::JacobiSVD<Eigen::MatrixXd> svd;
  };

  void takeLosses(const ConstRef& rate, const ConstRef& acceleration, const ConstRef& reading);
  double normalForce(Leg& leg, const Eigen::Vector3d& sole_point);

  pinocchio::Model model_;
  pinocchio::Data data_;
  Losses losses_;
  double mass_;
  Eigen::VectorXd torque_;  ///< (nv) of the links, those of the base not used
  Eigen::VectorXd q_, v_, a_;
  std::vector<Leg> legs_;
};

}  // namespace prime
