// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <Eigen/Core>

namespace prime {

/// Coordinates theta (10) of a link's inertia. Every theta is a physical body: its pseudo-inertia
/// is positive definite.
///
///     LogCholesky (Rucker and Wensing 2022)
///         theta = (alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3)
///         [Sigma, h; h^T, m] = U U^T
///         U = e^alpha [e^d1 s12 s13 t1; 0 e^d2 s23 t2; 0 0 e^d3 t3; 0 0 0 1]
///     ExponentialEigenvalue (Martinez, Griffin and Mastalli)
///         theta = (sigma_m, h, omega, sigma_xyz)
///         m = e^sigma_m,  Sigma = R diag(e^sigma_xyz) R^T + h h^T / m,  R = Exp(omega)
///
/// h = m c is the first moment [kg m]; Sigma are the second moments about the link's origin,
/// I = tr(Sigma) 1 - Sigma. The first map is one to one. The second is singular where two second
/// moments about the centre of mass are equal: a rotation between their axes changes nothing.
enum class InertiaManifold { LogCholesky, ExponentialEigenvalue };

using Vector10d = Eigen::Matrix<double, 10, 1>;
using Matrix10d = Eigen::Matrix<double, 10, 10>;

/// Dynamic parameters pi = (m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz) about the link's origin, and d pi
/// / d theta.
void inertiaFromTheta(InertiaManifold manifold, const Vector10d& theta, Vector10d& pi,
                      Matrix10d& jacobian);

/// theta of dynamic parameters; of the many omega of one body, that of the smallest turn. Throws
/// std::invalid_argument when no body has them.
Vector10d thetaFromInertia(InertiaManifold manifold, const Vector10d& pi);

}  // namespace prime
