// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <Eigen/Core>
#include <cmath>

namespace prime {

/// Contact law at one point: impulse as a smooth function of the contact velocity.
///
/// With `c = (c_t, a)`: tangential velocity [m/s] and `a = phi/dt + c_n` [m/s] (gap and normal velocity), impulse `lambda` [N s]:
///
///     alpha    = a + mu (sqrt(|c_t|^2 + eps^2) - eps) + R lambda_n
///     lambda_n = 2 alpha / (mu^2 kappa s),   lambda_t = -2 c_t / (kappa s),   s = alpha^2/mu^2 - |c_t|^2
///
/// The log barrier of the friction cone (Kang et al. 2026, eq. 17-20), made usable on measured data: the second term is De Saxce's
/// correction (without it a foot in the air must satisfy a >= mu |c_t|), the third a small compliance (every c has an impulse).
/// `convex` drops the correction: the published law, gradient of a convex potential.
struct ContactLaw {
  double kappa = 500.0;       ///< sharpness
  double compliance = 0.01;   ///< R > 0 [(m/s)/(N s)]
  double smoothing = 0.02;    ///< eps [m/s]
  bool convex = false;        ///< the published cone

  struct Result {
    Eigen::Vector3d impulse;        ///< (lambda_t, lambda_n) [N s]
    Eigen::Matrix3d d_velocity;     ///< d impulse / d (c_t, a)
    Eigen::Vector3d d_friction;     ///< d impulse / d mu
  };

  /// alpha is the largest root of the cubic `alpha^3 - b alpha^2 - (T + 2R/kappa) alpha + b T`, b = a + correction, T = mu^2 |c_t|^2.
  double solveAlpha(const double b, const double T) const {
    const double m = 2.0 * compliance / kappa;
    // both starts lie right of the largest root, where the cubic is convex: Newton descends monotonically onto it
    double alpha = b >= 0.0 ? 0.5 * (b + std::sqrt(b * b + 4.0 * (T + m))) : std::sqrt(T + m);
    for (int i = 0; i < 60; ++i) {
      const double g = ((alpha - b) * alpha - (T + m)) * alpha + b * T;
      const double step = g / ((3.0 * alpha - 2.0 * b) * alpha - (T + m));
      alpha -= step;
      if (!(std::abs(step) > 1e-15 * alpha)) break;
    }
    return alpha;
  }

  /// Impulse with its derivatives.
  void evaluate(const Eigen::Vector3d& c, const double mu, Result& out) const {
    const Eigen::Vector2d ct = c.head<2>();
    const double ct2 = ct.squaredNorm(), T = mu * mu * ct2, k2 = 2.0 / kappa;
    const double rho = std::sqrt(ct2 + smoothing * smoothing);
    const double shift = convex ? 0.0 : 1.0;
    const double alpha = solveAlpha(c[2] + shift * mu * (rho - smoothing), T);
    const double d = alpha * alpha - T, id = 1.0 / d, id2 = id * id;
    const double f_alpha = 1.0 + k2 * compliance * (alpha * alpha + T) * id2;
    const double f_T = k2 * compliance * alpha * id2;

    // derivatives of T and alpha in (c_t, a, mu)
    Eigen::Vector4d dT, dalpha;
    dT << 2.0 * mu * mu * ct, 0.0, 2.0 * mu * ct2;
    dalpha << shift * mu / rho * ct, 1.0, shift * (rho - smoothing);
    dalpha = (dalpha + f_T * dT) / f_alpha;

    out.impulse << -mu * mu * k2 * id * ct, k2 * alpha * id;
    const Eigen::Vector4d dn = k2 * id2 * (alpha * dT - (alpha * alpha + T) * dalpha);
    const Eigen::Vector4d dd = mu * mu * k2 * id2 * (2.0 * alpha * dalpha - dT);
    Eigen::Matrix<double, 2, 4> dt = ct * dd.transpose();
    dt.diagonal().array() -= mu * mu * k2 * id;
    dt.col(3) -= 2.0 * mu * k2 * id * ct;
    out.d_velocity.topRows<2>() = dt.leftCols<3>();
    out.d_velocity.row(2) = dn.head<3>().transpose();
    out.d_friction << dt.col(3), dn[3];
  }
};

}  // namespace prime
