// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <Eigen/Core>
#include <pinocchio/multibody/model.hpp>
#include <vector>

namespace prime {

/// Force at a contact in addition to that of the contact law, world axes.
struct UnmodelledForce {
  Eigen::Vector3d mean;        ///< [N]
  Eigen::Matrix3d covariance;  ///< [N^2]
};

/// Detector of forces at the feet that no contact law explains: of a foot that is hooked on a
/// riser, slides along a wall, or touches down within a time step.
///
/// It compares two hypotheses about w, the generalized force that leg and base need in addition to
/// the torques of the motors:
///
///     H0: w_leg is noise               H1: w_leg = J^T f + noise,   f ~ N(0, sigma_f^2 I)
///         w_base is noise                  w_base = J_base^T f + noise
///
/// The noise of each joint, and of force and moment on the base, is Student-t with `dof` degrees of
/// freedom, as elsewhere in the problem. J (3, 3) is the Jacobian of the contact point with respect
/// to the three joints of the leg. The torques determine f = J^-T w_leg with covariance
/// S = J^-T Q J^-1, and the probability p of H1 follows from
///
///     log p/(1 - p) = odds + log N(f; 0, S + F) / t(w_leg; Q)
///                          + log t(w_base - J_base^T f; Q_base + J_base^T S J_base)
///                                / t(w_base; Q_base),                      F = sigma_f^2 I
///     E f = p F (F + S)^-1 f,    cov f = p S + p (1 - p) f f^T
///
/// with the densities of f in units of those of w. The last term separates the two causes: a wrong
/// torque does not move the base, the force at a foot does. The contributions of other feet that
/// are likely to be pushed are subtracted from w_base first. Only point feet are considered,
/// because a sole transmits moments, too.
///
/// A joint at its stop transmits a torque that no motor gives, directed away from the stop and as
/// large as the torque of f at the joint. For such a joint Q grows by sigma_f^2 |J_k|^2, and the
/// disturbance of the base supplies the lost information:
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

  /// Detector that is off.
  UnmodelledForces() = default;
  /// @param joints  per contact: ids of the three joints of its leg; empty for contacts to ignore.
  /// Throws std::invalid_argument.
  UnmodelledForces(const pinocchio::Model& model, const std::vector<std::vector<int>>& joints,
                   const Prior& prior);

  bool empty() const { return legs_.empty(); }

  using ConstRef = Eigen::Ref<const Eigen::VectorXd>;
  /// Disturbances of a step, and its initial configuration.
  struct Step {
    ConstRef q;                ///< (nq)
    const Eigen::MatrixXd& J;  ///< (3 nc, nv) of the contact points
    ConstRef w, stddev;        ///< (nv) disturbances, before any force at a foot is subtracted
    double dof;
  };
  /// Estimate the force at each contact from the disturbances of a step.
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
