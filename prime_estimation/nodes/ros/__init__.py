# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Nodes as ROS 2 executables, with parameters, lifecycle and rosout: the home of rclpy."""
