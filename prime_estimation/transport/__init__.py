# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""How messages travel: in the process, over Cyclone DDS without a ROS 2 installation, or through rclpy. Same verbs everywhere."""
