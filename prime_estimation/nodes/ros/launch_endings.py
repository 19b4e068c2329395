# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Ending of a launch: with a program without which its others are of no use."""

from __future__ import annotations

from launch import Action, Substitution
from launch.actions import EmitEvent, RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown

CANNOT_WORK = 2  # exit code of our programs for what would go wrong again


def ends_with(
    program: Action, name: str, respawn: Substitution | None = None
) -> RegisterEventHandler:
    """Ends the launch when a program ends; with exit code 1 when it failed.

    Args:
        program: that ends.
        name: for the reason that is given.
        respawn: true where the program is started again when it dies. One that has done its work,
            or has said that it cannot, is not.
    """

    def on_exit(event, context) -> list:
        if context.is_shutdown:
            return []
        if event.returncode == 0:
            return [EmitEvent(event=Shutdown(reason=f"the {name} has ended"))]
        returns = respawn is not None and respawn.perform(context) == "true"
        if returns and event.returncode != CANNOT_WORK:
            return []
        raise RuntimeError(f"the {name} ended with exit code {event.returncode}, see above")

    return RegisterEventHandler(OnProcessExit(target_action=program, on_exit=on_exit))
