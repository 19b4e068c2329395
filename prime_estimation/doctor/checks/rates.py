# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joint rates against the derivatives of the joint positions."""

from __future__ import annotations

import numpy as np

from ..case import Case, Verdict
from ..delays import lag
from ..finding import FACT, FAULT, HINT, Finding
from ..misfit import misfit
from ..signals import STEP, Signals
from .units import rate_scale

_BELONGS = 0.7  # correlation of a rate with the derivative of its position
_FAST = 0.3  # rad/s rms of a joint whose slope counts
_SCALE = 0.15  # by which the slope of a rate may differ from 1
_LATE = 0.006  # s
_LONGEST = 0.1  # s, of delays that are looked for


def examine(case: Case) -> Verdict:
    """Signs, scales and delay of the rates."""
    signals = case.signals
    if signals is None or "velocity" not in case.recording.streams["joint_states"].values:
        return case, []
    slopes, rows = rate_scale(signals), signals.usable
    moving = np.isfinite(slopes)
    change = np.gradient(signals.position, STEP, axis=0)
    if not moving.any():
        return case, []
    correlation = _correlation(change[rows], signals.velocity[rows])
    names = np.array(case.robot.joint_names)
    found = []
    opposite = moving & (correlation < -_BELONGS)
    for j in np.flatnonzero(opposite):
        signals, finding = _opposite(case, signals, int(j))
        found.append(finding)
    foreign = moving & (np.abs(correlation) < _BELONGS)
    if foreign.any():
        told = ", ".join(f"{n} ({c:.2f})" for n, c in zip(names[foreign], correlation[foreign]))
        found.append(
            Finding(
                "rates.foreign",
                FAULT,
                f"rates do not belong to their positions: correlation with derivatives of {told}",
                {"joints": names[foreign].tolist(), "correlation": correlation[foreign].tolist()},
                "look for exchanged columns, or a rate that is filtered far too much",
            )
        )
        case = case.without("joint_states")
    good = moving & ~opposite & ~foreign
    if good.any():
        # what is between the samples of a gap is none
        told = (np.where(rows[:, None], x[:, good], 0.0) for x in (change, signals.velocity))
        found += _details(*told, slopes[good], names[good])
    return case.with_signals(signals), found


def _opposite(case: Case, signals: Signals, j: int) -> tuple[Signals, Finding]:
    """Whether position or rate of a joint has the wrong sign: what fits the mechanics better."""
    flipped = np.ones(case.robot.nj)
    flipped[j] = -1.0
    as_rate = signals.scaled(flipped, ("velocity", "acceleration"))
    as_position = signals.scaled(flipped, ("position",))
    which, better = "rate", as_rate
    if case.legged:
        rows = signals.sampled(200)
        fit = misfit(case.legs, as_rate, rows)
        if fit.gain(misfit(case.legs, as_position, rows)) > 0.0:
            which, better = "position", as_position
    else:
        which = "rate, or position,"
    name = case.robot.joint_names[j]
    return better, Finding(
        "rates.sign",
        FAULT,
        f"joint {name}: its {which} has the opposite sign, the rate runs against the position",
        {"joint": name},
        "change the sign where the messages are made",
    )


def _correlation(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    power = np.sqrt((a**2).mean(axis=0) * (b**2).mean(axis=0))
    return (a * b).mean(axis=0) / np.maximum(power, 1e-12)


def _details(change: np.ndarray, velocity: np.ndarray, slopes, names) -> list[Finding]:
    delay = lag(velocity, change, _LONGEST, STEP)
    facts = {"slope": dict(zip(names.tolist(), slopes.tolist())), "delay_s": delay.seconds}
    text = (
        f"rates are {slopes.min():.2f} to {slopes.max():.2f} times the derivatives of the "
        f"positions, {1e3 * delay.seconds:+.1f} ms late"
    )
    found = [Finding("rates", FACT, text, facts)]
    off = (np.abs(slopes - 1.0) > _SCALE) & (np.sqrt((change**2).mean(axis=0)) > _FAST)
    if off.any():
        told = ", ".join(f"{n} {s:.2f}" for n, s in zip(names[off], slopes[off]))
        found.append(
            Finding(
                "rates.scale",
                HINT,
                f"rates of another size than the derivatives of their positions: {told}",
                facts,
            )
        )
    if abs(delay.seconds) > _LATE:
        late = f"{1e3 * abs(delay.seconds):.0f} ms {'late' if delay.seconds > 0.0 else 'early'}"
        found.append(
            Finding(
                "rates.delay",
                HINT,
                f"joint rates are {late} against the positions",
                facts,
            )
        )
    return found
