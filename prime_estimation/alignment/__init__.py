# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Alignment in time: streams of samples, each with its own clock rate and faults, become one Measurement per node."""
