# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The moving-horizon problem.

Models and noise, window, initialization, ground, prediction to the newest sample.
"""
