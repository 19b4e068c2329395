# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Canvas of figures: matplotlib without a window, which not every installation has."""

from __future__ import annotations

from ..errors import PrimeError


def canvas() -> tuple[type, type]:
    """Matplotlib's `Figure`, and the canvas that makes pictures of one.

    Verbs call it before work whose figures come last.

    Raises:
        PrimeError: no matplotlib.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PrimeError("figures need matplotlib: pip install 'prime_estimation[viz]'") from error
    return Figure, FigureCanvasAgg
