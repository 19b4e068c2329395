#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
# The command in the sourced workspace.
set -e
source "/opt/ros/${ROS_DISTRO}/setup.bash"
source /workspace/install/setup.bash
exec "$@"
