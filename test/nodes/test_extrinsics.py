# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Roll, pitch and yaw as tf2's static_transform_publisher takes them."""

import numpy as np
import pinocchio as pin
import pytest

from prime_estimation.errors import ConfigError
from prime_estimation.nodes.ros.extrinsics import static_transform


def test_angles_are_about_fixed_axes():
    pytest.importorskip("tf_transformations")
    arguments = static_transform("1 2 3 0.1 -0.2 0.3", "odom", "mocap")
    given = dict(zip(arguments[::2], arguments[1::2], strict=True))
    assert [float(given[f"--{axis}"]) for axis in "xyz"] == [1.0, 2.0, 3.0]
    x, y, z, w = (float(given[f"--q{axis}"]) for axis in "xyzw")
    assert pin.Quaternion(w, x, y, z).matrix() == pytest.approx(
        pin.rpy.rpyToMatrix(0.1, -0.2, 0.3), abs=1e-12
    )
    assert (given["--frame-id"], given["--child-frame-id"]) == ("odom", "mocap")
    assert np.isclose(x * x + y * y + z * z + w * w, 1.0)


@pytest.mark.parametrize("origin", ["", "0 0 0", "0 0 0 0 0 up", "0 0 0 0 0 nan"])
def test_what_is_no_pose_is_refused(origin):
    with pytest.raises(ConfigError, match="wants six numbers, x y z roll pitch yaw"):
        static_transform(origin, "odom", "mocap")
