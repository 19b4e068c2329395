// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// Whole-body control: dynamics of a legged robot, nodes and solver of a receding horizon.
#include <algorithm>
#include <optional>

#include "bindings/bindings.hpp"
#include "bindings/node_calls.hpp"
#include "control/action_whole_body.hpp"
#include "control/solver_receding_horizon.hpp"

namespace prime {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

using ActionData = crocoddyl::ActionDataAbstractTpl<double>;
using State = crocoddyl::StateAbstractTpl<double>;

std::shared_ptr<WholeBody> makeWholeBody(const pinocchio::Model& model, const bp::list& joints,
                                         const MatrixXd& positions, const VectorXd& radii,
                                         const double compliance) {
  const auto carriers = toVector<std::size_t>(joints);
  const auto n = static_cast<Eigen::Index>(carriers.size());
  if (positions.rows() != n || positions.cols() != 3 || radii.size() != n)
    throw std::invalid_argument("whole body: one joint, position (3) and radius per sphere");
  std::vector<StancePoint> points;
  for (std::size_t i = 0; i < carriers.size(); ++i)
    points.push_back({carriers[i], positions.row(i).transpose(), radii[i]});
  return std::make_shared<WholeBody>(model, points, compliance);
}

std::shared_ptr<ActionWholeBody> makeNode(const std::shared_ptr<State>& state,
                                          const std::shared_ptr<WholeBody>& body,
                                          const std::shared_ptr<WholeBodyWeights>& weights,
                                          const double dt) {
  requireCompiled("state", state);
  requireGiven("body", body);
  requireGiven("weights", weights);
  return std::make_shared<ActionWholeBody>(state, body, weights, dt);
}

const WholeBody::Data& bodyOf(const ActionDataPtr& data) {
  return static_cast<const ActionWholeBody::Data&>(*data).body;
}

/// (points, 3) forces of the ground at the last calc [N].
MatrixXd forces(ActionWholeBody& node, const ActionDataPtr& data) {
  requireData(node, data);
  const auto& d = bodyOf(data);
  MatrixXd out = MatrixXd::Zero(node.body->size(), 3);
  for (std::size_t k = 0; k < d.standing.size(); ++k)
    out.row(d.standing[k]) = d.lambda.segment<3>(3 * k).transpose() / d.dt;
  return out;
}

/// (points, 3) places of the points at the last calc [m].
MatrixXd points(ActionWholeBody& node, const ActionDataPtr& data) {
  requireData(node, data);
  MatrixXd out(node.body->size(), 3);
  for (std::size_t i = 0; i < node.body->size(); ++i)
    out.row(i) = bodyOf(data).point[i].transpose();
  return out;
}

void setFeet(WholeBodyTarget& target, const bp::list& stands, const MatrixXd& force,
             const MatrixXd& position, const MatrixXd& velocity, const VectorXd& weight) {
  const auto flags = toVector<bool>(stands);
  const auto n = static_cast<Eigen::Index>(target.stands.size());
  for (const auto* m : {&force, &position, &velocity})
    if (m->rows() != n || m->cols() != 3)
      throw std::invalid_argument("whole-body target: three numbers per point");
  if (flags.size() != target.stands.size() || weight.size() != n)
    throw std::invalid_argument("whole-body target: one flag and one weight per point");
  target.stands = flags;
  target.force = force;
  target.foot_position = position;
  target.foot_velocity = velocity;
  target.foot_weight = weight;
}

void setJoints(WholeBodyTarget& target, const VectorXd& position, const VectorXd& velocity,
               const VectorXd& torque) {
  for (const auto* v : {&position, &velocity, &torque})
    if (v->size() != target.torque.size())
      throw std::invalid_argument("whole-body target: one number per joint");
  target.joint_position = position;
  target.joint_velocity = velocity;
  target.torque = torque;
}

void setBase(WholeBodyTarget& target, const Vector3d& position, const Eigen::Matrix3d& rotation,
             const Vector3d& linear_velocity, const Vector3d& angular_velocity) {
  target.position = position;
  target.rotation = rotation;
  target.linear_velocity = linear_velocity;
  target.angular_velocity = angular_velocity;
}

bool improve(SolverRecedingHorizon& solver, const VectorXd& x0, const MatrixXd& xs,
             const MatrixXd& us, const std::size_t iterations) {
  const auto isOwn = [](const std::shared_ptr<crocoddyl::ActionModelAbstract>& model) {
    return dynamic_cast<const ActionWholeBody*>(model.get()) != nullptr;
  };
  const auto& models = solver.get_problem()->get_runningModels();
  std::optional<WithoutInterpreterLock> unlocked;  // nodes of others may be written in Python
  if (std::all_of(models.begin(), models.end(), isOwn) &&
      isOwn(solver.get_problem()->get_terminalModel()))
    unlocked.emplace();
  return solver.improve(x0, xs, us, iterations);
}

void bindWeights() {
  using W = WholeBodyWeights;
  bp::class_<W, std::shared_ptr<W>>("WholeBodyWeights", bp::init<Eigen::Index>(bp::arg("joints")))
      .def(Copied("position", &W::position))
      .def(Copied("orientation", &W::orientation))
      .def(Copied("linear_velocity", &W::linear_velocity))
      .def(Copied("angular_velocity", &W::angular_velocity))
      .def(Sized("whole-body weights", "joint_position", &W::joint_position))
      .def(Sized("whole-body weights", "joint_velocity", &W::joint_velocity))
      .def(Sized("whole-body weights", "torque", &W::torque))
      .def(Copied("force", &W::force))
      .def(Copied("foot_position", &W::foot_position))
      .def(Copied("foot_velocity", &W::foot_velocity))
      .def_readwrite("cone", &W::cone)
      .def_readwrite("torque_limit", &W::torque_limit)
      .def_readwrite("joint_limit", &W::joint_limit)
      .def(Sized("whole-body weights", "largest_torque", &W::largest_torque))
      .def(Sized("whole-body weights", "lowest_position", &W::lowest_position))
      .def(Sized("whole-body weights", "highest_position", &W::highest_position))
      .def_readwrite("friction", &W::friction)
      .def_readwrite("smallest_force", &W::smallest_force);
}

void bindNode() {
  bp::class_<WholeBody, std::shared_ptr<WholeBody>, boost::noncopyable>("WholeBody", bp::no_init)
      .def("__init__",
           bp::make_constructor(&makeWholeBody, bp::default_call_policies(),
                                (bp::arg("model"), bp::arg("joints"), bp::arg("positions"),
                                 bp::arg("radii"), bp::arg("compliance"))))
      .def("take_inertias", &WholeBody::takeInertias, bp::arg("model"),
           "Take over the inertias of another model of this robot, between two solves.");
  bp::class_<WholeBodyTarget>("WholeBodyTarget", bp::no_init)
      .def("set_base", &setBase,
           (bp::arg("position"), bp::arg("rotation"), bp::arg("linear_velocity"),
            bp::arg("angular_velocity")))
      .def("set_joints", &setJoints, (bp::arg("position"), bp::arg("velocity"), bp::arg("torque")))
      .def("set_feet", &setFeet,
           (bp::arg("stands"), bp::arg("force"), bp::arg("position"), bp::arg("velocity"),
            bp::arg("weight")));
  bp::class_<ActionWholeBody, bp::bases<crocoddyl::ActionModelAbstractTpl<double>>,
             std::shared_ptr<ActionWholeBody>, boost::noncopyable>("ActionWholeBody", bp::no_init)
      .def("__init__", bp::make_constructor(
                           &makeNode, bp::default_call_policies(),
                           (bp::arg("state"), bp::arg("body"), bp::arg("weights"), bp::arg("dt"))))
      .def_readwrite("dt", &ActionWholeBody::dt)
      .def_readonly("target", &ActionWholeBody::target)
      .def("createData", &ActionWholeBody::createData)
      .def("calc", &calc<ActionWholeBody>)
      .def("calc", &calcTerminal<ActionWholeBody>)
      .def("calcDiff", &calcDiff<ActionWholeBody>)
      .def("calcDiff", &calcDiffTerminal<ActionWholeBody>)
      .def("forces", &forces, "Forces (points, 3) of the ground at the last calc [N].")
      .def("points", &points, "Places (points, 3) of the points at the last calc [m].");
  bp::class_<ActionWholeBody::Data, bp::bases<ActionData>, std::shared_ptr<ActionWholeBody::Data>,
             boost::noncopyable>("ActionDataWholeBody", bp::no_init);
}

}  // namespace

void bindControl() {
  bindWeights();
  bindNode();
  bp::class_<SolverRecedingHorizon, bp::bases<crocoddyl::SolverFDDP>,
             std::shared_ptr<SolverRecedingHorizon>, boost::noncopyable>(
      "SolverRecedingHorizon", bp::init<std::shared_ptr<crocoddyl::ShootingProblem>>())
      .def("improve", &improve,
           (bp::arg("x0"), bp::arg("xs"), bp::arg("us"), bp::arg("iterations")),
           "Improve the guess (nx, N + 1), (nu, N) from the state x0; True when a step was taken.")
      .def("states", &SolverRecedingHorizon::states)
      .def("controls", &SolverRecedingHorizon::controls)
      .add_property("refused", &SolverRecedingHorizon::refused);
}

}  // namespace prime
