// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
// Place and heading that nothing measures, beside the cost-to-come
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <cmath>

#include "linalg/sizes.hpp"
#include "linalg/square_root.hpp"
#include "nodes/action_arrival.hpp"

namespace prime {

using Eigen::MatrixXd;

/// Of displacements before and by the last release, their sum.
template <typename Rows>
static MatrixXd sum(const Rows& displacements) {
  return displacements.topRows(3) + displacements.bottomRows(3);
}

/// D = D_b + D_n, before the last release and by it.
Eigen::Matrix3d ActionArrival::displacement() const { return sum(sum(displacements_).transpose()); }

/// The guess's part of cov(D): with its coefficients (6, ndx), cov(D, dx) P^-1, and P = L L^T.
ActionArrival::Matrix6 ActionArrival::guessed(const MatrixXd& coefficients) const {
  const MatrixXd root = coefficients * L_;
  return root * root.transpose();
}

/// Coefficients of the displacement's best guess from the tangent, as rows in z.
void ActionArrival::stackDisplacement(const ActionSecondOrder& node,
                                      const ActionSecondOrder::Data& d) {
  const int n = state_->get_ndx(), nb = node.nb(), nu = node.nxi() + node.nv();
  carried_.setZero(6, nu + n);
  carried_.rightCols(n) = (shared_ * Linv_.transpose()) * Linv_;
  fall_ = guessed(carried_.rightCols(n));
  const MatrixXd base = carried_.middleCols(nu, nb) * carryBack(deviation_, nb);
  carried_.middleCols(nu, nb) = base;
  toNextPosition(node, d, carried_);
}

/// The same guess from the tangent that remains, once `eliminated` columns are gone. What the node
/// that leaves tells of the last displacement counts: its rates are those that led there. What is
/// learned of those before comes too late, for the place is not corrected any more.
void ActionArrival::carryDisplacement(const int eliminated) {
  const int n = state_->get_ndx();
  MatrixXd ordered(6, eliminated + n);
  for (int j = 0; j < ordered.cols(); ++j) ordered.col(target_[j]) = carried_.col(j);
  auto gone = ordered.leftCols(eliminated);
  sorted_.topLeftCorner(eliminated, eliminated)
      .triangularView<Eigen::Upper>()
      .solveInPlace<Eigen::OnTheRight>(gone);
  ordered.rightCols(n).noalias() -= gone * sorted_.block(0, eliminated, eliminated, n);
  const MatrixXd guess = ordered.rightCols(n).rowwise().reverse();
  shared_.noalias() = (guess * L_) * L_.transpose();
  fall_ -= gone * gone.transpose() + guessed(guess);
  fall_.topLeftCorner<3, 3>().setZero();
  displacements_ -= fall_;
}

void ActionArrival::requireMotions(const Eigen::Ref<const MatrixXd>& motions) const {
  requireSize("arrival", "a motion of the world", motions.rows(), L_.rows());
  requireSize("arrival", "motions", motions.cols(), 3);
}

/// Only the first six columns of the root change. They are made triangular again together with the
/// three of the noise, of which the rows behind the base keep something.
void ActionArrival::release(const Eigen::Ref<const MatrixXd>& motions,
                            const Eigen::Ref<const MatrixXd>& axes, const Eigen::Matrix3d& carry,
                            const double stddev) {
  constexpr int nb = 6, ng = 3;
  requireMotions(motions);
  requireSize("arrival", "an axis", axes.rows(), nb);
  requireSize("arrival", "axes", axes.cols(), ng);
  if (L_.rows() < nb)
    throw std::invalid_argument("arrival: place and heading are those of a base, which is missing");
  const int behind = static_cast<int>(state_->get_ndx()) - nb;
  const MatrixXd own = axes.transpose() * L_.topLeftCorner(nb, nb);
  // (D_b + D_n, axes^T dx)
  MatrixXd with(2 * ng, nb + behind);
  with.topRows(ng) = carry * sum(shared_);
  with.bottomRows(ng).noalias() = own * L_.leftCols(nb).transpose();
  const Eigen::Matrix<double, 6, 3> by = with.leftCols(nb) * axes;
  displacements_ << carry * displacement() * carry.transpose(), by.topRows(ng),
      by.topRows(ng).transpose(), by.bottomRows(ng);
  shared_ = with - by * motions.transpose();
  mean -= motions * (axes.transpose() * mean.head(nb));

  MatrixXd wide(nb + behind, nb + ng);
  wide << L_.leftCols(nb) - motions * own, stddev * motions;
  const Eigen::HouseholderQR<MatrixXd> qr(wide.topRows(nb).transpose());
  wide *= MatrixXd(qr.householderQ());
  for (int j = 0; j < nb; ++j)
    L_.col(j).tail(behind + nb - j) =
        std::copysign(1.0, wide(j, j)) * wide.col(j).tail(behind + nb - j);
  for (int j = nb; j < nb + ng; ++j) {
    work_ = wide.col(j).tail(behind);
    updateRoot(L_.bottomRightCorner(behind, behind), work_);
  }
  rootHasChanged();
}

/// dx + motions D, with D known from dx but for what both do not share.
void ActionArrival::restore(const Eigen::Ref<const MatrixXd>& motions) {
  requireMotions(motions);
  const int n = state_->get_ndx();
  const MatrixXd known = sum(shared_) * inverseRoot().transpose();
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> own(displacement() -
                                                           known * known.transpose());
  MatrixXd wide(n, n + 3);
  wide.leftCols(n) = L_ + motions * known;
  wide.rightCols(3) =
      motions * own.eigenvectors() * own.eigenvalues().cwiseMax(0.0).cwiseSqrt().asDiagonal();
  rootOf(wide, L_);
  rootHasChanged();
  displacements_.setZero();
  shared_.setZero();
}

}  // namespace prime
