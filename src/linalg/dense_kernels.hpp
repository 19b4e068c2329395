// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

namespace prime {

/// Dense kernels of the recursion on raw column-major buffers, with the widest vectors that the
/// machine has (AVX-512, AVX2, else the compiler's default). Buffers are padded: `ld >= n +
/// kPadRows`, and the rows behind n of every argument are zero and stay so.
constexpr int kPadRows = 16;
constexpr int kPadColumns = 3;

/// H = A A^T, lower triangle (n, n) of a buffer with n + kPadColumns columns; A is (n, k).
void gramLower(int n, int k, const double* A, int lda, double* H, int ldh);

/// C (n, m) = A B^T, or += with `add`; A is (n, k), B (m, k). A and C are padded, B need not be.
void timesTransposed(bool add, int n, int m, int k, const double* A, int lda, const double* B,
                     int ldb, double* C, int ldc);

/// Householder reflection A -= tau v (v^T A) of the columns of A (m, n). v is zero from m to the
/// next multiple of 8, A finite there.
void reflect(int m, int n, const double* v, double tau, double* A, int lda);

/// Elimination of the first m variables: [A .; B C] = [L 0; B' I] [I 0; 0 C'] [L^T B'^T; 0 I] in
/// place, lower triangle (n, n) of a buffer with n + kPadColumns columns. False: A is not positive
/// definite.
bool partialCholesky(int n, int m, double* H, int ldh);

}  // namespace prime
