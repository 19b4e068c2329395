// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <Eigen/Cholesky>

#include "contact/contact_dynamics.hpp"

namespace prime {

/// Options of rigid contacts.
struct RigidOptions {
  double damping = 1e-5;        ///< mu_c of a constraint [(m/s)/(N s), (rad/s)/(N m s)]: redundant
                                ///< contacts stay solvable
  double velocity_share = 1.0;  ///< share of a contact velocity that one step removes (Baumgarte,
                                ///< times dt); 0: acceleration level only
  double height_share = 0.1;    ///< share of the height above (or below) the ground that one step
                                ///< removes (Baumgarte, times dt)
  double restitution = 0.0;     ///< e of a touch-down
};

/// Rigid hybrid contacts (Martinez, Griffin, Mastalli; contact and impulse dynamics as in
/// Crocoddyl). A foot whose contact flag is closed does not accelerate; a foot that lands loses its
/// velocity within the step. Multiplied by dt, with impulses lambda [N s, N m s]:
///
///     [M~ J^T; J -mu_c] [v+; -lambda] = [M v + dt (S^T tau + w - nle - loss); -xi - b]
///     closed:   J v+ + b = J (v+ - v) + dt dJ/dt v + s (J v - dt/2 dJ/dt v) + e_z s_h phi/dt
///     landing:  J v+ + b = J v+ + e J v
///
/// s and s_h are the velocity and height shares of RigidOptions. The last line is the impulse map;
/// the forces of the step act in it, too. v is the mean velocity over the past step, so that its
/// contact velocity is J v - dt/2 dJ/dt v (`midpoint`).
///
/// A foot with one contact is a point (3 rows, world axes); one with three or more is a surface (6
/// rows: twist of the foot's frame, world axes, as spatial acceleration), whose wrench is
/// distributed over its contacts. The disturbance xi is a slack in contact velocity, as in the
/// smoothed law: contact flags are late, and real contacts give and slip. Because mu_c > 0,
/// lambda = -(J v+ + b + xi)/mu_c makes g(v+) of ContactDynamics explicit.
class RigidDynamics : public ContactDynamics {
 public:
  struct Data : ContactDynamics::Data {
    explicit Data(const RigidDynamics& dynamics);
    Eigen::MatrixXd Jc;                  ///< (nxi, nv) rows of open feet are zero
    Eigen::VectorXd b, c, lambda;        ///< (nxi) offset, J v+ + b + xi, impulse
    Eigen::MatrixXd c_q, c_v, c_height;  ///< derivatives of c
    Eigen::VectorXd v_share;  ///< velocity that the constraint sees besides the acceleration
    std::vector<Eigen::Vector3d>
        origin;  ///< per foot: the point that the constraint moves with, world [m]
    std::vector<Eigen::Matrix3d> turn;  ///< per foot: rotation of its joint
    std::vector<pinocchio::Motion> before,
        before_a;  ///< along the support of a foot: motion of the joint's parent
    Eigen::LLT<Eigen::MatrixXd> mass, delassus;  ///< M~, J M~^-1 J^T + mu_c
    Eigen::MatrixXd MJt, S;
    Eigen::VectorXd lambda_start, dlambda;
    std::vector<Eigen::MatrixXd>
        spread;  ///< per surface: (3 n, 6) impulses of its contacts by its wrench
    std::vector<Eigen::VectorXd> share;  ///< per surface: which of its contacts push
    bool at_fixed_impulse = false;       ///< derivatives are asked for at fixed lambda
    Eigen::MatrixXd h_lambda;  ///< (ncone, 6) rows of the wrench cone by the foot's own impulse
  };

  RigidDynamics(const pinocchio::Model& model, const std::vector<ContactPoint>& contacts,
                const std::vector<std::size_t>& links, const JointModel& joints, bool floating_base,
                const DynamicsOptions& options, const RigidOptions& rigid);

  std::unique_ptr<ContactDynamics::Data> createData() const override {
    return std::make_unique<Data>(*this);
  }

  /// Derivatives of the balance at fixed lambda, and c_q, c_v of the constraint.
  void partials(const Solved& solved) const;

  /// (dv+; dlambda) for changes R of the balance and C of the constraint (after partials), by the
  /// Schur complement.
  void sensitivity(Data& data, const Eigen::MatrixXd& R, const Eigen::MatrixXd& C,
                   Eigen::MatrixXd& dv, Eigen::MatrixXd& dlambda) const;

  const ImpulseDerivatives& impulseDerivatives(ContactDynamics::Data& data) const override;

  /// Rows of the wrench cone per foot: friction; for a surface also its edges (centre of pressure
  /// inside) and the yaw moment.
  std::size_t ncone() const override { return ncone_; }
  void cone(const Solved& solved) const override;

  const RigidOptions rigid;

 protected:
  void contactKinematics(ContactDynamics::Data& data) const override;
  void impulses(ContactDynamics::Data& data) const override;
  void matrix(ContactDynamics::Data& data) const override;
  /// Newton on the joint losses around the Schur complement; also without damping.
  void solveFrom(ContactDynamics::Data& data, const ConstRef& guess) const override;
  void contactDerivatives(ContactDynamics::Data& data) const override;

 private:
  struct Foot {
    bool surface;
    std::size_t joint, row, size;  ///< first row of its constraint, and their number
    Eigen::Vector3d position;      ///< point that the constraint moves with, joint's frame [m]
    double drop;                   ///< of the material point below it [m]
    std::vector<std::size_t> contacts;
    std::vector<Eigen::Vector3d> lever;  ///< of its contacts, joint's frame [m]
    std::vector<std::pair<std::size_t, std::size_t>>
        edges;                       ///< of their convex hull, counter-clockwise about `normal`
    Eigen::Vector3d normal, centre;  ///< of the sole, joint's frame
    double radius;  ///< of the torsional friction: mean distance of the contacts from `centre` [m]
    std::size_t cone;  ///< first row of its wrench cone
  };

  static void findSole(Foot& foot, const Eigen::Vector3d& up);
  void motionAlong(Data& data, const Foot& foot, const Eigen::VectorXd& v, const Eigen::VectorXd* a,
                   pinocchio::Motion& V, pinocchio::Motion& A) const;
  void constrain(Data& data, std::size_t f) const;
  void constraint(Data& data) const;
  void addConstraintSlope(Data& data) const;
  double balanceBoth(Data& data) const;
  void factorize(Data& data) const;
  void accelerationDerivatives(Data& data, std::size_t f) const;
  void constraintDerivatives(Data& data, std::size_t f) const;
  void addWrenchGeometry(Data& data, std::size_t f) const;
  void spreadWrench(Data& data, std::size_t f) const;
  void spreadWrenches(Data& data) const;
  void coneDerivatives(Data& data) const;
  void surfaceConeDerivatives(Data& data, std::size_t f) const;
  const std::vector<std::size_t>& supportOf(const Foot& foot) const {
    return support[foot.contacts.front()];
  }
  double accelerationShare() const {
    return options.midpoint ? 1.0 - 0.5 * rigid.velocity_share : 1.0;
  }

  std::vector<Foot> feet_;
  std::size_t ncone_;
};

}  // namespace prime
