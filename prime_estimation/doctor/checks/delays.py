# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Delays between the streams: torques, IMU and motion capture against the joints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from ..case import Case, Verdict
from ..delays import Delay, best_shift, lag
from ..finding import FACT, FAULT, HINT, UNKNOWN, Finding
from ..misfit import misfit
from ..mocap import MocapSignals, correlation, mocap_signals
from ..signals import STEP, Signals

_LONGEST = 0.06  # s, of torques and IMU
_LONGEST_MOCAP = 1.0
_STEP = 0.004  # s, of the search
_INSTANTS = 160
_TELLS = 0.15  # gain in fit by the right delay against one off by `_FAR`, below which none is told
_FAR = 0.03  # s
_BLIND = 0.015  # s, where feet stand only by their motion
# gain in fit, then, without which a delay is none: 0.3 and more for 30 ms, 0.13 at most for none,
# 0.06 for a leg whose encoder is off
_BLIND_GAIN = 0.15
_BAD = {"torque": 0.008, "imu": 0.008, "mocap": 0.02}  # s
# what a delay changes by itself, not only by which feet seem to stand
_FIGURES = {
    "torque": ("force", "moment", "swing"),
    "imu": ("force", "moment", "slip", "alone", "carried"),
}
_AGREES = 0.7  # correlation of rates of turning
_TURNS = 0.05  # rad/s rms without which nothing turns
_ENOUGH = 4.0  # s, of which delays of `_LONGEST_MOCAP` to both sides leave half
_CONTRADICTS = 0.5  # below which it is not the same turning: 0.4 with the scalar first, 0.63 where
# the least of it was told of a right one
# axes of a world of motion capture that may point upwards: z should
_UPWARDS = np.array([[0, 0, 1], [0, 1, 0], [0, -1, 0], [1, 0, 0], [-1, 0, 0], [0, 0, -1]], float)


def examine(case: Case) -> Verdict:
    """Delays, each corrected in the case."""
    if not case.legged:
        return case, []
    found: list[Finding] = []
    # legs against legs first: what they say of the IMU the motion capture is compared with
    for check in (_torque, _imu, _mocap):
        case, findings = check(case)
        found += findings
    return case, found


def _torque(case: Case) -> Verdict:
    if case.signals.torque is None or not case.carried:
        return case, []
    return _against_legs(case, "torque", lambda s, d: s.later("torque", d))


def _imu(case: Case) -> Verdict:
    def moved(signals: Signals, delay: float) -> Signals:
        for name in ("gyro", "force", "up"):
            signals = signals.later(name, delay)
        return signals

    if not case.carried:
        return case, []
    return _against_legs(case, "imu", moved)


def _against_legs(case: Case, name: str, moved) -> Verdict:
    """Delay at which the mechanics of the legs fit best."""
    signals, rows = case.signals, case.signals.sampled(_INSTANTS)
    rows = rows[(rows > 20) & (rows < len(signals.t) - 20)]
    reference = misfit(case.legs, signals, rows)

    def gain(delay: float) -> float:
        return reference.gain(misfit(case.legs, moved(signals, delay), rows), _FIGURES[name])

    delay = best_shift(gain, _LONGEST, _STEP)
    tells = delay.agreement - 0.5 * (gain(delay.seconds - _FAR) + gain(delay.seconds + _FAR))
    words = {"torque": "torques", "imu": "IMU"}[name]
    facts = {"seconds": delay.seconds, "gain": delay.agreement, "tells": tells}
    if tells < _TELLS or abs(delay.seconds) > _LONGEST - _STEP:
        text = f"{words}: their delay cannot be told, the robot moves too little or fits too badly"
        return case, [Finding(f"delay.{name}", UNKNOWN, text, facts)]
    bad = _BAD[name]
    if signals.torque is None:
        bad = _BLIND if delay.agreement > _BLIND_GAIN else _LONGEST
    finding = _finding(name, words, delay, facts, bad)
    if finding.severity != FACT:
        case = case.with_signals(moved(signals, delay.seconds))
    return case, [finding]


def _finding(name: str, words: str, delay: Delay, facts: dict, bad: float) -> Finding:
    late = "late" if delay.seconds > 0.0 else "early"
    text = f"{words}: {1e3 * abs(delay.seconds):.0f} ms {late} against the motion of the joints"
    if abs(delay.seconds) <= bad:
        return Finding(f"delay.{name}", FACT, text, facts)
    key = {
        "torque": f"joints.command_delay: {-delay.seconds:.3f}",
        "imu": f"imu.delay: {delay.seconds:.3f}",
    }
    remedy = f"move their stamps by {1e3 * -delay.seconds:+.0f} ms ({key[name]} in a mapping)"
    return Finding(f"delay.{name}", FAULT, text, facts, remedy)


def _mocap(case: Case) -> Verdict:
    """Delay at which motion capture turns as the gyro does, about the vertical and in all."""
    mocap = mocap_signals(case.recording, case.signals.t)
    if mocap is None:
        return case, []
    good = mocap.known & case.signals.usable
    if good.sum() * STEP < 2.0:
        stamps = case.recording.streams["mocap/pose"].stamps
        text = (
            "motion capture and IMU have too little in common to compare their clocks (it covers "
            f"{stamps.min():.1f} to {stamps.max():.1f} s from the start of the recording)"
        )
        return case, [Finding("delay.mocap", UNKNOWN, text)]
    delay, felt = _against_gyro(case, mocap, good)
    facts = {"seconds": delay.seconds, "correlation": delay.agreement, "as_recorded": delay.before}
    if delay.agreement < _AGREES:
        text = (
            f"motion capture does not turn as the gyro does (correlation {delay.agreement:.2f}): "
            "its delay cannot be told"
        )
        tells = np.abs(felt).std() >= _TURNS and good.sum() * STEP >= _ENOUGH
        severity, proposal = HINT if tells else UNKNOWN, ""
        if severity == HINT and delay.agreement < _CONTRADICTS:
            severity = FAULT
            proposal = (
                "look at the order of its quaternion (x y z w), its axes and their hand, whether "
                "it is the pose of the body in the world and not its inverse; at signs and unit of "
                "the gyro"
            )
            case = case.without("mocap/pose")
        return case, [Finding("delay.mocap", severity, text, facts, proposal)]
    known = case.robot.config.mocap_delay
    return replace(case, mocap_delay=delay.seconds), [_mocap_finding(delay, facts, known)]


def _against_gyro(case: Case, mocap: MocapSignals, good: np.ndarray) -> tuple[Delay, np.ndarray]:
    """Delay of motion capture, and how the gyro turns (n, 2), which it is compared with.

    Its z points upwards, or else that of its axes with which the two turn alike: `checks.mocap`
    says that its world lies.
    """
    signals = case.signals
    felt = _centred(_turning(signals.gyro, signals.up), good)

    def delay(up: np.ndarray) -> Delay:
        turning = _turning(mocap.rate, mocap.rotation.inv().apply(up))
        return lag(_centred(turning, good), felt, _LONGEST_MOCAP, STEP)

    upright, *lying = _UPWARDS
    told = delay(upright)
    if told.agreement < _AGREES:
        other = max((delay(up) for up in lying), key=lambda d: d.agreement)
        if other.agreement >= _AGREES and _alike(case, other.seconds) >= _AGREES:
            told = other
    return told, felt


def _alike(case: Case, delay: float) -> float:
    """Correlation of all rates, turned into one frame: that of an inverse pose is mirrored."""
    mocap = mocap_signals(case.recording, case.signals.t, delay)
    good = mocap.known & case.signals.usable
    rate, gyro = (x[good] - x[good].mean(axis=0) for x in (mocap.rate, case.signals.gyro))
    turn, _ = Rotation.align_vectors(gyro, rate)
    return correlation(gyro, turn.apply(rate))


def _turning(rate: np.ndarray, up: np.ndarray) -> np.ndarray:
    """Rate about the vertical and in all (n, 2), whatever the axes."""
    return np.stack([(rate * up).sum(axis=1), np.linalg.norm(rate, axis=1)], axis=1)


def _centred(values: np.ndarray, good: np.ndarray) -> np.ndarray:
    """Without the mean of what is good, and zero elsewhere."""
    return np.where(good[:, None], values - values[good].mean(axis=0), 0.0)


def _mocap_finding(delay: Delay, facts: dict, known: float) -> Finding:
    """Where `known` [s] is taken off already."""
    late = "late" if delay.seconds > 0.0 else "early"
    text = (
        f"motion capture is {abs(delay.seconds):.3f} s {late} against the gyro (correlation "
        f"{delay.before:.2f} as recorded, {delay.agreement:.2f} without the delay)"
    )
    if abs(delay.seconds) <= _BAD["mocap"]:
        return Finding("delay.mocap", FACT, text, facts)
    remedy = (
        f"move its stamps by {-delay.seconds:+.3f} s (robot.mocap_delay: "
        f"{known + delay.seconds:.3f}, or mocap.delay in a mapping), or leave it "
        "out with --no-mocap"
    )
    return Finding("delay.mocap", FAULT, text, facts, remedy)
