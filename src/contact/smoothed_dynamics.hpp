// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "contact/contact_dynamics.hpp"
#include "linalg/branch_elimination.hpp"

namespace prime {

/// Contact-implicit step: impulses by a smooth contact law.
///
///     lambda_i = law(J_i^m v+ + B_i xi + e_z psi(phi_i)/dt)
///
/// - phi_i: height of the sphere above the ground of its foot.
/// - J_i^m: Jacobian J_i of the material point under the sphere, evaluated at q (+) dt/2 v. v+ is
///   the mean velocity of the step, so that dt J_i^m v+ is the displacement of a foot to second
///   order. With J_i a standing foot would slide by dt/2 dJ/dt v (5 mm/s at 1 m/s and 1 rad/s).
/// - psi(phi): the gap. Of a penetration only the share `penetration_factor` counts (smoothed over
///   `penetration_width`), on soft ground less. With the compliance R this is a spring
///   K = share/(R dt^2) and a damper 1/(R dt), in which depth lags load by dt/share.
/// - B_i xi: velocity of the disturbance at the contact. The disturbance of a flat foot acts at the
///   middle of its sole: at the ankle, a foot that may roll over its edges could slide as well.
///
/// On soft ground a sphere rolls about the middle of its penetration d: its radius is reduced by
/// `(1 - K/K(p = 0))^2 d/2`. With the full radius, a foot that sinks by 1 cm would seem to step 5
/// mm further per radian.
///
/// The matrix of the Newton iteration is unsymmetric, because the law is not a gradient.
class SmoothedDynamics : public ContactDynamics {
 public:
  struct Data : ContactDynamics::Data {
    explicit Data(const SmoothedDynamics& dynamics);

    std::vector<ContactLaw::Result> law;
    bool follows = false;  ///< `law` is that of another step, about `law_velocity`
    std::vector<Eigen::Vector3d> law_velocity;  ///< as of `lawVelocity` [m/s]
    double share = 0.0, dshare = 0.0;        ///< of a penetration that a step corrects, its slope
    double soft = 0.0, dsoft = 0.0;          ///< share of it by which a radius shrinks, its slope
    std::vector<double> psi, dpsi;           ///< effective gap [m], its slope
    std::vector<double> psi_by_softness;     ///< and its derivative by the softness [m]
    std::vector<double> radius, dradius;     ///< on which a sphere rolls [m], its slope
    std::vector<double> radius_by_softness;  ///< and its derivative by the softness [m]
    std::vector<Eigen::Vector3d> normal;     ///< of the ground, per foot
    std::vector<Eigen::Vector3d> above;      ///< centre of a sphere from its foot's anchor [m]
    std::vector<Eigen::Vector3d> by_center;  ///< derivative of the gap by the sphere's centre
    std::vector<Eigen::Matrix3d> frame;      ///< per foot: from world axes to those of its ground

    // kinematics in the middle of the step
    Eigen::VectorXd q_mid, half_step;
    Eigen::MatrixXd Jmid;          ///< (3 nc, nv)
    Eigen::MatrixXd mid_q, mid_v;  ///< difference of q (+) half_step by q, by half_step
    Eigen::Matrix<double, 6, Eigen::Dynamic> columns_mid;  ///< joint Jacobian there, world
    std::vector<Eigen::Vector3d> center_mid, point_mid;    ///< world [m]
    /// Per body: (velocity at its first contact's point, angular velocity) by the velocities along
    /// its support, and at mid step.
    std::vector<Eigen::Matrix<double, Eigen::Dynamic, 6>> twist, twist_mid;

    // scratch of the Newton iteration and of the derivatives
    Eigen::VectorXd column;
    Eigen::MatrixXd factors;                   ///< of A, without pivoting
    Eigen::MatrixXd dvel_mid, dvel_q, dvel_v;  ///< (3 nc, nv) d(Jmid v+)/d(q_mid, q, v)
    Eigen::MatrixXd dphi_q;                    ///< (nc, nv)
    std::vector<pinocchio::Motion> path;       ///< velocity along the support of a contact
    std::vector<Eigen::Vector3d> spin;         ///< angular velocity of each contact's body [rad/s]
    std::vector<Eigen::Vector3d> dvel_gap;     ///< d(Jmid v+ + e_z psi/dt)/d gap [1/s]
    std::vector<Eigen::Matrix<double, 3, 2>> impulse_by_slope;  ///< per contact
    /// wrenches of a body by the velocities along its support
    Eigen::Matrix<double, 6, Eigen::Dynamic> by_q, by_v, moved, turned;
    Eigen::Matrix<double, 6, 6> by_xi;

    /// Path of solutions from the convex law to the corrected one: (v+, share of the correction).
    struct Homotopy {
      explicit Homotopy(int n);
      Eigen::VectorXd now, next, tangent, metric, rhs, step;
      Eigen::MatrixXd matrix;
      Eigen::PartialPivLU<Eigen::MatrixXd> lu;
    } homotopy;
  };

  SmoothedDynamics(const pinocchio::Model& model, const std::vector<ContactPoint>& contacts,
                   const std::vector<std::size_t>& links, const JointModel& joints,
                   bool floating_base, const DynamicsOptions& options);

  std::unique_ptr<ContactDynamics::Data> createData() const override {
    return std::make_unique<Data>(*this);
  }
  const ImpulseDerivatives& impulseDerivatives(ContactDynamics::Data& data) const override;
  void follow(ContactDynamics::Data& data, const ContactDynamics::Data& before) const override;

  /// Stiffness of the ground under a contact, by the parameter of its softness [N/m].
  double stiffness(const double parameter) const { return stiffnessAt(softness(parameter)); }

  /// kSlopeReach: distance from the anchor at which a slope levels off [m], because the slope is
  /// known only where the foot stands. kSoleReach: increase of that under a sole, per distance of
  /// its spheres from their middle.
  static constexpr double kSlopeReach = 0.05, kSoleReach = 1.7;

 protected:
  void contactKinematics(ContactDynamics::Data& data) const override;
  void impulses(ContactDynamics::Data& data) const override;
  void matrix(ContactDynamics::Data& data) const override;
  /// Newton from `guess`, from v, then along the path from the convex law (homotopy.cpp).
  void solveFrom(ContactDynamics::Data& data, const ConstRef& guess) const override;
  void contactDerivatives(ContactDynamics::Data& data) const override;

 private:
  using Vector6d = Eigen::Matrix<double, 6, 1>;
  Eigen::VectorXd reach_;  ///< of the slope of each foot's ground [m]
  /// Centre of each sphere from the middle of its foot's, in the joint's frame [m].
  std::vector<Eigen::Vector3d> from_middle_;

  double hardest_;  ///< stiffness where the parameter of softness is 0 [N/m]

  /// Growth of the lag of soft ground: lag^2 = (dt/factor)^2 (1 + kSoftnessLag (exp(2 sigma) - 1)).
  /// On critically damped ground of 22 kN/m depth lags load by 48 ms, on ground four times as stiff
  /// by half of that (a Go2 on MuJoCo's soft contacts). With a shorter lag, feet that rise again
  /// during their stance would be explained by a pitched body (15 mrad at 0.5 m/s).
  static constexpr double kSoftnessLag = 0.118;
  /// Stiffness of ground that is softer by sigma [N/m].
  double stiffnessAt(const double sigma) const {
    const double dt = options.dt;
    return correctedShare(sigma).first / (options.law.softened(sigma).compliance * dt * dt);
  }
  /// Share of a penetration that a step corrects, and its derivative with respect to sigma.
  std::pair<double, double> correctedShare(const double sigma) const {
    const double grown = kSoftnessLag * std::exp(2.0 * sigma);
    const double square = 1.0 - kSoftnessLag + grown;
    const double share = options.penetration_factor / std::sqrt(square);
    return {share, -share * grown / square};
  }
  void placeSoftness(Data& data) const;
  void placeGround(Data& data, std::size_t foot) const;
  void placeContact(Data& data, std::size_t contact) const;
  void placeBody(Data& data, std::size_t body) const;
  void evaluate(Data& data, const ContactLaw& law, const ConstRef& vplus) const;
  Eigen::Vector3d disturbance(const Data& data, std::size_t contact) const;
  void evaluateLaw(Data& data, const ContactLaw& law) const;

  bool newton(Data& data, const ContactLaw& law, const ConstRef& guess, double shortest) const;
  void newtonStep(Data& data) const;
  Eigen::Vector3d lawVelocity(const Data& data, std::size_t contact) const;
  void startFromLaw(Data& data, const ConstRef& guess) const;
  template <int Rows>
  void addContactSlope(Data& data, std::size_t body) const;

  bool solveConvex(Data& data, std::initializer_list<double> shares) const;
  bool startConvex(Data& data) const;
  bool followCorrection(Data& data) const;
  bool correctPath(Data& data) const;
  void pathTangent(Data& data) const;

  void addForceGeometry(Data& data, std::size_t body) const;
  Eigen::Vector3d momentByRadius(const Data& data, std::size_t contact) const;
  Eigen::Vector3d velocityByRadius(const Data& data, std::size_t contact) const;
  void velocityDerivatives(Data& data, std::size_t contact) const;
  void addBodyDerivatives(Data& data, std::size_t body) const;
  void slopeDerivatives(Data& data, std::size_t contact, const Eigen::Vector3d& arm,
                        Eigen::Matrix<double, 6, 2>& by_slope) const;
  Eigen::Matrix<double, 3, 2> normalBySlope(const Data& data, std::size_t foot) const;
  void addContactWrenches(Data& data, std::size_t contact, const Eigen::Vector3d& arm,
                          Vector6d& by_height, Vector6d& by_friction, Vector6d& by_softness) const;
  Eigen::Vector3d impulseBySoftness(const Data& data, std::size_t contact) const;

  BranchElimination branches_;
};

}  // namespace prime
