// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
// Place and heading that nothing measures, beside the cost-to-come
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <cmath>

#include "linalg/square_root.hpp"
#include "nodes/action_arrival.hpp"

namespace prime {

using Eigen::MatrixXd;

/// Coefficients (3, ndx) of the displacement's best guess from the tangent, cov(D, dx) P^-1 dx.
MatrixXd ActionArrival::displacementByTangent() {
  inverseRoot();
  return (shared_ * Linv_.transpose()) * Linv_;
}

/// That guess as rows in z.
void ActionArrival::stackDisplacement(const ActionSecondOrder& node,
                                      const ActionSecondOrder::Data& d) {
  const int n = state_->get_ndx(), nb = node.nb(), nu = node.nxi() + node.nv();
  carried_.setZero(3, nu + n);
  carried_.rightCols(n) = displacementByTangent();
  const MatrixXd base = carried_.middleCols(nu, nb) * carryBack(deviation_, nb);
  carried_.middleCols(nu, nb) = base;
  toNextPosition(node, d, carried_);
}

/// The same guess from the tangent that remains, once `eliminated` columns are gone.
void ActionArrival::carryDisplacement(const int eliminated) {
  const int n = state_->get_ndx();
  MatrixXd ordered(3, eliminated + n);
  for (int j = 0; j < ordered.cols(); ++j) ordered.col(target_[j]) = carried_.col(j);
  auto gone = ordered.leftCols(eliminated);
  sorted_.topLeftCorner(eliminated, eliminated)
      .triangularView<Eigen::Upper>()
      .solveInPlace<Eigen::OnTheRight>(gone);
  ordered.rightCols(n).noalias() -= gone * sorted_.block(0, eliminated, eliminated, n);
  const MatrixXd guess = ordered.rightCols(n).rowwise().reverse();
  shared_.noalias() = (guess * L) * L.transpose();
}

/// Only the first six columns of the root change. They are made triangular again together with the
/// three of the noise, of which the rows behind the base keep something.
void ActionArrival::release(const Eigen::Ref<const MatrixXd>& motions,
                            const Eigen::Ref<const MatrixXd>& axes, const Eigen::Matrix3d& carry,
                            const double stddev) {
  constexpr int nb = 6, ng = 3;
  const int behind = static_cast<int>(state_->get_ndx()) - nb;
  const MatrixXd own = axes.transpose() * L.topLeftCorner(nb, nb);
  MatrixXd with = carry * shared_;
  const Eigen::Matrix3d both = with.leftCols(nb) * axes;
  displacement_ =
      carry * displacement_ * carry.transpose() + both + both.transpose() + own * own.transpose();
  with.noalias() += own * L.leftCols(nb).transpose();
  shared_ = with - (with.leftCols(nb) * axes) * motions.transpose();
  mean -= motions * (axes.transpose() * mean.head(nb));

  MatrixXd wide(nb + behind, nb + ng);
  wide << L.leftCols(nb) - motions * own, stddev * motions;
  const Eigen::HouseholderQR<MatrixXd> qr(wide.topRows(nb).transpose());
  wide *= MatrixXd(qr.householderQ());
  for (int j = 0; j < nb; ++j)
    L.col(j).tail(behind + nb - j) =
        std::copysign(1.0, wide(j, j)) * wide.col(j).tail(behind + nb - j);
  for (int j = nb; j < nb + ng; ++j) {
    work_ = wide.col(j).tail(behind);
    updateRoot(L.bottomRightCorner(behind, behind), work_);
  }
}

/// dx + motions D, with D known from dx but for what both do not share.
void ActionArrival::restore(const Eigen::Ref<const MatrixXd>& motions) {
  const int n = state_->get_ndx();
  const MatrixXd known = displacementByTangent() * L;
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> own(displacement_ -
                                                           known * known.transpose());
  MatrixXd wide(n, n + 3);
  wide.leftCols(n) = L + motions * known;
  wide.rightCols(3) =
      motions * own.eigenvectors() * own.eigenvalues().cwiseMax(0.0).cwiseSqrt().asDiagonal();
  rootOf(wide, L);
  displacement_.setZero();
  shared_.setZero();
}

}  // namespace prime
