# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Recording for the other scripts: one of yours, or a simulated Go2 with 3 kg on its back."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path


def arguments(text: str) -> argparse.Namespace:
    """Reads robot and recording from the command line; simulates where no recording is given."""
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("recording", nargs="?", help="rosbag2 folder, .mcap or .db3 file")
    parser.add_argument("--robot", default="go2", help="whose recording it is (default: go2)")
    args = parser.parse_args()
    args.recording = args.recording or simulated(args.robot)
    return args


def simulated(robot: str, seconds: float = 4.0) -> Path:
    """Makes a recording of a trotting robot (needs MuJoCo) and returns its folder."""
    from prime_estimation import simulate

    out = Path(tempfile.mkdtemp()) / "trot"
    payload = simulate.Payload(3.0, position=(0.05, 0.02, 0.1))
    print(f"simulating {seconds:g} s of {robot} with a payload of {payload.mass:g} kg")
    return simulate.run(robot, "trot", seconds, out, payload=payload)
