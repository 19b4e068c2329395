// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <Eigen/Core>
#include <pinocchio/multibody/model.hpp>
#include <pinocchio/spatial/motion.hpp>
#include <pinocchio/spatial/se3.hpp>
#include <vector>

namespace prime {

/// IMU of a floating-base robot, on the base or behind joints (a torso above its waist): angular
/// rate omega and specific force f that it measures, with derivatives.
///
///     V_0 = v_base,   A_0 = a_base - R^T g
///     V_j = V_j-1 + S_j dq_j,   A_j = A_j-1 + S_j ddq_j + V_j-1 x S_j dq_j
///     omega = (X^-1 V)_ang,   f = (X^-1 A)_lin + (X^-1 V)_ang x (X^-1 V)_lin    [IMU axes]
///
/// Spatial vectors are in base axes at the base's origin; S_j is the screw of chain joint j, X the
/// pose of the IMU in the base. Derivatives with respect to a joint position hold the bodies behind
/// the joint still and move all bodies before it by -S_j.
class ImuMount {
 public:
  /// One joint between base and IMU, with one degree of freedom: pose exp(axis theta) after its
  /// placement in the parent.
  struct Joint {
    pinocchio::SE3 placement;
    pinocchio::Motion axis;
    int q, nq, v;  ///< where it stands in q and v; nq = 2: (cos, sin)
  };

  struct Data {
    explicit Data(const ImuMount& mount);
    pinocchio::SE3 base_M_imu;
    std::vector<pinocchio::Motion> screw;            ///< S_j
    Eigen::Matrix<double, 3, 6> by_twist, by_accel;  ///< of the base
    Eigen::Matrix3d by_rotation;                     ///< of the base, its own axes
    Eigen::Matrix3Xd by_position, by_rate, by_joint_accel;
    Eigen::Matrix3d by_lever;  ///< of the IMU's place, its own axes: [alpha]x + [omega]x [omega]x
  };

  /// @param joint  joint of `model` that carries the IMU, at `joint_M_imu` in the joint's frame.
  ImuMount(const pinocchio::Model& model, std::size_t joint, const pinocchio::SE3& joint_M_imu);

  using ConstRef = Eigen::Ref<const Eigen::VectorXd>;
  using Vector6 = Eigen::Matrix<double, 6, 1>;

  /// Chain at the joint positions q (+) shift v.
  void place(Data& data, const ConstRef& q, const ConstRef& v, double shift) const;
  /// Moves the IMU of `place` by a lever arm [m], in its own axes.
  static void move(Data& data, const Eigen::Vector3d& lever) {
    data.base_M_imu.translation() += data.base_M_imu.rotation() * lever;
  }

  /// Twist of the IMU's body relative to the base, at the base's origin.
  pinocchio::Motion relativeTwist(const Data& data, const ConstRef& v) const;

  /// Angular velocity [rad/s] in IMU axes, at the chain of `place`.
  Eigen::Vector3d angularVelocity(const Data& data, const ConstRef& v) const;
  /// by_twist, by_position, by_rate of the angular velocity.
  void angularVelocityDerivatives(Data& data, const ConstRef& v) const;

  /// Specific force [m/s^2] in IMU axes at velocity v and acceleration a; gravity_base = R^T g.
  Eigen::Vector3d specificForce(const Data& data, const ConstRef& v, const ConstRef& a,
                                const Eigen::Vector3d& gravity_base) const;
  /// All derivatives of the specific force, by_twist and by_rate at fixed accelerations.
  void specificForceDerivatives(Data& data, const ConstRef& v, const ConstRef& a,
                                const Eigen::Vector3d& gravity_base) const;

  const std::vector<Joint>& joints() const { return joints_; }
  int size() const { return static_cast<int>(joints_.size()); }

 private:
  std::vector<Joint> joints_;
  pinocchio::SE3 last_M_imu_;
};

}  // namespace prime
