// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "residuals/impulse_residual.hpp"

namespace prime {

namespace {

/// Wrench cone of rigid contacts: `e = max(h, 0)/dt` [N], a penalty on impulses outside of it. It
/// is no sensor, but has what one has: rows, weights, Jacobians. The reading has no value.
class WrenchCone : public ImpulseResidual {
 public:
  explicit WrenchCone(const Context& context)
      : ImpulseResidual("wrench_cone", static_cast<int>(context.dynamics.ncone()), 0) {}

  void value(const NodePoint& at, const Reading&, Scratch*, Vector e) const override {
    e = at.step->cone.h.cwiseMax(0.0) / at.dt;
  }

  void jacobian(const NodePoint& at, const Reading&, Scratch*, Matrix J) const override {
    const auto& cone = at.step->cone;
    for (int row = 0; row < rows; ++row)
      if (cone.h[row] > 0.0) addRow(cone.by, row, 1.0 / at.dt, J.row(row));
  }
};

const Residual::Registration wrench_cone("wrench_cone", [](const Residual::Context& context) {
  return std::make_shared<WrenchCone>(context);
});

}  // namespace

}  // namespace prime
