# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Files of the configuration of robots and sensors: where they lie, how they are read."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

from ..errors import ConfigError

_SECTIONS = ("robot", "noise", "estimator", "node")  # of a robot's YAML, and of changes to it


def config_dir() -> Path:
    """Folder of robots/*.yaml and noise/*.yaml.

    In the source tree, else in the installation's share folder.
    """
    candidates = [Path(__file__).resolve().parents[2] / "config"]
    candidates += [Path(prefix) / "share" / "prime_estimation" / "config" for prefix in _prefixes()]
    for candidate in candidates:
        if (candidate / "robots").is_dir():
            return candidate
    raise ConfigError(
        f"the configuration folder is missing; looked in {', '.join(map(str, candidates))}. "
        "Reinstall prime_estimation."
    )


def _prefixes() -> list[Path]:
    package = Path(__file__).resolve()
    # <prefix>/lib/pythonX.Y/site-packages/prime_estimation/config/files.py, for colcon workspaces
    # and user installations
    return [Path(sys.prefix), *package.parents[4:7]]


def built_in_robots() -> list[str]:
    """Names of the robots that come with the package."""
    return sorted(p.stem for p in (config_dir() / "robots").glob("*.yaml"))


def is_yaml(robot: str) -> bool:
    """A robot is named by its YAML file."""
    return robot.endswith((".yaml", ".yml"))


class _Loader(yaml.SafeLoader):
    """Refuses a key that is there twice, of which the last would win in silence."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key, _ in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else None
            if name in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key '{name}' is there twice", key.start_mark
                )
            seen.update([name] if name is not None else [])
        return super().construct_mapping(node, deep)


def read_yaml(path: Path, sections: Sequence[str] = _SECTIONS) -> dict:
    """A YAML mapping with these sections; anything else raises ConfigError with the file's name."""
    try:
        content = yaml.load(path.read_text(), _Loader)  # noqa: S506 - it is a SafeLoader
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}", path) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not a text file", path) from error
    except yaml.YAMLError as error:
        raise ConfigError(
            f"{path} is not valid YAML: {' '.join(str(error).split())}", path
        ) from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ConfigError(f"{path} must be a mapping with the sections {', '.join(sections)}", path)
    return content


def unfinished_head(why: str) -> str:
    """First line, a comment, of a YAML that is written of what did not converge; "" without why."""
    return f"# UNFINISHED, not for use: {why}\n" if why else ""
