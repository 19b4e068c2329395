// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "residuals/residual.hpp"

namespace prime {

namespace {

/// Wrench cone of rigid contacts: `e = max(h, 0)/dt` [N], a penalty on impulses outside of it. It
/// is no sensor, but has what one has: rows, weights, Jacobians. The reading has no value.
class WrenchCone : public Residual {
 public:
  explicit WrenchCone(const Context& context)
      : Residual("wrench_cone", static_cast<int>(context.dynamics.ncone()), 0, When::Step) {}

  void bind(Columns& columns) override {
    const auto& z = columns.variables;
    xi_ = columns.take(0, z.next);
    next_ = columns.take(z.next, z.position - z.next);
    position_ = columns.take(z.position, z.velocity - z.position);
    velocity_ = columns.take(z.velocity, z.parameters - z.velocity);
    parameters_ = {columns.takeParameters("height"), columns.takeParameters("friction")};
    first_ = {columns.findParameters("height").first, columns.findParameters("friction").first};
  }

  void value(const NodePoint& at, const Reading&, Scratch*, Vector e) const override {
    e = at.step->cone.h.cwiseMax(0.0) / at.dt;
  }

  void jacobian(const NodePoint& at, const Reading&, Scratch*, Matrix J) const override {
    const auto& cone = at.step->cone;
    for (int row = 0; row < rows; ++row) {
      if (!(cone.h[row] > 0.0)) continue;
      auto put = [&](const std::vector<int>& places, const auto& by) {
        for (std::size_t k = 0; k < places.size(); ++k) J(row, places[k]) = by[k] / at.dt;
      };
      put(xi_, cone.by.xi.row(row));
      put(next_, cone.by.next.row(row));
      put(position_, cone.by.q.row(row));
      put(velocity_, cone.by.v.row(row));
      for (std::size_t b = 0; b < parameters_.size(); ++b)
        put(parameters_[b], cone.by.parameters.row(row).segment(first_[b], parameters_[b].size()));
    }
  }

 private:
  std::vector<int> xi_, next_, position_, velocity_;
  std::vector<std::vector<int>> parameters_;
  std::vector<int> first_;
};

const Residual::Registration registered("wrench_cone", [](const Residual::Context& context) {
  return std::make_shared<WrenchCone>(context);
});

}  // namespace

}  // namespace prime
