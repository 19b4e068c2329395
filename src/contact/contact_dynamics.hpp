// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <pinocchio/multibody/data.hpp>
#include <pinocchio/multibody/model.hpp>

#include <Eigen/LU>
#include <initializer_list>
#include <string>
#include <vector>

#include "contact/law.hpp"
#include "inertia/inertia_manifold.hpp"
#include "linalg/branch_elimination.hpp"
#include "linalg/workspace.hpp"

namespace prime {

/// A contact sphere, fixed in the frame of a joint.
struct ContactPoint {
  std::string name;
  std::size_t joint;         ///< joint that carries it
  Eigen::Vector3d position;  ///< centre in the joint's frame [m]
  Eigen::Vector3d lever;  ///< centre relative to the foot's frame origin, in the joint's frame [m]
  double radius;          ///< [m]
  std::size_t foot;  ///< index of the foot: contacts of a foot share ground height and disturbance
};

/// Contacts of one foot on one joint. Their forces add to one wrench: products with Jacobians are
/// done once for all of them.
struct ContactBody {
  std::size_t joint, foot;
  std::vector<std::size_t> contacts;
};

/// Velocity of the world point p under the spatial velocity `twist` (linear at the world's origin,
/// angular).
template <class Twist>
Eigen::Vector3d pointVelocity(const Twist& twist, const Eigen::Vector3d& p) {
  return twist.template head<3>() + Eigen::Vector3d(twist.template tail<3>()).cross(p);
}
inline Eigen::Vector3d pointVelocity(const pinocchio::Motion& twist, const Eigen::Vector3d& p) {
  return twist.linear() + twist.angular().cross(p);
}

/// What contact flags say of a foot in a step. The smoothed law needs none.
enum class Stance { Open, Closed, Landing };

/// What the dynamics are, apart from the robot's model.
struct DynamicsOptions {
  double dt = 0.01;  ///< step [s]
  ContactLaw law;
  InertiaManifold manifold =
      InertiaManifold::LogCholesky;  ///< coordinates theta of the estimated inertias
  bool rolling = true;               ///< the contact point moves under the sphere
  bool midpoint = true;              ///< contact velocity in the middle of the step
  double penetration_factor = 0.7;   ///< share of a penetration that one step corrects (Baumgarte)
  double penetration_width = 3e-4;   ///< where the factor sets in [m]
  double friction_velocity = 0.05;   ///< of the smoothed dry joint friction [rad/s]
  double tolerance = 1e-10;          ///< of the Newton residual, in velocity units [m/s, rad/s]
  int max_iterations = 100;
};

/// Derivatives of the contact impulses (3 nc, world axes) [N s] with respect to what they depend
/// on.
struct ImpulseDerivatives {
  Eigen::MatrixXd next, q, v, xi,
      height;  ///< v+, q, v, contact disturbance, ground height of each foot
  Eigen::VectorXd friction;
};

/// Rows h <= 0 of a wrench cone [N s], with the derivatives of ImpulseDerivatives.
struct ConeRows {
  Eigen::VectorXd h;
  ImpulseDerivatives by;
};

/// Contact-implicit time step `(q, v, tau, w, xi; theta, h, mu) -> v+` and its derivatives.
///
///     g(v+) = M (v+ - v) + dt (nle(q, v) + loss((v + v+)/2) - S^T tau - w) - sum_i J_i^T lambda_i
///     = 0,   q+ = q (+) dt v+ lambda_i = law(J_i^m v+ + B_i xi + e_z psi(phi_i)/dt),   phi_i =
///     height of the sphere above the ground of its foot
///
/// J_i: Jacobian [world axes] of the material point under the sphere (rolling); J_i^m: the same at
/// q (+) dt/2 v. v+ is the mean velocity of the step, so the displacement of a foot is dt J_i^m v+
/// to second order; with J_i a standing foot would slide by dt/2 dJ/dt v (5 mm/s at 1 m/s and 1
/// rad/s). psi(phi): the gap, of a penetration (smoothly, over `penetration_width`) the share
/// `penetration_factor`. A foot with one contact has a 3-dof disturbance xi [m/s], a foot with more
/// a 6-dof one (velocity at the foot frame, angular velocity, world axes); B_i xi is its velocity
/// at the contact. The Newton iteration is unsymmetric (the law is no gradient); derivatives follow
/// from the implicit function theorem with the same matrix.
class ContactDynamics {
 public:
  /// What `prepare` and `derivatives` compute with and do not keep. `model` is a copy, because
  /// inertias change with theta.
  struct Workspace {
    explicit Workspace(const pinocchio::Model& m) : model(m), pin(m), pin_bias(m), pin_mid(m) {}
    pinocchio::Model model;
    pinocchio::Data pin, pin_bias, pin_mid;
  };

  /// What a node keeps of its last evaluation: nothing is allocated after its construction.
  struct Data {
    explicit Data(const ContactDynamics& dynamics);
    virtual ~Data() = default;

    Workspace* work = nullptr;               ///< only within `prepare` and `derivatives`
    Eigen::VectorXd q, v, vplus, force, xi;  ///< point of the last evaluation; force = S^T tau + w
    Eigen::VectorXd theta, height;           ///< parameters of the last evaluation
    double friction;                         ///< mu
    Eigen::MatrixXd M, A;                    ///< mass matrix (symmetric, with armature), d g / d v+
    Eigen::VectorXd bias, g, step, column, v_start, v_before, v_try, loss, dloss, scale, root_scale;
    Eigen::VectorXd q_mid, half_step;  ///< where the contact velocity is taken
    Eigen::MatrixXd J, Jmid;           ///< (3 nc, nv) contact Jacobians
    Eigen::MatrixXd mid_q,
        mid_v;  ///< difference of q (+) half_step by q, by half_step: the identity but for the base
    Eigen::Matrix<double, 6, Eigen::Dynamic> columns_mid;  ///< joint Jacobian there, world
    std::vector<Eigen::Vector3d> center, point, center_mid, point_mid;  ///< world [m]
    /// Per body: (velocity at its first contact's point, angular velocity) by the velocities along
    /// its support, and at mid step.
    std::vector<Eigen::Matrix<double, Eigen::Dynamic, 6>> twist, twist_mid;
    std::vector<Eigen::Vector3d> lever;  ///< of the contacts in their foot, world axes [m]
    std::vector<double> phi, psi, dpsi;  ///< gap [m], effective gap [m], its slope
    std::vector<ContactLaw::Result> law;
    ConeRows cone;       ///< (ncone) rows of the wrench cone
    ContactLaw law_now;  ///< the law in force: not yet corrected while a difficult solution is
                         ///< being approached
    Eigen::VectorXd impulse,
        velocity;  ///< (3 nc) [N s], [m/s] (material velocity of the points, without xi)
    std::vector<pinocchio::Inertia> inertias;  ///< per link, of theta
    std::vector<Eigen::MatrixXd> dtheta;       ///< per link: d(dynamic parameters)/d theta (10, 10)
    int iterations;
    // derivatives of g, then of v+ (by columns q, v, force, xi, parameters)
    Eigen::MatrixXd g_q, g_v, g_xi, g_theta, g_height;
    Eigen::VectorXd g_friction;
    Eigen::MatrixXd dvel_mid, dvel_q, dvel_v;  ///< (3 nc, nv) d(Jmid v+)/d(q_mid, q, v)
    Eigen::MatrixXd dphi_q;                    ///< (nc, nv)
    Eigen::MatrixXd factors;                   ///< of A, without pivoting
    Eigen::PartialPivLU<Eigen::MatrixXd> lu;
    std::vector<pinocchio::Motion> path;  ///< velocity along the support of a contact
    Eigen::Matrix<double, 6, Eigen::Dynamic> by_q, by_v, moved,
        turned;  ///< wrenches of a body by the velocities along its support
    Eigen::Matrix<double, 6, 6> by_xi;
    Eigen::MatrixXd body_regressor, regressor;
    Eigen::VectorXd a;
    // path of solutions from the convex law to the corrected one: (v+, share of the correction)
    Eigen::VectorXd path_now, path_try, path_tangent, path_metric, path_rhs, path_step;
    Eigen::MatrixXd path_matrix;
    Eigen::PartialPivLU<Eigen::MatrixXd> path_lu;
    bool parameters_set;
  };

  ContactDynamics(const pinocchio::Model& model, const std::vector<ContactPoint>& contacts,
                  const std::vector<std::size_t>& links, const Eigen::VectorXd& joint_damping,
                  const Eigen::VectorXd& joint_friction, bool floating_base,
                  const DynamicsOptions& options);

  virtual ~ContactDynamics() = default;
  virtual std::unique_ptr<Data> createData() const { return std::make_unique<Data>(*this); }

  /// Set theta (10 per link, coordinates of options.manifold), ground heights (per foot) and
  /// friction coefficient. False when nothing has changed.
  bool setParameters(Data& data, const Eigen::Ref<const Eigen::VectorXd>& theta,
                     const Eigen::Ref<const Eigen::VectorXd>& height, double friction) const;

  /// Contact flags, one per foot. False when nothing has changed.
  virtual bool setStance(Data&, const std::vector<Stance>&) const { return false; }

  /// Kinematics, mass matrix and bias at (q, v). `force` = S^T tau + w [N, Nm].
  void prepare(Data& data, const Eigen::Ref<const Eigen::VectorXd>& q,
               const Eigen::Ref<const Eigen::VectorXd>& v,
               const Eigen::Ref<const Eigen::VectorXd>& force,
               const Eigen::Ref<const Eigen::VectorXd>& xi) const;

  /// g, contact impulses and slopes of the law at v+ (after prepare).
  void residual(Data& data, const Eigen::Ref<const Eigen::VectorXd>& vplus) const;

  /// Newton solution v+ (after prepare), started from `guess`, from v, then along the path from the
  /// convex law (contact_path.cpp). Throws std::runtime_error that says what was infeasible.
  virtual void solve(Data& data, const Eigen::Ref<const Eigen::VectorXd>& guess) const;

  /// Partial derivatives g_q, g_v, g_xi, g_theta, g_height, g_friction and A at the point of the
  /// last solve or residual.
  virtual void derivatives(Data& data) const;

  /// Derivatives of the contact impulses at the point of the last derivatives.
  virtual ImpulseDerivatives impulseDerivatives(const Data& data) const;

  /// Number of rows of the wrench cone: none where the contact law keeps the impulses inside.
  virtual std::size_t ncone() const { return 0; }
  /// Rows of the wrench cone at the impulses of the last solve or residual; `derivatives` renews
  /// theirs.
  virtual void cone(Data&) const {}

  std::size_t nq() const { return model_.nq; }
  std::size_t nv() const { return model_.nv; }
  std::size_t nj() const { return joint_damping.size(); }
  std::size_t nc() const { return contacts.size(); }
  std::size_t nfeet() const { return foot_xi.size(); }
  std::size_t nxi() const { return nxi_; }
  std::size_t ntheta() const { return 10 * links.size(); }
  const pinocchio::Model& model() const { return model_; }

  const std::vector<ContactPoint> contacts;
  const std::vector<std::size_t> links;  ///< joint ids whose body's inertia is a parameter
  const Eigen::VectorXd joint_damping, joint_friction;
  const bool floating_base;
  DynamicsOptions options;
  std::vector<std::size_t> foot_xi;       ///< first index of each foot's disturbance
  std::vector<std::size_t> foot_xi_size;  ///< 3 or 6
  std::vector<std::vector<std::size_t>>
      support;  ///< per contact: velocity indices that move it, root first
  std::vector<ContactBody> bodies;

 protected:
  virtual void contactKinematics(Data& data) const;
  virtual void evaluateLaw(Data& data, const Eigen::VectorXd& vplus) const;
  virtual void matrix(Data& data) const;
  virtual void contactDerivatives(Data& data) const;
  void balance(Data& data) const;

 private:
  /// A work space lent to `data`, with the inertias of its theta.
  class Lent {
   public:
    Lent(const ContactDynamics& dynamics, Data& data);
    ~Lent() { data_.work = nullptr; }

   private:
    WorkspacePool<Workspace>::Loan loan_;
    Data& data_;
  };

  bool newton(Data& data, const Eigen::Ref<const Eigen::VectorXd>& guess, double shortest) const;
  bool solveConvex(Data& data, std::initializer_list<double> shares) const;
  bool startConvex(Data& data) const;
  bool followCorrection(Data& data) const;
  bool correctPath(Data& data) const;
  void pathTangent(Data& data) const;
  template <int Rows>
  void addContactSlope(Data& data, std::size_t body) const;
  void newtonStep(Data& data) const;
  Eigen::Vector3d disturbance(const Data& data, std::size_t contact) const;
  void addForceGeometry(Data& data, std::size_t body) const;
  void velocityDerivatives(Data& data, std::size_t contact) const;
  void addBodyDerivatives(Data& data, std::size_t body) const;
  void addContactWrenches(Data& data, std::size_t contact, const Eigen::Vector3d& arm,
                          Eigen::Matrix<double, 6, 1>& by_height,
                          Eigen::Matrix<double, 6, 1>& by_friction) const;
  void addInertiaDerivatives(Data& data, std::size_t link) const;

  pinocchio::Model model_;

 protected:
  std::vector<std::size_t> joint_of_index_;  ///< joint of a velocity index

 private:
  BranchElimination branches_;
  std::vector<std::vector<std::size_t>>
      link_support_;  ///< per estimated link: velocity indices that move it
  std::size_t nxi_;
  mutable WorkspacePool<Workspace> pool_;
};

}  // namespace prime
