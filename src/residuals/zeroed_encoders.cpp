// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include <pinocchio/algorithm/joint-configuration.hpp>

#include "residuals/residual.hpp"

namespace prime {

namespace {

/// Encoders whose zeros are estimated: `e = q (-) reading + zero` [rad], one zero per joint. They
/// take the place of the node's own rows of the encoders, which know no parameters. The reading is
/// a configuration (nq), of which the base is not used.
class ZeroedEncoders : public Residual {
 public:
  explicit ZeroedEncoders(const Context& context)
      : Residual("zeroed_encoders", static_cast<int>(context.dynamics.nj()),
                 static_cast<int>(context.dynamics.nq())) {}

  bool needsFloatingBase() const override { return false; }

  std::vector<ParameterBlock> parameters() const override {
    return {{"encoder_zero", static_cast<std::size_t>(rows)}};
  }

  void bind(Columns& columns) override {
    const auto& z = columns.variables;
    position_ = columns.take(z.velocity - rows, rows);
    zero_ = columns.takeParameters("encoder_zero");
    zero_first_ = columns.findParameters("encoder_zero").first;
  }

  void value(const NodePoint& at, const Reading& reading, Scratch*, Vector e) const override {
    Eigen::VectorXd difference(at.v.size());
    pinocchio::difference(at.dynamics->model(), reading.value, at.q, difference);
    e = difference.tail(rows) + at.p.segment(zero_first_, rows);
  }

  void jacobian(const NodePoint&, const Reading&, Scratch*, Matrix J) const override {
    for (int j = 0; j < rows; ++j) J(j, position_[j]) = J(j, zero_[j]) = 1.0;
  }

 private:
  std::vector<int> position_, zero_;
  int zero_first_ = 0;
};

const Residual::Registration registered("zeroed_encoders", [](const Residual::Context& context) {
  return std::make_shared<ZeroedEncoders>(context);
});

}  // namespace

}  // namespace prime
