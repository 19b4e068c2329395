# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Packaging: one version, one set of pinned libraries, complete data files, and metadata that
colcon can read."""

import ast
import configparser
import os
import re
import runpy
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ET
from importlib.metadata import PackageNotFoundError, distribution

import pytest

setuptools = pytest.importorskip("setuptools")

PINNED = ("crocoddyl", "pin", "eigenpy")


@pytest.fixture(scope="module")
def setup_cfg(repository):
    parser = configparser.ConfigParser()
    parser.read(repository / "setup.cfg")
    return parser


@pytest.fixture
def setup_py(repository, monkeypatch):
    """Names of setup.py, run as pip does for a wheel, without its call of setup()."""
    monkeypatch.chdir(repository)
    monkeypatch.setattr(setuptools, "setup", lambda **_: None)
    monkeypatch.setattr(sys, "argv", ["setup.py", "bdist_wheel"])
    return runpy.run_path("setup.py")


def test_one_version(repository, setup_cfg):
    versions = {
        "setup.cfg": setup_cfg["metadata"]["version"],
        "package.xml": ET.parse(repository / "package.xml").findtext("version"),
        "prime_estimation_msgs": ET.parse(
            repository / "prime_estimation_msgs" / "package.xml"
        ).findtext("version"),
        "CITATION.cff": re.search(
            r"^version: (\S+)$", (repository / "CITATION.cff").read_text(), re.M
        )[1],
    }
    assert len(set(versions.values())) == 1, versions
    assert versions["setup.cfg"] in (repository / "CHANGELOG.rst").read_text()


def test_libraries_are_pinned_alike_at_build_and_run_time(repository, setup_cfg):
    build = (repository / "pyproject.toml").read_text()
    for name in PINNED:
        pin = re.search(rf"^{name}==\S+$", setup_cfg["options"]["install_requires"], re.M)[0]
        assert f'"{pin}"' in build


def test_data_files_are_complete(repository, setup_py):
    files = {f for _, content in setup_py["data_files"]() for f in content}
    for room in ("config", "launch", "prime_estimation_msgs/msg"):
        below = (p for p in (repository / room).rglob("*") if p.is_file() and p.suffix != ".pyc")
        assert {p.relative_to(repository).as_posix() for p in below} <= files
    assert {"package.xml", "resource/prime_estimation"} <= files
    folders = dict(setup_py["data_files"]())
    assert "config/robots/go2.yaml" in folders["share/prime_estimation/config/robots"]
    assert "resource/prime_estimation" in folders["share/ament_index/resource_index/packages"]


def test_colcon_gets_nodes_and_pip_gets_messages(setup_py, monkeypatch):
    monkeypatch.setattr(
        sys,
        "argv",
        "setup.py egg_info --egg-base x build --build-base y install --record z".split(),
    )
    assert not any("prime_estimation_msgs" in folder for folder, _ in setup_py["data_files"]())
    scripts = setup_py["console_scripts"]()
    assert any(script.startswith("estimator = ") for script in scripts), "ros2 run needs the nodes"
    assert ("bin", ["resource/prime"]) in setup_py["data_files"](), "on PATH of a workspace"
    monkeypatch.setattr(sys, "argv", ["setup.py", "bdist_wheel"])
    assert setup_py["console_scripts"]() == scripts[:1]
    assert "bin" not in dict(setup_py["data_files"]())


def test_the_command_of_a_workspace_runs(repository):
    command = [sys.executable, repository / "resource" / "prime", "--help"]
    environment = {**os.environ, "PYTHONPATH": str(repository)}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "verbs:" in run.stdout and os.access(repository / "resource" / "prime", os.X_OK)


def test_colcon_reads_the_metadata(repository):
    """The question that colcon asks; it evaluates the answer as a Python literal."""
    question = (
        "from setuptools import setup; from distutils.core import run_setup\n"
        "dist = run_setup('setup.py', script_args=('--dry-run',), stop_after='config')\n"
        "skip = ('cmdclass', 'distclass', 'ext_modules', 'metadata', *dist.display_option_names)\n"
        "data = {k: v for k, v in dist.__dict__.items()"
        " if not k.startswith('_') and not callable(v) and k not in skip}\n"
        "data['metadata'] = {k: v for k, v in dist.metadata.__dict__.items()"
        " if k not in ('license_files', 'provides_extras')}\n"
        "print(repr(data))"
    )
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", question],
        cwd=repository,
        capture_output=True,
        text=True,
        check=True,
    )
    data = ast.literal_eval(run.stdout.splitlines()[-1])
    assert data["metadata"]["name"] == "prime_estimation"
    assert "prime_estimation.io" in data["packages"]
    assert data["command_options"]["install"]["install_scripts"][1] == "$base/lib/prime_estimation"


def test_source_distribution_can_be_built_from(repository, tmp_path):
    """Everything that a build reads must be in the archive."""
    code = f"from setuptools.build_meta import build_sdist; build_sdist({str(tmp_path)!r})"
    copy = tmp_path / "tree"
    tracked = subprocess.run(
        ["git", "-C", str(repository), "ls-files", "-z"], capture_output=True, check=False
    )
    if tracked.returncode:
        pytest.skip("not a git checkout")
    wanted = [
        name
        for name in tracked.stdout.decode().split("\0")
        if name and (repository / name).is_file()
    ]
    for name in wanted:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_bytes((repository / name).read_bytes())
    subprocess.run([sys.executable, "-c", code], cwd=copy, capture_output=True, check=True)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    rooms = (
        "prime_estimation/",
        "prime_estimation_msgs/msg/",
        "src/",
        "config/",
        "launch/",
        "resource/",
    )
    rooms += ("setup", "pyproject", "package.xml", "LICENSE")
    assert {name for name in wanted if name.startswith(rooms)} <= names


def test_library_prefix(setup_py, tmp_path, monkeypatch):
    """The libraries to build against are those that Python imports: the first on its path."""
    wheels = tmp_path / "site-packages"
    ros = tmp_path / "ros" / "lib" / "python3.12" / "site-packages"
    (wheels / "cmeel.prefix" / "include" / "pinocchio").mkdir(parents=True)
    (ros / "pinocchio").mkdir(parents=True)
    (ros / "pinocchio" / "__init__.py").touch()
    find = setup_py["dependency_prefix"]
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(wheels), str(ros)])
    assert find() == wheels / "cmeel.prefix"
    assert setup_py["rpath"](find(), editable=False) == "$ORIGIN/../cmeel.prefix/lib"
    monkeypatch.setattr(sys, "path", [str(ros), str(wheels)])
    assert find() == tmp_path / "ros"
    assert setup_py["rpath"](find(), editable=False).endswith(f";{tmp_path / 'ros' / 'lib'}")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert find() is None


@pytest.mark.parametrize("missing", ["compiler", "headers"])
def test_build_says_in_one_line_what_is_missing(setup_py, monkeypatch, missing):
    if missing == "compiler":
        monkeypatch.setenv("PATH", "")
        monkeypatch.delenv("CXX", raising=False)
        remedy = "install g\\+\\+"
    else:
        monkeypatch.setattr("sysconfig.get_path", lambda _: "/nowhere")
        monkeypatch.setattr("shutil.which", lambda name, **_: f"/usr/bin/{name}")
        remedy = "python3-dev"
    with pytest.raises(SystemExit, match=f"^prime_estimation: error: [^\n]*{remedy}[^\n]*$"):
        setup_py["check_compiler"]()


def test_installed_distribution(setup_cfg):
    """Of the environment that runs these tests."""
    try:
        installed = distribution("prime_estimation")
    except PackageNotFoundError:
        pytest.skip("runs from the source tree, not installed")
    assert installed.version == setup_cfg["metadata"]["version"]
    assert {e.name: e.value for e in installed.entry_points}["prime"] == "prime_estimation.cli:main"
    assert set(installed.metadata.get_all("Provides-Extra")) == {
        "calibrate",
        "convert",
        "dds",
        "docs",
        "identify",
        "sim",
        "test",
        "viz",
    }


def test_sources_assume_no_processor(repository):
    """Flags and instructions of x86-64 only where it is compiled for: boards are aarch64."""
    for path in ("src/CMakeLists.txt", "setup.py", "pyproject.toml", "setup.cfg"):
        assert not re.search(r"-m(arch|tune|cpu|avx|sse|fma)", (repository / path).read_text()), (
            path
        )
    for path in sorted((repository / "src").rglob("*.?pp")):
        text = path.read_text()
        assert "immintrin" not in text, path
        wide = re.sub(r"#ifdef PRIME_WIDE_VECTORS.*?#endif", "", text, flags=re.S)
        assert not re.search(r'target\("|__builtin_cpu_supports', wide), path
    kernels = (repository / "src" / "linalg" / "dense_kernels.cpp").read_text()
    assert re.search(r"#if.*__x86_64__.*\n#define PRIME_WIDE_VECTORS", kernels)


def test_no_dependency_comes_from_pip(repository):
    """Packages of a distribution must not depend on pip; what only recordings need stays out."""
    for path in (repository / "package.xml", repository / "prime_estimation_msgs" / "package.xml"):
        root = ET.parse(path).getroot()
        keys = {e.text for e in root if e.tag.endswith("depend")}
        assert not [key for key in keys if key.endswith("-pip")]
        assert (path.parent / root.find("license").get("file")).is_file()
        assert (path.parent / "CHANGELOG.rst").is_file()


def test_changelogs_are_ready_for_a_release(repository):
    """As catkin_prepare_release wants them: one section that is to come, first; versions, dated."""
    for path in (
        repository / "CHANGELOG.rst",
        *repository.glob("prime_estimation_*/CHANGELOG.rst"),
    ):
        first, *others = re.findall(r"(?m)^(\S.*)\n-+$", path.read_text())
        assert first == "Forthcoming", path
        assert all(re.fullmatch(r"\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)", o) for o in others), path


def test_nodes_under_ros_need_no_package_that_distributions_lack(repository):
    code = (
        "import sys; sys.modules['rosbags'] = sys.modules['cyclonedds'] = None\n"
        "import prime_estimation.transport.ros, prime_estimation.nodes.run_node\n"
        "from prime_estimation.nodes import estimator, inertia_keeper, inertia_listener\n"
        "from prime_estimation.nodes import launch_arguments, markers, mpc, unitree_bridge\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(repository)}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
