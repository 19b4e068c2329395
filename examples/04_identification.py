# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Identification: mass, centre of mass and inertia of a link from a whole recording.

    python examples/04_identification.py [RECORDING --robot go2]

`prime identify` does this for several recordings, and writes a patched URDF and a report.
"""

from dataclasses import replace

from a_recording import arguments

from prime_estimation import Config, Robot
from prime_estimation.identify import identify_run
from prime_estimation.identify.single import STEP

args = arguments(__doc__.splitlines()[0])
config = Config.load(args.robot)
config = replace(config, estimator=replace(config.estimator, step=STEP))
robot = Robot(config.robot)  # robot.estimated_links: default the base

run = identify_run(args.recording, robot, config)
state = "converged" if run.result.converged else "not converged"
print(f"{run.nodes} nodes, {len(run.result.history)} iterations, {state}")
for link in run.posterior.links:
    for q in run.posterior.quantities(link):
        known = "" if q.observable else "   not observable in this motion"
        interval = f"{q.value:8.4f} +- {1.96 * q.stddev:.4f} {q.unit}"
        print(f"{link} {q.name:>5} {interval} (URDF: {q.prior:.4f}){known}")
for notice in run.notices:
    print(notice)
