# Every target sets up what it needs in .venv, once, and again only when pyproject.toml, the constraints or
# the C++ kernel change.
#
#   make PYTHON=python3.12 test    another interpreter for the environment
#   make WORKERS=0 test            tests in one process

PYTHON      ?= python3
# As many processes as cores; the few tests that read a clock run alone after the others.
WORKERS     ?= auto
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
.PHONY: help install demo test random-fits test-slow sanitize fuzz fuzz-sanitize lint bench bench-more docs wheels licences clean distclean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

install: $(STAMPS)/core $(STAMPS)/test $(STAMPS)/lint $(STAMPS)/docs  ## everything a developer needs, in .venv
	@echo "Ready: activate with  . $(BIN)/activate"

demo: $(STAMPS)/core  ## classify the embedded graph: plan, accuracy without and with the graph, predictions
	@$(BIN)/sgc fit --out build/demo --force

test: $(STAMPS)/test  ## tests and doctests, coverage of the package at 95 % or above
	@$(BIN)/python -m pytest -q -n $(WORKERS) -m "not slow and not clock" --cov --cov-report=
	@$(BIN)/python -m pytest -q -m "clock and not slow" --cov --cov-append --cov-fail-under=95

# A fit that is wrong is printed with its number and its options; `--first <number> --count 1` draws it again.
RANDOM_FITS ?= --count 100000
random-fits: $(STAMPS)/test  ## 100,000 small random fits compared with the reference, an hour on one core
	@$(BIN)/python tests/estimators/random_fits.py --show $(RANDOM_FITS)

test-slow: $(STAMPS)/test  ## the tests that take longer than a minute each
	@$(BIN)/python -m pytest -q -m slow || [ $$? -eq 5 ]  # 5: there are none

# The tests of the kernel with AddressSanitizer and UndefinedBehaviorSanitizer, and with ThreadSanitizer. Python itself
# is not built with them, so their runtime has to be loaded before it; what runs in a process of its own is left out,
# as it would load the kernel that was built without them.
SANITIZED = SGCLEARN_TEST_KERNEL=$$(ls $$PWD/build/sanitize-$(1)/_kernel*.so) OPENBLAS_NUM_THREADS=1 \
	$(BIN)/python -m pytest -q -p sanitized_kernel -p no:cacheprovider tests/propagation/test_engines.py \
	tests/propagation/test_native_*.py tests/estimators/test_small.py -k "not (torch or scipy or instruction_set or missing)"
COMMA := ,
# The kernel built with some sanitizers, in a folder named after the first of them.
SANITIZED_KERNEL = build=build/sanitize-$(firstword $(subst $(COMMA), ,$(1))); \
	$(BIN)/cmake -S . -B $$build -DSKBUILD_PROJECT_NAME=sgclearn -DPython_EXECUTABLE=$$PWD/$(BIN)/python \
	  -DSGC_SANITIZE=$(1) >/dev/null && $(BIN)/cmake --build $$build -j 2 | tail -1
WITH_ASAN = export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=8192:quarantine_size_mb=16 \
	UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
	LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libstdc++.so)"
sanitize: $(STAMPS)/test $(STAMPS)/native  ## the kernel's tests under the address, undefined-behaviour and thread sanitizers
	@$(call SANITIZED_KERNEL,address$(COMMA)undefined)
	@$(call SANITIZED_KERNEL,thread)
	@$(WITH_ASAN); $(call SANITIZED,address)
	@export TSAN_OPTIONS=halt_on_error=1 LD_PRELOAD="$$(g++ -print-file-name=libtsan.so)"; \
	  $(call SANITIZED,thread)

# Mutated files into every reader and odd values into every public call; the tests do a few hundred of both. What fails is
# kept in build/fuzz, and the seed that is printed gives the same cases again: make fuzz FUZZ="--seed 7 --only edges-npz".
FUZZ ?= --files 20000 --calls 2000
fuzz: $(STAMPS)/test  ## the long campaign of the fuzzers: 20,000 files, 2,000 calls
	@PYTHONPATH=tests OPENBLAS_NUM_THREADS=1 $(BIN)/python -m fuzz.campaign --out build/fuzz $(FUZZ)

fuzz-sanitize: $(STAMPS)/test $(STAMPS)/native  ## the same with the kernel under the address and undefined-behaviour sanitizers
	@$(call SANITIZED_KERNEL,address$(COMMA)undefined)
	@$(WITH_ASAN); PYTHONPATH=tests OPENBLAS_NUM_THREADS=1 \
	  SGCLEARN_TEST_KERNEL=$$(ls $$PWD/build/sanitize-address/_kernel*.so) \
	  $(BIN)/python -m fuzz.campaign --out build/fuzz-sanitize $(FUZZ)

# mypy reads the types of the optional packages where they are installed, hence the group 'test' as well.
lint: $(STAMPS)/test $(STAMPS)/lint  ## ruff, mypy --strict, and the import contract of the rooms
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

# The peers have an environment of their own, in build/; cases that are done are kept until the code changes, or
# `make clean`. Options of your own, as BENCH="--case a --quick", leave the documentation as it is.
BENCH ?= --docs docs
bench: $(STAMPS)/test  ## speed against every peer: tables and figures of the documentation
	@$(BIN)/sgc bench --out build/bench --peers build/bench-peers $(BENCH)

bench-more: $(STAMPS)/test  ## measurements: reading edges, Lanczos against dense, default settings, ways to propagate
	@$(BIN)/python benchmarks/read_edges.py
	@$(BIN)/python benchmarks/spectrum.py
	@$(BIN)/python benchmarks/defaults.py
	@$(BIN)/python benchmarks/propagation_tried.py

docs: $(STAMPS)/docs  ## the documentation with its gallery, warnings are errors, in docs/_build/html
	@rm -rf docs/api docs/_build  # pages of names that are gone would stay
	@$(BIN)/python -m sphinx -q -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html
	@echo "Built: docs/_build/html/index.html"

# One wheel per interpreter, all from the sdist; without PYTHONS, the supported ones that PATH has.
PYTHONS ?=
wheels: $(STAMPS)/release  ## sdist and wheels in dist/, each wheel tried in a fresh environment: PYTHONS="python3.11 python3.12"
	@$(BIN)/python tools/wheels.py $(PYTHONS)

licences: $(STAMPS)/test $(STAMPS)/release  ## the page of licences of all dependencies, docs/licences.rst
	@$(BIN)/python tools/licences.py

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

KERNEL := CMakeLists.txt $(wildcard src/sgclearn/_native/*.?pp src/sgclearn/_native/*.inc)
$(STAMPS)/core: pyproject.toml $(KERNEL) | $(STAMPS)/venv
	@echo "Installing sgclearn and its core dependencies"
	@$(PIP) install -e .
	@touch $@

$(STAMPS)/%: pyproject.toml $(CONSTRAINTS) $(STAMPS)/core
	@echo "Installing the dependency group '$*'"
	@$(PIP) install -c $(CONSTRAINTS) --group $*
	@touch $@
