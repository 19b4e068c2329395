// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include <algorithm>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <stdexcept>

#include "residuals/residual.hpp"

namespace prime {

namespace {

/// Encoders of which zeros are estimated: `e = q (-) reading + zero` [rad], a zero of each joint
/// that has one. They take the place of the node's own rows of the encoders, which know no
/// parameters. The reading is a configuration (nq), of which the base is not used.
class ZeroedEncoders : public Residual {
 public:
  explicit ZeroedEncoders(const Context& context)
      : Residual("zeroed_encoders", static_cast<int>(context.dynamics.nj()),
                 static_cast<int>(context.dynamics.nq())),
        zero_of_(context.zeros),
        nv_(context.dynamics.nv()) {
    if (static_cast<int>(zero_of_.size()) != rows)
      throw std::invalid_argument("zeroed encoders: one zero, or none (-1), per joint");
  }

  bool needsFloatingBase() const override { return false; }

  std::vector<ParameterBlock> parameters() const override {
    int count = 0;
    for (const int zero : zero_of_) count = std::max(count, zero + 1);
    return {{"encoder_zero", static_cast<std::size_t>(count)}};
  }

  void bind(Columns& columns) override {
    const auto& z = columns.variables;
    position_ = columns.take(z.velocity - rows, rows);
    zero_ = columns.takeParameters("encoder_zero");
    zero_first_ = columns.findParameters("encoder_zero").first;
  }

  std::unique_ptr<Scratch> createScratch() const override {
    auto out = std::make_unique<Own>();
    out->difference.setZero(nv_);
    return out;
  }

  void value(const NodePoint& at, const Reading& reading, Scratch* scratch,
             Vector e) const override {
    auto& difference = static_cast<Own*>(scratch)->difference;
    pinocchio::difference(at.dynamics->model(), reading.value, at.q, difference);
    e = difference.tail(rows);
    for (int j = 0; j < rows; ++j)
      if (zero_of_[j] >= 0) e[j] += at.p[zero_first_ + zero_of_[j]];
  }

  void jacobian(const NodePoint&, const Reading&, Scratch*, Matrix J) const override {
    for (int j = 0; j < rows; ++j) {
      J(j, position_[j]) = 1.0;
      if (zero_of_[j] >= 0) J(j, zero_[zero_of_[j]]) = 1.0;
    }
  }

 private:
  struct Own : Scratch {
    Eigen::VectorXd difference;  ///< (nv) of the configurations, the base among them
  };

  const std::vector<int> zero_of_;
  const Eigen::Index nv_;
  std::vector<int> position_, zero_;
  int zero_first_ = 0;
};

const Residual::Registration zeroed_encoders("zeroed_encoders",
                                             [](const Residual::Context& context) {
                                               return std::make_shared<ZeroedEncoders>(context);
                                             });

}  // namespace

}  // namespace prime
