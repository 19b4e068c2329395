# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Build of the compiled core and layout of the installation; the plain metadata are in setup.cfg.

pip and colcon both come through here. The core is built against the Pinocchio that this Python
imports: the wheels of PyPI (under `site-packages/cmeel.prefix`) or an installation that was
sourced, such as a ROS 2 distribution.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
COMPILE_JOBS = "2"  # a translation unit with Pinocchio's templates takes more than 1 GB
# environment variable: build folder of another environment that has the same wheels, whose objects
# are linked for this one
SHARED_BUILD = "PRIME_CORE_BUILD"
WHEEL_COMMANDS = {"bdist_wheel", "dist_info", "editable_wheel", "egg_info", "sdist"}


class CMakeCore(build_ext):
    """Build `prime_estimation._core` with src/CMakeLists.txt."""

    def build_extension(self, ext: Extension) -> None:
        """Builds in a staging folder (which sets the RPATH), and puts the module in its place."""
        editable = getattr(self, "editable_mode", False)
        prefix = dependency_prefix()
        # pip throws the temporary folder of an editable build away; keeping it makes the next build
        # incremental
        own = (
            ROOT / "build" if editable else Path(self.build_temp).resolve()
        ) / f"core-{sys.implementation.cache_tag}"
        target = Path(self.get_ext_fullpath(ext.name)).resolve()
        check_compiler()
        build = Path(os.environ.get(SHARED_BUILD) or own)
        if build == own:
            configure(build, prefix, rpath(prefix, editable))
        else:
            run(configured_by(build), build, f"-DCMAKE_INSTALL_RPATH={rpath(prefix, editable)}")
        run(tool("cmake"), "--build", build)
        run(tool("cmake"), "--install", build, "--prefix", own / "stage")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(own / "stage" / "_core.so", target)


def dependency_prefix() -> Path | None:
    """Installation prefix of the Pinocchio that Python would import.

    Headers of another one would not fit its binaries.
    """
    for entry in map(Path, sys.path):
        if (entry / "cmeel.prefix" / "include" / "pinocchio").is_dir():
            return entry / "cmeel.prefix"
        if (entry / "pinocchio" / "__init__.py").is_file():
            return entry.resolve().parents[2]  # <prefix>/lib/pythonX.Y/site-packages
    return None  # CMAKE_PREFIX_PATH of the environment may know more


def rpath(prefix: Path | None, editable: bool) -> str:
    """Where the module finds its libraries.

    Beside itself in site-packages, and by absolute path when it is not going to be there.
    """
    entries = ["$ORIGIN/../cmeel.prefix/lib"]
    apart = editable or not by_pip()  # colcon installs into a tree of its own
    if prefix and (apart or prefix.name != "cmeel.prefix"):
        entries.append(str(prefix / "lib"))
    return ";".join(entries)


def configure(build: Path, prefix: Path | None, rpath: str) -> None:
    """Run CMake's configuration step.

    Start afresh when the libraries have moved, as they do with each isolated build of pip.
    """
    marker = build / "dependency_prefix"
    if build.exists() and (not marker.is_file() or marker.read_text() != str(prefix)):
        shutil.rmtree(build)
    build.mkdir(parents=True, exist_ok=True)
    ninja = tool("ninja", needed=False)
    run(
        *(
            tool("cmake"),
            "-S",
            ROOT / "src",
            "-B",
            build,
            "-DCMAKE_BUILD_TYPE=Release",
            f"-DCMAKE_INSTALL_RPATH={rpath}",
        ),
        *(f"-DPython_EXECUTABLE={sys.executable}", f"-DPython3_EXECUTABLE={sys.executable}"),
        *([f"-DCMAKE_PREFIX_PATH={prefix}"] if prefix else []),
        *(["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"] if ninja else []),
    )
    marker.write_text(str(prefix))


def configured_by(build: Path) -> str:
    """The CMake of a configured build folder: its rules name it, and pip's own one is temporary."""
    entry = "CMAKE_COMMAND:INTERNAL="
    cache = (build / "CMakeCache.txt").read_text().splitlines()
    return next(line.removeprefix(entry) for line in cache if line.startswith(entry))


def tool(name: str, needed: bool = True) -> str | None:
    """Path of cmake or ninja: the PyPI package of this environment, else what is on PATH."""
    try:
        module = __import__(name)
        folder = getattr(module, "CMAKE_BIN_DIR", None) or getattr(module, "BIN_DIR", None)
    except ImportError:
        folder = None
    found = (folder and shutil.which(name, path=folder)) or shutil.which(name)
    if needed and not found:
        fail(
            f"{name} is missing: build with pip, which brings it, or install the system's {name} "
            "package"
        )
    return found


def check_compiler() -> None:
    """One sentence for the two things that no Python package brings."""
    if not any(
        shutil.which(c)
        for c in (os.environ.get("CXX", "").split(" ")[0], "c++", "g++", "clang++")
        if c
    ):
        fail("no C++ compiler found: install g++, or name one in the environment variable CXX")
    if not (Path(sysconfig.get_path("include")) / "Python.h").is_file():
        fail(
            f"the headers of Python {sysconfig.get_python_version()} are missing: install the "
            "system's python3-dev package"
        )


def run(*command) -> None:
    """Run a build step; what it prints says what is wrong, so a failure needs no traceback."""
    environment = {"CMAKE_BUILD_PARALLEL_LEVEL": COMPILE_JOBS, **os.environ}
    if subprocess.run([str(part) for part in command], env=environment, check=False).returncode:
        fail(
            f"the compiled core could not be built: {' '.join(map(str, command[:3]))} failed, see "
            "its message above"
        )


def fail(message: str) -> None:
    """Stop the build with one line."""
    raise SystemExit(f"prime_estimation: error: {message}")


def by_pip() -> bool:
    """Whether pip is asking (for a wheel or its metadata), not colcon.

    Which runs `egg_info`, `install` and `develop`.
    """
    commands = set(sys.argv[1:])
    return bool(commands & WHEEL_COMMANDS) and not commands & {"install", "develop"}


def console_scripts() -> list[str]:
    """`prime`, and the nodes for `ros2 run`.

    Colcon puts them into lib/prime_estimation, pip would put them into everybody's PATH.
    """
    nodes = () if by_pip() else node_names()
    return ["prime = prime_estimation.cli:main"] + [
        f"{name} = prime_estimation.nodes.ros.executables:{name}" for name in nodes
    ]


def node_names() -> list[str]:
    """Names of the nodes, read from their one list without importing the package."""
    source = (ROOT / "prime_estimation" / "nodes" / "run_node.py").read_text()
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "NODES":
            return list(ast.literal_eval(statement.value))
    raise LookupError("prime_estimation/nodes/run_node.py has no list NODES")


def data_files() -> list[tuple[str, list[str]]]:
    """Files for <prefix>/share, by folder, computed from the tree.

    Paths are relative, as colcon's symlink installation needs.
    """
    share = "share/prime_estimation"
    files = [
        ("share/ament_index/resource_index/packages", ["resource/prime_estimation"]),
        (share, ["package.xml"]),
    ]
    for room in ("config", "launch"):
        files += [(f"{share}/{folder}", content) for folder, content in folders_below(room)]
    if not by_pip() or "sdist" in sys.argv:
        # colcon's console scripts go to lib/prime_estimation, which is not on PATH
        files.append(("bin", ["resource/prime"]))
    if by_pip():
        # without colcon nothing else installs the message definitions, which the program reads
        files += [
            (f"share/{folder}", content)
            for folder, content in folders_below("prime_estimation_msgs/msg")
        ]
    return files


def folders_below(room: str) -> list[tuple[str, list[str]]]:
    """Each folder from `room` downwards that has files, with these files."""
    files = sorted(
        p.relative_to(ROOT) for p in (ROOT / room).rglob("*") if p.is_file() and p.suffix != ".pyc"
    )
    folders = sorted({p.parent for p in files})
    return [
        (folder.as_posix(), [p.as_posix() for p in files if p.parent == folder])
        for folder in folders
    ]


setup(
    # not in setup.cfg: setuptools would make an object of it that colcon cannot read
    python_requires=">=3.10",
    ext_modules=[
        Extension(
            "prime_estimation._core",
            sources=[p.relative_to(ROOT).as_posix() for p in sorted(ROOT.glob("src/**/*.*"))],
        )
    ],
    cmdclass={"build_ext": CMakeCore},
    data_files=data_files(),
    entry_points={"console_scripts": console_scripts()},
)
