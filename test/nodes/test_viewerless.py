# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Programs do not load a viewer that is installed, until somebody asks for it."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys
from prime_estimation.nodes.viewerless import VIEWER, import_module
import_module({module!r})
assert "crocoddyl" in sys.modules and VIEWER not in sys.modules
import viser
assert viser.HERE
"""


@pytest.mark.parametrize("module", ["crocoddyl", "prime_estimation.nodes.run_node"])
def test_a_viewer_waits_until_it_is_asked_for(module, tmp_path):
    (tmp_path / "viser.py").write_text("HERE = True")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-c", PROGRAM.format(module=module)]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
