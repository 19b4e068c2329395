// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// Costs of a whole-body node and their Gauss-Newton models; see ActionWholeBody.
#include <pinocchio/spatial/explog.hpp>
#include <pinocchio/spatial/skew.hpp>

#include "control/action_whole_body.hpp"

namespace prime {

using Eigen::Index;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

constexpr int kBase = WholeBody::kBase;
constexpr int kBaseCoordinates = 7;
constexpr int kConeRows = 5;

struct BaseState {
  explicit BaseState(const Eigen::Ref<const VectorXd>& x, const Index nq)
      : position(x.head<3>()),
        rotation(Eigen::Quaterniond(x[6], x[3], x[4], x[5]).toRotationMatrix()),
        linear(x.segment<3>(nq)),
        angular(x.segment<3>(nq + 3)) {}
  Vector3d position;
  Matrix3d rotation;
  Vector3d linear, angular;  ///< base axes
};

double weighted(const Vector3d& w, const Vector3d& r) { return 0.5 * r.dot(w.cwiseProduct(r)); }

/// How far a value is beyond its range; 0 inside.
double beyond(const double value, const double low, const double high) {
  return value > high ? value - high : value < low ? value - low : 0.0;
}

/// Rows of the friction pyramid, each at most 0 inside: +-f_x - mu f_z, +-f_y - mu f_z, f_min -
/// f_z.
Eigen::Matrix<double, kConeRows, 3> pyramid(const double mu) {
  Eigen::Matrix<double, kConeRows, 3> A;
  A << 1, 0, -mu, -1, 0, -mu, 0, 1, -mu, 0, -1, -mu, 0, 0, -1;
  return A;
}

Eigen::Matrix<double, kConeRows, 1> coneExcess(const Eigen::Matrix<double, kConeRows, 3>& A,
                                               const Vector3d& force, const double smallest) {
  Eigen::Matrix<double, kConeRows, 1> r = A * force;
  r[kConeRows - 1] += smallest;
  return r.cwiseMax(0.0);
}

}  // namespace

double ActionWholeBody::stateCost(const ConstRef& x) const {
  const auto& w = *weights;
  const Index nq = body->model().nq, nj = body->nu();
  const BaseState base(x, nq);
  double cost = weighted(w.position, base.position - target.position) +
                weighted(w.orientation,
                         pinocchio::log3(Matrix3d(target.rotation.transpose() * base.rotation))) +
                weighted(w.linear_velocity, base.rotation * base.linear - target.linear_velocity) +
                weighted(w.angular_velocity, base.angular - target.angular_velocity);
  const auto q = x.segment(kBaseCoordinates, nj), v = x.tail(nj);
  cost += 0.5 * (q - target.joint_position).cwiseAbs2().dot(w.joint_position) +
          0.5 * (v - target.joint_velocity).cwiseAbs2().dot(w.joint_velocity);
  for (Index j = 0; j < nj; ++j) {
    const double excess = beyond(q[j], w.lowest_position[j], w.highest_position[j]);
    cost += 0.5 * w.joint_limit * excess * excess;
  }
  return cost;
}

void ActionWholeBody::stateSlopes(Data& d, const ConstRef& x) const {
  const auto& w = *weights;
  const Index nq = body->model().nq, nv = body->model().nv, nj = body->nu();
  const BaseState base(x, nq);
  const auto add = [&](const Index column, const Matrix3d& J, const Vector3d& weight,
                       const Vector3d& r) {
    d.Lx.segment<3>(column).noalias() += J.transpose() * weight.cwiseProduct(r);
    d.Lxx.block<3, 3>(column, column).noalias() += J.transpose() * weight.asDiagonal() * J;
  };
  add(0, base.rotation, w.position, base.position - target.position);
  const Matrix3d turned = target.rotation.transpose() * base.rotation;
  Matrix3d J_turn;
  pinocchio::Jlog3(turned, J_turn);
  add(3, J_turn, w.orientation, pinocchio::log3(turned));
  add(nv + 3, Matrix3d::Identity(), w.angular_velocity, base.angular - target.angular_velocity);
  const Vector3d speed = base.rotation * base.linear - target.linear_velocity;
  const Matrix3d by_turn = -base.rotation * pinocchio::skew(base.linear);
  add(3, by_turn, w.linear_velocity, speed);
  add(nv, base.rotation, w.linear_velocity, speed);
  const Matrix3d cross = by_turn.transpose() * w.linear_velocity.asDiagonal() * base.rotation;
  d.Lxx.block<3, 3>(3, nv) += cross;
  d.Lxx.block<3, 3>(nv, 3) += cross.transpose();
  for (Index j = 0; j < nj; ++j) {
    const Index a = kBase + j, b = nv + kBase + j;
    const double q = x[kBaseCoordinates + j];
    const double excess = beyond(q, w.lowest_position[j], w.highest_position[j]);
    d.Lx[a] += w.joint_position[j] * (q - target.joint_position[j]) + w.joint_limit * excess;
    d.Lxx(a, a) += w.joint_position[j] + (excess != 0.0 ? w.joint_limit : 0.0);
    d.Lx[b] += w.joint_velocity[j] * (x[nq + kBase + j] - target.joint_velocity[j]);
    d.Lxx(b, b) += w.joint_velocity[j];
  }
}

double ActionWholeBody::footCost(const Data& d, const ConstRef& x) const {
  double cost = 0.0;
  for (std::size_t i = 0; i < body->size(); ++i) {
    if (!(target.foot_weight[i] > 0.0)) continue;
    const Vector3d p = d.body.point[i] - target.foot_position.row(i).transpose();
    const Vector3d v = body->pointVelocity(d.body, i, x.tail(body->model().nv)) -
                       target.foot_velocity.row(i).transpose();
    cost += target.foot_weight[i] *
            (weighted(weights->foot_position, p) + weighted(weights->foot_velocity, v));
  }
  return cost;
}

void ActionWholeBody::footSlopes(Data& d, const ConstRef& x) const {
  const Index nv = body->model().nv;
  Index row = 0;
  for (std::size_t i = 0; i < body->size(); ++i) {
    if (!(target.foot_weight[i] > 0.0)) continue;
    const Vector3d wp = (target.foot_weight[i] * weights->foot_position).cwiseSqrt();
    const Vector3d wv = (target.foot_weight[i] * weights->foot_velocity).cwiseSqrt();
    auto position = d.rows_x.middleRows<3>(row), velocity = d.rows_x.middleRows<3>(row + 3);
    body->pointJacobian(d.body, i, position.leftCols(nv));
    position.rightCols(nv).setZero();
    velocity.rightCols(nv) = wv.asDiagonal() * position.leftCols(nv);
    body->pointVelocitySlope(d.body, i, x.tail(nv), velocity.leftCols(nv));
    velocity.leftCols(nv) = (wv.asDiagonal() * velocity.leftCols(nv)).eval();
    position.leftCols(nv) = (wp.asDiagonal() * position.leftCols(nv)).eval();
    const Vector3d p = d.body.point[i] - target.foot_position.row(i).transpose();
    const Vector3d v =
        body->pointVelocity(d.body, i, x.tail(nv)) - target.foot_velocity.row(i).transpose();
    d.rows_r.segment<3>(row) = wp.cwiseProduct(p);
    d.rows_r.segment<3>(row + 3) = wv.cwiseProduct(v);
    row += 6;
  }
  const auto J = d.rows_x.topRows(row);
  d.Lx.noalias() += J.transpose() * d.rows_r.head(row);
  d.Lxx.noalias() += J.transpose() * J;
}

double ActionWholeBody::controlCost(const ConstRef& u) const {
  double cost = 0.5 * (u - target.torque).cwiseAbs2().dot(weights->torque);
  for (Index j = 0; j < u.size(); ++j) {
    const double limit = weights->largest_torque[j], excess = beyond(u[j], -limit, limit);
    cost += 0.5 * weights->torque_limit * excess * excess;
  }
  return cost;
}

void ActionWholeBody::controlSlopes(Data& d, const ConstRef& u) const {
  d.Lu = weights->torque.cwiseProduct(u - target.torque);
  d.Luu.setZero();
  d.Luu.diagonal() = weights->torque;
  for (Index j = 0; j < u.size(); ++j) {
    const double limit = weights->largest_torque[j], excess = beyond(u[j], -limit, limit);
    if (excess == 0.0) continue;
    d.Lu[j] += weights->torque_limit * excess;
    d.Luu(j, j) += weights->torque_limit;
  }
}

double ActionWholeBody::forceCost(const Data& d) const {
  const auto A = pyramid(weights->friction);
  double cost = 0.0;
  for (std::size_t k = 0; k < d.body.standing.size(); ++k) {
    const Vector3d f = d.body.lambda.segment<3>(3 * k) / dt;
    cost += weighted(weights->force, f - target.force.row(d.body.standing[k]).transpose());
    cost += 0.5 * weights->cone * coneExcess(A, f, weights->smallest_force).squaredNorm();
  }
  return cost;
}

void ActionWholeBody::forceSlopes(Data& d) const {
  const auto A = pyramid(weights->friction);
  const Index nv = body->model().nv;
  const Vector3d w = weights->force.cwiseSqrt();
  const double wc = std::sqrt(weights->cone);
  Index row = 0;
  const auto append = [&](const Eigen::RowVector3d& scale, const Index k, const double r) {
    d.rows_x.row(row).head(nv).noalias() = scale * d.body.lambda_q.middleRows<3>(3 * k);
    d.rows_x.row(row).tail(nv).noalias() = scale * d.body.lambda_v.middleRows<3>(3 * k);
    d.rows_u.row(row).noalias() = scale * d.body.lambda_u.middleRows<3>(3 * k);
    d.rows_r[row++] = r;
  };
  for (std::size_t k = 0; k < d.body.standing.size(); ++k) {
    const Vector3d f = d.body.lambda.segment<3>(3 * k) / dt;
    const Vector3d error = f - target.force.row(d.body.standing[k]).transpose();
    for (int axis = 0; axis < 3; ++axis)
      if (w[axis] > 0.0)
        append(w[axis] / dt * Eigen::RowVector3d::Unit(axis), k, w[axis] * error[axis]);
    const auto excess = coneExcess(A, f, weights->smallest_force);
    for (int i = 0; i < kConeRows; ++i)
      if (excess[i] > 0.0) append(wc / dt * A.row(i), k, wc * excess[i]);
  }
  const auto Jx = d.rows_x.topRows(row);
  const auto Ju = d.rows_u.topRows(row);
  d.Lx.noalias() += Jx.transpose() * d.rows_r.head(row);
  d.Lu.noalias() += Ju.transpose() * d.rows_r.head(row);
  d.Lxx.noalias() += Jx.transpose() * Jx;
  d.Lxu.noalias() += Jx.transpose() * Ju;
  d.Luu.noalias() += Ju.transpose() * Ju;
}

}  // namespace prime
