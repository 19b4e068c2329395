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

/// Forces at the feet that no contact law explains, by the disturbances w that a leg and the base
/// need beside the torques of the motors: of a foot that is hooked on a riser, slides along a wall,
/// or comes down within a step.
///
///     H0: w_leg is noise               H1: w_leg = J^T f + noise,   f ~ N(0, sigma_f^2 I)
///         w_base is noise                  w_base = J_base^T f + noise
///
/// Noise is what the problem takes it for: Student-t of `dof` degrees of freedom, of each joint, of
/// force and moment of the base. J (3, 3) is the Jacobian of the contact point by the three joints
/// of the leg. They tell f = J^-T w_leg, with the covariance S = J^-T Q J^-1, and so
///
///     log p/(1 - p) = odds + log N(f; 0, S + F) / t(w_leg; Q)
///                          + log t(w_base - J_base^T f; Q_base + J_base^T S J_base)
///                                / t(w_base; Q_base),                      F = sigma_f^2 I
///     E f = p F (F + S)^-1 f,    cov f = p S + p (1 - p) f f^T
///
/// with the densities of f in units of those of w. A wrong torque moves no base; the force of a
/// foot does. What other feet that are likely to be pushed bring to the base is taken off w_base
/// before. Feet that touch in a point only: a sole has moments, too.
///
/// A joint at its stop has a torque that no motor gives, away from the stop, and as large as what f
/// may bring to the joint: Q of that joint grows by sigma_f^2 |J_k|^2, and what it hides of f the
/// base tells,
///
///     S^-1   = J Q^-1 J^T + J_base Q_base^-1 J_base^T
///     S^-1 f = J Q^-1 w_leg + J_base Q_base^-1 w_base
///     log p/(1 - p) = odds + log t(w - J^T E f) / t(w) - |E f|^2 / 2 sigma_f^2
///                          - log |1 + F S^-1| / 2,      E f = F (F + S)^-1 f here, w of both
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
  /// Disturbances of a step, and where it begins.
  struct Step {
    ConstRef q;                ///< (nq)
    const Eigen::MatrixXd& J;  ///< (3 nc, nv) of the contact points
    ConstRef w, stddev;        ///< (nv) disturbances, with nothing taken for a force at a foot
    double dof;
  };
  /// What the disturbances of a step tell, by contacts.
  void expect(const Step& step, std::vector<UnmodelledForce>& found) const;

 private:
  struct Leg {
    std::size_t contact;
    Eigen::Vector3i coordinates, columns;  ///< of its joints: indices in q and v
    Eigen::Vector3d least, most;           ///< of the coordinates of joints away from their stops
  };
  /// A leg at a step.
  struct Torques {
    std::size_t contact;
    Eigen::Vector3d w, stddev;
    Eigen::Vector3i stop;  ///< of each joint: 0: away from both, else the sign of its torque there
    Eigen::Matrix3d J;
  };

  using Vector6d = Eigen::Matrix<double, 6, 1>;
  /// What is left of the base's disturbances, variances.
  struct Base {
    Vector6d w, variance;
  };
  /// A leg that may tell a force.
  struct Candidate {
    std::size_t contact;
    Eigen::Vector3d f;
    Eigen::Matrix3d S;
    double odds;                    ///< logarithm, first of the leg alone
    Vector6d on_base, base_spread;  ///< what f brings to the base, variance of that
    bool likely() const { return odds > 0.0; }
  };

  Torques torquesOf(const Leg& leg, const Step& step) const;
  bool look(const Torques& leg, const Step& step, Candidate& candidate) const;
  bool lookAtStop(const Torques& leg, const Step& step, const Base& base, Candidate& c) const;
  void askBase(const Base& base, double dof, std::vector<Candidate>& candidates) const;

  std::vector<Leg> legs_;
  Prior prior_;
};

}  // namespace prime
