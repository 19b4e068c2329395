// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <Eigen/Cholesky>
#include <pinocchio/multibody/data.hpp>
#include <pinocchio/multibody/model.hpp>
#include <vector>

namespace prime {

/// A sphere of a robot that may stand on the ground, and rolls on it.
struct StancePoint {
  std::size_t joint;         ///< joint that carries it
  Eigen::Vector3d position;  ///< its centre in the joint's frame [m]
  double radius;             ///< [m]
};

/// Full dynamics of a legged robot over one node, for a given set of standing points: velocity
/// level, inelastic.
///
///     M (v+ - v) + dt nle(q, v) = dt S^T u + J^T lambda,   J v+ + s lambda = 0
///
/// with impulses lambda = dt f [N s] of the ground on the standing spheres, world axes, and the
/// motors' armature in M. J is that of a sphere's lowest point: it rolls. One that stands for the
/// first time loses its velocity within the node, so that a touch-down needs no node of its own; s
/// > 0 keeps redundant spheres (soles) solvable. The derivatives follow from the implicit function
/// theorem on both equations:
///
///     [M -J^T; J s] [dv+; dlambda] = -[g_z; c_z] dz
///     g = M (v+ - v) + dt nle - dt S^T u - J^T lambda,   c = J v+ + s lambda
///
/// with g_q from Pinocchio's RNEA derivatives at ((v+ - v)/dt, f), and c_q = d(J v+)/dq.
class WholeBody {
 public:
  using ConstRef = Eigen::Ref<const Eigen::VectorXd>;

  /// Workspace and result of one node. Matrices have room for all points; `rows()` of them are
  /// used, three per standing point in the order of `standing`.
  struct Data {
    explicit Data(const WholeBody& body);
    Eigen::Index rows() const { return 3 * static_cast<Eigen::Index>(standing.size()); }

    pinocchio::Data pin;
    std::vector<pinocchio::Force> joint_force;
    std::vector<std::size_t> standing;             ///< indices of the standing points
    std::vector<Eigen::Vector3d> point;            ///< centres of all spheres, world [m]
    Eigen::MatrixXd J;                             ///< velocity of the standing points by v
    Eigen::VectorXd v_next, lambda;                ///< v+, impulses
    Eigen::MatrixXd v_q, v_v, v_u;                 ///< derivatives of v+
    Eigen::MatrixXd lambda_q, lambda_v, lambda_u;  ///< derivatives of lambda
    Eigen::LLT<Eigen::MatrixXd> mass, delassus;
    Eigen::VectorXd acceleration;
    Eigen::MatrixXd MJt, S, g, h, c;
    double dt = 0.0;
  };

  /// Args: a model whose first joint is a free-flyer, the spheres, s [(m/s)/(N s)].
  WholeBody(const pinocchio::Model& model, const std::vector<StancePoint>& points,
            double compliance);

  /// Take over the inertias of another model of this robot, between two solves.
  void takeInertias(const pinocchio::Model& other);

  /// Next velocity and impulses; `stands[i]` says whether point i stands during the node.
  void step(Data& data, const ConstRef& q, const ConstRef& v, const ConstRef& u,
            const std::vector<bool>& stands, double dt) const;
  /// Positions of the points alone: what the last node of a horizon needs.
  void place(Data& data, const ConstRef& q) const;
  /// Derivatives of v+ and lambda at the last step.
  void differentiate(Data& data, const ConstRef& q, const ConstRef& v) const;

  /// Velocity (3) of the material point at `drop` [m] below the centre of sphere i, and its
  /// Jacobians by v and q (3, nv), after step or place. Jacobians by q are those of a point that
  /// stays below.
  Eigen::Vector3d pointVelocity(const Data& data, std::size_t i, const ConstRef& v,
                                double drop = 0.0) const;
  void pointJacobian(const Data& data, std::size_t i, Eigen::Ref<Eigen::MatrixXd> by_v,
                     double drop = 0.0) const;
  void pointVelocitySlope(const Data& data, std::size_t i, const ConstRef& v,
                          Eigen::Ref<Eigen::MatrixXd> by_q, double drop = 0.0) const;

  const pinocchio::Model& model() const { return model_; }
  std::size_t size() const { return points_.size(); }
  Eigen::Index nu() const { return model_.nv - kBase; }

  static constexpr int kBase = 6;  ///< degrees of freedom of the free-flyer

 private:
  void placePoints(Data& data) const;
  void balanceSlopes(Data& data, const ConstRef& q, const ConstRef& v) const;
  void addForceSlope(Data& data, std::size_t k, Eigen::Ref<Eigen::MatrixXd> by_q) const;
  void resolve(Data& data) const;

  pinocchio::Model model_;
  std::vector<StancePoint> points_;
  double compliance_;
};

}  // namespace prime
