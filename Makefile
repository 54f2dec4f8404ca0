# Run `make` alone for the list of targets. Everything is built in the checkout: .venv, and .cache/real for the tests.

VENV ?= .venv
BIN := $(VENV)/bin
REAL_VENV := $(or $(LIMES_REAL_VENV),.cache/real)
PYTEST_ARGS ?=
FAULT_ROUNDS ?= 10

# The first Python that is new enough. It is only looked for when a virtual environment has to be made.
find_python = for one in $(PYTHON) python3 python3.11 python3.12 python3.13 python3.14; do \
	"$$one" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; one=; done; \
	if [ -z "$$one" ]; then \
	echo "Limes needs Python 3.11 or newer; python3 here is: $$(python3 --version 2>&1 || echo missing)." \
	"If there is another one, run: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 1; fi
make_venv = $(find_python); "$$one" -m venv $(1) || { rm -rf $(1); \
	echo "'$$one -m venv' failed (on Debian, it is in the package python3-venv)" >&2; exit 1; }

# No test run may hang for ever: at most this many seconds.
bounded = $(if $(shell command -v timeout),timeout --kill-after=30 $(1),)
pytest = $(call bounded,$(1)) $(BIN)/pytest -q -n 2 --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS)

.PHONY: help run check test e2e ui faults docs lint format conformance bench-placement bench-limes bench-collector real-venv clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 26

run: $(VENV)/.installed ## Limes, Placement and the collector on SQLite with sample data, on this machine
	@exec $(BIN)/limes serve --config config/quickstart.yaml

check: lint ## the inner loop: linters, and the tests that need no other server (under 2 minutes)
	$(call pytest,300) -m "not postgresql and not real and not faults and not browser and not package and not site"

test: export LIMES_REQUIRE_REAL = 1
test: export LIMES_REAL_VENV = $(abspath $(REAL_VENV))
test: lint $(REAL_VENV)/.installed ## everything: linters, SQLite, PostgreSQL and real OpenStack components
	$(call pytest,2400)

e2e: $(VENV)/.installed-dev ## the dashboard's journeys in headless Chromium, and the tests of its sources (needs node and chromium)
	$(call pytest,900) tests/ui tests/e2e

ui: ## builds the dashboard after a change of its sources (needs node)
	cd limes/ui/frontend && npm install --no-save --no-audit --no-fund && npm run build

faults: export LIMES_REQUIRE_REAL = 1
faults: export LIMES_REAL_VENV = $(abspath $(REAL_VENV))
faults: export LIMES_FAULT_ROUNDS = $(FAULT_ROUNDS)
faults: $(VENV)/.installed-dev $(REAL_VENV)/.installed ## tries every fault FAULT_ROUNDS times (10) on real processes
	$(call bounded,7200) $(BIN)/pytest -q $(PYTEST_ARGS) tests/faults

docs: $(VENV)/.installed-dev ## builds and checks the documentation site: build/docs/index.html
	@$(BIN)/python docs/site/build.py

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy docs/site
	$(BIN)/lint-imports

format: $(VENV)/.installed-dev ## puts all files into the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

conformance: export LIMES_REAL_VENV = $(abspath $(REAL_VENV))
conformance: $(VENV)/.installed-dev $(REAL_VENV)/.installed ## what our Placement answers, against the upstream one
	$(call bounded,1500) $(BIN)/python -m tests.placement.conformance

bench-placement: export LIMES_REAL_VENV = $(abspath $(REAL_VENV))
bench-placement: $(VENV)/.installed-dev $(REAL_VENV)/.installed ## measures the Placement API against the upstream one
	@$(BIN)/pip install -q --disable-pip-version-check -e '.[fast]' || echo "measured without limes[fast], which needs a C compiler"
	$(BIN)/python -m tests.bench.placement

bench-limes: $(VENV)/.installed-dev ## measures the Limes API against the figures of the original
	$(BIN)/python -m tests.bench.limes

bench-collector: $(VENV)/.installed-dev ## measures the collector: scrapes a second, statements, lag, memory
	$(BIN)/python -m tests.bench.collector

real-venv: $(REAL_VENV)/.installed ## the virtual environment with the real OpenStack components

clean: ## removes what make and the tools have built
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(call make_venv,$(VENV))

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/pip install -q --disable-pip-version-check -e .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	$(BIN)/pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.installed

$(REAL_VENV)/.installed: tests/requirements-real.txt
	@test -x $(REAL_VENV)/bin/python || { $(call make_venv,$(REAL_VENV)); }
	$(REAL_VENV)/bin/pip install -q --disable-pip-version-check -r tests/requirements-real.txt
	@touch $@
