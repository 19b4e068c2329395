// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include "nodes/action_second_order.hpp"
#include "solver/stage.hpp"

namespace prime {

/// Stage of a mechanical system: decision (xi, v+) in the variables of ActionSecondOrder.
///
///     H = W^T W + sensors + F^T V+ F,   W = diag(1/(std dt)) G,   F = [dq+; dv+; dp+]/dz
///     [H_uu .; H_xu H_xx] = [L 0; B I] [I 0; 0 V] [L^T B^T; 0 I],   V = H_xx - B B^T
///
/// F is sparse with a known structure. The second line is a partial Cholesky factorization, in
/// which x includes the parameters. One symmetric rank-nv update and one elimination take a third
/// of the products of the explicit recursion, in vectorized kernels.
class StageSecondOrder : public Stage {
 public:
  StageSecondOrder(const ActionSecondOrder& node, const FreeParameters& free);

  bool fits(const Model& model) const override;
  void evaluate(Model& model, const std::shared_ptr<DataAbstract>& data, const ConstRef& x,
                const ConstRef& u, const ConstRef& next) override;
  void linearize(Model& model, const std::shared_ptr<DataAbstract>& data, const ConstRef& x,
                 const ConstRef& u, double reach) override;
  bool eliminate(const DataAbstract& data, const CostToGo& next, double regularization,
                 CostToGo& value, ParameterCostToGo& common) override;
  void control(const DataAbstract& data, const VectorXd& dxp, double alpha, VectorXd& du) override;
  void step(const DataAbstract& data, const VectorXd& dxp, const VectorXd& gap, VectorXd& du,
            VectorXd& next, DirectionalModel& along) override;
  void propagate(const DataAbstract& data, const Covariance& P, const MatrixXd& Ppp,
                 Covariance& next) override;
  void carry(const DataAbstract& data, CarriedRows& rows) override;
  void enter(const MatrixXd& jz, CarriedRows& rows) const override;
  MatrixXd inVariables(const DataAbstract& data, const MatrixXd& jx,
                       const MatrixXd& ju) const override;
  MatrixXd covariance(const MatrixXd& P, const MatrixXd& jz) const override;
  VectorXd variance(const MatrixXd& P, const MatrixXd& jz) const override;

 private:
  using Data = ActionSecondOrder::Data;
  /// What `eliminate` computes with; one for all nodes that a thread eliminates one after the
  /// other, so that it stays in the cache. Padded for the kernels; the gradient stands below H as a
  /// row, so that elimination and products treat it along with H.
  struct Scratch {
    Scratch(int nz, int nv, int np);
    MatrixXd H;      ///< lower triangle (nz + 1); after the elimination L, B and V
    MatrixXd Wt;     ///< (nz + 1, nv) W^T
    MatrixXd St, R;  ///< (touched + 1, dense rows) S^T; S^T S
    MatrixXd X, Y, Z;
  };
  Scratch& scratch() const;
  VectorXd varianceOfRows(const MatrixXd& P, const MatrixXd& jz) const;
  void findInverseRoot();
  void addResiduals(const Data& d, Scratch& s);
  void addDenseRows(const Data& d, Scratch& s);
  void findTouched(const std::vector<int>& columns);
  void addNext(const Data& d, const CostToGo& next, Scratch& s);

  FreeParameters free_;
  std::vector<int> at_;  ///< of the variables of a node, those of all parameters: -1 where held
  struct Touched {
    int column, at;  ///< of S, of H
  };
  std::vector<Touched> touched_;  ///< of the variables `columns_` of S, the free ones
  std::vector<int> columns_;
  int nv_, nj_, nb_, nxi_, np_, n_, nu_, nz_;
  double dt_;
  bool inverse_;
  MatrixXd factor_;  ///< (nz, nu) L, below it B
  VectorXd g_;       ///< gradient; after the elimination its head is L^-1 g_u
  MatrixXd Z_;
  MatrixXd C_, K_, U_, V_;  ///< of the covariances: padded as well
  MatrixXd inverse_root_;   ///< (nv, nv) L_vv^-1
  bool inverted_ = false;   ///< of the last elimination
  MatrixXd Px_;
  VectorXd dz_;  ///< of all parameters
  VectorXd rows_, picked_;
};

}  // namespace prime
