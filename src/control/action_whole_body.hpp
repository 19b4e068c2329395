// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <crocoddyl/core/action-base.hpp>

#include "control/whole_body.hpp"

namespace prime {

/// What the costs of all nodes of a horizon share. A weight is that of 1/2 r^2 per second.
struct WholeBodyWeights {
  explicit WholeBodyWeights(Eigen::Index nj);
  Eigen::Vector3d position, linear_velocity;      ///< of the base, world axes [1/m2, s2/m2]
  Eigen::Vector3d orientation, angular_velocity;  ///< of the base, its own axes
  Eigen::VectorXd joint_position, joint_velocity, torque;
  Eigen::Vector3d force;                         ///< of a standing point, world axes [1/N2]
  Eigen::Vector3d foot_position, foot_velocity;  ///< of a point in the air, world axes
  double cone = 0.0, torque_limit = 0.0, joint_limit = 0.0;  ///< of what exceeds a limit
  Eigen::VectorXd largest_torque, lowest_position, highest_position;
  double friction = 0.6, smallest_force = 0.0;  ///< of a standing point [-], [N]
};

/// What one node shall track.
struct WholeBodyTarget {
  WholeBodyTarget(Eigen::Index nj, std::size_t points);
  Eigen::Vector3d position, linear_velocity, angular_velocity;  ///< world, world, base axes
  Eigen::Matrix3d rotation;                                     ///< world from base
  Eigen::VectorXd joint_position, joint_velocity, torque;
  std::vector<bool> stands;                      ///< which points stand
  Eigen::MatrixXd force;                         ///< (points, 3) of the standing ones, world [N]
  Eigen::MatrixXd foot_position, foot_velocity;  ///< (points, 3) of those in the air, world
  Eigen::VectorXd foot_weight;                   ///< (points) factor of their cost, 0: none
};

/// Node of a whole-body control problem: x = (q, v), u = joint torques.
///
/// v+ follows from the dynamics of `WholeBody`, and q+ = q (+) dt (v + v+)/2, which is a constant
/// acceleration (with dt v+ a swing of 0.2 s overshoots by 1 cm at nodes of 20 ms). The cost is
/// dt sum_i w_i/2 r_i^2, with Gauss-Newton Hessians, of the residuals
///
///     base             p - p_ref,  log(R_ref^T R),  R v - v_ref,  omega - omega_ref
///     joints           q - q_ref,  v - v_ref,  u - u_ref
///     standing points  f - f_ref,  friction pyramid |f_x|, |f_y| <= mu f_z,  f_z >= f_min
///     points in air    position and velocity from their references
///     limits           of joint positions and torques, quadratic beyond the limit
///
/// The last node of a problem has only the costs of the state, for the duration `dt`.
class ActionWholeBody : public crocoddyl::ActionModelAbstractTpl<double> {
 public:
  using Base = crocoddyl::ActionModelAbstractTpl<double>;
  using DataAbstract = crocoddyl::ActionDataAbstractTpl<double>;
  using ConstRef = Eigen::Ref<const Eigen::VectorXd>;

  struct Data : DataAbstract {
    explicit Data(ActionWholeBody* model);
    WholeBody::Data body;
    Eigen::VectorXd q, q_next;       ///< of Pinocchio's own type: an instance its library holds
    Eigen::VectorXd dq;              ///< dt (v + v+)/2
    Eigen::MatrixXd move_q, move_v;  ///< of q (+) dq
    Eigen::MatrixXd rows_x, rows_u;  ///< Jacobians of a block of residuals
    Eigen::VectorXd rows_r;
  };

  ActionWholeBody(std::shared_ptr<crocoddyl::StateAbstractTpl<double>> state,
                  std::shared_ptr<WholeBody> body, std::shared_ptr<WholeBodyWeights> weights,
                  double dt);

  void calc(const std::shared_ptr<DataAbstract>& data, const ConstRef& x,
            const ConstRef& u) override;
  void calc(const std::shared_ptr<DataAbstract>& data, const ConstRef& x) override;
  void calcDiff(const std::shared_ptr<DataAbstract>& data, const ConstRef& x,
                const ConstRef& u) override;
  void calcDiff(const std::shared_ptr<DataAbstract>& data, const ConstRef& x) override;
  std::shared_ptr<DataAbstract> createData() override { return std::make_shared<Data>(this); }
  bool checkData(const std::shared_ptr<DataAbstract>& data) override {
    const auto own = std::dynamic_pointer_cast<Data>(data);
    return own && own->xnext.size() == int(state_->get_nx()) && own->Fu.cols() == int(nu_) &&
           own->body.point.size() == body->size();
  }
  std::shared_ptr<crocoddyl::ActionModelBase> cloneAsDouble() const override;
  std::shared_ptr<crocoddyl::ActionModelBase> cloneAsFloat() const override;

  const std::shared_ptr<WholeBody> body;
  const std::shared_ptr<WholeBodyWeights> weights;
  WholeBodyTarget target;
  double dt;  ///< duration of the node [s]

 private:
  double stateCost(const ConstRef& x) const;
  double footCost(const Data& d, const ConstRef& x) const;
  double controlCost(const ConstRef& u) const;
  double forceCost(const Data& d) const;
  void stateSlopes(Data& d, const ConstRef& x) const;
  void footSlopes(Data& d, const ConstRef& x) const;
  void controlSlopes(Data& d, const ConstRef& u) const;
  void forceSlopes(Data& d) const;
  void motionSlopes(Data& d, const ConstRef& x) const;
};

}  // namespace prime
