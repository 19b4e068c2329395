// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// Derivatives of the step with rigid contacts: of its balance, of the constraints, of both
// unknowns.
#include "contact/rigid_dynamics.hpp"

namespace prime {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using pinocchio::Force;
using pinocchio::Motion;

void RigidDynamics::sensitivity(Data& d, const MatrixXd& R, const MatrixXd& C, MatrixXd& dv,
                                MatrixXd& dlambda) const {
  factorize(d);
  dv = d.mass.solve(R);
  dlambda = d.delassus.solve(d.Jc * dv - C);
  dv = d.MJt * dlambda - dv;
}

void RigidDynamics::contactDerivatives(ContactDynamics::Data& data) const {
  auto& d = static_cast<Data&>(data);
  d.c_q.setZero();
  d.c_v.setZero();
  d.c_height.setZero();
  for (std::size_t f = 0; f < feet_.size(); ++f) {
    if (d.at.stance[f] == Stance::Open) continue;
    addWrenchGeometry(d, f);
    constraintDerivatives(d, f);
  }
  coneDerivatives(d);
  if (!d.at_fixed_impulse) addConstraintSlope(d);
}

/// The constraint's rows, weighted by what a violation pushes back: dlambda = -(J dv+ + dc)/mu_c.
void RigidDynamics::addConstraintSlope(Data& d) const {
  d.MJt = d.Jc.transpose() / rigid.damping;
  d.by.next.noalias() += d.MJt * d.Jc;
  d.by.q.noalias() += d.MJt * d.c_q;
  d.by.v.noalias() += d.MJt * d.c_v;
  d.by.parameters.middleCols(height_, nfeet()).noalias() += d.MJt * d.c_height;
  d.by.xi += d.MJt;
}

void RigidDynamics::partials(const Solved& solved) const {
  auto& d = static_cast<Data&>(solved.data());
  d.at_fixed_impulse = true;
  derivatives(solved);
  d.at_fixed_impulse = false;
}

/// g_q -= d(J^T)/dq lambda: as addForceGeometry, of a force at a point that moves with the foot,
/// and a moment.
void RigidDynamics::addWrenchGeometry(Data& d, const std::size_t f) const {
  const auto& foot = feet_[f];
  const auto& joint = joint_of_index_;
  const Vector3d force = d.lambda.segment<3>(foot.row),
                 point = d.origin[f] - Vector3d(0.0, 0.0, foot.drop);
  Force wrench(force, point.cross(force));
  if (foot.surface) wrench.angular() += d.lambda.segment<3>(foot.row + 3);
  for (const auto k : supportOf(foot)) {
    const Motion S(d.work->pin.J.col(k));
    const Force moved(Vector3d::Zero(), pointVelocity(S, d.origin[f]).cross(force)),
        turned = moved - S.cross(wrench);
    for (const auto m : supportOf(foot))
      d.by.q(m, k) -=
          d.work->pin.J.col(m).dot(joint[k] <= joint[m] ? turned.toVector() : moved.toVector());
  }
}

/// c = dt s_a a_point(q, v, (v+ - v)/dt) + J(q) v_share + e_z s_h phi/dt
void RigidDynamics::constraintDerivatives(Data& d, const std::size_t f) const {
  const auto& foot = feet_[f];
  const bool landing = d.at.stance[f] == Stance::Landing;
  const double s = rigid.velocity_share, s_a = landing ? 0.0 : accelerationShare();
  const double s_h = landing ? 0.0 : rigid.height_share / (options.dt * foot.contacts.size());
  const Vector3d point = d.origin[f] - Vector3d(0.0, 0.0, foot.drop);
  auto c_q = d.c_q.middleRows(foot.row, foot.size), c_v = d.c_v.middleRows(foot.row, foot.size);
  c_v = (landing ? rigid.restitution : s - 1.0) * d.Jc.middleRows(foot.row, foot.size);
  if (!landing) accelerationDerivatives(d, f);
  d.v_share = (landing ? rigid.restitution : s_a + s - 1.0) * d.at.v + (1.0 - s_a) * d.out.vplus;
  Motion V, A;
  motionAlong(d, foot, d.v_share, nullptr, V, A);
  for (const auto k : supportOf(foot)) {
    const Motion S(d.work->pin.J.col(k)), dV = S.cross(Motion(V - d.before[k]));
    c_q.col(k).head<3>() +=
        pointVelocity(dV, point) + V.angular().cross(pointVelocity(S, d.origin[f]));
    if (foot.surface) c_q.col(k).tail<3>() += dV.angular();
    for (const auto i : foot.contacts) c_q(2, k) += s_h * pointVelocity(S, d.center[i]).z();
  }
  d.c_height(foot.row + 2, f) = -s_h * foot.contacts.size();
}

/// Derivatives of dt s_a a_point. A rotation of joint k rotates everything behind it:
///
///     dV/dq_k = S_k x (V - V_p)
///     dA/dq_k = S_k x (A - A_p) - (S_k x V_p) x (V - V_p)
///     dA/dv_k = V_p x S_k + S_k x (V - V_k)
///
/// V_p and A_p belong to the parent of joint k, V_k to the body of joint k.
void RigidDynamics::accelerationDerivatives(Data& d, const std::size_t f) const {
  const auto& foot = feet_[f];
  const auto& joint = joint_of_index_;
  const auto& path = supportOf(foot);
  const double h = options.dt * accelerationShare();
  const Vector3d &o = d.origin[f], point = o - Vector3d(0.0, 0.0, foot.drop);
  auto c_q = d.c_q.middleRows(foot.row, foot.size), c_v = d.c_v.middleRows(foot.row, foot.size);
  Motion V, A;
  motionAlong(d, foot, d.at.v, &d.a, V, A);
  const Vector3d rate = pointVelocity(V, o);
  Motion own = V;
  for (std::size_t n = path.size(); n-- > 0;) {
    const auto k = path[n];
    if (n + 1 < path.size() && joint[path[n + 1]] != joint[k]) own = d.before[path[n + 1]];
    const Motion S(d.work->pin.J.col(k)), &P = d.before[k], behind = V - P, dV = S.cross(behind);
    const Motion dA = S.cross(Motion(A - d.before_a[k])) - S.cross(P).cross(behind);
    const Motion dA_v = P.cross(S) + S.cross(Motion(V - own));
    const Vector3d dp = pointVelocity(S, o);
    c_q.col(k).head<3>() += h * (pointVelocity(dA, point) + A.angular().cross(dp));
    c_v.col(k).head<3>() += h * pointVelocity(dA_v, point);
    if (foot.surface) {
      c_q.col(k).tail<3>() += h * dA.angular();
      c_v.col(k).tail<3>() += h * dA_v.angular();
      continue;
    }
    const Vector3d drate = pointVelocity(dV, o) + V.angular().cross(dp);
    c_q.col(k).head<3>() += h * (dV.angular().cross(rate) + V.angular().cross(drate));
    c_v.col(k).head<3>() += h * (S.angular().cross(rate) + V.angular().cross(dp));
  }
}

}  // namespace prime
