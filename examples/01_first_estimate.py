# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""First estimate: samples in, estimates out.

    python examples/01_first_estimate.py [RECORDING --robot go2]

Samples may come from anywhere: a driver, a simulator, a bag as here. A sample has a stamp, SI units
and joints in the order of `robot.joint_names`; see `prime_estimation.types`.
"""

from a_recording import arguments

from prime_estimation import Config, Robot
from prime_estimation.io.bag import BagReader
from prime_estimation.recordings.pipeline import Pipeline
from prime_estimation.recordings.samples import sensor_samples
from prime_estimation.recordings.topic_choice import choose_topics

args = arguments(__doc__.splitlines()[0])
config = Config.load(args.robot)
robot = Robot(config.robot)

with BagReader(args.recording) as bag:
    topics = choose_topics(bag, robot, mocap=False)  # without motion capture, as outdoors
    pipeline = Pipeline(robot, config, mocap=False)
    nodes = 0
    for _, sample in sensor_samples(bag, topics, pipeline.intake.reader):
        for estimate in pipeline.push(sample):
            nodes += 1
            if nodes % 50 != 1:
                continue
            forces = " ".join(f"{c.force_world[2]:5.0f}" for c in estimate.contacts)
            print(
                f"{1e-9 * (estimate.stamp_ns - bag.start_ns):5.2f} s"
                f"  velocity {estimate.linear_velocity_base.round(2)} m/s"
                f"  feet {forces} N"
                f"  mass {estimate.total_mass:.2f} +- {1.96 * estimate.total_mass_stddev:.2f} kg"
            )

print(f"{nodes} estimates; the model says {robot.total_mass:.2f} kg")
