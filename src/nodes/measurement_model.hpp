// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "contact/unmodelled_forces.hpp"
#include "residuals/residual.hpp"

namespace prime {

/// Measurement model that all running nodes of a problem share: dynamics, sensor residuals, and the
/// layout of parameters and rows.
///
///     p = [parameters of the dynamics | parameters of each sensor]
///     r = [w, xi | joint positions, joint rates | residuals of the state | residuals of the step]
class MeasurementModel {
 public:
  struct Entry {
    std::shared_ptr<const Residual> residual;
    int row;  ///< first one among the dense rows
  };
  /// Rows of a node's residual that belong together.
  struct Rows {
    std::string name;
    int first, size;
  };

  /// @param residuals  names, as in Residual::make; a name given twice takes two readings.
  /// @param mounts  the mounts of the sensors are parameters.
  /// @param zeros  per joint: index of the parameter that is the zero of its encoder; -1: none.
  MeasurementModel(std::shared_ptr<ContactDynamics> dynamics, const ImuMount& mount,
                   const std::vector<std::string>& residuals, bool mounts = false,
                   const std::vector<int>& zeros = {});

  const std::vector<Entry>& entries() const { return entries_; }
  /// Index of the `slot`-th residual of that name. Throws std::invalid_argument.
  std::size_t find(const std::string& name, std::size_t slot) const;
  const std::vector<ParameterBlock>& parameters() const { return parameters_; }
  int np() const { return np_; }
  const std::vector<int>& columns() const { return columns_; }
  int denseRows() const { return dense_rows_; }
  int stepRows() const { return step_rows_; }  ///< rows of the step's residuals, at the end
  std::vector<Rows> rows() const;

  const std::shared_ptr<ContactDynamics> dynamics;
  UnmodelledForces unmodelled;  ///< detector of forces at the feet; off by default

 private:
  std::vector<Entry> entries_;
  std::vector<ParameterBlock> parameters_;
  std::vector<int> columns_;
  int np_, dense_rows_, step_rows_;
};

}  // namespace prime
