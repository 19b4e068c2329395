# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The log of the nodes goes where ROS users look for it."""

from __future__ import annotations

import logging


def log_to_rosout(node) -> None:
    """Log lines of our nodes through the logger of an rclpy node."""
    logger = node.get_logger()

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            text = self.format(record)
            # a line for each: rclpy refuses, with an exception, a second severity from one place in
            # the code
            if record.levelno >= logging.ERROR:
                logger.error(text)
            elif record.levelno >= logging.WARNING:
                logger.warning(text)
            else:
                logger.info(text)

    prime = logging.getLogger("prime")
    prime.addHandler(Handler())
    prime.setLevel(logging.INFO)
