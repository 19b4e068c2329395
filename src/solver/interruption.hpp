// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <atomic>
#include <stdexcept>

namespace prime {

/// A solve was ended on request. It is no SolveError, because the estimator must not restart.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("the solve was interrupted") {}
};

/// Request by another thread to end the current solve, shared by the solvers of one estimator.
class Interruption {
 public:
  void request() { requested_ = true; }
  bool requested() const { return requested_; }
  /// Throws Interrupted after a request.
  void check() const {
    if (requested_) throw Interrupted();
  }

 private:
  std::atomic<bool> requested_{false};
};

}  // namespace prime
