// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// What all contact steps have in common: model, parameters, balance of momentum, its derivatives.
#include "contact/contact_dynamics.hpp"
#include "linalg/solve_error.hpp"

#include <algorithm>
#include <cmath>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/regressor.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace prime {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

constexpr double kLightest = 1e-9;  ///< link whose mass still counts [kg]

/// Velocity indices of the joints between the universe and `joint`, root first.
std::vector<std::size_t> supportIndices(const pinocchio::Model& model, const std::size_t joint) {
  std::vector<std::size_t> indices;
  for (const auto j : model.supports[joint]) {
    if (j == 0) continue;
    for (int k = 0; k < model.joints[j].nv(); ++k) indices.push_back(model.joints[j].idx_v() + k);
  }
  return indices;
}

std::vector<std::size_t> jointOfIndex(const pinocchio::Model& model) {
  std::vector<std::size_t> joint(model.nv);
  for (int j = 1; j < model.njoints; ++j)
    for (int k = 0; k < model.joints[j].nv(); ++k) joint[model.joints[j].idx_v() + k] = j;
  return joint;
}

void requireFinite(const VectorXd& x, const char* what) {
  if (x.allFinite()) return;
  std::ostringstream text;
  text << "contact dynamics: " << what << " is not finite: [" << x.transpose() << "]";
  throw SolveError(text.str());
}

/// By none of these can be divided otherwise.
void requirePositive(const DynamicsOptions& options) {
  const std::pair<const char*, double> all[] = {{"step", options.dt},
                                                {"compliance", options.law.compliance},
                                                {"sharpness kappa", options.law.kappa},
                                                {"smoothing of the law", options.law.smoothing},
                                                {"friction_velocity", options.friction_velocity}};
  for (const auto& [name, value] : all)
    if (!(value > 0.0))
      throw std::invalid_argument(std::string("contact dynamics: the ") + name +
                                  " must be positive");
}

}  // namespace

ContactDynamics::ContactDynamics(const pinocchio::Model& model,
                                 const std::vector<ContactPoint>& contacts_,
                                 const std::vector<std::size_t>& links_, const JointModel& joints_,
                                 const bool floating_base_, const DynamicsOptions& options_)
    : contacts(contacts_),
      links(links_),
      joints(joints_),
      floating_base(floating_base_),
      options(options_),
      joint_of_index_(jointOfIndex(model)),
      model_(model),
      nxi_(0),
      nparameters_(0) {
  requirePositive(options);
  if (model.nv - int(joints.nj()) != (floating_base ? 6 : 0))
    throw std::invalid_argument(
        "contact dynamics: a joint model of every joint behind the base, which is a free-flyer or "
        "fixed");
  const std::size_t njoints = model.njoints;
  for (const auto link : links)
    if (link < 1 || link >= njoints)
      throw std::invalid_argument("contact dynamics: the model has no joint " +
                                  std::to_string(link) + ", whose link could be estimated");
  std::vector<std::size_t> count;
  for (const auto& contact : contacts) {
    if (contact.joint >= njoints)
      throw std::invalid_argument("contact dynamics: the model has no joint " +
                                  std::to_string(contact.joint) + ", which carries contact '" +
                                  contact.name + "'");
    if (contact.foot >= contacts.size())
      throw std::invalid_argument("contact dynamics: contact '" + contact.name + "' is of foot " +
                                  std::to_string(contact.foot) + ", and there are " +
                                  std::to_string(contacts.size()) + " contacts");
    if (contact.foot >= count.size()) count.resize(contact.foot + 1, 0);
    ++count[contact.foot];
    support.push_back(supportIndices(model, contact.joint));
    const auto same = [&contact](const ContactBody& body) {
      return body.joint == contact.joint && body.foot == contact.foot;
    };
    auto body = std::find_if(bodies.begin(), bodies.end(), same);
    if (body == bodies.end()) body = bodies.insert(body, {contact.joint, contact.foot, {}});
    body->contacts.push_back(support.size() - 1);
  }
  if (std::find(count.begin(), count.end(), 0) != count.end())
    throw std::invalid_argument("contact dynamics: every foot has contacts");
  for (const auto link : links) link_support_.push_back(supportIndices(model, link));
  for (const auto n : count) {
    foot_xi.push_back(nxi_);
    foot_xi_size.push_back(n > 1 ? 6 : 3);
    nxi_ += foot_xi_size.back();
  }
  anchor.setZero(2 * nfeet());
  auto take = [this](const char* name, const std::size_t size) {
    const auto first = nparameters_;
    if (size > 0) blocks_.push_back({name, size});
    nparameters_ += size;
    return first;
  };
  theta_ = take("theta", ntheta());
  height_ = take("height", nfeet());
  friction_ = take("friction", nc() > 0 ? 1 : 0);
  take("slope", options.slopes ? 2 * nfeet() : 0);
  softness_ = take("softness", options.soft && nc() > 0 ? 1 : 0);
  joint_ = nparameters_;
  for (const auto& block : joints.blocks()) take(JointModel::name(block.quantity), block.groups);
}

ContactDynamics::Point::Point(const ContactDynamics& d)
    : q(pinocchio::neutral(d.model())),
      v(VectorXd::Zero(d.nv())),
      force(v),
      reading(VectorXd::Zero(d.nj())),
      reading_change(reading),
      xi(VectorXd::Zero(d.nxi())),
      parameters(VectorXd::Zero(d.nparameters())),
      anchor(d.anchor),
      law(d.options.law),
      stance(d.nfeet(), Stance::Open) {}

bool ContactDynamics::Point::operator==(const Point& other) const {
  return q == other.q && v == other.v && force == other.force && reading == other.reading &&
         reading_change == other.reading_change && xi == other.xi &&
         parameters == other.parameters && anchor == other.anchor && law == other.law &&
         stance == other.stance;
}

ContactDynamics::Data::Data(const ContactDynamics& d)
    : at(d),
      inertias(d.links.size()),
      dtheta(d.links.size(), MatrixXd::Zero(10, 10)),
      M(MatrixXd::Zero(d.nv(), d.nv())),
      bias(VectorXd::Zero(d.nv())),
      joints(d.joints),
      rate(VectorXd::Zero(d.nj())),
      acceleration(rate),
      scale(bias),
      root_scale(bias),
      center(d.nc(), Vector3d::Zero()),
      lever(center),
      a(bias),
      step(bias),
      v_start(bias),
      v_before(bias),
      v_try(bias),
      lu(d.nv()),
      body_regressor(MatrixXd::Zero(6, 10)),
      regressor(body_regressor) {
  const auto nv = d.nv(), nc = d.nc(), np = d.nparameters();
  out.vplus = out.g = bias;
  out.impulse = out.velocity = VectorXd::Zero(3 * nc);
  out.point = center;
  out.gap.assign(nc, 0.0);
  out.J = MatrixXd::Zero(3 * nc, nv);
  out.iterations = 0;
  by.next = by.q = by.v = M;
  by.xi = MatrixXd::Zero(nv, d.nxi());
  by.parameters = MatrixXd::Zero(nv, np);
  auto rows = [&](const std::size_t n) {
    const MatrixXd by_motion = MatrixXd::Zero(n, nv);
    return ImpulseDerivatives{by_motion, by_motion, by_motion, MatrixXd::Zero(n, d.nxi()),
                              MatrixXd::Zero(n, np)};
  };
  impulse_by = rows(3 * nc);
  cone = {VectorXd::Constant(d.ncone(), -1.0), rows(d.ncone())};
  for (std::size_t i = 0; i < d.links.size(); ++i) inertias[i] = d.model().inertias[d.links[i]];
}

ContactDynamics::WorkspaceLease::WorkspaceLease(const ContactDynamics& d, Data& data)
    : lease_(d.pool_, [&d]() { return std::make_unique<Workspace>(d.model()); }), data_(data) {
  for (std::size_t i = 0; i < d.links.size(); ++i)
    lease_->model.inertias[d.links[i]] = data.inertias[i];
  data.work = &*lease_;
}

/// Inertias of the estimated links at theta.
void ContactDynamics::setInertias(Data& data) const {
  const auto theta = data.at.parameters.segment(theta_, ntheta());
  data.inertias_set = false;  // nor are they, if there is no inertia at theta
  Vector10d pi;
  Matrix10d jacobian;
  for (std::size_t i = 0; i < links.size(); ++i) {
    inertiaFromTheta(options.manifold, theta.segment<10>(10 * i), pi, jacobian);
    if (!pi.allFinite() || pi[0] < kLightest) {
      std::ostringstream text;
      text << "contact dynamics: the inertia of link " << links[i]
           << " vanishes or is not finite: theta = [" << theta.transpose() << "]";
      throw SolveError(text.str());
    }
    data.dtheta[i] = jacobian;
    data.inertias[i] = pinocchio::Inertia::FromDynamicParameters(pi);
  }
  data.inertias_set = true;
}

ContactDynamics::Prepared ContactDynamics::prepare(Data& data, const Point& point) const {
  const auto n = ntheta();
  const bool same = data.inertias_set &&
                    point.parameters.segment(theta_, n) == data.at.parameters.segment(theta_, n);
  data.at = point;
  if (!same) setInertias(data);
  requireFinite(data.at.q, "the configuration");
  requireFinite(data.at.v, "the velocity");
  requireFinite(data.at.force, "the generalized force");
  requireFinite(data.at.xi, "the contact disturbance");
  // as a Ref it is the instance that libpinocchio holds: 40 s and 1 GB less to compile
  const WorkspaceLease lease(*this, data);
  auto& [model, pin, pin_bias, pin_mid] = *data.work;
  pinocchio::crba(model, pin, ConstRef(data.at.q), pinocchio::Convention::WORLD);
  data.M = pin.M.selfadjointView<Eigen::Upper>();
  joints.prepare(data.joints, data.at.parameters.tail(joints.nparameters()), data.at.reading,
                 data.at.reading_change);
  joints.addArmature(data.joints, model.armature.tail(nj()), data.M.diagonal().tail(nj()));
  data.bias = pinocchio::nonLinearEffects(model, pin_bias, data.at.q, data.at.v);
  data.scale = data.M.diagonal().cwiseInverse();
  data.root_scale = data.scale.cwiseSqrt();
  contactKinematics(data);
  return Prepared(data);
}

ContactDynamics::Solved ContactDynamics::solve(const Prepared& prepared,
                                               const ConstRef& guess) const {
  solveFrom(prepared.data(), guess);
  return Solved(prepared.data());
}

ContactDynamics::Solved ContactDynamics::residual(const Prepared& prepared,
                                                  const ConstRef& vplus) const {
  auto& data = prepared.data();
  data.out.vplus = vplus;
  impulses(data);
  balance(data);
  return Solved(data);
}

/// g of v+ and the contact impulses.
void ContactDynamics::balance(Data& data) const {
  const double dt = options.dt;
  auto& g = data.out.g;
  data.a = data.out.vplus - data.at.v;
  g.noalias() = data.M * data.a;
  g += dt * data.bias;
  g.head(nv() - nj()) -= dt * data.at.force.head(nv() - nj());
  g.noalias() -= data.out.J.transpose() * data.out.impulse;
  // joint losses at the middle of the step: the instant at which the averaged torque is centred
  data.rate = 0.5 * (data.at.v + data.out.vplus).tail(nj());
  data.acceleration = data.a.tail(nj()) / dt;
  joints.evaluate(data.joints, data.rate, data.acceleration, options.friction_velocity);
  g.tail(nj()) += dt * (data.joints.loss - data.joints.gain.cwiseProduct(data.at.force.tail(nj())));
}

/// A += dt/2 d loss/d rate + d loss/d acceleration
void ContactDynamics::addLossSlope(Data& data) const {
  data.by.next.diagonal().tail(nj()) += 0.5 * options.dt * data.joints.dloss + data.joints.by_a;
}

void ContactDynamics::derivatives(const Solved& solved) const {
  auto& data = solved.data();
  const double dt = options.dt;
  const WorkspaceLease lease(*this, data);
  auto& [model, pin, pin_bias, pin_mid] = *data.work;
  matrix(data);
  data.a = (data.out.vplus - data.at.v) / dt;
  pinocchio::computeRNEADerivatives(model, pin, data.at.q, data.at.v, data.a);
  data.by.q = dt * pin.dtau_dq;
  data.by.v = dt * pin.dtau_dv - data.M;
  data.by.v.diagonal().tail(nj()) += 0.5 * dt * data.joints.dloss - data.joints.by_a;
  data.by.xi.setZero();
  data.by.parameters.rightCols(nparameters() - ntheta()).setZero();
  contactDerivatives(data);
  for (std::size_t i = 0; i < links.size(); ++i) addInertiaDerivatives(data, i);
  if (joints.blocks().empty()) return;
  data.rate = 0.5 * (data.at.v + data.out.vplus).tail(nj());
  auto by_joints = data.by.parameters.bottomRightCorner(nj(), joints.nparameters());
  joints.derivatives(data.joints, data.rate, data.a.tail(nj()), data.at.force.tail(nj()),
                     by_joints);
  by_joints *= dt;
}

void ContactDynamics::addInertiaDerivatives(Data& data, const std::size_t i) const {
  const auto& pin = data.work->pin;
  const auto link = links[i];
  const auto& oMi = pin.oMi[link];
  pinocchio::bodyRegressor(oMi.actInv(pin.ov[link]), oMi.actInv(pin.oa_gf[link]),
                           data.body_regressor);
  data.regressor.noalias() = options.dt * data.body_regressor * data.dtheta[i];
  auto out = data.by.parameters.middleCols<10>(theta_ + 10 * i);
  for (const auto k : link_support_[i]) {
    const pinocchio::Motion S = oMi.actInv(pinocchio::Motion(pin.J.col(k)));
    out.row(k).noalias() = S.toVector().transpose() * data.regressor;
  }
}

}  // namespace prime
