# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Closed loop of a simulated robot, its estimator and its controller, in one process."""
