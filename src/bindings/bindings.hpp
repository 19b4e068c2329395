// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// What the bindings share. Boost.Python through eigenpy, because Crocoddyl's and Pinocchio's Python
// classes live there.
#pragma once

#include <boost/mpl/vector.hpp>
#include <boost/python.hpp>
#include <eigenpy/eigenpy.hpp>
#include <vector>

#include "linalg/sizes.hpp"

namespace prime {

namespace bp = boost::python;

/// Long calls release the interpreter lock.
struct WithoutInterpreterLock {
  WithoutInterpreterLock() : state(PyEval_SaveThread()) {}
  ~WithoutInterpreterLock() { PyEval_RestoreThread(state); }
  PyThreadState* state;
};

template <class T>
std::vector<T> toVector(const bp::object& sequence) {
  return std::vector<T>(bp::stl_input_iterator<T>(sequence), bp::stl_input_iterator<T>());
}

template <class T>
bp::list toList(const std::vector<T>& items) {
  bp::list list;
  for (const auto& item : items) list.append(item);
  return list;
}

/// Getter of a member that returns a copy.
template <class C, class T>
auto byValue(T C::* member) {
  return bp::make_getter(member, bp::return_value_policy<bp::return_by_value>());
}

/// Property that copies a member, both ways: `.def(Copied("torque", &NodeInput::torque))`.
template <class C, class T>
struct Copied : bp::def_visitor<Copied<C, T>> {
  Copied(const char* name_, T C::* member_) : name(name_), member(member_) {}

  template <class Class>
  void visit(Class& c) const {
    c.add_property(name, byValue(member), bp::make_setter(member));
  }

  const char* name;
  T C::* member;
};

/// Property of a vector whose size does not change: `.def(Sized("node input", "torque",
/// &NodeInput::torque))`; the first name is for messages.
template <class C>
struct Sized : bp::def_visitor<Sized<C>> {
  Sized(const char* whose_, const char* name_, Eigen::VectorXd C::* member_)
      : whose(whose_), name(name_), member(member_) {}

  template <class Class>
  void visit(Class& c) const {
    const auto set = [own = *this](C& owner, const Eigen::VectorXd& value) {
      requireSize(own.whose, own.name, value.size(), (owner.*own.member).size());
      owner.*own.member = value;
    };
    using Signature = boost::mpl::vector3<void, C&, const Eigen::VectorXd&>;
    c.add_property(name, byValue(member),
                   bp::make_function(set, bp::default_call_policies(), Signature()));
  }

  const char *whose, *name;
  Eigen::VectorXd C::* member;
};

void bindDynamics();
void bindActions();
void bindImu();
void bindInverseDynamics();
void bindControl();
void bindSolver();

}  // namespace prime
