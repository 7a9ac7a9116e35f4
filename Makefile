# Every command sets up what it needs in .venv, once; only Python 3.11+ and make are assumed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# What test-quick runs: the engine, the worlds, one run of every agent, one sweep, and the same bytes as other Pythons.
QUICK := tests/engine tests/worlds tests/agents/test_contract.py tests/benchmarks tests/experiments/test_completion.py \
	tests/experiments/test_history.py tests/test_import.py tests/test_mdp.py tests/test_pythons.py

# What touches Gymnasium, in whatever version it is.
WITH_GYMNASIUM := tests/test_hidden_worlds.py tests/test_docs_your_environment.py tests/worlds/test_gymnasium_import.py \
	tests/worlds/test_frozen_lakes.py tests/worlds/test_permuted_cliffs.py tests/worlds/test_swapped_taxis.py \
	tests/experiments/test_environments.py tests/experiments/test_interaction.py src/aomultirl/wrappers.py

# Tests start a hundred processes; each would compile all sources anew where the environment forbids to keep bytecode.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: reproduce test test-quick test-all test-pythons test-pythons-quick test-beds test-beds-quick test-rlberry bench bench-peers docs screens rooms hooks package clean
.DEFAULT_GOAL := test

reproduce: $(VENV)/use.stamp
	$(BIN)/aomultirl reproduce

test: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n 2 --dist loadfile

test-quick: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -n 2 --dist loadfile $(QUICK)

test-all: test
	$(BIN)/pytest -m long -n 2 --dist load

# The same on every other Python that is on the machine, each in an environment of its own.
test-pythons:
	$(call on-each-python,test)

test-pythons-quick:
	$(call on-each-python,test-quick)

define on-each-python
@for python in $$($(PYTHON) .ci/pythons.py); do \
	version=$$($$python -c 'import sys; print("{}.{}".format(*sys.version_info[:2]))'); \
	echo "Python $$version"; \
	$(MAKE) --no-print-directory $(1) PYTHON=$$python VENV=.venv-$$version || exit 1; \
done
endef

# Other people's environments, in an environment of their own; the table and the figure of docs/test_beds.md.
test-beds: .venv-beds/beds.stamp
	PYTHONPATH=tests .venv-beds/bin/python -m beds

test-beds-quick: .venv-beds/beds.stamp
	PYTHONPATH=tests .venv-beds/bin/python -m beds --quick

# rlberry wants an older Gymnasium: its own checks, and our tests of whatever touches Gymnasium.
test-rlberry: .venv-rlberry/rlberry.stamp
	.venv-rlberry/bin/pytest tests/test_rlberry_adapter.py tests/benchmarks/test_bench_peers.py
	.venv-rlberry/bin/pytest $(WITH_GYMNASIUM)

bench: $(VENV)/use.stamp
	$(BIN)/aomultirl bench

# UCBVI here and in rlberry-scool, timed side by side; fails if planning is not 500 times faster.
bench-peers: .venv-peers/peers.stamp
	.venv-peers/bin/python tests/bench_peers.py

# The tutorials are run first, and kept until the package or their code changes: a minute or two, and ten seconds then.
docs: $(VENV)/docs.stamp
	$(BIN)/sphinx-build -q -E -W -b html docs docs/_build/html

# The images that README and docs show and that take minutes; tests/screens.py has the commands, those of the others too.
screens: $(VENV)/dev.stamp
	$(BIN)/python tests/screens.py

# docs/images/rooms.svg, after a part of the package begins or ceases to import from another.
rooms: $(VENV)/dev.stamp
	$(BIN)/python tests/rooms.py

# ruff and mypy before every commit, as .pre-commit-config.yaml has them.
hooks: $(VENV)/dev.stamp
	$(BIN)/pre-commit install

# What a release uploads, in dist; checked, and installed and tried where there is nothing of this folder.
package: build/tools.stamp
	rm -rf dist build/installed build/tried
	build/tools/bin/python -m build --outdir dist
	build/tools/bin/twine check --strict dist/*
	$(PYTHON) -m venv build/installed
	build/installed/bin/python -m pip install --quiet --disable-pip-version-check "$$(ls $(CURDIR)/dist/*.whl)[experiments]"
	mkdir build/tried
	cd build/tried && ../installed/bin/aomultirl --version && ../installed/bin/aomultirl new quick.toml \
		&& ../installed/bin/aomultirl run quick.toml --dry-run

clean:
	rm -rf .venv .venv-* docs/_build build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src tests -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; name one with PYTHON=..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/use.stamp: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[experiments]"
	@touch $@

$(VENV)/dev.stamp: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev,sepsis]"
	@touch $@

$(VENV)/docs.stamp: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	@touch $@

# ns-gym asks for torch and much else that its toy-text environments do without.
.venv-beds/beds.stamp: pyproject.toml
	$(PYTHON) -m venv .venv-beds
	.venv-beds/bin/python -m pip install --quiet --disable-pip-version-check -e ".[beds]"
	.venv-beds/bin/python -m pip install --quiet --disable-pip-version-check --no-deps ns-gym
	@touch $@

.venv-rlberry/rlberry.stamp: pyproject.toml
	$(PYTHON) -m venv .venv-rlberry
	.venv-rlberry/bin/python -m pip install --quiet --disable-pip-version-check -e ".[rlberry,experiments]" rlberry-scool pytest hypothesis
	@touch $@

.venv-peers/peers.stamp: pyproject.toml
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -e ".[rlberry,experiments]" rlberry-scool
	@touch $@

build/tools.stamp:
	$(PYTHON) -m venv build/tools
	build/tools/bin/python -m pip install --quiet --disable-pip-version-check build twine
	@touch $@
