# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Estimates against ground truth: aligned series, metrics, scores."""
