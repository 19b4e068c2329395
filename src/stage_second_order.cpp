// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "stage_second_order.hpp"

#include <Eigen/Cholesky>

namespace prime {

using Eigen::Lower;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// M T for the T = dq+/dv+ of a step: 6x6 at the base, dt at the joints.
template <class Out, class In>
void timesT(const ActionSecondOrder::Data& d, const double dt, const In& M, Out&& out) {
  const auto nb = d.T.rows();
  out.leftCols(nb).noalias() = M.leftCols(nb) * d.T;
  out.rightCols(M.cols() - nb) = dt * M.rightCols(M.cols() - nb);
}

}  // namespace

StageSecondOrder::StageSecondOrder(const ActionSecondOrder& node)
    : nv_(node.nv()),
      nj_(node.nj()),
      nb_(node.nb()),
      nxi_(node.nxi()),
      np_(node.np),
      n_(2 * nv_ + np_),
      nu_(nxi_ + nv_),
      nz_(nu_ + n_),
      dt_(node.dt),
      inverse_(node.inverse),
      H_(nz_, nz_),
      g_(nz_),
      W_(nv_, nz_),
      X_(nv_ + np_, nv_),
      C_(nv_, n_),
      K_(nv_, n_),
      Z_(nv_, nv_),
      R_(nv_, nv_),
      dz_(nz_),
      rows_(nv_) {}

bool StageSecondOrder::fits(const Model& model) const {
  const auto* node = dynamic_cast<const ActionSecondOrder*>(&model);
  return node && node->nv() == nv_ && node->nj() == nj_ && node->nxi() == nxi_ && int(node->np) == np_ && node->dt == dt_ &&
         node->inverse == inverse_;
}

void StageSecondOrder::linearize(Model& model, const std::shared_ptr<DataAbstract>& data, const ConstRef& x, const ConstRef&) {
  static_cast<ActionSecondOrder&>(model).linearize(data, x);
}

/// Gauss-Newton Hessian and gradient of the node's own residuals.
void StageSecondOrder::addResiduals(const Data& d) {
  W_.noalias() = d.force_weight.asDiagonal() * d.G;
  H_.setZero();
  H_.selfadjointView<Lower>().rankUpdate(W_.transpose());
  g_.noalias() = W_.transpose() * d.r.head(nv_);
  H_.diagonal() += d.diagonal.cwiseAbs2();
  const int q = nu_ + nb_, v = q + nv_;
  g_.head(nxi_) += d.diagonal.head(nxi_).cwiseProduct(d.r.segment(nv_, nxi_));
  g_.segment(q, nj_) += d.diagonal.segment(q, nj_).cwiseProduct(d.r.segment(nu_, nj_));
  g_.segment(v, nj_) += d.diagonal.segment(v, nj_).cwiseProduct(d.r.segment(nu_ + nj_, nj_));
  const int nc = d.columns.size();
  R_.noalias() = d.S.transpose() * d.S;
  picked_.noalias() = d.S.transpose() * d.r.tail(d.S.rows());
  for (int j = 0; j < nc; ++j) {
    g_[d.columns[j]] += picked_[j];
    for (int i = 0; i < nc; ++i)
      if (d.columns[i] >= d.columns[j]) H_(d.columns[i], d.columns[j]) += R_(i, j);
  }
}

/// H += F^T V F, g += F^T v with dq+ = E dq + T dv+, dv+, dp.
void StageSecondOrder::addNext(const Data& d, const MatrixXd& V, const VectorXd& v) {
  const int s = nxi_, q = nu_, p = nu_ + 2 * nv_;
  // rows (q, p) of V F against v+
  timesT(d, dt_, V.topLeftCorner(nv_, nv_), X_.topRows(nv_));
  timesT(d, dt_, V.bottomLeftCorner(np_, nv_), X_.bottomRows(np_));
  X_.topRows(nv_) += V.block(0, nv_, nv_, nv_);
  X_.bottomRows(np_) += V.block(2 * nv_, nv_, np_, nv_);
  // v+ against v+: T^T (V_qq T + V_qv) + V_vq T + V_vv
  timesT(d, dt_, V.block(nv_, 0, nv_, nv_), Z_);
  Z_ += V.block(nv_, nv_, nv_, nv_);
  Z_.topRows(nb_).noalias() += d.T.transpose() * X_.topRows(nb_);
  Z_.bottomRows(nj_) += dt_ * X_.middleRows(nb_, nj_);
  H_.block(s, s, nv_, nv_) += Z_;
  // q against v+, q: E^T
  H_.block(q, s, nb_, nv_).noalias() += d.E.transpose() * X_.topRows(nb_);
  H_.block(q + nb_, s, nj_, nv_) += X_.middleRows(nb_, nj_);
  Z_ = V.topLeftCorner(nv_, nv_);
  Z_.leftCols(nb_).noalias() = V.topLeftCorner(nv_, nb_) * d.E;
  H_.block(q, q, nb_, nb_).noalias() += d.E.transpose() * Z_.topLeftCorner(nb_, nb_);
  H_.block(q + nb_, q, nj_, nv_) += Z_.bottomRows(nj_);
  // p
  H_.block(p, s, np_, nv_) += X_.bottomRows(np_);
  H_.block(p, q, np_, nb_).noalias() += V.block(2 * nv_, 0, np_, nb_) * d.E;
  H_.block(p, q + nb_, np_, nj_) += V.block(2 * nv_, nb_, np_, nj_);
  H_.block(p, p, np_, np_) += V.bottomRightCorner(np_, np_);

  g_.segment(s, nb_).noalias() += d.T.transpose() * v.head(nb_);
  g_.segment(s + nb_, nj_) += dt_ * v.segment(nb_, nj_);
  g_.segment(s, nv_) += v.segment(nv_, nv_);
  g_.segment(q, nb_).noalias() += d.E.transpose() * v.head(nb_);
  g_.segment(q + nb_, nj_) += v.segment(nb_, nj_);
  g_.tail(np_) += v.tail(np_);
}

bool StageSecondOrder::eliminate(const DataAbstract& data, const MatrixXd& V_next, const VectorXd& v_next, const double regularization,
                                 MatrixXd& V, VectorXd& v) {
  const auto& d = static_cast<const Data&>(data);
  addResiduals(d);
  addNext(d, V_next, v_next);
  H_.diagonal().head(nu_) *= 1.0 + regularization;
  Eigen::Ref<MatrixXd> L(H_.topLeftCorner(nu_, nu_));
  const Eigen::LLT<Eigen::Ref<MatrixXd>> llt(L);
  if (llt.info() != Eigen::Success) return false;
  auto B = H_.bottomLeftCorner(n_, nu_);
  L.triangularView<Lower>().transpose().solveInPlace<Eigen::OnTheRight>(B);
  auto y = g_.head(nu_);
  L.triangularView<Lower>().solveInPlace(y);
  v = g_.tail(n_);
  v.noalias() -= B * y;
  H_.bottomRightCorner(n_, n_).selfadjointView<Lower>().rankUpdate(B, -1.0);
  V = H_.bottomRightCorner(n_, n_).selfadjointView<Lower>();
  return v.allFinite();
}

void StageSecondOrder::step(const DataAbstract& data, const VectorXd& dx, const VectorXd& gap, VectorXd& du, VectorXd& dx_next,
                            Along& along) {
  const auto& d = static_cast<const Data&>(data);
  auto y = dz_.head(nu_);
  y = -g_.head(nu_);
  y.noalias() -= H_.bottomLeftCorner(n_, nu_).transpose() * dx;
  H_.topLeftCorner(nu_, nu_).triangularView<Lower>().transpose().solveInPlace(y);
  dz_.tail(n_) = dx;
  const auto dv = dz_.segment(nxi_, nv_);

  rows_.noalias() = d.G * dz_;
  du.tail(nxi_) = dz_.head(nxi_);
  if (inverse_)
    du.head(nv_) = dv;
  else
    du.head(nv_) = rows_ / dt_;
  dx_next = gap;
  dx_next.head(nb_).noalias() += d.E * dx.head(nb_);
  dx_next.head(nb_).noalias() += d.T * dv.head(nb_);
  dx_next.segment(nb_, nj_) += dx.segment(nb_, nj_) + dt_ * dv.tail(nj_);
  dx_next.segment(nv_, nv_) += dv;
  dx_next.tail(np_) += dx.tail(np_);

  rows_.array() *= d.force_weight.array();
  along.add(rows_, d.r.head(nv_));
  const int q = nu_ + nb_, v = q + nv_;
  along.add(d.diagonal.head(nxi_).cwiseProduct(dz_.head(nxi_)), d.r.segment(nv_, nxi_));
  along.add(d.diagonal.segment(q, nj_).cwiseProduct(dz_.segment(q, nj_)), d.r.segment(nu_, nj_));
  along.add(d.diagonal.segment(v, nj_).cwiseProduct(dz_.segment(v, nj_)), d.r.segment(nu_ + nj_, nj_));
  picked_.resize(d.columns.size());
  for (std::size_t i = 0; i < d.columns.size(); ++i) picked_[i] = dz_[d.columns[i]];
  along.add(d.S * picked_, d.r.tail(d.S.rows()));
}

/// dv+ = -K dx + e with K = L_vv^-T B_v^T and Cov e = (L_vv L_vv^T)^-1 (v+ is eliminated last), then q+ and p.
void StageSecondOrder::propagate(const DataAbstract& data, const MatrixXd& P, MatrixXd& P_next) {
  const auto& d = static_cast<const Data&>(data);
  const auto L = H_.block(nxi_, nxi_, nv_, nv_).triangularView<Lower>();
  K_ = H_.block(nu_, nxi_, n_, nv_).transpose();
  L.transpose().solveInPlace(K_);
  C_.noalias() = K_ * P;  // -Cov(v+, x)
  Z_.setIdentity();
  L.solveInPlace(Z_);
  auto vv = P_next.block(nv_, nv_, nv_, nv_);
  vv.noalias() = Z_.transpose() * Z_;
  vv.noalias() += C_ * K_.transpose();
  // (q+, v+) = E (q, v+) + T (v+, v+), without the symmetric half
  auto qv = P_next.block(0, nv_, nv_, nv_);
  const auto Cq = C_.leftCols(nv_);
  qv.topRows(nb_).noalias() = d.T * vv.topRows(nb_);
  qv.topRows(nb_).noalias() -= d.E * Cq.leftCols(nb_).transpose();
  qv.bottomRows(nj_) = dt_ * vv.bottomRows(nj_) - Cq.rightCols(nj_).transpose();
  P_next.block(nv_, 0, nv_, nv_) = qv.transpose();
  // (q+, q+) = E ((q, q) E^T - (v+, q)^T T^T) + T (q+, v+)^T
  auto qq = P_next.topLeftCorner(nv_, nv_);
  Z_ = P.topLeftCorner(nv_, nv_);
  Z_.leftCols(nb_).noalias() = P.topLeftCorner(nv_, nb_) * d.E.transpose();
  Z_.leftCols(nb_).noalias() -= Cq.topRows(nb_).transpose() * d.T.transpose();
  Z_.rightCols(nj_) -= dt_ * Cq.bottomRows(nj_).transpose();
  qq.topRows(nb_).noalias() = d.E * Z_.topRows(nb_);
  qq.topRows(nb_).noalias() += d.T * qv.leftCols(nb_).transpose();
  qq.bottomRows(nj_) = Z_.bottomRows(nj_) + dt_ * qv.rightCols(nj_).transpose();
  // parameters
  const auto Cp = C_.rightCols(np_);
  auto qp = P_next.block(0, 2 * nv_, nv_, np_);
  qp.topRows(nb_).noalias() = d.E * P.block(0, 2 * nv_, nb_, np_);
  qp.topRows(nb_).noalias() -= d.T * Cp.topRows(nb_);
  qp.bottomRows(nj_) = P.block(nb_, 2 * nv_, nj_, np_) - dt_ * Cp.bottomRows(nj_);
  P_next.block(nv_, 2 * nv_, nv_, np_) = -Cp;
  P_next.bottomLeftCorner(np_, 2 * nv_) = P_next.topRightCorner(2 * nv_, np_).transpose();
  P_next.bottomRightCorner(np_, np_) = P.bottomRightCorner(np_, np_);
}

MatrixXd StageSecondOrder::covariance(const DataAbstract& data, const MatrixXd& P, const MatrixXd& jx, const MatrixXd& ju) const {
  const auto& d = static_cast<const Data&>(data);
  // in the variables (xi, v+, x); in the forward form w = G dz / dt
  MatrixXd jz = MatrixXd::Zero(jx.rows(), nz_);
  if (inverse_)
    jz.middleCols(nxi_, nv_) = ju.leftCols(nv_);
  else
    jz.noalias() = ju.leftCols(nv_) * d.G / dt_;
  jz.leftCols(nxi_) += ju.rightCols(nxi_);
  jz.rightCols(n_) += jx;
  const MatrixXd white = H_.topLeftCorner(nu_, nu_).triangularView<Lower>().solve(jz.leftCols(nu_).transpose());
  const MatrixXd closed = jz.rightCols(n_) - white.transpose() * H_.bottomLeftCorner(n_, nu_).transpose();
  return closed * P * closed.transpose() + white.transpose() * white;
}

}  // namespace prime
