// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nodes/measurement_model.hpp"

namespace prime {

/// Input of one node: sensor readings, torques, disturbance weights, contact law. Weights are
/// reciprocal standard deviations; a weight of 0 marks an absent reading.
struct NodeInput {
  explicit NodeInput(std::shared_ptr<const MeasurementModel> model);

  /// Reading by name: `encoders`, `rates`, or that of a residual. Throws std::invalid_argument.
  Reading& reading(const std::string& name, std::size_t slot);
  /// Set a reading. Throws std::invalid_argument, which names the fault, for wrong sizes.
  void set(const std::string& name, const Eigen::VectorXd& value, const Eigen::VectorXd& weight,
           double age, std::size_t slot);

  const std::shared_ptr<const MeasurementModel> model;
  Reading encoders;               ///< value (nq): configuration, of which the base is not used
  Reading rates;                  ///< joint rates (nj), mean over the past step [rad/s]
  std::vector<Reading> readings;  ///< of the residuals, in their order

  Eigen::VectorXd torque;         ///< (nj) of the motors, centred mean [Nm]
  Eigen::VectorXd torque_change;  ///< (nj) of these to the next step, per second [Nm/s]
  Eigen::VectorXd base_wrench;    ///< (nb) force and moment of rotors on a floating base [N, Nm]
  /// (nv) generalized force of unmodelled forces at the feet (`UnmodelledForces`), for joints in
  /// units of their torque readings; `reweight` updates it [N, Nm]
  Eigen::VectorXd outer_force;
  Eigen::VectorXd weight_force, weight_xi;    ///< (nv), (nxi) process disturbances
  Eigen::VectorXd nominal_force, nominal_xi;  ///< the same before reweighting
  bool weighed =
      true;  ///< by the torques of its legs: only then the base may feel outliers of force
  double ground_depth = 0.0;  ///< by which the ground is lowered [m] where joints are not measured
  /// Height (nf) [m], slope (2 nf) and anchor (2 nf) [m] of the ground under each foot at this
  /// node, relative to those of the window, if the window's ground has changed since the node was
  /// solved.
  Eigen::VectorXd height_offset, slope_offset, anchor_offset;
  ContactLaw law;              ///< of the step; softer on the way to a first solution
  std::vector<Stance> stance;  ///< contact flags of the step, one per foot (rigid contacts)
};

}  // namespace prime
