// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the prime_estimation developers
//
// Where the IMU is, and where it takes the robot; how far a pose is from it.
#include "bindings/bindings.hpp"
#include "sensing/imu_mount.hpp"
#include "sensing/pose_error.hpp"
#include "sensing/strapdown.hpp"

namespace prime {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

bp::tuple imuPose(const ImuMount& mount, const VectorXd& q, const VectorXd& v) {
  for (const auto& joint : mount.joints())
    if (joint.q + joint.nq > q.size() || joint.v >= v.size())
      throw std::invalid_argument("IMU: q and v of the whole robot are needed");
  ImuMount::Data data(mount);
  mount.place(data, q, v, 0.0);
  return bp::make_tuple(data.base_M_imu, data.base_M_imu.actInv(mount.relativeTwist(data, v)));
}

Eigen::Matrix3d rotationOf(const VectorXd& xyzw) {
  requireSize("IMU", "quaternion", xyzw.size(), 4);
  return Eigen::Quaterniond(Eigen::Vector4d(xyzw)).toRotationMatrix();
}

bp::tuple velocityAtEndOf(const Vector3d& linear, const Vector3d& angular,
                          const VectorXd& quat_world_base, const pinocchio::SE3& base_M_imu,
                          const Vector3d& gyro, const Vector3d& force, const Vector3d& gravity,
                          const double dt) {
  const auto end = velocityAtEnd({linear, angular}, rotationOf(quat_world_base), base_M_imu, gyro,
                                 force, gravity, dt);
  return bp::make_tuple(Vector3d(end.linear()), Vector3d(end.angular()));
}

/// Starts at an IMU on a base with this pose and velocity, moving against it by `relative`.
void startOnBase(Strapdown& s, const Vector3d& position, const VectorXd& quat_world_base,
                 const Vector3d& linear, const Vector3d& angular, const pinocchio::SE3& base_M_imu,
                 const pinocchio::Motion& relative) {
  const pinocchio::SE3 base(rotationOf(quat_world_base), position);
  s.start(base * base_M_imu, base_M_imu.actInv(pinocchio::Motion(linear, angular)) + relative);
}

/// The base of a robot whose IMU has the pose `base_M_imu` in it, and moves against it by
/// `relative`.
bp::tuple strapdownBase(const Strapdown& s, const pinocchio::SE3& base_M_imu,
                        const pinocchio::Motion& relative) {
  const pinocchio::SE3 base = s.pose().act(base_M_imu.inverse());
  const pinocchio::Motion twist = base_M_imu.act(s.velocity() - relative);
  const VectorXd quaternion = Eigen::Quaterniond(base.rotation()).normalized().coeffs();
  const MatrixXd jumps = base.rotation().transpose() * s.jumps * base.rotation();
  return bp::make_tuple(Vector3d(base.translation()), quaternion, Vector3d(twist.linear()),
                        Vector3d(twist.angular()), jumps);
}

/// Position and rotation (6,) of the estimate less those of a pose that was seen.
VectorXd poseError(const VectorXd& pose, const VectorXd& velocity, const Vector3d& phi,
                   const Vector3d& lever, const Vector3d& psi, const double age,
                   const Vector3d& position, const VectorXd& quaternion) {
  if (pose.size() != 7 || velocity.size() != 6 || quaternion.size() != 4)
    throw std::invalid_argument("pose error: a pose has 7 entries, a velocity 6, a quaternion 4");
  const SeenPose seen{pose.head<3>(),
                      velocity.head<3>(),
                      velocity.tail<3>(),
                      rotationOf(pose.tail<4>()),
                      phi,
                      lever,
                      psi,
                      age,
                      position,
                      rotationOf(quaternion.normalized())};
  return seen.error();
}

}  // namespace

void bindImu() {
  bp::class_<ImuMount>("ImuMount", "IMU on the base of a floating-base robot, or behind joints.",
                       bp::init<const pinocchio::Model&, std::size_t, const pinocchio::SE3&>(
                           (bp::arg("model"), bp::arg("joint"), bp::arg("joint_M_imu"))))
      .add_property("size", &ImuMount::size, "number of joints between base and IMU")
      .def("pose", &imuPose, (bp::arg("q"), bp::arg("v")),
           "Pose of the IMU in the base, and its twist relative to the base in its own frame.");

  bp::def("velocity_at_end", &velocityAtEndOf,
          (bp::arg("linear"), bp::arg("angular"), bp::arg("quat_world_base"), bp::arg("base_M_imu"),
           bp::arg("gyro"), bp::arg("force"), bp::arg("gravity"), bp::arg("dt")),
          "Linear and angular velocity (base axes) of a rigid base with IMU at the end of a step, "
          "from their means over it.");

  bp::def(
      "pose_error", &poseError,
      (bp::arg("pose"), bp::arg("velocity"), bp::arg("phi"), bp::arg("lever"), bp::arg("psi"),
       bp::arg("age"), bp::arg("position"), bp::arg("quaternion")),
      "Place [m, world axes] and rotation [rad] of a body on the base, at a lever arm, `age` "
      "before, less those of a pose that was seen of it in a world that is turned by psi, (6,).");

  bp::class_<Strapdown>("Strapdown",
                        "Pose and velocity of an IMU in the world, carried on by its samples.")
      .def(Copied("gravity", &Strapdown::gravity))
      .def(Copied("gyro_bias", &Strapdown::gyro_bias))
      .def(Copied("accelerometer_bias", &Strapdown::accelerometer_bias))
      .def("start", &Strapdown::start, (bp::arg("world_M_imu"), bp::arg("velocity")))
      .def("start_on_base", &startOnBase,
           (bp::arg("position"), bp::arg("quat_world_base"), bp::arg("linear"), bp::arg("angular"),
            bp::arg("base_M_imu"), bp::arg("relative")))
      .def("set_force", &Strapdown::setForce, bp::arg("specific_force"))
      .def("step", &Strapdown::step,
           (bp::arg("dt"), bp::arg("angular_velocity"), bp::arg("specific_force")))
      .def("base", &strapdownBase, (bp::arg("base_M_imu"), bp::arg("relative")),
           "Position, quaternion (xyzw), linear and angular velocity, and jumps of the base; the "
           "last three in its axes.");
}

}  // namespace prime
