# Two commands do everything: `make demo` runs the main job, `make test` runs every check.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
OUT    := out
SPEC   ?= examples/dgx-h100-pod.yaml

.DEFAULT_GOAL := help
# Tests start many processes: without bytecode on disk, each compiles every module that it loads. The first run in a clone
# collects the tests while mypy runs, which takes one core: each worker would compile all of them otherwise. Assertions are
# not rewritten, which takes ten seconds; tests that fail run again with the values of theirs. The workers of mypy have
# three seconds to start; on a machine that is busier mypy ends with status 2, and goes on alone.
unexport PYTHONDONTWRITEBYTECODE
PLAIN := --assert=plain
.PHONY: help demo looks figures test test-all browser page site site-properdocs first-check docs accuracy board fit serving-laws catalog-audit fuzz interrupt mutate bench release test-lowest lock pin-image sbom audit real-files export-targets export-loads hostile clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 15

demo: $(VENV)/installed ## check, estimate and report on SPEC (default: a pod of DGX H100)
	@sh tools/demo.sh $(BIN)/clusterspec $(SPEC) $(OUT)

looks: $(VENV)/installed ## how full the pages of a report on SPEC are (needs poppler-utils)
	@mkdir -p $(OUT)
	$(BIN)/clusterspec report $(SPEC) -o $(OUT)/looks.pdf && $(BIN)/python -m tools.looks $(OUT)/looks.pdf

figures: $(VENV)/developed ## compare the figures of charts and of the examples' reports with their golden outlines (UPDATE_GOLDEN=1 rewrites them)
	CASES=all $(BIN)/pytest tests/report/test_figures.py

test: $(VENV)/developed ## every check of the project: style, types, contracts, tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@[ -d tests/__pycache__ ] || $(BIN)/pytest --collect-only -p no:xdist $(PLAIN) >/dev/null 2>&1 & $(BIN)/mypy --num-workers 2; status=$$?; wait; [ $$status != 2 ] || { $(BIN)/mypy; status=$$?; }; exit $$status
	$(BIN)/pytest -n auto --dist worksteal $(PLAIN) || { $(BIN)/pytest --last-failed -n auto; exit 1; }

test-all: $(VENV)/developed ## the tests with all cases of the tables that `make test` samples, and those marked as thorough
	CASES=all $(BIN)/pytest -n auto --dist worksteal

browser: $(VENV)/developed ## drive reports, the page of `edit` and the playground in Chromium (needs Node)
	@$(BIN)/python -m tests.chromium
	CASES=all $(BIN)/pytest tests/report/browser tests/editor --durations=12

page: ## build the page of `clusterspec edit` from web/ (needs Node; Python installs the built one)
	cd web && npm ci --silent --ignore-scripts && npm run --silent build

site: $(VENV)/developed ## build the web site, with the playground, into out/site (needs Node)
	$(PYTHON) -m venv out/site-builder && out/site-builder/bin/pip install --quiet --require-hashes -r requirements/site.txt
	$(BIN)/python -m tools.site out/site-builder/bin/zensical out/site

site-properdocs: site ## build the sources of the site with ProperDocs and Material, too: strict links, the same pages
	$(PYTHON) -m venv out/properdocs && out/properdocs/bin/pip install --quiet --require-hashes -r requirements/properdocs.txt
	$(BIN)/python -m tools.site.second out/properdocs/bin/properdocs out/site

first-check: site ## how long the playground of the built site takes to the first check: at most 10 s in headless Chromium
	@$(BIN)/python -m tests.chromium
	$(BIN)/python -m tools.site.first_check out/site

docs: $(VENV)/developed ## write every generated page
	$(BIN)/python -m tools.generate write

accuracy: $(VENV)/developed ## score every published case; write docs/accuracy.md and docs/constants.md
	$(BIN)/python -m tools.accuracy

board: $(VENV)/developed ## predict every published case with this release and its peers, and write docs/board.md
	$(BIN)/python -m tools.peers
	$(BIN)/python -m tools.accuracy

fit: $(VENV)/developed ## fit the constants of time to three of four published runs, and check them on the fourth
	$(BIN)/python -m tools.fit

serving-laws: $(VENV)/developed ## laws of serving plans on PLANS drawn at random by SEED: links, hit rates, loads, memory, and the formulas against `simulate`
	$(BIN)/python -m tools.serving_laws --plans $(or $(PLANS),200) --seed $(or $(SEED),1) --simulate

catalog-audit: $(VENV)/developed ## what no longer adds up in the catalog, what is a year old, what has come due
	$(BIN)/clusterspec catalog audit

SECONDS ?= 600
fuzz: $(VENV)/developed ## hostile input, guided by coverage: SECONDS with Atheris where it installs, then Hypothesis
	@if $(BIN)/pip install --quiet "atheris>=3"; then $(BIN)/python -m tools.fuzz_guided $(SECONDS); \
	else echo "Atheris does not install here; Hypothesis alone follows"; fi
	$(BIN)/python -m tools.fuzz 5000
	$(BIN)/python -m tools.fuzz_designs 1 $(SECONDS)
	HYPOTHESIS_PROFILE=fuzz $(BIN)/pytest tests/document tests/spec tests/units tests/cli/test_fuzz.py tests/test_summation.py -n auto

interrupt: $(VENV)/developed ## kill and interrupt commands that write, at a hundred points each
	$(BIN)/python -m tools.interrupt

MUTATIONS ?= 60
SEED ?= $(shell date +%y%m%d%H)
mutate: $(VENV)/developed ## change one line at a time, 60 over all packages by SEED: at least 85 % must fail a test of their folder
	@echo "seed $(SEED)"
	$(BIN)/python -m tools.mutate --across $(MUTATIONS) --seed $(SEED)

bench: $(VENV)/developed ## start-up, 1,000 specs, the language server, rules, estimate and search, compared with public tools
	$(BIN)/pip install --quiet "yamllint>=1.35" "check-jsonschema>=0.29"
	$(BIN)/python -m tools.benchmark

release: $(VENV)/developed ## build wheel, sdist and schema, and try them in empty environments
	$(BIN)/pip install --quiet --require-hashes -r requirements/build.txt
	@sh tools/release/release.sh $(BIN)

test-lowest: ## the tests with the lowest versions of the dependencies that are allowed
	$(PYTHON) -m venv out/lowest
	out/lowest/bin/pip install --quiet ".[dev]"
	out/lowest/bin/python -m tools.release.lowest > out/lowest.txt
	out/lowest/bin/pip install --quiet -r out/lowest.txt
	out/lowest/bin/python -m pytest -q -n auto --dist worksteal tests

lock: $(VENV)/developed ## write requirements/*.txt anew, with hashes
	$(BIN)/pip install --quiet "pip-tools>=7.4"
	$(BIN)/pip-compile --quiet --strip-extras --allow-unsafe --no-emit-index-url --generate-hashes --extra dev --output-file requirements/dev.txt pyproject.toml
	$(BIN)/pip-compile --quiet --strip-extras --allow-unsafe --no-emit-index-url --generate-hashes --output-file requirements/run.txt pyproject.toml
	$(BIN)/pip-compile --quiet --strip-extras --allow-unsafe --no-emit-index-url --generate-hashes --output-file requirements/build.txt requirements/build.in
	$(BIN)/pip-compile --quiet --strip-extras --allow-unsafe --no-emit-index-url --generate-hashes --output-file requirements/site.txt requirements/site.in
	$(BIN)/pip-compile --quiet --strip-extras --allow-unsafe --no-emit-index-url --generate-hashes --output-file requirements/properdocs.txt requirements/properdocs.in
	$(BIN)/python -m tools.release.clean_lock requirements/dev.txt requirements/run.txt requirements/build.txt requirements/site.txt requirements/properdocs.txt

IMAGE ?= docker.io/library/python:3.12-slim-bookworm
pin-image: ## write the digest that IMAGE has now into the Containerfile (needs skopeo and the network)
	digest=$$(skopeo inspect --format '{{.Digest}}' docker://$(IMAGE)) && \
	sed -i "s|^ARG PYTHON_IMAGE=.*|ARG PYTHON_IMAGE=$(IMAGE)@$$digest|" Containerfile

sbom: $(VENV)/developed ## write a software bill of materials (CycloneDX) of what is installed
	$(BIN)/pip install --quiet "cyclonedx-bom>=4"
	mkdir -p $(OUT) && $(BIN)/cyclonedx-py environment --output-file $(OUT)/sbom.json $(BIN)/python

real-files: $(VENV)/developed ## fetch the files of tests/exchange/real.csv (CLONES=DIR: from clones) and compare what is read
	$(BIN)/python -m tools.real_files $(if $(CLONES),--clones $(CLONES))

hostile: $(VENV)/developed ## read hostile variants of every import format and other input, each in 5 s and 300 MiB
	$(BIN)/python -m tools.hostile
	$(BIN)/python -m tools.hostile_inputs

export-targets: $(VENV)/developed ## compare flags and keys that exporters write with the sources of their targets, clones in CLONES
	$(BIN)/python -m tools.export_targets $(CLONES)

export-loads: $(VENV)/developed ## load exports with the parsers and schemas of their targets, clones in CLONES; LOADER=PYTHON has pydantic and others; DRAW=N random designs
	$(BIN)/python -m tools.loads $(CLONES) $(if $(LOADER),--python $(LOADER)) $(if $(DRAW),--draw $(DRAW))

audit: ## ask pip-audit about known vulnerabilities of the pinned dependencies
	$(PYTHON) -m venv out/audit && out/audit/bin/pip install --quiet "pip-audit>=2.7"
	out/audit/bin/pip-audit --strict --disable-pip --require-hashes -r requirements/run.txt -r requirements/dev.txt -r requirements/build.txt

clean: ## remove what was made
	rm -rf $(VENV) $(OUT) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/installed: pyproject.toml tools/prepare.sh
	@sh tools/prepare.sh $(PYTHON) $(VENV) "."
	@touch $@

$(VENV)/developed: pyproject.toml tools/prepare.sh
	@sh tools/prepare.sh $(PYTHON) $(VENV) ".[dev]"
	@touch $@ $(VENV)/installed
