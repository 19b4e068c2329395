// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
/// Tells the component what the arguments say, one after the other, and prints what a controller
/// reads after each: valid, position.x, angular_velocity.z, force.z and contact of FL and of FR.
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <thread>

#include "prime_estimation_ros2_control/state_estimator.hpp"

using nav_msgs::msg::Odometry;
using prime_estimation_msgs::msg::ContactWrenches;

int main(int count, char** said) {
  prime_estimation_ros2_control::StateEstimator sensor;
  hardware_interface::HardwareInfo info;
  info.name = "estimate";
  info.hardware_parameters = {{"timeout", "0.3"}, {"contact_timeout", said[1]}};
  info.sensors = {{"base"}, {"FL"}, {"FR"}};
  if (sensor.on_init(info) != hardware_interface::CallbackReturn::SUCCESS) return 1;
  std::map<std::string, double*> values;
  for (const auto& interface : sensor.export_state_interfaces())
    values[interface.name] = interface.value;
  sensor.on_activate({});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (int k = 2; k < count; ++k) {
    const std::string what = said[k];
    auto odometry = std::make_shared<Odometry>();
    odometry->pose.pose.position.x = 1.0;
    odometry->twist.twist.angular.z = what == "odometry_nan" ? nan : 2.0;
    auto wrenches = std::make_shared<ContactWrenches>();
    wrenches->contacts = {{"FL", {{0.0, 0.0, 40.0}}, 0.9},
                          {"FR", {{0.0, 0.0, what == "wrenches_nan" ? nan : 50.0}}, 1.0}};
    if (what == "wrenches_of_one") wrenches->contacts.pop_back();
    if (what.rfind("odometry", 0) == 0) rclcpp::heard<Odometry>()(odometry);
    if (what.rfind("wrenches", 0) == 0) rclcpp::heard<ContactWrenches>()(wrenches);
    if (what == "deactivate") sensor.on_deactivate({});
    if (what == "activate") sensor.on_activate({});
    if (what == "pause") std::this_thread::sleep_for(std::chrono::milliseconds(400));
    sensor.read({}, {});
    for (const char* name : {"base/valid", "base/position.x", "base/angular_velocity.z",
                             "FL/force.z", "FL/contact", "FR/force.z", "FR/contact"})
      std::printf("%g ", *values.at(name));
    std::printf("\n");
  }
}
