// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
#include "prime_estimation_ros2_control/state_estimator.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <limits>
#include <locale>
#include <pluginlib/class_list_macros.hpp>
#include <sstream>

namespace prime_estimation_ros2_control {

using hardware_interface::return_type;
using hardware_interface::StateInterface;
using nav_msgs::msg::Odometry;
using prime_estimation_msgs::msg::ContactWrenches;

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
const char* const kBaseNames[] = {"position.x",         "position.y",
                                  "position.z",         "orientation.x",
                                  "orientation.y",      "orientation.z",
                                  "orientation.w",      "linear_velocity.x",
                                  "linear_velocity.y",  "linear_velocity.z",
                                  "angular_velocity.x", "angular_velocity.y",
                                  "angular_velocity.z", "valid"};
const char* const kContactNames[] = {"force.x", "force.y", "force.z", "contact"};

/// A positive number of seconds; NaN of anything else, as of "0,05" or "50 ms".
double secondsOf(const std::string& text) {
  std::istringstream in(text);
  in.imbue(std::locale::classic());  // a point, whatever the language of the process
  double seconds = 0.0;
  const bool whole = in >> seconds && (in >> std::ws).eof();
  return whole && seconds > 0.0 ? seconds : kUnknown;
}

template <std::size_t n>
bool isFinite(const std::array<double, n>& values) {
  return std::all_of(values.begin(), values.end(), [](const double v) { return std::isfinite(v); });
}

/// Name of the node of a component, in characters that a node may have. It is not the component's
/// own: that is the name of a node that the controller manager makes (from Jazzy on), and may be
/// the estimator's.
std::string nodeName(std::string component) {
  const auto is_none = [](const unsigned char c) { return !std::isalnum(c); };
  std::replace_if(component.begin(), component.end(), is_none, '_');
  return "listener_of_" + component;
}

}  // namespace

StateEstimator::CallbackReturn StateEstimator::on_init(const Description& description) {
  if (SensorInterface::on_init(description) != CallbackReturn::SUCCESS)
    return CallbackReturn::ERROR;
  const auto logger = rclcpp::get_logger(info_.name);
  if (info_.sensors.empty()) {
    RCLCPP_ERROR(logger, "wants a <sensor> for the base, and one for each contact; there is none");
    return CallbackReturn::ERROR;
  }
  if (!take("timeout", timeout_) || !take("contact_timeout", contact_timeout_))
    return CallbackReturn::ERROR;
  for (std::size_t i = 1; i < info_.sensors.size(); ++i) contacts_[info_.sensors[i].name];
  forget();
  return CallbackReturn::SUCCESS;
}

void StateEstimator::forget() {
  base_.fill(kUnknown);
  base_[kValid] = 0.0;
  for (auto& [name, values] : contacts_) values.fill(kUnknown);
  const std::lock_guard<std::mutex> lock(mutex_);
  heard_base_ = base_;
  heard_contacts_ = contacts_;
}

std::vector<StateInterface> StateEstimator::export_state_interfaces() {
  std::vector<StateInterface> out;
  for (std::size_t k = 0; k < base_.size(); ++k)
    out.emplace_back(info_.sensors[0].name, kBaseNames[k], &base_[k]);
  for (auto& [name, values] : contacts_)
    for (std::size_t k = 0; k < values.size(); ++k)
      out.emplace_back(name, kContactNames[k], &values[k]);
  return out;
}

StateEstimator::CallbackReturn StateEstimator::on_activate(const rclcpp_lifecycle::State&) {
  try {
    listen();
  } catch (const std::exception& error) {  // as of a topic whose name is none
    RCLCPP_ERROR(rclcpp::get_logger(info_.name), "cannot listen: %s", error.what());
    stop();
    return CallbackReturn::ERROR;
  }
  return CallbackReturn::SUCCESS;
}

void StateEstimator::listen() {
  // the process' own remapping of names, as of a controller manager that was launched with one,
  // is not meant for this node
  const std::string name = nodeName(info_.name);
  const std::vector<std::string> arguments = {"--ros-args", "-r", "__node:=" + name};
  node_ = std::make_shared<rclcpp::Node>(name, rclcpp::NodeOptions().arguments(arguments));
  odometry_ = node_->create_subscription<Odometry>(
      parameter("odometry", "/prime/odometry"), rclcpp::SensorDataQoS().keep_last(1),
      [this](const Odometry::ConstSharedPtr message) { take(*message); });
  wrenches_ = node_->create_subscription<ContactWrenches>(
      parameter("contact_wrenches", "/prime/contact_wrenches"),
      rclcpp::SensorDataQoS().keep_last(1),
      [this](const ContactWrenches::ConstSharedPtr message) { take(*message); });
  executor_ = std::make_unique<rclcpp::executors::SingleThreadedExecutor>();
  executor_->add_node(node_);
  thread_ = std::thread([this] { executor_->spin(); });
}

StateEstimator::CallbackReturn StateEstimator::on_deactivate(const rclcpp_lifecycle::State&) {
  stop();
  forget();
  return CallbackReturn::SUCCESS;
}

StateEstimator::~StateEstimator() { stop(); }

void StateEstimator::stop() {
  if (executor_) executor_->cancel();
  if (thread_.joinable()) thread_.join();
  executor_.reset();
  odometry_.reset();
  wrenches_.reset();
  node_.reset();
}

return_type StateEstimator::read(const rclcpp::Time&, const rclcpp::Duration&) {
  // never waits for the thread of the subscriptions: what is being written comes with the next
  // cycle, and what is there grows older
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (lock.owns_lock()) {
    base_ = heard_base_;
    // entry by entry: controllers hold the addresses
    for (const auto& [name, values] : heard_contacts_) contacts_.at(name) = values;
    base_at_ = heard_base_at_;
    contacts_at_ = heard_contacts_at_;
  }
  const auto older = [now = std::chrono::steady_clock::now()](const Time at, const double limit) {
    return std::chrono::duration<double>(now - at).count() > limit;
  };
  if (older(base_at_, timeout_)) base_[kValid] = 0.0;
  if (older(contacts_at_, contact_timeout_))
    for (auto& [name, values] : contacts_) values.fill(kUnknown);
  return return_type::OK;
}

void StateEstimator::take(const Odometry& odometry) {
  const auto& p = odometry.pose.pose.position;
  const auto& q = odometry.pose.pose.orientation;
  const auto& v = odometry.twist.twist.linear;
  const auto& w = odometry.twist.twist.angular;
  const BaseValues told = {p.x, p.y, p.z, q.x, q.y, q.z, q.w, v.x, v.y, v.z, w.x, w.y, w.z, 1.0};
  if (!isFinite(told)) return;  // what makes no sense is silence
  const std::lock_guard<std::mutex> lock(mutex_);
  heard_base_ = told;
  heard_base_at_ = std::chrono::steady_clock::now();
}

void StateEstimator::take(const ContactWrenches& wrenches) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto& [name, values] : heard_contacts_) values.fill(kUnknown);  // unless it is told now
  for (const auto& contact : wrenches.contacts) {
    const auto found = heard_contacts_.find(contact.name);
    if (found == heard_contacts_.end())
      continue;  // a contact that the robot description leaves out
    const auto& f = contact.wrench.force;
    const ContactValues told = {f.x, f.y, f.z, contact.probability};
    if (isFinite(told)) found->second = told;
  }
  heard_contacts_at_ = std::chrono::steady_clock::now();
}

bool StateEstimator::take(const std::string& name, double& seconds) const {
  const auto found = info_.hardware_parameters.find(name);
  if (found == info_.hardware_parameters.end()) return true;
  seconds = secondsOf(found->second);
  if (!std::isnan(seconds)) return true;
  RCLCPP_ERROR(rclcpp::get_logger(info_.name), "parameter %s wants seconds, more than 0, got '%s'",
               name.c_str(), found->second.c_str());
  return false;
}

std::string StateEstimator::parameter(const std::string& name, const std::string& otherwise) const {
  const auto found = info_.hardware_parameters.find(name);
  return found == info_.hardware_parameters.end() ? otherwise : found->second;
}

}  // namespace prime_estimation_ros2_control

PLUGINLIB_EXPORT_CLASS(prime_estimation_ros2_control::StateEstimator,
                       hardware_interface::SensorInterface)
