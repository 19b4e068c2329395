# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Contacts from the legs alone.

Contact points, leg forces, leg odometry, detection with hysteresis, schedule of the rigid model.
"""
