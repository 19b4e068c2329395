// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include <limits>

#include "bindings/bindings.hpp"
#include "bindings/node_calls.hpp"
#include "nodes/action_arrival.hpp"
#include "nodes/action_measurement.hpp"
#include "solver/solver_multiple_shooting.hpp"

namespace prime {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

bool solve(SolverMultipleShooting& solver, const bp::list& xs, const bp::list& us,
           const std::size_t maxiter, const double regularization) {
  const auto x = toVector<VectorXd>(xs), u = toVector<VectorXd>(us);
  const WithoutInterpreterLock unlocked;
  return solver.solve(x, u, maxiter, false, regularization);
}

std::vector<VectorXd> rowsOf(const MatrixXd& rows) {
  std::vector<VectorXd> out;
  for (Eigen::Index i = 0; i < rows.rows(); ++i) out.push_back(rows.row(i).transpose());
  return out;
}

/// From the vector `first` on.
MatrixXd rowsFrom(const std::vector<VectorXd>& vectors, const std::size_t first) {
  MatrixXd out(vectors.size() - first, vectors.back().size());
  for (std::size_t i = first; i < vectors.size(); ++i) out.row(i - first) = vectors[i].transpose();
  return out;
}

/// States (N + 1, nx) and controls (N, nu) behind the arrival node, whose control follows from
/// them.
bp::tuple improve(SolverMultipleShooting& solver, const MatrixXd& states, const MatrixXd& controls,
                  const std::size_t iterations, const double contact, const double force,
                  const double reading) {
  const auto& models = solver.get_problem()->get_runningModels();
  const auto* arrival = dynamic_cast<const ActionArrival*>(models.front().get());
  if (!arrival || std::size_t(controls.rows()) + 1 != models.size() ||
      states.rows() != controls.rows() + 1)
    throw std::invalid_argument(
        "window problem: a state per node behind the arrival node, and a "
        "control for all but the last");
  auto xs = rowsOf(states), us = rowsOf(controls);
  us.insert(us.begin(), arrival->correction(xs.front()));
  xs.insert(xs.begin(), xs.front());
  {
    const WithoutInterpreterLock unlocked;
    solver.improve(xs, us, iterations, {contact, force, reading});
  }
  return bp::make_tuple(rowsFrom(solver.get_xs(), 1), rowsFrom(solver.get_us(), 1));
}

/// What the newest nodes say, with covariances: of `jx (dx, dp)` at the last state, of the
/// parameters; at the last running node contact points (nc, 3) [m], forces (3 nc) [N], their
/// covariance, velocities (3 nc) [m/s] of the points, in world axes.
bp::tuple newest(SolverMultipleShooting& solver, const MatrixXd& jx) {
  const auto& problem = *solver.get_problem();
  const auto* node =
      dynamic_cast<const ActionMeasurement*>(problem.get_runningModels().back().get());
  if (!node) throw std::invalid_argument("window problem: the last node has no contacts");
  const auto& data = problem.get_runningDatas().back();
  VectorXd force;
  MatrixXd by_z;
  SolverMultipleShooting::Newest covariance;
  {
    const WithoutInterpreterLock unlocked;
    node->contactForces(data, force, by_z);
    covariance = solver.newestPosterior(jx, by_z);
  }
  const auto& last = static_cast<const ActionMeasurement::Data&>(*data);
  ActionMeasurement::addUnmodelled(last, covariance.node);
  const auto& out = last.dynamics.out;
  MatrixXd points(out.point.size(), 3);
  for (std::size_t i = 0; i < out.point.size(); ++i) points.row(i) = out.point[i].transpose();
  return bp::make_tuple(covariance.state, covariance.parameters, points, force, covariance.node,
                        VectorXd(out.velocity));
}

void setInterruption(SolverMultipleShooting& solver,
                     const std::shared_ptr<Interruption>& interruption) {
  requireGiven("interruption", interruption);
  solver.interruption = interruption;
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

void computePosterior(SolverMultipleShooting& solver, const std::size_t last) {
  const WithoutInterpreterLock unlocked;
  solver.computePosterior(last);
}

/// Of each running node behind the arrival node, what `f(node, t)` says: (nodes, size).
template <class F>
MatrixXd byNode(const SolverMultipleShooting& solver, const F& f) {
  const auto& models = solver.get_problem()->get_runningModels();
  std::vector<VectorXd> rows;
  for (std::size_t t = 0; t < models.size(); ++t)
    if (const auto* node = dynamic_cast<const ActionMeasurement*>(models[t].get()))
      rows.push_back(f(*node, t));
  MatrixXd out(rows.size(), rows.empty() ? 0 : rows.front().size());
  for (std::size_t i = 0; i < rows.size(); ++i) out.row(i) = rows[i].transpose();
  return out;
}

/// Rows of a node's residual for w, without the weights that outliers have by now.
MatrixXd unexplained(const SolverMultipleShooting& solver) {
  const auto& datas = solver.get_problem()->get_runningDatas();
  return byNode(solver, [&](const ActionMeasurement& node, const std::size_t t) -> VectorXd {
    return datas[t]->r.head(node.nv()).cwiseQuotient(node.input->weight_force);
  });
}

/// Largest disturbance of each foot; us: of the running nodes behind the arrival node.
MatrixXd slack(const SolverMultipleShooting& solver, const bp::list& us) {
  const auto u = toVector<VectorXd>(us);
  const auto& models = solver.get_problem()->get_runningModels();
  if (u.size() > models.size()) throw std::invalid_argument("window problem: a control per node");
  const std::size_t first = models.size() - u.size();
  for (std::size_t t = first; t < models.size(); ++t)
    requireSize("window problem", "a control", u[t - first].size(), models[t]->get_nu());
  return byNode(solver, [&](const ActionMeasurement& node, const std::size_t t) {
    const VectorXd xi =
        u.at(t - first).tail(node.nxi()).cwiseAbs().cwiseProduct(node.input->nominal_xi);
    const auto& dynamics = *node.model->dynamics;
    VectorXd largest(dynamics.nfeet());
    for (Eigen::Index f = 0; f < largest.size(); ++f)
      largest[f] = xi.segment(dynamics.foot_xi[f], dynamics.foot_xi_size[f]).maxCoeff();
    return largest;
  });
}

VectorXd residualVariance(const SolverMultipleShooting& solver, const std::size_t k) {
  const auto& problem = *solver.get_problem();
  const auto* node =
      dynamic_cast<const ActionMeasurement*>(problem.get_runningModels().at(k).get());
  if (!node) throw std::invalid_argument("window problem: this node has no readings");
  return solver.varianceOf(k, node->residualJacobian(problem.get_runningDatas()[k]));
}

MatrixXd footForces(const SolverMultipleShooting& solver) {
  const auto& datas = solver.get_problem()->get_runningDatas();
  return byNode(solver, [&](const ActionMeasurement& node, const std::size_t t) {
    const auto& dynamics = *node.model->dynamics;
    const auto& data = static_cast<const ActionMeasurement::Data&>(*datas[t]);
    const auto& impulse = data.dynamics.out.impulse;
    VectorXd vertical = VectorXd::Zero(dynamics.nfeet());
    for (std::size_t i = 0; i < dynamics.nc(); ++i)
      vertical[dynamics.contacts[i].foot] += impulse[3 * i + 2] / node.dt;
    return vertical;
  });
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
              const double reading) { s.reweight({contact, force, reading}); },
          (bp::arg("contact_dof"), bp::arg("force_dof"),
           bp::arg("reading_dof") = HeavyTails::kGaussian),
          "New weights of the disturbances with heavy tails, for the next iteration.")
      .def("improve", &improve,
           (bp::arg("xs"), bp::arg("us"), bp::arg("iterations"), bp::arg("contact_dof"),
            bp::arg("force_dof"), bp::arg("reading_dof")),
           "Iterations as of `solve`, each with `reweight` behind it, at most so many: from the "
           "states "
           "(N + 1, nx) and controls (N, nu) behind the arrival node to those that it returns.")
      .def("rotate", &SolverMultipleShooting::rotate,
           "The first running node behind the arrival node becomes the last.")
      .def("residual_squares", &SolverMultipleShooting::residualSquares,
           "By row of a node's residual: sum of its squares over the running nodes, and how many "
           "there are, (nr, 2).")
      .def("first_residuals", &SolverMultipleShooting::firstResiduals, bp::arg("size"),
           "The first rows of each running node's residual, (T, size).")
      .def("newest", &newest, bp::arg("jx"),
           "Covariances of jx (dx, dp) at the last state and of the parameters; points (nc, 3), "
           "forces (3 nc), their covariance and velocities (3 nc) of the contacts at the last "
           "running node.")
      .def("unexplained", &unexplained,
           "Generalized forces w [N, Nm] that the running nodes need beside the measured torques, "
           "(T, nv).")
      .def("slack", &slack, bp::arg("us"),
           "Largest contact disturbance of each foot in these controls, in standard deviations, "
           "(T, nf).")
      .def("residual_variance", &residualVariance, bp::arg("k"),
           "Posterior variance of each row of the residual of running node k.")
      .def("foot_forces", &footForces,
           "Vertical forces [N] at the feet at the running nodes, (T, nf).")
      .def("compute_posterior", &computePosterior,
           bp::arg("last") = std::numeric_limits<std::size_t>::max(),
           "Posterior covariances of the states up to `last`, by default of all.")
      .def("posterior", &SolverMultipleShooting::posterior)
      .def("covariance_at", &SolverMultipleShooting::covarianceAt)
      .def("covariance_of", &SolverMultipleShooting::covarianceOf, (bp::arg("k"), bp::arg("jz")),
           "Posterior covariance of jz dz at running node k, z = (xi, v+, q, v, p).")
      .def("variance_of", &SolverMultipleShooting::varianceOf, (bp::arg("k"), bp::arg("jz")),
           "Its diagonal.")
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
      .def("set_bound", &SolverMultipleShooting::setBound,
           (bp::arg("parameter"), bp::arg("least"), bp::arg("most")),
           "Keep a parameter between two values from now on; infinite: no bound.")
      .def(
          "hold",
          +[](SolverMultipleShooting& s, const bp::list& parameters) {
            s.setHeld(toVector<int>(parameters));
          },
          bp::arg("parameters"),
          "Parameters that keep their values from now on, without a column in the recursion: for "
          "the posterior they are known.")
      .add_property("interruption", byValue(&SolverMultipleShooting::interruption),
                    &setInterruption)
      .def_readwrite("settled", &SolverMultipleShooting::settled,
                     "What may be left of the cost [chi-square / 2], as the last step and its new "
                     "weights tell, where `improve` takes no further one; 0 (default): all.")
      .add_property(
          "left_open", +[](const SolverMultipleShooting& s) { return toList(s.leftOpen()); },
          +[](SolverMultipleShooting& s, const bp::list& components) {
            s.setLeftOpen(toVector<int>(components));
          },
          "Components of the state's tangent, without parameters, whose gap at the last state asks "
          "for no further iteration of `improve`: the next window closes it.")
      .def_readwrite("reach", &SolverMultipleShooting::reach,
                     "Distance [m/s, rad/s; in one step for positions] within which a node's "
                     "dynamics are not linearized anew; 0 (default): always.")
      .def_readwrite("rollout", &SolverMultipleShooting::rollout)
      .def_readwrite("method", &SolverMultipleShooting::method)
      .def_readwrite("threads", &SolverMultipleShooting::threads);
}

}  // namespace prime
