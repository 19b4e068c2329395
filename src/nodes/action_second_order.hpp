// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <vector>

#include "nodes/action_least_squares.hpp"

namespace prime {

/// Estimation node of a mechanical system, linearized without solving for the next velocity.
///
/// The variables are `z = (xi, v+, q, v, p)`; the control of the linearization is (xi, v+), in
/// whichever form the node itself is written:
///
///     dt dw = G dz
///     dq+   = E dq + T dv+,   dp+ = dp
///     r     = [w | xi | joint positions | joint rates | dense]
///
/// The first line states the dynamics as a residual: w is the disturbance that a change dz
/// requires, weighted by 1/std. E and T = dt Jv have a known structure: 6x6 blocks at the base, 1
/// and dt at the joints. Each row of xi, joint positions and joint rates touches one variable
/// (`diagonal`); the dense rows touch few (`columns`).
///
/// Because w has full rank, this is the linearization of the explicit form `v+ = f(x, w, xi)` in
/// other coordinates. Its Hessian needs no products with dv+/dx.
class ActionSecondOrder : public ActionLeastSquares {
 public:
  using BaseMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 6, 6>;

  struct Data : ActionLeastSquares::Data {
    template <template <typename Scalar> class Model>
    Data(Model<double>* const model, const std::size_t nv, const std::size_t nb,
         const std::size_t dense_rows, const std::vector<int>& columns_)
        : ActionLeastSquares::Data(model),
          G(Eigen::MatrixXd::Zero(nv, model->get_nu() + model->get_state()->get_ndx())),
          force_weight(Eigen::VectorXd::Zero(nv)),
          diagonal(Eigen::VectorXd::Zero(G.cols())),
          S(Eigen::MatrixXd::Zero(dense_rows, columns_.size())),
          columns(columns_),
          guess(Eigen::VectorXd::Zero(nv)),
          E(BaseMatrix::Identity(nb, nb)),
          T(BaseMatrix::Zero(nb, nb)) {}
    Eigen::MatrixXd G;             ///< (nv, nz)
    Eigen::VectorXd force_weight;  ///< (nv) 1/(std dt): whitens G dz
    Eigen::VectorXd diagonal;      ///< (nz) 1/std of the rows with one variable, 0 elsewhere
    Eigen::MatrixXd S;             ///< dense rows, whitened, in the variables `columns` of z
    std::vector<int> columns;
    Eigen::VectorXd guess;   ///< next velocity, from which the next calc may start
    bool has_guess = false;  ///< the guess has not been used yet
    BaseMatrix E, T;
  };

  ActionSecondOrder(std::shared_ptr<crocoddyl::StateAbstractTpl<double>> state,
                    const std::size_t nv, const std::size_t nj, const std::size_t nxi,
                    const std::size_t dense_rows, const std::size_t np, const double dt_,
                    const bool inverse_)
      : ActionLeastSquares(state, nv + nxi, nv + nxi + 2 * nj + dense_rows, np),
        dt(dt_),
        inverse(inverse_),
        nv_(nv),
        nj_(nj),
        nxi_(nxi) {}

  /// Fill the linearization above at the last calc. The explicit one (Fx to Luu) is not touched.
  /// With `reach` > 0 [m/s, rad/s] the derivatives G of the dynamics are kept from an earlier calc
  /// while the node has moved by less than that; the weights are always the current ones.
  virtual void linearize(const std::shared_ptr<DataAbstract>& data, const ConstRef& x,
                         double reach = 0.0) = 0;

  int nv() const { return nv_; }
  int nj() const { return nj_; }
  int nxi() const { return nxi_; }
  int nb() const { return nv_ - nj_; }  ///< 6 with a floating base, else 0

  const double dt;     ///< [s]
  const bool inverse;  ///< the node's own control is (v+, xi) instead of (w, xi)

 protected:
  int nv_, nj_, nxi_;
};

}  // namespace prime
