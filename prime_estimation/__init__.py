# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Online estimation of base state, contact forces and inertial parameters of legged robots.

The names below are loaded when they are used, so that looking at one costs nothing for the others.
"""

from importlib import import_module

_ROOMS = {
    "Config": "config",
    "Estimate": "types",
    "Estimator": "estimator",
    "ImuSample": "types",
    "InertiaGate": "inertia_gate",
    "JointSample": "types",
    "PoseSample": "types",
    "PrimeError": "errors",
    "Robot": "robot",
    "StateObserver": "policy.observer",
    "Synchronizer": "alignment.synchronizer",
}
__all__ = list(_ROOMS)


def __getattr__(name: str):
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_ROOMS[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
