// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "contact/contact_dynamics.hpp"
#include "sensing/imu_mount.hpp"

namespace prime {

/// One reading of a sensor at a node.
struct Reading {
  Eigen::VectorXd value;    ///< measured value
  Eigen::VectorXd weight;   ///< reciprocal standard deviation of each row; all 0: absent
  Eigen::VectorXd nominal;  ///< the weight before outliers are down-weighted
  double age = 0.0;         ///< time from the reading to the node [s], 0 <= age <= dt

  bool present() const { return !weight.isZero(0.0); }
};

/// Layout of a node's tangent variables `z = (xi, v+, q, v, p)`: first index of each part.
struct Variables {
  int next, position, velocity, parameters, size;
};

/// Columns of a node's dense rows: the variables of z that at least one sensor touches, each once.
class Columns {
 public:
  explicit Columns(const Variables& variables_)
      : variables(variables_), place_(variables.size, -1) {}
  /// Take variable z; returns its column.
  int take(int z);
  /// Take `size` consecutive variables; returns their columns, adjacent if none was taken before.
  std::vector<int> take(int start, int size);
  /// Take the parameter block `name`; returns its columns, none if the problem has no such block.
  std::vector<int> takeParameters(const std::string& name);
  /// First index of a parameter block in p, and its size; {-1, 0} if the problem has no such block.
  std::pair<int, int> findParameters(const std::string& name) const;

  const Variables variables;
  std::vector<int> taken;
  std::vector<ParameterBlock> parameters;  ///< of p, in order

 private:
  std::vector<int> place_;
};

/// State at which residuals are evaluated.
struct NodePoint {
  using ConstRef = Eigen::Ref<const Eigen::VectorXd>;
  ConstRef q, v, p;
  Eigen::Matrix3d R_world_base;  ///< of a floating base
  ContactDynamics::Data* step;   ///< of the step that follows, at its solution; else null
  const ContactDynamics* dynamics;
  double dt;
};

/// Residual of one sensor, e(z) = h(x) (-) reading. Each sensor has a file of its own.
///
/// A residual declares its number of rows, the parameters that it adds to p, and the variables of z
/// that it touches. The node evaluates value and Jacobian, and whitens both. One object serves all
/// nodes; intermediate results are kept in a `Scratch` per node.
class Residual {
 public:
  /// Arguments for the construction of a residual.
  struct Context {
    const ContactDynamics& dynamics;
    const ImuMount& mount;
    bool mounts;  ///< the mounts of the sensors are parameters
    /// per joint: index of the parameter that is the zero of its encoder; -1: the zero is known
    std::vector<int> zeros;
  };
  struct Scratch {
    virtual ~Scratch() = default;
  };
  using Vector = Eigen::Ref<Eigen::VectorXd>;
  using Matrix = Eigen::Ref<Eigen::MatrixXd>;

  /// Whether a residual depends on the state of a node only, or also on the step that follows it.
  enum class When { State, Step };

  Residual(std::string name_, int rows_, int values_, When when_ = When::State)
      : name(std::move(name_)), rows(rows_), values(values_), when(when_) {}
  virtual ~Residual() = default;

  /// Parameter blocks that this sensor adds to p: biases, offsets, frames.
  virtual std::vector<ParameterBlock> parameters() const { return {}; }
  /// Take the variables that the rows depend on.
  virtual void bind(Columns& columns) = 0;
  virtual std::unique_ptr<Scratch> createScratch() const { return nullptr; }
  /// Residual e (rows), not whitened.
  virtual void value(const NodePoint& at, const Reading& reading, Scratch* scratch,
                     Vector e) const = 0;
  /// Jacobian de/dz in the columns of the taken variables; J (rows, columns) is zero on entry.
  virtual void jacobian(const NodePoint& at, const Reading& reading, Scratch* scratch,
                        Matrix J) const = 0;

  /// Whether the residual depends on the pose or velocity of a floating base.
  virtual bool needsFloatingBase() const { return true; }
  /// Sizes of the groups of consecutive rows that share one Student-t weight; none: Gaussian rows.
  virtual std::vector<int> outliers() const { return {}; }

  const std::string name;
  const int rows;    ///< of the residual
  const int values;  ///< size of the reading's value
  const When when;

  /// Make the residual that is registered under this name. Throws std::invalid_argument, which
  /// lists the known names.
  static std::shared_ptr<Residual> make(const std::string& name, const Context& context);
  static std::vector<std::string> names();

  /// Registers a residual by name when the library is loaded.
  struct Registration {
    using Make = std::function<std::shared_ptr<Residual>(const Context&)>;
    Registration(const std::string& name, Make make);
  };

 private:
  static std::map<std::string, Registration::Make>& registry();
};

}  // namespace prime
