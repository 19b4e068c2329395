// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nodes/measurement_model.hpp"

namespace prime {

/// What one node is given. Weights are reciprocal standard deviations; 0 means that a reading is
/// absent.
struct NodeInput {
  explicit NodeInput(std::shared_ptr<const MeasurementModel> model);

  /// The reading of that name: `encoders`, `rates` or a residual's. Throws std::invalid_argument.
  Reading& reading(const std::string& name, std::size_t slot);
  /// Hands in a reading; sizes are checked. Throws std::invalid_argument that names what is wrong.
  void set(const std::string& name, const Eigen::VectorXd& value, const Eigen::VectorXd& weight,
           double age, std::size_t slot);

  const std::shared_ptr<const MeasurementModel> model;
  Reading encoders;               ///< value (nq): configuration, of which the base is not used
  Reading rates;                  ///< joint rates (nj), mean over the past step [rad/s]
  std::vector<Reading> readings;  ///< of the residuals, in their order

  Eigen::VectorXd torque;         ///< (nj) of the motors, centred mean [Nm]
  Eigen::VectorXd torque_change;  ///< (nj) of these to the next step, per second [Nm/s]
  Eigen::VectorXd base_wrench;    ///< (nb) force and moment of rotors on a floating base [N, Nm]
  /// (nv) of forces at the feet that no contact law explains (`UnmodelledForces`), on base and
  /// joints, of these in units of their readings; `reweight` renews it [N, Nm]
  Eigen::VectorXd outer_force;
  Eigen::VectorXd weight_force, weight_xi;    ///< (nv), (nxi) process disturbances
  Eigen::VectorXd nominal_force, nominal_xi;  ///< the same before outliers are looked at
  bool weighed =
      true;  ///< by the torques of its legs: only then the base may feel outliers of force
  double ground_depth = 0.0;  ///< by which the ground is lowered [m]: legs that nobody sees
  /// Height (nf) [m], slope (2 nf) and anchor (2 nf) [m] of the ground under each foot here, less
  /// those of the window, which has been moved to other ground since this node was solved.
  Eigen::VectorXd height_offset, slope_offset, anchor_offset;
  ContactLaw law;              ///< of the step; softer on the way to a first solution
  std::vector<Stance> stance;  ///< contact flags of the step, one per foot (rigid contacts)
};

}  // namespace prime
