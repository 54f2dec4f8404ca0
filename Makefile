# Run `make` alone for the list of targets. Everything is built in the checkout: .venv, and .cache/real for the tests.

VENV ?= .venv
BIN := $(VENV)/bin
export LIMES_REAL_VENV := $(abspath $(or $(LIMES_REAL_VENV),.cache/real))
PYTEST_ARGS ?=

# Tests start hundreds of processes: each would compile its modules anew.
unexport PYTHONDONTWRITEBYTECODE
FAULT_ROUNDS ?= 10

# The first Python that is new enough. It is only looked for when something has to be set up.
find_python = for python in $(PYTHON) python3 python3.11 python3.12 python3.13 python3.14; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; python=; done; \
	if [ -z "$$python" ]; then \
	echo "Limes needs Python 3.11 or newer; python3 here is: $$(python3 --version 2>&1 || echo missing)." \
	"If there is another one, run: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 1; fi

# Installs what a target needs, and says in one line each what is missing and cannot be had here: see tests/setup.
set_up = @$(find_python); exec "$$python" -m tests.setup $(1) --venv $(VENV)

# No test run may hang for ever: at most this many seconds.
bounded = $(if $(shell command -v timeout),timeout --kill-after=30 $(1),)
pytest = $(call bounded,$(1)) $(BIN)/pytest -q -n 2 --dist loadfile --no-loadscope-reorder --durations=30 $(PYTEST_ARGS)

.PHONY: help run shell check test test-all e2e ui faults soak docs screenshots release lint format conformance bench-placement bench-limes bench-collector bench-dashboard bench-start bench-scale bench-metrics bench-metering bench-growth bench-upgrade bench-regress house lock real-venv clean

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /  make \1\t/' | expand -t 26

run: $(VENV)/.installed ## Limes, Placement and the collector on SQLite with sample data, on this machine
	@exec $(BIN)/limes serve --config config/quickstart.yaml $(ARGS)

shell: $(VENV)/.installed-dev ## a Python prompt with a small cloud in a scratch database, to try use cases and queries
	@$(BIN)/python -m tests.shell

check: export LIMES_TEST_SERVERS = no
check: lint ## the inner loop: linters, and the tests that start no processes (under two minutes)
	$(call pytest,900) -m "not long and not again and not process and not postgresql and not real and not rabbitmq and not browser and not package and not site"

test: ## after each change: linters, and all levels of the product, with real components and a browser (about ten minutes)
	$(call set_up,test)
	@$(MAKE) --no-print-directory lint
	$(call pytest,3600) -m "not long and not again"

test-all: export LIMES_FAULT_ROUNDS = 1
test-all: ## before a release: every test, each on both databases
	$(call set_up,test-all)
	@$(MAKE) --no-print-directory lint
	$(call pytest,7200)

e2e: ## the dashboard's journeys in headless Chromium, and the tests of its sources
	$(call set_up,e2e)
	$(call pytest,1800) tests/ui tests/e2e

ui: ## builds the dashboard after a change of its sources (needs node)
	cd limes/ui/frontend && npm install --no-save --no-audit --no-fund && npm run build

faults: export LIMES_FAULT_ROUNDS = $(FAULT_ROUNDS)
faults: ## tries every fault FAULT_ROUNDS times (10) on real processes
	$(call set_up,faults)
	$(call bounded,7200) $(BIN)/pytest -q $(PYTEST_ARGS) tests/faults tests/hosts/test_patroni.py

soak: ## half an hour of mixed load on all processes, with a kill every minute (SOAK_ARGS="--minutes 5 --every 20")
	$(call set_up,soak)
	@$(call bounded,14400) $(BIN)/python -u -m tests.soak $(SOAK_ARGS)

docs: $(or $(wildcard $(VENV)/.installed-dev),$(VENV)/.installed-docs) ## builds and checks the documentation site: build/docs/index.html
	@$(BIN)/python docs/site/build.py

release: ## before a tag: builds wheel and sdist into dist, installs the wheel in an empty environment, and serves in an empty folder
	$(call set_up,check)
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	LIMES_RELEASE=$(abspath dist) $(call bounded,1800) $(BIN)/pytest -q $(PYTEST_ARGS) tests/install/release.py tests/install/test_distributions.py tests/install/test_installed.py tests/install/test_empty_folder.py

screenshots: ## takes the pictures of the dashboard in docs/images anew
	$(call set_up,screenshots)
	$(BIN)/python -m tests.docs.screenshots

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy docs/site
	$(BIN)/lint-imports

format: $(VENV)/.installed-dev ## puts all files into the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

conformance: ## what our Placement answers, against the upstream one
	$(call set_up,conformance)
	$(call bounded,2400) $(BIN)/python -m tests.placement.conformance

bench-placement: ## measures the Placement API against the upstream one
	$(call set_up,bench-placement)
	$(BIN)/python -m tests.bench.placement

bench-limes: ## measures the Limes API against the figures of the original
	$(call set_up,bench-limes)
	$(BIN)/python -m tests.bench.limes

bench-collector: ## measures the collector: scrapes a second, statements, lag, memory, computed quota
	$(call set_up,bench-collector)
	$(BIN)/python -m tests.bench.collector

bench-dashboard: ## measures how long the dashboard takes to show 5,000 projects in a browser
	$(call set_up,bench-dashboard)
	$(BIN)/python -m tests.bench.dashboard

bench-start: ## measures how long it takes until commands and processes are there, and the memory of idle processes
	$(call set_up,bench-start)
	$(BIN)/python -m tests.bench.start

bench-scale: ## measures how the Limes API grows with the cloud, up to ten times the size of the other benches
	$(call set_up,bench-scale)
	$(BIN)/python -m tests.bench.scale

bench-metrics: ## measures time and memory of the data metrics of a cloud with more than 1.5 million series
	$(call set_up,bench-metrics)
	$(BIN)/python -m tests.bench.metrics

bench-metering: ## measures the account of usage: closing days, and reading a month of 5,000 projects
	$(call set_up,bench-metering)
	$(BIN)/python -m tests.bench.metering

bench-growth: ## measures time and memory of samples of growth, in a cloud of 10,000 projects
	$(call set_up,bench-growth)
	$(BIN)/python -m tests.bench.growth

bench-upgrade: ## measures how long readers and writers wait while the schema is upgraded beside the previous release
	$(call set_up,bench-upgrade)
	$(BIN)/python -m tests.bench.upgrade

bench-regress: ## measures this state beside another: make bench-regress BASE=<commit> (ROUNDS=5, WORDS="cluster domains")
	$(call set_up,bench-limes)
	$(BIN)/python -m tests.bench.regress --rounds $(or $(ROUNDS),5) $(BASE) $(WORDS)

house: $(VENV)/.installed-dev ## how large the product is, with targets: lines, imports, functions, types alike, circles of packages
	@$(BIN)/python -m tests.house

lock: $(VENV)/.installed-dev ## renews requirements.lock: the newest versions that pyproject.toml allows, with hashes
	$(BIN)/pip install -q --disable-pip-version-check -e '.[lock]'
	$(BIN)/python -m tests.setup.lock

real-venv: ## the virtual environment with the real OpenStack components
	$(call set_up,real-venv)

clean: ## removes what make and the tools have built
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.installed: pyproject.toml
	$(call set_up,run)

$(VENV)/.installed-docs: pyproject.toml
	$(call set_up,docs)

$(VENV)/.installed-dev: pyproject.toml
	$(call set_up,check)
