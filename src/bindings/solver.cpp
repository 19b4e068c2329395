// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "bindings/bindings.hpp"
#include "solver/solver_multiple_shooting.hpp"

namespace prime {

using Eigen::VectorXd;

namespace {

bool solve(SolverMultipleShooting& solver, const bp::list& xs, const bp::list& us,
           const std::size_t maxiter, const double regularization) {
  const auto x = toVector<VectorXd>(xs), u = toVector<VectorXd>(us);
  const WithoutInterpreterLock unlocked;
  return solver.solve(x, u, maxiter, false, regularization);
}

bp::tuple steps(const SolverMultipleShooting& solver) {
  return bp::make_tuple(toList(solver.dxs()), toList(solver.dus()));
}

bp::tuple direction(SolverMultipleShooting& solver, const bp::list& xs, const bp::list& us,
                    const double regularization) {
  const auto x = toVector<VectorXd>(xs), u = toVector<VectorXd>(us);
  {
    const WithoutInterpreterLock unlocked;
    solver.direction(x, u, regularization);
  }
  return steps(solver);
}

bp::tuple redirect(SolverMultipleShooting& solver) {
  {
    const WithoutInterpreterLock unlocked;
    solver.redirect();
  }
  return steps(solver);
}

void computePosterior(SolverMultipleShooting& solver) {
  const WithoutInterpreterLock unlocked;
  solver.computePosterior();
}

}  // namespace

void bindSolver() {
  bp::enum_<Rollout>("Rollout")
      .value("multiple", Rollout::Multiple)
      .value("feasible", Rollout::Feasible)
      .value("single", Rollout::Single);
  bp::enum_<ParameterMethod>("ParameterMethod")
      .value("schur", ParameterMethod::Schur)
      .value("nullspace", ParameterMethod::Nullspace);
  bp::class_<Interruption, std::shared_ptr<Interruption>, boost::noncopyable>(
      "Interruption", "Request of another thread to end what is being solved.")
      .def("request", &Interruption::request)
      .add_property("requested", &Interruption::requested);
  bp::class_<SolverMultipleShooting, bp::bases<crocoddyl::SolverAbstract>,
             std::shared_ptr<SolverMultipleShooting>, boost::noncopyable>(
      "SolverMultipleShooting", bp::init<std::shared_ptr<crocoddyl::ShootingProblem>>())
      .def("solve", &solve,
           (bp::arg("xs"), bp::arg("us"), bp::arg("maxiter"), bp::arg("regularization") = 0.0))
      .def("direction", &direction, (bp::arg("xs"), bp::arg("us"), bp::arg("regularization") = 0.0),
           "Full step (dxs, dus) at (xs, us), not taken.")
      .def("redirect", &redirect,
           "The full step for other residuals of the nodes, on the last linearization.")
      .def("backward", &SolverMultipleShooting::backward,
           "Repeat the backward pass on the last linearization.")
      .def("forward", &SolverMultipleShooting::forward,
           "Repeat the forward pass after it: the full step.")
      .def(
          "reweight",
          +[](SolverMultipleShooting& s, const double contact, const double force,
              const double reading) {
            s.reweight({contact, force, reading});
          },
          (bp::arg("contact_dof"), bp::arg("force_dof"),
           bp::arg("reading_dof") = HeavyTails::kGaussian),
          "New weights of the disturbances with heavy tails, for the next iteration.")
      .def("compute_posterior", &computePosterior)
      .def("posterior", &SolverMultipleShooting::posterior)
      .def("covariance_at", &SolverMultipleShooting::covarianceAt)
      .def("covariance_of", &SolverMultipleShooting::covarianceOf, (bp::arg("k"), bp::arg("jz")),
           "Posterior covariance of jz dz at running node k, z = (xi, v+, q, v, p).")
      .def(
          "states", +[](const SolverMultipleShooting& s) { return toList(s.get_xs()); })
      .def(
          "controls", +[](const SolverMultipleShooting& s) { return toList(s.get_us()); })
      .add_property("largest_gap", &SolverMultipleShooting::largestGap)
      .add_property("refused", &SolverMultipleShooting::refused)
      .add_property("rank", &SolverMultipleShooting::rank)
      .add_property(
          "largest_step",
          +[](const SolverMultipleShooting& s) { return VectorXd(s.largestStep()); },
          &SolverMultipleShooting::setLargestStep,
          "Trust region: bound (np,) of the change of each parameter in an iteration, inf for "
          "none; empty (default): no bounds.")
      .add_property("interruption", byValue(&SolverMultipleShooting::interruption),
                    bp::make_setter(&SolverMultipleShooting::interruption))
      .def_readwrite("rollout", &SolverMultipleShooting::rollout)
      .def_readwrite("method", &SolverMultipleShooting::method)
      .def_readwrite("threads", &SolverMultipleShooting::threads);
}

}  // namespace prime
