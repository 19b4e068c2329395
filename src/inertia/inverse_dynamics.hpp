// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <Eigen/Core>
#include <pinocchio/multibody/data.hpp>
#include <pinocchio/multibody/model.hpp>

namespace prime {

/// Inverse dynamics of a fixed-base machine at many instants at once, with derivatives.
///
///     tau(q, v, a; pi, g) = M(q) a + c(q, v) - sum_i J_i(q)^T m_i g
///
/// Joints have one degree of freedom; q are their displacements from the neutral configuration, of
/// continuous joints too. Row k nv + j of a derivative belongs to joint j at instant k.
class InverseDynamics {
 public:
  /// @throws std::invalid_argument  a joint has more than one degree of freedom.
  explicit InverseDynamics(const pinocchio::Model& model);

  /// Results of `evaluate`.
  Eigen::MatrixXd torque;            ///< (n, nv)
  Eigen::MatrixXd by_q, by_v, by_a;  ///< (n nv, nv)
  Eigen::MatrixXd by_inertia;        ///< (n nv, 10 joints), dynamic parameters pi
  Eigen::MatrixXd by_gravity;        ///< (n nv, 3)

  using Rows = Eigen::Ref<const Eigen::MatrixXd>;
  /// @param pi       (10 joints) dynamic parameters of the bodies about their joints.
  /// @param gravity  [m/s^2], axes of the base.
  /// @param q, v, a  (n, nv)
  void evaluate(const Eigen::VectorXd& pi, const Eigen::Vector3d& gravity, const Rows& q,
                const Rows& v, const Rows& a);

 private:
  void resize(Eigen::Index n);
  void instant(Eigen::Index k, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
               const Eigen::VectorXd& a);

  pinocchio::Model model_;
  pinocchio::Data data_;
  Eigen::VectorXd neutral_;
  double mass_ = 0.0;
};

}  // namespace prime
