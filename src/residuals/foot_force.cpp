// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "residuals/impulse_residual.hpp"

namespace prime {

namespace {

/// Foot force sensors: `e_f = (1 + g_f) F_f + o_f - reading_f` [N], one per foot,
/// triangular mean centred at the node.
///
/// F_f: vertical force at the foot, sum over its contacts [N]. The reading is in newtons as far as
/// its unit is known; what is left are the parameters `foot_force_gain` (g) and
/// `foot_force_offset` (o), one per foot.
class FootForce : public ImpulseResidual {
 public:
  explicit FootForce(const Context& context)
      : ImpulseResidual("foot_force", static_cast<int>(context.dynamics.nfeet()),
                        static_cast<int>(context.dynamics.nfeet())),
        contacts_(context.dynamics.nfeet()) {
    for (std::size_t i = 0; i < context.dynamics.nc(); ++i)
      contacts_[context.dynamics.contacts[i].foot].push_back(i);
  }

  std::vector<ParameterBlock> parameters() const override {
    return {{"foot_force_gain", contacts_.size()}, {"foot_force_offset", contacts_.size()}};
  }

  std::vector<int> outliers() const override { return std::vector<int>(rows, 1); }

  void bind(Columns& columns) override {
    ImpulseResidual::bind(columns);
    gain_ = columns.takeParameters("foot_force_gain");
    offset_ = columns.takeParameters("foot_force_offset");
    gain_first_ = columns.findParameters("foot_force_gain").first;
    offset_first_ = columns.findParameters("foot_force_offset").first;
  }

  void value(const NodePoint& at, const Reading& reading, Scratch*, Vector e) const override {
    for (int f = 0; f < rows; ++f)
      e[f] = gain(at, f) * force(at, f) + at.p[offset_first_ + f] - reading.value[f];
  }

  void jacobian(const NodePoint& at, const Reading&, Scratch*, Matrix J) const override {
    const auto& by = at.dynamics->impulseDerivatives(*at.step);
    for (int f = 0; f < rows; ++f) {
      for (const auto i : contacts_[f]) addRow(by, 3 * i + 2, gain(at, f) / at.dt, J.row(f));
      J(f, gain_[f]) = force(at, f);
      J(f, offset_[f]) = 1.0;
    }
  }

 private:
  double gain(const NodePoint& at, const int f) const { return 1.0 + at.p[gain_first_ + f]; }
  double force(const NodePoint& at, const int f) const {
    double sum = 0.0;
    for (const auto i : contacts_[f]) sum += at.step->out.impulse[3 * i + 2];
    return sum / at.dt;
  }

  std::vector<std::vector<int>> contacts_;
  std::vector<int> gain_, offset_;
  int gain_first_ = 0, offset_first_ = 0;
};

const Residual::Registration foot_force("foot_force", [](const Residual::Context& context) {
  return std::make_shared<FootForce>(context);
});

}  // namespace

}  // namespace prime
