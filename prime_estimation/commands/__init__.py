# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Verbs of the command line, one module each (see `cli.py` for what a module must have)."""
