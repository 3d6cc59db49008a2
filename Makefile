# All that is needed: Python 3.11 and make. `make run` serves the simulator, `make test` checks it.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
PYTEST_ARGS ?=
SEEDS ?= 1 $(shell date -u +%Y%m%d)

# The lock also pins what pip fetches to build the project.
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_BUILD_CONSTRAINT := requirements.lock
# Tests start many processes. Where this is set, as in many images, each of them would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE
# uv installs in seconds what takes pip a minute. Where only pip knows the way to a package index, pip installs it all.
UV := $(BIN)/uv pip install --quiet --python $(BIN)/python --constraint requirements.lock --build-constraint requirements.lock
PIP := PIP_CONSTRAINT=requirements.lock $(BIN)/python -m pip install --quiet
EVERYTHING := ".[dev,judges]"
INSTALL = $(PIP) uv && { $(UV) $(1) 2> $(VENV)/.uv.log || $(PIP) $(1); }

.PHONY: probes evidence help run test t changed dev long check lint format types hooks imports conform contract contracts clients same judges browser wheel wheel-check clone-check hostile trust bench bench-explore smoke lock clean

help:  ## Show the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

run: $(VENV)/.run  ## Serve the simulator; ARGS="--port 9000 --clock manual" for flags
	@exec $(BIN)/python -m simulator serve $(ARGS)

# `make test` leaves out what starts farms of processes and what takes minutes; `make test WHOLE=1` runs everything.
ifdef WHOLE
TESTS := tests
CHOSEN := -m "not judges and not browser" --cov --cov-report=term:skip-covered --durations=50
else
TESTS := tests/unit tests/service tests/tools
CHOSEN := -m "not judges and not browser and not farm"
# Half as many workers again as there are cores: these tests wait for sockets two fifths of their time.
export PYTEST_XDIST_AUTO_NUM_WORKERS := $(shell echo $$(( ($$(getconf _NPROCESSORS_ONLN) * 3 + 1) / 2 )))
endif

test: $(VENV)/.dev  ## The tests, three minutes on two cores; WHOLE=1 for all of them with their coverage, PYTEST_ARGS for pytest
	$(BIN)/python -m pytest -n auto --dist loadgroup $(CHOSEN) $(TESTS) $(PYTEST_ARGS)

t: $(VENV)/.dev  ## One test or a few, in seconds, without workers: make t K=quote, make t K=tests/unit/kernel
	@$(BIN)/python -m tests.one "$(K)" $(PYTEST_ARGS)

changed: $(VENV)/.dev  ## Tests of what depends on your changes, under a minute for most; SINCE=main for those of a branch
	@$(BIN)/python -m tests.changed --since $(or $(SINCE),HEAD) -n auto --dist loadgroup $(CHOSEN) $(PYTEST_ARGS)

dev: $(VENV)/.dev  ## Serve with a manual clock and seed 1, anew after every change of the code or a scenario, within two seconds
	@exec $(BIN)/watchfiles --sigint-timeout 10 \
	  '$(BIN)/python -m simulator serve --clock manual --seed 1 $(ARGS)' simulator scenarios

long: $(VENV)/.dev  ## The campaigns in their whole length that the tests run in a short form; see also hostile
	LONG=1 $(BIN)/python -m pytest -n 2 -m long $(PYTEST_ARGS)

check: $(VENV)/.packages  ## All that CI runs, two things at a time: a quarter of an hour
	@bash .ci/check

probes: $(VENV)/.dev  ## Compute the probes that tell assumptions from their alternatives, a minute; ARGS=--deep for all flows
	$(BIN)/python -m contracts.generator.probes $(ARGS)

evidence: $(VENV)/.dev  ## Probe hidden services and count what is decided, and what wrongly
	$(BIN)/python -m tests.tools.evidence.hidden $(or $(ARGS),10)

lint: $(VENV)/.dev  ## Formatting and lint rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

format: $(VENV)/.dev  ## Put files into shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

types: $(VENV)/.dev  ## Types, strictly
	$(BIN)/mypy

hooks: $(VENV)/.dev  ## Check what you commit, by pre-commit: lint, types, imports, generated files
	$(BIN)/pre-commit install

imports: $(VENV)/.dev  ## Who may import whom
	$(BIN)/lint-imports

contract: $(VENV)/.judges  ## Everything that judges the contract: own tests, conformance, linters, a proxy, generated clients
	$(BIN)/python -m pytest -n 2 --dist loadgroup -rs -m "judges or not judges" \
	  tests/tools/contract tests/tools/conformance tests/tools/compare tests/tools/testing tests/tools/judges $(PYTEST_ARGS)
	@$(BIN)/python -m tests.tools.conformance.mutants --show
	@$(MAKE) --no-print-directory conform

# The first seed plays everything, the others what a seed changes: laws, the control interface and the cases that cover
# each schema are the same under every seed.
conform: $(VENV)/.dev  ## Hold the simulator against its contract with one fixed seed and that of the day; SEEDS="3 4" for others
	@only=""; for seed in $(SEEDS); do \
	  echo "conform --seed $$seed$$only"; \
	  $(BIN)/python -m simulator conform --strict --max-examples 10 --seed $$seed $$only || exit 1; \
	  only=" --phase fuzzing --phase stateful"; \
	done

hostile: $(VENV)/.dev  ## Try to break the server: every campaign whole, about half an hour; ARGS="--campaign sockets --seed 2"
	$(BIN)/python -m tests.campaigns.hostile $(ARGS)

trust: $(VENV)/.dev  ## Kill servers that keep worlds, hundreds of times, and compare; ARGS="--kills 20 --only sqlite --seed 1"
	$(BIN)/python -m tests.campaigns.trust $(ARGS)

bench: $(VENV)/.dev  ## Measure speed, memory and growth, in under ten minutes; ARGS="--only start", ARGS="--compare REF"
	$(BIN)/python -m tests.campaigns.benchmarks $(ARGS)

bench-explore: $(VENV)/.dev  ## Measure explore over forty tests, in a few minutes; ARGS="--plan pair"
	$(BIN)/python -m tests.tools.exploration.measure $(ARGS)

smoke: $(VENV)/.dev  ## One round of `make bench` with tiny sizes: that all of it can be measured, and nothing about time: half a minute
	$(BIN)/python -m tests.campaigns.benchmarks --quick

same: $(VENV)/.dev  ## Play 60,000 mixed calls on the commit SINCE and on this tree and compare the responses: two minutes
	$(BIN)/python -m tests.campaigns.replay --since $(or $(SINCE),HEAD) $(ARGS)

judges: $(VENV)/.judges  ## What judges the contract from outside, linters, a proxy, generated clients, and what judges the judge: three minutes
	$(BIN)/python -m pytest -n 2 --dist loadgroup -rs -m judges tests/tools/judges tests/tools/conformance $(PYTEST_ARGS)
	@$(BIN)/python -m tests.tools.conformance.mutants --show

browser: $(VENV)/.judges  ## Click through the pages in Chromium, a minute; RENEW_PICTURES=1 writes their pictures anew (tests/tools/browser/README.md)
	$(BIN)/python -m pytest -n 2 --dist loadgroup -rs -m browser tests/tools/browser $(PYTEST_ARGS)

wheel: $(VENV)/.dev  ## Build the wheel and the sdist into dist/: seconds
	rm -rf dist
	$(BIN)/python -m hatchling build

wheel-check: wheel  ## Install the wheel without and with each extra alone, and run what the docs show, away from the checkout: two minutes
	rm -rf $(VENV)-wheel
	$(PYTHON) -m venv --without-pip $(VENV)-wheel
	$(BIN)/uv pip install --quiet --python $(VENV)-wheel/bin/python --constraint requirements.lock dist/*.whl
	cd $${TMPDIR:-/tmp} && env -u PYTHONPATH "$(CURDIR)/$(VENV)-wheel/bin/python" "$(CURDIR)/tests/tools/wheel/flow.py"
	PIP_CONSTRAINT="$(CURDIR)/requirements.lock" $(BIN)/python -m tests.tools.wheel.workflow dist/*.whl $(VENV)-wheel/bin/rampsim
	$(BIN)/python -m tests.tools.wheel.extras dist/*.whl $(VENV)-wheel

clone-check: $(VENV)/.dev  ## Follow the README in a fresh clone of the last commit, with an empty home: a minute
	$(BIN)/python -m tests.tools.wheel.clone

contracts: $(VENV)/.dev  ## Make the files of contracts/ anew from the code, and scenarios/README.md
	$(BIN)/python -m contracts.generator write
	$(BIN)/python -m contracts.generator coverage

clients: $(VENV)/.judges  ## Make the TypeScript client, and the table of generated clients in contracts/README.md, anew
	$(BIN)/python -m tests.tools.judges.typescript
	$(BIN)/python -m tests.tools.judges.generators
	$(BIN)/python -m contracts.generator write

lock:  ## Renew requirements.lock with the newest versions that fit
	rm -rf $(VENV)-lock
	$(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/python -m pip install --quiet hatchling --editable ".[dev,judges]"
	$(VENV)-lock/bin/python -m pip freeze --exclude-editable > requirements.lock
	rm -rf $(VENV)-lock

clean:  ## Remove what these targets made
	rm -rf $(VENV) $(VENV)-lock $(VENV)-wheel .judges .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage .coverage.* dist build

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; name it: make PYTHON=/path/to/python3.11"; exit 2; }
	@$(PYTHON) -c 'import ensurepip' || \
	  { echo "Python lacks venv; on Debian: apt install python3-venv"; exit 2; }
	@$(PYTHON) -m venv $(VENV)

# $(1): what to install; $(2): what that is.
define install
@echo "Installing $(2) into $(VENV): once, a few seconds to a minute ..."
@begun=$$(date +%s); $(call INSTALL,--editable $(1)) && echo "Installed in $$(( $$(date +%s) - begun )) s."
endef

$(VENV)/.run: requirements.lock pyproject.toml | $(BIN)/python
	$(call install,.,what the simulator needs)
	@touch $@

$(VENV)/.dev: requirements.lock pyproject.toml | $(BIN)/python
	$(call install,".[dev]",what the tests need)
	@touch $@ $(VENV)/.run

# Node comes as a Python wheel, npm packages by the names in npm.txt: whatever machine this is, it needs no Node. What the
# generated Go and Java clients and the verifiers in PHP and Ruby need are Debian's packages in debian.txt; without them
# these are skipped, and it is said.
$(VENV)/.packages: requirements.lock pyproject.toml | $(BIN)/python
	$(call install,$(EVERYTHING),what all checks need)
	@touch $@ $(VENV)/.dev $(VENV)/.run

$(VENV)/.judges: tests/tools/judges/npm.txt $(VENV)/.packages
	$(BIN)/python -m tests.tools.judges.tools
	@touch $@
