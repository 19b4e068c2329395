# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Configuration: parameters, declared once; YAML files of robots, noise and changes."""

from .parameters import Config

__all__ = ["Config"]
