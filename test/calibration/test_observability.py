# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Blocks are told where the loss rises on both sides, by more than it varies."""

import numpy as np
from helpers.swaying_robot import shipped_noise

from prime_estimation.calibration.observability import told_blocks


class Parts:
    """Ten parts: the gyro has a minimum, encoders a slope, rates one part, slip fails upwards."""

    def __init__(self, noise):
        self.shipped = noise

    def parts(self, noise):
        gyro, encoder, rate, slip = (
            0.5 * np.log(noise.blocks[k][0, 0] / self.shipped.blocks[k][0, 0])
            for k in ("gyro", "encoder", "rate", "slip")
        )
        weights = np.linspace(0.5, 1.5, 10)
        out = weights * gyro**2 - 0.1 * weights * encoder + (weights > 1.4) * rate**2
        return np.full(10, np.inf) if slip > 0.1 else out + 3.0 + slip**2


def test_blocks_that_the_loss_holds():
    noise = shipped_noise()
    told = told_blocks(Parts(noise), noise)
    assert [name for name, there in told.items() if there] == ["gyro"]
    assert set(told) == set(noise.blocks)
