# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Judges of a solved window: consistency, lift-off, payload change, inertia hold."""
