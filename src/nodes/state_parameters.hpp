// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <crocoddyl/core/state-base.hpp>
#include <pinocchio/multibody/model.hpp>

namespace prime {

/// Manifold of the state `x = (q, v, p)`: configuration (as in Pinocchio), velocity, and parameters
/// that are constant along a window. nx = nq + nv + np and ndx = 2 nv + np. The tangent is (dq, dv,
/// dp), with dq of the base in base axes.
class StateParameters : public crocoddyl::StateAbstractTpl<double> {
 public:
  /// @throws std::invalid_argument  more parameters than memory has room for.
  StateParameters(const pinocchio::Model& model, std::size_t np);

  Eigen::VectorXd zero() const override;
  Eigen::VectorXd rand() const override;
  void diff(const Eigen::Ref<const Eigen::VectorXd>& x0,
            const Eigen::Ref<const Eigen::VectorXd>& x1,
            Eigen::Ref<Eigen::VectorXd> dx) const override;
  void integrate(const Eigen::Ref<const Eigen::VectorXd>& x,
                 const Eigen::Ref<const Eigen::VectorXd>& dx,
                 Eigen::Ref<Eigen::VectorXd> out) const override;
  void Jdiff(const Eigen::Ref<const Eigen::VectorXd>& x0,
             const Eigen::Ref<const Eigen::VectorXd>& x1, Eigen::Ref<Eigen::MatrixXd> J0,
             Eigen::Ref<Eigen::MatrixXd> J1, crocoddyl::Jcomponent which) const override;
  void Jintegrate(const Eigen::Ref<const Eigen::VectorXd>& x,
                  const Eigen::Ref<const Eigen::VectorXd>& dx, Eigen::Ref<Eigen::MatrixXd> J0,
                  Eigen::Ref<Eigen::MatrixXd> J1, crocoddyl::Jcomponent which,
                  crocoddyl::AssignmentOp op) const override;
  void JintegrateTransport(const Eigen::Ref<const Eigen::VectorXd>& x,
                           const Eigen::Ref<const Eigen::VectorXd>& dx,
                           Eigen::Ref<Eigen::MatrixXd> Jin,
                           crocoddyl::Jcomponent which) const override;

  std::shared_ptr<crocoddyl::StateBase> cloneAsDouble() const override;
  std::shared_ptr<crocoddyl::StateBase> cloneAsFloat() const override;

  const pinocchio::Model& model() const { return model_; }
  std::size_t np() const { return np_; }

 private:
  pinocchio::Model model_;
  std::size_t np_;
};

}  // namespace prime
