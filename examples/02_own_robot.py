# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A robot of one's own: a URDF and a few lines of YAML.

    python examples/02_own_robot.py

`prime doctor --robot solo12.yaml` says the same and more, `prime doctor --bag RUN --robot
solo12.yaml` whether a recording fits.
"""

import tempfile
from pathlib import Path

from prime_estimation import Config, Robot
from prime_estimation.commands.suitability import described, hints

YAML = """
robot:
  name: solo12
  urdf: example-robot-data:solo12     # or the path of a URDF, seen from this file
  base_frame: base_link
  imu_frame: base_link
  contacts:                           # spheres in frames of the URDF
    - {name: FL_FOOT, frame: FL_FOOT, radius: 0.016}
    - {name: FR_FOOT, frame: FR_FOOT, radius: 0.016}
    - {name: HL_FOOT, frame: HL_FOOT, radius: 0.016}
    - {name: HR_FOOT, frame: HR_FOOT, radius: 0.016}
  armature: 0.0033                    # kg m2: gear ratio squared times the rotor's inertia
noise:
  joint_torque: 0.03                  # Nm, one sample
"""

path = Path(tempfile.mkdtemp()) / "solo12.yaml"
path.write_text(YAML)
config = Config.load(str(path))
robot = Robot(config.robot)

for name, fact in described(robot, config).items():
    print(f"{name:>12}: {fact}")

# settings are made for quadrupeds of 15 kg: what does not suit this one, and what to begin with
print("\nhints:")
for hint in hints(robot, config):
    print(f"  {hint}")
