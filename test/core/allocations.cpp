// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// Preloaded into a Python process: counts the memory allocations that are made, at any depth, by a
// function of a given name.
#include <dlfcn.h>
#include <execinfo.h>

#include <cstddef>
#include <cstring>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

static const char* wanted = nullptr;
static long hits = 0;
static thread_local bool inside = false;  // finding the caller may allocate too

/// Start to count for functions whose mangled name contains `name`; the name must stay alive.
void count_in(const char* name) {
  hits = 0;
  wanted = name;
}

/// Stop, and return the count.
long counted() {
  wanted = nullptr;
  return hits;
}

static void note() {
  if (wanted == nullptr || inside) return;
  inside = true;
  void* frames[128];
  const int n = backtrace(frames, 128);
  for (int i = 0; i < n; ++i) {
    Dl_info info;
    if (dladdr(frames[i], &info) != 0 && info.dli_sname != nullptr &&
        std::strstr(info.dli_sname, wanted) != nullptr) {
      ++hits;
      break;
    }
  }
  inside = false;
}

void* malloc(size_t n) {
  note();
  return __libc_malloc(n);
}
void* calloc(size_t n, size_t size) {
  note();
  return __libc_calloc(n, size);
}
void* realloc(void* p, size_t n) {
  note();
  return __libc_realloc(p, n);
}
void* memalign(size_t alignment, size_t n) {
  note();
  return __libc_memalign(alignment, n);
}
void* aligned_alloc(size_t alignment, size_t n) { return memalign(alignment, n); }
int posix_memalign(void** p, size_t alignment, size_t n) {
  *p = memalign(alignment, n);
  return *p == nullptr ? 12 : 0;
}
}
