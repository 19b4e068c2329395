# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The payload detector by itself.

How long a force that nobody measured must last to be taken for a payload, in windows of any length.
"""

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import PAYLOAD
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.situation import ON_ITS_FEET
from prime_estimation.monitors.leg_weight import LegWeight
from prime_estimation.monitors.payload_change import PayloadDetector
from prime_estimation.robot import Robot

NODES, BEGINS = 600, 200
MODELS = "smoothed", "rigid"


@pytest.fixture(scope="module")
def problems():
    config = Config.load("go2")
    made = {model: config.updated({"estimator": {"contact_model": model}}) for model in MODELS}
    return {model: Problem(Robot(config.robot), changed) for model, changed in made.items()}


def carrying(added: float, usual: bool):
    """Legs that always tell the same."""
    none = lambda *_: None  # noqa: E731
    return SimpleNamespace(added=added, usual=usual, judge=none, reset=none)


def alarms(
    problem, disturbance, size: int = 10, tilt=(0.0, 0.0, 0.0), creeps=False, legs=None, **situation
) -> list[int]:
    """Heads at which a window of `size` nodes makes the alarm go off.

    `disturbance(k)`: whitened force at node k, vertical or (3,), world axes. `tilt`: rotation
    vector of the base. `creeps`: where feet creep. `legs`: what tells their load, if something
    does. `situation`: what else is known of all nodes.
    """
    detector = PayloadDetector(problem, legs or LegWeight(problem))
    seen, state, turn = [], problem.first.neutral(), pin.exp3(np.array(tilt))
    state[3:7] = pin.Quaternion(turn).coeffs()
    stddev = problem.config.noise.base_force
    for head in range(size, NODES):
        told = [np.ravel(disturbance(k)) for k in range(head - size, head)]
        forces = [turn.T @ (f if len(f) == 3 else [0.0, 0.0, *f]) for f in told]
        # a vector of a window of one node, as of the core
        rows = np.squeeze(np.array(forces)[:, :3])
        solver = SimpleNamespace(first_residuals=lambda n, rows=rows: rows)
        window = SimpleNamespace(
            creeping=creeps,
            kept=None,
            weighed=lambda k: False,  # nothing to ask the legs for
            xs=[state],
            solver=solver,
            unexplained=lambda nodes, forces=forces: stddev * np.array(forces)[nodes],
            problem=problem,
            arrival=SimpleNamespace(inflate_covariance=lambda _, head=head: seen.append(head)),
        )
        assert detector.judge(window, ON_ITS_FEET.having(**situation)) == ""
    assert detector.alarms == len(seen)
    return seen


def test_a_load_of_which_the_base_feels_little_is_told_once_it_has_lasted(problems):
    """A standard deviation of a node: what a heavy robot's joints leave of a load of 5 %."""
    begins = 200
    found = alarms(problems["smoothed"], lambda k: 1.0 if k >= begins else 0.0)
    assert begins + 40 < found[0] < begins + 100
    # one that comes and goes with the steps, and one that is over
    assert not alarms(problems["smoothed"], lambda k: 1.0 if k % 50 < 25 else -1.0)
    assert not alarms(problems["smoothed"], lambda k: 1.0 if begins <= k < begins + 40 else 0.0)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("size", [1, 4, 9, 10, 30])
def test_windows_shorter_and_longer_than_the_spans(problems, model, size):
    assert len(alarms(problems[model], lambda k: 2.0, size)) >= 2
    assert not alarms(problems[model], lambda k: 2.0 * (-1) ** k, size)


@pytest.mark.parametrize("model, soon", [("smoothed", 20), ("rigid", 35)])
def test_what_lasts_is_noticed(problems, model, soon):
    assert BEGINS < alarms(problems[model], lambda k: 1.5 * (k >= BEGINS))[0] <= BEGINS + soon


def test_a_force_that_grows_is_no_load(problems):
    """A robot that is lifted feels more and more; a load feels the same from its first node on."""
    seen = alarms(problems["smoothed"], lambda k: 2.0 * max(0, min(k - BEGINS, 40)))
    assert not [k for k in seen if k < BEGINS + 40]


@pytest.mark.parametrize("force", [-20.0, 3.0])
def test_a_force_that_has_ended_is_no_load(problems, force):
    """Nine nodes of it are in the sum of the last twenty, and none in the newest six."""
    seen = alarms(problems["smoothed"], lambda k: force * (BEGINS <= k < BEGINS + 9))
    assert not [k for k in seen if k >= BEGINS + 9 + 6]


def test_more_than_the_robot_carries_is_not_taken_off(problems):
    """5 N more than 5 % of its weight lift it; put on, the same is a load."""
    force = (0.05 * 9.81 * 16.085 + 5.0) / 2.0
    assert not alarms(problems["smoothed"], lambda k: force * (k >= BEGINS))
    assert alarms(problems["smoothed"], lambda k: -force * (k >= BEGINS))


@pytest.mark.parametrize("model, lasts", [("smoothed", 5), ("rigid", 25)])
def test_what_passes_is_not(problems, model, lasts):
    assert not alarms(problems[model], lambda k: 1.5 * (BEGINS <= k < BEGINS + lasts))


@pytest.mark.parametrize("tilt", [(0.6, 0.0, 0.0), (0.0, 1.0, 0.0)])
def test_it_is_the_vertical_of_the_world_that_counts(problems, tilt):
    """Of a base that leans as of one that is level."""
    level, leaning = (
        alarms(problems["smoothed"], lambda k: -3.0 * (k >= BEGINS), tilt=way)
        for way in ((0.0, 0.0, 0.0), tilt)
    )
    assert level == leaning
    sideways = np.array([3.0, 0.0, 0.0])
    assert not alarms(problems["smoothed"], lambda k: sideways * (k >= BEGINS), tilt=tilt)


def test_a_force_that_turns_sideways_is_no_load(problems):
    """The sum of the last twenty nodes is still upright; the newest six are of a hand."""
    first, second, *_ = alarms(problems["smoothed"], lambda k: -3.0 * (k >= BEGINS))

    def pulled(k: int) -> np.ndarray:
        return np.array([3.5 * (second - 7 <= k <= second), 0.0, -3.0]) * (k >= BEGINS)

    found = alarms(problems["smoothed"], pulled)
    assert found[0] == first and found[1] > second + PAYLOAD.agreeing


def test_alarms_leave_the_inertia_time_to_settle(problems):
    found = alarms(problems["smoothed"], lambda k: -3.0 * (k >= BEGINS))
    assert min(np.diff(found)) >= PAYLOAD.rest_nodes


@pytest.mark.parametrize(
    "known", [dict(creeps=True), dict(inertia_held=True), dict(doubted=True)], ids=str
)
def test_nodes_that_tell_nothing_of_the_inertia_set_nothing_off(problems, known):
    assert not alarms(problems["smoothed"], lambda k: -3.0 * (k >= BEGINS), **known)


@pytest.mark.parametrize("known", [dict(pushed=True), dict(leaning=True)], ids=str)
def test_a_weak_force_beside_a_push_is_no_load(problems, known):
    """A clear one is: somebody may lean on a robot that is being loaded."""
    assert not alarms(problems["smoothed"], lambda k: 1.0 * (k >= BEGINS), **known)
    assert alarms(problems["smoothed"], lambda k: -3.0 * (k >= BEGINS), **known)


def test_what_legs_carry_beside_a_push_is_no_load(problems):
    """Legs that carry more tell a load at once; a hand that presses does the same to them."""
    detector, heavier = PayloadDetector(problems["smoothed"], LegWeight(problems["smoothed"])), 3.0
    detector._legs = carrying(heavier, usual=False)
    window = SimpleNamespace(
        creeping=False,
        kept=None,
        xs=[problems["smoothed"].first.neutral()],
        solver=SimpleNamespace(first_residuals=lambda n: np.zeros((10, 3))),
        problem=problems["smoothed"],
        arrival=SimpleNamespace(inflate_covariance=lambda _: None),
    )
    for situation, alarmed in ((ON_ITS_FEET.having(pushed=True), 0), (ON_ITS_FEET, 1)):
        for _ in range(PAYLOAD.rest_nodes + PAYLOAD.agreeing):
            detector.judge(window, situation)
        assert detector.alarms == alarmed


def test_legs_that_carry_what_they_always_do_carry_no_load(problems):
    """The force that a machine's gears seem to be would be learned as a mass."""
    for usual in (True, False):
        found = alarms(problems["smoothed"], lambda k: -3.0, legs=carrying(0.0, usual))
        assert (not found) is usual
