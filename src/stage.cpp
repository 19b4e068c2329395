// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "stage.hpp"

#include <Eigen/Cholesky>

#include "action_arrival.hpp"
#include "square_root.hpp"
#include "stage_second_order.hpp"

namespace prime {

using Eigen::Lower;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

using LeastSquaresData = ActionLeastSquares::Data;

/// Any node that gives Fx, Fu, Lxx, Lxu, Luu. The last `np` state components are constant: no product with that identity.
class StageDense : public Stage {
 public:
  explicit StageDense(const Model& model)
      : n_(model.get_state()->get_ndx()),
        nu_(model.get_nu()),
        llt_(nu_),
        W_(n_, n_),
        Wu_(n_, nu_),
        Qxx_(n_, n_),
        Qxu_(n_, nu_),
        Quu_(nu_, nu_),
        Y_(nu_, n_),
        S_(nu_, n_),
        k_(nu_) {
    const auto* node = dynamic_cast<const ActionLeastSquares*>(&model);
    if (!node) throw std::invalid_argument("window problem: the nodes must be least-squares nodes");
    np_ = node->np;
  }

  bool fits(const Model& model) const override {
    const auto* node = dynamic_cast<const ActionLeastSquares*>(&model);
    return node && int(node->np) == np_ && int(model.get_state()->get_ndx()) == n_ && int(model.get_nu()) == nu_;
  }

  void linearize(Model& model, const std::shared_ptr<DataAbstract>& data, const ConstRef& x, const ConstRef& u) override {
    model.calcDiff(data, x, u);
  }

  bool eliminate(const DataAbstract& d, const MatrixXd& Vn, const VectorXd& vn, const double regularization, MatrixXd& V,
                 VectorXd& v) override {
    const int m = n_ - np_;
    const auto Fx = d.Fx.topRows(m);
    const auto Fu = d.Fu.topRows(m);
    W_.noalias() = Vn.leftCols(m) * Fx;
    W_.rightCols(np_) += Vn.rightCols(np_);
    Wu_.noalias() = Vn.leftCols(m) * Fu;
    Qxx_ = d.Lxx;
    Qxx_.triangularView<Lower>() += Fx.transpose() * W_.topRows(m);
    Qxx_.bottomRows(np_) += W_.bottomRows(np_);
    Qxu_ = d.Lxu;
    Qxu_.noalias() += Fx.transpose() * Wu_.topRows(m);
    Qxu_.bottomRows(np_) += Wu_.bottomRows(np_);
    Quu_ = d.Luu;
    Quu_.noalias() += Fu.transpose() * Wu_.topRows(m);
    Quu_.diagonal() *= 1.0 + regularization;
    llt_.compute(Quu_);
    if (llt_.info() != Eigen::Success) return false;
    k_ = d.Lu;
    k_.noalias() += Fu.transpose() * vn.head(m);
    llt_.solveInPlace(k_);
    Y_ = Qxu_.transpose();
    llt_.matrixL().solveInPlace(Y_);
    S_ = Y_;
    llt_.matrixU().solveInPlace(S_);
    v = d.Lx;
    v.noalias() += Fx.transpose() * vn.head(m);
    v.tail(np_) += vn.tail(np_);
    v.noalias() -= Qxu_ * k_;
    Qxx_.triangularView<Lower>() -= Y_.transpose() * Y_;
    V = Qxx_.selfadjointView<Lower>();
    return v.allFinite();
  }

  void step(const DataAbstract& data, const VectorXd& dx, const VectorXd& gap, VectorXd& du, VectorXd& dx_next, Along& along) override {
    const auto& d = static_cast<const LeastSquaresData&>(data);
    du = -k_;
    du.noalias() -= S_ * dx;
    dx_next = gap;
    dx_next.noalias() += d.Fx * dx;
    dx_next.noalias() += d.Fu * du;
    VectorXd dr = d.Ru * du;
    dr.noalias() += d.Rx * dx;
    along.add(dr, d.r);
  }

  void propagate(const DataAbstract& d, const MatrixXd& P, MatrixXd& P_next) override {
    const int m = n_ - np_;
    W_ = d.Fx;
    W_.noalias() -= d.Fu * S_;
    W_.bottomRightCorner(np_, np_).setIdentity();
    Wu_.topRows(m) = d.Fu.topRows(m);
    Wu_.bottomRows(np_).setZero();
    llt_.matrixU().solveInPlace<Eigen::OnTheRight>(Wu_);
    Qxx_.noalias() = W_ * P;
    P_next.noalias() = Qxx_ * W_.transpose();
    P_next.noalias() += Wu_ * Wu_.transpose();
  }

  MatrixXd covariance(const DataAbstract&, const MatrixXd& P, const MatrixXd& jx, const MatrixXd& ju) const override {
    const MatrixXd closed = jx - ju * S_;
    MatrixXd white = ju.transpose();
    llt_.matrixL().solveInPlace(white);
    return closed * P * closed.transpose() + white.transpose() * white;
  }

 private:
  int n_, nu_, np_;
  Eigen::LLT<MatrixXd> llt_;
  MatrixXd W_, Wu_, Qxx_, Qxu_, Quu_, Y_, S_;
  VectorXd k_;
};

/// The arrival node: no state before it, dx+ = J du with J the identity but for the base, `r = L^-1 (u - m)`.
class StageArrival : public Stage {
 public:
  explicit StageArrival(const Model& model) : n_(model.get_nu()), b_(std::min(n_, 6)), llt_(n_), H_(n_, n_), Rinv_(n_, n_), g_(n_) {}

  bool fits(const Model& model) const override { return dynamic_cast<const ActionArrival*>(&model) && int(model.get_nu()) == n_; }

  void linearize(Model& model, const std::shared_ptr<DataAbstract>& data, const ConstRef&, const ConstRef& u) override {
    static_cast<ActionArrival&>(model).linearize(data, u);
  }

  bool eliminate(const DataAbstract& data, const MatrixXd& Vn, const VectorXd& vn, const double regularization, MatrixXd& V,
                 VectorXd& v) override {
    const auto& d = static_cast<const LeastSquaresData&>(data);
    const auto J = d.Fu.topLeftCorner(b_, b_);
    H_ = Vn;
    H_.leftCols(b_) = Vn.leftCols(b_) * J;
    H_.topRows(b_) = (J.transpose() * H_.topRows(b_)).eval();
    addGramOfLower(d.Ru, H_);
    H_.diagonal() *= 1.0 + regularization;
    llt_.compute(H_);
    if (llt_.info() != Eigen::Success) return false;
    g_ = vn;
    g_.head(b_) = J.transpose() * vn.head(b_);
    g_.noalias() += d.Ru.transpose().triangularView<Eigen::Upper>() * d.r;
    llt_.solveInPlace(g_);
    V.setZero(n_, n_);
    v.setZero(n_);
    return g_.allFinite();
  }

  void step(const DataAbstract& data, const VectorXd&, const VectorXd& gap, VectorXd& du, VectorXd& dx_next, Along& along) override {
    const auto& d = static_cast<const LeastSquaresData&>(data);
    du = -g_;
    dx_next = gap + du;
    dx_next.head(b_) = gap.head(b_) + d.Fu.topLeftCorner(b_, b_) * du.head(b_);
    along.add(d.Ru.triangularView<Lower>() * du, d.r);
  }

  void propagate(const DataAbstract& d, const MatrixXd&, MatrixXd& P_next) override {
    const auto J = d.Fu.topLeftCorner(b_, b_);
    invertLower(llt_.matrixLLT(), Rinv_);
    H_.setZero();
    addGramOfLower(Rinv_, H_);
    P_next = H_.selfadjointView<Lower>();
    P_next.topRows(b_) = (J * P_next.topRows(b_)).eval();
    P_next.leftCols(b_) = (P_next.leftCols(b_) * J.transpose()).eval();
  }

  MatrixXd covariance(const DataAbstract&, const MatrixXd&, const MatrixXd&, const MatrixXd& ju) const override {
    MatrixXd white = ju.transpose();
    llt_.matrixL().solveInPlace(white);
    return white.transpose() * white;
  }

 private:
  int n_, b_;
  Eigen::LLT<MatrixXd> llt_;
  MatrixXd H_, Rinv_;
  VectorXd g_;
};

}  // namespace

std::unique_ptr<Stage> Stage::make(const Model& model) {
  if (const auto* node = dynamic_cast<const ActionSecondOrder*>(&model)) return std::make_unique<StageSecondOrder>(*node);
  if (dynamic_cast<const ActionArrival*>(&model)) return std::make_unique<StageArrival>(model);
  return std::make_unique<StageDense>(model);
}

}  // namespace prime
