// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// Calls of nodes, with a look at what they are given: the nodes themselves trust their callers.
#pragma once

#include <boost/python/wrapper.hpp>
#include <crocoddyl/core/action-base.hpp>
#include <memory>
#include <stdexcept>
#include <string>

#include "linalg/sizes.hpp"

namespace prime {

using ActionDataPtr = std::shared_ptr<crocoddyl::ActionDataAbstractTpl<double>>;

/// Python hands None as a pointer to nothing.
template <class T>
void requireGiven(const char* name, const std::shared_ptr<T>& pointer) {
  if (!pointer) throw std::invalid_argument(std::string(name) + ": not None");
}

/// What is called while other threads of Python run must not be written in it.
template <class T>
void requireCompiled(const char* name, const std::shared_ptr<T>& object) {
  requireGiven(name, object);
  if (dynamic_cast<const boost::python::detail::wrapper_base*>(object.get()))
    throw std::invalid_argument(std::string(name) + ": not one that is written in Python");
}

/// What is read as the data of a node is its own, and not that of a node of another kind or size.
template <class Model>
void requireData(Model& model, const ActionDataPtr& data) {
  if (data && model.checkData(data)) return;
  throw std::invalid_argument("node: these data are not of such a node: createData() makes them");
}

template <class M>
void requireState(M& model, const ActionDataPtr& data, const Eigen::VectorXd& x) {
  requireData(model, data);
  requireSize("node", "x", x.size(), model.get_state()->get_nx());
}
template <class M>
void requirePoint(M& model, const ActionDataPtr& data, const Eigen::VectorXd& x,
                  const Eigen::VectorXd& u) {
  requireState(model, data, x);
  requireSize("node", "u", u.size(), model.get_nu());
}

template <class M>
void calc(M& model, const ActionDataPtr& data, const Eigen::VectorXd& x, const Eigen::VectorXd& u) {
  requirePoint(model, data, x, u);
  model.calc(data, x, u);
}
template <class M>
void calcTerminal(M& model, const ActionDataPtr& data, const Eigen::VectorXd& x) {
  requireState(model, data, x);
  model.calc(data, x);
}
template <class M>
void calcDiff(M& model, const ActionDataPtr& data, const Eigen::VectorXd& x,
              const Eigen::VectorXd& u) {
  requirePoint(model, data, x, u);
  model.calcDiff(data, x, u);
}
template <class M>
void calcDiffTerminal(M& model, const ActionDataPtr& data, const Eigen::VectorXd& x) {
  requireState(model, data, x);
  model.calcDiff(data, x);
}

}  // namespace prime
