// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <stdexcept>

namespace prime {

/// A problem of the estimator has no solution at the data it was given: a step of the contact
/// dynamics, or a window. Its text says what was infeasible. Nothing else throws it, so that
/// whoever starts anew after it does not hide a bug.
struct SolveError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace prime
