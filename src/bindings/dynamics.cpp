// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// Contact laws, inertias, contact dynamics, forces of the legs.
#include "bindings/bindings.hpp"
#include "contact/rigid_dynamics.hpp"
#include "sensing/leg_forces.hpp"

namespace prime {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

template <class D, class... Options>
std::shared_ptr<D> make(const pinocchio::Model& model, const bp::list& contacts,
                        const bp::list& links, const VectorXd& damping, const VectorXd& friction,
                        const bool floating_base, const Options&... options) {
  return std::make_shared<D>(model, toVector<ContactPoint>(contacts), toVector<std::size_t>(links),
                             damping, friction, floating_base, options...);
}

/// One step (q, v, force, xi; theta, heights, mu) -> v+, with impulses and derivatives: the C++
/// unit as tests see it.
bp::dict stepDynamics(const ContactDynamics& dynamics, const VectorXd& q, const VectorXd& v,
                      const VectorXd& force, const VectorXd& xi, const VectorXd& theta,
                      const VectorXd& height, const double friction, const VectorXd& guess,
                      const bool derivatives) {
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
VectorXd residualDynamics(const ContactDynamics& dynamics, const VectorXd& q, const VectorXd& v,
                          const VectorXd& force, const VectorXd& xi, const VectorXd& theta,
                          const VectorXd& height, const double friction, const VectorXd& vplus) {
  const auto work = dynamics.createData();
  auto& data = *work;
  dynamics.setParameters(data, theta, height, friction);
  dynamics.prepare(data, q, v, force, xi);
  dynamics.residual(data, vplus);
  return data.g;
}

/// One step with rigid contacts, as stepDynamics; also without damping.
bp::dict stepRigid(const RigidDynamics& dynamics, const VectorXd& q, const VectorXd& v,
                   const VectorXd& force, const VectorXd& xi, const VectorXd& theta,
                   const VectorXd& height, const double friction, const bp::list& stance,
                   const VectorXd& guess, const bool derivatives) {
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
    if (data.stance[f] != Stance::Open)
      by_xi.diagonal().segment(dynamics.foot_xi[f], dynamics.foot_xi_size[f]).setOnes();
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
  return bp::make_tuple(Vector3d(result.impulse), MatrixXd(result.d_velocity),
                        Vector3d(result.d_friction));
}

std::shared_ptr<LegForces> makeLegForces(const pinocchio::Model& model, const bp::list& contacts,
                                         const bp::list& columns, const double stretched) {
  std::vector<std::vector<int>> by_foot;
  for (const auto& foot : toVector<bp::list>(columns)) by_foot.push_back(toVector<int>(foot));
  return std::make_shared<LegForces>(model, toVector<ContactPoint>(contacts), by_foot, stretched);
}

bp::tuple evaluateLegs(LegForces& legs, const VectorXd& q, const VectorXd& v, const VectorXd& a,
                       const VectorXd& torque) {
  legs.evaluate(q, v, a, torque);
  return bp::make_tuple(MatrixXd(legs.sole.transpose()), MatrixXd(legs.rate.transpose()),
                        VectorXd(legs.normal));
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

void bindLaw() {
  bp::class_<ContactLaw>("ContactLaw", "Smoothed contact law: impulse of (c_t, a) [m/s].")
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

void bindSmoothed() {
  bp::class_<DynamicsOptions>("DynamicsOptions")
      .def_readwrite("dt", &DynamicsOptions::dt)
      .def_readwrite("law", &DynamicsOptions::law)
      .def_readwrite("manifold", &DynamicsOptions::manifold)
      .def_readwrite("rolling", &DynamicsOptions::rolling)
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
      "ContactDynamics", bp::no_init)
      .def("__init__",
           bp::make_constructor(
               &make<ContactDynamics, DynamicsOptions>, bp::default_call_policies(),
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
           (bp::arg("q"), bp::arg("v"), bp::arg("force"), bp::arg("xi"), bp::arg("theta"),
            bp::arg("height"), bp::arg("friction"), bp::arg("guess"),
            bp::arg("derivatives") = false))
      .def("residual", &residualDynamics);
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
           bp::make_constructor(&make<RigidDynamics, DynamicsOptions, RigidOptions>,
                                bp::default_call_policies(),
                                (bp::arg("model"), bp::arg("contacts"), bp::arg("links"),
                                 bp::arg("joint_damping"), bp::arg("joint_friction"),
                                 bp::arg("floating_base"), bp::arg("options"), bp::arg("rigid"))))
      .def("step", &stepRigid,
           (bp::arg("q"), bp::arg("v"), bp::arg("force"), bp::arg("xi"), bp::arg("theta"),
            bp::arg("height"), bp::arg("friction"), bp::arg("stance"), bp::arg("guess"),
            bp::arg("derivatives") = false));
}

void bindLegs() {
  bp::class_<LegForces, std::shared_ptr<LegForces>, boost::noncopyable>("LegForces", bp::no_init)
      .def("__init__", bp::make_constructor(&makeLegForces, bp::default_call_policies(),
                                            (bp::arg("model"), bp::arg("contacts"),
                                             bp::arg("columns"), bp::arg("stretched"))))
      .def("evaluate", &evaluateLegs, (bp::arg("q"), bp::arg("v"), bp::arg("a"), bp::arg("torque")),
           "Soles (nf, 3) [m], their velocities (nf, 3) [m/s], normal forces (nf,) [N]; world "
           "axes.");
}

}  // namespace

void bindDynamics() {
  bindLaw();
  bindSmoothed();
  bindRigid();
  bindLegs();
}

}  // namespace prime
