// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <Eigen/Core>
#include <pinocchio/multibody/model.hpp>
#include <vector>

namespace prime {

/// Force at a contact beside that of its law, world axes.
struct UnmodelledForce {
  Eigen::Vector3d mean;        ///< [N]
  Eigen::Matrix3d covariance;  ///< [N^2]
};

/// Forces at the feet that no contact law explains, by the torques w that a leg needs beside those
/// of its motors: of a foot that is hooked on a riser, slides along a wall, or comes down within a
/// step.
///
///     H0: w ~ N(0, Q)        H1: w ~ N(0, Q + J^T F J),   F = sigma_f^2 I
///
/// Q is the disturbance of the leg's three joints, J the Jacobian of the contact point by them.
/// With f = J^-T w, the force that would explain w, S = J^-T Q J^-1, and p the probability of H1,
///
///     E f = p F (F + S)^-1 f,    cov f = p S + p (1 - p) f f^T
///
/// Torques are read to a Newton metre at the worst; one of twenty is a force at the foot, wherever
/// the ground is. Feet that touch in a point only: a sole has moments, too. A joint at its stop
/// has a torque that no motor gives: its leg tells no force then.
class UnmodelledForces {
 public:
  struct Prior {
    double stddev = 0.0;     ///< sigma_f of each component [N]
    double odds = 0.0;       ///< logarithm of the prior odds of H1
    double least = 0.0;      ///< deviations of a torque below which H0 is taken
    double stretched = 0.0;  ///< share of J's largest pivot below which a leg tells no force
    double stop = 0.0;       ///< distance from the limit of a joint that may be at its stop [rad]
  };

  /// Looks at no foot.
  UnmodelledForces() = default;
  /// @param joints  by contact: ids of the three joints that are its leg's own; none of a contact
  /// that is not looked at. Throws std::invalid_argument.
  UnmodelledForces(const pinocchio::Model& model, const std::vector<std::vector<int>>& joints,
                   const Prior& prior);

  bool empty() const { return legs_.empty(); }

  using ConstRef = Eigen::Ref<const Eigen::VectorXd>;
  /// What torques w (nv) with these deviations (nv) tell at a configuration q (nq), by contacts; J
  /// (3 nc, nv): Jacobians of the contact points.
  void expect(const ConstRef& q, const Eigen::MatrixXd& J, const ConstRef& w,
              const ConstRef& stddev, std::vector<UnmodelledForce>& found) const;

 private:
  struct Leg {
    std::size_t contact;
    Eigen::Vector3i coordinates, columns;  ///< of its joints: indices in q and v
    Eigen::Vector3d least, most;           ///< of the coordinates of joints away from their stops
  };

  UnmodelledForce test(const Eigen::Matrix3d& J, const Eigen::Vector3d& w,
                       const Eigen::Vector3d& stddev) const;

  std::vector<Leg> legs_;
  Prior prior_;
};

}  // namespace prime
