# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Outside shapes to types and back: messages, recordings, run folders. No algorithm in here."""
