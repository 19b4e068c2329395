# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The estimator for a controller of one's own: readings in, base state out, no middleware."""
