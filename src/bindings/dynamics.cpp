// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// Contact laws, inertias, contact dynamics, forces of the legs.
#include "bindings/bindings.hpp"
#include "contact/rigid_dynamics.hpp"
#include "contact/smoothed_dynamics.hpp"
#include "sensing/leg_forces.hpp"
#include "sensing/limb_regressors.hpp"

namespace prime {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

template <class D, class... Options>
std::shared_ptr<D> make(const pinocchio::Model& model, const bp::list& contacts,
                        const bp::list& links, const JointModel& joints, const bool floating_base,
                        const Options&... options) {
  return std::make_shared<D>(model, toVector<ContactPoint>(contacts), toVector<std::size_t>(links),
                             joints, floating_base, options...);
}

ContactDynamics::Point pointOf(const ContactDynamics& dynamics, const VectorXd& q,
                               const VectorXd& v, const VectorXd& force, const VectorXd& xi,
                               const VectorXd& parameters) {
  ContactDynamics::Point point(dynamics);
  requireSize("contact dynamics", "q", q.size(), point.q.size());
  requireSize("contact dynamics", "v", v.size(), point.v.size());
  requireSize("contact dynamics", "force", force.size(), point.force.size());
  requireSize("contact dynamics", "xi", xi.size(), point.xi.size());
  requireSize("contact dynamics", "parameters", parameters.size(), point.parameters.size());
  point.q = q, point.v = v, point.force = force, point.xi = xi, point.parameters = parameters;
  point.reading = force.tail(dynamics.nj());
  return point;
}

/// dg/dforce
MatrixXd byForce(const ContactDynamics& dynamics, const ContactDynamics::Data& data) {
  MatrixXd out = -dynamics.options.dt * MatrixXd::Identity(dynamics.nv(), dynamics.nv());
  out.diagonal().tail(dynamics.nj()).array() *= data.joints.gain.array();
  return out;
}

bp::dict resultOf(const ContactDynamics::Data& data) {
  bp::dict out;
  out["v_next"] = VectorXd(data.out.vplus);
  out["impulse"] = VectorXd(data.out.impulse);
  out["iterations"] = data.out.iterations;
  out["gap"] = toList(data.out.gap);
  return out;
}

/// One step (q, v, force, xi; p) -> v+, with impulses and derivatives: the C++ unit as tests see
/// it.
bp::dict stepDynamics(const ContactDynamics& dynamics, const VectorXd& q, const VectorXd& v,
                      const VectorXd& force, const VectorXd& xi, const VectorXd& parameters,
                      const VectorXd& guess, const bool derivatives) {
  requireSize("contact dynamics", "guess", guess.size(), dynamics.nv());
  const auto work = dynamics.createData();
  auto& data = *work;
  const auto solved =
      dynamics.solve(dynamics.prepare(data, pointOf(dynamics, q, v, force, xi, parameters)), guess);
  auto out = resultOf(data);
  if (!derivatives) return out;
  dynamics.derivatives(solved);
  data.lu.compute(data.by.next);
  auto solve = [&data](const MatrixXd& rhs) { return MatrixXd(-data.lu.solve(rhs)); };
  out["dq"] = solve(data.by.q);
  out["dv"] = solve(data.by.v);
  out["dforce"] = solve(byForce(dynamics, data));
  out["dxi"] = solve(data.by.xi);
  out["dparameters"] = solve(data.by.parameters);
  return out;
}

/// g(v+) of the inverse form.
VectorXd residualDynamics(const ContactDynamics& dynamics, const VectorXd& q, const VectorXd& v,
                          const VectorXd& force, const VectorXd& xi, const VectorXd& parameters,
                          const VectorXd& vplus) {
  requireSize("contact dynamics", "v+", vplus.size(), dynamics.nv());
  const auto data = dynamics.createData();
  dynamics.residual(dynamics.prepare(*data, pointOf(dynamics, q, v, force, xi, parameters)), vplus);
  return data->out.g;
}

/// One step with rigid contacts, as stepDynamics; also without damping.
bp::dict stepRigid(const RigidDynamics& dynamics, const VectorXd& q, const VectorXd& v,
                   const VectorXd& force, const VectorXd& xi, const VectorXd& parameters,
                   const bp::list& stance, const VectorXd& guess, const bool derivatives) {
  requireSize("contact dynamics", "guess", guess.size(), dynamics.nv());
  RigidDynamics::Data data(dynamics);
  auto point = pointOf(dynamics, q, v, force, xi, parameters);
  point.stance = toVector<Stance>(stance);
  if (point.stance.size() != dynamics.nfeet())
    throw std::invalid_argument("rigid dynamics: one contact flag per foot");
  const auto solved = dynamics.solve(dynamics.prepare(data, point), guess);
  dynamics.cone(solved);
  auto out = resultOf(data);
  out["wrench"] = VectorXd(data.lambda);
  out["cone"] = VectorXd(data.cone.h);
  if (!derivatives) return out;
  dynamics.partials(solved);
  auto put = [&](const char* name, const MatrixXd& R, const MatrixXd& C) {
    MatrixXd dv, dlambda;
    dynamics.sensitivity(data, R, C, dv, dlambda);
    out[std::string("d") + name] = dv;
    out[std::string("wrench_d") + name] = dlambda;
  };
  const auto nv = dynamics.nv(), rows = dynamics.nxi(), nt = dynamics.ntheta();
  MatrixXd by_xi = MatrixXd::Zero(rows, rows),
           by_parameters = MatrixXd::Zero(rows, dynamics.nparameters());
  for (std::size_t f = 0; f < dynamics.nfeet(); ++f)
    if (data.at.stance[f] != Stance::Open)
      by_xi.diagonal().segment(dynamics.foot_xi[f], dynamics.foot_xi_size[f]).setOnes();
  by_parameters.middleCols(nt, dynamics.nfeet()) = data.c_height;
  put("q", data.by.q, data.c_q);
  put("v", data.by.v, data.c_v);
  put("force", byForce(dynamics, data), MatrixXd::Zero(rows, nv));
  put("xi", MatrixXd::Zero(nv, rows), by_xi);
  put("parameters", data.by.parameters, by_parameters);
  return out;
}

bp::tuple evaluateLaw(const ContactLaw& law, const Vector3d& c, const double mu) {
  ContactLaw::Result result;
  law.evaluate(c, mu, result);
  return bp::make_tuple(Vector3d(result.impulse), MatrixXd(result.d_velocity),
                        Vector3d(result.d_friction), Vector3d(result.d_softness));
}

std::vector<std::vector<int>> toLists(const bp::list& lists) {
  std::vector<std::vector<int>> out;
  for (const auto& list : toVector<bp::list>(lists)) out.push_back(toVector<int>(list));
  return out;
}

std::shared_ptr<LimbRegressors> makeLimbs(const pinocchio::Model& model, const bp::list& limbs) {
  return std::make_shared<LimbRegressors>(model, toLists(limbs));
}

std::shared_ptr<LegForces> makeLegForces(const pinocchio::Model& model, const bp::list& contacts,
                                         const bp::list& columns, const double stretched) {
  return std::make_shared<LegForces>(model, toVector<ContactPoint>(contacts), toLists(columns),
                                     stretched);
}

bp::tuple evaluateLegs(LegForces& legs, const VectorXd& q, const VectorXd& v, const VectorXd& a,
                       const VectorXd& torque) {
  legs.evaluate(q, v, a, torque);
  return bp::make_tuple(MatrixXd(legs.sole.transpose()), MatrixXd(legs.rate.transpose()),
                        VectorXd(legs.normal), legs.felt);
}

void setLegLosses(LegForces& legs, const VectorXd& added_armature, const VectorXd& damping,
                  const VectorXd& dry_friction, const VectorXd& gear_loss, const VectorXd& gain,
                  const VectorXd& offset, const VectorXd& stribeck,
                  const VectorXd& stribeck_velocity) {
  legs.setLosses({added_armature, damping, dry_friction, gear_loss, gain, offset, stribeck,
                  stribeck_velocity});
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

void estimateJoints(JointModel& joints, const JointQuantity quantity, const bp::list& group,
                    const VectorXd& ratio, const double softness) {
  joints.estimate(quantity, toVector<int>(group), ratio, softness);
}

bp::tuple jointValue(const JointQuantity quantity, const double softness, const double parameter) {
  double value, slope;
  JointModel::valueOf(quantity, softness, parameter, value, slope);
  return bp::make_tuple(value, slope);
}

void bindJoints() {
  bp::enum_<JointQuantity>("JointQuantity")
      .value("armature", JointQuantity::Armature)
      .value("damping", JointQuantity::Damping)
      .value("dry_friction", JointQuantity::DryFriction)
      .value("gear_loss", JointQuantity::GearLoss)
      .value("friction_lead", JointQuantity::FrictionLead)
      .value("torque_gain", JointQuantity::TorqueGain)
      .value("stribeck", JointQuantity::Stribeck)
      .value("stribeck_velocity", JointQuantity::StribeckVelocity)
      .value("torque_offset", JointQuantity::TorqueOffset)
      .value("torque_delay", JointQuantity::TorqueDelay);

  bp::class_<JointModel>(
      "JointModel", "Losses and motors of all joints behind the base.",
      bp::init<VectorXd, VectorXd>((bp::arg("damping"), bp::arg("dry_friction"))))
      .def("set", &JointModel::set, (bp::arg("quantity"), bp::arg("value")),
           "Constant (nj,) of all joints.")
      .def("estimate", &estimateJoints,
           (bp::arg("quantity"), bp::arg("group"), bp::arg("ratio"), bp::arg("softness")),
           "Make parameters of a quantity, one per group (-1: none) of joints.");
  bp::def("joint_value", &jointValue,
          (bp::arg("quantity"), bp::arg("softness"), bp::arg("parameter")),
          "Value of a joint quantity at its parameter, and its slope.");
}

void bindLaw() {
  bp::class_<ContactLaw>("ContactLaw", "Smoothed contact law: impulse of (c_t, a) [m/s].")
      .def("softened", &ContactLaw::softened, bp::arg("softness"))
      .def_readwrite("kappa", &ContactLaw::kappa)
      .def_readwrite("compliance", &ContactLaw::compliance)
      .def_readwrite("smoothing", &ContactLaw::smoothing)
      .def_readwrite("correction", &ContactLaw::correction)
      .def("evaluate", &evaluateLaw, (bp::arg("c"), bp::arg("mu")),
           "Impulse, its derivative in c and in mu.");

  bp::enum_<InertiaManifold>("InertiaManifold")
      .value("log_cholesky", InertiaManifold::LogCholesky)
      .value("exponential_eigenvalue", InertiaManifold::ExponentialEigenvalue);
  bp::def("inertia_from_theta", &fromTheta, (bp::arg("theta"), bp::arg("manifold")),
          "Dynamic parameters of theta, and their Jacobian.");
  bp::def("theta_from_inertia", &toTheta, (bp::arg("pi"), bp::arg("manifold")));
}

void setAnchor(SmoothedDynamics& dynamics, const MatrixXd& places) {
  // of a single foot eigenpy hands out, and takes, a vector
  const bool single = dynamics.nfeet() == 1 && places.size() == 2;
  if (!single &&
      (places.rows() != static_cast<Eigen::Index>(dynamics.nfeet()) || places.cols() != 2))
    throw std::invalid_argument("smoothed dynamics: one place (x, y) per foot");
  const MatrixXd by_foot = places.transpose();
  dynamics.anchor = by_foot.reshaped();
}

void bindSmoothed() {
  bp::class_<DynamicsOptions>("DynamicsOptions")
      .def_readwrite("dt", &DynamicsOptions::dt)
      .def_readwrite("law", &DynamicsOptions::law)
      .def_readwrite("manifold", &DynamicsOptions::manifold)
      .def_readwrite("rolling", &DynamicsOptions::rolling)
      .def_readwrite("slopes", &DynamicsOptions::slopes)
      .def_readwrite("soft", &DynamicsOptions::soft)
      .def_readwrite("midpoint", &DynamicsOptions::midpoint)
      .def_readwrite("friction_velocity", &DynamicsOptions::friction_velocity)
      .def_readwrite("tolerance", &DynamicsOptions::tolerance)
      .def_readwrite("max_iterations", &DynamicsOptions::max_iterations);

  bp::class_<ContactPoint>("ContactPoint")
      .def_readwrite("name", &ContactPoint::name)
      .def_readwrite("joint", &ContactPoint::joint)
      .def(Copied("position", &ContactPoint::position))
      .def(Copied("lever", &ContactPoint::lever))
      .def_readwrite("radius", &ContactPoint::radius)
      .def_readwrite("foot", &ContactPoint::foot);

  bp::class_<ContactDynamics, std::shared_ptr<ContactDynamics>, boost::noncopyable>(
      "ContactDynamics", "Time step of a robot with contacts.", bp::no_init)
      .add_property("nv", &ContactDynamics::nv)
      .add_property("nc", &ContactDynamics::nc)
      .add_property("nfeet", &ContactDynamics::nfeet)
      .add_property("nxi", &ContactDynamics::nxi)
      .add_property("ntheta", &ContactDynamics::ntheta)
      .add_property("ncone", &ContactDynamics::ncone)
      .add_property("nparameters", &ContactDynamics::nparameters)
      .add_property(
          "law", +[](const ContactDynamics& d) { return d.options.law; },
          "Contact law of the options, a copy.")
      .def("step", &stepDynamics,
           (bp::arg("q"), bp::arg("v"), bp::arg("force"), bp::arg("xi"), bp::arg("parameters"),
            bp::arg("guess"), bp::arg("derivatives") = false))
      .def("residual", &residualDynamics);

  bp::class_<SmoothedDynamics, bp::bases<ContactDynamics>, std::shared_ptr<SmoothedDynamics>,
             boost::noncopyable>("SmoothedDynamics", bp::no_init)
      .def("__init__", bp::make_constructor(
                           &make<SmoothedDynamics, DynamicsOptions>, bp::default_call_policies(),
                           (bp::arg("model"), bp::arg("contacts"), bp::arg("links"),
                            bp::arg("joints"), bp::arg("floating_base"), bp::arg("options"))))
      .add_property(
          "anchor",
          +[](const SmoothedDynamics& d) {
            return MatrixXd(d.anchor.reshaped(2, d.nfeet()).transpose());
          },
          &setAnchor, "(nf, 2) where the ground of each foot has its height [m].")
      .def("stiffness", &SmoothedDynamics::stiffness, bp::arg("softness"),
           "Stiffness of ground of some softness under a contact [N/m].");
}

void bindRigid() {
  bp::enum_<Stance>("Stance")
      .value("open", Stance::Open)
      .value("closed", Stance::Closed)
      .value("landing", Stance::Landing);

  bp::class_<RigidOptions>("RigidOptions")
      .def_readwrite("damping", &RigidOptions::damping)
      .def_readwrite("velocity_share", &RigidOptions::velocity_share)
      .def_readwrite("height_share", &RigidOptions::height_share)
      .def_readwrite("restitution", &RigidOptions::restitution);

  bp::class_<RigidDynamics, bp::bases<ContactDynamics>, std::shared_ptr<RigidDynamics>,
             boost::noncopyable>("RigidDynamics", bp::no_init)
      .def("__init__",
           bp::make_constructor(
               &make<RigidDynamics, DynamicsOptions, RigidOptions>, bp::default_call_policies(),
               (bp::arg("model"), bp::arg("contacts"), bp::arg("links"), bp::arg("joints"),
                bp::arg("floating_base"), bp::arg("options"), bp::arg("rigid"))))
      .def("step", &stepRigid,
           (bp::arg("q"), bp::arg("v"), bp::arg("force"), bp::arg("xi"), bp::arg("parameters"),
            bp::arg("stance"), bp::arg("guess"), bp::arg("derivatives") = false));
}

void bindLegs() {
  bp::class_<LegForces, std::shared_ptr<LegForces>, boost::noncopyable>("LegForces", bp::no_init)
      .def("__init__", bp::make_constructor(&makeLegForces, bp::default_call_policies(),
                                            (bp::arg("model"), bp::arg("contacts"),
                                             bp::arg("columns"), bp::arg("stretched"))))
      .def("evaluate", &evaluateLegs, (bp::arg("q"), bp::arg("v"), bp::arg("a"), bp::arg("torque")),
           "Soles (nf, 3) [m], their velocities (nf, 3) [m/s], normal forces (nf,) [N], upward "
           "force by the mass that such a motion needs [m/s2]; world axes.")
      .def(
          "carried_at_rest",
          +[](LegForces& legs, const Vector3d& force, const VectorXd& position,
              const VectorXd& rate,
              const VectorXd& torque) { return legs.carriedAtRest(force, position, rate, torque); },
          (bp::arg("force"), bp::arg("position"), bp::arg("rate"), bp::arg("torque")),
          "Sum of the normal forces of a robot at rest whose base feels `force` as gravity [N].")
      .def("set_losses", &setLegLosses,
           (bp::arg("added_armature"), bp::arg("damping"), bp::arg("dry_friction"),
            bp::arg("gear_loss"), bp::arg("gain"), bp::arg("offset"), bp::arg("stribeck"),
            bp::arg("stribeck_velocity")),
           "Losses (nj,) of the joints, between readings and links.");

  bp::class_<LimbRegressors, std::shared_ptr<LimbRegressors>, boost::noncopyable>("LimbRegressors",
                                                                                  bp::no_init)
      .def("__init__", bp::make_constructor(&makeLimbs, bp::default_call_policies(),
                                            (bp::arg("model"), bp::arg("limbs"))))
      .def(
          "evaluate",
          +[](LimbRegressors& limbs, const VectorXd& q, const VectorXd& v, const VectorXd& a) {
            return toList(limbs.evaluate(q, v, a));
          },
          (bp::arg("q"), bp::arg("v"), bp::arg("a")),
          "Torques of the joints of each limb by mass and first moment of its last link, (n, 4).");
}

}  // namespace

void bindDynamics() {
  bindLaw();
  bindJoints();
  bindSmoothed();
  bindRigid();
  bindLegs();
}

}  // namespace prime
