# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Live: the estimator node on a robot's network, and a program that listens to it, without ROS 2.

    python examples/03_live_over_dds.py [RECORDING --robot go2]

The recording is played as if it were a robot. On a robot leave the player out: the node hears
`joint_states` and `imu`, or Unitree's `lowstate`. ROS 2 programs on the same network see all of it.
"""

import threading

from a_recording import arguments

from prime_estimation.nodes.replay import Playback, ReplayNode
from prime_estimation.nodes.run_node import build
from prime_estimation.transport.base import Qos
from prime_estimation.transport.dds import DdsTransport

args = arguments(__doc__.splitlines()[0])
stop = threading.Event()
heard = {"odometry": 0, "status": 0}


def on_odometry(message, arrival_ns: int) -> None:
    """Twist of the odometry is in the base frame."""
    heard["odometry"] += 1
    if heard["odometry"] % 200 == 0:
        velocity = message.twist.twist.linear
        print(f"velocity {velocity.x:6.2f} {velocity.y:6.2f} {velocity.z:6.2f} m/s")


def on_status(message, arrival_ns: int) -> None:
    """Says what is wrong, once per estimate."""
    heard["status"] += 1
    wrong = [f"{s.name}: {s.message}" for s in message.sensors if not s.ok]
    if wrong and heard["status"] % 100 == 1:
        print("; ".join(wrong))


estimator_transport = DdsTransport("prime")
estimator = build("estimator", estimator_transport, args.robot)

listener = DdsTransport("listener")
listener.subscribe("/prime/odometry", "nav_msgs/msg/Odometry", on_odometry, Qos.SENSOR)
listener.subscribe(
    "/prime/status", "prime_estimation_msgs/msg/EstimatorStatus", on_status, Qos.SENSOR
)

player_transport = DdsTransport("player")
player = ReplayNode(player_transport, args.recording, Playback())

transports = [estimator_transport, listener, player_transport]
threads = [threading.Thread(target=t.spin, args=(stop,)) for t in transports]
for thread in threads:
    thread.start()
estimator.start()
try:
    player.run(stop)  # to the end of the recording, or until it is interrupted
    estimator.solver.drain()
finally:
    stop.set()
    for thread in threads:
        thread.join()
    estimator.stop()
    for transport in transports:
        transport.close()
print(f"heard {heard['odometry']} odometry and {heard['status']} status messages")
