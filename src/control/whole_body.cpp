// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "control/whole_body.hpp"

#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <stdexcept>

namespace prime {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

WholeBody::Data::Data(const WholeBody& body)
    : pin(body.model_),
      joint_force(body.model_.njoints, pinocchio::Force::Zero()),
      point(body.size(), Vector3d::Zero()) {
  const Index nv = body.model_.nv, n = 3 * static_cast<Index>(body.size());
  standing.reserve(body.size());
  J = MJt = MatrixXd::Zero(n, nv);
  MJt.resize(nv, n);
  S = MatrixXd::Zero(n, n);
  v_next = acceleration = VectorXd::Zero(nv);
  lambda = VectorXd::Zero(n);
  v_q = v_v = MatrixXd::Zero(nv, nv);
  v_u = MatrixXd::Zero(nv, body.nu());
  lambda_q = lambda_v = MatrixXd::Zero(n, nv);
  lambda_u = MatrixXd::Zero(n, body.nu());
  g = h = MatrixXd::Zero(nv, 2 * nv + body.nu());
  c = MatrixXd::Zero(n, 2 * nv + body.nu());
}

WholeBody::WholeBody(const pinocchio::Model& model, const std::vector<StancePoint>& points,
                     const double compliance)
    : model_(model), points_(points), compliance_(compliance) {
  if (model.njoints < 2 || model.joints[1].nv() != kBase)
    throw std::invalid_argument("whole body: the first joint of the model must be a free-flyer");
  if (model.nq != model.nv + 1)
    throw std::invalid_argument(
        "whole body: joints behind the base have one coordinate each, and continuous ones two");
  for (const auto& p : points)
    if (p.joint < 2 || p.joint >= static_cast<std::size_t>(model.njoints))
      throw std::invalid_argument("whole body: a point must be on a link that a joint moves");
  if (!(compliance > 0.0))
    throw std::invalid_argument("whole body: the compliance of the contacts must be positive");
}

void WholeBody::takeInertias(const pinocchio::Model& other) {
  if (other.njoints != model_.njoints)
    throw std::invalid_argument("whole body: inertias of a model with other joints");
  model_.inertias = other.inertias;
}

void WholeBody::placePoints(Data& d) const {
  for (std::size_t i = 0; i < points_.size(); ++i)
    d.point[i] = d.pin.oMi[points_[i].joint].act(points_[i].position);
}

void WholeBody::place(Data& d, const ConstRef& q) const {
  pinocchio::computeJointJacobians(model_, d.pin, q);
  placePoints(d);
  d.standing.clear();
}

void WholeBody::step(Data& d, const ConstRef& q, const ConstRef& v, const ConstRef& u,
                     const std::vector<bool>& stands, const double dt) const {
  d.dt = dt;
  d.standing.clear();
  for (std::size_t i = 0; i < points_.size(); ++i)
    if (stands[i]) d.standing.push_back(i);
  pinocchio::crba(model_, d.pin, q, pinocchio::Convention::WORLD);  // with placements and Jacobians
  d.pin.M.triangularView<Eigen::StrictlyLower>() = d.pin.M.transpose();
  pinocchio::nonLinearEffects(model_, d.pin, q, v);
  placePoints(d);
  d.mass.compute(d.pin.M);
  // v+ without contacts
  d.v_next = -dt * d.pin.nle;
  d.v_next.tail(nu()) += dt * u;
  d.mass.solveInPlace(d.v_next);
  d.v_next += v;
  const Index n = d.rows();
  if (n > 0) {
    auto J = d.J.topRows(n);
    for (Index k = 0; k < n / 3; ++k)
      pointJacobian(d, d.standing[k], J.middleRows<3>(3 * k), points_[d.standing[k]].radius);
    auto MJt = d.MJt.leftCols(n);
    MJt = J.transpose();
    d.mass.solveInPlace(MJt);
    auto S = d.S.topLeftCorner(n, n);
    S.noalias() = J * MJt;
    S.diagonal().array() += compliance_;
    d.delassus.compute(S);
    d.lambda.head(n).noalias() = -(J * d.v_next);
    d.lambda.head(n) = d.delassus.solve(d.lambda.head(n));
    d.v_next.noalias() += MJt * d.lambda.head(n);
  }
  d.acceleration = (d.v_next - v) / dt;
}

void WholeBody::differentiate(Data& d, const ConstRef& q, const ConstRef& v) const {
  balanceSlopes(d, q, v);
  resolve(d);
}

void WholeBody::balanceSlopes(Data& d, const ConstRef& q, const ConstRef& v) const {
  const Index nv = model_.nv;
  for (auto& f : d.joint_force) f.setZero();
  for (std::size_t k = 0; k < d.standing.size(); ++k) {
    const auto& p = points_[d.standing[k]];
    const auto& placement = d.pin.oMi[p.joint];
    const Vector3d f = placement.rotation().transpose() * d.lambda.segment<3>(3 * k) / d.dt;
    const Vector3d lever =
        p.position - p.radius * placement.rotation().transpose() * Vector3d::UnitZ();
    d.joint_force[p.joint] += pinocchio::Force(f, lever.cross(f));
  }
  pinocchio::computeRNEADerivatives(model_, d.pin, q, v, d.acceleration, d.joint_force);
  auto by_q = d.g.leftCols(nv);
  by_q = d.dt * d.pin.dtau_dq;
  for (std::size_t k = 0; k < d.standing.size(); ++k) addForceSlope(d, k, by_q);
  d.g.middleCols(nv, nv) = d.dt * d.pin.dtau_dv - d.pin.M;
  d.g.rightCols(nu()).setZero();
  d.g.rightCols(nu()).bottomRows(nu()).diagonal().setConstant(-d.dt);
  for (std::size_t k = 0; k < d.standing.size(); ++k)
    pointVelocitySlope(d, d.standing[k], d.v_next, d.c.block(3 * k, 0, 3, nv),
                       points_[d.standing[k]].radius);
}

// RNEA's forces turn with the bodies and act at a material point; those of the ground keep their
// direction and act at the lowest point of the sphere.
void WholeBody::addForceSlope(Data& d, const std::size_t k, Eigen::Ref<MatrixXd> by_q) const {
  const auto& p = points_[d.standing[k]];
  const auto& support = model_.supports[p.joint];
  const Vector3d impulse = d.lambda.segment<3>(3 * k);
  for (std::size_t s = 1; s < support.size(); ++s) {
    const auto& joint = model_.joints[support[s]];
    for (int j = joint.idx_v(); j < joint.idx_v() + joint.nv(); ++j) {
      const Vector3d w = d.pin.J.col(j).tail<3>();
      by_q.col(j).noalias() -= d.J.middleRows<3>(3 * k).transpose() * impulse.cross(w);
      const Vector3d moment = w.cross(p.radius * Vector3d::UnitZ()).cross(impulse);
      for (std::size_t t = 1; t < support.size(); ++t) {
        const auto& other = model_.joints[support[t]];
        for (int i = other.idx_v(); i < other.idx_v() + other.nv(); ++i)
          by_q(i, j) -= d.pin.J.col(i).tail<3>().dot(moment);
      }
    }
  }
}

void WholeBody::resolve(Data& d) const {
  const Index nv = model_.nv, n = d.rows();
  d.h = d.g;
  d.mass.solveInPlace(d.h);
  d.h *= -1.0;  // dv+ at fixed impulses
  if (n > 0) {
    auto J = d.J.topRows(n);
    auto c = d.c.topRows(n);
    c.rightCols(nv + nu()).setZero();
    c.noalias() += J * d.h;
    d.delassus.solveInPlace(c);
    c *= -1.0;  // dlambda
    d.h.noalias() += d.MJt.leftCols(n) * c;
    d.lambda_q.topRows(n) = c.leftCols(nv);
    d.lambda_v.topRows(n) = c.middleCols(nv, nv);
    d.lambda_u.topRows(n) = c.rightCols(nu());
  }
  d.v_q = d.h.leftCols(nv);
  d.v_v = d.h.middleCols(nv, nv);
  d.v_u = d.h.rightCols(nu());
}

Vector3d WholeBody::pointVelocity(const Data& d, const std::size_t i, const ConstRef& v,
                                  const double drop) const {
  Vector3d linear = Vector3d::Zero(), angular = Vector3d::Zero();
  for (const auto k : model_.supports[points_[i].joint]) {
    const auto& joint = model_.joints[k];
    for (int j = joint.idx_v(); k > 0 && j < joint.idx_v() + joint.nv(); ++j) {
      linear += v[j] * d.pin.J.col(j).head<3>();
      angular += v[j] * d.pin.J.col(j).tail<3>();
    }
  }
  return linear + angular.cross(d.point[i] - drop * Vector3d::UnitZ());
}

void WholeBody::pointJacobian(const Data& d, const std::size_t i, Eigen::Ref<MatrixXd> by_v,
                              const double drop) const {
  by_v.setZero();
  const Vector3d p = d.point[i] - drop * Vector3d::UnitZ();
  for (const auto k : model_.supports[points_[i].joint]) {
    const auto& joint = model_.joints[k];
    for (int j = joint.idx_v(); k > 0 && j < joint.idx_v() + joint.nv(); ++j) {
      const Vector3d w = d.pin.J.col(j).tail<3>();
      by_v.col(j) = d.pin.J.col(j).head<3>() + w.cross(p);
    }
  }
}

// A displacement of joint k turns the twist of all that is further out (k included) about its axis,
// and moves the centre of the sphere, below which the point stays. The free-flyer's rates are in
// its own axes and turn with it.
void WholeBody::pointVelocitySlope(const Data& d, const std::size_t i, const ConstRef& v,
                                   Eigen::Ref<MatrixXd> by_q, const double drop) const {
  by_q.setZero();
  const auto& support = model_.supports[points_[i].joint];
  const Vector3d p = d.point[i] - drop * Vector3d::UnitZ();
  Vector3d linear = Vector3d::Zero(), angular = Vector3d::Zero();  // of what is further out
  for (std::size_t s = support.size() - 1; s > 0; --s) {
    const auto& joint = model_.joints[support[s]];
    for (int j = joint.idx_v(); j < joint.idx_v() + joint.nv(); ++j) {
      linear += v[j] * d.pin.J.col(j).head<3>();
      angular += v[j] * d.pin.J.col(j).tail<3>();
    }
    for (int j = joint.idx_v(); j < joint.idx_v() + joint.nv(); ++j) {
      const Vector3d w = d.pin.J.col(j).tail<3>(), l = d.pin.J.col(j).head<3>();
      by_q.col(j) = w.cross(linear + angular.cross(p)) - angular.cross(l + w.cross(p));
    }
  }
  for (std::size_t s = 1; s < support.size(); ++s) {
    const auto& joint = model_.joints[support[s]];
    for (int j = joint.idx_v(); j < joint.idx_v() + joint.nv(); ++j) {
      const Vector3d w = d.pin.J.col(j).tail<3>();
      by_q.col(j) += angular.cross(d.pin.J.col(j).head<3>() + w.cross(d.point[i]));
    }
  }
}

}  // namespace prime
