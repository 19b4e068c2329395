// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "inertia/inverse_dynamics.hpp"

#include "bindings/bindings.hpp"

namespace prime {

using Eigen::MatrixXd;

void bindInverseDynamics() {
  bp::class_<InverseDynamics, std::shared_ptr<InverseDynamics>, boost::noncopyable>(
      "InverseDynamics", "Joint torques of many instants of a fixed-base machine, and derivatives.",
      bp::init<const pinocchio::Model&>((bp::arg("model"))))
      .def(
          "evaluate",
          +[](InverseDynamics& inverse, const Eigen::VectorXd& pi, const Eigen::Vector3d& gravity,
              const MatrixXd& q, const MatrixXd& v,
              const MatrixXd& a) { inverse.evaluate(pi, gravity, q, v, a); },
          (bp::arg("pi"), bp::arg("gravity"), bp::arg("q"), bp::arg("v"), bp::arg("a")),
          "At (n, nv) displacements, rates and accelerations; the results are attributes.")
      .add_property("torque", byValue(&InverseDynamics::torque), "(n, nv) [Nm].")
      .add_property("by_q", byValue(&InverseDynamics::by_q), "(n nv, nv).")
      .add_property("by_v", byValue(&InverseDynamics::by_v), "(n nv, nv).")
      .add_property("by_a", byValue(&InverseDynamics::by_a), "(n nv, nv), the mass matrix.")
      .add_property("by_inertia", byValue(&InverseDynamics::by_inertia), "(n nv, 10 bodies).")
      .add_property("by_gravity", byValue(&InverseDynamics::by_gravity), "(n nv, 3).");
}

}  // namespace prime
