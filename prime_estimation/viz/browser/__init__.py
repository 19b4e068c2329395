# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""View of estimates in a web browser: what nodes say over time, the scene of an instant, a page."""
