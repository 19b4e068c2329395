// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <memory>

#include "contact/contact_dynamics.hpp"
#include "nodes/action_second_order.hpp"
#include "nodes/state_parameters.hpp"
#include "sensing/imu_mount.hpp"

namespace prime {

/// Where the parameters of a window lie in `p`; -1: not a parameter.
struct ParameterLayout {
  int theta = -1;               ///< inertia, 10 per link: coordinates of the dynamics' manifold
  int accelerometer_bias = -1;  ///< [m/s^2]
  int gyro_bias = -1;           ///< [rad/s]
  int height = -1;              ///< ground height, one per foot [m]
  int friction = -1;            ///< log of the friction coefficient
  int mocap = -1;               ///< rotation from base to tracked body, so(3) [rad]
  int size = 0;

  static ParameterLayout make(const ContactDynamics& dynamics, bool imu, bool mocap);
};

/// A pose of the tracked body, taken `age` seconds before the node (0 <= age <= dt).
struct PoseInput {
  double age = 0.0;
  Eigen::Vector3d position = Eigen::Vector3d::Zero();
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();
  double weight_position = 0.0, weight_rotation = 0.0;  ///< 1/std; 0: absent
};

/// What one node is given. Weights are reciprocal standard deviations; 0 means that the reading is
/// absent.
struct NodeInput {
  static constexpr std::size_t kPoses = 2;

  explicit NodeInput(const ContactDynamics& dynamics);
  Eigen::VectorXd position, velocity, torque;  ///< (nq) configuration [base part unused], (nj) mean
                                               ///< over the past step, (nj) centred mean
  Eigen::VectorXd base_wrench;  ///< (nb) force and moment of rotors on a floating base, its axes,
                                ///< centred mean [N, Nm]
  Eigen::Vector3d gyro, accelerometer;  ///< IMU frame; mean over the past step, centred mean
  Eigen::Matrix3d orientation;          ///< world <- IMU, from its own filter (yaw not used)
  Eigen::VectorXd weight_position, weight_velocity;
  Eigen::Vector3d weight_accelerometer = Eigen::Vector3d::Zero();
  Eigen::Vector3d weight_gyro = Eigen::Vector3d::Zero();
  double weight_tilt = 0.0;
  Eigen::VectorXd weight_force, weight_xi;    ///< (nv), (nxi) process disturbances
  Eigen::VectorXd nominal_force, nominal_xi;  ///< the same before outliers are looked at
  double ground_depth =
      0.0;  ///< by which the ground is lowered [m]: legs that nobody sees touch nothing
  std::vector<Stance> stance;  ///< contact flags of the step, one per foot (rigid contacts)
  double weight_cone = 0.0;    ///< 1/std of a contact force outside of its wrench cone [1/N]
  PoseInput pose[kPoses];
};

/// Running node of the window: contact dynamics and the residuals of the sensors.
///
///     forward:  u = (w, xi), v+ from the contact Newton;   inverse:  u = (v+, xi), w = g(v+)/dt is
///     a residual r = [w, xi | encoder, rate, gyro, tilt, poses at x | wrench cone, accelerometer
///     at (x, v+)], each divided by its standard deviation
///
/// The wrench cone is a penalty on impulses outside of it, where the dynamics have such rows (rigid
/// contacts).
///
/// Time meaning: v_k is the mean velocity over the step that ends at node k; rates and gyro are
/// means over it, torque and specific force are triangular means centred at the node, as is the
/// contact force lambda_k/dt.
class ActionMeasurement : public ActionSecondOrder {
 public:
  struct Data : ActionSecondOrder::Data {
    template <template <typename Scalar> class Model>
    Data(Model<double>* const model, const ContactDynamics& dynamics, const ImuMount& mount,
         const std::size_t dense_rows, const std::vector<int>& columns)
        : ActionSecondOrder::Data(model, dynamics.nv(), dynamics.nv() - dynamics.nj(), dense_rows,
                                  columns),
          dynamics_data(dynamics.createData()),
          dynamics(*dynamics_data),
          imu(mount),
          D(Eigen::MatrixXd::Zero(dynamics.nv(), G.cols())),
          rhs(D),
          q_step(Eigen::VectorXd::Zero(dynamics.nv())),
          dq(q_step),
          force(q_step),
          height(Eigen::VectorXd::Zero(dynamics.nfeet())),
          theta(Eigen::VectorXd::Zero(dynamics.ntheta())),
          mid(q_step),
          acceleration(q_step) {}
    std::unique_ptr<ContactDynamics::Data> dynamics_data;
    ContactDynamics::Data& dynamics;
    ImuMount::Data imu;
    Eigen::MatrixXd D;    ///< d v+/d(q, v, p, u), made from G on demand
    Eigen::MatrixXd rhs;  ///< of the linear system for D
    Eigen::VectorXd q_step, dq, force, height, theta;
    Eigen::VectorXd mid, acceleration;  ///< of the step that follows, for the accelerometer
    Eigen::Vector3d gravity_base = Eigen::Vector3d::Zero();
    const void* input =
        nullptr;          ///< whose solution is in `dynamics`: the Newton iteration starts there
    bool solved = false;  ///< `dynamics` holds the solution of its own inputs
    bool has_D = false;   ///< D belongs to G
  };

  ActionMeasurement(std::shared_ptr<StateParameters> state,
                    std::shared_ptr<ContactDynamics> dynamics, const ParameterLayout& layout,
                    const ImuMount& mount, const Eigen::VectorXd& nominal, bool inverse);

  std::shared_ptr<DataAbstract> createData() override {
    return std::make_shared<Data>(this, *dynamics, mount, dense_rows(), columns_);
  }
  void calc(const std::shared_ptr<DataAbstract>& data, const ConstRef& x,
            const ConstRef& u) override;
  void calc(const std::shared_ptr<DataAbstract>& data, const ConstRef& x) override;
  void calcDiff(const std::shared_ptr<DataAbstract>& data, const ConstRef& x,
                const ConstRef& u) override;
  void calcDiff(const std::shared_ptr<DataAbstract>& data, const ConstRef& x) override;

  void linearize(const std::shared_ptr<DataAbstract>& data, const ConstRef& x) override;

  /// Heavy tails of the disturbances by iterated reweighting (Student-t): a foot that slips must
  /// not drag the base along, an impact within a node must not pull the mass. For each foot, the
  /// base's force, its moment and each joint, of d components with the disturbance e at u,
  /// `weight^2 = (dof + d) / (dof + |e/sigma|^2) / sigma^2 <= 1/sigma^2` is the weight of the next
  /// iteration, and of the residuals from now on.
  void reweight(const std::shared_ptr<DataAbstract>& data, const ConstRef& u,
                const HeavyTails& tails) override;

  /// Contact forces lambda/dt (3 nc, world axes) [N] at the last calc, with Jacobians in x and u at
  /// the last linearization.
  void contactForces(const std::shared_ptr<DataAbstract>& data, Eigen::VectorXd& f,
                     Eigen::MatrixXd& f_x, Eigen::MatrixXd& f_u) const;

  std::shared_ptr<NodeInput> input;
  const std::shared_ptr<ContactDynamics> dynamics;
  const ParameterLayout layout;
  const ImuMount mount;
  const Eigen::VectorXd
      nominal;  ///< theta, heights, log friction used where they are no parameters

 private:
  int takeColumns(int start, int size);
  void takeSensorColumns();
  void takeConeColumns();
  bool setParameters(Data& d, const ConstRef& x) const;
  void sumUp(Data& d) const;
  void coneResidual(Data& d) const;
  void coneJacobian(Data& d) const;
  void solveDynamics(Data& d, const ConstRef& x, const ConstRef& u) const;
  void stateResidual(Data& d, const ConstRef& x) const;
  void sensorJacobian(Data& d, const ConstRef& x) const;
  void gyroJacobian(Data& d, const ConstRef& x) const;
  void tiltJacobian(Data& d, const ConstRef& x) const;
  void poseJacobian(Data& d, const ConstRef& x) const;
  void placeAccelerometer(Data& d, const ConstRef& x) const;
  void accelerometer(Data& d, const ConstRef& x) const;
  void accelerometerJacobian(Data& d, const ConstRef& x) const;
  void collectDerivatives(Data& d) const;
  void makeD(Data& d) const;
  void makeResidualJacobians(Data& d) const;
  void assembleSparse(Data& d, bool terminal) const;
  std::size_t dense_rows() const { return nr_ - row_gyro_; }
  static Eigen::Matrix3d baseRotation(const ConstRef& x) {
    return Eigen::Quaterniond(x[6], x[3], x[4], x[5]).toRotationMatrix();
  }

  static constexpr int kPoseRows = 6 * NodeInput::kPoses;
  static constexpr int kNext = 0, kPosition = 6,
                       kVelocity = 12;  // columns of the base's v+, q, v in the dense rows

  std::size_t row_encoder_, row_rate_, row_gyro_, row_tilt_, row_pose_, row_cone_,
      row_accelerometer_;
  std::vector<int> columns_;  ///< variables of z that the dense rows touch
  int column_gyro_, column_accelerometer_,
      column_mocap_;  ///< where the parameters lie among them; -1: nowhere
  int column_chain_;  ///< and v+, q, v of the joints between base and IMU
  std::vector<int>
      column_cone_;  ///< and what the wrench cone depends on: (xi, v+, q, v, heights, friction)
};

}  // namespace prime
