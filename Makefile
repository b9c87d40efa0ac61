# Everything sets itself up: this needs nothing but make and Python >= 3.10.
#   make demo [DATA=file] [KEEP=1]   a local Neo4j that curates itself, and a report of what it did
#   make test                        the test suite, against a real server
#   make faults                      the long fault tests: servers killed, restarted, reconfigured
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
REPORT ?= jochi-demo-report.html

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint format faults bench lock clean

help:
	@sed -n 's/^#   //p' Makefile

setup: $(READY)

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "jochi needs Python 3.10 or newer; this is $$($(PYTHON) -V). Name another: make PYTHON=python3.12 …" >&2; exit 1; }
	@echo "setting up $(VENV) (locked dependencies; some minutes the first time)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $@

demo: $(READY)
	@$(BIN)/jochi demo $(if $(DATA),--data $(DATA)) $(if $(KEEP),--keep) --report $(REPORT)

test: $(READY)
	@$(BIN)/python -m pytest

lint: $(READY)
	@$(BIN)/ruff check installer tests
	@$(BIN)/ruff format --check installer tests
	@$(BIN)/mypy

format: $(READY)
	@$(BIN)/ruff check --fix installer tests
	@$(BIN)/ruff format installer tests

# The long ones that `make test` leaves out: servers killed, restarted and reconfigured.
faults: $(READY)
	@$(BIN)/python -m pytest -m slow

bench: $(READY)
	@$(BIN)/python -m tests.bench

# Renews requirements.lock from pyproject.toml for every Python and platform we support.
lock: $(READY)
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-header --all-extras \
	  --group dev pyproject.toml --output-file requirements.lock

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis jochi-demo-report.html
