// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <memory>
#include <optional>

#include "nodes/action_second_order.hpp"
#include "nodes/node_input.hpp"
#include "nodes/state_parameters.hpp"

namespace prime {

/// Running node of the window: contact dynamics, and a list of sensor residuals whose kinds it does
/// not know.
///
///     forward:  u = (w, xi), v+ from Newton's method on the contact dynamics
///     inverse:  u = (v+, xi), w = g(v+)/dt is a residual
///     r = [w, xi | joint positions, joint rates, sensors at x | sensors at (x, v+)]
///
/// Every row of r is divided by its standard deviation.
///
/// Time: v_k is the mean velocity over the step that ends at node k. Joint rates and gyro are means
/// over the same step. Torque, specific force and the contact force lambda_k/dt are triangular
/// means centred at the node.
class ActionMeasurement : public ActionSecondOrder {
 public:
  struct Data : ActionSecondOrder::Data {
    template <template <typename Scalar> class Model>
    Data(Model<double>* const action, const MeasurementModel& model)
        : ActionSecondOrder::Data(action, model.dynamics->nv(),
                                  model.dynamics->nv() - model.dynamics->nj(), model.denseRows(),
                                  model.columns()),
          dynamics_data(model.dynamics->createData()),
          dynamics(*dynamics_data),
          point(*model.dynamics),
          expanded(point),
          D(Eigen::MatrixXd::Zero(nv(), G.cols())),
          rhs(D),
          q(Eigen::VectorXd::Zero(model.dynamics->nq())),
          q_next(q),
          q_step(Eigen::VectorXd::Zero(nv())),
          dq(q_step),
          force(q_step),
          expanded_next(q_step),
          needed(q_step),
          brought(Eigen::VectorXd::Zero(model.dynamics->nv() - model.dynamics->nj())),
          unmodelled(model.dynamics->nc(), {Eigen::Vector3d::Zero(), Eigen::Matrix3d::Zero()}) {
      for (const auto& entry : model.entries()) scratch.push_back(entry.residual->createScratch());
      touched.reserve(columns.size());
    }
    int nv() const { return static_cast<int>(G.rows()); }

    std::shared_ptr<const MeasurementModel> of;  ///< whose scratch and dynamics these are
    std::unique_ptr<ContactDynamics::Data> dynamics_data;
    ContactDynamics::Data& dynamics;
    ContactDynamics::Point point;     ///< of the step that is to be taken
    ContactDynamics::Point expanded;  ///< at which G was computed
    std::vector<std::unique_ptr<Residual::Scratch>> scratch;
    Eigen::MatrixXd D;          ///< d v+/d(q, v, p, u), made from G on demand
    Eigen::MatrixXd rhs;        ///< of the linear system for D
    std::vector<int> touched;   ///< columns of S that a row touches
    Eigen::VectorXd q, q_next;  ///< of Pinocchio's own type: an instance that its library holds
    Eigen::VectorXd q_step, dq, force;
    Eigen::VectorXd expanded_next;  ///< v+ at which G was computed
    bool has_G = false;             ///< it was
    const void* input = nullptr;    ///< whose solution is in `dynamics`: Newton starts there
    std::optional<ContactDynamics::Solved> solved;  ///< of `dynamics` at its own point
    bool has_D = false;                             ///< D belongs to G
    bool of_state = false;    ///< Rx, Ru, Lxx are those of a node without step, zero elsewhere
    Eigen::VectorXd needed;   ///< w with the unmodelled forces at the feet
    Eigen::VectorXd brought;  ///< variance that these bring to those on the base
    std::vector<UnmodelledForce> unmodelled;  ///< by contacts, at the last reweight
  };

  ActionMeasurement(std::shared_ptr<StateParameters> state,
                    std::shared_ptr<const MeasurementModel> model, bool inverse);

  std::shared_ptr<DataAbstract> createData() override {
    const auto data = std::make_shared<Data>(this, *model);
    data->of = model;
    return data;
  }
  /// Data of the same sizes, of a node with other sensors or contacts, are of other types inside.
  bool checkData(const std::shared_ptr<DataAbstract>& data) override {
    const auto own = std::dynamic_pointer_cast<Data>(data);
    return own && own->of == model && ActionSecondOrder::checkData(data);
  }
  void calc(const std::shared_ptr<DataAbstract>& data, const ConstRef& x,
            const ConstRef& u) override;
  void calc(const std::shared_ptr<DataAbstract>& data, const ConstRef& x) override;
  /// Let the next solve start from the contact law linearized as in the previous step `before`.
  void follow(Data& data, const Data& before) const {
    if (!before.solved) return;
    data.solved.reset();
    dynamics->follow(data.dynamics, before.dynamics);
  }
  void calcDiff(const std::shared_ptr<DataAbstract>& data, const ConstRef& x,
                const ConstRef& u) override;
  void calcDiff(const std::shared_ptr<DataAbstract>& data, const ConstRef& x) override;

  void linearize(const std::shared_ptr<DataAbstract>& data, const ConstRef& x,
                 double reach = 0.0) override;

  /// Iterative reweighting of the disturbances, for heavy (Student-t) tails: a foot that slips must
  /// not drag the base along, and an impact within a node must not bias the mass.
  ///
  /// The groups are each foot, the force on the base, its moment, and each joint. A group with d
  /// components and the disturbance e at u gets the weight
  ///
  ///     weight^2 = (dof + d) / (dof + |e/sigma|^2) / sigma^2
  ///
  /// from now on, at most 1/sigma^2; |e/sigma| is capped at 1000. Readings that can be outliers are
  /// treated in the same way.
  ///
  /// Before that, outliers among the torques of a leg are tested for a force at its foot
  /// (`UnmodelledForces`). Such a force then acts on the robot in place of w (of u, in the forward
  /// form): e of the base is the remainder, and its weight includes the covariance of the force; e
  /// of the leg's joints remains all of w.
  void reweight(const std::shared_ptr<DataAbstract>& data, Eigen::Ref<Eigen::VectorXd> u,
                const HeavyTails& tails) override;

  /// Contact forces lambda/dt (3 nc, world axes) [N] at the last calc.
  Eigen::VectorXd contactForce(const std::shared_ptr<DataAbstract>& data) const;
  /// Contact forces (3 nc, world axes) [N] and their Jacobian. The forces are lambda/dt at the last
  /// calc plus the unmodelled ones of the last reweight; the Jacobian (3 nc, nz) is that of
  /// lambda/dt in z = (xi, v+, q, v, p) at the last linearization.
  void contactForces(const std::shared_ptr<DataAbstract>& data, Eigen::VectorXd& f,
                     Eigen::MatrixXd& f_z) const;

  /// Add the covariances of the unmodelled forces to that of the contact forces (3 nc, 3 nc).
  static void addUnmodelled(const Data& data, Eigen::MatrixXd& covariance);

  /// Jacobian (nr, nz) of the whitened residual in z = (xi, v+, q, v, p) at the last linearization.
  Eigen::MatrixXd residualJacobian(const std::shared_ptr<DataAbstract>& data) const;

  std::shared_ptr<NodeInput> input;
  const std::shared_ptr<const MeasurementModel> model;
  const std::shared_ptr<ContactDynamics> dynamics;

 private:
  void setPoint(Data& d, const ConstRef& x, const ConstRef& u) const;
  void solveDynamics(Data& d, const ConstRef& x, const ConstRef& u) const;
  void directResidual(Data& d, const ConstRef& x) const;
  void sensorResidual(Data& d, const ConstRef& x, bool step) const;
  void sensorJacobian(Data& d, const ConstRef& x, bool step) const;
  NodePoint pointOf(Data& d, const ConstRef& x, bool step) const;
  void findUnmodelled(Data& d, double dof) const;
  void reweightForces(Data& d, double dof) const;
  void reweightReadings(Data& d, double dof) const;
  void sumUp(Data& d) const;
  std::string nameOfRow(std::size_t row) const;
  bool isWithin(const Data& d, double reach) const;
  void collectDerivatives(Data& d) const;
  void makeD(Data& d) const;
  void makeResidualJacobians(Data& d) const;
  void makeStateJacobian(Data& d) const;
  void assembleTouched(Data& d) const;
  void assembleSparse(Data& d, bool terminal) const;

  std::size_t row_encoder_, row_rate_, row_dense_, row_step_;
  std::size_t first_height_;  ///< of the ground, among the parameters of the dynamics
};

}  // namespace prime
