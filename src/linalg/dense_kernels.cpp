// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// No Eigen in this file: code for wider vectors must not leak into functions that other files
// share.
#include "linalg/dense_kernels.hpp"

#include <cmath>
#include <cstring>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#define PRIME_WIDE_VECTORS
#endif

#define PRIME_INLINE inline __attribute__((always_inline))

namespace prime {

namespace {

template <int N>
struct Vector {
  typedef double type __attribute__((vector_size(8 * N)));
};

template <int N>
PRIME_INLINE typename Vector<N>::type load(const double* p) {
  typename Vector<N>::type v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <int N>
PRIME_INLINE void store(double* p, const typename Vector<N>::type v) {
  std::memcpy(p, &v, sizeof v);
}

/// 2N rows of `Columns` columns: C = A B^T, C += A B^T or C -= A B^T.
enum Into { Set, Add, Subtract };
template <int N, int Columns, Into How>
PRIME_INLINE void tile(const int k, const double* row, const int lda, const double* column,
                       const int ldb, double* C, const int ldc) {
  typename Vector<N>::type low[Columns] = {}, high[Columns] = {};
  for (int l = 0; l < k; ++l, row += lda, column += ldb) {
    const auto a = load<N>(row), b = load<N>(row + N);
    for (int c = 0; c < Columns; ++c) {
      low[c] += a * column[c];
      high[c] += b * column[c];
    }
  }
  for (int c = 0; c < Columns; ++c, C += ldc) {
    store<N>(C, How == Set ? low[c] : How == Add ? load<N>(C) + low[c] : load<N>(C) - low[c]);
    store<N>(C + N, How == Set   ? high[c]
                    : How == Add ? load<N>(C + N) + high[c]
                                 : load<N>(C + N) - high[c]);
  }
}

/// Columns j to j + Columns of the lower triangle of A A^T.
template <int N, int Columns, Into How>
PRIME_INLINE void panel(const int n, const int j, const int k, const double* A, const int lda,
                        double* H, const int ldh) {
  for (int i = j; i < n; i += 2 * N)
    tile<N, Columns, How>(k, A + i, lda, A + j, lda, H + i + j * ldh, ldh);
}

template <int N>
PRIME_INLINE void gram(const int n, const int k, const double* A, const int lda, double* H,
                       const int ldh) {
  for (int j = 0; j < n; j += 4) panel<N, 4, Set>(n, j, k, A, lda, H, ldh);
}

/// Of an upper triangular A: the products of row i begin in column i.
template <int N>
PRIME_INLINE void gramOfUpper(const int n, const double* A, const int lda, double* H,
                              const int ldh) {
  for (int j = 0; j < n; j += 4)
    for (int i = j; i < n; i += 2 * N)
      tile<N, 4, Set>(n - i, A + i + i * lda, lda, A + j + i * lda, lda, H + i + j * ldh, ldh);
}

template <int N, int Columns, Into How>
PRIME_INLINE void columnsOf(const int n, const int k, const double* A, const int lda,
                            const double* B, const int ldb, double* C, const int ldc) {
  for (int i = 0; i < n; i += 2 * N) tile<N, Columns, How>(k, A + i, lda, B, ldb, C + i, ldc);
}

template <int N, Into How>
PRIME_INLINE void product(const int n, const int m, const int k, const double* A, const int lda,
                          const double* B, const int ldb, double* C, const int ldc) {
  int j = 0;
  for (; j + 4 <= m; j += 4) columnsOf<N, 4, How>(n, k, A, lda, B + j, ldb, C + j * ldc, ldc);
  for (; j < m; ++j) columnsOf<N, 1, How>(n, k, A, lda, B + j, ldb, C + j * ldc, ldc);
}

template <int N>
PRIME_INLINE void product(const bool add, const int n, const int m, const int k, const double* A,
                          const int lda, const double* B, const int ldb, double* C, const int ldc) {
  add ? product<N, Add>(n, m, k, A, lda, B, ldb, C, ldc)
      : product<N, Set>(n, m, k, A, lda, B, ldb, C, ldc);
}

template <int N, int Columns>
PRIME_INLINE void reflectColumns(const int m, const double* v, const double tau, double* A,
                                 const int lda) {
  typename Vector<N>::type sum[Columns] = {};
  for (int i = 0; i < m; i += N) {
    const auto at = load<N>(v + i);
    for (int c = 0; c < Columns; ++c) sum[c] += at * load<N>(A + i + c * lda);
  }
  double factor[Columns];
  for (int c = 0; c < Columns; ++c) {
    factor[c] = 0.0;
    for (int l = 0; l < N; ++l) factor[c] += tau * sum[c][l];
  }
  for (int i = 0; i < m; i += N) {
    const auto at = load<N>(v + i);
    for (int c = 0; c < Columns; ++c)
      store<N>(A + i + c * lda, load<N>(A + i + c * lda) - factor[c] * at);
  }
}

template <int N>
PRIME_INLINE void reflectAll(const int m, const int n, const double* v, const double tau, double* A,
                             const int lda) {
  int j = 0;
  for (; j + 4 <= n; j += 4) reflectColumns<N, 4>(m, v, tau, A + j * lda, lda);
  for (; j < n; ++j) reflectColumns<N, 1>(m, v, tau, A + j * lda, lda);
}

/// A -= V (T^T (V^T A)) of `Columns` columns, V of four.
template <int N, int Columns>
PRIME_INLINE void reflectFour(const int m, const double* V, const int ldv, const double* T,
                              double* A, const int lda) {
  typename Vector<N>::type sum[4][Columns] = {};
  for (int i = 0; i < m; i += N) {
    typename Vector<N>::type a[Columns];
    for (int c = 0; c < Columns; ++c) a[c] = load<N>(A + i + c * lda);
    for (int k = 0; k < 4; ++k) {
      const auto v = load<N>(V + i + k * ldv);
      for (int c = 0; c < Columns; ++c) sum[k][c] += v * a[c];
    }
  }
  double along[4][Columns], factor[4][Columns];
  for (int k = 0; k < 4; ++k)
    for (int c = 0; c < Columns; ++c) {
      along[k][c] = 0.0;
      for (int l = 0; l < N; ++l) along[k][c] += sum[k][c][l];
    }
  for (int k = 0; k < 4; ++k)
    for (int c = 0; c < Columns; ++c) {
      factor[k][c] = 0.0;
      for (int l = 0; l <= k; ++l) factor[k][c] += T[l + 4 * k] * along[l][c];
    }
  for (int i = 0; i < m; i += N) {
    typename Vector<N>::type a[Columns];
    for (int c = 0; c < Columns; ++c) a[c] = load<N>(A + i + c * lda);
    for (int k = 0; k < 4; ++k) {
      const auto v = load<N>(V + i + k * ldv);
      for (int c = 0; c < Columns; ++c) a[c] -= factor[k][c] * v;
    }
    for (int c = 0; c < Columns; ++c) store<N>(A + i + c * lda, a[c]);
  }
}

/// As many columns at a time as the registers hold sums of: 16 of 32 wide ones, 8 of 16.
template <int N>
PRIME_INLINE void reflectFourAll(const int m, const int n, const double* V, const int ldv,
                                 const double* T, double* A, const int lda) {
  constexpr int columns = N == 8 ? 4 : 2;
  int j = 0;
  for (; j + columns <= n; j += columns) reflectFour<N, columns>(m, V, ldv, T, A + j * lda, lda);
  for (; j < n; ++j) reflectFour<N, 1>(m, V, ldv, T, A + j * lda, lda);
}

/// Forward substitution in columns j to j + Columns of the inverse, which hold the identity: `Rows`
/// unknowns, then what they leave to the rows below, which are loaded and stored once for all.
template <int N, int Columns, int Rows>
PRIME_INLINE void substitute(const int n, const int k, const double* L, const int ldl, double* X,
                             const int ldx) {
  double x[Rows][Columns];
  for (int r = 0; r < Rows; ++r)
    for (int c = 0; c < Columns; ++c) {
      double value = X[k + r + c * ldx];
      for (int l = 0; l < r; ++l) value -= x[l][c] * L[k + r + (k + l) * ldl];
      x[r][c] = X[k + r + c * ldx] = value / L[k + r + (k + r) * ldl];
    }
  for (int i = k + Rows; i < n; i += N) {
    typename Vector<N>::type left[Columns];
    for (int c = 0; c < Columns; ++c) left[c] = load<N>(X + i + c * ldx);
    for (int r = 0; r < Rows; ++r) {
      const auto at = load<N>(L + i + (k + r) * ldl);
      for (int c = 0; c < Columns; ++c) left[c] -= x[r][c] * at;
    }
    for (int c = 0; c < Columns; ++c) store<N>(X + i + c * ldx, left[c]);
  }
}

template <int N, int Columns>
PRIME_INLINE void invertColumns(const int n, const int j, const double* L, const int ldl, double* X,
                                const int ldx) {
  int k = j;
  for (; k + 4 <= n; k += 4) substitute<N, Columns, 4>(n, k, L, ldl, X + j * ldx, ldx);
  for (; k < n; ++k) substitute<N, Columns, 1>(n, k, L, ldl, X + j * ldx, ldx);
}

template <int N>
PRIME_INLINE void invert(const int n, const double* L, const int ldl, double* X, const int ldx) {
  int j = 0;
  for (; j + 4 <= n; j += 4) invertColumns<N, 4>(n, j, L, ldl, X, ldx);
  for (; j < n; ++j) invertColumns<N, 1>(n, j, L, ldl, X, ldx);
}

/// Columns j to j + w of L, all earlier ones subtracted.
template <int N>
PRIME_INLINE bool factorPanel(const int n, const int j, const int w, double* H, const int ldh) {
  for (int c = j; c < j + w; ++c) {
    double* column = H + c * ldh;
    if (!(column[c] > 0.0)) return false;
    const double scale = 1.0 / std::sqrt(column[c]);
    for (int i = c; i < n; i += N) store<N>(column + i, load<N>(column + i) * scale);
    for (int d = c + 1; d < j + w; ++d) {
      double* other = H + d * ldh;
      const double factor = column[d];
      for (int i = d; i < n; i += N)
        store<N>(other + i, load<N>(other + i) - factor * load<N>(column + i));
    }
  }
  return true;
}

template <int N>
PRIME_INLINE bool eliminate(const int n, const int m, double* H, const int ldh) {
  for (int j = 0; j < n;) {
    const int w = j < m && m - j < 4 ? m - j : 4;
    const int k = j < m ? j : m;
    if (w == 4)
      panel<N, 4, Subtract>(n, j, k, H, ldh, H, ldh);
    else if (w == 3)
      panel<N, 3, Subtract>(n, j, k, H, ldh, H, ldh);
    else if (w == 2)
      panel<N, 2, Subtract>(n, j, k, H, ldh, H, ldh);
    else
      panel<N, 1, Subtract>(n, j, k, H, ldh, H, ldh);
    if (j < m && !factorPanel<N>(n, j, w, H, ldh)) return false;
    j += w;
  }
  return true;
}

#ifdef PRIME_WIDE_VECTORS
__attribute__((target("avx512f"))) void gram512(int n, int k, const double* A, int lda, double* H,
                                                int ldh) {
  gram<8>(n, k, A, lda, H, ldh);
}
__attribute__((target("avx2,fma"))) void gram256(int n, int k, const double* A, int lda, double* H,
                                                 int ldh) {
  gram<4>(n, k, A, lda, H, ldh);
}
__attribute__((target("avx512f"))) void product512(bool add, int n, int m, int k, const double* A,
                                                   int lda, const double* B, int ldb, double* C,
                                                   int ldc) {
  product<8>(add, n, m, k, A, lda, B, ldb, C, ldc);
}
__attribute__((target("avx2,fma"))) void product256(bool add, int n, int m, int k, const double* A,
                                                    int lda, const double* B, int ldb, double* C,
                                                    int ldc) {
  product<4>(add, n, m, k, A, lda, B, ldb, C, ldc);
}
__attribute__((target("avx512f"))) void reflect512(int m, int n, const double* v, double tau,
                                                   double* A, int lda) {
  reflectAll<8>(m, n, v, tau, A, lda);
}
__attribute__((target("avx2,fma"))) void reflect256(int m, int n, const double* v, double tau,
                                                    double* A, int lda) {
  reflectAll<4>(m, n, v, tau, A, lda);
}
__attribute__((target("avx512f"))) void gramOfUpper512(int n, const double* A, int lda, double* H,
                                                       int ldh) {
  gramOfUpper<8>(n, A, lda, H, ldh);
}
__attribute__((target("avx2,fma"))) void gramOfUpper256(int n, const double* A, int lda, double* H,
                                                        int ldh) {
  gramOfUpper<4>(n, A, lda, H, ldh);
}
__attribute__((target("avx512f"))) void reflectFour512(int m, int n, const double* V, int ldv,
                                                       const double* T, double* A, int lda) {
  reflectFourAll<8>(m, n, V, ldv, T, A, lda);
}
__attribute__((target("avx2,fma"))) void reflectFour256(int m, int n, const double* V, int ldv,
                                                        const double* T, double* A, int lda) {
  reflectFourAll<4>(m, n, V, ldv, T, A, lda);
}
__attribute__((target("avx512f"))) void invert512(int n, const double* L, int ldl, double* X,
                                                  int ldx) {
  invert<8>(n, L, ldl, X, ldx);
}
__attribute__((target("avx2,fma"))) void invert256(int n, const double* L, int ldl, double* X,
                                                   int ldx) {
  invert<4>(n, L, ldl, X, ldx);
}
__attribute__((target("avx512f"))) bool eliminate512(int n, int m, double* H, int ldh) {
  return eliminate<8>(n, m, H, ldh);
}
__attribute__((target("avx2,fma"))) bool eliminate256(int n, int m, double* H, int ldh) {
  return eliminate<4>(n, m, H, ldh);
}

const int kWidth = __builtin_cpu_supports("avx512f")                                 ? 8
                   : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 4
                                                                                     : 2;
#endif

}  // namespace

void gramLower(const int n, const int k, const double* A, const int lda, double* H, const int ldh) {
#ifdef PRIME_WIDE_VECTORS
  if (kWidth == 8) return gram512(n, k, A, lda, H, ldh);
  if (kWidth == 4) return gram256(n, k, A, lda, H, ldh);
#endif
  gram<2>(n, k, A, lda, H, ldh);
}

void timesTransposed(const bool add, const int n, const int m, const int k, const double* A,
                     const int lda, const double* B, const int ldb, double* C, const int ldc) {
#ifdef PRIME_WIDE_VECTORS
  if (kWidth == 8) return product512(add, n, m, k, A, lda, B, ldb, C, ldc);
  if (kWidth == 4) return product256(add, n, m, k, A, lda, B, ldb, C, ldc);
#endif
  product<2>(add, n, m, k, A, lda, B, ldb, C, ldc);
}

void reflect(const int m, const int n, const double* v, const double tau, double* A,
             const int lda) {
#ifdef PRIME_WIDE_VECTORS
  if (kWidth == 8) return reflect512(m, n, v, tau, A, lda);
  if (kWidth == 4) return reflect256(m, n, v, tau, A, lda);
#endif
  reflectAll<2>(m, n, v, tau, A, lda);
}

void gramOfUpper(const int n, const double* A, const int lda, double* H, const int ldh) {
#ifdef PRIME_WIDE_VECTORS
  if (kWidth == 8) return gramOfUpper512(n, A, lda, H, ldh);
  if (kWidth == 4) return gramOfUpper256(n, A, lda, H, ldh);
#endif
  gramOfUpper<2>(n, A, lda, H, ldh);
}

void reflectFour(const int m, const int n, const double* V, const int ldv, const double* T,
                 double* A, const int lda) {
#ifdef PRIME_WIDE_VECTORS
  if (kWidth == 8) return reflectFour512(m, n, V, ldv, T, A, lda);
  if (kWidth == 4) return reflectFour256(m, n, V, ldv, T, A, lda);
#endif
  reflectFourAll<2>(m, n, V, ldv, T, A, lda);
}

void invertTriangle(const int n, const double* L, const int ldl, double* X, const int ldx) {
#ifdef PRIME_WIDE_VECTORS
  if (kWidth == 8) return invert512(n, L, ldl, X, ldx);
  if (kWidth == 4) return invert256(n, L, ldl, X, ldx);
#endif
  invert<2>(n, L, ldl, X, ldx);
}

bool partialCholesky(const int n, const int m, double* H, const int ldh) {
#ifdef PRIME_WIDE_VECTORS
  if (kWidth == 8) return eliminate512(n, m, H, ldh);
  if (kWidth == 4) return eliminate256(n, m, H, ldh);
#endif
  return eliminate<2>(n, m, H, ldh);
}

}  // namespace prime
