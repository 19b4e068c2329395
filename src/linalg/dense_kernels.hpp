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

/// H = A A^T of an upper triangular A (n, n); lower triangle of a buffer as of gramLower.
void gramOfUpper(int n, const double* A, int lda, double* H, int ldh);

/// C (n, m) = A B^T, or += with `add`; A is (n, k), B (m, k). A and C are padded, B need not be.
void timesTransposed(bool add, int n, int m, int k, const double* A, int lda, const double* B,
                     int ldb, double* C, int ldc);

/// Householder reflection A -= tau v (v^T A) of the columns of A (m, n). v is zero from m to the
/// next multiple of 8, A finite there.
void reflect(int m, int n, const double* v, double tau, double* A, int lda);

/// Four reflections at once (compact WY: Schreiber, Van Loan 1989), A -= V T^T V^T A of the columns
/// of A (m, n). V (m, 4) is zero from m to the next multiple of 8; T (4, 4) upper triangular.
void reflectFour(int m, int n, const double* V, int ldv, const double* T, double* A, int lda);

/// X = L^-1 of a lower triangular L (n, n), of which only the lower part is read. X holds the
/// identity, and is padded as L is.
void invertTriangle(int n, const double* L, int ldl, double* X, int ldx);

/// Elimination of the first m variables: [A .; B C] = [L 0; B' I] [I 0; 0 C'] [L^T B'^T; 0 I] in
/// place, lower triangle (n, n) of a buffer with n + kPadColumns columns. False: A is not positive
/// definite.
bool partialCholesky(int n, int m, double* H, int ldh);

}  // namespace prime
