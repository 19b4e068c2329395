// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "nodes/measurement_model.hpp"

#include <algorithm>
#include <stdexcept>

namespace prime {

MeasurementModel::MeasurementModel(std::shared_ptr<ContactDynamics> dynamics_,
                                   const ImuMount& mount, const std::vector<std::string>& residuals,
                                   const bool mounts, const std::vector<int>& zeros)
    : dynamics(std::move(dynamics_)), np_(0), dense_rows_(0), step_rows_(0) {
  for (const auto& joint : mount.joints())
    if (joint.q + joint.nq > int(dynamics->nq()) || joint.v >= int(dynamics->nv()))
      throw std::invalid_argument(
          "measurement model: the IMU is behind a joint that the dynamics do not have");
  std::vector<std::shared_ptr<Residual>> made;
  for (const auto& name : residuals) {
    made.push_back(Residual::make(name, {*dynamics, mount, mounts, zeros}));
    if (made.back()->needsFloatingBase() && !dynamics->floating_base)
      throw std::invalid_argument("measurement model: " + name + " needs a floating base");
  }
  // those of the state first: a terminal node has no others
  std::stable_sort(made.begin(), made.end(),
                   [](const auto& a, const auto& b) { return a->when < b->when; });

  parameters_ = dynamics->parameterBlocks();
  for (const auto& residual : made)
    for (const auto& block : residual->parameters()) {
      const auto same = [&block](const auto& other) { return other.name == block.name; };
      if (std::none_of(parameters_.begin(), parameters_.end(), same)) parameters_.push_back(block);
    }
  for (const auto& block : parameters_) np_ += static_cast<int>(block.size);

  const int nv = dynamics->nv(), nxi = dynamics->nxi(), nu = nxi + nv;
  Columns columns({nxi, nu, nu + nv, nu + 2 * nv, nu + 2 * nv + np_});
  columns.parameters = parameters_;
  for (const auto& residual : made) {
    residual->bind(columns);
    entries_.push_back({residual, dense_rows_});
    dense_rows_ += residual->rows;
    if (residual->when == Residual::When::Step) step_rows_ += residual->rows;
  }
  columns_ = columns.taken;
}

std::size_t MeasurementModel::find(const std::string& name, std::size_t slot) const {
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (entries_[i].residual->name == name && slot-- == 0) return i;
  throw std::invalid_argument("node input: there is no place for another reading of '" + name +
                              "'");
}

std::vector<MeasurementModel::Rows> MeasurementModel::rows() const {
  const int nv = dynamics->nv(), nxi = dynamics->nxi(), nj = dynamics->nj();
  const int dense = nv + nxi + 2 * nj;
  std::vector<Rows> out = {{"force", 0, nv},
                           {"contact", nv, nxi},
                           {"encoders", nv + nxi, nj},
                           {"rates", nv + nxi + nj, nj}};
  for (const auto& entry : entries_)
    out.push_back({entry.residual->name, dense + entry.row, entry.residual->rows});
  return out;
}

}  // namespace prime
