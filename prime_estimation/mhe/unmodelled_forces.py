# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Unmodelled forces at the feet: selects the feet for which they are estimated."""

from __future__ import annotations

from .. import _core
from ..config.parameters import EstimatorConfig
from ..config.policies import UNMODELLED
from ..contact.points import leg_joints
from ..robot import GRAVITY, Robot

JOINTS = 3  # of a leg whose torques tell a force


def look_for_forces(core: "_core.MeasurementModel", robot: Robot, options: EstimatorConfig) -> None:
    """Lets nodes find forces at point feet that no contact law explains (C++ `UnmodelledForces`).

    With smoothed contacts, on a floating base: rigid ones hold a foot in all directions.
    """
    own = leg_joints(robot)
    spheres = [contact.foot for contact in robot.contacts]
    single = [spheres.count(foot) == 1 and len(legs) == JOINTS for foot, legs in zip(spheres, own)]
    if options.contact_model != "smoothed" or not (robot.config.floating_base and any(single)):
        return
    core.look_for_forces(
        joints=[legs if alone else [] for legs, alone in zip(own, single)],
        stddev=UNMODELLED.share * GRAVITY * robot.total_mass,
        odds=UNMODELLED.odds,
        least=UNMODELLED.least,
        stretched=UNMODELLED.stretched,
        stop=UNMODELLED.stop,
    )
