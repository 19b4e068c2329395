// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "bindings/bindings.hpp"

#include "linalg/solve_error.hpp"
#include "solver/interruption.hpp"

namespace {

/// `_core.NAME`, a RuntimeError, of a C++ exception.
template <class Error>
void bindError(const char* name, const char* doc) {
  namespace bp = boost::python;
  static PyObject* type = nullptr;
  const std::string full = std::string("prime_estimation._core.") + name;
  type = PyErr_NewExceptionWithDoc(full.c_str(), doc, PyExc_RuntimeError, nullptr);
  bp::scope().attr(name) = bp::handle<>(bp::borrowed(type));
  bp::register_exception_translator<Error>(
      +[](const Error& error) { PyErr_SetString(type, error.what()); });
}

}  // namespace

BOOST_PYTHON_MODULE(_core) {
  boost::python::import("crocoddyl");
  eigenpy::enableEigenPy();
  Eigen::setNbThreads(1);  // shared with libcrocoddyl: its products must not go multithreaded
  boost::python::def("eigen_threads", &Eigen::nbThreads,
                     "Threads of Eigen's products, also in libcrocoddyl: must be one.");
  bindError<prime::SolveError>(
      "SolveError",
      "A step of the contact dynamics, or a window, has no solution at the data it was given.");
  bindError<prime::Interrupted>("Interrupted", "A solve was ended because somebody asked for it.");
  prime::bindDynamics();
  prime::bindActions();
  prime::bindImu();
  prime::bindInverseDynamics();
  prime::bindSolver();
  prime::bindControl();
}
