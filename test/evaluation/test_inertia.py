# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Figures of an inertia whose errors are known, over several changes of load."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest

from prime_estimation.errors import DataError
from prime_estimation.evaluation.inertia import inertia_figures, payload_changes, true_parameters

TENSOR = np.diag([0.1, 0.2, 0.25])
COM = np.array([0.02, 0.0, -0.01])


def parameters(mass: float) -> list[float]:
    return list(pin.Inertia(mass, COM, TENSOR).toDynamicParameters())


def bodies(mass: float) -> dict:
    return {"base": {"pin_dynamic_parameters": parameters(mass)}}


TRUTH = {
    "bodies_true": bodies(9.0),
    "bodies_before": bodies(5.0),
    "payload_events": [
        {"t": 8.0, "bodies": bodies(9.0)},
        {"t": 2.0, "bodies": bodies(9.0)},
        {"t": 5.0, "bodies": bodies(5.0)},
    ],
}


def message(t: float, mass: float, com=COM, tensor=TENSOR, stddev: float = 0.1):
    ns = round(t * 1e9)
    stamp = SimpleNamespace(sec=ns // 10**9, nanosec=ns % 10**9)
    vector = SimpleNamespace(**dict(zip("xyz", com)))
    rows = {f"i{a}{b}": tensor["xyz".index(a), "xyz".index(b)] for a in "xyz" for b in "xyz"}
    body = SimpleNamespace(
        link="base",
        inertia=SimpleNamespace(m=mass, com=vector, **rows),
        mass_stddev=stddev,
        com_stddev=SimpleNamespace(x=0.002, y=0.002, z=0.002),
        covariance=list(np.diag(np.full(10, 0.01**2)).ravel()),
        observable=True,
    )
    return SimpleNamespace(header=SimpleNamespace(stamp=stamp), bodies=[body])


def figures(mass_of, **changes) -> dict:
    track = [message(0.01 * k, mass_of(0.01 * k), **changes) for k in range(1000)]
    return inertia_figures(track, TRUTH, 0)["base"]


def test_the_truth_over_all_changes():
    assert payload_changes(TRUTH) == [2.0, 5.0, 8.0]
    masses = [true_parameters(TRUTH, "base", t)[0] for t in (0.0, 1.99, 2.0, 4.9, 5.0, 8.0, 100.0)]
    assert masses == [5.0, 5.0, 9.0, 9.0, 5.0, 9.0, 9.0]


def test_each_change_settles_on_its_own():
    """0.3 s late at the first, 0.5 s at the second, never at the third."""

    def mass(t: float) -> float:
        return 5.0 if t < 2.3 or 5.5 <= t else 9.0

    first, second, third = figures(mass)["settling_after_payload_s"]
    assert first == pytest.approx(0.3, abs=0.011) and second == pytest.approx(0.5, abs=0.011)
    assert third is None


def test_a_mass_that_leaves_again_has_not_settled():
    def mass(t: float) -> float:
        true = true_parameters(TRUTH, "base", t)[0]
        return true + 1.5 if 3.0 <= t < 3.2 else true

    settling = figures(mass)["settling_after_payload_s"]
    assert settling == pytest.approx([1.2, 0.0, 0.0], abs=0.011)


def test_rotational_inertia_is_about_the_centre_of_mass():
    f = figures(lambda t: true_parameters(TRUTH, "base", t)[0], tensor=1.2 * TENSOR)
    assert f["rotational_inertia_relative_error_final"] == pytest.approx(0.2)
    assert f["com_error_final_m"] < 1e-9


def test_intervals_of_mass_and_com():
    com = COM + [0.003, 0.003, 0.005]  # inside, inside, outside of 1.96 times 2 mm
    f = figures(lambda t: true_parameters(TRUTH, "base", t)[0] + 0.19 * (t < 5.0), com=com)
    assert f["mass_coverage95_after_1s"] == pytest.approx(1.0)
    assert f["com_coverage95_after_1s"] == pytest.approx(2 / 3)
    f = figures(lambda t: true_parameters(TRUTH, "base", t)[0] + 0.21 * (t < 5.5))
    assert f["mass_coverage95_after_1s"] == pytest.approx(0.5, abs=0.005)
    assert f["mass_error_max_after_5s_kg"] == pytest.approx(0.21)


def test_intervals_of_moments_of_inertia():
    """They are those about the origin of the link; of products none is judged."""
    off = np.diag([0.0190, 0.0, -0.0200])  # inside, inside, outside of 1.96 times 0.01 kg m2
    off[0, 1] = off[1, 0] = 0.05
    f = figures(lambda t: true_parameters(TRUTH, "base", t)[0], tensor=TENSOR + off)
    assert f["moments_coverage95_after_1s"] == pytest.approx(2 / 3)


def test_the_truth_of_another_robot():
    truth = {"bodies_true": {"pelvis": bodies(9.0)["base"]}}
    with pytest.raises(DataError, match="none of the bodies of the estimate, base; .* pelvis"):
        inertia_figures([message(0.0, 9.0)], truth, 0)
