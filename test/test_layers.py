# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Types flow down, data flows right, nothing flows back.

Who may import whom, read from the sources without running them.
"""

import ast
from collections.abc import Callable, Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "prime_estimation"

# A room (a module, or a package with all its modules) imports only rooms that stand to the left of
# it or above it.
ORDER = """
    types errors
    declaration
    sensors
    alignment io
    config robot joint_friction inertia contact
    mhe monitors reporting estimator inertia_gate
    evaluation output_messages recordings identify calibration fixed_base
    convert doctor
    transport control simulate viz
    closed_loop
    nodes policy commands cli
""".split()

# Rooms that may see less than their place allows.
ONLY = {
    "sensors": {"types", "errors", "declaration"},
    "alignment": {"types", "errors", "sensors"},
    "io": {"types", "errors", "sensors"},
    "config": {"errors", "declaration", "sensors"},
    "transport": {"errors", "io"},
}
# The estimator knows neither wires nor files nor clocks; offline rooms know no network.
FORBIDDEN = {
    **{
        room: {"io", "alignment"}
        for room in ORDER[ORDER.index("config") : ORDER.index("estimator") + 1]
    },
    **{
        room: {"nodes", "transport"}
        for room in (
            "evaluation",
            "output_messages",
            "recordings",
            "identify",
            "calibration",
            "fixed_base",
            "convert",
            "doctor",
            "simulate",
            "viz",
            "control",
            "closed_loop",
            "inertia_gate",
        )
    },
    "simulate": {"estimator", "mhe", "nodes", "transport"},
}
# Packages that not every installation has, and the only places that may name them.
OUTSIDERS = {
    "rclpy": ("nodes/ros/", "transport/ros.py", "transport/ros_entities.py"),
    "cyclonedds": ("transport/dds.py", "transport/dds_entities.py", "transport/dds_types.py"),
    "mujoco": ("simulate/",),
    "matplotlib": ("viz/",),
    "cvxpy": ("identify/least_squares.py", "calibration/oracles.py"),
    "clarabel": ("identify/least_squares.py",),
    "distributed": ("calibration/workers.py",),
    "dask": ("calibration/workers.py",),
    "threadpoolctl": ("calibration/workers.py",),
    "pyarrow": ("convert/formats.py",),
    "tf_transformations": ("nodes/ros/",),
    "viser": ("viz/browser/",),
    "trimesh": ("viz/browser/",),
    "imageio": ("viz/browser/",),
    "websockets": ("viz/browser/",),
}


def sources() -> list[Path]:
    # which only names what the user may import
    return sorted(set(PACKAGE.rglob("*.py")) - {PACKAGE / "__init__.py"})


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path, walk: Callable[[ast.AST], Iterator[ast.AST]] = ast.walk) -> set[str]:
    """Absolute dotted names of everything that a file imports, `importlib.import_module("...")`
    included.

    At any depth, or where `walk` goes.
    """
    package = ("prime_estimation", *path.relative_to(PACKAGE).parts[:-1])
    found = set()
    for node in walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1]] if node.level else []
            base += node.module.split(".") if node.module else []
            found |= {".".join([*base, alias.name]) for alias in node.names}
        elif (
            isinstance(node, ast.Call)
            and getattr(node.func, "attr", "") == "import_module"
            and isinstance(node.args[0], ast.Constant)
        ):
            found.add(node.args[0].value)
    return found


def at_import_time(node: ast.AST) -> Iterator[ast.AST]:
    """What runs when a module is imported: no bodies of functions, nothing for type checkers."""
    for child in ast.iter_child_nodes(node):
        lazy = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if lazy or (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)):
            continue
        yield child
        yield from at_import_time(child)


def rooms_imported(path: Path) -> set[str]:
    parts = [name.split(".") for name in imports(path)]
    rooms = {p[1] for p in parts if p[0] == "prime_estimation" and len(p) > 1} - {
        "_core",
        room_of(path),
    }
    return rooms & ({room_of(p) for p in sources()} | set(ORDER))


def test_every_room_has_a_place():
    rooms = {room_of(path) for path in sources()}
    assert rooms <= set(ORDER), f"give {', '.join(sorted(rooms - set(ORDER)))} a place in ORDER"


@pytest.mark.parametrize("path", sources(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_nothing_flows_back(path):
    room = room_of(path)
    if room not in ORDER:
        pytest.skip("has no place in ORDER")
    allowed = ONLY.get(room, set(ORDER[: ORDER.index(room)]) - FORBIDDEN.get(room, set()))
    wrong = rooms_imported(path) - allowed
    assert not wrong, f"{path.relative_to(PACKAGE)} must not import {', '.join(sorted(wrong))}"


def test_no_circles():
    """No module needs, to be imported, one that needs it."""
    module_of = {}
    for path in sources():
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        module_of[".".join(("prime_estimation", *parts)).removesuffix(".__init__")] = path

    def needed(path: Path) -> set[str]:
        names = imports(path, at_import_time)
        return {n if n in module_of else n.rpartition(".")[0] for n in names} & module_of.keys()

    graph = {module: needed(path) - {module} for module, path in module_of.items()}
    assert sum(map(len, graph.values())) > len(graph)
    TopologicalSorter(graph).prepare()  # names a circle


def test_top_floor_is_small():
    """What a newcomer sees first; the rest lives in rooms."""
    modules = sorted(path.name for path in PACKAGE.glob("*.py"))
    assert len(modules) <= 12, modules


@pytest.mark.parametrize("outsider", OUTSIDERS)
def test_optional_packages_stay_in_their_rooms(outsider):
    users = {
        str(p.relative_to(PACKAGE))
        for p in sources()
        if any(name.split(".")[0] == outsider for name in imports(p))
    }
    strangers = {user for user in users if not user.startswith(OUTSIDERS[outsider])}
    assert not strangers, f"{outsider} is imported in {', '.join(sorted(strangers))}"


def test_a_forbidden_import_is_seen(tmp_path, monkeypatch):
    """The reader of imports must see all the ways in which one can import."""
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    (tmp_path / "io").mkdir()
    path = tmp_path / "io" / "bag.py"
    path.write_text(
        "from .. import estimator\nfrom ..reporting import Reporter\nfrom . import salvage\n"
        "def f():\n    import rclpy.node\n    importlib.import_module('mujoco')\n    from "
        "prime_estimation import robot\n"
    )
    names = {
        "prime_estimation.estimator",
        "prime_estimation.reporting.Reporter",
        "prime_estimation.io.salvage",
    }
    assert imports(path) == names | {"rclpy.node", "mujoco", "prime_estimation.robot"}
    assert rooms_imported(path) == {"estimator", "reporting", "robot"}
