# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Stairs, slopes, patches and soft ground are what was asked for, and robots walk on them."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from prime_estimation.errors import ConfigError
from prime_estimation.robot import Robot
from prime_estimation.simulate import Ground, simulate
from prime_estimation.simulate.bag import foot_wrenches
from prime_estimation.simulate.ground import CLEAR
from prime_estimation.simulate.model import build

STAIRS = Ground(stair_height=0.09, stair_count=5, stair_depth=0.33, platform=1.0, begin=0.8)
SLOPE = Ground(slope=np.deg2rad(12.0), slope_length=2.0, platform=0.5, begin=0.8)
RIDGE = Ground(slope=0.3, slope_length=1.5, platform=0.0, begin=0.5)


@pytest.mark.parametrize("ground", [STAIRS, SLOPE, RIDGE], ids=["stairs", "slope", "ridge"])
def test_the_scene_has_the_height_of_the_course(ground):
    """Rays from above meet the scene where the ground says that it is."""
    model = build(Robot.load("go2"), None, ground, 0)
    data = mujoco.MjData(model)
    data.qpos[2] = 50.0  # the robot is out of the way
    mujoco.mj_forward(model, data)
    down, hit = np.array([0.0, 0.0, -1.0]), np.zeros(1, np.int32)
    for x in np.arange(-1.0, 7.0, 0.0731):
        start = np.array([x, 0.4, 5.0])
        distance = mujoco.mj_ray(model, data, start, down, None, 1, -1, hit)
        assert 5.0 - distance == pytest.approx(ground.height(x), abs=1e-6)


def test_height_of_stairs_and_slope():
    assert [STAIRS.height(x) for x in (0.0, 0.79, 0.81, 1.14, 2.2, 3.0)] == pytest.approx(
        [0.0, 0.0, 0.09, 0.18, 0.45, 0.45]
    )
    # five steps, a platform of 1 m, five steps down
    end = 0.8 + 2 * 4 * 0.33 + 1.0
    assert STAIRS.height(end - 0.01) == pytest.approx(0.09) and STAIRS.height(end + 0.01) == 0.0
    assert SLOPE.height(1.8) == pytest.approx(np.tan(np.deg2rad(12.0)))
    assert SLOPE.height(3.1) == pytest.approx(2.0 * np.tan(np.deg2rad(12.0)))
    assert Ground().height(3.0) == 0.0


def test_patches_have_their_share_and_stay_where_they_are():
    ground = Ground(friction=0.35, patch_friction=0.8, patch_share=0.35)
    rng = np.random.default_rng(0)
    places = rng.uniform(-20.0, 20.0, (4000, 2))
    values = np.array([ground.friction_at(xy, 5) for xy in places])
    assert set(values) == {0.35, 0.8}
    assert np.mean(values == 0.8) == pytest.approx(0.35, abs=0.04)
    assert np.array_equal(values[:50], [ground.friction_at(xy, 5) for xy in places[:50]])
    assert np.any(values != [ground.friction_at(xy, 6) for xy in places])
    assert Ground(friction=0.6).friction_at(places[0], 5) == 0.6


def test_feet_slide_where_friction_is_low():
    """No foot pulls more than the friction of its place; on ice a trot slips."""
    ice = Ground(friction=0.9, patch_friction=0.15, patch_size=0.3, patch_share=0.5)
    run = simulate("go2", "trot", 1.0, ground=ice, seed=2, start=1.0)
    force = run.contact_force.reshape(-1, 3)
    loaded = force[:, 2] > 20.0
    ratio = np.linalg.norm(force[loaded, :2], axis=1) / force[loaded, 2]
    assert 0.15 < ratio.max() < 0.9
    assert np.mean(np.abs(ratio - 0.15) < 0.01) > 0.01  # some are at the limit of the ice


def test_soft_ground_gives():
    depth = {}
    for softness in (0.005, 0.03):
        run = simulate("go2", "stand", 0.3, ground=Ground(softness=softness))
        depth[softness] = run.q[-1, 2]
        weight = run.contact_force[:, :, 2].sum(axis=1).mean()
        assert weight == pytest.approx(9.81 * run.robot.total_mass, rel=0.02)
    lower = depth[0.005] - depth[0.03]
    assert 0.0 <= lower < 0.03
    mu = foot_wrenches(run, 4)[1]
    assert mu[-1, :, 2].min() > 5.0


@pytest.mark.parametrize(
    "ground, start",
    [(Ground(stair_height=0.06, begin=0.35), 1.5), (Ground(slope=0.2, begin=0.35), 1.5)],
    ids=["stairs", "slope"],
)
def test_a_trot_climbs(ground, start):
    run = simulate("go2", "forward", 2.0, ground=ground, seed=1, start=start)
    climbed = run.q[-1, 2] - run.q[0, 2]
    course = ground.height(run.q[-1, 0]) - ground.height(run.q[0, 0])
    assert course > 0.1 and climbed == pytest.approx(course, abs=0.08)


@pytest.mark.parametrize(
    "fields, message",
    [
        (dict(stair_height=0.5), "stair_height must be 0..0.2 m, got 0.5"),
        (dict(begin=0.0), "begin must be 0.3 m or more, got 0.0"),
        (dict(slope=float("nan")), "slope must be"),
        (dict(slope=0.1, stair_height=0.1), "not both"),
    ],
)
def test_ground_that_cannot_be(fields, message):
    with pytest.raises(ConfigError, match=message):
        Ground(**fields)


def test_two_feet_climb_nothing():
    with pytest.raises(ConfigError, match="two feet"):
        simulate("g1", "sway", 0.5, ground=STAIRS)


def test_bumps_are_caps_of_their_radius_and_none_is_at_the_start():
    ground = Ground(bump_height=0.05, bump_radius=0.2, extent=2.0)
    spheres = ground.spheres(3)
    centres, radii = np.array([c for c, _ in spheres]), np.array([r for _, r in spheres])
    heights = centres[:, 2] + radii
    assert 0.4 * 0.05 <= heights.min() and heights.max() <= 0.05
    np.testing.assert_allclose(np.sqrt(radii**2 - centres[:, 2] ** 2), 0.2)  # of the cap, at z = 0
    away = np.linalg.norm(centres[:, :2], axis=1)
    assert CLEAR < away.min() < 2.0 * CLEAR
    assert [c.tolist() for c, _ in ground.spheres(3)] == centres.tolist()
    assert len(Ground().spheres(3)) == 0
