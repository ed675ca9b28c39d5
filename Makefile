# Every target sets up what it needs in .venv, once, and again only when pyproject.toml or the
# constraints change.
#
#   make PYTHON=python3.12 test    another interpreter for the environment
#   make WORKERS=4 test            tests in four processes

PYTHON      ?= python3
# One process by default: tests that compare timings must not disturb each other.
WORKERS     ?= 0
VENV        := .venv
BIN         := $(VENV)/bin
PIP         := $(BIN)/python -m pip -qq
CONSTRAINTS := constraints/test.txt
STAMPS      := $(VENV)/.stamps

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
# Two pips in one environment at the same time would break it, so `make -j` gains nothing here.
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help install demo test test-slow lint bench docs clean distclean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

install: $(STAMPS)/core $(STAMPS)/test $(STAMPS)/lint $(STAMPS)/docs  ## everything a developer needs, in .venv
	@echo "Ready: activate with  . $(BIN)/activate"

demo: $(STAMPS)/core  ## classify the embedded graph: plan, accuracy without and with the graph, predictions
	@$(BIN)/sgc fit --out build/demo --force

test: $(STAMPS)/test  ## tests and doctests, coverage of the package at 95 % or above
	@$(BIN)/python -m pytest -q -n $(WORKERS) -m "not slow" --cov --cov-fail-under=95

test-slow: $(STAMPS)/test  ## the tests that take longer than a minute each
	@$(BIN)/python -m pytest -q -m slow || [ $$? -eq 5 ]  # 5: there are none

# mypy reads the types of the optional packages where they are installed, hence the group 'test' as well.
lint: $(STAMPS)/test $(STAMPS)/lint  ## ruff, mypy --strict, and the import contract of the rooms
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

bench: $(STAMPS)/test  ## measurements: reading edges, Lanczos against dense, the default n_hops and weight_decay
	@$(BIN)/python benchmarks/read_edges.py
	@$(BIN)/python benchmarks/spectrum.py
	@$(BIN)/python benchmarks/defaults.py

docs: $(STAMPS)/docs  ## the documentation with its gallery, warnings are errors, in docs/_build/html
	@rm -rf docs/api docs/_build  # pages of names that are gone would stay
	@$(BIN)/python -m sphinx -q -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html
	@echo "Built: docs/_build/html/index.html"

clean:  ## remove what the other targets wrote, keep .venv
	@rm -rf build dist docs/_build docs/api docs/auto_examples docs/sg_execution_times.rst htmlcov
	@rm -rf .coverage .coverage.* coverage.xml .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find src tests tools benchmarks examples docs -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean  ## remove .venv too
	@rm -rf $(VENV)

# ---- set-up -----------------------------------------------------------------------------------------

# Some distributions ship Python without ensurepip: there the pip of the machine puts pip into .venv.
$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "sgclearn needs Python 3.11 or later: name one with  make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Setting up $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV) >/dev/null 2>&1 \
	  || { $(PYTHON) -m venv --clear --without-pip $(VENV) \
	       && $(PYTHON) -m pip -qq --python $(BIN)/python install pip; }
	@$(PIP) install --upgrade 'pip>=25.1'
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/core: pyproject.toml | $(STAMPS)/venv
	@echo "Installing sgclearn and its core dependencies"
	@$(PIP) install -e .
	@touch $@

$(STAMPS)/%: pyproject.toml $(CONSTRAINTS) $(STAMPS)/core
	@echo "Installing the dependency group '$*'"
	@$(PIP) install -c $(CONSTRAINTS) --group $*
	@touch $@
