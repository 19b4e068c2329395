// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "residuals/residual.hpp"

#include <stdexcept>
#include <utility>

namespace prime {

int Columns::take(const int z) {
  if (place_[z] < 0) {
    place_[z] = static_cast<int>(taken.size());
    taken.push_back(z);
  }
  return place_[z];
}

std::vector<int> Columns::take(const int start, const int size) {
  std::vector<int> places;
  for (int i = 0; i < size; ++i) places.push_back(take(start + i));
  return places;
}

std::pair<int, int> Columns::findParameters(const std::string& name) const {
  int first = 0;
  for (const auto& block : parameters) {
    if (block.name == name) return {first, static_cast<int>(block.size)};
    first += static_cast<int>(block.size);
  }
  return {-1, 0};
}

std::vector<int> Columns::takeParameters(const std::string& name) {
  const auto [first, size] = findParameters(name);
  return first < 0 ? std::vector<int>() : take(variables.parameters + first, size);
}

std::map<std::string, Residual::Registration::Make>& Residual::registry() {
  static std::map<std::string, Registration::Make> makers;
  return makers;
}

Residual::Registration::Registration(const std::string& name, Make make) {
  registry()[name] = std::move(make);
}

std::vector<std::string> Residual::names() {
  std::vector<std::string> out;
  for (const auto& [name, make] : registry()) out.push_back(name);
  return out;
}

std::shared_ptr<Residual> Residual::make(const std::string& name, const Context& context) {
  const auto found = registry().find(name);
  if (found != registry().end()) return found->second(context);
  std::string known;
  for (const auto& other : names()) known += (known.empty() ? "" : ", ") + other;
  throw std::invalid_argument("no residual '" + name + "'; known are " + known);
}

}  // namespace prime
