// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "inertia/inertia_manifold.hpp"

#include <pinocchio/spatial/explog.hpp>
#include <pinocchio/spatial/inertia.hpp>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace prime {

using Eigen::Matrix3d;
using Eigen::Matrix4d;
using Eigen::Vector3d;

namespace {

constexpr double kEqualMoments =
    1e-9;  ///< relative difference below which two second moments have no axes of their own

/// (Ixx, Ixy, Iyy, Ixz, Iyz, Izz) of tr(Sigma) 1 - Sigma.
Eigen::Matrix<double, 6, 1> inertiaOf(const Matrix3d& Sigma) {
  Eigen::Matrix<double, 6, 1> I;
  I << Sigma(1, 1) + Sigma(2, 2), -Sigma(0, 1), Sigma(0, 0) + Sigma(2, 2), -Sigma(0, 2),
      -Sigma(1, 2), Sigma(0, 0) + Sigma(1, 1);
  return I;
}

Matrix3d secondMoments(const Vector10d& pi) {
  Matrix3d inertia;
  inertia << pi[4], pi[5], pi[7], pi[5], pi[6], pi[8], pi[7], pi[8], pi[9];
  return 0.5 * inertia.trace() * Matrix3d::Identity() - inertia;
}

[[noreturn]] void refuse() {
  throw std::invalid_argument(
      "the inertia is not physically consistent (pseudo-inertia not positive definite)");
}

void fromLogCholesky(const Vector10d& theta, Vector10d& pi, Matrix10d& jacobian) {
  const pinocchio::LogCholeskyParametersTpl<double, 0> parameters(theta);
  pi = parameters.toDynamicParameters();
  jacobian = parameters.calculateJacobian();
}

Vector10d toLogCholesky(const Vector10d& pi) {
  // U is upper triangular: the Cholesky factor of the pseudo-inertia with rows and columns reversed
  Matrix4d pseudo;
  pseudo << secondMoments(pi), pi.segment<3>(1), pi.segment<3>(1).transpose(), pi[0];
  const Eigen::LLT<Matrix4d> llt(pseudo.reverse().eval());
  if (llt.info() != Eigen::Success || !pi.allFinite()) refuse();
  const Matrix4d lower = llt.matrixL(), U = lower.reverse() / lower(0, 0);
  Vector10d theta;
  theta << std::log(lower(0, 0)), std::log(U(0, 0)), std::log(U(1, 1)), std::log(U(2, 2)), U(0, 1),
      U(1, 2), U(0, 2), U(0, 3), U(1, 3), U(2, 3);
  return theta;
}

void fromExponentialEigenvalue(const Vector10d& theta, Vector10d& pi, Matrix10d& jacobian) {
  const double m = std::exp(theta[0]);
  const Vector3d h = theta.segment<3>(1), omega = theta.segment<3>(4),
                 L = theta.tail<3>().array().exp();
  const Matrix3d R = pinocchio::exp3(omega);
  Matrix3d turn = Matrix3d::Zero();  // R(omega + d) = R Exp(turn d)
  pinocchio::Jexp3(omega, turn);
  pi << m, h, inertiaOf(R * L.asDiagonal() * R.transpose() + h * h.transpose() / m);

  jacobian.setZero();
  jacobian(0, 0) = m;
  jacobian.block<3, 3>(1, 1).setIdentity();
  jacobian.col(0).tail<6>() = -inertiaOf(h * h.transpose() / m);
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const Matrix3d shifted = Vector3d::Unit(k) * h.transpose() / m;
    jacobian.col(1 + k).tail<6>() = inertiaOf(shifted + shifted.transpose());
    // a turn about the body's axis k mixes the two others: [e_k]x diag(L) - diag(L) [e_k]x
    const Matrix3d mixed = (L[i] - L[j]) * R.col(i) * R.col(j).transpose();
    jacobian.bottomRows<6>().middleCols<3>(4).noalias() +=
        inertiaOf(mixed + mixed.transpose()) * turn.row(k);
    jacobian.col(7 + k).tail<6>() = L[k] * inertiaOf(R.col(k) * R.col(k).transpose());
  }
}

/// The frame of principal axes nearest to the link's: their order, their signs and, where moments
/// are equal, their directions are free.
void nearestFrame(Matrix3d& R, Vector3d& L) {
  std::array<int, 3> order{0, 1, 2}, best = order;
  double trace = -1.0;
  do {
    const double sum =
        std::abs(R(0, order[0])) + std::abs(R(1, order[1])) + std::abs(R(2, order[2]));
    if (sum > trace) trace = sum, best = order;
  } while (std::next_permutation(order.begin(), order.end()));
  R = (Matrix3d() << R.col(best[0]), R.col(best[1]), R.col(best[2])).finished();
  L = Vector3d(L[best[0]], L[best[1]], L[best[2]]);
  for (int i = 0; i < 3; ++i)
    if (R(i, i) < 0.0) R.col(i) *= -1.0;
  int weakest;
  R.diagonal().minCoeff(&weakest);
  if (R.determinant() < 0.0) R.col(weakest) *= -1.0;
  for (int sweep = 0; sweep < 30; ++sweep)
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3;
      if (std::abs(L[i] - L[j]) > kEqualMoments * L.maxCoeff()) continue;
      const double angle = std::atan2(R(i, j) - R(j, i), R(i, i) + R(j, j)), c = std::cos(angle),
                   s = std::sin(angle);
      const Vector3d a = R.col(i), b = R.col(j);
      R.col(i) = c * a + s * b;
      R.col(j) = c * b - s * a;
    }
}

Vector10d toExponentialEigenvalue(const Vector10d& pi) {
  if (!(pi[0] > 0.0)) refuse();
  const Vector3d h = pi.segment<3>(1);
  const Eigen::SelfAdjointEigenSolver<Matrix3d> axes(secondMoments(pi) - h * h.transpose() / pi[0]);
  Vector3d L = axes.eigenvalues();
  Matrix3d R = axes.eigenvectors();
  if (axes.info() != Eigen::Success || !(L[0] > 0.0)) refuse();
  nearestFrame(R, L);
  Vector10d theta;
  theta << std::log(pi[0]), h, pinocchio::log3(R), L.array().log().matrix();
  return theta;
}

}  // namespace

void inertiaFromTheta(const InertiaManifold manifold, const Vector10d& theta, Vector10d& pi,
                      Matrix10d& jacobian) {
  if (manifold == InertiaManifold::LogCholesky)
    fromLogCholesky(theta, pi, jacobian);
  else
    fromExponentialEigenvalue(theta, pi, jacobian);
}

Vector10d thetaFromInertia(const InertiaManifold manifold, const Vector10d& pi) {
  return manifold == InertiaManifold::LogCholesky ? toLogCholesky(pi) : toExponentialEigenvalue(pi);
}

}  // namespace prime
