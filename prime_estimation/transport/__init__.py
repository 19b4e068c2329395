# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Transport of messages: in the process, over Cyclone DDS, or through rclpy; same verbs."""
