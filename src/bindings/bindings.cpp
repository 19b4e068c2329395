// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "bindings/bindings.hpp"

BOOST_PYTHON_MODULE(_core) {
  boost::python::import("crocoddyl");
  eigenpy::enableEigenPy();
  Eigen::setNbThreads(1);  // shared with libcrocoddyl: its products must not go multithreaded
  boost::python::def("eigen_threads", &Eigen::nbThreads,
                     "Threads of Eigen's products, also in libcrocoddyl: must be one.");
  prime::bindDynamics();
  prime::bindActions();
  prime::bindImu();
  prime::bindSolver();
  prime::bindControl();
}
