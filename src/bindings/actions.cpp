// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// Nodes and what they are given, their state, the arrival node.
#include <boost/mpl/vector.hpp>

#include "bindings/bindings.hpp"
#include "linalg/sizes.hpp"
#include "nodes/action_arrival.hpp"
#include "nodes/action_measurement.hpp"

namespace prime {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

using State = crocoddyl::StateAbstractTpl<double>;
using ActionData = crocoddyl::ActionDataAbstractTpl<double>;
using ActionDataPtr = std::shared_ptr<ActionData>;

constexpr int kFreeFlyerCoordinates = 7;  ///< position and quaternion

bp::tuple contactForces(const ActionMeasurement& node, const ActionDataPtr& data) {
  VectorXd f;
  MatrixXd f_z;
  node.contactForces(data, f, f_z);
  return bp::make_tuple(f, f_z);
}

bp::dict contactKinematics(const ActionMeasurement&, const ActionDataPtr& data) {
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

/// A member whose size does not change: `.def(Sized("torque", &NodeInput::torque))`.
struct Sized : bp::def_visitor<Sized> {
  Sized(const char* name_, VectorXd NodeInput::* member_) : name(name_), member(member_) {}

  template <class Class>
  void visit(Class& c) const {
    const auto set = [name = name, member = member](NodeInput& input, const VectorXd& value) {
      requireSize("node input", name, value.size(), (input.*member).size());
      input.*member = value;
    };
    using Signature = boost::mpl::vector3<void, NodeInput&, const VectorXd&>;
    c.add_property(name, byValue(member),
                   bp::make_function(set, bp::default_call_policies(), Signature()));
  }

  const char* name;
  VectorXd NodeInput::* member;
};

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
  const auto names = toVector<std::string>(residuals);
  return std::make_shared<MeasurementModel>(dynamics, mount, names, mounts, toVector<int>(zeros));
}

void lookForForces(MeasurementModel& model, const bp::list& joints, const double stddev,
                   const double odds, const double least, const double stretched,
                   const double stop) {
  std::vector<std::vector<int>> by_contact;
  for (const auto& own : toVector<bp::list>(joints)) by_contact.push_back(toVector<int>(own));
  if (by_contact.size() != model.dynamics->nc())
    throw std::invalid_argument("unmodelled forces: the joints of every contact are needed");
  model.unmodelled =
      UnmodelledForces(model.dynamics->model(), by_contact, {stddev, odds, least, stretched, stop});
}

std::shared_ptr<ActionLinear> makeLinear(const std::shared_ptr<State>& state, const MatrixXd& A,
                                         const MatrixXd& B, const VectorXd& c, const MatrixXd& C,
                                         const MatrixXd& D, const VectorXd& z,
                                         const std::size_t np) {
  return std::make_shared<ActionLinear>(state, A, B, c, C, D, z, np);
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
  const WithoutInterpreterLock unlocked;
  arrival.marginalize(node, data, x0, u0, next, noise);
}

template <class M>
void requireState(M& model, const VectorXd& x) {
  requireSize("node", "x", x.size(), model.get_state()->get_nx());
}
template <class M>
void requirePoint(M& model, const VectorXd& x, const VectorXd& u) {
  requireState(model, x);
  requireSize("node", "u", u.size(), model.get_nu());
}

template <class M>
void calc(M& model, const ActionDataPtr& data, const VectorXd& x, const VectorXd& u) {
  requirePoint(model, x, u);
  model.calc(data, x, u);
}
template <class M>
void calcTerminal(M& model, const ActionDataPtr& data, const VectorXd& x) {
  requireState(model, x);
  model.calc(data, x);
}
template <class M>
void calcDiff(M& model, const ActionDataPtr& data, const VectorXd& x, const VectorXd& u) {
  requirePoint(model, x, u);
  model.calcDiff(data, x, u);
}
template <class M>
void calcDiffTerminal(M& model, const ActionDataPtr& data, const VectorXd& x) {
  requireState(model, x);
  model.calcDiff(data, x);
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

  using Model = std::shared_ptr<MeasurementModel>;
  bp::class_<NodeInput, std::shared_ptr<NodeInput>>("NodeInput", bp::no_init)
      .def("__init__", bp::make_constructor(
                           +[](const Model& model) { return std::make_shared<NodeInput>(model); }))
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
      .def(Sized("torque", &NodeInput::torque))
      .def(Sized("torque_change", &NodeInput::torque_change))
      .def(Sized("base_wrench", &NodeInput::base_wrench))
      .def(Sized("outer_force", &NodeInput::outer_force))
      .def(Sized("weight_force", &NodeInput::weight_force))
      .def(Sized("weight_xi", &NodeInput::weight_xi))
      .def(Sized("nominal_force", &NodeInput::nominal_force))
      .def(Sized("nominal_xi", &NodeInput::nominal_xi))
      .def_readwrite("weighed", &NodeInput::weighed)
      .def_readwrite("ground_depth", &NodeInput::ground_depth)
      .def(Sized("height_offset", &NodeInput::height_offset))
      .def(Sized("slope_offset", &NodeInput::slope_offset))
      .def(Sized("anchor_offset", &NodeInput::anchor_offset))
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
      .def("integrate", &State::integrate_x)
      .def("diff", &State::diff_dx);

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
      .def("__init__", bp::make_constructor(
                           +[](const std::shared_ptr<StateParameters>& state,
                               const std::shared_ptr<MeasurementModel>& model, const bool inverse) {
                             return std::make_shared<ActionMeasurement>(state, model, inverse);
                           },
                           bp::default_call_policies(),
                           (bp::arg("state"), bp::arg("model"), bp::arg("inverse") = false)))
      .def_readwrite("input", &ActionMeasurement::input)
      .def("createData", &ActionMeasurement::createData)
      .def("calc", &calc<ActionMeasurement>)
      .def("calc", &calcTerminal<ActionMeasurement>)
      .def("calcDiff", &calcDiff<ActionMeasurement>)
      .def("calcDiff", &calcDiffTerminal<ActionMeasurement>)
      .def(
          "linearize",
          +[](ActionMeasurement& node, const ActionDataPtr& data, const VectorXd& x) {
            node.linearize(data, x);
          },
          "Implicit linearization at the last calc: what the window's solver uses instead of "
          "calcDiff.")
      .def(
          "reweight",
          +[](ActionMeasurement& node, const ActionDataPtr& data, VectorXd u, const double contact,
              const double force) {
            node.reweight(data, u, {contact, force});
            return u;
          },
          (bp::arg("data"), bp::arg("u"), bp::arg("contact_dof"), bp::arg("force_dof")),
          "New weights of the disturbances with heavy tails, and forces at the feet, at the last "
          "calc. Returns u less the latter.")
      .def(
          "contact_force",
          +[](const ActionMeasurement& node, const ActionDataPtr& data) {
            return node.contactForce(data);
          },
          "Forces (3 nc) [N] at the last calc.")
      .def(
          "expect_velocity",
          +[](const ActionMeasurement& node, const ActionDataPtr& data, const VectorXd& velocity,
              const ActionDataPtr& before) {
            requireSize("node input", "velocity", velocity.size(), node.nv());
            auto& d = static_cast<ActionMeasurement::Data&>(*data);
            d.guess = velocity;
            d.has_guess = true;
            if (before) node.follow(d, static_cast<const ActionMeasurement::Data&>(*before));
          },
          (bp::arg("data"), bp::arg("velocity"), bp::arg("before") = ActionDataPtr()),
          "Next velocity (nv) from which the next calc may start, with the contact forces of the "
          "node `before`, where it is given.")
      .def(
          "unmodelled_covariance",
          +[](const ActionMeasurement& node, const ActionDataPtr& data) {
            const auto size = 3 * node.dynamics->nc();
            MatrixXd covariance = MatrixXd::Zero(size, size);
            node.addUnmodelled(static_cast<const ActionMeasurement::Data&>(*data), covariance);
            return covariance;
          },
          "Covariance (3 nc, 3 nc) [N^2] of the unmodelled ones among the contact forces.")
      .def(
          "unmodelled_force",
          +[](const ActionMeasurement& node, const ActionDataPtr& data) {
            VectorXd force = VectorXd::Zero(3 * node.dynamics->nc());
            const auto& found = static_cast<const ActionMeasurement::Data&>(*data).unmodelled;
            for (std::size_t i = 0; i < found.size(); ++i) force.segment<3>(3 * i) = found[i].mean;
            return force;
          },
          "Forces (3 nc) [N] at the feet that no contact law explains, at the last reweight.")
      .def("contact_forces", &contactForces,
           "Forces (3 nc) [N] at the last calc, with the unmodelled ones, and of the former "
           "their Jacobian in (xi, v+, q, v, p) at the last linearization.")
      .def(
          "residual_jacobian",
          +[](const ActionMeasurement& node, const ActionDataPtr& data) {
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
             boost::noncopyable>(
      "ActionArrival", bp::init<std::shared_ptr<State>, const VectorXd&, const MatrixXd&>(
                           (bp::arg("state"), bp::arg("reference"), bp::arg("covariance"))))
      .def("createData", &ActionArrival::createData)
      .def("calc", &calc<ActionArrival>)
      .def("calcDiff", &calcDiff<ActionArrival>)
      .def(Copied("reference", &ActionArrival::reference))
      .def(Copied("mean", &ActionArrival::mean))
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
