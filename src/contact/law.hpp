// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace prime {

/// Contact law at one point: impulse as a smooth function of the contact velocity.
///
/// Input is `c = (c_t, a)`: the tangential velocity c_t [m/s] and `a = phi/dt + c_n` [m/s], made of
/// the gap phi and the normal velocity c_n. Output is the impulse `lambda` [N s]:
///
///     alpha    = a + mu (sqrt(|c_t|^2 + eps^2) - eps) + R lambda_n
///     s        = alpha^2/mu^2 - |c_t|^2
///     lambda_n = 2 alpha / (mu^2 kappa s),   lambda_t = -2 c_t / (kappa s)
///
/// This is the log barrier of the friction cone (Kang et al. 2026, eq. 17-20) with two changes that
/// measured data require. The second term of alpha is De Saxce's correction; without it a foot in
/// the air must satisfy a >= mu |c_t|. The third is a small compliance, which gives every c an
/// impulse. Without the correction the law is the published one, the gradient of a convex
/// potential.
///
/// Ground of softness sigma >= 0 has compliance `R exp(sigma)` and sharpness `kappa exp(-share
/// sigma)`: it carries less per depth and per velocity, and feet creep on it under lateral forces.
struct ContactLaw {
  static constexpr double kSoftnessShare = 0.4;  ///< of sigma in sharpness

  double kappa = 500.0;      ///< sharpness
  double compliance = 0.01;  ///< R > 0 [(m/s)/(N s)]
  double smoothing = 0.02;   ///< eps [m/s]
  double correction = 1.0;   ///< share of De Saxce's correction; 0: the published cone

  bool operator==(const ContactLaw& other) const {
    return kappa == other.kappa && compliance == other.compliance && smoothing == other.smoothing &&
           correction == other.correction;
  }

  struct Result {
    Eigen::Vector3d impulse;     ///< (lambda_t, lambda_n) [N s]
    Eigen::Matrix3d d_velocity;  ///< d impulse / d (c_t, a)
    Eigen::Vector3d d_friction;  ///< d impulse / d mu
    Eigen::Vector3d d_softness;  ///< d impulse / d sigma, at the same (c_t, a)
  };

  /// The law on ground that is softer by sigma.
  ContactLaw softened(const double sigma) const {
    ContactLaw out = *this;
    out.compliance *= std::exp(sigma);
    out.kappa *= std::exp(-kSoftnessShare * sigma);
    return out;
  }

  /// beta = alpha - r > 0 with r = mu |c_t|, from `(beta + r - b) d = (2R/kappa) (r + beta)`, d =
  /// alpha^2 - r^2 = beta (beta + 2 r), where b = a + correction: the one positive root of a cubic.
  /// In beta nothing cancels when a loaded foot slides fast (beta << r).
  double solveBeta(const double b, const double r) const {
    const double m = 2.0 * compliance / kappa, T = r * r;
    // both starts lie right of the root, where the cubic is convex: Newton descends monotonically
    // onto it
    double beta =
        b >= 0.0 ? 0.5 * (b + std::sqrt(b * b + 4.0 * (T + m))) - r : m / (std::sqrt(T + m) + r);
    for (int i = 0; i < 60; ++i) {
      const double d = beta * (beta + 2.0 * r);
      const double f = (beta + r - b) * d - m * (r + beta);
      const double slope = d + 2.0 * (beta + r - b) * (beta + r) - m;
      const double next = std::max(beta - f / slope, 0.1 * beta);
      const bool done = !(std::abs(next - beta) > 1e-15 * beta);
      beta = next;
      if (done) break;
    }
    return beta;
  }

  /// Impulse of c = (c_t, a) with its derivatives, by the implicit function theorem on the equation
  /// of beta.
  void evaluate(const Eigen::Vector3d& c, const double mu, Result& out) const {
    const Eigen::Vector2d ct = c.head<2>();
    const double speed = ct.norm(), r = mu * speed, k2 = 2.0 / kappa, m = k2 * compliance;
    const double rho = std::sqrt(speed * speed + smoothing * smoothing);
    const double b = c[2] + correction * mu * (rho - smoothing);
    const double beta = solveBeta(b, r), alpha = r + beta, d = beta * (beta + 2.0 * r),
                 id = 1.0 / d, id2 = id * id;

    // derivatives of r, b, beta, d in (c_t, a, mu, sigma)
    using Vector5d = Eigen::Matrix<double, 5, 1>;
    Vector5d dr = Vector5d::Zero(), db;
    if (speed > 0.0) dr.head<2>() = mu / speed * ct;
    dr[3] = speed;
    db << correction * mu / rho * ct, 1.0, correction * (rho - smoothing), 0.0;
    const double f_beta = d + 2.0 * (alpha - b) * alpha - m, f_r = d + 2.0 * (alpha - b) * beta - m;
    Vector5d dbeta = (d * db - f_r * dr) / f_beta;
    dbeta[4] = (1.0 + kSoftnessShare) * m * alpha / f_beta;
    const Vector5d dd = 2.0 * alpha * dbeta + 2.0 * beta * dr;

    out.impulse << -mu * mu * k2 * id * ct, k2 * alpha * id;
    Vector5d dn = -k2 * id2 * (beta * beta * dr + (d + 2.0 * r * r) * dbeta);
    dn[4] += kSoftnessShare * out.impulse[2];
    Eigen::Matrix<double, 2, 5> dt = ct * (mu * mu * k2 * id2 * dd).transpose();
    dt.leftCols<2>().diagonal().array() -= mu * mu * k2 * id;
    dt.col(3) -= 2.0 * mu * k2 * id * ct;
    dt.col(4) += kSoftnessShare * out.impulse.head<2>();
    out.d_velocity.topRows<2>() = dt.leftCols<3>();
    out.d_velocity.row(2) = dn.head<3>().transpose();
    out.d_friction << dt.col(3), dn[3];
    out.d_softness << dt.col(4), dn[4];
  }
};

}  // namespace prime
