# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The list of nodes, and what is made of it."""

import ast
import gc
import re
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

from prime_estimation.errors import ConfigError
from prime_estimation.nodes.run_node import GIVE_WAY, NODES, build, run


def test_every_node_is_an_executable_and_documented(repository):
    folder = repository / "prime_estimation" / "nodes" / "ros"
    tree = ast.parse((folder / "executables.py").read_text())
    assert set(NODES) <= {f.name for f in tree.body if isinstance(f, ast.FunctionDef)}
    page = (repository / "docs" / "ros2.md").read_text()
    table = page.split("## Nodes")[1].split("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)`", table, re.M)) == set(NODES)


@pytest.mark.parametrize("name", ["replay", "mcp"])
def test_what_is_no_node_of_a_robot_is_refused(name):
    with pytest.raises(ConfigError, match=f"'{name}' is no node of a robot; nodes are estimator"):
        build(name, None, "go2")


def test_a_node_loads_nothing_that_it_does_not_use(repository):
    """An estimator that is started again is away for as long as its imports take."""
    heavy = {"scipy", "matplotlib", "mujoco", "viser", "cvxpy", "IPython"}
    code = (
        "import sys, crocoddyl\n"  # which loads each viewer that is installed
        "before = set(sys.modules)\n"
        "import prime_estimation.commands.node, prime_estimation.nodes.estimator\n"
        "import prime_estimation.transport.dds, prime_estimation.nodes.recorded_input\n"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    run = [sys.executable, "-c", code]
    out = subprocess.run(run, cwd=repository, check=True, text=True, capture_output=True).stdout
    assert "prime_estimation" in out and not heavy & set(out.split())


def test_a_node_that_does_not_start_leaves_nothing_open():
    """What has begun of it is ended, and the transport is closed, whatever that says."""
    said = []

    def fails(what: str) -> None:
        said.append(what)
        raise RuntimeError(what)

    node = SimpleNamespace(start=lambda: fails("start"), stop=lambda: fails("stop"))
    transport = SimpleNamespace(spin=pytest.fail, close=lambda: said.append("close"))
    with pytest.raises(RuntimeError, match="stop") as raised:
        run(transport, node, stop=threading.Event())
    assert str(raised.value.__context__) == "start" and said == ["start", "stop", "close"]


def test_while_a_node_runs_no_thread_holds_up_the_others_for_long():
    """What was there before is not looked through for garbage; afterwards all is as it was."""
    usual, stop, seen = sys.getswitchinterval(), threading.Event(), []

    def spin(_stop) -> None:
        seen.append((sys.getswitchinterval(), gc.get_freeze_count()))

    stop.set()
    node = SimpleNamespace(start=lambda: None, stop=lambda: None)
    run(SimpleNamespace(spin=spin, close=lambda: None), node, stop=stop)
    interval, frozen = seen[0]
    assert interval == pytest.approx(GIVE_WAY) and frozen > 10_000
    assert gc.get_freeze_count() == 0 and sys.getswitchinterval() == pytest.approx(usual)
