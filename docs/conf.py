# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sphinx configuration: `make docs` builds the pages of this folder into `docs/_build/html`."""

import sys
from configparser import ConfigParser
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS / "_ext"), str(DOCS.parent)]
_metadata = ConfigParser()
_metadata.read(DOCS.parent / "setup.cfg")

project = "prime_estimation"
author = _metadata["metadata"]["author"]
copyright = f"2026, {author}"
release = version = _metadata["metadata"]["version"]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "reference_pages",  # _ext: pages of commands and modules, made anew with every build
    "docstrings",  # _ext: what the package writes in docstrings, as reStructuredText
]
exclude_patterns = ["_build", "_ext"]
html_theme = "furo"
html_title = f"prime_estimation {release}"
html_static_path: list[str] = []

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

default_role = "code"  # single backticks, as in Markdown
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # signatures say them in the source; docstrings say shapes and units
autodoc_class_signature = "mixed"
autodoc_mock_imports = ["rclpy", "cyclonedds", "mujoco", "matplotlib", "cvxpy", "clarabel"]
napoleon_use_ivar = True
napoleon_use_rtype = False
