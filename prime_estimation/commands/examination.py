# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""`prime doctor --bag`: what a recording says of its robot, for people."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

import yaml

from ..config.parameters import Config
from ..doctor import Examination, examine
from ..doctor.finding import FACT, FAULT, HINT, UNKNOWN, Finding
from ..doctor.recording import read_recording
from ..errors import DataError
from ..io.json_text import json_text
from ..robot import Robot
from .console import progress_bar

_MARKS = {FAULT: "FAULT", HINT: "hint", UNKNOWN: "cannot tell", FACT: "fits"}
_ORDER = (FAULT, HINT, FACT, UNKNOWN)


def examine_bag(args: argparse.Namespace, topics: Mapping[str, str]) -> dict:
    """Examine the bag of the arguments, print what was found, worst first.

    Raises:
        DataError: it is too short, or has too many gaps, for anything to be told.
    """
    config = Config.load(args.robot, args.config)
    robot = Robot(config.robot)
    with progress_bar(args, "examine") as progress:
        recording = read_recording(
            args.bag, robot, topics, args.seconds, lambda fraction: progress(0.2 * fraction)
        )
        examination = examine(
            recording, robot, config, lambda fraction: progress(0.2 + 0.8 * fraction)
        )
    lines, changes = _lines(examination.findings), proposed_changes(examination)
    if changes:
        text = yaml.safe_dump(changes, sort_keys=False, default_flow_style=None).rstrip()
        lines += ["changes for --config that suit this recording better:", text]
    if not examination.void:
        lines.append(f"{counted(examination)} {recording.seconds:.1f} s of {args.bag}")
    if not args.json:
        print("\n".join(lines))  # as it is: a console would fold long lines
    result = {
        "bag": str(args.bag),
        "robot": robot.name,
        "seconds": recording.seconds,
        "faults": len(examination.faults),
        "findings": [finding.to_dict() for finding in examination.findings],
        "proposal": changes,
    }
    if examination.void:
        if args.json:  # what was found stands, although it is no examination
            print(json_text(result))
        raise DataError(examination.void, args.bag)
    return result


def counted(examination: Examination) -> str:
    """How many faults in what; none where not all could be told is not none at all."""
    count = len(examination.faults)
    if count:
        return f"{count} fault{'s' if count > 1 else ''} in"
    return "no fault in" if examination.complete else "no fault in what can be told from"


def proposed_changes(examination: Examination) -> dict:
    """What the findings propose for the configuration, as one YAML of changes."""
    changes: dict = {}
    for finding in examination.findings:
        if isinstance(finding.proposal, dict):
            for section, values in finding.proposal.items():
                changes.setdefault(section, {}).update(values)
    return changes


def _lines(findings: list[Finding]) -> list[str]:
    ordered = sorted(findings, key=lambda finding: _ORDER.index(finding.severity))
    lines = []
    for finding in ordered:
        lines.append(f"{_MARKS[finding.severity]:<11} {finding.text}")
        if isinstance(finding.proposal, str) and finding.proposal:
            lines.append(f"{'':<11}   {finding.proposal}")
    return lines
