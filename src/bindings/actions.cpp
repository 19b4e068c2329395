// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// Nodes and what they are given, their state, the arrival node.
#include <algorithm>

#include "bindings/bindings.hpp"
#include "bindings/node_calls.hpp"
#include "nodes/action_arrival.hpp"
#include "nodes/action_measurement.hpp"

namespace prime {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

using State = crocoddyl::StateAbstractTpl<double>;
using ActionData = crocoddyl::ActionDataAbstractTpl<double>;

bp::tuple contactForces(ActionMeasurement& node, const ActionDataPtr& data) {
  requireData(node, data);
  VectorXd f;
  MatrixXd f_z;
  node.contactForces(data, f, f_z);
  return bp::make_tuple(f, f_z);
}

bp::dict contactKinematics(ActionMeasurement& node, const ActionDataPtr& data) {
  requireData(node, data);
  const auto& out = static_cast<const ActionMeasurement::Data&>(*data).dynamics.out;
  const int nc = out.gap.size();
  MatrixXd points(nc, 3);
  VectorXd gaps(nc);
  for (int i = 0; i < nc; ++i) points.row(i) = out.point[i].transpose(), gaps[i] = out.gap[i];
  bp::dict dict;
  dict["points"] = points;
  dict["gaps"] = gaps;
  dict["velocity"] = VectorXd(out.velocity);
  dict["jacobian"] = MatrixXd(out.J);
  return dict;
}

void setStance(NodeInput& input, const bp::list& flags) {
  const auto stance = toVector<Stance>(flags);
  requireSize("node input", "stance", stance.size(), input.stance.size());
  input.stance = stance;
}

bp::list blocksOf(const MeasurementModel& model) {
  bp::list blocks;
  for (const auto& block : model.parameters())
    blocks.append(bp::make_tuple(block.name, block.size));
  return blocks;
}

bp::list rowsOf(const MeasurementModel& model) {
  bp::list out;
  for (const auto& rows : model.rows())
    out.append(bp::make_tuple(rows.name, rows.first, rows.size));
  return out;
}

std::shared_ptr<MeasurementModel> makeModel(const std::shared_ptr<ContactDynamics>& dynamics,
                                            const ImuMount& mount, const bp::list& residuals,
                                            const bool mounts, const bp::list& zeros) {
  requireGiven("dynamics", dynamics);
  const auto names = toVector<std::string>(residuals);
  return std::make_shared<MeasurementModel>(dynamics, mount, names, mounts, toVector<int>(zeros));
}

std::shared_ptr<NodeInput> makeInput(const std::shared_ptr<MeasurementModel>& model) {
  requireGiven("measurement model", model);
  return std::make_shared<NodeInput>(model);
}

void lookForForces(MeasurementModel& model, const bp::list& joints, const double stddev,
                   const double odds, const double least, const double stretched,
                   const double stop) {
  std::vector<std::vector<int>> by_contact;
  for (const auto& own : toVector<bp::list>(joints)) by_contact.push_back(toVector<int>(own));
  if (!model.dynamics->floating_base)
    throw std::invalid_argument("unmodelled forces: they are told by a base that is free");
  if (by_contact.size() != model.dynamics->nc())
    throw std::invalid_argument("unmodelled forces: the joints of every contact are needed");
  model.unmodelled =
      UnmodelledForces(model.dynamics->model(), by_contact, {stddev, odds, least, stretched, stop});
}

std::shared_ptr<ActionLinear> makeLinear(const std::shared_ptr<State>& state, const MatrixXd& A,
                                         const MatrixXd& B, const VectorXd& c, const MatrixXd& C,
                                         const MatrixXd& D, const VectorXd& z,
                                         const std::size_t np) {
  requireCompiled("state", state);
  return std::make_shared<ActionLinear>(state, A, B, c, C, D, z, np);
}

std::shared_ptr<ActionMeasurement> makeMeasurement(const std::shared_ptr<StateParameters>& state,
                                                   const std::shared_ptr<MeasurementModel>& model,
                                                   const bool inverse) {
  requireGiven("state", state);
  requireGiven("measurement model", model);
  return std::make_shared<ActionMeasurement>(state, model, inverse);
}

std::shared_ptr<ActionArrival> makeArrival(const std::shared_ptr<State>& state,
                                           const VectorXd& reference, const MatrixXd& covariance) {
  requireCompiled("state", state);
  return std::make_shared<ActionArrival>(state, reference, covariance);
}

void replacePrior(ActionArrival& arrival, const bp::list& indices, const MatrixXd& rows,
                  const VectorXd& stddev, const VectorXd& change) {
  arrival.replacePrior(toVector<int>(indices), rows, stddev, change);
}

bp::tuple regression(const ActionArrival& arrival, const int own, const bp::list& others,
                     const double ridge) {
  const auto found = arrival.regression(own, toVector<int>(others), ridge);
  return bp::make_tuple(found.row, found.variance);
}

void marginalize(ActionArrival& arrival, ActionLeastSquares& node, const ActionDataPtr& data,
                 const VectorXd& x0, const VectorXd& u0, const VectorXd& next,
                 const MatrixXd& noise) {
  requireData(node, data);
  const WithoutInterpreterLock unlocked;
  arrival.marginalize(node, data, x0, u0, next, noise);
}

VectorXd integrate(const StateParameters& state, const VectorXd& x, const VectorXd& dx) {
  requireSize("state", "x", x.size(), state.get_nx());
  requireSize("state", "dx", dx.size(), state.get_ndx());
  VectorXd out(x.size());
  state.integrate(x, dx, out);
  return out;
}
VectorXd difference(const StateParameters& state, const VectorXd& x0, const VectorXd& x1) {
  requireSize("state", "x0", x0.size(), state.get_nx());
  requireSize("state", "x1", x1.size(), state.get_nx());
  VectorXd out(state.get_ndx());
  state.diff(x0, x1, out);
  return out;
}

/// Readings stand in the order of their measurement model, and have its sizes.
bool areAlike(const MeasurementModel& one, const MeasurementModel& other) {
  const auto &a = *one.dynamics, &b = *other.dynamics;
  const auto same = [](const MeasurementModel::Entry& x, const MeasurementModel::Entry& y) {
    return x.residual->name == y.residual->name && x.residual->rows == y.residual->rows &&
           x.residual->values == y.residual->values;
  };
  return a.nq() == b.nq() && a.nv() == b.nv() && a.nj() == b.nj() && a.nxi() == b.nxi() &&
         a.nfeet() == b.nfeet() &&
         std::equal(one.entries().begin(), one.entries().end(), other.entries().begin(),
                    other.entries().end(), same);
}

void setInput(ActionMeasurement& node, const std::shared_ptr<NodeInput>& input) {
  requireGiven("input", input);
  if (!areAlike(*input->model, *node.model))
    throw std::invalid_argument("node: this input has the readings of another measurement model");
  node.input = input;
}

void linearize(ActionMeasurement& node, const ActionDataPtr& data, const VectorXd& x) {
  requireState(node, data, x);
  node.linearize(data, x);
}

VectorXd reweight(ActionMeasurement& node, const ActionDataPtr& data, VectorXd u,
                  const double contact, const double force) {
  requireData(node, data);
  requireSize("node", "u", u.size(), node.get_nu());
  node.reweight(data, u, {contact, force});
  return u;
}

void expectVelocity(ActionMeasurement& node, const ActionDataPtr& data, const VectorXd& velocity,
                    const ActionDataPtr& before) {
  requireData(node, data);
  requireSize("node input", "velocity", velocity.size(), node.nv());
  auto& d = static_cast<ActionMeasurement::Data&>(*data);
  d.guess = velocity;
  d.has_guess = true;
  if (!before) return;
  requireData(node, before);
  node.follow(d, static_cast<const ActionMeasurement::Data&>(*before));
}

MatrixXd unmodelledCovariance(ActionMeasurement& node, const ActionDataPtr& data) {
  requireData(node, data);
  const auto size = 3 * node.dynamics->nc();
  MatrixXd covariance = MatrixXd::Zero(size, size);
  node.addUnmodelled(static_cast<const ActionMeasurement::Data&>(*data), covariance);
  return covariance;
}

VectorXd unmodelledForce(ActionMeasurement& node, const ActionDataPtr& data) {
  requireData(node, data);
  VectorXd force = VectorXd::Zero(3 * node.dynamics->nc());
  const auto& found = static_cast<const ActionMeasurement::Data&>(*data).unmodelled;
  for (std::size_t i = 0; i < found.size(); ++i) force.segment<3>(3 * i) = found[i].mean;
  return force;
}

void bindInput() {
  bp::def(
      "residuals", +[]() { return toList(Residual::names()); },
      "Names of the residuals that a measurement model can have.");

  bp::class_<MeasurementModel, std::shared_ptr<MeasurementModel>, boost::noncopyable>(
      "MeasurementModel", "Dynamics, residuals of the sensors, layout of parameters and rows.",
      bp::no_init)
      .def("__init__",
           bp::make_constructor(&makeModel, bp::default_call_policies(),
                                (bp::arg("dynamics"), bp::arg("mount"), bp::arg("residuals"),
                                 bp::arg("mounts") = false, bp::arg("zeros") = bp::list())))
      .add_property("np", &MeasurementModel::np)
      .def("look_for_forces", &lookForForces,
           (bp::arg("joints"), bp::arg("stddev"), bp::arg("odds"), bp::arg("least"),
            bp::arg("stretched"), bp::arg("stop")),
           "From now on torques of the legs tell forces that no contact law explains. By contact: "
           "ids of the three joints of its leg, none where not to look.")
      .def("parameters", &blocksOf, "(name, size) of the parameter blocks, in order.")
      .def("rows", &rowsOf, "(name, first row, size) of the parts of a node's residual, in order.");

  bp::class_<NodeInput, std::shared_ptr<NodeInput>>("NodeInput", bp::no_init)
      .def("__init__", bp::make_constructor(&makeInput))
      .def("set", &NodeInput::set,
           (bp::arg("name"), bp::arg("value"), bp::arg("weight"), bp::arg("age") = 0.0,
            bp::arg("slot") = 0),
           "Hand in a reading of a residual, of `encoders` or of `rates`; weights are reciprocal "
           "standard deviations.")
      .def(
          "value",
          +[](NodeInput& i, const std::string& name, const std::size_t slot) {
            return VectorXd(i.reading(name, slot).value);
          },
          (bp::arg("name"), bp::arg("slot") = 0))
      .def(
          "weight",
          +[](NodeInput& i, const std::string& name, const std::size_t slot) {
            return VectorXd(i.reading(name, slot).weight);
          },
          (bp::arg("name"), bp::arg("slot") = 0))
      .def(
          "nominal",
          +[](NodeInput& i, const std::string& name, const std::size_t slot) {
            return VectorXd(i.reading(name, slot).nominal);
          },
          (bp::arg("name"), bp::arg("slot") = 0), "Weights before the last reweighting.")
      .def(
          "present",
          +[](NodeInput& i, const std::string& name, const std::size_t slot) {
            return i.reading(name, slot).present();
          },
          (bp::arg("name"), bp::arg("slot") = 0), "Whether a reading was handed in.")
      .def(
          "age",
          +[](NodeInput& i, const std::string& name, const std::size_t slot) {
            return i.reading(name, slot).age;
          },
          (bp::arg("name"), bp::arg("slot") = 0))
      .def(Sized("node input", "torque", &NodeInput::torque))
      .def(Sized("node input", "torque_change", &NodeInput::torque_change))
      .def(Sized("node input", "base_wrench", &NodeInput::base_wrench))
      .def(Sized("node input", "outer_force", &NodeInput::outer_force))
      .def(Sized("node input", "weight_force", &NodeInput::weight_force))
      .def(Sized("node input", "weight_xi", &NodeInput::weight_xi))
      .def(Sized("node input", "nominal_force", &NodeInput::nominal_force))
      .def(Sized("node input", "nominal_xi", &NodeInput::nominal_xi))
      .def_readwrite("weighed", &NodeInput::weighed)
      .def_readwrite("ground_depth", &NodeInput::ground_depth)
      .def(Sized("node input", "height_offset", &NodeInput::height_offset))
      .def(Sized("node input", "slope_offset", &NodeInput::slope_offset))
      .def(Sized("node input", "anchor_offset", &NodeInput::anchor_offset))
      .def(Copied("law", &NodeInput::law))
      .add_property(
          "stance", +[](const NodeInput& i) { return toList(i.stance); }, &setStance,
          "Contact flags of the step that follows, one per foot (rigid contacts).");
}

void bindBases() {
  bp::class_<StateParameters, bp::bases<State>, std::shared_ptr<StateParameters>,
             boost::noncopyable>("StateParameters",
                                 bp::init<const pinocchio::Model&, std::size_t>())
      .def("zero", &StateParameters::zero)
      .def("rand", &StateParameters::rand)
      .def("integrate", &integrate)
      .def("diff", &difference);

  bp::class_<ActionLeastSquares::Data, bp::bases<ActionData>,
             std::shared_ptr<ActionLeastSquares::Data>, boost::noncopyable>(
      "ActionDataLeastSquares", bp::no_init)
      .add_property("Rx", byValue(&ActionLeastSquares::Data::Rx))
      .add_property("Ru", byValue(&ActionLeastSquares::Data::Ru));
  bp::class_<ActionMeasurement::Data, bp::bases<ActionLeastSquares::Data>,
             std::shared_ptr<ActionMeasurement::Data>, boost::noncopyable>("ActionDataMeasurement",
                                                                           bp::no_init);
  bp::class_<ActionLeastSquares, bp::bases<crocoddyl::ActionModelAbstractTpl<double>>,
             std::shared_ptr<ActionLeastSquares>, boost::noncopyable>("ActionLeastSquares",
                                                                      bp::no_init);
}

void bindMeasurement() {
  bp::class_<ActionMeasurement, bp::bases<ActionLeastSquares>, std::shared_ptr<ActionMeasurement>,
             boost::noncopyable>("ActionMeasurement", bp::no_init)
      .def("__init__",
           bp::make_constructor(&makeMeasurement, bp::default_call_policies(),
                                (bp::arg("state"), bp::arg("model"), bp::arg("inverse") = false)))
      .add_property("input", byValue(&ActionMeasurement::input), &setInput)
      .def("createData", &ActionMeasurement::createData)
      .def("calc", &calc<ActionMeasurement>)
      .def("calc", &calcTerminal<ActionMeasurement>)
      .def("calcDiff", &calcDiff<ActionMeasurement>)
      .def("calcDiff", &calcDiffTerminal<ActionMeasurement>)
      .def("linearize", &linearize,
           "Implicit linearization at the last calc: what the window's solver uses instead of "
           "calcDiff.")
      .def("reweight", &reweight,
           (bp::arg("data"), bp::arg("u"), bp::arg("contact_dof"), bp::arg("force_dof")),
           "New weights of the disturbances with heavy tails, and forces at the feet, at the last "
           "calc. Returns u less the latter.")
      .def(
          "contact_force",
          +[](ActionMeasurement& node, const ActionDataPtr& data) {
            requireData(node, data);
            return node.contactForce(data);
          },
          "Forces (3 nc) [N] at the last calc.")
      .def("expect_velocity", &expectVelocity,
           (bp::arg("data"), bp::arg("velocity"), bp::arg("before") = ActionDataPtr()),
           "Next velocity (nv) from which the next calc may start, with the contact forces of the "
           "node `before`, where it is given.")
      .def("unmodelled_covariance", &unmodelledCovariance,
           "Covariance (3 nc, 3 nc) [N^2] of the unmodelled ones among the contact forces.")
      .def("unmodelled_force", &unmodelledForce,
           "Forces (3 nc) [N] at the feet that no contact law explains, at the last reweight.")
      .def("contact_forces", &contactForces,
           "Forces (3 nc) [N] at the last calc, with the unmodelled ones, and of the former "
           "their Jacobian in (xi, v+, q, v, p) at the last linearization.")
      .def(
          "residual_jacobian",
          +[](ActionMeasurement& node, const ActionDataPtr& data) {
            requireData(node, data);
            return node.residualJacobian(data);
          },
          "Jacobian (nr, nz) of the whitened residual in (xi, v+, q, v, p) at the last "
          "linearization.")
      .def("contact_kinematics", &contactKinematics);
}

void bindLinear() {
  bp::class_<ActionLinear, bp::bases<ActionLeastSquares>, std::shared_ptr<ActionLinear>,
             boost::noncopyable>("ActionLinear", bp::no_init)
      .def("__init__",
           bp::make_constructor(&makeLinear, bp::default_call_policies(),
                                (bp::arg("state"), bp::arg("A"), bp::arg("B"), bp::arg("c"),
                                 bp::arg("C"), bp::arg("D"), bp::arg("z"), bp::arg("np") = 0)))
      .def("createData", &ActionLinear::createData)
      .def("calc", &calc<ActionLinear>)
      .def("calcDiff", &calcDiff<ActionLinear>);
}

void bindArrival() {
  bp::class_<ActionArrival, bp::bases<ActionLeastSquares>, std::shared_ptr<ActionArrival>,
             boost::noncopyable>("ActionArrival", bp::no_init)
      .def("__init__",
           bp::make_constructor(&makeArrival, bp::default_call_policies(),
                                (bp::arg("state"), bp::arg("reference"), bp::arg("covariance"))))
      .def("createData", &ActionArrival::createData)
      .def("calc", &calc<ActionArrival>)
      .def("calcDiff", &calcDiff<ActionArrival>)
      .def(Sized("arrival", "reference", &ActionArrival::reference))
      .def(Sized("arrival", "mean", &ActionArrival::mean))
      .add_property(
          "L", +[](const ActionArrival& a) { return MatrixXd(a.root()); }, &ActionArrival::setRoot)
      .add_property("covariance", &ActionArrival::covariance)
      .def("regression", &regression, (bp::arg("own"), bp::arg("others"), bp::arg("ridge")),
           "Row (ndx) of the variable `own` on others by the covariance, and the variance that it "
           "leaves.")
      .def("estimate", &ActionArrival::estimate)
      .def(
          "correction",
          +[](const ActionArrival& a, const VectorXd& x0) { return a.correction(x0); },
          "The control that takes the first state to x0.")
      .def(
          "strain", +[](const ActionArrival& a, const VectorXd& x0) { return a.strain(x0); },
          "Root mean square of the whitened correction that takes the first state to x0.")
      .def("marginalize", &marginalize)
      .def("replace_prior", &replacePrior)
      .def(
          "release",
          +[](ActionArrival& a, const MatrixXd& motions, const MatrixXd& axes,
              const Eigen::Matrix3d& carry,
              const double stddev) { a.release(motions, axes, carry, stddev); },
          (bp::arg("motions"), bp::arg("axes"), bp::arg("carry"), bp::arg("stddev")),
          "Take place and heading, which nothing measures, out of what is known.")
      .def(
          "restore", +[](ActionArrival& a, const MatrixXd& motions) { a.restore(motions); },
          "Give them back: the inverse of `release`.")
      .add_property(
          "displacement", +[](const ActionArrival& a) { return a.displacement(); },
          "Covariance (3, 3) of place x, y [m] and heading [rad] that has been taken out.")
      .def(
          "inflate_covariance",
          +[](ActionArrival& a, const MatrixXd& noise) { a.inflateCovariance(noise); });
}

}  // namespace

void bindActions() {
  bindInput();
  bindBases();
  bindMeasurement();
  bindLinear();
  bindArrival();
}

}  // namespace prime
