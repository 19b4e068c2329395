// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

namespace prime {

/// Quantities of each joint and its motor that are configured or estimated.
enum class JointQuantity {
  Armature,          ///< reflected rotor inertia I [kg m2]
  Damping,           ///< viscous friction b [Nm s/rad]
  DryFriction,       ///< Coulomb friction F [Nm]
  GearLoss,          ///< share c of the motor's torque that the gear loses, in both directions
  FrictionLead,      ///< time L by which dry friction changes sign before the joint rate [s]
  TorqueGain,        ///< logarithm k of reading per torque
  Stribeck,          ///< dry friction S of a joint that starts to move, beyond Coulomb's [Nm]
  StribeckVelocity,  ///< joint rate n at which most of that is gone [rad/s]
  TorqueOffset,      ///< reading o at zero torque [Nm]
  TorqueDelay,       ///< delay d of the readings, < 0: early [s]
};
constexpr int kJointQuantities = 10;

/// Losses and motors of all joints behind the base, with the parameters that are estimated.
///
///     sent  = reading - o + d reading'
///     tau   = e^-k sent
///     lost  = b r + (F + S exp(-(r/n)^2) + c |tau|) s,   s = x/sqrt(x^2 + e^2),   x = r + L a
///     moved = e^-k (sent + w) - lost
///
/// r and a are the joint rate in the middle of the step and the acceleration; reading' is the
/// change of the readings per second; |tau| = sqrt(tau^2 + t^2) - t; e and t are smoothing widths.
///
/// L is 0 for Coulomb friction. Friction that holds a joint like a damped constraint, as in
/// simulators, changes sign before the joint rate does (L > 0).
///
/// The disturbance w is added to the reading, not to the torque. Otherwise a gain that reduces the
/// reading's noise would lower the cost, and all gains would diverge.
///
/// An estimated quantity has one parameter p per group of joints, whose values differ by constant
/// ratios: value_j = ratio_j value(p). Losses are positive by construction, and linear in p where
/// they are large: value(p) = (p + sqrt(p^2 + 4 m^2))/2 with a softness m, so that an estimate can
/// reach zero loss and leave it again. For gain, offset and delay, value(p) = p.
class JointModel {
 public:
  using ConstRef = Eigen::Ref<const Eigen::VectorXd>;

  /// An estimated quantity.
  struct Block {
    JointQuantity quantity;
    std::vector<int> group;  ///< per joint: index of its parameter; -1: a constant
    Eigen::VectorXd ratio;   ///< per joint
    double softness;         ///< m, in the quantity's unit
    std::size_t groups;
  };

  /// Of one step: values of the quantities, losses at the last rates.
  struct Data {
    explicit Data(const JointModel& model);
    Eigen::VectorXd loss, dloss;   ///< lost torque [Nm], its slope in the rate
    Eigen::VectorXd dturn;         ///< slope of dry friction and gear loss in x
    Eigen::VectorXd by_a;          ///< slope of the lost torque in the acceleration
    Eigen::MatrixXd value, slope;  ///< (nj, quantities), and by their parameter
    Eigen::VectorXd torque;        ///< tau [Nm]
    Eigen::VectorXd gain;          ///< torque per reading e^-k
    Eigen::VectorXd shift;         ///< o - d reading' [Nm]
    Eigen::VectorXd change;        ///< reading' [Nm/s]
    Eigen::VectorXd sign;          ///< s
  };

  /// Joints with viscous and dry friction only, without estimated parameters.
  JointModel(const Eigen::VectorXd& damping, const Eigen::VectorXd& dry_friction);

  /// Set a quantity of all joints to constants. Throws std::invalid_argument.
  void set(JointQuantity quantity, const Eigen::VectorXd& value);
  /// Make a quantity a parameter; a second call replaces the first. Throws std::invalid_argument.
  void estimate(JointQuantity quantity, const std::vector<int>& group, const Eigen::VectorXd& ratio,
                double softness);

  /// Name of a quantity's parameter block.
  static const char* name(JointQuantity quantity);
  /// Value of a quantity at a parameter, and its slope.
  static void valueOf(JointQuantity quantity, double softness, double parameter, double& value,
                      double& slope);

  std::size_t nj() const { return value_.rows(); }
  const std::vector<Block>& blocks() const { return blocks_; }
  std::size_t nparameters() const;
  /// Whether losses depend on the motors' readings.
  bool readsTorque() const { return reads_torque_; }

  /// Values of all quantities at the parameters, in the order of the blocks.
  /// @param reading, change  of the motors [Nm], and per second
  void prepare(Data& data, const ConstRef& parameters, const ConstRef& reading,
               const ConstRef& change) const;
  /// Change of the armatures at the last parameters against `armature` [kg m2].
  template <class Armature, class Out>
  void addArmature(const Data& data, const Armature& armature, Out&& diagonal) const {
    if (estimates_armature_) diagonal += data.value.col(int(JointQuantity::Armature)) - armature;
  }
  /// Losses and their slopes at the joint rates r and accelerations a; width: e [rad/s].
  void evaluate(Data& data, const ConstRef& rate, const ConstRef& acceleration, double width) const;
  /// d(I a - moved)/d p (nj, nparameters) at the last rates r, accelerations a, and motor readings
  /// with their disturbance `force`.
  void derivatives(const Data& data, const ConstRef& rate, const ConstRef& acceleration,
                   const ConstRef& force, Eigen::Ref<Eigen::MatrixXd> by_parameters) const;
  /// Adds `change` (nj) to the columns (nj, nparameters) of the joints' gains.
  void addToGains(const ConstRef& change, Eigen::Ref<Eigen::MatrixXd> by_parameters) const;

 private:
  static double byValue(const Data& data, JointQuantity quantity, std::size_t joint, double rate,
                        double acceleration, double force);
  static double byMotor(const Data& data, JointQuantity quantity, std::size_t joint, double force);

  Eigen::MatrixXd value_;  ///< constants (nj, quantities)
  std::vector<Block> blocks_;
  bool reads_torque_ = false, estimates_armature_ = false, breaks_away_ = false;
};

}  // namespace prime
