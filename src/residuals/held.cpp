// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "residuals/residual.hpp"

namespace prime {

namespace {

/// A robot that is not on its feet hangs, lies or is carried: its base moves slowly, or rests.
/// `e = v_base - reading` [m/s], base axes. It is no sensor, but has what one has.
class Held : public Residual {
 public:
  explicit Held(const Context&) : Residual("held", 3, 3) {}

  void bind(Columns& columns) override { velocity_ = columns.take(columns.variables.velocity, 6); }

  void value(const NodePoint& at, const Reading& reading, Scratch*, Vector e) const override {
    e = at.v.head<3>() - reading.value;
  }

  void jacobian(const NodePoint&, const Reading&, Scratch*, Matrix J) const override {
    for (int i = 0; i < 3; ++i) J(i, velocity_[i]) = 1.0;
  }

 private:
  std::vector<int> velocity_;
};

const Residual::Registration held("held", [](const Residual::Context& context) {
  return std::make_shared<Held>(context);
});

}  // namespace

}  // namespace prime
