// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include "residuals/residual.hpp"

namespace prime {

/// Base class of residuals of contact impulses: takes the variables that the impulses depend on.
class ImpulseResidual : public Residual {
 public:
  ImpulseResidual(const std::string& name, const int rows, const int values)
      : Residual(name, rows, values, When::Step) {}

  void bind(Columns& columns) override {
    const auto& z = columns.variables;
    xi_ = columns.take(0, z.next);
    next_ = columns.take(z.next, z.position - z.next);
    position_ = columns.take(z.position, z.velocity - z.position);
    velocity_ = columns.take(z.velocity, z.parameters - z.velocity);
    for (const char* const name : {"height", "friction", "slope", "softness"}) {
      const auto places = columns.takeParameters(name);
      const int first = columns.findParameters(name).first;
      for (std::size_t i = 0; i < places.size(); ++i)
        parameters_.push_back({static_cast<int>(first + i), places[i]});
    }
  }

 protected:
  /// A row of J += scale times row `from` of derivatives.
  void addRow(const ImpulseDerivatives& by, const int from, const double scale,
              Eigen::Ref<Eigen::RowVectorXd, 0, Eigen::InnerStride<>> row) const {
    auto add = [&](const std::vector<int>& places, const Eigen::MatrixXd& rows) {
      for (std::size_t k = 0; k < places.size(); ++k) row[places[k]] += scale * rows(from, k);
    };
    add(xi_, by.xi);
    add(next_, by.next);
    add(position_, by.q);
    add(velocity_, by.v);
    for (const auto& [index, place] : parameters_) row[place] += scale * by.parameters(from, index);
  }

 private:
  std::vector<int> xi_, next_, position_, velocity_;
  std::vector<std::pair<int, int>> parameters_;  ///< of the dynamics: index, place
};

}  // namespace prime
