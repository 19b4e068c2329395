# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What the commands leave: URDF, YAML, JSON, report, annotated motion; and what they refuse."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path
from shutil import copy2, copytree

import numpy as np
import pinocchio as pin
import pytest
import yaml
from helpers.turned_frames import turned_urdf
from identify.conftest import CONFIG

from prime_estimation import cli
from prime_estimation.commands.identify import _identify_all
from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import INTERVAL
from prime_estimation.errors import DataError, Stopped
from prime_estimation.identify.outcome import Outcome
from prime_estimation.identify.posterior import Posterior, Quantity
from prime_estimation.identify.reconstruct import estimates, motion
from prime_estimation.identify.tare import Tare, tare, write_tare
from prime_estimation.identify.urdf import patch_urdf
from prime_estimation.inertia import to_theta
from prime_estimation.io.bag import BagReader
from prime_estimation.robot import GRAVITY, Robot, mesh_path, urdf_path, urdf_text


@pytest.fixture(scope="module")
def folder(recording, tmp_path_factory):
    """Output of `prime identify` on the recording."""
    pytest.importorskip("matplotlib")
    out = tmp_path_factory.mktemp("identified")
    options = ["--robot", "go2", "--links", "base", "--to", "1.6", "--no-progress"]
    assert cli.main(["identify", str(recording), *options, "--out", str(out)]) == 0
    return out


def test_figures_mark_only_what_is_observable():
    pytest.importorskip("matplotlib")
    from prime_estimation.viz.identification_figures import _told

    q = Quantity("base", "Ixx", "kg m2", 0.04, 0.007, 0.007, 0.0, 0.02, 0.008, observable=False)
    told = _told([q, replace(q, name="Iyy", observable=True)], [0, 1])
    assert np.isnan(told[:, 0]).all() and told[:, 1] == pytest.approx([0.04, 1.96 * 0.007])


@pytest.mark.slow
def test_everything_is_written(folder):
    assert {p.name for p in folder.iterdir()} == {
        "go2.urdf",
        "go2.yaml",
        "identification.json",
        "report.html",
    }
    found = json.loads((folder / "identification.json").read_text())
    base = found["links"]["base"]
    assert set(base["quantities"]) == {
        "mass",
        "com x",
        "com y",
        "com z",
        "Ixx",
        "Ixy",
        "Iyy",
        "Ixz",
        "Iyz",
        "Izz",
    }
    assert (
        found["runs"][0]["converged"]
        and len(base["directions"]) == 10
        and len(found["error_budget"]) >= 8
    )
    html = (folder / "report.html").read_text()
    assert html.count("data:image/png;base64") == 5 and "95 % interval" in html


def test_the_patched_robot_has_the_identified_inertia(folder):
    found = json.loads((folder / "identification.json").read_text())["links"]["base"][
        "dynamic_parameters"
    ]
    robot = Robot.load(str(folder / "go2.yaml"))
    np.testing.assert_allclose(robot.model.inertias[1].toDynamicParameters(), found, atol=1e-7)
    nominal = Robot.load("go2").model
    for i in range(2, nominal.njoints):
        np.testing.assert_allclose(
            robot.model.inertias[i].toDynamicParameters(),
            nominal.inertias[i].toDynamicParameters(),
            atol=1e-9,
        )


@pytest.mark.parametrize(
    ("name", "link"), [("go1", "base"), ("go2", "FL_calf"), ("go1", "RR_thigh")]
)
def test_any_body_can_be_patched(name, link, tmp_path):
    config = Config.load(name)
    robot = Robot(config.robot)
    body = robot.model.inertias[robot.link_joint(link)]
    heavier = body + pin.Inertia.FromBox(0.5, 0.1, 0.05, 0.02)
    assert patch_urdf(robot, {link: heavier.toDynamicParameters()}, tmp_path / "new.urdf") == []
    again = Robot(replace(config.robot, urdf=str(tmp_path / "new.urdf")))
    np.testing.assert_allclose(
        again.model.inertias[robot.link_joint(link)].toDynamicParameters(),
        heavier.toDynamicParameters(),
        atol=1e-7,
    )


def test_an_imu_placed_on_the_link_that_was_identified_does_not_turn_its_inertia(tmp_path):
    mount = {"imu_frame": "base", "imu_position": [0.1, 0.0, 0.1], "imu_rotation": [3.0, 0.0, 0.0]}
    config = Config.load("go2").updated({"robot": mount}).robot
    robot = Robot(config)
    now = {"base": robot.model.inertias[1].toDynamicParameters()}
    patch_urdf(robot, now, tmp_path / "new.urdf")
    again = Robot(replace(config, urdf=str(tmp_path / "new.urdf"))).model.inertias[1]
    np.testing.assert_allclose(again.toDynamicParameters(), now["base"], atol=1e-7)


@pytest.mark.parametrize(
    "what",
    [
        "<!-- ---- a -- b --->",
        "<gazebo><foo:x foo:a='1'/></gazebo>",
        "<gazebo><model name='arena'><link name='base'/></model></gazebo>",
        "<!-- Fu\xdf -->",
    ],
)
def test_what_the_parser_of_urdfs_bears_ends_no_identification(what, tmp_path):
    """Dashes in comments, a prefix that nobody declares, another encoding; blanks at the top."""
    config = Config.load("go2").robot
    text = urdf_path(config).read_text().replace("</robot>", f"{what}</robot>")
    (tmp_path / "own.urdf").write_bytes(b"\n" + text.encode("latin-1"))
    robot = Robot(replace(config, urdf=str(tmp_path / "own.urdf")))
    assert robot.model == Robot(config).model
    assert urdf_text(robot.config).count("<link") == text.count("<link")
    heavier = robot.model.inertias[1] + pin.Inertia.FromBox(0.5, 0.1, 0.05, 0.02)
    assert patch_urdf(robot, {"base": heavier.toDynamicParameters()}, tmp_path / "new.urdf") == []
    again = Robot(replace(config, urdf=str(tmp_path / "new.urdf")))
    assert again.model.inertias[1].isApprox(heavier, 1e-6)
    assert "foo:x" in (tmp_path / "new.urdf").read_text() or "foo" not in what


def test_a_patched_urdf_finds_its_meshes(tmp_path):
    """Those of a package around the old one, and those beside it, whatever the folder's name."""
    config = Config.load("go2")
    patch_urdf(Robot(config.robot), {}, tmp_path / "my robots" / "a" / "packaged.urdf")
    text = (tmp_path / "my robots" / "a" / "packaged.urdf").read_text()
    names = re.findall(r'<mesh filename="([^"]+)"', text)
    assert names and all(mesh_path(name, tmp_path).is_file() for name in names)
    mesh = tmp_path / "my robots" / "meshes" / "base.stl"
    mesh.parent.mkdir()
    mesh.touch()
    (tmp_path / "my robots" / "a" / "beside.urdf").write_text(
        text.replace(names[0], "../meshes/base.stl")
    )
    beside = replace(config.robot, urdf=str(tmp_path / "my robots" / "a" / "beside.urdf"))
    patch_urdf(Robot(beside), {}, tmp_path / "new" / "again.urdf")
    found = re.findall(r'<mesh filename="([^"]+)"', (tmp_path / "new" / "again.urdf").read_text())
    assert mesh_path(found[0], tmp_path / "new") == mesh and found[1] == names[1]
    patch_urdf(Robot(beside), {}, tmp_path / "my robots" / "a" / "same.urdf")
    assert "../meshes/base.stl" in (tmp_path / "my robots" / "a" / "same.urdf").read_text()


@pytest.mark.slow
def test_the_live_node_keeps_its_own_settings(recording, tmp_path):
    """The identification's step and joint parameters are not the live node's."""
    own = {"node": {"odometry_rate": 250.0}, "estimator": {"window": 12}}
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(own))
    options = ["--robot", "go2", "--to", "1.6", "--joints", "armature", "--no-progress"]
    options += ["--config", str(tmp_path / "own.yaml"), "--out", str(tmp_path / "out")]
    assert cli.main(["identify", str(recording), *options]) == 0
    before, after = (
        Config.load("go2", tmp_path / "own.yaml"),
        Config.load(str(tmp_path / "out" / "go2.yaml")),
    )
    assert after.estimator == before.estimator and after.node == before.node


@pytest.mark.slow
def test_ctrl_c_leaves_out_the_recordings_that_were_not_begun(recording, tmp_path):
    options = ["--robot", "go2", "--to", "1.6", "--no-progress", "--out", str(tmp_path)]
    bags = [str(copytree(recording, tmp_path / name)) for name in ("first", "second", "third")]
    args = cli.parser_of("identify").parse_args([*bags, *options])
    robot, asked = Robot(CONFIG.robot), itertools.count()
    _identify_all(args, bags[:1], robot, CONFIG, lambda: next(asked) < 0)
    of_one = next(asked)
    left = ["second: not begun, and left out", "third: not begun, and left out"]
    for more in (0, 3):  # before the second one, and while its first guess is made
        asked, last = itertools.count(), of_one + more
        runs, notices = _identify_all(args, bags, robot, CONFIG, lambda: next(asked) >= last)
        assert [r.name for r in runs] == ["first"] and not runs[0].unfinished and notices == left
    with pytest.raises(Stopped):
        _identify_all(args, bags, robot, CONFIG, lambda: True)


def test_a_body_lighter_than_what_is_fixed_to_it(tmp_path):
    config = Config.load("go2")
    robot = Robot(config.robot)
    light = pin.Inertia.FromBox(0.05, 0.1, 0.1, 0.1)
    notices = patch_urdf(robot, {"base": light.toDynamicParameters()}, tmp_path / "new.urdf")
    again = Robot(replace(config.robot, urdf=str(tmp_path / "new.urdf")))
    assert len(notices) == 1 and "weigh more than was identified" in notices[0]
    assert again.model.inertias[1].mass == pytest.approx(0.05)


def test_a_body_on_the_edge_of_what_is_physical_can_be_read_again(tmp_path):
    """As where no motion tells a moment of inertia: the text has nine digits."""
    config, notices = Config.load("ricmonk"), []
    robot = Robot(config.robot)
    link = robot.estimated_links[0]
    now = robot.model.inertias[robot.link_joint(link)]
    for seed in range(20):
        turn = pin.exp3(np.random.default_rng(seed).normal(size=3))
        axes = turn @ np.diag([3e-3, 5e-3, 0.0]) @ turn.T  # second moments of a plate
        plate = pin.Inertia(2.0 * now.mass, now.lever, np.trace(axes) * np.eye(3) - axes)
        out = tmp_path / f"{seed}.urdf"
        notices += patch_urdf(robot, {link: plate.toDynamicParameters()}, out)
        again = Robot(replace(config.robot, urdf=str(out)))
        assert again.model.inertias[robot.link_joint(link)].isApprox(plate, 1e-5)
    assert notices and not any("weigh more" in notice for notice in notices)


@pytest.mark.parametrize("observable", [True, False])
def test_what_is_reported_lies_in_its_interval(observable):
    q = Quantity("base", "Ixx", "kg m2", 0.06, 0.005, 0.004, 0.003, 0.025, 0.01, observable)
    low, high = q.interval
    assert low < q.reported < high
    assert q.to_dict()["value"] == q.reported == (0.06 if observable else 0.025)


@pytest.mark.slow
def test_tare_finds_the_scale_of_the_torques(run, tmp_path):
    problem = run.result.window.problem
    total = (
        problem.robot.total_mass
        - problem.robot.model.inertias[1].mass
        + run.posterior.pi("base")[0]
    )
    found = tare(run, total / 1.03)  # said to weigh 3 % less: the sensors read 3 % too much
    assert (
        found.torque_scale == pytest.approx(1.03, abs=0.004) and found.torque_scale_stddev < 0.004
    )
    path = write_tare(found, problem.robot, problem.config, "go2", tmp_path)
    config = Config.load(str(path))
    assert config.robot.torque_scale == pytest.approx(found.torque_scale, abs=1e-6)
    assert config.noise.torque_scale < 0.01 and config.estimator.friction == pytest.approx(
        found.friction, abs=1e-3
    )
    with pytest.raises(DataError, match="no torque scale explains that"):
        tare(run, 2.0 * total)


def test_tared_yaml_finds_the_urdf_that_lay_beside_the_first(tmp_path):
    config = Config.load("go2")
    robot = Robot(config.robot)
    (tmp_path / "robot").mkdir()
    copy2(urdf_path(config.robot), tmp_path / "robot" / "mine.urdf")
    content = {"robot": {**config.to_dict()["robot"], "urdf": "mine.urdf"}, "noise": None}
    source = tmp_path / "robot" / "mine.yaml"
    source.write_text(yaml.safe_dump(content))
    found = Tare(1.02, 0.003, float("nan"), float("nan"), robot.total_mass, robot.total_mass)
    path = write_tare(found, robot, config, str(source), tmp_path / "elsewhere")
    assert Robot.load(str(path)).total_mass == pytest.approx(robot.total_mass)


def test_tared_yaml_of_a_built_in_robot_has_all_its_settings(tmp_path):
    config = Config.load("g1")
    robot = Robot(config.robot)
    found = Tare(1.02, 0.003, 0.7, 0.02, robot.total_mass, robot.total_mass)
    live = Config.load(str(write_tare(found, robot, config, "g1", tmp_path))).estimator
    assert live == replace(config.estimator, friction=0.7)


def test_reconstructed_motion_obeys_the_dynamics(run):
    window = run.result.window
    problem, arrays = window.problem, motion(run)
    model = problem.robot.model.copy()
    model.inertias[1] = pin.Inertia.FromDynamicParameters(run.posterior.pi("base"))
    data = model.createData()
    error = []
    for k in range(20, 120):
        q, v, a = arrays["q"][k], arrays["v"][k], arrays["a"][k]
        wrench = pin.rnea(model, data, q, v, a)  # which has the armature in it
        rate = v[6:]
        losses = (
            problem.robot.joint_damping * rate
            + problem.robot.joint_friction * rate / np.hypot(rate, 0.05)
        )
        wrench[6:] += losses - arrays["torque"][k]
        J = window.nodes[k].contact_kinematics(window.data[k])["jacobian"]
        error.append(
            wrench - arrays["unexplained"][k] - np.array(J).T @ arrays["contact_force"][k].ravel()
        )
    error = np.array(error)
    # N, Nm: half a step of velocity
    assert np.sqrt(np.mean(error[:, :3] ** 2)) < 1.5 and np.sqrt(np.mean(error[:, 6:] ** 2)) < 0.3


def test_reconstructed_motion_says_how_well_it_is_known(run):
    arrays = motion(run)
    estimate = next(iter(estimates(run, arrays)))
    mass = run.posterior.quantities("base")[0]
    assert estimate.total_mass_stddev == pytest.approx(mass.stddev)
    assert estimate.bodies[0].mass_stddev == pytest.approx(mass.stddev)
    # 1 % of torque scale is 1 % of the total mass
    assert mass.systematic > 0.009 * estimate.total_mass
    covariance = arrays["contact_force_covariance"]
    assert np.linalg.eigvalsh(covariance).min() > 0.0
    force, vertical = arrays["contact_force"][:, :, 2], np.sqrt(covariance[:, :, 2, 2])
    loaded = force > 40.0
    weight = GRAVITY * run.result.window.problem.robot.total_mass
    lifted = np.median(vertical[force < 1.0])
    assert lifted == pytest.approx(INTERVAL.force_open * weight)
    assert np.median(vertical[loaded]) > 2.0 * lifted
    assert 0.3 < np.median(vertical[loaded]) < 5.0  # N
    assert arrays["contact_probability"][loaded].min() > 0.99
    first = estimate.contacts[0]
    assert np.allclose(first.force_covariance, covariance[0, 0])


def test_reconstruct_writes_arrays_and_topics(recording, tmp_path):
    arguments = [
        "reconstruct",
        str(recording),
        "--robot",
        "go2",
        "--to",
        "1.5",
        "--out",
        str(tmp_path),
        "--no-progress",
    ]
    assert cli.main(arguments) == 0
    arrays = np.load(tmp_path / "motion.npz")
    n = len(arrays["stamp_ns"])
    assert arrays["contact_force"].shape == (n, 4, 3) and list(arrays["contact_names"]) == [
        "FL_foot",
        "FR_foot",
        "RL_foot",
        "RR_foot",
    ]
    with BagReader(tmp_path / "motion.mcap") as bag:
        assert (
            bag.topics["/prime/odometry"].count == n - 1 and "/prime/contact_wrenches" in bag.topics
        )
        (_, _, said), *_ = bag.messages(["/prime/status"])
    # what it was made from: `prime evaluate` had taken its world for one of its own
    used = {sensor.name: sensor.normalized_innovation for sensor in said.sensors}
    assert set(used) == {"joint_states", "torque", "imu", "mocap"}
    assert 0.0 < min(used.values()) and max(used.values()) < 3.0


def test_unknown_link_is_one_line(recording, tmp_path, capsys):
    code = cli.main(
        [
            "identify",
            str(recording),
            "--robot",
            "go2",
            "--links",
            "trunk",
            "--out",
            str(tmp_path / "x"),
        ]
    )
    err = capsys.readouterr().err
    assert (
        code == 2
        and "no moving link 'trunk'" in err
        and err.count("\n") == 1
        and not (tmp_path / "x").exists()
    )


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--from", "2", "--to", "1"], "nothing lies between --from 2 and --to 1"),
        (["--tare", "-3"], "--tare wants the robot's total mass, got -3 kg"),
        (["--held-out", "BAG"], "was given twice"),
        (["--to", "0.3"], "an identification needs 100"),
    ],
)
def test_what_cannot_be_done_is_one_line(options, line, recording, tmp_path, capsys):
    options = [str(recording) if option == "BAG" else option for option in options]
    code = cli.main(
        ["identify", str(recording), "--robot", "go2", *options, "--out", str(tmp_path / "x")]
    )
    err = capsys.readouterr().err
    assert code == 2 and line in err and err.count("\n") == 1 and not (tmp_path / "x").exists()


def test_a_robot_whose_frames_are_turned_is_written_as_it_is(tmp_path):
    """What was not identified is the same model again, to the last digits."""
    urdf = turned_urdf(tmp_path / "turned.urdf", imu_joint="0 -1.2 2.5", FL_foot_joint="0.4 1 -2")
    told = {
        "urdf": str(urdf),
        "imu_position": [0.1 / 3.0, 0.02, 0.03],
        "imu_rotation": [0.1 / 3.0, -0.2, 2.9],
        "mocap_position": [0.1, 0.0, 0.2 / 3.0],
        "mocap_rotation": [2.0 / 3.0, 0.3, -3.0],
        "joint_zeros": {"FL_calf_joint": 0.05 / 3.0},
    }
    config = CONFIG.updated({"robot": told})
    robot = Robot(config.robot)
    pi = robot.model.inertias[1].toDynamicParameters()
    theta = to_theta(pi, "log_cholesky")
    known = Posterior(("base",), theta, 1e-4 * np.eye(10), theta, np.eye(10), {})
    files = Outcome(robot, config, [], known).write(tmp_path / "out")
    there = Robot.load(files["yaml"])
    for name in ("imu_placement", "mocap_placement"):
        written, was = (getattr(of, name).homogeneous for of in (there, robot))
        np.testing.assert_allclose(written, was, atol=1e-12)
    assert there.contacts == robot.contacts and there.joint_zeros.tolist() == (
        robot.joint_zeros.tolist()
    )
    for frame, was in zip(there.model.frames, robot.model.frames, strict=True):
        assert frame.name == was.name
        written = frame.placement.homogeneous
        np.testing.assert_allclose(written, was.placement.homogeneous, atol=1e-12)
    for inertia, was in zip(there.model.inertias, robot.model.inertias, strict=True):
        parameters = inertia.toDynamicParameters()
        np.testing.assert_allclose(parameters, was.toDynamicParameters(), atol=1e-12)


def test_the_heads_of_what_did_not_converge(run, tmp_path):
    robot, config = run.result.window.problem.robot, run.result.window.problem.config
    broken = replace(run, result=replace(run.result, converged=False))
    for one, head in ((run, "# Written by"), (broken, "# UNFINISHED, not for use: trot did not")):
        outcome = Outcome(robot, config, [one], one.posterior)
        assert Path(outcome.write(tmp_path)["yaml"]).read_text().startswith(head)
    found = Tare(1.0, 0.01, 0.6, 0.02, 16.0, 16.1)
    path = write_tare(found, robot, config, "go2", tmp_path, broken.unfinished)
    assert path.read_text().startswith("# UNFINISHED, not for use: trot did not converge in")
    path = write_tare(found, robot, config, "go2", tmp_path, run.unfinished)
    assert path.read_text().startswith("# Torque scale")
