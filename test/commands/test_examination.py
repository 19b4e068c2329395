# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Last line of `prime doctor --bag`."""

import pytest

from prime_estimation.commands.examination import counted
from prime_estimation.doctor import Examination, Finding


@pytest.mark.parametrize(
    ("severities", "said"),
    [
        (["fact"], "no fault in"),
        # what could not be told may hold one
        (["fact", "unknown"], "no fault in what can be told from"),
        (["fault", "unknown"], "1 fault in"),
        (["fault", "fault"], "2 faults in"),
    ],
)
def test_no_fault_is_not_said_of_what_could_not_be_told(severities, said):
    assert counted(Examination([Finding("name", s, "text") for s in severities])) == said
