// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <crocoddyl/core/action-base.hpp>
#include <limits>
#include <stdexcept>

namespace prime {

/// Degrees of freedom of the Student-t distributions of disturbances, and of readings that can be
/// outliers. Infinite means Gaussian.
struct HeavyTails {
  static constexpr double kGaussian = std::numeric_limits<double>::infinity();
  double contact = kGaussian, force = kGaussian, reading = kGaussian;
};

/// Node of an estimation problem: dynamics `x+ = f(x, u)` and cost `1/2 |r(x, u)|^2` with a
/// whitened residual r.
///
/// The data hold `Rx = dr/dx` and `Ru = dr/du`. The Gauss-Newton Hessians are made of them, and the
/// square-root arrival cost needs them. The last `np` components of the state are parameters, which
/// are constant along the window.
class ActionLeastSquares : public crocoddyl::ActionModelAbstractTpl<double> {
 public:
  using Base = crocoddyl::ActionModelAbstractTpl<double>;
  using DataAbstract = crocoddyl::ActionDataAbstractTpl<double>;
  using ConstRef = Eigen::Ref<const Eigen::VectorXd>;

  struct Data : DataAbstract {
    template <template <typename Scalar> class Model>
    explicit Data(Model<double>* const model)
        : DataAbstract(model),
          Rx(Eigen::MatrixXd::Zero(model->get_nr(), model->get_state()->get_ndx())),
          Ru(Eigen::MatrixXd::Zero(model->get_nr(), model->get_nu())) {}
    Eigen::MatrixXd Rx, Ru;
  };

  ActionLeastSquares(std::shared_ptr<crocoddyl::StateAbstractTpl<double>> state,
                     const std::size_t nu, const std::size_t nr, const std::size_t np_)
      : Base(state, nu, nr), np(np_) {}

  std::shared_ptr<DataAbstract> createData() override { return std::make_shared<Data>(this); }
  bool checkData(const std::shared_ptr<DataAbstract>& data) override {
    return std::dynamic_pointer_cast<Data>(data) && data->xnext.size() == int(state_->get_nx()) &&
           data->r.size() == int(nr_) && data->Fu.cols() == int(nu_);
  }

  /// Update the weights of heavy-tailed disturbances at the last calc.
  virtual void reweight(const std::shared_ptr<DataAbstract>&, Eigen::Ref<Eigen::VectorXd>,
                        const HeavyTails&) {}

  std::shared_ptr<crocoddyl::ActionModelBase> cloneAsDouble() const override {
    throw std::runtime_error("estimation nodes are not copied");
  }
  std::shared_ptr<crocoddyl::ActionModelBase> cloneAsFloat() const override {
    throw std::runtime_error("estimation nodes exist in double precision only");
  }

  const std::size_t np;  ///< parameters at the end of the state

 protected:
  /// Gauss-Newton cost model from r, Rx, Ru.
  static void assemble(Data& d, const bool terminal) {
    d.Lx.noalias() = d.Rx.transpose() * d.r;
    d.Lxx.noalias() = d.Rx.transpose() * d.Rx;
    if (terminal) return;
    d.Lu.noalias() = d.Ru.transpose() * d.r;
    d.Lxu.noalias() = d.Rx.transpose() * d.Ru;
    d.Luu.noalias() = d.Ru.transpose() * d.Ru;
  }
};

/// Linear-Gaussian node `x+ = A x + B u + c`, `r = C x + D u - z` (whitened), whose state is a
/// vector. The Kalman filter solves this case exactly, which tests compare with.
class ActionLinear : public ActionLeastSquares {
 public:
  ActionLinear(std::shared_ptr<crocoddyl::StateAbstractTpl<double>> state,
               const Eigen::MatrixXd& A_, const Eigen::MatrixXd& B_, const Eigen::VectorXd& c_,
               const Eigen::MatrixXd& C_, const Eigen::MatrixXd& D_, const Eigen::VectorXd& z_,
               std::size_t np)
      : ActionLeastSquares(state, B_.cols(), z_.size(), np),
        A(A_),
        B(B_),
        c(c_),
        C(C_),
        D(D_),
        z(z_) {
    const auto n = static_cast<Eigen::Index>(state->get_nx());
    const auto shaped = [](const Eigen::MatrixXd& M, const Eigen::Index rows,
                           const Eigen::Index cols) {
      return M.rows() == rows && M.cols() == cols;
    };
    if (state->get_ndx() != state->get_nx() || np > state->get_nx() || !shaped(A, n, n) ||
        B.rows() != n || c.size() != n || !shaped(C, z.size(), n) || !shaped(D, z.size(), B.cols()))
      throw std::invalid_argument(
          "linear node: A (n, n), B (n, nu), c (n), C (nr, n), D (nr, nu), z (nr), n the size of a "
          "state vector");
  }

  void calc(const std::shared_ptr<DataAbstract>& data, const ConstRef& x,
            const ConstRef& u) override {
    data->xnext.noalias() = A * x + B * u + c;
    data->r.noalias() = C * x + D * u - z;
    data->cost = 0.5 * data->r.squaredNorm();
  }
  void calc(const std::shared_ptr<DataAbstract>& data, const ConstRef& x) override {
    calc(data, x, Eigen::VectorXd::Zero(nu_));
  }
  void calcDiff(const std::shared_ptr<DataAbstract>& data, const ConstRef&,
                const ConstRef&) override {
    auto& d = static_cast<Data&>(*data);
    d.Fx = A;
    d.Fu = B;
    d.Rx = C;
    d.Ru = D;
    assemble(d, false);
  }
  void calcDiff(const std::shared_ptr<DataAbstract>& data, const ConstRef& x) override {
    calcDiff(data, x, Eigen::VectorXd::Zero(nu_));
  }

  Eigen::MatrixXd A, B;
  Eigen::VectorXd c;
  Eigen::MatrixXd C, D;
  Eigen::VectorXd z;
};

}  // namespace prime
