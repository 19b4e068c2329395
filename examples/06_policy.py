# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A reinforcement-learning policy that observes the estimated base state, on a Go2 or a G1.

    python examples/06_policy.py --robot go2                     # stands, is pushed
    python examples/06_policy.py --robot g1 --policy actor.npz   # your network

The robot is simulated (MuJoCo) and known by its sensors only. The loop in `control` is the one for
a real robot too: there `observer.lowstate(message)` takes the place of `observer.push(sample)`, and
LowCmd that of `robot.obey`. Observation and action are those of Isaac Lab's velocity tasks: joints
breadth first, actions are offsets from a default posture.
"""

import argparse

import numpy as np

from prime_estimation import Config, Robot, StateObserver
from prime_estimation.control.motion_types import JointCommand
from prime_estimation.control.posture import standing_posture
from prime_estimation.simulate.robot import SimulatedRobot

PERIOD = 20  # physics steps of 1 ms between two actions: 50 Hz
ACTION_SCALE = 0.25  # rad per unit of action
GAINS = {"go2": (40.0, 1.5), "g1": (150.0, 5.0)}  # Nm/rad, Nm s/rad
PUSH = (1.0, 1.15)  # s, from and until
PUSH_SHARE = {"go2": 0.25, "g1": 0.08}  # of the weight, sideways


def observe(state, command, default, action):
    """Observation of Isaac Lab's velocity tasks, 12 + 3 nj numbers."""
    return np.concatenate(
        [
            state.linear_velocity_base,
            state.angular_velocity_base,
            state.projected_gravity,
            command,
            state.joint_position - default,
            state.joint_velocity,
            action,
        ]
    )


def network(path):
    """Actor of rsl_rl: weights and biases in turns (`np.savez(path, *parameters)`), ELU between."""
    with np.load(path) as file:
        layers = [file[name].astype(float) for name in file.files]

    def actor(observation):
        for i in range(0, len(layers), 2):
            x = layers[i] @ observation + layers[i + 1]
            observation = np.where(x > 0.0, x, np.expm1(np.minimum(x, 0.0)))
        return x  # the last layer is linear

    return actor


def balance(names):
    """Stands: ankles, where there are some, push against lean and drift of the base."""
    forward = np.array(["ankle_pitch" in name for name in names], float)
    sideways = np.array(["ankle_roll" in name for name in names], float)

    def actor(observation):
        vx, vy, gx, gy = observation[[0, 1, 6, 7]]
        return (4.0 * gx + 1.0 * vx) * forward - (4.0 * gy + 1.0 * vy) * sideways

    return actor


def control(observer, robot, actor, default, gains, seconds, watch):
    """The loop of a policy: readings in, base state, observation, action, joint targets out."""
    nj, action = len(default), np.zeros(len(default))
    names = observer.robot.joint_names
    to_robot = [observer.joint_names.index(name) for name in names]
    for tick in range(round(1000 * seconds)):
        for sample in robot.advance():
            observer.push(sample)
        watch(1e-3 * tick)
        if tick % PERIOD:
            continue
        state = observer.state()
        if state.valid:
            action = actor(observe(state, np.zeros(3), default, action))
        else:  # never act on a state that is none: hold the posture
            action = np.zeros(nj)
        target = (default + ACTION_SCALE * action)[to_robot]
        kp, kd = (np.full(nj, gain) for gain in gains)
        robot.obey(JointCommand(target, np.zeros(nj), np.zeros(nj), kp, kd))


def run(name, policy=None, seconds=2.0):
    """Velocity errors (n, 3) [m/s], share of valid states, last height (relative)."""
    config = Config.load(name)
    nominal = Robot(config.robot)
    robot, posture = SimulatedRobot(nominal, config.noise), standing_posture(nominal)
    robot.place(posture)
    errors, valid = [], []
    weight = 9.81 * nominal.total_mass
    with StateObserver(nominal, config, joints="isaac_lab", threaded=False) as observer:
        default = posture[7:][[nominal.joint_names.index(n) for n in observer.joint_names]]
        actor = network(policy) if policy else balance(observer.joint_names)

        def watch(t):
            """Push the robot, and compare with the truth."""
            pushed = PUSH[0] <= t < PUSH[1]
            robot.world.push(np.array([0.0, PUSH_SHARE[name] * weight * pushed, 0.0]))
            state = observer.state()
            valid.append(state.valid)
            if state.valid:
                errors.append(state.linear_velocity_base - robot.step.v[:3])

        control(observer, robot, actor, default, GAINS[name], seconds, watch)
    return np.array(errors), float(np.mean(valid)), float(robot.step.q[2] / posture[2])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--robot", choices=sorted(GAINS), default="go2")
    parser.add_argument("--policy", help="weights of an actor network, .npz")
    parser.add_argument("--seconds", type=float, default=3.0)
    arguments = parser.parse_args()
    errors, valid, height = run(arguments.robot, arguments.policy, arguments.seconds)
    print(f"valid {100 * valid:.0f} % of the time, height {100 * height:.0f} % of the first one")
    print("base velocity, rms error [mm/s]:", 1e3 * np.sqrt(np.mean(errors**2, axis=0)))
