# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A robot's YAML to be written anew with what recordings told of its machine."""

from __future__ import annotations

from pathlib import Path

from .files import is_yaml, read_yaml
from .parameters import Config
from .values import beside


def robot_content(source: str, config: Config) -> dict:
    """Sections of a robot's YAML, as it was named on the command line.

    Those of its file, without what is empty; of a built-in robot all that make up its settings.
    """
    if is_yaml(source):
        content = beside(Path(source), read_yaml(Path(source)))  # the new file may lie elsewhere
        return {name: section for name, section in content.items() if section is not None}
    whole = config.to_dict()
    return {name: whole[name] for name in ("robot", "noise", "estimator")}
