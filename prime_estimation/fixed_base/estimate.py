# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joint estimation of trajectories and parameters of a fixed-base machine.

    min over chi in a box, x:  sum |inverse dynamics(x; chi) - motors|^2 / torque^2
                               + sum |encoders(x) - readings|^2 / position^2

Marklund, Servin, Larson, "Joint parameter and state estimation for regularized time-discrete
multibody dynamics", in joint coordinates: hinges hold exactly, or a soft hinge is a joint with
`stiffness` that nothing measures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..errors import ConfigError
from .basis import Basis, Spline
from .levenberg_marquardt import MAX_ITERATIONS, SHARED, Free, Solution, minimize
from .machine import Machine
from .posterior import Posterior
from .recording import JointRecording
from .segment import Segment, Weights

Box = tuple[float, float]


@dataclass(frozen=True)
class Estimate:
    """Parameters and trajectories that fit recordings.

    Attributes:
        boxes: of the free parameters, by name; `NAME[k]` of what recording k has for itself.
        own: boxes of what each recording has for itself.
    """

    machine: Machine
    segments: tuple[Segment, ...]
    boxes: dict[str, Box]
    own: dict[str, Box]
    free: Free
    solution: Solution

    @property
    def parameters(self) -> dict[str, float]:
        """Free parameters, by name."""
        return dict(zip(self.boxes, self.free.take(self.solution.values).tolist()))

    @property
    def recordings(self) -> tuple[JointRecording, ...]:
        """What it is estimated from."""
        return tuple(s.recording for s in self.segments)

    @property
    def cost(self) -> float:
        """Weighted squares per node of the dynamics."""
        return self.solution.costs[-1] / sum(len(s.basis.nodes) for s in self.segments)

    @cached_property
    def posterior(self) -> Posterior:
        """What the recordings leave open of the free parameters."""
        return Posterior(self.segments, self.solution, self.free)

    @property
    def stddev(self) -> dict[str, float]:
        """Standard deviations by name, correlated model errors heeded."""
        return dict(zip(self.boxes, self.posterior.stddev.tolist()))

    def torque_errors(self) -> list[np.ndarray]:
        """By recording, (n, nj) [Nm]: torque that the motion needs, minus that of the motors."""
        return [
            s.torque_error(v, t)
            for s, v, t in zip(self.segments, self.solution.values, self.solution.trajectories)
        ]


def estimate(
    machine: Machine | Sequence[Machine],
    recordings: Sequence[JointRecording],
    free: Mapping[str, Box],
    weights: Weights,
    step: float,
    start: Mapping[str, float] | None = None,
    basis: type[Basis] = Spline,
    max_iterations: int = MAX_ITERATIONS,
    own: Mapping[str, Box] | None = None,
) -> Estimate:
    """Estimate from recordings of one machine.

    Args:
        machine: with the names of its parameters; or one for each recording, all with the same
            names, where payloads are not in all of them, or not at the same place.
        recordings: one trajectory each; the parameters are the same in all, but for `own`.
        free: boxes of the parameters to find, by name (`Machine.names`).
        weights: of encoders and torques.
        step: of the trajectories' nodes [s].
        start: values of parameters other than those of the robot's description.
        basis: of the trajectories.
        max_iterations: after which the result is not `converged`.
        own: boxes of parameters that each recording has for itself, as zeros of encoders.

    Raises:
        ConfigError: no parameter of that name, one that is free twice, an empty box, too long a
            step, or machines that do not fit the recordings.
        DataError: a recording does not determine the motion.
    """
    machines = [machine] * len(recordings) if isinstance(machine, Machine) else list(machine)
    _check_machines(machines, recordings)
    machine, own = machines[0], dict(own or {})
    segments = tuple(
        Segment(m, r, basis.over(r.time[0], r.time[-1], step), weights)
        for m, r in zip(machines, recordings)
    )
    values = np.tile(machine.values(start or {}), (len(segments), 1))
    boxes, of = _free(machine, free, own, len(segments))
    trajectories = [s.start() for s in segments]
    solution = minimize(segments, values, trajectories, of, max_iterations)
    return Estimate(machine, segments, boxes, own, of, solution)


def _free(
    machine: Machine, shared: Mapping[str, Box], own: Mapping[str, Box], recordings: int
) -> tuple[dict[str, Box], Free]:
    """Boxes by name, those of each recording after the shared ones, and their columns."""
    _check_boxes({**shared, **own})
    if both := set(shared) & set(own):
        raise ConfigError(f"{', '.join(sorted(both))} both in `free` and in `own`: choose one")
    each = [(name, k) for k in range(recordings) for name in own]
    boxes = dict(shared) | {f"{name}[{k}]": own[name] for name, k in each}
    columns = np.array([machine.index(name) for name in (*shared, *(n for n, _ in each))], int)
    lower, upper = np.array(list(boxes.values()), float).reshape(-1, 2).T
    recording = np.array([SHARED] * len(shared) + [k for _, k in each], int)
    return boxes, Free(columns, lower, upper, recording)


def _check_machines(machines: Sequence[Machine], recordings: Sequence[JointRecording]) -> None:
    if len(machines) != len(recordings) or len({m.names for m in machines}) != 1:
        raise ConfigError(
            f"{len(machines)} machines for {len(recordings)} recordings: give one machine for "
            "each, with payloads of the same names"
        )


def _check_boxes(free: Mapping[str, Box]) -> None:
    for name, (lower, upper) in free.items():
        if not lower < upper:
            raise ConfigError(
                f"the box of {name} is ({lower:g}, {upper:g}), expected (lower, upper); a "
                "parameter that is known belongs into start"
            )


def validate(
    found: Estimate,
    recordings: Sequence[JointRecording],
    machine: Machine | Sequence[Machine] | None = None,
) -> Estimate:
    """Trajectories of other recordings, estimated with the parameters of an estimate fixed.

    What each recording has for itself is found anew.

    Args:
        found: the estimate.
        recordings: the others.
        machine: of these recordings, as of `estimate`; None: the one of the estimate.

    Raises:
        ConfigError: the estimate has several machines, and none is told.
    """
    of = found.segments[0]
    if machine is None and any(s.machine is not found.machine for s in found.segments):
        raise ConfigError(
            "the estimate has a machine for each recording: say which machines these are of"
        )
    start = dict(zip(found.machine.names, found.solution.values[0].tolist()))
    for name in found.own:  # not where another recording has it
        start[name] = float(found.machine.nominal[found.machine.index(name)])
    return estimate(
        machine or found.machine,
        recordings,
        {},
        of.weights,
        of.basis.step,
        start,
        type(of.basis),
        own=found.own,
    )
