// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "rigid_dynamics.hpp"

#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/kinematics.hpp>

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace prime {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using pinocchio::Force;
using pinocchio::Motion;

namespace {

/// Velocity of the point p of a body with the spatial velocity m (linear at the world's origin, angular).
Vector3d atPoint(const Motion& m, const Vector3d& p) { return m.linear() + m.angular().cross(p); }

const RigidDynamics::Data& rigidData(const ContactDynamics::Data& data) { return static_cast<const RigidDynamics::Data&>(data); }
RigidDynamics::Data& rigidData(ContactDynamics::Data& data) { return static_cast<RigidDynamics::Data&>(data); }

}  // namespace

RigidDynamics::RigidDynamics(const pinocchio::Model& model, const std::vector<ContactPoint>& contacts_,
                             const std::vector<std::size_t>& links_, const VectorXd& damping, const VectorXd& friction,
                             const bool floating_base_, const DynamicsOptions& options_, const RigidOptions& rigid_)
    : ContactDynamics(model, contacts_, links_, damping, friction, floating_base_, options_), rigid(rigid_), ncone_(0) {
  pinocchio::Data upright(model);
  pinocchio::forwardKinematics(model, upright, pinocchio::neutral(model));
  for (std::size_t f = 0; f < nfeet(); ++f) {
    Foot foot;
    foot.row = foot_xi[f];
    foot.size = foot_xi_size[f];
    foot.surface = foot.size == 6;
    for (std::size_t i = 0; i < contacts.size(); ++i)
      if (contacts[i].foot == f) foot.contacts.push_back(i), foot.lever.push_back(contacts[i].lever);
    const auto& first = contacts[foot.contacts.front()];
    foot.joint = first.joint;
    foot.position = foot.surface ? Vector3d(first.position - first.lever) : first.position;
    foot.drop = !foot.surface && options.rolling ? first.radius : 0.0;
    if (foot.surface) findSole(foot, upright.oMi[foot.joint].rotation().row(2));
    if (rigid.yaw_radius > 0.0) foot.radius = rigid.yaw_radius;
    foot.cone = ncone_;
    ncone_ += foot.surface ? 2 + foot.edges.size() : 1;
    feet_.push_back(foot);
  }
}

RigidDynamics::Data::Data(const RigidDynamics& d)
    : ContactDynamics::Data(d),
      stance(d.nfeet(), Stance::Open),
      Jc(MatrixXd::Zero(d.nxi(), d.nv())),
      b(VectorXd::Zero(d.nxi())),
      c(b),
      lambda(b),
      c_q(Jc),
      c_v(Jc),
      c_height(MatrixXd::Zero(d.nxi(), d.nfeet())),
      v_share(VectorXd::Zero(d.nv())),
      origin(d.nfeet(), Vector3d::Zero()),
      turn(d.nfeet(), Eigen::Matrix3d::Identity()),
      before(d.nv(), Motion::Zero()),
      before_a(before),
      mass(d.nv()),
      delassus(d.nxi()),
      MJt(MatrixXd::Zero(d.nv(), d.nxi())),
      S(MatrixXd::Zero(d.nxi(), d.nxi())),
      lambda_start(b),
      dlambda(b),
      spread(d.nfeet()),
      share(d.nfeet()),
      h_lambda(MatrixXd::Zero(d.ncone(), 6)) {
  std::vector<std::size_t> count(d.nfeet(), 0);
  for (const auto& contact : d.contacts) ++count[contact.foot];
  for (std::size_t f = 0; f < count.size(); ++f)
    if (count[f] > 1) spread[f] = MatrixXd::Zero(3 * count[f], 6), share[f] = VectorXd::Ones(count[f]);
}

bool RigidDynamics::setStance(ContactDynamics::Data& data, const std::vector<Stance>& stance) const {
  auto& d = rigidData(data);
  if (stance.size() != feet_.size()) throw std::invalid_argument("rigid dynamics: one contact flag per foot");
  if (d.stance == stance) return false;
  d.stance = stance;
  return true;
}

/// Spatial velocity V and acceleration A (world, a = 0 when null, without gravity) of a foot's body, and those of the parents on the way.
void RigidDynamics::motionAlong(Data& d, const Foot& foot, const VectorXd& v, const VectorXd* a, Motion& V, Motion& A) const {
  const auto& joint = joint_of_index_;
  V.setZero();
  A.setZero();
  Motion parent = V, parent_acceleration = A;
  std::size_t current = 0;
  for (const auto k : supportOf(foot)) {
    if (joint[k] != current) parent = V, parent_acceleration = A, current = joint[k];
    d.before[k] = parent;
    d.before_a[k] = parent_acceleration;
    const Motion S(d.work->pin.J.col(k)), Sv = S * v[k];
    V += Sv;
    A += parent.cross(Sv);
    if (a) A += S * (*a)[k];
  }
}

/// Points and Jacobians of the contacts, J and b of the feet on the ground.
void RigidDynamics::contactKinematics(ContactDynamics::Data& data) const {
  auto& d = rigidData(data);
  d.Jc.setZero();
  d.b.setZero();
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const auto& contact = contacts[i];
    d.center[i] = d.work->pin.oMi[contact.joint].act(contact.position);
    d.point[i] = d.center[i];
    if (options.rolling) d.point[i].z() -= contact.radius;
    d.phi[i] = d.center[i].z() - contact.radius - d.height[contact.foot];
    for (const auto k : support[i]) d.J.block<3, 1>(3 * i, k) = atPoint(Motion(d.work->pin.J.col(k)), d.point[i]);
  }
  for (std::size_t f = 0; f < feet_.size(); ++f) constrain(d, f);
}

/// J and b of a foot on the ground.
void RigidDynamics::constrain(Data& d, const std::size_t f) const {
  const auto& foot = feet_[f];
  const double s = rigid.velocity_share, h = options.dt * accelerationShare();
  d.turn[f] = d.work->pin.oMi[foot.joint].rotation();
  d.origin[f] = d.work->pin.oMi[foot.joint].act(foot.position);
  if (d.stance[f] == Stance::Open) return;
  const Vector3d point = d.origin[f] - Vector3d(0.0, 0.0, foot.drop);
  for (const auto k : supportOf(foot)) {
    const Motion S(d.work->pin.J.col(k));
    d.Jc.block<3, 1>(foot.row, k) = atPoint(S, point);
    if (foot.surface) d.Jc.block<3, 1>(foot.row + 3, k) = S.angular();
  }
  auto b = d.b.segment(foot.row, foot.size);
  b.noalias() = (d.stance[f] == Stance::Landing ? rigid.restitution : s - 1.0) * d.Jc.middleRows(foot.row, foot.size) * d.v;
  if (d.stance[f] == Stance::Landing) return;
  Motion V, A;
  motionAlong(d, foot, d.v, nullptr, V, A);
  b.head<3>() += h * atPoint(A, point);
  if (foot.surface)
    b.tail<3>() += h * A.angular();
  else  // of a point the classical acceleration vanishes
    b.head<3>() += h * V.angular().cross(atPoint(V, d.origin[f]));
  for (const auto i : foot.contacts) b[2] += rigid.height_share / options.dt * d.phi[i] / foot.contacts.size();
}

/// lambda = -(J v+ + b + xi)/mu_c of the feet on the ground.
void RigidDynamics::evaluateLaw(ContactDynamics::Data& data, const VectorXd& vplus) const {
  if (!(rigid.damping > 0.0)) throw std::invalid_argument("rigid dynamics: impulses as a function of velocity need damping");
  auto& d = rigidData(data);
  constraint(d, vplus);
  d.lambda = -d.c / rigid.damping;
  spreadWrenches(d);
}

void RigidDynamics::constraint(Data& d, const VectorXd& vplus) const {
  d.c = d.b;
  d.c.noalias() += d.Jc * vplus;
  for (std::size_t f = 0; f < feet_.size(); ++f)
    if (d.stance[f] != Stance::Open) d.c.segment(feet_[f].row, feet_[f].size) += d.xi.segment(feet_[f].row, feet_[f].size);
  d.velocity.noalias() = d.J * vplus;
}

/// M~: mass matrix and slope of the joint losses.
void RigidDynamics::matrix(ContactDynamics::Data& data) const {
  data.A = data.M;
  data.A.diagonal().tail(nj()) += 0.5 * options.dt * data.dloss;
}

void RigidDynamics::factorize(Data& d) const {
  matrix(d);
  d.mass.compute(d.A);
  d.MJt = d.Jc.transpose();
  d.mass.solveInPlace(d.MJt);
  d.S.noalias() = d.Jc * d.MJt;
  d.S.diagonal().array() += rigid.damping;
  for (std::size_t f = 0; f < feet_.size(); ++f)
    if (d.stance[f] == Stance::Open) d.S.diagonal().segment(feet_[f].row, feet_[f].size).setOnes();
  d.delassus.compute(d.S);
}

/// g and c (with mu_c lambda) at (v+, lambda); their largest entry in velocity units.
double RigidDynamics::balanceBoth(Data& d) const {
  constraint(d, d.vplus);
  d.c += rigid.damping * d.lambda;
  spreadWrenches(d);
  balance(d);
  return std::max(d.g.cwiseProduct(d.scale).lpNorm<Eigen::Infinity>(), d.c.size() ? d.c.lpNorm<Eigen::Infinity>() : 0.0);
}

void RigidDynamics::solve(ContactDynamics::Data& data, const Eigen::Ref<const VectorXd>& guess) const {
  auto& d = rigidData(data);
  auto merit = [&d]() { return d.g.cwiseProduct(d.root_scale).squaredNorm() + d.c.squaredNorm(); };
  d.vplus = guess.allFinite() ? VectorXd::ConstMapType(guess.data(), guess.size()) : VectorXd::ConstMapType(d.v.data(), d.v.size());
  d.lambda.setZero();
  double size = balanceBoth(d), value = merit();
  for (d.iterations = 0; d.iterations < options.max_iterations && size > options.tolerance; ++d.iterations) {
    factorize(d);
    if (d.mass.info() != Eigen::Success || d.delassus.info() != Eigen::Success) break;
    d.step = d.mass.solve(d.g);
    d.dlambda = -d.c;
    d.dlambda.noalias() += d.Jc * d.step;
    d.delassus.solveInPlace(d.dlambda);
    d.step.noalias() -= d.MJt * d.dlambda;
    if (!d.step.allFinite() || !d.dlambda.allFinite()) break;
    d.v_try = d.vplus;
    d.lambda_start = d.lambda;
    double t = 1.0, next = value;
    for (int halving = 0; halving < 30; ++halving, t *= 0.5) {
      d.vplus = d.v_try - t * d.step;
      d.lambda = d.lambda_start + t * d.dlambda;
      size = balanceBoth(d);
      next = merit();
      if (next < (1.0 - 1e-4 * t) * value) break;
    }
    const bool stuck = !(next < value);
    value = next;
    if (stuck) break;  // round-off, or no solution
  }
  if (size < 1e3 * options.tolerance) return;
  std::ostringstream text;
  text << "rigid contact dynamics: no solution after " << d.iterations << " iterations (residual " << size
       << "); redundant contacts need damping; largest speed " << d.v.lpNorm<Eigen::Infinity>() << ", largest force "
       << d.force.lpNorm<Eigen::Infinity>();
  throw std::runtime_error(text.str());
}

void RigidDynamics::partials(Data& d) const { ContactDynamics::derivatives(d); }

/// The constraint's rows, weighted by what a violation pushes back: dlambda = -(J dv+ + dc)/mu_c.
void RigidDynamics::derivatives(ContactDynamics::Data& data) const {
  auto& d = rigidData(data);
  partials(d);
  d.MJt = d.Jc.transpose() / rigid.damping;
  d.A.noalias() += d.MJt * d.Jc;
  d.g_q.noalias() += d.MJt * d.c_q;
  d.g_v.noalias() += d.MJt * d.c_v;
  d.g_height.noalias() += d.MJt * d.c_height;
  d.g_xi += d.MJt;
}

void RigidDynamics::sensitivity(Data& d, const MatrixXd& R, const MatrixXd& C, MatrixXd& dv, MatrixXd& dlambda) const {
  factorize(d);
  dv = d.mass.solve(R);
  dlambda = d.delassus.solve(d.Jc * dv - C);
  dv = d.MJt * dlambda - dv;
}

void RigidDynamics::contactDerivatives(ContactDynamics::Data& data) const {
  auto& d = rigidData(data);
  d.c_q.setZero();
  d.c_v.setZero();
  d.c_height.setZero();
  for (std::size_t f = 0; f < feet_.size(); ++f) {
    if (d.stance[f] == Stance::Open) continue;
    addWrenchGeometry(d, f);
    constraintDerivatives(d, f);
  }
  coneDerivatives(d);
}

/// g_q -= d(J^T)/dq lambda: as addForceGeometry, of a force at a point that moves with the foot, and a moment.
void RigidDynamics::addWrenchGeometry(Data& d, const std::size_t f) const {
  const auto& foot = feet_[f];
  const auto& joint = joint_of_index_;
  const Vector3d force = d.lambda.segment<3>(foot.row), point = d.origin[f] - Vector3d(0.0, 0.0, foot.drop);
  Force wrench(force, point.cross(force));
  if (foot.surface) wrench.angular() += d.lambda.segment<3>(foot.row + 3);
  for (const auto k : supportOf(foot)) {
    const Motion S(d.work->pin.J.col(k));
    const Force moved(Vector3d::Zero(), atPoint(S, d.origin[f]).cross(force)), turned = moved - S.cross(wrench);
    for (const auto m : supportOf(foot))
      d.g_q(m, k) -= d.work->pin.J.col(m).dot(joint[k] <= joint[m] ? turned.toVector() : moved.toVector());
  }
}

/// c = dt s_a a_point(q, v, (v+ - v)/dt) + J(q) v_share + e_z s_h phi/dt
void RigidDynamics::constraintDerivatives(Data& d, const std::size_t f) const {
  const auto& foot = feet_[f];
  const bool landing = d.stance[f] == Stance::Landing;
  const double s = rigid.velocity_share, s_a = landing ? 0.0 : accelerationShare();
  const double s_h = landing ? 0.0 : rigid.height_share / (options.dt * foot.contacts.size());
  const Vector3d point = d.origin[f] - Vector3d(0.0, 0.0, foot.drop);
  auto c_q = d.c_q.middleRows(foot.row, foot.size), c_v = d.c_v.middleRows(foot.row, foot.size);
  c_v = (landing ? rigid.restitution : s - 1.0) * d.Jc.middleRows(foot.row, foot.size);
  if (!landing) accelerationDerivatives(d, f);
  d.v_share = (landing ? rigid.restitution : s_a + s - 1.0) * d.v + (1.0 - s_a) * d.vplus;
  Motion V, A;
  motionAlong(d, foot, d.v_share, nullptr, V, A);
  for (const auto k : supportOf(foot)) {
    const Motion S(d.work->pin.J.col(k)), dV = S.cross(Motion(V - d.before[k]));
    c_q.col(k).head<3>() += atPoint(dV, point) + V.angular().cross(atPoint(S, d.origin[f]));
    if (foot.surface) c_q.col(k).tail<3>() += dV.angular();
    for (const auto i : foot.contacts) c_q(2, k) += s_h * atPoint(S, d.center[i]).z();
  }
  d.c_height(foot.row + 2, f) = -s_h * foot.contacts.size();
}

/// Of dt s_a a_point: a turn of joint k turns all that comes behind it,
///
///     dV/dq_k = S_k x (V - V_p),   dA/dq_k = S_k x (A - A_p) - (S_k x V_p) x (V - V_p),   dA/dv_k = V_p x S_k + S_k x (V - V_k)
///
/// with V_p, A_p of the parent of joint k and V_k of its own body.
void RigidDynamics::accelerationDerivatives(Data& d, const std::size_t f) const {
  const auto& foot = feet_[f];
  const auto& joint = joint_of_index_;
  const auto& path = supportOf(foot);
  const double h = options.dt * accelerationShare();
  const Vector3d &o = d.origin[f], point = o - Vector3d(0.0, 0.0, foot.drop);
  auto c_q = d.c_q.middleRows(foot.row, foot.size), c_v = d.c_v.middleRows(foot.row, foot.size);
  Motion V, A;
  motionAlong(d, foot, d.v, &d.a, V, A);
  const Vector3d rate = atPoint(V, o);
  Motion own = V;
  for (std::size_t n = path.size(); n-- > 0;) {
    const auto k = path[n];
    if (n + 1 < path.size() && joint[path[n + 1]] != joint[k]) own = d.before[path[n + 1]];
    const Motion S(d.work->pin.J.col(k)), &P = d.before[k], behind = V - P, dV = S.cross(behind);
    const Motion dA = S.cross(Motion(A - d.before_a[k])) - S.cross(P).cross(behind);
    const Motion dA_v = P.cross(S) + S.cross(Motion(V - own));
    const Vector3d dp = atPoint(S, o);
    c_q.col(k).head<3>() += h * (atPoint(dA, point) + A.angular().cross(dp));
    c_v.col(k).head<3>() += h * atPoint(dA_v, point);
    if (foot.surface) {
      c_q.col(k).tail<3>() += h * dA.angular();
      c_v.col(k).tail<3>() += h * dA_v.angular();
      continue;
    }
    const Vector3d drate = atPoint(dV, o) + V.angular().cross(dp);
    c_q.col(k).head<3>() += h * (dV.angular().cross(rate) + V.angular().cross(drate));
    c_v.col(k).head<3>() += h * (S.angular().cross(rate) + V.angular().cross(dp));
  }
}

}  // namespace prime
