# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Errors that say what was wrong, carry the evidence and name the fix.

The command line prints them as one line, exit 2.
"""

from __future__ import annotations


class PrimeError(Exception):
    """Base of all errors of this package. `evidence` is the offending object, for inspection."""

    def __init__(self, message: str, evidence: object = None):
        super().__init__(message)
        self.evidence = evidence


class Stopped(KeyboardInterrupt):
    """Work was asked to stop, and came to an end before it had anything to keep."""


class ConfigError(PrimeError):
    """A key, a value or a file of the configuration is wrong."""


class RobotError(PrimeError):
    """The robot's description cannot be used, or does not fit the data."""


class DataError(PrimeError):
    """A bag, a message or a sample is wrong."""


class InitializationError(PrimeError):
    """The estimator cannot start from the data it was given."""
