# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
# Every target makes what it needs in .venv, from PyPI and the system's compiler; `make` lists them

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.built

# where it is set, each of the many programs that tests start compiles all modules anew
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help build demo test quick docs bench bench-papers bench-speed bench-loop bench-joints lint test-install test-ros clean
.DEFAULT_GOAL := help

help:
	@echo "make demo          a simulated robot walks on its own estimate, seen in the browser; HEADLESS=1 without (prime_runs/)"
	@echo "make test          all tests; make quick leaves the slow ones out, and those under ROS 2"
	@echo "make test-ros      the nodes under real rclpy, built with colcon (.venv-ros)"
	@echo "make bench         accuracy and speed beside a contact-aided EKF, on the runs in RUNS=FOLDER"
	@echo "make bench-speed   time of the parts of a solver iteration, of updates and of full information, on the recorded walks"
	@echo "make bench-loop    walking on the estimate: loads put on and taken off, with and without the update (an hour)"
	@echo "make bench-joints  parameters of pendulums on a fixed base, beside their paper; REAL=FOLDER for recorded ones"
	@echo "make bench-papers  published test problems and tables beside ours; GUESSES=100 as published (an hour)"
	@echo "make test-install  pip install into a fresh environment, used from outside this folder"
	@echo "make docs          the documentation, as web pages in docs/_build/html"
	@echo "make lint          ruff and clang-format"
	@echo "make clean         remove .venv and what was built"
	@echo "PYTHON=python3.12 chooses the interpreter of .venv"

build: $(STAMP)

demo: $(STAMP)
	$(BIN)/prime walk $(if $(HEADLESS),--headless)

# a file of tests stays with one worker, for it shares what is slow to make
WORKERS ?= 2
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
# long tests (test/conftest.py) come last and begin within so many minutes, so that a slow machine ends in time too
MINUTES ?= 30
BEGAN := $(shell date +%s)
test: $(STAMP)
	$(PYTEST) -m "not long"
	$(MAKE) test-ros
	$(PYTEST) -m long --long-until $$(($(BEGAN) + 60 * $(MINUTES)))

quick: $(STAMP)
	$(PYTEST) -m "not slow"

bench: $(STAMP)
	$(BIN)/python benchmarks/yardstick.py $(RUNS)

bench-speed: $(STAMP)
	$(BIN)/python benchmarks/speed.py

SEEDS ?= 3
bench-loop: $(STAMP)
	$(BIN)/python benchmarks/loop.py --seeds $(SEEDS)

bench-joints: $(STAMP)
	$(BIN)/python benchmarks/joint_parameters.py $(if $(REAL),--real $(REAL))

GUESSES ?= 10
bench-papers: $(STAMP)
	$(BIN)/python benchmarks/papers.py --guesses $(GUESSES)
	$(BIN)/python benchmarks/papers_prime.py

# A page or a docstring that Sphinx warns about is an error. COLUMNS: of the help texts.
docs: $(STAMP)
	@$(BIN)/python -c "from configparser import ConfigParser as C; c = C(); c.read('setup.cfg'); \
	  print(c['options.extras_require']['docs'])" > $(VENV)/docs_requirements.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check -r $(VENV)/docs_requirements.txt
	COLUMNS=100 $(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --jobs 2 docs docs/_build/html
	@echo "docs/_build/html/index.html"

test-install:
	.ci/test_install $(PYTHON)

# The environment lives as long as its interpreter; the core is rebuilt when its sources or what it is built with change.
# --no-compile: of what is installed, little is ever imported.
$(STAMP): pyproject.toml setup.py setup.cfg $(shell find src -type f) | $(VENV)/pyvenv.cfg
	$(BIN)/python -c "$$BUILD_REQUIREMENTS" > $(VENV)/build_requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r $(VENV)/build_requirements.txt
	@echo "compiling the C++ core: two to four minutes the first time"
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile --no-build-isolation --editable ".[sim,viz,dds,identify,convert,test]"
	@touch $@

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 10))" || \
	  { echo "$(PYTHON) is older than 3.10: name a newer one, as in make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "cannot make a virtual environment: install the system's python3-venv package" >&2; exit 1; }

# The nodes under real rclpy, in an environment made from PyPI wheels and kept between runs; they exist for x86_64 only.
test-ros:
	@if [ "$$(uname -m)" = x86_64 ]; then $(PYTHON) test/ros/environment.py .venv-ros python -m pytest test/ros; \
	  else echo "test-ros: no wheels of rclpy for $$(uname -m), skipped"; fi

# the versions that pre-commit runs
pinned = $(shell sed -n '/$(1)/{n;s/ *rev: v//p}' .pre-commit-config.yaml)
lint: $(VENV)/pyvenv.cfg
	$(BIN)/pip install --quiet --disable-pip-version-check ruff==$(call pinned,ruff-pre-commit) clang-format==$(call pinned,mirrors-clang-format)
	$(BIN)/ruff check .
	$(BIN)/clang-format --dry-run --Werror $$(find src -name "*.?pp")

clean:
	rm -rf $(VENV) .venv-ros build dist *.egg-info prime_estimation/_core*.so .pytest_cache .ruff_cache

define BUILD_REQUIREMENTS
import sys
from importlib import import_module
toml = import_module("tomllib" if sys.version_info >= (3, 11) else "pip._vendor.tomli")
print(*toml.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")
endef
export BUILD_REQUIREMENTS
