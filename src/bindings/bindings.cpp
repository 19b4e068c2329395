// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "bindings/bindings.hpp"

#include "linalg/solve_error.hpp"

namespace {

/// `_core.SolveError`, a RuntimeError.
void bindSolveError() {
  namespace bp = boost::python;
  static PyObject* const type = PyErr_NewExceptionWithDoc(
      "prime_estimation._core.SolveError",
      "A step of the contact dynamics, or a window, has no solution at the data it was given.",
      PyExc_RuntimeError, nullptr);
  bp::scope().attr("SolveError") = bp::handle<>(bp::borrowed(type));
  bp::register_exception_translator<prime::SolveError>(
      +[](const prime::SolveError& error) { PyErr_SetString(type, error.what()); });
}

}  // namespace

BOOST_PYTHON_MODULE(_core) {
  boost::python::import("crocoddyl");
  eigenpy::enableEigenPy();
  Eigen::setNbThreads(1);  // shared with libcrocoddyl: its products must not go multithreaded
  boost::python::def("eigen_threads", &Eigen::nbThreads,
                     "Threads of Eigen's products, also in libcrocoddyl: must be one.");
  bindSolveError();
  prime::bindDynamics();
  prime::bindActions();
  prime::bindImu();
  prime::bindSolver();
  prime::bindControl();
}
