// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "solver/stage.hpp"

#include <Eigen/Cholesky>

#include "linalg/dense_kernels.hpp"
#include "solver/stage_second_order.hpp"

namespace prime {

using Eigen::Lower;
using Eigen::MatrixXd;
using Eigen::VectorXd;

CarriedRows::CarriedRows(const int most, const int columns)
    : J(MatrixXd::Zero(most + kPadRows, columns)),
      covariance(MatrixXd::Zero(most + kPadRows, most)),
      work(J) {}

namespace {

using LeastSquaresData = ActionLeastSquares::Data;

/// Any node that gives Fx, Fu, Lxx, Lxu, Luu.
class StageDense : public Stage {
 public:
  StageDense(const Model& model, const FreeParameters& free)
      : free_(free),
        nu_(model.get_nu()),
        np_(free.size()),
        m_(static_cast<int>(model.get_state()->get_ndx()) - free.all()),
        n_(m_ + np_),
        llt_(nu_),
        F_(m_, n_),
        W_(m_, n_),
        Wu_(m_, nu_),
        Q_(n_, n_),
        Qxu_(n_, nu_),
        Quu_(nu_, nu_),
        Y_(nu_, n_),
        S_(nu_, n_),
        k_(nu_) {}

  bool fits(const Model& model) const override {
    const auto* node = dynamic_cast<const ActionLeastSquares*>(&model);
    return node && !dynamic_cast<const ActionSecondOrder*>(&model) &&
           int(node->np) == free_.all() && int(model.get_state()->get_ndx()) == m_ + free_.all() &&
           int(model.get_nu()) == nu_;
  }

  void linearize(Model& model, const std::shared_ptr<DataAbstract>& data, const ConstRef& x,
                 const ConstRef& u, double) override {
    model.calcDiff(data, x, u);
  }

  bool eliminate(const DataAbstract& d, const CostToGo& next, const double regularization,
                 CostToGo& value, ParameterCostToGo& common) override {
    F_ = free_.columnsOf(d.Fx.topRows(m_));
    const auto& F = F_;
    const auto Fu = d.Fu.topRows(m_);
    // [V_xx F + (0, V_xp)]: what dx+ weighs, by (dx, dp)
    W_.noalias() = next.xx * F;
    W_.rightCols(np_) += next.xp;
    Wu_.noalias() = next.xx * Fu;
    Q_ = free_.columnsOf(free_.columnsOf(d.Lxx).transpose());
    Q_.noalias() += F.transpose() * W_;
    Q_.bottomRows(np_).noalias() += next.xp.transpose() * F;
    Qxu_ = free_.columnsOf(d.Lxu.transpose()).transpose();
    Qxu_.noalias() += F.transpose() * Wu_;
    Qxu_.bottomRows(np_).noalias() += next.xp.transpose() * Fu;
    Quu_ = d.Luu;
    Quu_.noalias() += Fu.transpose() * Wu_;
    Quu_.diagonal() *= 1.0 + regularization;
    llt_.compute(Quu_);
    if (llt_.info() != Eigen::Success) return false;
    k_ = d.Lu;
    k_.noalias() += Fu.transpose() * next.x;
    llt_.solveInPlace(k_);
    Y_ = Qxu_.transpose();
    llt_.matrixL().solveInPlace(Y_);
    S_ = Y_;
    llt_.matrixU().solveInPlace(S_);
    Q_.noalias() -= Y_.transpose() * Y_;
    value.xx = Q_.topLeftCorner(m_, m_).selfadjointView<Lower>();
    value.xp = Q_.bottomLeftCorner(np_, m_).transpose();
    common.pp += Q_.bottomRightCorner(np_, np_);
    value.x = d.Lx.head(m_);
    value.x.noalias() += F.leftCols(m_).transpose() * next.x;
    value.x.noalias() -= Qxu_.topRows(m_) * k_;
    common.p += free_.of(d.Lx.tail(free_.all()));
    common.p.noalias() += F.rightCols(np_).transpose() * next.x;
    common.p.noalias() -= Qxu_.bottomRows(np_) * k_;
    return value.x.allFinite();
  }

  void control(const DataAbstract&, const VectorXd& dxp, const double alpha,
               VectorXd& du) override {
    du = -alpha * k_;
    du.noalias() -= S_ * free_.columnsOf(dxp.transpose()).transpose();
  }

  void step(const DataAbstract& data, const VectorXd& dxp, const VectorXd& gap, VectorXd& du,
            VectorXd& next, DirectionalModel& along) override {
    const auto& d = static_cast<const LeastSquaresData&>(data);
    control(data, dxp, 1.0, du);
    next = gap;
    next.noalias() += d.Fx * dxp;
    next.noalias() += d.Fu * du;
    VectorXd dr = d.Ru * du;
    dr.noalias() += d.Rx * dxp;
    along.add(dr, d.r);
  }

  /// dx+ = W (dx, dp) + e with W = F - Fu S and Cov e = Fu Quu^-1 Fu^T.
  void propagate(const DataAbstract& d, const Covariance& P, const MatrixXd& Ppp,
                 Covariance& next) override {
    closeLoop(d);
    const auto Wx = W_.leftCols(m_);
    const auto Wp = W_.rightCols(np_);
    next.xp.noalias() = Wx * P.xp;
    next.xp.noalias() += Wp * Ppp;
    MatrixXd by_x = Wx * P.xx;
    by_x.noalias() += Wp * P.xp.transpose();
    next.xx.noalias() = by_x * Wx.transpose();
    next.xx.noalias() += next.xp * Wp.transpose();
    next.xx.noalias() += Wu_ * Wu_.transpose();
  }

  void carry(const DataAbstract& d, CarriedRows& rows) override {
    closeLoop(d);
    auto J = rows.J.topRows(rows.count);
    const MatrixXd by_x = J.leftCols(m_), noise = by_x * Wu_;
    J.leftCols(m_).setZero();
    J += by_x * W_;
    rows.covariance.topLeftCorner(rows.count, rows.count) += noise * noise.transpose();
  }

  void enter(const MatrixXd& jz, CarriedRows& rows) const override {
    const auto ju = jz.leftCols(nu_);
    MatrixXd white = ju.transpose();
    llt_.matrixL().solveInPlace(white);
    rows.J.middleRows(rows.count, jz.rows()) = byState(jz) - ju * S_;
    rows.covariance.block(rows.count, rows.count, jz.rows(), jz.rows()) +=
        white.transpose() * white;
    rows.count += jz.rows();
  }

  MatrixXd inVariables(const DataAbstract&, const MatrixXd& jx, const MatrixXd& ju) const override {
    MatrixXd jz(jx.rows(), ju.cols() + jx.cols());
    jz << ju, jx;
    return jz;
  }

  MatrixXd covariance(const MatrixXd& P, const MatrixXd& jz) const override {
    const auto ju = jz.leftCols(nu_);
    const MatrixXd closed = byState(jz) - ju * S_;
    MatrixXd white = ju.transpose();
    llt_.matrixL().solveInPlace(white);
    return closed * P * closed.transpose() + white.transpose() * white;
  }

 private:
  /// W = F - Fu S, and Fu Quu^-1/2.
  void closeLoop(const DataAbstract& d) {
    W_ = free_.columnsOf(d.Fx.topRows(m_));
    W_.noalias() -= d.Fu.topRows(m_) * S_;
    Wu_ = d.Fu.topRows(m_);
    llt_.matrixU().solveInPlace<Eigen::OnTheRight>(Wu_);
  }
  /// Columns of (dx, dp).
  MatrixXd byState(const MatrixXd& jz) const {
    return free_.columnsOf(jz.rightCols(m_ + free_.all()));
  }

  FreeParameters free_;
  int nu_, np_, m_, n_;
  Eigen::LLT<MatrixXd> llt_;
  MatrixXd F_, W_, Wu_, Q_, Qxu_, Quu_, Y_, S_;
  VectorXd k_;
};

}  // namespace

std::unique_ptr<Stage> Stage::make(const Model& model, const FreeParameters& free) {
  if (const auto* node = dynamic_cast<const ActionSecondOrder*>(&model))
    return std::make_unique<StageSecondOrder>(*node, free);
  const auto* node = dynamic_cast<const ActionLeastSquares*>(&model);
  if (!node) throw std::invalid_argument("window problem: the nodes must be least-squares nodes");
  return std::make_unique<StageDense>(model, free);
}

}  // namespace prime
