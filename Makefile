# A bare machine has python3 (3.11 or newer, with venv), git and make. Everything else comes from here.
# `make` alone says what there is.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.SUFFIXES:

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/tripline.stamp
PACKAGES := contracts engine services/http services/rules-registry services/alert-api demo
CHECKED := $(wildcard contracts/src engine/src services/*/src demo/src migrations tests bench)
PYTEST_ARGS ?=
# It formats and lints the console's modules (deno.json); its caches stay in the checkout, and it asks no network.
DENO := DENO_DIR=.venv/deno DENO_NO_UPDATE_CHECK=1 NO_COLOR=1 $(BIN)/deno

# The line is a dozen processes, and its tests start hundreds: each would compile anew whatever it imports.
export PYTHONDONTWRITEBYTECODE =
TRAFFIC ?= 1
CLOCK ?= wall
EVENT_TYPE ?= transaction
export TRIPLINE_TRAFFIC = $(TRAFFIC)
export TRIPLINE_CLOCK = $(CLOCK)
export TRIPLINE_EVENT_TYPE = $(EVENT_TYPE)

.PHONY: help env check test lint kernels jars test-cluster pictures soak demo up status down rebuild bench bench-long lock format secrets \
	sbom audit digests

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22

env: $(STAMP) ## the Python environment in .venv, from the hash-pinned lock; nothing to do when it is there

# A Python that was asked for by name is taken; otherwise one that was built with optimisations is preferred.
AS_NAMED := $(if $(filter file,$(origin PYTHON)),,--as-named)

$(STAMP): requirements.lock $(wildcard $(addsuffix /pyproject.toml,$(PACKAGES))) demo/bootstrap.py
	@$(PYTHON) demo/machine.py
	@$(PYTHON) demo/bootstrap.py $(AS_NAMED) $(STAMP) $(PACKAGES)

check: lint ## format, lint, types, import arrows, quick unit tests: about a minute
	@HYPOTHESIS_PROFILE=quick $(BIN)/pytest tests/unit -n 2 -m "not slow and not soak" $(PYTEST_ARGS)

# On two cores two workers have tests with servers: whole lines; contracts, engines and services. A third one, which
# gives way to all of these, has those without (tests/workers.py).
test: $(STAMP) ## everything: format, lint, types, import arrows, then all tests in one pytest run
	@$(MAKE) --no-print-directory -j 3 lint kernels jars
	@$(BIN)/pytest -n 3 --no-loadscope-reorder $(PYTEST_ARGS)

lint: $(STAMP)
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy $(CHECKED)
	@$(BIN)/lint-imports
	@$(DENO) fmt --check --quiet
	@$(DENO) lint --quiet

# Once, while linters run: else each process of the tests would compile them for itself.
kernels: $(STAMP)
	@$(BIN)/tripline-engine warm-up

# Downloads take their time, but hardly any processor.
jars: $(STAMP)
	@$(BIN)/python -m tripline_demo.embedded.jars
	@$(BIN)/python -m tripline_demo.embedded.broker_classes

test-cluster: $(STAMP) jars ## the engine, and backtests, on a Spark standalone cluster on loopback; workers killed and added, the driver killed
	@$(BIN)/pytest -m cluster tests/cluster $(PYTEST_ARGS)

pictures: $(STAMP) jars ## of every page and form of the console, narrow and wide, light and dark, into var/pictures: half an hour
	@mkdir -p var/pictures
	@TRIPLINE_SCREENSHOTS=var/pictures $(BIN)/pytest -m pictures tests/browser/gallery $(PYTEST_ARGS)

soak: $(STAMP) jars ## half an hour at 5,000/s: does anything grow? Then seventy kills, under traffic and amid random histories, many more of these, 9,000 beside the oracle, a line of the other event type, a list of a million entries, and large records in every codec: an afternoon
	@status=0; $(BIN)/python -m bench.soak || status=1; $(BIN)/pytest -m soak $(PYTEST_ARGS) || status=1; exit $$status

demo: $(STAMP) ## the whole line in the foreground with traffic; Ctrl-C stops it (FRESH=1 begins anew)
	@$(BIN)/tripline demo $(if $(FRESH),--fresh)

up: $(STAMP) ## the same in the background (TRAFFIC=0: no traffic, no rules; CLOCK=data: for old data; EVENT_TYPE=…; FRESH=1)
	@$(BIN)/tripline up $(if $(FRESH),--fresh)

status: $(STAMP) ## what runs, and where
	@$(BIN)/tripline status

down: $(STAMP) ## stops what `make up` started
	@$(BIN)/tripline down

rebuild: $(STAMP) ## builds the engine's checkpoint again, from the recorded order, of the stack that runs
	@$(BIN)/tripline rebuild

bench: $(STAMP) ## measures everything against its bars (some forty minutes); writes var/bench.json
	@$(BIN)/python -m bench

bench-long: $(STAMP) ## the same with more payments for longer, the widest windows, by number of shards (two hours)
	@status=0; for part in steady evaluation beside throughput retained restart peer wide scaling; do $(BIN)/python -m bench.$$part || status=1; done; exit $$status

secrets: $(STAMP) ## random passwords and keys for docker compose, in secrets/ (docs/deployment.md); what is there stays
	@$(BIN)/python -m tripline_demo.deployment.secret_files secrets .env

format: $(STAMP) ## formats the code and sorts the imports
	@$(BIN)/ruff check --select I --fix .
	@$(BIN)/ruff format .
	@$(DENO) fmt --quiet

lock: $(STAMP) ## after a change of a requirements.in or of ivy.xml: writes the locks and jars.sha256 anew
	@$(BIN)/uv pip compile -q --universal --generate-hashes --no-header --python-version 3.11 -o requirements.lock requirements.in
	@for part in services engine; do $(BIN)/uv pip compile -q --universal --generate-hashes --no-header --no-annotate \
		--python-version 3.11 -c requirements.lock -o $$part/requirements.lock $$part/requirements.in; done
	@$(BIN)/python -m tripline_demo.embedded.jars --pin

sbom: $(STAMP) jars ## var/sbom.cdx.json: every locked package and jar with version, hash and licence (CycloneDX)
	@$(BIN)/python -m tripline_demo.supply_chain.bill var/sbom.cdx.json

digests: $(STAMP) ## the digests of the images of others, into Dockerfiles and compose file; needs docker and the network
	@$(BIN)/python -m tripline_demo.deployment.image_digests

# Strict: a package that the service does not know of is a failure, not a clean bill.
audit: $(STAMP) jars ## asks for known vulnerabilities of all of them; needs the network
	@status=0; $(BIN)/pip-audit --strict --disable-pip --require-hashes --progress-spinner off -r requirements.lock || status=1; \
		$(BIN)/python -m tripline_demo.supply_chain.vulnerabilities || status=1; exit $$status
