# Every command sets up what it needs in .venv, once; only Python 3.11+ and make are assumed.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: reproduce test test-all bench docs clean
.DEFAULT_GOAL := test

reproduce: .venv/use.stamp
	$(BIN)/aomultirl reproduce

test: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n 2 --dist loadfile

test-all: test
	$(BIN)/pytest -m long -n 2 --dist load

bench: .venv/use.stamp
	$(BIN)/aomultirl bench

docs: .venv/docs.stamp
	$(BIN)/sphinx-build -q -E -W -b html docs docs/_build

clean:
	rm -rf .venv docs/_build build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src tests -name __pycache__ -prune -exec rm -rf {} +

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; name one with PYTHON=..."; exit 1; }
	$(PYTHON) -m venv .venv

.venv/use.stamp: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[experiments]"
	@touch $@

.venv/dev.stamp: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev,sepsis]"
	@touch $@

.venv/docs.stamp: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	@touch $@
