// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "nodes/node_input.hpp"

#include <pinocchio/algorithm/joint-configuration.hpp>

#include "linalg/sizes.hpp"

namespace prime {

using Eigen::VectorXd;

namespace {

constexpr int kPoseSize = 7;  ///< position and quaternion

}  // namespace

NodeInput::NodeInput(std::shared_ptr<const MeasurementModel> model_)
    : model(std::move(model_)),
      torque(VectorXd::Zero(model->dynamics->nj())),
      torque_change(torque),
      base_wrench(VectorXd::Zero(model->dynamics->nv() - model->dynamics->nj())),
      outer_force(VectorXd::Zero(model->dynamics->nv())),
      weight_force(outer_force),
      weight_xi(VectorXd::Zero(model->dynamics->nxi())),
      nominal_force(weight_force),
      nominal_xi(weight_xi),
      height_offset(VectorXd::Zero(model->dynamics->nfeet())),
      slope_offset(VectorXd::Zero(2 * model->dynamics->nfeet())),
      anchor_offset(slope_offset),
      law(model->dynamics->options.law),
      stance(model->dynamics->nfeet(), Stance::Open) {
  encoders.value = pinocchio::neutral(model->dynamics->model());
  rates.value = encoders.weight = encoders.nominal = rates.weight = rates.nominal = torque;
  for (const auto& entry : model->entries()) {
    Reading reading;
    reading.value = VectorXd::Zero(entry.residual->values);
    reading.weight = reading.nominal = VectorXd::Zero(entry.residual->rows);
    if (reading.value.size() == kPoseSize) reading.value[kPoseSize - 1] = 1.0;
    readings.push_back(reading);
  }
}

Reading& NodeInput::reading(const std::string& name, const std::size_t slot) {
  if (name == "encoders") return encoders;
  if (name == "rates") return rates;
  return readings[model->find(name, slot)];
}

void NodeInput::set(const std::string& name, const VectorXd& value, const VectorXd& weight,
                    const double age, const std::size_t slot) {
  auto& to = reading(name, slot);
  requireSize("node input", "weight of " + name, weight.size(), to.weight.size());
  const auto base = base_wrench.size() > 0 ? kPoseSize : 0;
  const auto joints = name == "encoders" ? to.value.size() - base : to.value.size();
  if (value.size() == joints) {
    to.value.tail(joints) = value;
  } else {
    const auto alone = " (or " + std::to_string(joints) + " of the joints alone)";
    requireSize("node input", "value of " + name, value.size(), to.value.size(),
                joints < to.value.size() ? alone : "");
    to.value = value;
  }
  to.weight = to.nominal = weight;
  to.age = age;
}

}  // namespace prime
