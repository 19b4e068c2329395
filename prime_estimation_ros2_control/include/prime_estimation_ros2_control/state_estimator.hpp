// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#pragma once

#include <hardware_interface/version.h>
#include <array>
#include <chrono>
#include <hardware_interface/sensor_interface.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <nav_msgs/msg/odometry.hpp>
#include <prime_estimation_msgs/msg/contact_wrenches.hpp>
#include <rclcpp/rclcpp.hpp>
#include <string>
#include <thread>
#include <vector>

namespace prime_estimation_ros2_control {

/// Estimate of prime_estimation as a sensor of ros2_control: base pose and velocity, contacts.
///
/// State interfaces of the first sensor of the hardware component, in SI units: `position.x/y/z`
/// and `orientation.x/y/z/w` of the base in the world frame; `linear_velocity.x/y/z` and
/// `angular_velocity.x/y/z` in the base frame (nav_msgs/Odometry); `valid`, 1 while odometry has
/// come within `timeout`, else 0 beside the last values; of every further sensor, which is a
/// contact with the name that the estimator gives it: `force.x/y/z` on the robot in world axes and
/// `contact`, the probability that it carries load, NaN unless they have come within
/// `contact_timeout`. Values are NaN before the first message and while inactive; a message with
/// NaN is none.
///
/// Hardware parameters: `odometry` and `contact_wrenches`, topics (default: below /prime);
/// `timeout` [s] (default 0.05), `contact_timeout` [s] (default 0.1: forces come with estimates,
/// less often than odometry). Its node is `listener_of_<name of the component>`.
class StateEstimator : public hardware_interface::SensorInterface {
 public:
  using CallbackReturn = hardware_interface::CallbackReturn;
#if HARDWARE_INTERFACE_VERSION_GTE(6, 0, 0)  // Lyrical; Humble, Jazzy and Kilted hand the bare info
  using Description = hardware_interface::HardwareComponentInterfaceParams;
#else
  using Description = hardware_interface::HardwareInfo;
#endif

  CallbackReturn on_init(const Description& description) override;
  CallbackReturn on_activate(const rclcpp_lifecycle::State& previous_state) override;
  CallbackReturn on_deactivate(const rclcpp_lifecycle::State& previous_state) override;
  std::vector<hardware_interface::StateInterface> export_state_interfaces() override;
  hardware_interface::return_type read(const rclcpp::Time& time,
                                       const rclcpp::Duration& period) override;
  ~StateEstimator() override;

 private:
  enum Base {
    kPosition = 0,
    kOrientation = 3,
    kLinear = 7,
    kAngular = 10,
    kValid = 13,
    kBase = 14
  };
  enum Contact { kForce = 0, kProbability = 3, kContact = 4 };
  using BaseValues = std::array<double, kBase>;
  using ContactValues = std::array<double, kContact>;
  using Time = std::chrono::steady_clock::time_point;

  void take(const nav_msgs::msg::Odometry& odometry);
  void take(const prime_estimation_msgs::msg::ContactWrenches& wrenches);
  bool take(const std::string& name, double& seconds) const;  ///< a parameter; false: it is none
  void listen();
  void stop();
  void forget();
  std::string parameter(const std::string& name, const std::string& otherwise) const;

  double timeout_ = 0.05, contact_timeout_ = 0.1;  ///< s
  BaseValues base_;                                ///< what controllers see
  std::map<std::string, ContactValues> contacts_;  ///< by name; all of them from on_init on
  Time base_at_, contacts_at_;                     ///< when they came

  std::mutex mutex_;  ///< of what the subscriptions write
  BaseValues heard_base_;
  std::map<std::string, ContactValues> heard_contacts_;
  Time heard_base_at_, heard_contacts_at_;

  rclcpp::Node::SharedPtr node_;
  rclcpp::Subscription<nav_msgs::msg::Odometry>::SharedPtr odometry_;
  rclcpp::Subscription<prime_estimation_msgs::msg::ContactWrenches>::SharedPtr wrenches_;
  std::unique_ptr<rclcpp::executors::SingleThreadedExecutor> executor_;
  std::thread thread_;
};

}  // namespace prime_estimation_ros2_control
