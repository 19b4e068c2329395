# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Alignment in time: streams of samples become one `Measurement` per node."""
