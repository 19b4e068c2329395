// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "solver/stage_second_order.hpp"

#include <algorithm>

#include "linalg/dense_kernels.hpp"
#include "linalg/square_root.hpp"
#include "linalg/transpose.hpp"

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

StageSecondOrder::StageSecondOrder(const ActionSecondOrder& node, const FreeParameters& free)
    : free_(free),
      nv_(node.nv()),
      nj_(node.nj()),
      nb_(node.nb()),
      nxi_(node.nxi()),
      np_(free.size()),
      n_(2 * nv_ + np_),
      nu_(nxi_ + nv_),
      nz_(nu_ + n_),
      dt_(node.dt),
      inverse_(node.inverse),
      factor_(nz_, nu_),
      g_(nz_),
      Z_(nv_, nv_),
      C_(MatrixXd::Zero(nv_ + kPadRows, n_)),
      K_(C_),
      U_(MatrixXd::Zero(nv_ + kPadRows, nv_)),
      V_(U_),
      Px_(np_, 2 * nv_),
      dz_(nu_ + 2 * nv_ + free.all()),
      rows_(nv_) {
  const int p = nu_ + 2 * nv_;
  at_.assign(dz_.size(), -1);
  for (int i = 0; i < p; ++i) at_[i] = i;
  for (int i = 0; i < np_; ++i) at_[p + free_[i]] = p + i;
}

StageSecondOrder::Scratch::Scratch(const int nz, const int nv, const int np)
    : H(MatrixXd::Zero(nz + 1 + kPadRows, nz + 1 + kPadColumns)),
      Wt(MatrixXd::Zero(nz + 1 + kPadRows, nv)),
      X(nv, nv),
      Y(np, nv),
      Z(nv, nv) {}

StageSecondOrder::Scratch& StageSecondOrder::scratch() const {
  thread_local std::unique_ptr<Scratch> last;
  const bool same = last && last->Wt.rows() == nz_ + 1 + kPadRows && last->Wt.cols() == nv_ &&
                    last->Y.rows() == np_;
  if (!same) last = std::make_unique<Scratch>(nz_, nv_, np_);
  return *last;
}

bool StageSecondOrder::fits(const Model& model) const {
  const auto* node = dynamic_cast<const ActionSecondOrder*>(&model);
  return node && node->nv() == nv_ && node->nj() == nj_ && node->nxi() == nxi_ &&
         int(node->np) == free_.all() && node->dt == dt_ && node->inverse == inverse_;
}

void StageSecondOrder::evaluate(Model& model, const std::shared_ptr<DataAbstract>& data,
                                const ConstRef& x, const ConstRef& u, const ConstRef& next) {
  auto& d = static_cast<Data&>(*data);
  d.guess = next.segment(next.size() - free_.all() - nv_, nv_);
  d.has_guess = true;
  model.calc(data, x, u);
}

void StageSecondOrder::linearize(Model& model, const std::shared_ptr<DataAbstract>& data,
                                 const ConstRef& x, const ConstRef&, const double reach) {
  static_cast<ActionSecondOrder&>(model).linearize(data, x, reach);
}

/// Gauss-Newton Hessian and gradient of the node's own residuals.
void StageSecondOrder::addResiduals(const Data& d, Scratch& s) {
  const int p = nu_ + 2 * nv_;
  transposeInto(d.G.leftCols(p), s.Wt.topRows(p), d.force_weight);
  for (int j = 0; j < nv_; ++j)
    for (int i = 0; i < np_; ++i) s.Wt(p + i, j) = d.G(j, p + free_[i]) * d.force_weight[j];
  s.Wt.row(nz_) = d.r.head(nv_).transpose();
  gramLower(nz_ + 1, nv_, s.Wt.data(), s.Wt.rows(), s.H.data(), s.H.rows());
  g_ = s.H.row(nz_).head(nz_).transpose();
  s.H.diagonal().head(p) += d.diagonal.head(p).cwiseAbs2();  // parameters have none
  const int q = nu_ + nb_, v = q + nv_;
  g_.head(nxi_) += d.diagonal.head(nxi_).cwiseProduct(d.r.segment(nv_, nxi_));
  g_.segment(q, nj_) += d.diagonal.segment(q, nj_).cwiseProduct(d.r.segment(nu_, nj_));
  g_.segment(v, nj_) += d.diagonal.segment(v, nj_).cwiseProduct(d.r.segment(nu_ + nj_, nj_));
  addDenseRows(d, s);
}

/// Free variables that dense rows touch, in the order of H.
void StageSecondOrder::findTouched(const std::vector<int>& columns) {
  columns_ = columns;
  touched_.clear();
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (at_[columns[i]] >= 0) touched_.push_back({static_cast<int>(i), at_[columns[i]]});
  std::sort(touched_.begin(), touched_.end(),
            [](const Touched& a, const Touched& b) { return a.at < b.at; });
}

/// Absent readings have rows of zeros; those of one variable, as of encoders whose zeros are held,
/// stand on the diagonal.
void StageSecondOrder::addDenseRows(const Data& d, Scratch& s) {
  if (columns_ != d.columns) findTouched(d.columns);
  const int nc = touched_.size(), most = d.S.rows();
  if (s.St.cols() != most || s.St.rows() != nc + 1 + kPadRows) {
    s.St.setZero(nc + 1 + kPadRows, most);
    s.R.setZero(nc + 1 + kPadRows, nc + 1 + kPadColumns);
  }
  int rows = 0;
  for (int k = 0; k < most; ++k) {
    int number = 0, last = 0;
    double* const row = &s.St(0, rows);
    for (int i = 0; i < nc; ++i)
      if ((row[i] = d.S(k, touched_[i].column)) != 0.0) ++number, last = i;
    const double r = row[nc] = d.r[d.r.size() - most + k];
    if (number == 1) {
      const int at = touched_[last].at;
      s.H(at, at) += row[last] * row[last];
      g_[at] += row[last] * r;
    }
    if (number > 1) ++rows;
  }
  gramLower(nc + 1, rows, s.St.data(), s.St.rows(), s.R.data(), s.R.rows());
  for (int j = 0; j < nc; ++j) {
    const int to = touched_[j].at;
    g_[to] += s.R(nc, j);
    for (int i = j; i < nc; ++i) s.H(touched_[i].at, to) += s.R(i, j);
  }
}

/// H += F^T V F, g += F^T v with dq+ = E dq + T dv+, dv+, dp.
void StageSecondOrder::addNext(const Data& d, const CostToGo& next, Scratch& scratch) {
  auto& [H, Wt, St, R, X, Y, Z] = scratch;
  const auto& V = next.xx;
  const auto& Vp = next.xp;
  const auto& v = next.x;
  const int s = nxi_, q = nu_, p = nu_ + 2 * nv_;
  // rows (q, p) of V F against v+
  timesT(d, dt_, V.topLeftCorner(nv_, nv_), X);
  X += V.topRightCorner(nv_, nv_);
  // v+ against v+: T^T (V_qq T + V_qv) + V_vq T + V_vv
  timesT(d, dt_, V.bottomLeftCorner(nv_, nv_), Z);
  Z += V.bottomRightCorner(nv_, nv_);
  Z.topRows(nb_).noalias() += d.T.transpose() * X.topRows(nb_);
  Z.bottomRows(nj_) += dt_ * X.bottomRows(nj_);
  H.block(s, s, nv_, nv_) += Z;
  // q against v+, q: E^T
  H.block(q, s, nb_, nv_).noalias() += d.E.transpose() * X.topRows(nb_);
  H.block(q + nb_, s, nj_, nv_) += X.bottomRows(nj_);
  Z = V.topLeftCorner(nv_, nv_);
  Z.leftCols(nb_).noalias() = V.topLeftCorner(nv_, nb_) * d.E;
  H.block(q, q, nb_, nb_).noalias() += d.E.transpose() * Z.topLeftCorner(nb_, nb_);
  H.block(q + nb_, q, nj_, nv_) += Z.bottomRows(nj_);
  // p against v+, q
  Y = Vp.topRows(nv_).transpose();
  H.block(p, s, np_, nb_).noalias() += Y.leftCols(nb_) * d.T;
  H.block(p, s + nb_, np_, nj_) += dt_ * Y.rightCols(nj_);
  H.block(p, s, np_, nv_) += Vp.bottomRows(nv_).transpose();
  H.block(p, q, np_, nb_).noalias() += Y.leftCols(nb_) * d.E;
  H.block(p, q + nb_, np_, nj_) += Y.rightCols(nj_);

  g_.segment(s, nb_).noalias() += d.T.transpose() * v.head(nb_);
  g_.segment(s + nb_, nj_) += dt_ * v.segment(nb_, nj_);
  g_.segment(s, nv_) += v.segment(nv_, nv_);
  g_.segment(q, nb_).noalias() += d.E.transpose() * v.head(nb_);
  g_.segment(q + nb_, nj_) += v.segment(nb_, nj_);
}

bool StageSecondOrder::eliminate(const DataAbstract& data, const CostToGo& next,
                                 const double regularization, CostToGo& value,
                                 ParameterCostToGo& common) {
  const auto& d = static_cast<const Data&>(data);
  const int m = 2 * nv_;
  auto& s = scratch();
  addResiduals(d, s);
  addNext(d, next, s);
  s.H.diagonal().head(nu_) *= 1.0 + regularization;
  s.H.row(nz_).head(nz_) = g_.transpose();
  if (!partialCholesky(nz_ + 1, nu_, s.H.data(), s.H.rows())) return false;
  factor_ = s.H.topLeftCorner(nz_, nu_);
  inverted_ = false;
  g_ = s.H.row(nz_).head(nz_).transpose();
  value.x = g_.segment(nu_, m);
  for (int j = 0; j < m; ++j)
    value.xx.col(j).tail(m - j) = s.H.col(nu_ + j).segment(nu_ + j, m - j);
  mirrorLower(value.xx);
  transposeInto(s.H.block(nu_ + m, nu_, np_, m), value.xp);
  common.p += g_.tail(np_);
  common.pp.triangularView<Lower>() += s.H.block(nu_ + m, nu_ + m, np_, np_);
  return value.x.allFinite();
}

/// dz = (dxi, dv+, dx, dp) with the decision at (dx, dp); rows_ = G dz.
void StageSecondOrder::control(const DataAbstract& data, const VectorXd& dxp, const double alpha,
                               VectorXd& du) {
  const auto& d = static_cast<const Data&>(data);
  auto y = dz_.head(nu_);
  y = -alpha * g_.head(nu_);
  const int m = 2 * nv_;
  y.noalias() -= factor_.block(nu_, 0, m, nu_).transpose() * dxp.head(m);
  y.noalias() -= factor_.bottomRows(np_).transpose() * free_.of(dxp.tail(free_.all()));
  factor_.topLeftCorner(nu_, nu_).triangularView<Lower>().transpose().solveInPlace(y);
  dz_.tail(dxp.size()) = dxp;
  rows_.noalias() = d.G * dz_;
  du.tail(nxi_) = dz_.head(nxi_);
  if (inverse_)
    du.head(nv_) = dz_.segment(nxi_, nv_);
  else
    du.head(nv_) = rows_ / dt_;
}

void StageSecondOrder::step(const DataAbstract& data, const VectorXd& dxp, const VectorXd& gap,
                            VectorXd& du, VectorXd& next, DirectionalModel& along) {
  const auto& d = static_cast<const Data&>(data);
  control(data, dxp, 1.0, du);
  const auto dv = dz_.segment(nxi_, nv_);
  next = gap;
  next.head(nb_).noalias() += d.E * dxp.head(nb_);
  next.head(nb_).noalias() += d.T * dv.head(nb_);
  next.segment(nb_, nj_) += dxp.segment(nb_, nj_) + dt_ * dv.tail(nj_);
  next.segment(nv_, nv_) += dv;
  next.tail(free_.all()) += dxp.tail(free_.all());

  rows_.array() *= d.force_weight.array();
  along.add(rows_, d.r.head(nv_));
  const int q = nu_ + nb_, v = q + nv_;
  along.add(d.diagonal.head(nxi_).cwiseProduct(dz_.head(nxi_)), d.r.segment(nv_, nxi_));
  along.add(d.diagonal.segment(q, nj_).cwiseProduct(dz_.segment(q, nj_)), d.r.segment(nu_, nj_));
  along.add(d.diagonal.segment(v, nj_).cwiseProduct(dz_.segment(v, nj_)),
            d.r.segment(nu_ + nj_, nj_));
  picked_.resize(d.columns.size());
  for (std::size_t i = 0; i < d.columns.size(); ++i) picked_[i] = dz_[d.columns[i]];
  along.add(d.S * picked_, d.r.tail(d.S.rows()));
}

/// Of v+, which is eliminated last: L_vv^-1.
void StageSecondOrder::findInverseRoot() {
  if (!inverted_) invertLower(factor_.block(nxi_, nxi_, nv_, nv_), inverse_root_);
  inverted_ = true;
}

/// dv+ = -K dx + e with K = U B_v^T, Cov e = U U^T, U = L_vv^-T (v+ is eliminated last), then q+
/// and p.
void StageSecondOrder::propagate(const DataAbstract& data, const Covariance& P, const MatrixXd& Ppp,
                                 Covariance& next) {
  const auto& d = static_cast<const Data&>(data);
  const int m = 2 * nv_, ldh = factor_.rows(), ld = K_.rows();
  findInverseRoot();
  U_.topRows(nv_) = inverse_root_.transpose();
  timesTransposed(false, nv_, n_, nv_, U_.data(), ld, &factor_(nu_, nxi_), ldh, K_.data(), ld);
  // C = -Cov(v+, (x, p)), its columns of p after those of x
  timesTransposed(false, nv_, m, m, K_.data(), ld, P.xx.data(), m, C_.data(), ld);
  timesTransposed(true, nv_, m, np_, K_.data() + m * ld, ld, P.xp.data(), m, C_.data(), ld);
  Px_ = P.xp.transpose();
  timesTransposed(false, nv_, np_, m, K_.data(), ld, Px_.data(), np_, C_.data() + m * ld, ld);
  timesTransposed(true, nv_, np_, np_, K_.data() + m * ld, ld, Ppp.data(), np_, C_.data() + m * ld,
                  ld);
  timesTransposed(false, nv_, nv_, nv_, U_.data(), ld, U_.data(), ld, V_.data(), ld);
  timesTransposed(true, nv_, nv_, n_, C_.data(), ld, K_.data(), ld, V_.data(), ld);
  auto vv = next.xx.block(nv_, nv_, nv_, nv_);
  vv = V_.topRows(nv_);
  // (q+, v+) = E (q, v+) + T (v+, v+), without the symmetric half
  auto qv = next.xx.block(0, nv_, nv_, nv_);
  const auto Cq = C_.topLeftCorner(nv_, nv_);
  qv.topRows(nb_).noalias() = d.T * vv.topRows(nb_);
  qv.topRows(nb_).noalias() -= d.E * Cq.leftCols(nb_).transpose();
  qv.bottomRows(nj_) = dt_ * vv.bottomRows(nj_) - Cq.rightCols(nj_).transpose();
  next.xx.block(nv_, 0, nv_, nv_) = qv.transpose();
  // (q+, q+) = E ((q, q) E^T - (v+, q)^T T^T) + T (q+, v+)^T
  auto qq = next.xx.topLeftCorner(nv_, nv_);
  Z_ = P.xx.topLeftCorner(nv_, nv_);
  Z_.leftCols(nb_).noalias() = P.xx.topLeftCorner(nv_, nb_) * d.E.transpose();
  Z_.leftCols(nb_).noalias() -= Cq.topRows(nb_).transpose() * d.T.transpose();
  Z_.rightCols(nj_) -= dt_ * Cq.bottomRows(nj_).transpose();
  qq.topRows(nb_).noalias() = d.E * Z_.topRows(nb_);
  qq.topRows(nb_).noalias() += d.T * qv.leftCols(nb_).transpose();
  qq.bottomRows(nj_) = Z_.bottomRows(nj_) + dt_ * qv.rightCols(nj_).transpose();
  // parameters
  const auto Cp = C_.topRightCorner(nv_, np_);
  next.xp.topRows(nb_).noalias() = d.E * P.xp.topRows(nb_);
  next.xp.topRows(nb_).noalias() -= d.T * Cp.topRows(nb_);
  next.xp.middleRows(nb_, nj_) = P.xp.middleRows(nb_, nj_) - dt_ * Cp.bottomRows(nj_);
  next.xp.bottomRows(nv_) = -Cp;
}

/// With (q+, v+) = (E q + T v+, v+) and dv+ = -U B_v^T (dx, dp) + e, Cov e = U U^T, U = L_vv^-T.
void StageSecondOrder::carry(const DataAbstract& data, CarriedRows& rows) {
  const auto& d = static_cast<const Data&>(data);
  const int k = rows.count, ld = rows.J.rows(), ldh = factor_.rows();
  auto J = rows.J.topRows(k);
  auto by_next = rows.work.topLeftCorner(k, nv_);
  by_next = J.middleCols(nv_, nv_);
  by_next.leftCols(nb_).noalias() += J.leftCols(nb_) * d.T;
  by_next.rightCols(nj_) += dt_ * J.middleCols(nb_, nj_);
  findInverseRoot();
  double* const noise = &rows.work(0, nv_);
  timesTransposed(false, k, nv_, nv_, rows.work.data(), ld, inverse_root_.data(), nv_, noise, ld);
  timesTransposed(true, k, k, nv_, noise, ld, noise, ld, rows.covariance.data(),
                  rows.covariance.rows());
  J.leftCols(nb_) = (J.leftCols(nb_) * d.E).eval();
  J.middleCols(nv_, nv_).setZero();
  rows.work.middleCols(nv_, nv_).topRows(k) *= -1.0;
  timesTransposed(true, k, n_, nv_, noise, ld, &factor_(nu_, nxi_), ldh, rows.J.data(), ld);
}

void StageSecondOrder::enter(const MatrixXd& whole, CarriedRows& rows) const {
  const MatrixXd jz = free_.columnsOf(whole);
  const int first = rows.count, k = jz.rows();
  const MatrixXd white =
      factor_.topLeftCorner(nu_, nu_).triangularView<Lower>().solve(jz.leftCols(nu_).transpose());
  rows.J.middleRows(first, k) = jz.rightCols(n_);
  rows.J.middleRows(first, k).noalias() -=
      white.transpose() * factor_.block(nu_, 0, n_, nu_).transpose();
  rows.covariance.block(first, first, k, k).noalias() += white.transpose() * white;
  rows.count += k;
}

/// In the forward form w = G dz / dt.
MatrixXd StageSecondOrder::inVariables(const DataAbstract& data, const MatrixXd& jx,
                                       const MatrixXd& ju) const {
  const auto& d = static_cast<const Data&>(data);
  MatrixXd jz = MatrixXd::Zero(jx.rows(), dz_.size());
  if (inverse_)
    jz.middleCols(nxi_, nv_) = ju.leftCols(nv_);
  else
    jz.noalias() = ju.leftCols(nv_) * d.G / dt_;
  jz.leftCols(nxi_) += ju.rightCols(nxi_);
  jz.rightCols(jx.cols()) += jx;
  return jz;
}

MatrixXd StageSecondOrder::covariance(const MatrixXd& P, const MatrixXd& whole) const {
  const MatrixXd jz = free_.columnsOf(whole);
  const MatrixXd white =
      factor_.topLeftCorner(nu_, nu_).triangularView<Lower>().solve(jz.leftCols(nu_).transpose());
  const MatrixXd closed =
      jz.rightCols(n_) - white.transpose() * factor_.block(nu_, 0, n_, nu_).transpose();
  return closed * P * closed.transpose() + white.transpose() * white;
}

/// Most rows of a residual touch one variable of (dx, dp), whose variance is known.
VectorXd StageSecondOrder::variance(const MatrixXd& P, const MatrixXd& whole) const {
  const MatrixXd jz = free_.columnsOf(whole);
  VectorXd out(jz.rows());
  std::vector<int> touched(jz.rows(), 0), last(jz.rows(), 0), others;
  for (int j = 0; j < nz_; ++j)
    for (Eigen::Index i = 0; i < jz.rows(); ++i)
      if (jz(i, j) != 0.0) ++touched[i], last[i] = j;
  for (Eigen::Index i = 0; i < jz.rows(); ++i) {
    const int of = last[i] - nu_;
    if (touched[i] > 1 || (touched[i] == 1 && of < 0)) others.push_back(i);
    out[i] = of < 0 ? 0.0 : jz(i, last[i]) * P(of, of) * jz(i, last[i]);
  }
  MatrixXd rows(others.size(), nz_);
  for (std::size_t i = 0; i < others.size(); ++i) rows.row(i) = jz.row(others[i]);
  const VectorXd variances = varianceOfRows(P, rows);
  for (std::size_t i = 0; i < others.size(); ++i) out[others[i]] = variances[i];
  return out;
}

VectorXd StageSecondOrder::varianceOfRows(const MatrixXd& P, const MatrixXd& jz) const {
  const int k = jz.rows(), ld = k + kPadRows;
  MatrixXd white = MatrixXd::Zero(ld, nu_), closed = MatrixXd::Zero(ld, n_), weighed = closed;
  white.topRows(k) = -factor_.topLeftCorner(nu_, nu_)
                          .triangularView<Lower>()
                          .solve(jz.leftCols(nu_).transpose())
                          .transpose();
  closed.topRows(k) = jz.rightCols(n_);
  timesTransposed(true, k, n_, nu_, white.data(), ld, &factor_(nu_, 0), factor_.rows(),
                  closed.data(), ld);
  timesTransposed(false, k, n_, n_, closed.data(), ld, P.data(), n_, weighed.data(), ld);
  return (closed.cwiseProduct(weighed).rowwise().sum() + white.rowwise().squaredNorm()).head(k);
}

}  // namespace prime
