# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""No memory is allocated in `calc`, `calcDiff`, `linearize` and `reweight` of a running node once
it is warm (real time)."""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve()
SYMBOLS = (
    ("calc", b"4calc"),
    ("calcDiff", b"8calcDiff"),
    ("linearize", b"9linearize"),
    ("reweight", b"8reweight"),
    ("contact_forces", b"13contactForces"),
)
NAMES = {name: b"ActionMeasurement" + symbol for name, symbol in SYMBOLS}


def count() -> dict:
    """Allocations by robot, form and function; runs with the counter preloaded."""
    from helpers.nodes import random_node

    counter = ctypes.CDLL(None)
    counter.counted.restype = ctypes.c_long

    def allocations(name, function, *arguments):
        counter.count_in(ctypes.c_char_p(NAMES[name]))
        function(*arguments)
        return counter.counted()

    out = {}
    for robot in ("go2", "g1"):
        forms, models = ("forward", "inverse"), ("smoothed", "rigid")
        for form, contacts, holds in itertools.product(forms, models, (False, True)):
            node = random_node(robot, form, "coulomb", "stance", 0, contacts, holds=holds)
            other = random_node(robot, form, "coulomb", "stance", 1, contacts, holds=holds)
            data = node.calc(node.x, node.u)
            node.calc(other.x, other.u, data)
            x, u, model = node.x, node.u, node.model
            out[f"{robot} {form} {contacts}, mounts and losses {holds}"] = {
                "calc": allocations("calc", model.calc, data, x, u),
                "calcDiff": allocations("calcDiff", model.calcDiff, data, x, u),
                "linearize": allocations("linearize", model.linearize, data, x),
                "reweight": allocations("reweight", model.reweight, data, u, 4.0, 4.0),
                "terminal calc": allocations("calc", model.calc, data, x),
                "terminal calcDiff": allocations("calcDiff", model.calcDiff, data, x),
                "contact_forces": allocations("contact_forces", model.contact_forces, data),
            }
    return out


@pytest.mark.slow
@pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("g++") is None,
    reason="needs Linux and g++",
)
def test_no_allocation_after_warm_up(tmp_path):
    library = tmp_path / "allocations.so"
    subprocess.run(
        [
            "g++",
            "-O1",
            "-shared",
            "-fPIC",
            "-o",
            library,
            HERE.with_name("allocations.cpp"),
            "-ldl",
        ],
        check=True,
    )
    paths = os.pathsep.join([str(HERE.parents[1]), *sys.path])
    environment = {**os.environ, "LD_PRELOAD": str(library), "PYTHONPATH": paths}
    done = subprocess.run(
        [sys.executable, str(HERE)], env=environment, capture_output=True, text=True, check=True
    )
    counts = json.loads(done.stdout)
    assert all(c.pop("contact_forces") > 0 for c in counts.values()), "the counter sees nothing"
    assert not any(n for c in counts.values() for n in c.values()), counts


if __name__ == "__main__":
    print(json.dumps(count()))
