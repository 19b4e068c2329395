# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Checks of a recording, one a file, all of one shape: `examine(case) -> (case, findings)`.

What a check finds it corrects in the case that it hands on, so that one mistake is named once.
"""
