// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// No Eigen in this file: code for wider vectors must not leak into functions that other files share.
#include "partial_cholesky.hpp"

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

/// 2N rows of `Columns` columns: C = A A^T, or C -= A A^T.
template <int N, int Columns, bool Subtract>
PRIME_INLINE void tile(const int k, const double* row, const double* column, const int lda, double* C, const int ldc) {
  typename Vector<N>::type low[Columns] = {}, high[Columns] = {};
  for (int l = 0; l < k; ++l, row += lda, column += lda) {
    const auto a = load<N>(row), b = load<N>(row + N);
    for (int c = 0; c < Columns; ++c) {
      low[c] += a * column[c];
      high[c] += b * column[c];
    }
  }
  for (int c = 0; c < Columns; ++c, C += ldc) {
    store<N>(C, Subtract ? load<N>(C) - low[c] : low[c]);
    store<N>(C + N, Subtract ? load<N>(C + N) - high[c] : high[c]);
  }
}

template <int N, int Columns, bool Subtract>
PRIME_INLINE void panel(const int n, const int j, const int k, const double* A, const int lda, double* H, const int ldh) {
  for (int i = j; i < n; i += 2 * N) tile<N, Columns, Subtract>(k, A + i, A + j, lda, H + i + j * ldh, ldh);
}

template <int N>
PRIME_INLINE void gram(const int n, const int k, const double* A, const int lda, double* H, const int ldh) {
  for (int j = 0; j < n; j += 4) panel<N, 4, false>(n, j, k, A, lda, H, ldh);
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
      for (int i = d; i < n; i += N) store<N>(other + i, load<N>(other + i) - factor * load<N>(column + i));
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
      panel<N, 4, true>(n, j, k, H, ldh, H, ldh);
    else if (w == 3)
      panel<N, 3, true>(n, j, k, H, ldh, H, ldh);
    else if (w == 2)
      panel<N, 2, true>(n, j, k, H, ldh, H, ldh);
    else
      panel<N, 1, true>(n, j, k, H, ldh, H, ldh);
    if (j < m && !factorPanel<N>(n, j, w, H, ldh)) return false;
    j += w;
  }
  return true;
}

#ifdef PRIME_WIDE_VECTORS
__attribute__((target("avx512f"))) void gram512(int n, int k, const double* A, int lda, double* H, int ldh) {
  gram<8>(n, k, A, lda, H, ldh);
}
__attribute__((target("avx2,fma"))) void gram256(int n, int k, const double* A, int lda, double* H, int ldh) {
  gram<4>(n, k, A, lda, H, ldh);
}
__attribute__((target("avx512f"))) bool eliminate512(int n, int m, double* H, int ldh) { return eliminate<8>(n, m, H, ldh); }
__attribute__((target("avx2,fma"))) bool eliminate256(int n, int m, double* H, int ldh) { return eliminate<4>(n, m, H, ldh); }

const int kWidth = __builtin_cpu_supports("avx512f") ? 8 : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 4 : 2;
#endif

}  // namespace

void gramLower(const int n, const int k, const double* A, const int lda, double* H, const int ldh) {
#ifdef PRIME_WIDE_VECTORS
  if (kWidth == 8) return gram512(n, k, A, lda, H, ldh);
  if (kWidth == 4) return gram256(n, k, A, lda, H, ldh);
#endif
  gram<2>(n, k, A, lda, H, ldh);
}

bool partialCholesky(const int n, const int m, double* H, const int ldh) {
#ifdef PRIME_WIDE_VECTORS
  if (kWidth == 8) return eliminate512(n, m, H, ldh);
  if (kWidth == 4) return eliminate256(n, m, H, ldh);
#endif
  return eliminate<2>(n, m, H, ldh);
}

}  // namespace prime
