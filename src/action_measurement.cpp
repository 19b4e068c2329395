// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "action_measurement.hpp"

#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/spatial/explog.hpp>

namespace prime {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using pinocchio::skew;

namespace {

using ConstRef = ActionLeastSquares::ConstRef;

Matrix3d baseRotation(const ConstRef& x) { return Eigen::Quaterniond(x[6], x[3], x[4], x[5]).toRotationMatrix(); }

constexpr int kPoseRows = 6 * NodeInput::kPoses;

}  // namespace

ParameterLayout ParameterLayout::make(const ContactDynamics& dynamics, const bool imu, const bool mocap) {
  ParameterLayout l;
  auto take = [&l](int& offset, const std::size_t n) {
    if (n == 0) return;
    offset = l.size;
    l.size += static_cast<int>(n);
  };
  take(l.theta, dynamics.ntheta());
  take(l.accelerometer_bias, imu ? 3 : 0);
  take(l.gyro_bias, imu ? 3 : 0);
  take(l.height, dynamics.nfeet());
  take(l.friction, dynamics.nc() > 0 ? 1 : 0);
  take(l.mocap, mocap ? 3 : 0);
  return l;
}

NodeInput::NodeInput(const ContactDynamics& d)
    : position(pinocchio::neutral(d.model())),
      velocity(VectorXd::Zero(d.nj())),
      torque(velocity),
      gyro(Vector3d::Zero()),
      accelerometer(Vector3d::Zero()),
      orientation(Matrix3d::Identity()),
      weight_position(velocity),
      weight_velocity(velocity),
      weight_force(VectorXd::Zero(d.nv())),
      weight_xi(VectorXd::Zero(d.nxi())) {}

ActionMeasurement::ActionMeasurement(std::shared_ptr<StateParameters> state, std::shared_ptr<ContactDynamics> dynamics_,
                                     const ParameterLayout& layout_, const pinocchio::SE3& base_M_imu_, const VectorXd& nominal_,
                                     const bool inverse_)
    : ActionLeastSquares(state, dynamics_->nv() + dynamics_->nxi(),
                         dynamics_->nv() + dynamics_->nxi() + 2 * dynamics_->nj() + 9 + kPoseRows, layout_.size),
      input(std::make_shared<NodeInput>(*dynamics_)),
      dynamics(dynamics_),
      layout(layout_),
      base_M_imu(base_M_imu_),
      nominal(nominal_),
      inverse(inverse_),
      nv_(dynamics_->nv()),
      nj_(dynamics_->nj()),
      nxi_(dynamics_->nxi()) {
  if (nominal.size() != static_cast<int>(dynamics->ntheta() + dynamics->nfeet() + 1))
    throw std::invalid_argument("nominal parameters: theta of every link, one height per foot, log friction");
  row_encoder_ = nv_ + nxi_;
  row_rate_ = row_encoder_ + nj_;
  row_gyro_ = row_rate_ + nj_;
  row_tilt_ = row_gyro_ + 3;
  row_pose_ = row_tilt_ + 3;
  row_accelerometer_ = row_pose_ + kPoseRows;
}

void ActionMeasurement::setParameters(Data& d, const ConstRef& x) const {
  const auto p = x.tail(layout.size);
  const auto nt = dynamics->ntheta(), nf = dynamics->nfeet();
  d.theta = nominal.head(nt);
  d.height = nominal.segment(nt, nf);
  if (layout.theta >= 0) d.theta = p.segment(layout.theta, nt);
  if (layout.height >= 0) d.height = p.segment(layout.height, nf);
  const double log_friction = layout.friction >= 0 ? p[layout.friction] : nominal[nt + nf];
  dynamics->setParameters(d.dynamics, d.theta, d.height, std::exp(log_friction));
}

void ActionMeasurement::calc(const std::shared_ptr<DataAbstract>& data, const ConstRef& x, const ConstRef& u) {
  auto& d = static_cast<Data&>(*data);
  const auto nq = dynamics->nq();
  const auto v = x.segment(nq, nv_);
  setParameters(d, x);
  d.force.setZero();
  d.force.tail(nj_) = input->torque;
  if (inverse) {
    dynamics->prepare(d.dynamics, x.head(nq), v, d.force, u.tail(nxi_));
    dynamics->residual(d.dynamics, u.head(nv_), true);
    d.r.head(nv_) = input->weight_force.cwiseProduct(d.dynamics.g) / dynamics->options.dt;
  } else {
    d.force += u.head(nv_);
    // the last solution of the same node is the best start; after a failure or for another node it is the velocity
    const bool warm = !d.fresh && d.input == input.get();
    if (warm) d.q_step = d.dynamics.vplus;
    dynamics->prepare(d.dynamics, x.head(nq), v, d.force, u.tail(nxi_));
    if (!warm) d.q_step = v;
    d.fresh = true;
    dynamics->solve(d.dynamics, d.q_step);
    d.fresh = false;
    d.input = input.get();
    d.r.head(nv_) = input->weight_force.cwiseProduct(u.head(nv_));
  }
  d.r.segment(nv_, nxi_) = input->weight_xi.cwiseProduct(u.tail(nxi_));
  d.q_step = dynamics->options.dt * d.dynamics.vplus;
  pinocchio::integrate(dynamics->model(), x.head(nq), d.q_step, d.xnext.head(nq));
  d.xnext.segment(nq, nv_) = d.dynamics.vplus;
  d.xnext.tail(np) = x.tail(np);
  stateResidual(d, x);
  accelerometer(d, x, false);
  d.cost = 0.5 * d.r.squaredNorm();
}

void ActionMeasurement::calc(const std::shared_ptr<DataAbstract>& data, const ConstRef& x) {
  auto& d = static_cast<Data&>(*data);
  d.r.head(nv_ + nxi_).setZero();
  d.r.tail<3>().setZero();
  stateResidual(d, x);
  d.xnext = x;
  d.cost = 0.5 * d.r.squaredNorm();
}

void ActionMeasurement::stateResidual(Data& d, const ConstRef& x) const {
  const auto nq = dynamics->nq();
  const auto& in = *input;
  const auto p = x.tail(np);
  // joints: a difference on the manifold, since continuous joints have more coordinates than rates
  pinocchio::difference(dynamics->model(), in.position, x.head(nq), d.dq);
  d.r.segment(row_encoder_, nj_) = in.weight_position.cwiseProduct(d.dq.tail(nj_));
  d.r.segment(row_rate_, nj_) = in.weight_velocity.cwiseProduct(x.segment(nq + nv_ - nj_, nj_) - in.velocity);
  d.r.segment(row_gyro_, 6 + kPoseRows).setZero();
  if (!dynamics->floating_base) return;

  const Vector3d v = x.segment<3>(nq), omega = x.segment<3>(nq + 3);
  const Matrix3d R = baseRotation(x), Rbi = base_M_imu.rotation();
  if (in.weight_gyro > 0.0) {
    Vector3d e = Rbi.transpose() * omega - in.gyro;
    if (layout.gyro_bias >= 0) e += p.segment<3>(layout.gyro_bias);
    d.r.segment<3>(row_gyro_) = in.weight_gyro * e;
  }
  if (in.weight_tilt > 0.0)
    d.r.segment<3>(row_tilt_) = in.weight_tilt * ((R * Rbi).row(2) - in.orientation.row(2)).transpose();
  const Matrix3d offset = layout.mocap >= 0 ? pinocchio::exp3(Vector3d(p.segment<3>(layout.mocap))) : Matrix3d::Identity();
  for (std::size_t i = 0; i < NodeInput::kPoses; ++i) {
    const auto& pose = in.pose[i];
    if (!(pose.weight_position > 0.0) && !(pose.weight_rotation > 0.0)) continue;
    // back along the step, whose mean velocity is v_k
    const Matrix3d R_then = R * pinocchio::exp3(Vector3d(-pose.age * omega));
    d.r.segment<3>(row_pose_ + 6 * i) = pose.weight_position * (x.head<3>() - pose.age * (R * v) - pose.position);
    d.r.segment<3>(row_pose_ + 6 * i + 3) = pose.weight_rotation * pinocchio::log3(Matrix3d(pose.rotation.transpose() * R_then * offset));
  }
}

void ActionMeasurement::stateJacobian(Data& d, const ConstRef& x) const {
  const auto nq = dynamics->nq();
  const auto& in = *input;
  const auto p = x.tail(np);
  const auto np0 = 2 * nv_;
  d.Rx.block(row_encoder_, nv_ - nj_, nj_, nj_).diagonal() = in.weight_position;
  d.Rx.block(row_rate_, 2 * nv_ - nj_, nj_, nj_).diagonal() = in.weight_velocity;
  d.Rx.middleRows(row_gyro_, 6 + kPoseRows).setZero();
  if (!dynamics->floating_base) return;

  const Vector3d v = x.segment<3>(nq), omega = x.segment<3>(nq + 3);
  const Matrix3d R = baseRotation(x), Rbi = base_M_imu.rotation();
  if (in.weight_gyro > 0.0) {
    d.Rx.block<3, 3>(row_gyro_, nv_ + 3) = in.weight_gyro * Rbi.transpose();
    if (layout.gyro_bias >= 0) d.Rx.block<3, 3>(row_gyro_, np0 + layout.gyro_bias).diagonal().setConstant(in.weight_gyro);
  }
  if (in.weight_tilt > 0.0)
    d.Rx.block<3, 3>(row_tilt_, 3) = in.weight_tilt * Rbi.transpose() * skew(Vector3d(R.row(2).transpose()));
  const Vector3d phi = layout.mocap >= 0 ? Vector3d(p.segment<3>(layout.mocap)) : Vector3d::Zero();
  Matrix3d Jlog, Jexp;
  for (std::size_t i = 0; i < NodeInput::kPoses; ++i) {
    const auto& pose = in.pose[i];
    if (!(pose.weight_position > 0.0) && !(pose.weight_rotation > 0.0)) continue;
    const auto row = row_pose_ + 6 * i;
    const double wp = pose.weight_position, wr = pose.weight_rotation, s = pose.age;
    d.Rx.block<3, 3>(row, 0) = wp * R;
    d.Rx.block<3, 3>(row, 3) = wp * s * R * skew(v);
    d.Rx.block<3, 3>(row, nv_) = -wp * s * R;
    const Vector3d back = -s * omega;
    const Matrix3d turn = pinocchio::exp3(back), offset = pinocchio::exp3(phi);
    pinocchio::Jlog3(Matrix3d(pose.rotation.transpose() * R * turn * offset), Jlog);
    d.Rx.block<3, 3>(row + 3, 3) = wr * Jlog * (turn * offset).transpose();
    pinocchio::Jexp3(back, Jexp);
    d.Rx.block<3, 3>(row + 3, nv_ + 3) = -wr * s * Jlog * offset.transpose() * Jexp;
    if (layout.mocap >= 0) {
      pinocchio::Jexp3(phi, Jexp);
      d.Rx.block<3, 3>(row + 3, np0 + layout.mocap) = wr * Jlog * Jexp;
    }
  }
}

void ActionMeasurement::accelerometer(Data& d, const ConstRef& x, const bool jacobian) const {
  const double weight = input->weight_accelerometer, dt = dynamics->options.dt;
  const auto row = row_accelerometer_;
  if (!jacobian) d.r.segment<3>(row).setZero();
  if (jacobian) {
    d.Rx.middleRows<3>(row).setZero();
    d.Ru.middleRows<3>(row).setZero();
  }
  if (!dynamics->floating_base || !(weight > 0.0)) return;
  const auto nq = dynamics->nq();
  const Eigen::Matrix<double, 6, 1> v0 = x.segment<6>(nq), v1 = d.dynamics.vplus.head<6>(), mid = 0.5 * (v0 + v1), a = (v1 - v0) / dt;
  const Vector3d v = mid.head<3>(), omega = mid.tail<3>(), r = base_M_imu.translation(), alpha = a.tail<3>();
  const Matrix3d R = baseRotation(x), Rbi = base_M_imu.rotation();
  const Vector3d gravity = R.transpose() * dynamics->model().gravity.linear();
  if (!jacobian) {
    Vector3d f = a.head<3>() + omega.cross(v) + alpha.cross(r) + omega.cross(omega.cross(r)) - gravity;
    f = Rbi.transpose() * f - input->accelerometer;
    if (layout.accelerometer_bias >= 0) f += x.tail(np).segment<3>(layout.accelerometer_bias);
    d.r.segment<3>(row) = weight * f;
    return;
  }
  const Matrix3d scaled = weight * Rbi.transpose();
  Eigen::Matrix<double, 3, 6> d_mid, d_a;
  d_mid << scaled * skew(omega), -scaled * (skew(v) + skew(Vector3d(omega.cross(r))) + skew(omega) * skew(r));
  d_a << scaled, -scaled * skew(r);
  const Eigen::Matrix<double, 3, 6> d_v1 = 0.5 * d_mid + d_a / dt;
  d.Rx.block<3, 3>(row, 3) -= scaled * skew(gravity);
  d.Rx.block<3, 6>(row, nv_) += 0.5 * d_mid - d_a / dt;
  if (layout.accelerometer_bias >= 0) d.Rx.block<3, 3>(row, 2 * nv_ + layout.accelerometer_bias).diagonal().array() += weight;
  if (inverse) {
    d.Ru.block<3, 6>(row, 0) += d_v1;
  } else {
    const auto ndx = state_->get_ndx();
    d.Rx.middleRows<3>(row).noalias() += d_v1 * d.D.topLeftCorner(6, ndx);
    d.Ru.middleRows<3>(row).noalias() += d_v1 * d.D.topRightCorner(6, nu_);
  }
}

/// G = dg/d(q, v, p, xi) in the columns of (x, u); the columns of w or v+ are left to the form.
void ActionMeasurement::collectDerivatives(Data& d) const {
  auto& dyn = d.dynamics;
  dynamics->derivatives(dyn);
  const auto np0 = 2 * nv_, nx = state_->get_ndx();
  d.G.middleCols(np0, np).setZero();
  d.G.leftCols(nv_) = dyn.g_q;
  d.G.middleCols(nv_, nv_) = dyn.g_v;
  if (layout.theta >= 0) d.G.middleCols(np0 + layout.theta, dynamics->ntheta()) = dyn.g_theta;
  if (layout.height >= 0) d.G.middleCols(np0 + layout.height, dynamics->nfeet()) = dyn.g_height;
  if (layout.friction >= 0) d.G.col(np0 + layout.friction) = dyn.friction * dyn.g_friction;
  d.G.middleCols(nx + nv_, nxi_) = dyn.g_xi;
}

void ActionMeasurement::calcDiff(const std::shared_ptr<DataAbstract>& data, const ConstRef& x, const ConstRef&) {
  auto& d = static_cast<Data&>(*data);
  auto& dyn = d.dynamics;
  const auto nx = state_->get_ndx();
  const double dt = dynamics->options.dt;
  collectDerivatives(d);
  if (inverse) {
    d.G.middleCols(nx, nv_) = dyn.A;
    d.D.setZero();
    d.D.middleCols(nx, nv_).diagonal().setOnes();
    const auto scale = (input->weight_force / dt).asDiagonal();
    d.Rx.topRows(nv_).noalias() = scale * d.G.leftCols(nx);
    d.Ru.topRows(nv_).noalias() = scale * d.G.rightCols(nu_);
  } else {
    d.G.middleCols(nx, nv_).setZero();
    d.G.middleCols(nx, nv_).diagonal().setConstant(-dt);
    dyn.lu.compute(dyn.A);
    d.D.noalias() = dyn.lu.solve(d.G);
    d.D *= -1.0;
    d.Ru.topLeftCorner(nv_, nv_).diagonal() = input->weight_force;
  }
  d.Ru.block(nv_, nv_, nxi_, nxi_).diagonal() = input->weight_xi;

  // q+ = q (+) dt v+
  d.q_step = dt * dyn.vplus;
  pinocchio::dIntegrate(dynamics->model(), x.head(dynamics->nq()), d.q_step, d.Jq, pinocchio::ARG0);
  pinocchio::dIntegrate(dynamics->model(), x.head(dynamics->nq()), d.q_step, d.Jv, pinocchio::ARG1);
  const int nb = dynamics->floating_base ? 6 : 0;
  d.Fx.middleRows(nv_, nv_) = d.D.leftCols(nx);
  d.Fu.middleRows(nv_, nv_) = d.D.rightCols(nu_);
  d.Fx.topRows(nv_) = dt * d.D.leftCols(nx);
  d.Fu.topRows(nv_) = dt * d.D.rightCols(nu_);
  if (nb > 0) {
    d.Fx.topRows<6>().noalias() = dt * d.Jv.topLeftCorner<6, 6>() * d.D.topLeftCorner(6, nx);
    d.Fu.topRows<6>().noalias() = dt * d.Jv.topLeftCorner<6, 6>() * d.D.topRightCorner(6, nu_);
    d.Fx.topLeftCorner<6, 6>() += d.Jq.topLeftCorner<6, 6>();
  }
  d.Fx.topLeftCorner(nv_, nv_).diagonal().tail(nv_ - nb).array() += 1.0;
  d.Fx.bottomRightCorner(np, np).setIdentity();

  stateJacobian(d, x);
  accelerometer(d, x, true);
  assembleSparse(d, false);
}

void ActionMeasurement::calcDiff(const std::shared_ptr<DataAbstract>& data, const ConstRef& x) {
  auto& d = static_cast<Data&>(*data);
  d.Rx.topRows(nv_).setZero();
  d.Ru.setZero();
  d.Rx.bottomRows<3>().setZero();
  stateJacobian(d, x);
  assembleSparse(d, true);
}

/// Gauss-Newton cost model: rows of encoders, rates and disturbances touch one variable each, the others are dense.
void ActionMeasurement::assembleSparse(Data& d, const bool terminal) const {
  const auto dense = d.r.size() - row_gyro_;
  const auto Rx = d.Rx.bottomRows(dense);
  const auto r = d.r.tail(dense);
  d.Lx.noalias() = Rx.transpose() * r;
  d.Lxx.noalias() = Rx.transpose() * Rx;
  const auto& wp = input->weight_position;
  const auto& wv = input->weight_velocity;
  d.Lx.segment(nv_ - nj_, nj_) += wp.cwiseProduct(d.r.segment(row_encoder_, nj_));
  d.Lx.segment(2 * nv_ - nj_, nj_) += wv.cwiseProduct(d.r.segment(row_rate_, nj_));
  d.Lxx.diagonal().segment(nv_ - nj_, nj_) += wp.cwiseAbs2();
  d.Lxx.diagonal().segment(2 * nv_ - nj_, nj_) += wv.cwiseAbs2();
  if (terminal) return;
  const auto Ax = d.Rx.bottomRows<3>();
  const auto Au = d.Ru.bottomRows<3>();
  d.Lu.noalias() = Au.transpose() * d.r.tail<3>();
  d.Lxu.noalias() = Ax.transpose() * Au;
  d.Luu.noalias() = Au.transpose() * Au;
  d.Lu.tail(nxi_) += input->weight_xi.cwiseProduct(d.r.segment(nv_, nxi_));
  d.Luu.diagonal().tail(nxi_) += input->weight_xi.cwiseAbs2();
  if (!inverse) {
    d.Lu.head(nv_) += input->weight_force.cwiseProduct(d.r.head(nv_));
    d.Luu.diagonal().head(nv_) += input->weight_force.cwiseAbs2();
    return;
  }
  const auto Wx = d.Rx.topRows(nv_);
  const auto Wu = d.Ru.topRows(nv_);
  d.Lx.noalias() += Wx.transpose() * d.r.head(nv_);
  d.Lu.noalias() += Wu.transpose() * d.r.head(nv_);
  d.Lxx.noalias() += Wx.transpose() * Wx;
  d.Lxu.noalias() += Wx.transpose() * Wu;
  d.Luu.noalias() += Wu.transpose() * Wu;
}

void ActionMeasurement::contactForces(const std::shared_ptr<DataAbstract>& data, VectorXd& f, MatrixXd& f_x, MatrixXd& f_u) const {
  const auto& d = static_cast<const Data&>(*data);
  const auto& dyn = d.dynamics;
  const auto nx = state_->get_ndx();
  const double dt = dynamics->options.dt;
  f = dyn.impulse / dt;
  // velocity of the material points, then the law
  MatrixXd c = dyn.Jmid * d.D;
  c.leftCols(nv_) += dyn.dvel_q;
  c.middleCols(nv_, nv_) += dyn.dvel_v;
  f_x.resize(f.size(), nx);
  f_u.resize(f.size(), nu_);
  for (std::size_t i = 0; i < dynamics->nc(); ++i) {
    const auto foot = dynamics->contacts[i].foot;
    auto ci = c.middleRows<3>(3 * i);
    ci.row(2).head(nv_) += dyn.dpsi[i] / dt * dyn.dphi_q.row(i);
    if (layout.height >= 0) ci(2, 2 * nv_ + layout.height + foot) -= dyn.dpsi[i] / dt;
    ci.middleCols<3>(nx + nv_ + dynamics->foot_xi[foot]) += Matrix3d::Identity();
    if (dynamics->foot_xi_size[foot] == 6)
      ci.middleCols<3>(nx + nv_ + dynamics->foot_xi[foot] + 3) -=
          skew(Vector3d(dyn.pin.oMi[dynamics->contacts[i].joint].rotation() * dynamics->contacts[i].lever));
    const MatrixXd fi = dyn.law[i].d_velocity / dt * ci;
    f_x.middleRows<3>(3 * i) = fi.leftCols(nx);
    f_u.middleRows<3>(3 * i) = fi.rightCols(nu_);
    if (layout.friction >= 0) f_x.block<3, 1>(3 * i, 2 * nv_ + layout.friction) += dyn.friction / dt * dyn.law[i].d_friction;
  }
}

}  // namespace prime
