// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "nodes/action_arrival.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <pinocchio/spatial/explog.hpp>

#include "linalg/dense_kernels.hpp"
#include "linalg/sizes.hpp"
#include "linalg/square_root.hpp"

namespace prime {

using Eigen::MatrixXd;
using Eigen::VectorXd;

ActionArrival::ActionArrival(std::shared_ptr<crocoddyl::StateAbstractTpl<double>> state,
                             const VectorXd& reference_, const MatrixXd& P)
    : ActionLeastSquares(state, state->get_ndx(), state->get_ndx(), 0),
      reference(reference_),
      mean(VectorXd::Zero(state->get_ndx())),
      shared_(MatrixXd::Zero(6, state->get_ndx())) {
  requireSize("arrival", "reference", reference.size(), state->get_nx());
  const auto n = static_cast<Eigen::Index>(state->get_ndx());
  Eigen::LLT<MatrixXd> llt;
  // of what is not a number, Eigen makes a root that is none either
  if (P.rows() != n || P.cols() != n || llt.compute(P).info() != Eigen::Success || !P.allFinite())
    throw std::invalid_argument(
        "arrival cost: the covariance must be positive definite, of the size of the state's "
        "tangent");
  L_ = llt.matrixL();
}

void ActionArrival::calc(const std::shared_ptr<DataAbstract>& data, const ConstRef&,
                         const ConstRef& u) {
  state_->integrate(reference, u, data->xnext);
  data->r = L_.triangularView<Eigen::Lower>().solve(u - mean);
  data->cost = 0.5 * data->r.squaredNorm();
}

void ActionArrival::linearize(const std::shared_ptr<DataAbstract>& data, const ConstRef& u) {
  auto& d = static_cast<Data&>(*data);
  state_->Jintegrate(reference, u, d.Fu, d.Fu, crocoddyl::second, crocoddyl::setto);
  inverseRoot();
  if (linearized_.lock() == data) return;  // with this root
  d.Ru = Linv_;
  gramOfLower(Linv_, d.Luu);
  linearized_ = data;
}

void ActionArrival::setRoot(const MatrixXd& L) {
  requireSize("arrival", "L", L.rows(), L_.rows());
  requireSize("arrival", "a row of L", L.cols(), L_.cols());
  if (!L.allFinite() || !(L.diagonal().array() > 0.0).all())
    throw std::invalid_argument(
        "arrival: the diagonal of L must be positive, and all of it finite");
  L_ = L;
  rootHasChanged();
}

void ActionArrival::rootHasChanged() {
  inverted_ = false;
  linearized_.reset();
}

const MatrixXd& ActionArrival::inverseRoot() {
  if (!inverted_) invertLower(L_, Linv_);
  inverted_ = true;
  return Linv_;
}

void ActionArrival::calcDiff(const std::shared_ptr<DataAbstract>& data, const ConstRef&,
                             const ConstRef& u) {
  auto& d = static_cast<Data&>(*data);
  linearize(data, u);
  d.Lu.noalias() = d.Ru.transpose() * d.r;
  d.Luu = MatrixXd(d.Luu.selfadjointView<Eigen::Lower>());
  linearized_.reset();
}

VectorXd ActionArrival::correction(const ConstRef& x0) const {
  requireSize("arrival", "x", x0.size(), state_->get_nx());
  VectorXd dx(state_->get_ndx());
  state_->diff(reference, x0, dx);
  return dx;
}

double ActionArrival::strain(const ConstRef& x0) const {
  VectorXd r = correction(x0) - mean;
  L_.triangularView<Eigen::Lower>().solveInPlace(r);
  return std::sqrt(r.squaredNorm() / r.size());
}

VectorXd ActionArrival::estimate() const {
  VectorXd x(state_->get_nx());
  state_->integrate(reference, mean, x);
  return x;
}

void ActionArrival::marginalize(ActionLeastSquares& node, const std::shared_ptr<DataAbstract>& data,
                                const ConstRef& x0, const ConstRef& u0, const ConstRef& next,
                                const Eigen::Ref<const MatrixXd>& noise) {
  requireSize("arrival", "x0", x0.size(), state_->get_nx());
  requireSize("arrival", "the next x", next.size(), state_->get_nx());
  requireSize("arrival", "u0", u0.size(), node.get_nu());
  requireSize("arrival", "the state of the node", node.get_state()->get_nx(), state_->get_nx());
  requireSize("arrival", "the tangent of the node", node.get_state()->get_ndx(), L_.rows());
  requireNoise(noise);
  auto* const second = dynamic_cast<ActionSecondOrder*>(&node);
  auto* const linear = dynamic_cast<ActionLinear*>(&node);
  if (!second && !linear)
    throw std::invalid_argument("arrival cost: only running nodes leave the window");
  node.calc(data, x0, u0);
  deviation_.resize(state_->get_ndx());
  gap_.resize(state_->get_ndx());
  state_->diff(reference, x0, deviation_);
  state_->diff(next, data->xnext, gap_);
  inverseRoot();
  second ? marginalizeSecondOrder(*second, data, x0, u0) : marginalizeLinear(*linear, data, x0, u0);
  mean += gap_;
  reference = next;
  rootHasChanged();
  widen(noise);
}

/// The state is a vector: its tangent is the same everywhere.
void ActionArrival::marginalizeLinear(ActionLinear& node, const std::shared_ptr<DataAbstract>& data,
                                      const ConstRef& x0, const ConstRef& u0) {
  const int n = state_->get_ndx(), nu = node.get_nu(), nr = node.get_nr();
  node.calcDiff(data, x0, u0);
  const auto& d = static_cast<const Data&>(*data);
  // stacked residuals in (dx, du), triangularized
  stacked_.setZero(n + nr, n + nu + 1);
  stacked_.col(n + nu).head(n).noalias() = Linv_ * (mean - deviation_);
  stacked_.topLeftCorner(n, n) = Linv_;
  stacked_.block(n, 0, nr, n) = d.Rx;
  stacked_.block(n, n, nr, nu) = d.Ru;
  stacked_.col(n + nu).tail(nr) = -d.r;
  const Eigen::HouseholderQR<MatrixXd> qr(stacked_);
  const auto R = qr.matrixQR().topLeftCorner(n + nu, n + nu).triangularView<Eigen::Upper>();
  const VectorXd z = R.solve(qr.matrixQR().col(n + nu).head(n + nu));
  // through the dynamics: [Fx Fu] R^-1
  F_.resize(n, n + nu);
  F_ << d.Fx, d.Fu;
  mean.noalias() = F_ * z;
  rootOf(R.transpose().solve(F_.transpose()).transpose(), L_);
}

/// Eliminates (xi, v) from the stacked residuals in (xi, v, q+, v+, p). The columns of the rest
/// stand in reverse order, so that the triangle that remains is, read backwards, L^-1.
void ActionArrival::marginalizeSecondOrder(ActionSecondOrder& node,
                                           const std::shared_ptr<DataAbstract>& data,
                                           const ConstRef& x0, const ConstRef& u0) {
  node.linearize(data, x0);
  const auto& d = static_cast<const ActionSecondOrder::Data&>(*data);
  stackRows(node, d);
  if (node.nb() > 0) keepHeadingUnknown(node, x0, u0.tail(node.nxi()));
  toNextPosition(node, d, stacked_);
  const bool displaced = !shared_.isZero(0.0);
  if (displaced) stackDisplacement(node, d);
  orderColumns(node);
  sortRows();
  triangularizeStaircase(sorted_, order_.size(), first_, reflections_);
  const int n = state_->get_ndx(), k = sorted_.cols() - 1 - n;
  auto root = stacked_.topLeftCorner(n, n);  // which has been sorted: its memory is at hand
  root = sorted_.block(k, k, n, n).reverse();
  rhs_ = sorted_.col(k + n).segment(k, n).reverse();
  for (int i = 0; i < n; ++i)
    if (root(i, i) < 0.0) root.row(i) *= -1.0, rhs_[i] *= -1.0;
  invertLower(root, L_);
  mean.noalias() = L_.triangularView<Eigen::Lower>() * rhs_;
  if (displaced) carryDisplacement(k);
}

/// The base's part of the change from the tangent at reference (+) dx to the one at the reference:
/// the adjoint of dx, J(-dx) J(dx)^-1. J(dx)^-1 is the same but for terms in dx, which is small;
/// yet only with the adjoint a motion of the world stays that motion, and what is not known of it
/// stays unknown.
ActionSecondOrder::BaseMatrix ActionArrival::carryBack(const VectorXd& dx, const int nb) {
  if (nb == 0) return ActionSecondOrder::BaseMatrix(0, 0);
  const auto jacobian = [](const Eigen::Matrix<double, 6, 1>& step) {
    Matrix6 J;
    pinocchio::Jexp6(pinocchio::Motion(step), J);
    return J;
  };
  return jacobian(-dx.head<6>()) * jacobian(dx.head<6>()).inverse();
}

/// Rows in z = (xi, v+, q, v, p | right-hand side).
void ActionArrival::stackRows(const ActionSecondOrder& node, const ActionSecondOrder::Data& d) {
  const int n = state_->get_ndx(), nv = node.nv(), nj = node.nj(), nb = node.nb(), nxi = node.nxi(),
            dense = d.S.rows();
  const int nu = nxi + nv, nz = nu + n, q = nu, v = nu + nv, from = n + nu;
  stacked_.setZero(from + 2 * nj + dense, nz + 1);
  stacked_.block(0, nu, n, n) = Linv_;
  stacked_.block(0, nu, n, nb).noalias() = Linv_.leftCols(nb) * carryBack(deviation_, nb);
  stacked_.col(nz).head(n).noalias() = Linv_.triangularView<Eigen::Lower>() * (mean - deviation_);
  stacked_.block(n, 0, nv, nz) = d.force_weight.asDiagonal() * d.G;
  stacked_.block(n + nv, 0, nxi, nxi).diagonal() = d.diagonal.head(nxi);
  stacked_.block(from, q + nb, nj, nj).diagonal() = d.diagonal.segment(q + nb, nj);
  stacked_.block(from + nj, v + nb, nj, nj).diagonal() = d.diagonal.segment(v + nb, nj);
  for (std::size_t i = 0; i < d.columns.size(); ++i)
    stacked_.col(d.columns[i]).tail(dense) = d.S.col(i);
  stacked_.col(nz).tail(nu + 2 * nj + dense) = -d.r;
}

/// The contact disturbance xi is given in world axes, but what it costs does not depend on them:
/// let it turn with the base around the vertical. Otherwise its cost in Gauss-Newton, |xi|^2/std^2
/// per turn squared, would be knowledge of the heading that nobody measured.
void ActionArrival::keepHeadingUnknown(const ActionSecondOrder& node, const ConstRef& x0,
                                       const ConstRef& xi) {
  const int rows = stacked_.rows() - state_->get_ndx(), rotation = node.nxi() + node.nv() + 3;
  const Eigen::RowVector3d up =
      Eigen::Quaterniond(x0[6], x0[3], x0[4], x0[5]).toRotationMatrix().row(2);
  auto node_rows = stacked_.bottomRows(rows);
  work_.setZero(rows);
  for (int k = 0; k < node.nxi(); k += 3)
    work_ += xi[k] * node_rows.col(k + 1) - xi[k + 1] * node_rows.col(k);
  work_.segment(node.nv(), node.nxi()).setZero();
  node_rows.middleCols<3>(rotation).noalias() += work_ * up;
}

/// dq = E^-1 (dq+ - T dv+): from then on q of z stands for q+, in the tangent at the new reference.
void ActionArrival::toNextPosition(const ActionSecondOrder& node, const ActionSecondOrder::Data& d,
                                   MatrixXd& rows) const {
  const int nv = node.nv(), nj = node.nj(), nb = node.nb(), nxi = node.nxi(), q = nxi + nv;
  auto position = rows.middleCols(q, nv);
  auto velocity = rows.middleCols(nxi, nv);
  position.leftCols(nb) = (position.leftCols(nb) * d.E.inverse()).eval();
  velocity.leftCols(nb).noalias() -= position.leftCols(nb) * d.T;
  velocity.rightCols(nj) -= node.dt * position.rightCols(nj);
  position.leftCols(nb) = (position.leftCols(nb) * carryBack(-gap_, nb)).eval();
}

/// The stacked rows in the column order of the elimination, sorted by their first nonzero column;
/// rows without weight are left out.
void ActionArrival::sortRows() {
  const int rows = stacked_.rows(), nz = stacked_.cols() - 1;
  column_of_.resize(nz);
  for (int j = 0; j < nz; ++j) column_of_[target_[j]] = j;
  order_.clear();
  first_.clear();
  empty_.resize(rows);  // as far as they have been looked at
  std::iota(empty_.begin(), empty_.end(), 0);
  for (int to = 0; to < nz && !empty_.empty(); ++to) {
    const double* const column = &stacked_(0, column_of_[to]);
    std::size_t still = 0;
    for (const int i : empty_) {
      if (column[i] == 0.0)
        empty_[still++] = i;
      else
        order_.push_back(i), first_.push_back(to);
    }
    empty_.resize(still);
  }
  sorted_.resize(rows + kPadRows, nz + 1);
  sorted_.middleRows(order_.size(), kPadRows).setZero();
  for (int j = 0; j <= nz; ++j) {
    const auto from = stacked_.col(j);
    auto to = sorted_.col(j < nz ? target_[j] : nz);
    for (std::size_t i = 0; i < order_.size(); ++i) to[i] = from[order_[i]];
  }
}

/// Column order of the elimination: (xi, v, p, v+, q+), all but xi reversed.
void ActionArrival::orderColumns(const ActionSecondOrder& node) {
  const int nv = node.nv(), nxi = node.nxi(), np = node.np, nu = nxi + nv;
  target_.resize(nu + 2 * nv + np);
  for (int i = 0; i < nxi; ++i) target_[i] = i;
  for (int i = 0; i < nv; ++i) {
    target_[nu + nv + i] = nxi + nv - 1 - i;
    target_[nxi + i] = nxi + nv + np + nv - 1 - i;
    target_[nu + i] = nxi + nv + np + 2 * nv - 1 - i;
  }
  for (int i = 0; i < np; ++i) target_[nu + 2 * nv + i] = nxi + nv + np - 1 - i;
}

/// Covariance += noise noise^T.
void ActionArrival::widen(const Eigen::Ref<const MatrixXd>& noise) {
  for (int j = 0; j < noise.cols(); ++j) {
    work_ = noise.col(j);
    updateRoot(L_, work_);
  }
  rootHasChanged();
}

void ActionArrival::requireIndices(const std::vector<int>& indices) const {
  const int n = state_->get_ndx();
  for (const int index : indices)
    if (index < 0 || index >= n)
      throw std::invalid_argument("arrival: there is no component " + std::to_string(index) +
                                  " of " + std::to_string(n));
}

void ActionArrival::requireNoise(const Eigen::Ref<const MatrixXd>& noise) const {
  if (noise.cols() > 0) requireSize("arrival", "a column of noise", noise.rows(), L_.rows());
  if (!noise.allFinite()) throw std::invalid_argument("arrival: noise that is not finite");
}

void ActionArrival::replacePrior(const std::vector<int>& indices,
                                 const Eigen::Ref<const MatrixXd>& rows, const ConstRef& stddev,
                                 const ConstRef& change) {
  const int n = state_->get_ndx(), k = indices.size();
  requireIndices(indices);
  requireSize("arrival", "rows", rows.rows(), k);
  requireSize("arrival", "a row", rows.cols(), n);
  requireSize("arrival", "stddev", stddev.size(), k);
  requireSize("arrival", "change", change.size(), k);
  if (!rows.allFinite() || !stddev.allFinite() || !change.allFinite())
    throw std::invalid_argument("arrival: a prior that is not finite");
  // without noise the root would be singular, and the next update would divide by it
  if (!(stddev.array() > 0.0).all())
    throw std::invalid_argument(
        "arrival: a prior needs standard deviations above 0: for what is known exactly, give a "
        "small one");
  MatrixXd replaced(k, n + k);
  replaced.leftCols(n).noalias() = rows * L_;
  replaced.rightCols(k) = MatrixXd(stddev.asDiagonal());
  const MatrixXd shared = shared_ * rows.transpose();
  const VectorXd means = rows * mean;
  VectorXd dx = VectorXd::Zero(n), moved(state_->get_nx());
  for (int i = 0; i < k; ++i) {
    mean[indices[i]] = means[i];
    shared_.col(indices[i]) = shared.col(i);
    dx[indices[i]] = change[i];
  }
  state_->integrate(reference, dx, moved);
  reference = moved;
  replaceRows(L_, indices, replaced);
  rootHasChanged();
}

MatrixXd ActionArrival::covariance() const {
  MatrixXd P;
  squareOfLower(L_, P);
  return P;
}

void ActionArrival::inflateCovariance(const Eigen::Ref<const MatrixXd>& noise) {
  requireNoise(noise);
  widen(noise);
}

}  // namespace prime
