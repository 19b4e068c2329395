// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// The step with rigid contacts: constraints of the feet, their impulses, Newton iteration.
#include "contact/rigid_dynamics.hpp"
#include "linalg/solve_error.hpp"

#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/kinematics.hpp>

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace prime {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using pinocchio::Motion;

RigidDynamics::RigidDynamics(const pinocchio::Model& model,
                             const std::vector<ContactPoint>& contacts_,
                             const std::vector<std::size_t>& links_, const JointModel& joints_,
                             const bool floating_base_, const DynamicsOptions& options_,
                             const RigidOptions& rigid_)
    : ContactDynamics(model, contacts_, links_, joints_, floating_base_, options_),
      rigid(rigid_),
      ncone_(0) {
  pinocchio::Data upright(model);
  pinocchio::forwardKinematics(model, upright, pinocchio::neutral(model));
  for (std::size_t f = 0; f < nfeet(); ++f) {
    Foot foot;
    foot.row = foot_xi[f];
    foot.size = foot_xi_size[f];
    foot.surface = foot.size == 6;
    for (std::size_t i = 0; i < contacts.size(); ++i)
      if (contacts[i].foot == f)
        foot.contacts.push_back(i), foot.lever.push_back(contacts[i].lever);
    const auto& first = contacts[foot.contacts.front()];
    foot.joint = first.joint;
    for (const auto i : foot.contacts)
      if (contacts[i].joint != foot.joint)
        throw std::invalid_argument("rigid dynamics: the contacts of a foot move with one joint");
    foot.position = foot.surface ? Vector3d(first.position - first.lever) : first.position;
    foot.drop = !foot.surface && options.rolling ? first.radius : 0.0;
    if (foot.surface) findSole(foot, upright.oMi[foot.joint].rotation().row(2));
    foot.cone = ncone_;
    ncone_ += foot.surface ? 2 + foot.edges.size() : 1;
    feet_.push_back(foot);
  }
}

RigidDynamics::Data::Data(const RigidDynamics& d)
    : ContactDynamics::Data(d),
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
    if (count[f] > 1)
      spread[f] = MatrixXd::Zero(3 * count[f], 6), share[f] = VectorXd::Ones(count[f]);
}

/// Spatial velocity V and acceleration A (world, a = 0 when null, without gravity) of a foot's
/// body, and those of the parents on the way.
void RigidDynamics::motionAlong(Data& d, const Foot& foot, const VectorXd& v, const VectorXd* a,
                                Motion& V, Motion& A) const {
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
  auto& d = static_cast<Data&>(data);
  d.Jc.setZero();
  d.b.setZero();
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const auto& contact = contacts[i];
    d.center[i] = d.work->pin.oMi[contact.joint].act(contact.position);
    d.out.point[i] = d.center[i];
    if (options.rolling) d.out.point[i].z() -= contact.radius;
    d.out.gap[i] = d.center[i].z() - contact.radius - height(d, contact.foot);
    for (const auto k : support[i])
      d.out.J.block<3, 1>(3 * i, k) = pointVelocity(Motion(d.work->pin.J.col(k)), d.out.point[i]);
  }
  for (std::size_t f = 0; f < feet_.size(); ++f) constrain(d, f);
}

/// J and b of a foot on the ground.
void RigidDynamics::constrain(Data& d, const std::size_t f) const {
  const auto& foot = feet_[f];
  const double s = rigid.velocity_share, h = options.dt * accelerationShare();
  d.turn[f] = d.work->pin.oMi[foot.joint].rotation();
  d.origin[f] = d.work->pin.oMi[foot.joint].act(foot.position);
  if (d.at.stance[f] == Stance::Open) return;
  const Vector3d point = d.origin[f] - Vector3d(0.0, 0.0, foot.drop);
  for (const auto k : supportOf(foot)) {
    const Motion S(d.work->pin.J.col(k));
    d.Jc.block<3, 1>(foot.row, k) = pointVelocity(S, point);
    if (foot.surface) d.Jc.block<3, 1>(foot.row + 3, k) = S.angular();
  }
  auto b = d.b.segment(foot.row, foot.size);
  b.noalias() = (d.at.stance[f] == Stance::Landing ? rigid.restitution : s - 1.0) *
                d.Jc.middleRows(foot.row, foot.size) * d.at.v;
  if (d.at.stance[f] == Stance::Landing) return;
  Motion V, A;
  motionAlong(d, foot, d.at.v, nullptr, V, A);
  b.head<3>() += h * pointVelocity(A, point);
  if (foot.surface)
    b.tail<3>() += h * A.angular();
  else  // of a point the classical acceleration vanishes
    b.head<3>() += h * V.angular().cross(pointVelocity(V, d.origin[f]));
  for (const auto i : foot.contacts)
    b[2] += rigid.height_share / options.dt * d.out.gap[i] / foot.contacts.size();
}

/// lambda = -(J v+ + b + xi)/mu_c of the feet on the ground.
void RigidDynamics::impulses(ContactDynamics::Data& data) const {
  if (!(rigid.damping > 0.0))
    throw std::invalid_argument("rigid dynamics: impulses as a function of velocity need damping");
  auto& d = static_cast<Data&>(data);
  constraint(d);
  d.lambda = -d.c / rigid.damping;
  spreadWrenches(d);
}

void RigidDynamics::constraint(Data& d) const {
  d.c = d.b;
  d.c.noalias() += d.Jc * d.out.vplus;
  for (std::size_t f = 0; f < feet_.size(); ++f)
    if (d.at.stance[f] != Stance::Open)
      d.c.segment(feet_[f].row, feet_[f].size) += d.at.xi.segment(feet_[f].row, feet_[f].size);
  d.out.velocity.noalias() = d.out.J * d.out.vplus;
}

/// M~: mass matrix and slope of the joint losses.
void RigidDynamics::matrix(ContactDynamics::Data& data) const {
  data.by.next = data.M;
  addLossSlope(data);
}

void RigidDynamics::factorize(Data& d) const {
  matrix(d);
  d.mass.compute(d.by.next);
  d.MJt = d.Jc.transpose();
  d.mass.solveInPlace(d.MJt);
  d.S.noalias() = d.Jc * d.MJt;
  d.S.diagonal().array() += rigid.damping;
  for (std::size_t f = 0; f < feet_.size(); ++f)
    if (d.at.stance[f] == Stance::Open)
      d.S.diagonal().segment(feet_[f].row, feet_[f].size).setOnes();
  d.delassus.compute(d.S);
}

/// g and c (with mu_c lambda) at (v+, lambda); their largest entry in velocity units.
double RigidDynamics::balanceBoth(Data& d) const {
  constraint(d);
  d.c += rigid.damping * d.lambda;
  spreadWrenches(d);
  balance(d);
  return std::max(d.out.g.cwiseProduct(d.scale).lpNorm<Eigen::Infinity>(),
                  d.c.size() ? d.c.lpNorm<Eigen::Infinity>() : 0.0);
}

void RigidDynamics::solveFrom(ContactDynamics::Data& data, const ConstRef& guess) const {
  auto& d = static_cast<Data&>(data);
  auto merit = [&d]() {
    return d.out.g.cwiseProduct(d.root_scale).squaredNorm() + d.c.squaredNorm();
  };
  d.out.vplus = guess.allFinite() ? VectorXd::ConstMapType(guess.data(), guess.size())
                                  : VectorXd::ConstMapType(d.at.v.data(), d.at.v.size());
  d.lambda.setZero();
  double size = balanceBoth(d), value = merit();
  for (d.out.iterations = 0; d.out.iterations < options.max_iterations && size > options.tolerance;
       ++d.out.iterations) {
    factorize(d);
    if (d.mass.info() != Eigen::Success || d.delassus.info() != Eigen::Success) break;
    d.step = d.mass.solve(d.out.g);
    d.dlambda = -d.c;
    d.dlambda.noalias() += d.Jc * d.step;
    d.delassus.solveInPlace(d.dlambda);
    d.step.noalias() -= d.MJt * d.dlambda;
    if (!d.step.allFinite() || !d.dlambda.allFinite()) break;
    d.v_before = d.out.vplus;
    d.lambda_start = d.lambda;
    double t = 1.0, next = value;
    for (int halving = 0; halving < 30; ++halving, t *= 0.5) {
      d.out.vplus = d.v_before - t * d.step;
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
  text << "rigid contact dynamics: no solution after " << d.out.iterations
       << " iterations (residual " << size << "); redundant contacts need damping; largest speed "
       << d.at.v.lpNorm<Eigen::Infinity>() << ", largest force "
       << d.at.force.lpNorm<Eigen::Infinity>();
  throw SolveError(text.str());
}

}  // namespace prime
