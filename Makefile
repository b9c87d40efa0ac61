# Everything sets itself up: this needs nothing but make and Python >= 3.10.
#   make demo [DATA=file] [KEEP=1]   a local Neo4j that curates itself, and a report of what it did
#   make test                        the test suite, against a real server
#   make test-all                    all of it, and what is exhaustive; within an hour. A release needs it
#   make docs                        the documentation as a site in site/; open site/index.html
#   make faults                      the long tests: servers killed, restarted, reconfigured; installs that fail; large graphs
#   make faults-brief                a few of these, with each change
#   make exit-criteria [DATA=file]   what the seed asks of the janitor, with figures; DATA is LoCoMo's file
#   make forgetting-cases [CASES=n]  3,021 generated cases of forgetting on a server; CASES: of each class, 500
#   make merge-pairs [DATA=file]     what may merge and what must not, judged; DATA is LoCoMo's file
#   make agent-set [UNSEEN=1]        what an agent gets, beside a search of what was said: 40 conversations
#   make search                      the property tests with examples that they never saw
#   make proof-rails                 the rails under 2,000 random policies and graphs
#   make mutants [MUTANTS="name …"]  whether the tests notice a mistake: one at a time, put into a copy
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEMO_READY := $(VENV)/.ready-for-demo
REPORT ?= jochi-demo-report.html

.DEFAULT_GOAL := help
# What is imported is compiled once and kept, whatever the caller's environment says: the tests start a hundred processes.
export PYTHONDONTWRITEBYTECODE :=
PYTHON_FILES := installer neomodel_models workers tests docs/generate.py docs/models.py ops
.PHONY: help setup demo test test-all lint docs format faults faults-brief search exit-criteria forgetting-cases merge-pairs agent-set proof-rails mutants bench lock clean

help:
	@sed -n 's/^#   //p' Makefile

setup: $(READY)

# A lock file into .venv. Not compiled beforehand: most of what the packages bring is never imported.
define install
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "jochi needs Python 3.10 or newer; this is $$($(PYTHON) -V). Name another: make PYTHON=python3.12 …" >&2; exit 1; }
	@echo "setting up $(VENV) from $< ($(1))"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install --no-compile --require-hashes -r $<
	@$(PIP) install --no-compile --no-build-isolation --no-deps -e .
	@touch $@
endef
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

$(READY): requirements.lock pyproject.toml
	$(call install,1.1 GB: all extras and what the tests need; half a minute more)

$(DEMO_READY): requirements-demo.lock pyproject.toml
	$(call install,440 MB: what the demonstration needs; half a minute)

demo: $(if $(wildcard $(READY)),$(READY),$(DEMO_READY))
	@$(BIN)/jochi demo $(if $(DATA),--data $(DATA)) $(if $(KEEP),--keep) --report $(REPORT)

# Two at once, each with a server of its own; one, where a server is given (its database is shared).
WORKERS ?= $(if $(JOCHI_TEST_URI),0,2)

test: $(READY)
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

# And what shows the same as a test of `make test` with more cases (the marker exhaustive; property tests with all their examples).
test-all: $(READY)
	@JOCHI_TEST_ALL=1 $(BIN)/python -m pytest -m "not slow and not rails" -n $(WORKERS) --dist loadfile

lint: $(READY) docs
	@$(BIN)/ruff check $(PYTHON_FILES)
	@$(BIN)/ruff format --check $(PYTHON_FILES)
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

# Fails where a link or a heading it leads to isn't there, and where something has no description. Fetches nothing.
docs: $(READY)
	@$(BIN)/python docs/generate.py
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --clean --strict

format: $(READY)
	@$(BIN)/ruff check --fix $(PYTHON_FILES)
	@$(BIN)/ruff format $(PYTHON_FILES)

# What `make test` leaves out: all of tests/faults, and what takes long and shows no rule (upgrades, thousands of memories, whole
# graphs given back, the other tool for migrations). No mutant needs one of them to be found.
faults: $(READY)
	@$(BIN)/python -m pytest -m slow -n $(WORKERS) --dist loadfile

# Of these a few, with each change: a server and installers killed, jobs that fail, one lease for two who run a job, merging and
# forgetting terminated, schema commands during ticks. Of their exhaustive cases none.
FAULTS_BRIEF := merge merge_killed forget migrations_crash scheduler_failures scheduler_healing scheduler_leases
faults-brief: $(READY)
	@$(BIN)/python -m pytest -m "slow and not exhaustive" -n $(WORKERS) --dist loadfile $(FAULTS_BRIEF:%=tests/faults/test_%.py)

exit-criteria: $(READY)
	@$(BIN)/python -m tests.exit_criteria $(if $(DATA),--data $(DATA)) $(if $(PAGE),--page $(PAGE))

# What must go is nowhere, what must stay is recalled: docs/reference/forgetting.md.
forgetting-cases: $(READY)
	@$(BIN)/python -m tests.exit_criteria.forgetting $(if $(CASES),--cases $(CASES))

merge-pairs: $(READY)
	@$(BIN)/python -m tests.merge_pairs $(if $(DATA),--locomo $(DATA)) $(if $(UNSEEN),--unseen) $(if $(PAGE),--page $(PAGE))

# What an agent gets must be better than searching what was said: docs/reference/agent-set.md.
agent-set: $(READY)
	@$(BIN)/python -m tests.agent_set $(if $(UNSEEN),--unseen) $(if $(PROVIDER),--provider $(PROVIDER))

search: $(READY)
	@JOCHI_SEARCH=1 $(BIN)/python -m pytest tests/property -n $(WORKERS) --dist loadfile

# In parts of its own: 2,000 examples take longer than `make test` may.
proof-rails: $(READY)
	@JOCHI_SEARCH=1 JOCHI_RAILS_EXAMPLES=$(or $(EXAMPLES),2000) $(BIN)/python -m pytest -m rails tests/property

mutants: $(READY)
	@$(BIN)/python -m tests.mutants $(MUTANTS)

bench: $(READY)
	@$(BIN)/python -m tests.bench

# Renews the two lock files from pyproject.toml for every Python and platform we support; the demonstration's is a part of the other.
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-header
lock: $(READY)
	@$(PIP) install uv
	@$(COMPILE) --all-extras --group dev pyproject.toml --output-file requirements.lock
	@$(COMPILE) --no-annotate --constraint requirements.lock --extra server --extra report --extra embeddings --group build pyproject.toml \
	  --output-file requirements-demo.lock

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .import_linter_cache .pytest_cache .hypothesis site docs/reference/generated jochi-demo-report.html
