# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Imports without viewers: Crocoddyl would bring along whichever is installed."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

# what Pinocchio's visualizers look for, and do without where it is missing: with all that it needs
# it takes longer to load than everything else that an estimator is made of
VIEWER = "viser"


def import_module(name: str, package: str | None = None) -> ModuleType:
    """Imports a module while the viewer seems not to be installed.

    `import crocoddyl` imports `pinocchio.visualize`, and that the viewer. A program that must be
    back soon, or that prints a line and ends, has no use for it; who wants it imports it later.

    Args:
        name: of the module, relative to `package` where it begins with a dot.
        package: that the name is relative to.
    """
    hide = VIEWER not in sys.modules
    if hide:
        sys.modules[VIEWER] = None  # an import of it is an ImportError
    try:
        return importlib.import_module(name, package)
    finally:
        if hide:
            del sys.modules[VIEWER]
