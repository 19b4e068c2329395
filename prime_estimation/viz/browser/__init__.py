# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""View of estimates in a web browser: tracks of what nodes say, the scene of an instant, its page."""
