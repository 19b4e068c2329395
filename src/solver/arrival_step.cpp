// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "solver/arrival_step.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>

#include "linalg/dense_kernels.hpp"
#include "linalg/square_root.hpp"
#include "linalg/transpose.hpp"

namespace prime {

using Eigen::Lower;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

const ActionLeastSquares::Data& leastSquares(const ArrivalStep::DataAbstract& data) {
  return static_cast<const ActionLeastSquares::Data&>(data);
}

}  // namespace

ArrivalStep::ArrivalStep(const int m, const FreeParameters& free)
    : free_(free),
      m_(m),
      np_(free.size()),
      b_(std::min(m, 6)),
      radius_(1.0),
      damping_(0.0),
      H_(m + np_, m + np_),
      g_(m + np_),
      du_(m + np_),
      extra_(np_),
      root_(MatrixXd::Zero(m + np_ + 1 + kPadRows, m + np_ + 1 + kPadColumns)),
      llt_(m) {}

/// From (dx, dp) to the arrival node's control, plus its own cost.
void ArrivalStep::assemble(const DataAbstract& arrival) {
  const auto& d = leastSquares(arrival);
  const auto J = d.Fu.topLeftCorner(b_, b_);
  H_.leftCols(b_) = (H_.leftCols(b_) * J).eval();
  H_.topLeftCorner(b_, b_) = (J.transpose() * H_.topLeftCorner(b_, b_)).eval();
  g_.head(b_) = (J.transpose() * g_.head(b_)).eval();
  const VectorXd g = d.Ru.transpose().triangularView<Eigen::Upper>() * d.r;
  H_.topLeftCorner(m_, m_).triangularView<Lower>() += d.Luu.topLeftCorner(m_, m_);
  for (int i = 0; i < np_; ++i) {
    H_.row(m_ + i).head(m_) += d.Luu.row(m_ + free_[i]).head(m_);
    for (int j = 0; j <= i; ++j) H_(m_ + i, m_ + j) += d.Luu(m_ + free_[i], m_ + free_[j]);
  }
  g_.head(m_) += g.head(m_);
  g_.tail(np_) += free_.of(g.tail(free_.all()));
}

/// Y and its eigenvalues. Damping has no part in them: it must not make known what nothing is known
/// about.
bool ArrivalStep::findComplement() {
  const auto V = H_.bottomRightCorner(np_, np_);
  D_ = V.diagonal().unaryExpr([](const double v) { return v > 0.0 ? 1.0 / std::sqrt(v) : 0.0; });
  const MatrixXd scaled = D_.asDiagonal() * MatrixXd(V.selfadjointView<Lower>()) * D_.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(scaled);
  if (eigen.info() != Eigen::Success) return false;
  const VectorXd& values = eigen.eigenvalues();  // ascending
  const int rank = (values.array() > kRank * std::max(values[np_ - 1], 0.0)).count();
  known_ = values.tail(rank);
  Y_ = eigen.eigenvectors().rightCols(rank);
  return true;
}

bool ArrivalStep::invertParameters(const ParameterMethod method) {
  if (np_ == 0) {
    Tt_.resize(0, 0);
    return true;
  }
  const bool complement = method == ParameterMethod::Nullspace;
  MatrixXd V;
  if (complement) {
    V.noalias() = Y_.transpose() * extra_.cwiseProduct(D_.cwiseAbs2()).asDiagonal() * Y_;
    V.diagonal() += known_;
  } else {
    V = H_.bottomRightCorner(np_, np_);
    V.diagonal() += extra_;
  }
  const Eigen::LLT<MatrixXd> llt(V);
  if (llt.info() != Eigen::Success) return false;
  invertLower(llt.matrixLLT(), Tt_);
  if (complement) Tt_ = (Tt_ * Y_.transpose() * D_.asDiagonal()).eval();
  return true;
}

/// (dx, dp) from H_, g_ and the damping, by one elimination.
bool ArrivalStep::resolveAtOnce(const bool with_state) {
  const int n = np_ + m_;
  root_.topLeftCorner(np_, np_).triangularView<Lower>() = H_.bottomRightCorner(np_, np_);
  root_.diagonal().head(np_) += extra_;
  root_.block(np_, 0, m_, np_) = H_.bottomLeftCorner(np_, m_).transpose();
  root_.block(np_, np_, m_, m_).triangularView<Lower>() = H_.topLeftCorner(m_, m_);
  root_.row(n).head(np_) = g_.tail(np_).transpose();
  root_.row(n).segment(np_, m_) = g_.head(m_).transpose();
  root_(n, n) = 0.0;
  const int solved = with_state ? n : np_;
  if (!partialCholesky(n + 1, solved, root_.data(), root_.rows())) return false;
  Tt_.resize(np_, np_);
  VectorXd d = -root_.row(n).head(solved).transpose();
  root_.topLeftCorner(solved, solved).triangularView<Lower>().transpose().solveInPlace(d);
  du_.tail(np_) = d.head(np_);
  if (with_state)
    du_.head(m_) = d.tail(m_);
  else
    du_.head(m_).setZero();
  return du_.allFinite();
}

/// (dx, dp) from H_, g_ and the damping.
bool ArrivalStep::resolve(const bool with_state, const ParameterMethod method) {
  at_once_ = method == ParameterMethod::Schur;
  if (at_once_) return resolveAtOnce(with_state);
  if (!invertParameters(method)) return false;
  Bt_.noalias() = Tt_ * H_.bottomLeftCorner(np_, m_);
  if (with_state) {
    Vxx_ = H_.topLeftCorner(m_, m_);
    // Eigen divides by the depth of the update: none where there is no parameter, or none that
    // anything is known about
    if (rank() > 0) Vxx_.selfadjointView<Lower>().rankUpdate(Bt_.transpose(), -1.0);
    llt_.compute(Vxx_);
    if (llt_.info() != Eigen::Success) return false;
  }
  du_ = minimizer(g_, with_state);
  return du_.allFinite();
}

/// -H^-1 g by the factors of state and parameters.
VectorXd ArrivalStep::minimizer(const VectorXd& g, const bool with_state) const {
  VectorXd d = VectorXd::Zero(m_ + np_);
  const VectorXd y = Tt_ * g.tail(np_);
  if (with_state) {
    d.head(m_) = Bt_.transpose() * y - g.head(m_);
    llt_.solveInPlace(d.head(m_));
  }
  d.tail(np_).noalias() = -(Tt_.transpose() * (y + Bt_ * d.head(m_)));
  return d;
}

/// Column of H^-1: what the minimizer becomes where the gradient of a parameter falls by one.
VectorXd ArrivalStep::response(const int parameter, const bool with_state) const {
  if (!at_once_) return minimizer(-VectorXd::Unit(m_ + np_, m_ + parameter), with_state);
  const int solved = with_state ? np_ + m_ : np_;
  const auto root = root_.topLeftCorner(solved, solved).triangularView<Lower>();
  VectorXd d = VectorXd::Unit(solved, parameter);
  root.solveInPlace(d);
  root.transpose().solveInPlace(d);
  VectorXd out = VectorXd::Zero(m_ + np_);
  out.head(solved - np_) = d.tail(solved - np_);
  out.tail(np_) = d.head(np_);
  return out;
}

/// Parameters that go beyond their bounds are held there; others may do so then.
void ArrivalStep::keepBounds(const bool with_state) {
  if (least.size() == 0) return;
  const VectorXd free = du_;
  std::vector<int> held;
  std::vector<double> bounds;
  const auto isHeld = [&](const int i) {
    return std::find(held.begin(), held.end(), i) != held.end();
  };
  while (true) {
    const std::size_t before = held.size();
    for (int i = 0; i < np_; ++i) {
      const double bound = std::clamp(du_[m_ + i], least[i], most[i]);
      if (du_[m_ + i] != bound && !isHeld(i)) held.push_back(i), bounds.push_back(bound);
    }
    const int k = held.size();
    if (held.size() == before) return;
    MatrixXd S(m_ + np_, k), among(k, k);
    VectorXd excess(k);
    for (int j = 0; j < k; ++j) S.col(j) = response(held[j], with_state);
    for (int j = 0; j < k; ++j) {
      among.row(j) = S.row(m_ + held[j]);
      excess[j] = free[m_ + held[j]] - bounds[j];
    }
    du_ = free - S * among.ldlt().solve(excess);
    for (int j = 0; j < k; ++j) du_[m_ + held[j]] = bounds[j];  // but for round-off
  }
}

bool ArrivalStep::tooLong() const {
  return largest.size() > 0 && (du_.tail(np_).array().abs() > radius_ * largest.array()).any();
}

/// Damping from a little below that of the last step upwards, until the step is short enough.
bool ArrivalStep::shorten(const bool with_state, const ParameterMethod method) {
  const VectorXd unit = largest.cwiseAbs2().cwiseInverse();  // 0 where any step may be taken
  damping_ = std::max(damping_ / (kRaise * kRaise), kLeast);
  for (; damping_ < kMost; damping_ *= kRaise) {
    extra_ = damping_ * unit;
    if (resolve(with_state, method) && !tooLong()) return true;
  }
  damping_ = 0.0;
  return false;
}

bool ArrivalStep::eliminate(const DataAbstract* arrival, const CostToGo& value,
                            const ParameterCostToGo& common, const double regularization,
                            const ParameterMethod method) {
  H_.topLeftCorner(m_, m_) = value.xx;
  H_.bottomLeftCorner(np_, m_) = value.xp.transpose();
  H_.bottomRightCorner(np_, np_) = common.pp;
  g_.head(m_) = value.x;
  g_.tail(np_) = common.p;
  if (arrival) assemble(*arrival);
  H_.diagonal() *= 1.0 + regularization;
  extra_.setZero();
  if (np_ > 0 && method == ParameterMethod::Nullspace && !findComplement()) return false;
  const bool solved = resolve(arrival, method);
  const bool shortened = largest.size() > 0 && !(solved && !tooLong());
  if (!(shortened ? shorten(arrival, method) : solved)) return false;
  keepBounds(arrival);
  return true;
}

void ArrivalStep::step(const DataAbstract* arrival, const VectorXd& gap, VectorXd& du,
                       VectorXd& next, DirectionalModel& along) const {
  du.setZero(m_ + free_.all());
  du.head(m_) = du_.head(m_);
  for (int i = 0; i < np_; ++i) du[m_ + free_[i]] = du_[m_ + i];
  next = gap + du;
  if (!arrival) return;
  const auto& d = leastSquares(*arrival);
  next.head(b_) = gap.head(b_) + d.Fu.topLeftCorner(b_, b_) * du_.head(b_);
  along.add(d.Ru.triangularView<Lower>() * du, d.r);
}

void ArrivalStep::covariance(const DataAbstract* arrival, Covariance& P, MatrixXd& Ppp) const {
  P.xx.setZero();
  P.xp.setZero();
  if (!arrival) return covarianceOfParameters(Ppp);
  at_once_ ? covarianceAtOnce(P, Ppp) : covarianceByParts(P, Ppp);
  const auto J = leastSquares(*arrival).Fu.topLeftCorner(b_, b_);
  P.xp.topRows(b_) = (J * P.xp.topRows(b_)).eval();
  P.xx.topRows(b_) = (J * P.xx.topRows(b_)).eval();
  P.xx.leftCols(b_) = (P.xx.leftCols(b_) * J.transpose()).eval();
}

void ArrivalStep::covarianceOfParameters(MatrixXd& Ppp) const {
  MatrixXd Tt = Tt_;
  if (at_once_) invertLower(root_.topLeftCorner(np_, np_), Tt);
  Ppp.noalias() = Tt.transpose() * Tt;
}

/// P = R^-T R^-1 of the root R of the information about (p, x).
void ArrivalStep::covarianceAtOnce(Covariance& P, MatrixXd& Ppp) const {
  MatrixXd inverse, whole;
  invertLower(root_.topLeftCorner(np_ + m_, np_ + m_), inverse);
  gramOfLower(inverse, whole);
  Ppp = whole.topLeftCorner(np_, np_).selfadjointView<Lower>();
  P.xp = whole.bottomLeftCorner(m_, np_);
  P.xx = whole.bottomRightCorner(m_, m_).selfadjointView<Lower>();
}

/// `J P J^T = T T^T` with T = J L^-T.
bool ArrivalStep::covarianceOf(const DataAbstract* arrival, const Eigen::Ref<const MatrixXd>& J,
                               MatrixXd& of_rows, MatrixXd& Ppp) const {
  if (!arrival || !at_once_) return false;
  const int n = np_ + m_, k = J.rows(), ld = k + kPadRows, ldp = np_ + kPadRows;
  MatrixXd inverse;
  invertLower(root_.topLeftCorner(n, n), inverse);
  MatrixXd ordered = MatrixXd::Zero(ld, n), T = ordered, products = MatrixXd::Zero(ld, k);
  ordered.topLeftCorner(k, np_) = J.rightCols(np_);
  ordered.topRightCorner(k, m_) = J.leftCols(m_);
  ordered.block(0, np_, k, b_).noalias() =
      J.leftCols(b_) * leastSquares(*arrival).Fu.topLeftCorner(b_, b_);
  timesTransposed(false, k, n, n, ordered.data(), ld, inverse.data(), n, T.data(), ld);
  timesTransposed(false, k, k, n, T.data(), ld, T.data(), ld, products.data(), ld);
  of_rows = products.topRows(k);
  MatrixXd of_p = MatrixXd::Zero(ldp, n), gram = MatrixXd::Zero(ldp, np_ + kPadColumns);
  transposeInto(inverse.leftCols(np_), of_p.topRows(np_));
  gramLower(np_, n, of_p.data(), ldp, gram.data(), ldp);
  Ppp = gram.topLeftCorner(np_, np_).selfadjointView<Lower>();
  return true;
}

void ArrivalStep::covarianceByParts(Covariance& P, MatrixXd& Ppp) const {
  MatrixXd root, gram;  // root: L^-1 of the state's information
  invertLower(llt_.matrixLLT(), root);
  const MatrixXd seen = root * Bt_.transpose() * Tt_;
  Ppp.noalias() = Tt_.transpose() * Tt_;
  Ppp.noalias() += seen.transpose() * seen;
  P.xp.noalias() = -root.transpose() * seen;
  gramOfLower(root, gram);
  P.xx = gram.selfadjointView<Lower>();
}

}  // namespace prime
