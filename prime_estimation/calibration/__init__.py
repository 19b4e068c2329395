# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Calibration from recordings: kinematic offsets and noise covariances.

The estimator is a full-information smoother of base, footholds and IMU biases.
"""
