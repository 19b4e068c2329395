# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Forces for a data set: motion with contact forces and states that obeys the dynamics, as arrays.

    python examples/05_forces_for_a_data_set.py [RECORDING --robot go2]

`prime reconstruct` does this and writes motion.npz and motion.mcap.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
from a_recording import arguments

from prime_estimation import Config, Robot
from prime_estimation.identify import identify_run
from prime_estimation.identify.reconstruct import motion, write_npz
from prime_estimation.identify.single import STEP
from prime_estimation.types import ContactState

args = arguments(__doc__.splitlines()[0])
config = Config.load(args.robot)
config = replace(config, estimator=replace(config.estimator, step=STEP))
robot = Robot(config.robot)

run = identify_run(args.recording, robot, config)
arrays = motion(run)
out = Path("motion.npz")
write_npz(out, run, arrays)

for name, values in arrays.items():
    print(f"{name:>14} {values.dtype} {values.shape}")
for i, contact in enumerate(robot.contacts):
    state = arrays["contact_state"][:, i]
    standing = state != ContactState.OPEN
    vertical = arrays["contact_force"][:, i, 2]
    print(
        f"{contact.name}: stands {100 * standing.mean():.0f} % of the time, then carries"
        f" {vertical[standing].mean():.0f} N, in the air {vertical[~standing].mean():.1f} N;"
        f" slips {100 * (state == ContactState.SLIPPING).mean():.0f} %"
    )
# what the equations of motion need beside torques and contact forces: small, or the model is wrong
force, moment = np.sqrt(np.mean(arrays["unexplained"][:, :6] ** 2, axis=0)).round(2).reshape(2, 3)
print(f"unexplained at the base: {force} N, {moment} Nm (rms)")
print(f"wrote {out}")
