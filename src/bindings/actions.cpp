// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// Nodes and what they are given, their state, the arrival node.
#include <boost/mpl/vector.hpp>

#include "bindings/bindings.hpp"
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
  MatrixXd f_x, f_u;
  node.contactForces(data, f, f_x, f_u);
  return bp::make_tuple(f, f_x, f_u);
}

bp::dict contactKinematics(const ActionMeasurement& node, const ActionDataPtr& data) {
  const auto& d = static_cast<const ActionMeasurement::Data&>(*data).dynamics;
  const int nc = d.phi.size();
  MatrixXd points(nc, 3);
  VectorXd gaps(nc);
  for (int i = 0; i < nc; ++i) points.row(i) = d.point[i].transpose(), gaps[i] = d.phi[i];
  bp::dict out;
  out["points"] = points;
  out["gaps"] = gaps;
  out["velocity"] = VectorXd(d.velocity);
  out["jacobian"] = MatrixXd(d.J);
  return out;
}

void setPose(NodeInput& input, const std::size_t slot, const double age, const Vector3d& position,
             const Eigen::Matrix3d& rotation, const double weight_position,
             const double weight_rotation) {
  if (slot >= NodeInput::kPoses) throw std::out_of_range("a node takes two poses");
  input.pose[slot] = {age, position, rotation, weight_position, weight_rotation};
}

/// A node computes with the sizes of its robot, whatever it is given.
void requireSize(const char* name, const std::size_t size, const std::size_t expected) {
  if (size == expected) return;
  throw std::invalid_argument(std::string("node input: ") + name + " has " + std::to_string(size) +
                              " entries, not " + std::to_string(expected));
}

/// A member whose size does not change: `.def(Sized("torque", &NodeInput::torque))`.
struct Sized : bp::def_visitor<Sized> {
  Sized(const char* name_, VectorXd NodeInput::* member_) : name(name_), member(member_) {}

  template <class Class>
  void visit(Class& c) const {
    const auto set = [name = name, member = member](NodeInput& input, const VectorXd& value) {
      requireSize(name, value.size(), (input.*member).size());
      input.*member = value;
    };
    using Signature = boost::mpl::vector3<void, NodeInput&, const VectorXd&>;
    c.add_property(name, byValue(member),
                   bp::make_function(set, bp::default_call_policies(), Signature()));
  }

  const char* name;
  VectorXd NodeInput::* member;
};

/// A whole configuration, or that of the joints alone.
void setJointPosition(NodeInput& input, const VectorXd& position) {
  const auto base = input.base_wrench.size() > 0 ? kFreeFlyerCoordinates : 0;
  if (position.size() != input.position.size())
    requireSize("position", position.size(), input.position.size() - base);
  input.position.tail(position.size()) = position;
}

void setStance(NodeInput& input, const bp::list& flags) {
  const auto stance = toVector<Stance>(flags);
  requireSize("stance", stance.size(), input.stance.size());
  input.stance = stance;
}

VectorXd jointPosition(const NodeInput& input) { return input.position; }

std::shared_ptr<ActionLinear> makeLinear(const std::shared_ptr<State>& state, const MatrixXd& A,
                                         const MatrixXd& B, const VectorXd& c, const MatrixXd& C,
                                         const MatrixXd& D, const VectorXd& z,
                                         const std::size_t np) {
  return std::make_shared<ActionLinear>(state, A, B, c, C, D, z, np);
}

void redefine(ActionArrival& arrival, const bp::list& indices, const MatrixXd& rows,
              const VectorXd& stddev, const VectorXd& change) {
  arrival.redefine(toVector<int>(indices), rows, stddev, change);
}

void advance(ActionArrival& arrival, ActionLeastSquares& node, const ActionDataPtr& data,
             const VectorXd& x0, const VectorXd& u0, const VectorXd& next, const MatrixXd& noise) {
  const WithoutInterpreterLock unlocked;
  arrival.advance(node, data, x0, u0, next, noise);
}

template <class M>
void calc(M& model, const ActionDataPtr& data, const VectorXd& x, const VectorXd& u) {
  model.calc(data, x, u);
}
template <class M>
void calcTerminal(M& model, const ActionDataPtr& data, const VectorXd& x) {
  model.calc(data, x);
}
template <class M>
void calcDiff(M& model, const ActionDataPtr& data, const VectorXd& x, const VectorXd& u) {
  model.calcDiff(data, x, u);
}
template <class M>
void calcDiffTerminal(M& model, const ActionDataPtr& data, const VectorXd& x) {
  model.calcDiff(data, x);
}

void bindInput() {
  bp::class_<ParameterLayout>("ParameterLayout")
      .def("make", &ParameterLayout::make, (bp::arg("dynamics"), bp::arg("imu"), bp::arg("mocap")))
      .staticmethod("make")
      .def_readonly("theta", &ParameterLayout::theta)
      .def_readonly("accelerometer_bias", &ParameterLayout::accelerometer_bias)
      .def_readonly("gyro_bias", &ParameterLayout::gyro_bias)
      .def_readonly("height", &ParameterLayout::height)
      .def_readonly("friction", &ParameterLayout::friction)
      .def_readonly("mocap", &ParameterLayout::mocap)
      .def_readonly("size", &ParameterLayout::size);

  bp::class_<NodeInput, std::shared_ptr<NodeInput>>("NodeInput", bp::init<const ContactDynamics&>())
      .add_property("position", &jointPosition, &setJointPosition)
      .def(Sized("velocity", &NodeInput::velocity))
      .def(Sized("torque", &NodeInput::torque))
      .def(Sized("base_wrench", &NodeInput::base_wrench))
      .def(Copied("gyro", &NodeInput::gyro))
      .def(Copied("accelerometer", &NodeInput::accelerometer))
      .def(Copied("orientation", &NodeInput::orientation))
      .def(Sized("weight_position", &NodeInput::weight_position))
      .def(Sized("weight_velocity", &NodeInput::weight_velocity))
      .def_readwrite("ground_depth", &NodeInput::ground_depth)
      .def_readwrite("weight_cone", &NodeInput::weight_cone)
      .add_property(
          "stance", +[](const NodeInput& i) { return toList(i.stance); }, &setStance,
          "Contact flags of the step that follows, one per foot (rigid contacts).")
      .def(Copied("weight_gyro", &NodeInput::weight_gyro))
      .def(Copied("weight_accelerometer", &NodeInput::weight_accelerometer))
      .def_readwrite("weight_tilt", &NodeInput::weight_tilt)
      .def(Sized("weight_force", &NodeInput::weight_force))
      .def(Sized("weight_xi", &NodeInput::weight_xi))
      .def(Sized("nominal_force", &NodeInput::nominal_force))
      .def(Sized("nominal_xi", &NodeInput::nominal_xi))
      .def("set_pose", &setPose,
           (bp::arg("slot"), bp::arg("age"), bp::arg("position"), bp::arg("rotation"),
            bp::arg("weight_position"), bp::arg("weight_rotation")));
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
             boost::noncopyable>(
      "ActionMeasurement",
      bp::init<std::shared_ptr<StateParameters>, std::shared_ptr<ContactDynamics>,
               const ParameterLayout&, const ImuMount&, const VectorXd&, bool>(
          (bp::arg("state"), bp::arg("dynamics"), bp::arg("layout"), bp::arg("mount"),
           bp::arg("nominal"), bp::arg("inverse") = false)))
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
          +[](ActionMeasurement& node, const ActionDataPtr& data, const VectorXd& u,
              const double contact,
              const double force) { node.reweight(data, u, {contact, force}); },
          (bp::arg("data"), bp::arg("u"), bp::arg("contact_dof"), bp::arg("force_dof")),
          "New weights of the disturbances with heavy tails, at the last calc.")
      .def("contact_forces", &contactForces,
           "Forces (3 nc) [N] at the last calc, with Jacobians in x and u at the last "
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
      .def(Copied("L", &ActionArrival::L))
      .add_property("covariance", &ActionArrival::covariance)
      .def("estimate", &ActionArrival::estimate)
      .def("advance", &advance)
      .def("redefine", &redefine)
      .def("inflate", +[](ActionArrival& a, const MatrixXd& noise) { a.inflate(noise); });
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
