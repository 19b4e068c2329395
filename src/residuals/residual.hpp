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

/// One reading of a sensor, as a node is given it.
struct Reading {
  Eigen::VectorXd value;    ///< what the sensor says
  Eigen::VectorXd weight;   ///< reciprocal standard deviation of each row; all 0: absent
  Eigen::VectorXd nominal;  ///< the same before outliers are looked at
  double age = 0.0;         ///< [s] that it was taken before the node, 0 <= age <= dt

  bool present() const { return !weight.isZero(0.0); }
};

/// Tangent variables of a node, `z = (xi, v+, q, v, p)`: where each part begins.
struct Variables {
  int next, position, velocity, parameters, size;
};

/// The variables of z that the dense rows of a node touch; those that several sensors share are
/// taken once.
class Columns {
 public:
  explicit Columns(const Variables& variables_)
      : variables(variables_), place_(variables.size, -1) {}
  /// Place of variable z among the taken ones.
  int take(int z);
  /// Places of `size` consecutive variables, which come to lie side by side if none was taken yet.
  std::vector<int> take(int start, int size);
  /// Places of the parameter block `name`; none where it is no parameter.
  std::vector<int> takeParameters(const std::string& name);
  /// First index of a parameter block in p and its size; {-1, 0} where it is no parameter.
  std::pair<int, int> findParameters(const std::string& name) const;

  const Variables variables;
  std::vector<int> taken;
  std::vector<ParameterBlock> parameters;  ///< of p, in order

 private:
  std::vector<int> place_;
};

/// The state at which residuals are evaluated.
struct NodePoint {
  using ConstRef = Eigen::Ref<const Eigen::VectorXd>;
  ConstRef q, v, p;
  Eigen::Matrix3d R_world_base;  ///< of a floating base
  ContactDynamics::Data* step;   ///< of the step that follows, at its solution; else null
  const ContactDynamics* dynamics;
  double dt;
};

/// Residual of one sensor, e(z) = h(x) (-) reading: one sensor, one file.
///
/// A residual says how many rows it has, which parameters it adds to p, and which variables of z it
/// touches; the node asks for value and Jacobian, and whitens both. The same object serves all
/// nodes; what it computes with, it keeps in a `Scratch` of each node.
class Residual {
 public:
  /// What a residual is made from.
  struct Context {
    const ContactDynamics& dynamics;
    const ImuMount& mount;
    bool mounts;  ///< how sensors are mounted on the robot is a parameter
    /// per joint, which parameter is the zero of its encoder; -1: none, it is known
    std::vector<int> zeros;
  };
  struct Scratch {
    virtual ~Scratch() = default;
  };
  using Vector = Eigen::Ref<Eigen::VectorXd>;
  using Matrix = Eigen::Ref<Eigen::MatrixXd>;

  /// When a residual can be evaluated: with the state of a node, or with the step that follows it.
  enum class When { State, Step };

  Residual(std::string name_, int rows_, int values_, When when_ = When::State)
      : name(std::move(name_)), rows(rows_), values(values_), when(when_) {}
  virtual ~Residual() = default;

  /// Parameters that this sensor adds to p: biases, offsets, frames.
  virtual std::vector<ParameterBlock> parameters() const { return {}; }
  /// Take the variables that the rows touch.
  virtual void bind(Columns& columns) = 0;
  virtual std::unique_ptr<Scratch> createScratch() const { return nullptr; }
  /// e (rows), not whitened.
  virtual void value(const NodePoint& at, const Reading& reading, Scratch* scratch,
                     Vector e) const = 0;
  /// de/dz in the places of the taken variables; J (rows, columns) is zero on entry.
  virtual void jacobian(const NodePoint& at, const Reading& reading, Scratch* scratch,
                        Matrix J) const = 0;

  /// Whether it looks at the pose or velocity of a floating base.
  virtual bool needsFloatingBase() const { return true; }
  /// Sizes of consecutive rows that are outliers together (Student-t); none: Gaussian.
  virtual std::vector<int> outliers() const { return {}; }

  const std::string name;
  const int rows;    ///< of the residual
  const int values;  ///< size of the reading's value
  const When when;

  /// The residual that is registered under this name. Throws std::invalid_argument that lists the
  /// known ones.
  static std::shared_ptr<Residual> make(const std::string& name, const Context& context);
  static std::vector<std::string> names();

  /// Registers a residual's maker while the library is loaded.
  struct Registration {
    using Make = std::function<std::shared_ptr<Residual>(const Context&)>;
    Registration(const std::string& name, Make make);
  };

 private:
  static std::map<std::string, Registration::Make>& registry();
};

}  // namespace prime
