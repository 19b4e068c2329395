# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""True inertias of a run: the JSON beside it."""

from __future__ import annotations

import json
from pathlib import Path

from ..config.values import is_number
from ..errors import DataError
from ..io.bag import named


def load_truth(reference: str | Path, truth_json: str | Path | None = None) -> dict:
    """The JSON of a run: beside its folder or file, with the same stem.

    Empty when there is none.

    Raises:
        DataError: it is not there, or not the truth of a run.
    """
    run = named(reference)
    # the name of a folder may have a dot
    beside = run.parent / f"{run.name}.json" if run.is_dir() else run.with_suffix(".json")
    candidates = (
        [Path(truth_json)]
        if truth_json
        else [beside, run.parent.parent / f"{run.parent.name}.json"]
    )
    for path in candidates:
        if path.is_file():
            try:
                truth = json.loads(path.read_text())
            except ValueError as error:
                raise DataError(f"{path} is not valid JSON: {error}", path) from error
            _check(path, truth)
            if truth_json and not {"bodies_true", "total_mass_true"} & set(truth):
                what = "it has neither bodies_true nor total_mass_true"
                raise DataError(f"{path} is not the truth of a run: {what}", path)
            return truth
    if truth_json:
        what = f"{truth_json} is a folder" if path.is_dir() else f"no such file: {truth_json}"
        raise DataError(what, truth_json)
    return {}


def _check(path: Path, truth: object) -> None:
    """DataError where what figures are made of has another form."""

    def refuse(what: str) -> None:
        raise DataError(f"{path} is not the truth of a run: {what}", path)

    if not isinstance(truth, dict):
        refuse("it must be an object")
    if not is_number(truth.get("total_mass_true", 1.0)) or truth.get("total_mass_true", 1.0) <= 0:
        refuse(f"total_mass_true must be a mass [kg], got {truth['total_mass_true']!r}")
    for name in ("bodies_true", "bodies_before"):
        _check_bodies(truth.get(name), name, refuse)
    payload, events = truth.get("payload") or {}, truth.get("payload_events") or []
    if not isinstance(payload, dict) or not isinstance(events, list):
        refuse("payload must be an object, and payload_events a list")
    for time in (payload.get("t_on"), truth.get("payload_time_s")):
        if time is not None and not is_number(time):
            refuse(f"a payload comes at a time [s], got {time!r}")
    for event in events:
        if not isinstance(event, dict) or not is_number(event.get("t")):
            refuse(f"an event of payload_events has a time t [s], got {event!r}")
        _check_bodies(event.get("bodies") or 0, "bodies of payload_events", refuse)


def _check_bodies(bodies: object, name: str, refuse) -> None:
    if bodies is None:
        return
    if not isinstance(bodies, dict) or not all(isinstance(b, dict) for b in bodies.values()):
        refuse(f"{name} must be an object of bodies by link, got {bodies!r:.60}")
