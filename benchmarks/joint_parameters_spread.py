# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Why the inertia of real pendulums spreads from fit to fit, one cause after the other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from joint_parameters_real import (
    SPREADS,
    TORQUE_TIME,
    Bench,
    Setting,
    axes,
    links,
    spread,
    spreads,
)
from pendulums import machines
from scipy.ndimage import median_filter
from tables import table

from prime_estimation.fixed_base import JointRecording

STEPS = {
    "gains known, first moments not": Setting(moments=False, zeros=False, torque_time=0.0),
    "first moments known": Setting(zeros=False, torque_time=0.0),
    "... zeros of the encoders": Setting(torque_time=0.0),
    f"... torque errors fade over {TORQUE_TIME:g} s": Setting(),
}
QUARTERS, WRONG = 4, 0.05
WIDTHS = (1, 3, 5, 9)  # samples, of the median


def report(folder: Path) -> str:
    """Tables of causes, of parts with the same excitation, of the single pendulum's torque."""
    benches = [Bench.of(published) for published in machines(folder)]
    causes = [[b.name, name, *_cause(b, s)] for b in benches for name, s in STEPS.items()]
    quarters = [row for bench in benches[1:] for row in _quarters(bench)]
    moments = [row for bench in benches[1:] for row in _moments(bench)]
    peaks = [_peaks(benches[0], width) for width in WIDTHS]
    return "\n".join(
        [
            TEXT,
            table(CAUSE_HEAD, causes),
            MOMENTS_TEXT,
            table(MOMENTS_HEAD, moments),
            QUARTERS_TEXT,
            table(["machine", "run", "spread, link [%]", "spread, axis [%]"], quarters),
            PEAKS_TEXT,
            table(PEAKS_HEAD, peaks),
        ]
    )


def _cause(bench: Bench, setting: Setting) -> list[str]:
    h = bench.held_out(setting)
    alone = [bench.fit([run], setting) for run in bench.recordings]
    figures = [f"{h.cost:.4g}", f"{h.validation:.4g}", f"{h.torque:.3f}", f"{h.from_positions:.3f}"]
    return [*figures, *spreads(h.found), spread([axes(e) for e in alone])]


def _moments(bench: Bench) -> list[list[str]]:
    """First moments that are wrong, or not known, one at a time."""
    rows = []
    for name, moment in bench.known.items():
        others = {other: value for other, value in bench.known.items() if other != name}
        cases = {f"{100 * x:+.0f} %": others | {name: (1.0 + x) * moment} for x in (-WRONG, WRONG)}
        for label, known in (cases | {"not known": others}).items():
            h = replace(bench, known=known).held_out(Setting())
            rows.append([bench.name, name, label, f"{h.validation:.4g}", f"{h.torque:.3f}"])
            rows[-1] += spreads(h.found)
    return rows


def _quarters(bench: Bench) -> list[list[str]]:
    """Each run of the same sines, cut in four: parts that are excited alike."""
    rows, setting = [], Setting(torque_time=0.0)
    for number, run in enumerate(bench.recordings[:-1]):
        parts = [_part(run, at) for at in np.array_split(np.arange(len(run.time)), QUARTERS)]
        cut = replace(bench, one_file=True)
        found = [cut.fit(parts[:k] + parts[k + 1 :], setting) for k in range(QUARTERS)]
        percent = [spread([of(e) for e in found]) for of in (links, axes)]
        rows.append([bench.name, str(number), *percent])
    return rows


def _part(run: JointRecording, at: np.ndarray) -> JointRecording:
    return JointRecording(run.time[at], run.position[at], run.torque[at])


def _peaks(bench: Bench, width: int) -> list[str]:
    """Inertia of the single pendulum where its torque went through a median before."""
    runs = [
        replace(run, torque=median_filter(run.torque, (width, 1), mode="nearest"))
        for run in bench.recordings
    ]
    found = bench.fit(runs, STEPS["gains known, first moments not"]).parameters
    return [str(width), *(f"{found[name]:.3f}" for name in ("link1.mz", "link1.Iyy"))]


TEXT = """
### Where the spread comes from

Fits with one part left out, viscous and dry friction, state error weight 100, as above; each line
has what those before it have. The paper knows mass and lever of its pendulum, lets it swing
freely and estimates the inertia about the centre of mass from each of five releases, all alike:
0.8 %. Last column: as there, from each part alone, but these differ in what they excite. Costs
are whitened squares, and compare only where torque errors fade alike. The single pendulum's gain
wants below its box.
"""
CAUSE_HEAD = [
    "machine",
    "estimated",
    "cost",
    "cross-validation",
    "states estimated anew",
    "states from positions",
    *SPREADS,
    "each part alone, axis [%]",
]
MOMENTS_TEXT = """
The first moments of the double pendulums are published, from the DFKI's own identification. What
it takes that they are right: the same with one of them wrong, or free.
"""
MOMENTS_HEAD = [
    "machine",
    "first moment",
    "taken for",
    "cross-validation",
    "states estimated anew",
    *SPREADS,
]
QUARTERS_TEXT = f"""
Parts that are excited alike: each run of sines cut in {QUARTERS}, one quarter left out; torque
errors white. In run 0 of A.0 the joints swing against each other at one frequency, which does not
tell their inertias apart.
"""
PEAKS_TEXT = """
Single pendulum: its torque is sampled every 3.3 ms. Half of the samples are below 0.5 Nm; of 94
peaks above 3 Nm, up to 18 Nm, 90 are one sample long. What they are between the samples is not
recorded. First moment and inertia from all four parts, gain known, where the torque is taken as it
is (1), or through a median of so many samples. Weighed (masses and lengths of the test bench, the
rod even, the rotor of the data sheet): -0.306 kg m and 0.150 kg m^2.
"""
PEAKS_HEAD = ["median of [samples]", "first moment [kg m]", "inertia [kg m^2]"]
