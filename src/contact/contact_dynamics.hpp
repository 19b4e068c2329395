// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <Eigen/LU>
#include <cmath>
#include <memory>
#include <pinocchio/multibody/data.hpp>
#include <pinocchio/multibody/model.hpp>
#include <string>
#include <vector>

#include "contact/contact_point.hpp"
#include "contact/law.hpp"
#include "inertia/inertia_manifold.hpp"
#include "joints/joint_model.hpp"
#include "linalg/workspace.hpp"

namespace prime {

/// Options of a contact step.
struct DynamicsOptions {
  double dt = 0.01;  ///< step [s]
  ContactLaw law;
  /// coordinates theta of the estimated inertias
  InertiaManifold manifold = InertiaManifold::LogCholesky;
  bool rolling = true;                ///< the contact point moves under the sphere
  bool midpoint = true;               ///< contact velocity in the middle of the step
  bool slopes = false;                ///< the ground under a foot may slope (smoothed law only)
  bool soft = false;                  ///< the ground may be soft (smoothed law only)
  double softness_width = 0.2;        ///< smoothing of the softness at its parameter's zero
  double penetration_factor = 0.682;  ///< share of a penetration that one step corrects (Baumgarte)
  double penetration_width = 3e-4;    ///< smoothing of the factor at zero penetration [m]
  double friction_velocity = 0.05;    ///< smoothing of the dry joint friction [rad/s]
  double tolerance = 1e-10;           ///< of the Newton residual, in velocity units [m/s, rad/s]
  int max_iterations = 100;
};

/// A named group of consecutive parameters.
struct ParameterBlock {
  std::string name;
  std::size_t size;
};

/// Derivatives of the contact impulses (3 nc, world axes) [N s], or of rows made of them.
struct ImpulseDerivatives {
  Eigen::MatrixXd next, q, v, xi;  ///< v+, q, v, contact disturbance
  Eigen::MatrixXd parameters;      ///< of the dynamics
};

/// Rows h <= 0 of a wrench cone [N s].
struct ConeRows {
  Eigen::VectorXd h;
  ImpulseDerivatives by;
};

/// Time step of a robot with contacts, `(q, v, tau, w, xi; p) -> v+`, and its derivatives.
///
///     g(v+) = M (v+ - v) + dt (nle(q, v) + lost((v + v+)/2, (v+ - v)/dt) - E (S^T tau + w))
///             - sum_i J_i^T lambda_i = 0,   q+ = q (+) dt v+
///
/// E is 1 at the base, and torque per reading at the joints; `lost` are the losses of the joints
/// (JointModel). J_i is the Jacobian [world axes] of the material point under the contact sphere,
/// lambda_i its impulse on the robot [N s]. Subclasses define how impulses follow from v+:
/// `SmoothedDynamics` by a contact law, `RigidDynamics` by constraints and contact flags.
/// Derivatives follow from the implicit function theorem with `A = dg/dv+`.
///
/// Parameters p, in blocks:
///
///     theta      inertia: 10 per estimated link, coordinates of options.manifold
///     height     of the ground: one per foot [m]
///     friction   logarithm of the friction coefficient
///     slope      of the ground along the world's x and y axis: two per foot (options.slopes)
///     softness   of the ground (ContactLaw; options.soft)
///     ...        of the joints: those that are estimated (JointModel)
///
/// A foot with one contact has a 3-dof disturbance xi [m/s]. A foot with several contacts has a
/// 6-dof one: a velocity at the middle of its contacts (rigid contacts: at its frame), and an
/// angular velocity; world axes.
class ContactDynamics {
 public:
  using ConstRef = Eigen::Ref<const Eigen::VectorXd>;

  /// Arguments of a step.
  struct Point {
    explicit Point(const ContactDynamics& dynamics);
    Eigen::VectorXd q, v;
    Eigen::VectorXd force;           ///< S^T tau + w [N, Nm]
    Eigen::VectorXd reading;         ///< tau alone (nj), as the motors read it [Nm]
    Eigen::VectorXd reading_change;  ///< of it per second (nj) [Nm/s]
    Eigen::VectorXd xi;              ///< contact disturbance
    Eigen::VectorXd parameters;      ///< p
    Eigen::VectorXd anchor;          ///< (2 nf) place at which each foot's ground slopes [m]
    ContactLaw law;                  ///< of this step: that of the options, or a softer one
    std::vector<Stance> stance;      ///< contact flags, one per foot (rigid contacts)
    bool operator==(const Point& other) const;
  };

  /// Value of a step: v+, contact impulses and where they act.
  struct Result {
    Eigen::VectorXd vplus;
    Eigen::VectorXd g;                   ///< residual at v+
    Eigen::VectorXd impulse;             ///< (3 nc) [N s]
    Eigen::VectorXd velocity;            ///< (3 nc) of the material points, without xi [m/s]
    std::vector<Eigen::Vector3d> point;  ///< contact points, world [m]
    std::vector<double> gap;             ///< height of the spheres above the ground [m]
    Eigen::MatrixXd J;                   ///< (3 nc, nv) contact Jacobians
    int iterations;
  };

  /// Partial derivatives of g.
  struct Derivatives {
    Eigen::MatrixXd next;  ///< A = dg/dv+
    Eigen::MatrixXd q, v, xi, parameters;
  };

  /// Temporaries of `prepare` and `derivatives`. `model` is a copy, because its inertias change
  /// with theta.
  struct Workspace {
    explicit Workspace(const pinocchio::Model& m) : model(m), pin(m), pin_bias(m), pin_mid(m) {}
    pinocchio::Model model;
    pinocchio::Data pin, pin_bias, pin_mid;
  };

  /// Data of a node: its last evaluation, and scratch. Nothing is allocated after construction.
  struct Data {
    explicit Data(const ContactDynamics& dynamics);
    virtual ~Data() = default;

    Point at;
    Result out;
    Derivatives by;
    ImpulseDerivatives impulse_by;
    ConeRows cone;  ///< (ncone)

    // between prepare, solve and derivatives
    Workspace* work = nullptr;  ///< only within `prepare` and `derivatives`
    bool inertias_set = false;
    std::vector<pinocchio::Inertia> inertias;  ///< per link, of theta
    std::vector<Eigen::MatrixXd> dtheta;       ///< per link: d(dynamic parameters)/d theta (10, 10)
    Eigen::MatrixXd M;                         ///< mass matrix (symmetric, with armature)
    Eigen::VectorXd bias;
    JointModel::Data joints;
    Eigen::VectorXd rate;               ///< of the joints, in the middle of the step [rad/s]
    Eigen::VectorXd acceleration;       ///< of the joints, over the step [rad/s2]
    Eigen::VectorXd scale, root_scale;  ///< 1/diag(M), its root: of g in velocity units
    std::vector<Eigen::Vector3d> center, lever;  ///< of the spheres: world, in their foot [m]
    Eigen::VectorXd a, step, v_start, v_before, v_try;
    Eigen::PartialPivLU<Eigen::MatrixXd> lu;
    Eigen::MatrixXd body_regressor, regressor;
  };

  /// Token for data that have been prepared: kinematics, mass matrix and bias are those of `at`.
  class Prepared {
   public:
    Data& data() const { return *data_; }

   private:
    friend class ContactDynamics;
    explicit Prepared(Data& data) : data_(&data) {}
    Data* data_;
  };

  /// Token for data that hold impulses and residual at some v+.
  class Solved {
   public:
    Data& data() const { return *data_; }

   private:
    friend class ContactDynamics;
    explicit Solved(Data& data) : data_(&data) {}
    Data* data_;
  };

  ContactDynamics(const pinocchio::Model& model, const std::vector<ContactPoint>& contacts,
                  const std::vector<std::size_t>& links, const JointModel& joints,
                  bool floating_base, const DynamicsOptions& options);
  virtual ~ContactDynamics() = default;

  virtual std::unique_ptr<Data> createData() const = 0;

  /// Compute kinematics, mass matrix and bias at a point. Throws SolveError for a point that is not
  /// finite, or whose theta is not a physical body.
  Prepared prepare(Data& data, const Point& point) const;
  /// Solve g(v+) = 0, starting from `guess`. Throws SolveError, which names what was infeasible.
  Solved solve(const Prepared& prepared, const ConstRef& guess) const;
  /// Let the next `solve` of `data` start from the contact law linearized about the solution of the
  /// previous step, `before`: it predicts the load of standing feet better than a guess of v+ does.
  virtual void follow(Data&, const Data&) const {}
  /// Evaluate g and the contact impulses at v+.
  Solved residual(const Prepared& prepared, const ConstRef& vplus) const;
  /// Compute the partial derivatives of g at v+.
  void derivatives(const Solved& solved) const;
  /// Derivatives of the contact impulses, after `derivatives`; kept in `impulse_by`.
  virtual const ImpulseDerivatives& impulseDerivatives(Data& data) const = 0;

  /// Number of rows of the wrench cone: 0 if the contact law keeps the impulses inside the cone.
  virtual std::size_t ncone() const { return 0; }
  /// Evaluate the rows of the wrench cone; `derivatives` updates their derivatives.
  virtual void cone(const Solved&) const {}

  std::size_t nq() const { return model_.nq; }
  std::size_t nv() const { return model_.nv; }
  std::size_t nj() const { return joints.nj(); }
  std::size_t nc() const { return contacts.size(); }
  std::size_t nfeet() const { return foot_xi.size(); }
  std::size_t nxi() const { return nxi_; }
  std::size_t ntheta() const { return 10 * links.size(); }
  std::size_t nparameters() const { return nparameters_; }
  const pinocchio::Model& model() const { return model_; }
  /// Parameter blocks in order; absent ones (no link, no foot) are left out.
  const std::vector<ParameterBlock>& parameterBlocks() const { return blocks_; }
  /// Raise the ground under each foot of a point by `heights` (nf) [m], and add `slopes` (2 nf).
  template <class Heights, class Slopes>
  void moveGround(Point& point, const Eigen::ArrayBase<Heights>& heights,
                  const Eigen::ArrayBase<Slopes>& slopes) const {
    point.parameters.segment(height_, nfeet()).array() += heights;
    if (options.slopes && nc() > 0)
      point.parameters.segment(slope(0), 2 * nfeet()).array() += slopes;
  }
  double friction(const Data& data) const { return std::exp(data.at.parameters[friction_]); }
  /// Softness of the ground as a positive function of its parameter p: 1/2 (p + sqrt(p^2 +
  /// width^2)).
  double softness(const double p) const {
    return 0.5 * (p + std::hypot(p, options.softness_width));
  }
  double softness(const Data& data) const {
    return options.soft ? softness(data.at.parameters[softness_]) : 0.0;
  }
  /// Derivative of the softness with respect to its parameter.
  double softnessSlope(const Data& data) const {
    return softness(data) / std::hypot(data.at.parameters[softness_], options.softness_width);
  }

  const std::vector<ContactPoint> contacts;
  const std::vector<std::size_t> links;  ///< joint ids whose body's inertia is a parameter
  const JointModel joints;
  const bool floating_base;
  const DynamicsOptions options;
  std::vector<std::size_t> foot_xi;       ///< first index of each foot's disturbance
  std::vector<std::size_t> foot_xi_size;  ///< 3 or 6
  /// (2 nf) place at which `height` and `slope` of each foot's ground are defined [m]; used by all
  /// solves from now on.
  Eigen::VectorXd anchor;
  /// per contact: velocity indices that move it, root first
  std::vector<std::vector<std::size_t>> support;
  std::vector<ContactBody> bodies;

 protected:
  /// Contact points, gaps and Jacobians at the point of the data.
  virtual void contactKinematics(Data& data) const = 0;
  /// Impulses at v+ of the data.
  virtual void impulses(Data& data) const = 0;
  /// A at v+ of the data.
  virtual void matrix(Data& data) const = 0;
  virtual void solveFrom(Data& data, const ConstRef& guess) const = 0;
  /// Adds what contacts contribute to the derivatives of g.
  virtual void contactDerivatives(Data& data) const = 0;

  void balance(Data& data) const;
  void addLossSlope(Data& data) const;
  double height(const Data& data, const std::size_t foot) const {
    return data.at.parameters[height_ + foot];
  }

  /// First index of the slopes of a foot's ground.
  std::size_t slope(const std::size_t foot) const { return friction_ + 1 + 2 * foot; }

  std::vector<std::size_t> joint_of_index_;  ///< joint of a velocity index
  /// first index of each parameter block
  std::size_t theta_ = 0, height_, friction_, softness_, joint_;

 private:
  /// A work space lent to `data`, with the inertias of its theta.
  class WorkspaceLease {
   public:
    WorkspaceLease(const ContactDynamics& dynamics, Data& data);
    ~WorkspaceLease() { data_.work = nullptr; }

   private:
    WorkspacePool<Workspace>::Lease lease_;
    Data& data_;
  };

  void setInertias(Data& data) const;
  void addInertiaDerivatives(Data& data, std::size_t link) const;

  pinocchio::Model model_;
  std::vector<ParameterBlock> blocks_;
  std::vector<std::vector<std::size_t>> link_support_;  ///< per estimated link
  std::size_t nxi_, nparameters_;
  mutable WorkspacePool<Workspace> pool_;
};

}  // namespace prime
