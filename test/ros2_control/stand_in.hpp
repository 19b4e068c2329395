// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
/// Stand-in for the parts of ros2_control, rclcpp and the messages that the component uses.
#pragma once

#include <cstdio>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <typeindex>
#include <unordered_map>
#include <vector>

#define HARDWARE_INTERFACE_VERSION_GTE(major, minor, patch) 0
#define PLUGINLIB_EXPORT_CLASS(derived, base)
#define RCLCPP_ERROR(logger, ...) std::fprintf(stderr, __VA_ARGS__)

namespace message {
struct Vector {
  double x = 0.0, y = 0.0, z = 0.0, w = 1.0;
};
struct Wrench {
  Vector force;
};
struct Twist {
  Vector linear, angular;
};
struct Pose {
  Vector position, orientation;
};
}  // namespace message

namespace nav_msgs::msg {
struct Odometry {
  using ConstSharedPtr = std::shared_ptr<const Odometry>;
  struct {
    message::Pose pose;
  } pose;
  struct {
    message::Twist twist;
  } twist;
};
}  // namespace nav_msgs::msg

namespace prime_estimation_msgs::msg {
struct ContactWrench {
  std::string name;
  message::Wrench wrench;
  double probability = 0.0;
};
struct ContactWrenches {
  using ConstSharedPtr = std::shared_ptr<const ContactWrenches>;
  std::vector<ContactWrench> contacts;
};
}  // namespace prime_estimation_msgs::msg

namespace rclcpp {
using Time = double;
using Duration = double;
inline std::string get_logger(const std::string& name) { return name; }

struct NodeOptions {
  NodeOptions& arguments(const std::vector<std::string>&) { return *this; }
};
struct SensorDataQoS {
  SensorDataQoS& keep_last(int) { return *this; }
};
template <typename Message>
struct Subscription {
  using SharedPtr = std::shared_ptr<Subscription>;
};

/// What subscriptions would do with a message, by its type.
template <typename Message>
std::function<void(std::shared_ptr<const Message>)>& heard() {
  static std::function<void(std::shared_ptr<const Message>)> callback;
  return callback;
}

struct Node {
  using SharedPtr = std::shared_ptr<Node>;
  Node(const std::string&, const NodeOptions&) {}
  template <typename Message, typename Callback>
  std::shared_ptr<Subscription<Message>> create_subscription(const std::string&,
                                                             const SensorDataQoS&,
                                                             Callback callback) {
    heard<Message>() = callback;
    return std::make_shared<Subscription<Message>>();
  }
};

namespace executors {
class SingleThreadedExecutor {
 public:
  void add_node(const Node::SharedPtr&) {}
  void spin() { ended_.get_future().wait(); }
  void cancel() { ended_.set_value(); }

 private:
  std::promise<void> ended_;
};
}  // namespace executors
}  // namespace rclcpp

namespace rclcpp_lifecycle {
struct State {};
}  // namespace rclcpp_lifecycle

namespace hardware_interface {
enum class return_type { OK };
enum class CallbackReturn { SUCCESS, ERROR };
struct ComponentInfo {
  std::string name;
};
struct HardwareInfo {
  std::string name;
  std::unordered_map<std::string, std::string> hardware_parameters;
  std::vector<ComponentInfo> sensors;
};
struct StateInterface {
  StateInterface(std::string sensor, std::string interface, double* place)
      : name(std::move(sensor) + "/" + std::move(interface)), value(place) {}
  std::string name;
  double* value;
};
class SensorInterface {
 public:
  using CallbackReturn = hardware_interface::CallbackReturn;
  virtual ~SensorInterface() = default;
  virtual CallbackReturn on_init(const HardwareInfo& info) {
    info_ = info;
    return CallbackReturn::SUCCESS;
  }
  virtual CallbackReturn on_activate(const rclcpp_lifecycle::State&) = 0;
  virtual CallbackReturn on_deactivate(const rclcpp_lifecycle::State&) = 0;
  virtual std::vector<StateInterface> export_state_interfaces() = 0;
  virtual return_type read(const rclcpp::Time&, const rclcpp::Duration&) = 0;

 protected:
  HardwareInfo info_;
};
}  // namespace hardware_interface
