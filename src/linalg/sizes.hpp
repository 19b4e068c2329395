// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace prime {

/// What is computed with has the sizes of its robot, whatever is handed in. Throws
/// std::invalid_argument that names both sizes, and `otherwise`.
inline void requireSize(const std::string_view whose, const std::string_view name, const long size,
                        const long expected, const std::string_view otherwise = "") {
  if (size == expected) return;
  throw std::invalid_argument(std::string(whose) + ": " + std::string(name) + " has " +
                              std::to_string(size) + " entries, not " + std::to_string(expected) +
                              std::string(otherwise));
}

}  // namespace prime
