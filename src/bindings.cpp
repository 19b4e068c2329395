// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// Boost.Python through eigenpy, because Crocoddyl's and Pinocchio's Python classes live there. Long calls release the interpreter lock.
#include <boost/python.hpp>
#include <eigenpy/eigenpy.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>

#include "action_arrival.hpp"
#include "action_measurement.hpp"
#include "rigid_dynamics.hpp"
#include "solver_multiple_shooting.hpp"

namespace bp = boost::python;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using namespace prime;

namespace {

using State = crocoddyl::StateAbstractTpl<double>;
using ActionData = crocoddyl::ActionDataAbstractTpl<double>;
using ActionDataPtr = std::shared_ptr<ActionData>;

struct WithoutInterpreterLock {
  WithoutInterpreterLock() : state(PyEval_SaveThread()) {}
  ~WithoutInterpreterLock() { PyEval_RestoreThread(state); }
  PyThreadState* state;
};

template <class T>
std::vector<T> toVector(const bp::object& sequence) {
  return std::vector<T>(bp::stl_input_iterator<T>(sequence), bp::stl_input_iterator<T>());
}

template <class T>
bp::list toList(const std::vector<T>& items) {
  bp::list list;
  for (const auto& item : items) list.append(item);
  return list;
}

template <class C, class T>
auto byValue(T C::* member) {
  return bp::make_getter(member, bp::return_value_policy<bp::return_by_value>());
}

std::shared_ptr<ContactDynamics> makeDynamics(const pinocchio::Model& model, const bp::list& contacts, const bp::list& links,
                                              const VectorXd& damping, const VectorXd& friction, const bool floating_base,
                                              const DynamicsOptions& options) {
  return std::make_shared<ContactDynamics>(model, toVector<ContactPoint>(contacts), toVector<std::size_t>(links), damping, friction,
                                           floating_base, options);
}

/// One step (q, v, force, xi; theta, heights, mu) -> v+, with impulses and derivatives: the C++ unit as tests see it.
bp::dict stepDynamics(const ContactDynamics& dynamics, const VectorXd& q, const VectorXd& v, const VectorXd& force, const VectorXd& xi,
                      const VectorXd& theta, const VectorXd& height, const double friction, const VectorXd& guess, const bool derivatives) {
  ContactDynamics::Data data(dynamics);
  dynamics.setParameters(data, theta, height, friction);
  dynamics.prepare(data, q, v, force, xi);
  dynamics.solve(data, guess);
  bp::dict out;
  out["v_next"] = VectorXd(data.vplus);
  out["impulse"] = VectorXd(data.impulse);
  out["iterations"] = data.iterations;
  out["gap"] = toList(data.phi);
  if (!derivatives) return out;
  dynamics.derivatives(data);
  data.lu.compute(data.A);
  const double dt = dynamics.options.dt;
  auto solve = [&data](const MatrixXd& rhs) { return MatrixXd(-data.lu.solve(rhs)); };
  out["dq"] = solve(data.g_q);
  out["dv"] = solve(data.g_v);
  out["dforce"] = solve(-dt * MatrixXd::Identity(dynamics.nv(), dynamics.nv()));
  out["dxi"] = solve(data.g_xi);
  out["dtheta"] = solve(data.g_theta);
  out["dheight"] = solve(data.g_height);
  out["dfriction"] = VectorXd(solve(data.g_friction));
  return out;
}

/// g(v+) of the inverse form.
VectorXd residualDynamics(const ContactDynamics& dynamics, const VectorXd& q, const VectorXd& v, const VectorXd& force, const VectorXd& xi,
                          const VectorXd& theta, const VectorXd& height, const double friction, const VectorXd& vplus) {
  const auto work = dynamics.createData();
  auto& data = *work;
  dynamics.setParameters(data, theta, height, friction);
  dynamics.prepare(data, q, v, force, xi);
  dynamics.residual(data, vplus);
  return data.g;
}

std::shared_ptr<RigidDynamics> makeRigid(const pinocchio::Model& model, const bp::list& contacts, const bp::list& links,
                                         const VectorXd& damping, const VectorXd& friction, const bool floating_base,
                                         const DynamicsOptions& options, const RigidOptions& rigid) {
  return std::make_shared<RigidDynamics>(model, toVector<ContactPoint>(contacts), toVector<std::size_t>(links), damping, friction,
                                         floating_base, options, rigid);
}

/// One step with rigid contacts, as stepDynamics; also without damping.
bp::dict stepRigid(const RigidDynamics& dynamics, const VectorXd& q, const VectorXd& v, const VectorXd& force, const VectorXd& xi,
                   const VectorXd& theta, const VectorXd& height, const double friction, const bp::list& stance, const VectorXd& guess,
                   const bool derivatives) {
  RigidDynamics::Data data(dynamics);
  dynamics.setParameters(data, theta, height, friction);
  dynamics.setStance(data, toVector<Stance>(stance));
  dynamics.prepare(data, q, v, force, xi);
  dynamics.solve(data, guess);
  dynamics.cone(data);
  bp::dict out;
  out["v_next"] = VectorXd(data.vplus);
  out["wrench"] = VectorXd(data.lambda);
  out["impulse"] = VectorXd(data.impulse);
  out["cone"] = VectorXd(data.cone.h);
  out["iterations"] = data.iterations;
  if (!derivatives) return out;
  dynamics.partials(data);
  auto put = [&](const char* name, const MatrixXd& R, const MatrixXd& C) {
    MatrixXd dv, dlambda;
    dynamics.sensitivity(data, R, C, dv, dlambda);
    out[std::string("d") + name] = dv;
    out[std::string("wrench_d") + name] = dlambda;
  };
  const auto nv = dynamics.nv(), rows = dynamics.nxi();
  MatrixXd by_xi = MatrixXd::Zero(rows, rows);
  for (std::size_t f = 0; f < dynamics.nfeet(); ++f)
    if (data.stance[f] != Stance::Open) by_xi.diagonal().segment(dynamics.foot_xi[f], dynamics.foot_xi_size[f]).setOnes();
  put("q", data.g_q, data.c_q);
  put("v", data.g_v, data.c_v);
  put("force", -dynamics.options.dt * MatrixXd::Identity(nv, nv), MatrixXd::Zero(rows, nv));
  put("xi", MatrixXd::Zero(nv, rows), by_xi);
  put("theta", data.g_theta, MatrixXd::Zero(rows, dynamics.ntheta()));
  put("height", MatrixXd::Zero(nv, dynamics.nfeet()), data.c_height);
  return out;
}

bp::tuple evaluateLaw(const ContactLaw& law, const Vector3d& c, const double mu) {
  ContactLaw::Result result;
  law.evaluate(c, mu, result);
  return bp::make_tuple(Vector3d(result.impulse), MatrixXd(result.d_velocity), Vector3d(result.d_friction));
}

bp::tuple fromTheta(const VectorXd& theta, const InertiaManifold manifold) {
  if (theta.size() != 10) throw std::invalid_argument("an inertia has 10 parameters");
  Vector10d pi;
  Matrix10d jacobian;
  inertiaFromTheta(manifold, theta, pi, jacobian);
  return bp::make_tuple(VectorXd(pi), MatrixXd(jacobian));
}

VectorXd toTheta(const VectorXd& pi, const InertiaManifold manifold) {
  if (pi.size() != 10) throw std::invalid_argument("an inertia has 10 parameters");
  return thetaFromInertia(manifold, pi);
}

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

bp::tuple imuPose(const ImuMount& mount, const VectorXd& q, const VectorXd& v) {
  ImuMount::Data data(mount);
  mount.place(data, q, v, 0.0);
  return bp::make_tuple(data.base_M_imu, data.base_M_imu.actInv(mount.relativeTwist(data, v)));
}

bool solve(SolverMultipleShooting& solver, const bp::list& xs, const bp::list& us, const std::size_t maxiter, const double regularization) {
  const auto x = toVector<VectorXd>(xs), u = toVector<VectorXd>(us);
  const WithoutInterpreterLock unlocked;
  return solver.solve(x, u, maxiter, false, regularization);
}

bp::tuple direction(SolverMultipleShooting& solver, const bp::list& xs, const bp::list& us, const double regularization) {
  const auto x = toVector<VectorXd>(xs), u = toVector<VectorXd>(us);
  {
    const WithoutInterpreterLock unlocked;
    solver.direction(x, u, regularization);
  }
  return bp::make_tuple(toList(solver.dxs()), toList(solver.dus()));
}

void computePosterior(SolverMultipleShooting& solver) {
  const WithoutInterpreterLock unlocked;
  solver.computePosterior();
}

void setPose(NodeInput& input, const std::size_t slot, const double age, const Vector3d& position, const Eigen::Matrix3d& rotation,
             const double weight_position, const double weight_rotation) {
  if (slot >= NodeInput::kPoses) throw std::out_of_range("a node takes two poses");
  input.pose[slot] = {age, position, rotation, weight_position, weight_rotation};
}

void setJointPosition(NodeInput& input, const VectorXd& position) {
  if (position.size() > input.position.size()) throw std::invalid_argument("too many joint positions");
  input.position.tail(position.size()) = position;
}

VectorXd jointPosition(const NodeInput& input) { return input.position; }

std::shared_ptr<ActionLinear> makeLinear(const std::shared_ptr<State>& state, const MatrixXd& A, const MatrixXd& B, const VectorXd& c,
                                         const MatrixXd& C, const MatrixXd& D, const VectorXd& z, const std::size_t np) {
  return std::make_shared<ActionLinear>(state, A, B, c, C, D, z, np);
}

void redefine(ActionArrival& arrival, const bp::list& indices, const MatrixXd& rows, const VectorXd& stddev, const VectorXd& change) {
  arrival.redefine(toVector<int>(indices), rows, stddev, change);
}

void advance(ActionArrival& arrival, ActionLeastSquares& node, const ActionDataPtr& data, const VectorXd& x0, const VectorXd& u0,
             const VectorXd& next, const MatrixXd& noise) {
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

}  // namespace

BOOST_PYTHON_MODULE(_core) {
  bp::import("crocoddyl");
  eigenpy::enableEigenPy();
  Eigen::setNbThreads(1);  // shared with libcrocoddyl: its products must not go multithreaded

  bp::class_<ContactLaw>("ContactLaw", "Smoothed contact law: impulse of (c_t, a) [m/s].")
      .def_readwrite("kappa", &ContactLaw::kappa)
      .def_readwrite("compliance", &ContactLaw::compliance)
      .def_readwrite("smoothing", &ContactLaw::smoothing)
      .def_readwrite("correction", &ContactLaw::correction)
      .def("evaluate", &evaluateLaw, (bp::arg("c"), bp::arg("mu")), "Impulse, its derivative in c and in mu.");

  bp::enum_<InertiaManifold>("InertiaManifold")
      .value("log_cholesky", InertiaManifold::LogCholesky)
      .value("exponential_eigenvalue", InertiaManifold::ExponentialEigenvalue);

  bp::class_<DynamicsOptions>("DynamicsOptions")
      .def_readwrite("dt", &DynamicsOptions::dt)
      .def_readwrite("law", &DynamicsOptions::law)
      .def_readwrite("manifold", &DynamicsOptions::manifold)
      .def_readwrite("rolling", &DynamicsOptions::rolling)
      .def_readwrite("midpoint", &DynamicsOptions::midpoint)
      .def_readwrite("penetration_factor", &DynamicsOptions::penetration_factor)
      .def_readwrite("penetration_width", &DynamicsOptions::penetration_width)
      .def_readwrite("friction_velocity", &DynamicsOptions::friction_velocity)
      .def_readwrite("tolerance", &DynamicsOptions::tolerance)
      .def_readwrite("max_iterations", &DynamicsOptions::max_iterations);

  bp::class_<ContactPoint>("ContactPoint")
      .def_readwrite("name", &ContactPoint::name)
      .def_readwrite("joint", &ContactPoint::joint)
      .add_property("position", byValue(&ContactPoint::position), bp::make_setter(&ContactPoint::position))
      .add_property("lever", byValue(&ContactPoint::lever), bp::make_setter(&ContactPoint::lever))
      .def_readwrite("radius", &ContactPoint::radius)
      .def_readwrite("foot", &ContactPoint::foot);

  bp::class_<ContactDynamics, std::shared_ptr<ContactDynamics>, boost::noncopyable>("ContactDynamics", bp::no_init)
      .def("__init__", bp::make_constructor(&makeDynamics, bp::default_call_policies(),
                                            (bp::arg("model"), bp::arg("contacts"), bp::arg("links"), bp::arg("joint_damping"),
                                             bp::arg("joint_friction"), bp::arg("floating_base"), bp::arg("options"))))
      .add_property("nv", &ContactDynamics::nv)
      .add_property("nc", &ContactDynamics::nc)
      .add_property("nfeet", &ContactDynamics::nfeet)
      .add_property("nxi", &ContactDynamics::nxi)
      .add_property("ntheta", &ContactDynamics::ntheta)
      .add_property("ncone", &ContactDynamics::ncone)
      .add_property(
          "kappa", +[](const ContactDynamics& d) { return d.options.law.kappa; },
          +[](ContactDynamics& d, const double kappa) { d.options.law.kappa = kappa; },
          "Sharpness of the contact law; all nodes of these dynamics follow.")
      .def("step", &stepDynamics,
           (bp::arg("q"), bp::arg("v"), bp::arg("force"), bp::arg("xi"), bp::arg("theta"), bp::arg("height"), bp::arg("friction"),
            bp::arg("guess"), bp::arg("derivatives") = false))
      .def("residual", &residualDynamics);

  bp::enum_<Stance>("Stance").value("open", Stance::Open).value("closed", Stance::Closed).value("landing", Stance::Landing);

  bp::class_<RigidOptions>("RigidOptions")
      .def_readwrite("damping", &RigidOptions::damping)
      .def_readwrite("velocity_share", &RigidOptions::velocity_share)
      .def_readwrite("height_share", &RigidOptions::height_share)
      .def_readwrite("restitution", &RigidOptions::restitution)
      .def_readwrite("yaw_radius", &RigidOptions::yaw_radius);

  bp::class_<RigidDynamics, bp::bases<ContactDynamics>, std::shared_ptr<RigidDynamics>, boost::noncopyable>("RigidDynamics", bp::no_init)
      .def("__init__", bp::make_constructor(&makeRigid, bp::default_call_policies(),
                                            (bp::arg("model"), bp::arg("contacts"), bp::arg("links"), bp::arg("joint_damping"),
                                             bp::arg("joint_friction"), bp::arg("floating_base"), bp::arg("options"), bp::arg("rigid"))))
      .def("step", &stepRigid,
           (bp::arg("q"), bp::arg("v"), bp::arg("force"), bp::arg("xi"), bp::arg("theta"), bp::arg("height"), bp::arg("friction"),
            bp::arg("stance"), bp::arg("guess"), bp::arg("derivatives") = false));

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
      .add_property("velocity", byValue(&NodeInput::velocity), bp::make_setter(&NodeInput::velocity))
      .add_property("torque", byValue(&NodeInput::torque), bp::make_setter(&NodeInput::torque))
      .add_property("base_wrench", byValue(&NodeInput::base_wrench), bp::make_setter(&NodeInput::base_wrench))
      .add_property("gyro", byValue(&NodeInput::gyro), bp::make_setter(&NodeInput::gyro))
      .add_property("accelerometer", byValue(&NodeInput::accelerometer), bp::make_setter(&NodeInput::accelerometer))
      .add_property("orientation", byValue(&NodeInput::orientation), bp::make_setter(&NodeInput::orientation))
      .add_property("weight_position", byValue(&NodeInput::weight_position), bp::make_setter(&NodeInput::weight_position))
      .add_property("weight_velocity", byValue(&NodeInput::weight_velocity), bp::make_setter(&NodeInput::weight_velocity))
      .def_readwrite("ground_depth", &NodeInput::ground_depth)
      .def_readwrite("weight_cone", &NodeInput::weight_cone)
      .add_property(
          "stance", +[](const NodeInput& i) { return toList(i.stance); },
          +[](NodeInput& i, const bp::list& stance) { i.stance = toVector<Stance>(stance); },
          "Contact flags of the step that follows, one per foot (rigid contacts).")
      .def_readwrite("weight_gyro", &NodeInput::weight_gyro)
      .add_property("weight_accelerometer", byValue(&NodeInput::weight_accelerometer), bp::make_setter(&NodeInput::weight_accelerometer))
      .def_readwrite("weight_tilt", &NodeInput::weight_tilt)
      .add_property("weight_force", byValue(&NodeInput::weight_force), bp::make_setter(&NodeInput::weight_force))
      .add_property("weight_xi", byValue(&NodeInput::weight_xi), bp::make_setter(&NodeInput::weight_xi))
      .add_property("nominal_force", byValue(&NodeInput::nominal_force), bp::make_setter(&NodeInput::nominal_force))
      .add_property("nominal_xi", byValue(&NodeInput::nominal_xi), bp::make_setter(&NodeInput::nominal_xi))
      .def("set_pose", &setPose,
           (bp::arg("slot"), bp::arg("age"), bp::arg("position"), bp::arg("rotation"), bp::arg("weight_position"),
            bp::arg("weight_rotation")));

  bp::class_<StateParameters, bp::bases<State>, std::shared_ptr<StateParameters>, boost::noncopyable>(
      "StateParameters", bp::init<const pinocchio::Model&, std::size_t>())
      .def("zero", &StateParameters::zero)
      .def("rand", &StateParameters::rand)
      .def("integrate", &State::integrate_x)
      .def("diff", &State::diff_dx);

  bp::class_<ActionLeastSquares::Data, bp::bases<ActionData>, std::shared_ptr<ActionLeastSquares::Data>, boost::noncopyable>(
      "ActionDataLeastSquares", bp::no_init)
      .add_property("Rx", byValue(&ActionLeastSquares::Data::Rx))
      .add_property("Ru", byValue(&ActionLeastSquares::Data::Ru));
  bp::class_<ActionMeasurement::Data, bp::bases<ActionLeastSquares::Data>, std::shared_ptr<ActionMeasurement::Data>, boost::noncopyable>(
      "ActionDataMeasurement", bp::no_init);
  bp::class_<ActionLeastSquares, bp::bases<crocoddyl::ActionModelAbstractTpl<double>>, std::shared_ptr<ActionLeastSquares>,
             boost::noncopyable>("ActionLeastSquares", bp::no_init);

  bp::class_<ImuMount>(
      "ImuMount", "IMU on the base of a floating-base robot, or behind joints.",
      bp::init<const pinocchio::Model&, std::size_t, const pinocchio::SE3&>((bp::arg("model"), bp::arg("joint"), bp::arg("joint_M_imu"))))
      .add_property("size", &ImuMount::size, "number of joints between base and IMU")
      .def("pose", &imuPose, (bp::arg("q"), bp::arg("v")),
           "Pose of the IMU in the base, and its twist relative to the base in its own frame.");

  bp::class_<ActionMeasurement, bp::bases<ActionLeastSquares>, std::shared_ptr<ActionMeasurement>, boost::noncopyable>(
      "ActionMeasurement",
      bp::init<std::shared_ptr<StateParameters>, std::shared_ptr<ContactDynamics>, const ParameterLayout&, const ImuMount&, const VectorXd&,
               bool>(
          (bp::arg("state"), bp::arg("dynamics"), bp::arg("layout"), bp::arg("mount"), bp::arg("nominal"), bp::arg("inverse") = false)))
      .def_readwrite("input", &ActionMeasurement::input)
      .def("createData", &ActionMeasurement::createData)
      .def("calc", &calc<ActionMeasurement>)
      .def("calc", &calcTerminal<ActionMeasurement>)
      .def("calcDiff", &calcDiff<ActionMeasurement>)
      .def("calcDiff", &calcDiffTerminal<ActionMeasurement>)
      .def(
          "linearize", +[](ActionMeasurement& node, const ActionDataPtr& data, const VectorXd& x) { node.linearize(data, x); },
          "Implicit linearization at the last calc: what the window's solver uses instead of calcDiff.")
      .def(
          "reweight",
          +[](ActionMeasurement& node, const ActionDataPtr& data, const VectorXd& u, const double contact, const double force) {
            node.reweight(data, u, {contact, force});
          },
          (bp::arg("data"), bp::arg("u"), bp::arg("contact_dof"), bp::arg("force_dof")),
          "New weights of the disturbances with heavy tails, at the last calc.")
      .def("contact_forces", &contactForces, "Forces (3 nc) [N] at the last linearization, with Jacobians in x and u.")
      .def("contact_kinematics", &contactKinematics);

  bp::class_<ActionLinear, bp::bases<ActionLeastSquares>, std::shared_ptr<ActionLinear>, boost::noncopyable>("ActionLinear", bp::no_init)
      .def("__init__", bp::make_constructor(&makeLinear, bp::default_call_policies(),
                                            (bp::arg("state"), bp::arg("A"), bp::arg("B"), bp::arg("c"), bp::arg("C"), bp::arg("D"),
                                             bp::arg("z"), bp::arg("np") = 0)))
      .def("createData", &ActionLinear::createData)
      .def("calc", &calc<ActionLinear>)
      .def("calcDiff", &calcDiff<ActionLinear>);

  bp::class_<ActionArrival, bp::bases<ActionLeastSquares>, std::shared_ptr<ActionArrival>, boost::noncopyable>(
      "ActionArrival",
      bp::init<std::shared_ptr<State>, const VectorXd&, const MatrixXd&>((bp::arg("state"), bp::arg("reference"), bp::arg("covariance"))))
      .def("createData", &ActionArrival::createData)
      .def("calc", &calc<ActionArrival>)
      .def("calcDiff", &calcDiff<ActionArrival>)
      .add_property("reference", byValue(&ActionArrival::reference), bp::make_setter(&ActionArrival::reference))
      .add_property("mean", byValue(&ActionArrival::mean), bp::make_setter(&ActionArrival::mean))
      .add_property("L", byValue(&ActionArrival::L), bp::make_setter(&ActionArrival::L))
      .add_property("covariance", &ActionArrival::covariance)
      .def("estimate", &ActionArrival::estimate)
      .def("advance", &advance)
      .def("redefine", &redefine)
      .def("inflate", +[](ActionArrival& a, const MatrixXd& noise) { a.inflate(noise); });

  bp::enum_<Rollout>("Rollout").value("multiple", Rollout::Multiple).value("feasible", Rollout::Feasible).value("single", Rollout::Single);
  bp::enum_<ParameterMethod>("ParameterMethod").value("schur", ParameterMethod::Schur).value("nullspace", ParameterMethod::Nullspace);
  bp::class_<SolverMultipleShooting, bp::bases<crocoddyl::SolverFDDP>, std::shared_ptr<SolverMultipleShooting>, boost::noncopyable>(
      "SolverMultipleShooting", bp::init<std::shared_ptr<crocoddyl::ShootingProblem>>())
      .def("solve", &solve, (bp::arg("xs"), bp::arg("us"), bp::arg("maxiter"), bp::arg("regularization") = 0.0))
      .def("direction", &direction, (bp::arg("xs"), bp::arg("us"), bp::arg("regularization") = 0.0),
           "Full step (dxs, dus) at (xs, us), not taken.")
      .def(
          "redirect",
          +[](SolverMultipleShooting& s) {
            {
              const WithoutInterpreterLock unlocked;
              s.redirect();
            }
            return bp::make_tuple(toList(s.dxs()), toList(s.dus()));
          },
          "The full step for other residuals of the nodes, on the last linearization.")
      .def("backward", &SolverMultipleShooting::backward, "Repeat the backward pass on the last linearization.")
      .def("forward", &SolverMultipleShooting::forward, "Repeat the forward pass after it: the full step.")
      .def(
          "reweight", +[](SolverMultipleShooting& s, const double contact, const double force) { s.reweight({contact, force}); },
          (bp::arg("contact_dof"), bp::arg("force_dof")), "New weights of the disturbances with heavy tails, for the next iteration.")
      .def("compute_posterior", &computePosterior)
      .def("posterior", &SolverMultipleShooting::posterior)
      .def("covariance_at", &SolverMultipleShooting::covarianceAt)
      .def(
          "states", +[](const SolverMultipleShooting& s) { return toList(s.get_xs()); })
      .def(
          "controls", +[](const SolverMultipleShooting& s) { return toList(s.get_us()); })
      .add_property("largest_gap", &SolverMultipleShooting::largestGap)
      .add_property("refused", &SolverMultipleShooting::refused)
      .add_property("rank", &SolverMultipleShooting::rank)
      .add_property(
          "largest_step", +[](const SolverMultipleShooting& s) { return VectorXd(s.largestStep()); },
          &SolverMultipleShooting::setLargestStep,
          "Trust region: bound (np,) of the change of each parameter in an iteration, inf for none; empty (default): no bounds.")
      .def_readwrite("rollout", &SolverMultipleShooting::rollout)
      .def_readwrite("method", &SolverMultipleShooting::method)
      .def_readwrite("threads", &SolverMultipleShooting::threads);

  bp::def("eigen_threads", &Eigen::nbThreads, "Threads of Eigen's products, also in libcrocoddyl: must be one.");
  bp::def("inertia_from_theta", &fromTheta, (bp::arg("theta"), bp::arg("manifold")), "Dynamic parameters of theta, and their Jacobian.");
  bp::def("theta_from_inertia", &toTheta, (bp::arg("pi"), bp::arg("manifold")));
}
