// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "action_arrival.hpp"

#include <Eigen/Cholesky>

namespace prime {

using Eigen::MatrixXd;
using Eigen::VectorXd;

ActionArrival::ActionArrival(std::shared_ptr<crocoddyl::StateAbstractTpl<double>> state, const VectorXd& reference_, const MatrixXd& P)
    : ActionLeastSquares(state, state->get_ndx(), state->get_ndx(), 0),
      reference(reference_),
      mean(VectorXd::Zero(state->get_ndx())),
      J_(MatrixXd::Zero(state->get_ndx(), state->get_ndx())) {
  const Eigen::LLT<MatrixXd> llt(P);
  if (P.rows() != static_cast<int>(state->get_ndx()) || llt.info() != Eigen::Success)
    throw std::invalid_argument("arrival cost: the covariance must be positive definite, of the size of the state's tangent");
  L = llt.matrixL();
}

void ActionArrival::calc(const std::shared_ptr<DataAbstract>& data, const ConstRef&, const ConstRef& u) {
  state_->integrate(reference, u, data->xnext);
  data->r = L.triangularView<Eigen::Lower>().solve(u - mean);
  data->cost = 0.5 * data->r.squaredNorm();
}

void ActionArrival::calcDiff(const std::shared_ptr<DataAbstract>& data, const ConstRef&, const ConstRef& u) {
  auto& d = static_cast<Data&>(*data);
  state_->Jintegrate(reference, u, J_, d.Fu, crocoddyl::second, crocoddyl::setto);
  d.Ru.setIdentity();
  L.triangularView<Eigen::Lower>().solveInPlace(d.Ru);
  d.Lu.noalias() = d.Ru.transpose() * d.r;
  d.Luu.noalias() = d.Ru.transpose() * d.Ru;
}

VectorXd ActionArrival::estimate() const {
  VectorXd x(state_->get_nx());
  state_->integrate(reference, mean, x);
  return x;
}

void ActionArrival::advance(ActionLeastSquares& node, const std::shared_ptr<DataAbstract>& data, const ConstRef& x0, const ConstRef& u0,
                            const ConstRef& next, const Eigen::Ref<const MatrixXd>& noise) {
  const int n = state_->get_ndx(), nu = node.get_nu(), nr = node.get_nr();
  node.calc(data, x0, u0);
  node.calcDiff(data, x0, u0);
  const auto& d = static_cast<const Data&>(*data);

  // the knowledge so far, seen from x0 = reference (+) u: root J L, deviation J (m - u)
  VectorXd u(n);
  state_->diff(reference, x0, u);
  state_->Jintegrate(reference, u, J_, J_, crocoddyl::second, crocoddyl::setto);

  // stacked residuals in (dx, du), triangularized
  stacked_.setZero(n + nr, n + nu + 1);
  Linv_.setIdentity(n, n);
  L.triangularView<Eigen::Lower>().solveInPlace(Linv_);
  stacked_.col(n + nu).head(n).noalias() = Linv_ * (mean - u);
  stacked_.topLeftCorner(n, n) = J_.transpose().partialPivLu().solve(Linv_.transpose()).transpose();
  stacked_.block(n, 0, nr, n) = d.Rx;
  stacked_.block(n, n, nr, nu) = d.Ru;
  stacked_.col(n + nu).tail(nr) = -d.r;
  const Eigen::HouseholderQR<MatrixXd> qr(stacked_);
  const auto R = qr.matrixQR().topLeftCorner(n + nu, n + nu).triangularView<Eigen::Upper>();
  const VectorXd z = R.solve(qr.matrixQR().col(n + nu).head(n + nu));

  // through the dynamics: [Fx Fu] R^-1, then the process noise
  F_.resize(n, n + nu);
  F_ << d.Fx, d.Fu;
  VectorXd gap(n);
  state_->diff(next, d.xnext, gap);
  mean.noalias() = F_ * z;
  mean += gap;
  reference = next;
  wide_.resize(n, n + nu + noise.cols());
  wide_.leftCols(n + nu) = R.transpose().solve(F_.transpose()).transpose();
  wide_.rightCols(noise.cols()) = noise;
  setRoot(wide_);
}

void ActionArrival::redefine(const std::vector<int>& indices, const Eigen::Ref<const MatrixXd>& rows, const ConstRef& stddev,
                             const ConstRef& change) {
  const int n = state_->get_ndx(), k = indices.size();
  MatrixXd wide = MatrixXd::Zero(n, n + k);
  wide.leftCols(n) = L;
  VectorXd dx = VectorXd::Zero(n), moved(state_->get_nx());
  const MatrixXd replaced = rows * L;
  for (int i = 0; i < k; ++i) {
    wide.row(indices[i]).setZero();
    wide.row(indices[i]).head(n) = replaced.row(i);
    wide(indices[i], n + i) = stddev[i];
    dx[indices[i]] = change[i];
  }
  const VectorXd means = rows * mean;
  for (int i = 0; i < k; ++i) mean[indices[i]] = means[i];
  state_->integrate(reference, dx, moved);
  reference = moved;
  setRoot(wide);
}

void ActionArrival::inflate(const Eigen::Ref<const MatrixXd>& noise) {
  MatrixXd wide(L.rows(), L.cols() + noise.cols());
  wide << L, noise;
  setRoot(wide);
}

/// Lower triangular L with L L^T = wide wide^T and a positive diagonal.
void ActionArrival::setRoot(const MatrixXd& wide) {
  const Eigen::HouseholderQR<MatrixXd> qr(wide.transpose());
  const auto n = wide.rows();
  L = qr.matrixQR().topRows(n).triangularView<Eigen::Upper>().transpose();
  for (int i = 0; i < n; ++i)
    if (L(i, i) < 0.0) L.col(i) *= -1.0;
}

}  // namespace prime
