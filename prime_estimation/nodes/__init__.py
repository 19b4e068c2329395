# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Programs on the network: glue between a transport and the library.

The same node runs on any transport.
"""
