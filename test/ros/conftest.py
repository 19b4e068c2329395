# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A ROS 2 domain of this test run, a node on it and an observer of the estimator."""

import os

import pytest


@pytest.fixture(scope="module")
def domain():
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    # of those whose ports the system gives to nobody else
    os.environ["ROS_DOMAIN_ID"] = str(1 + os.getpid() % 100)
    return int(os.environ["ROS_DOMAIN_ID"])


@pytest.fixture(scope="module")
def tester(domain):
    import rclpy

    rclpy.init(domain_id=domain)
    yield rclpy.create_node("tester")
    rclpy.shutdown()


@pytest.fixture
def observer(domain):
    from helpers.processes import Observer

    observer = Observer(domain)
    yield observer
    observer.close()
