# Everything sets up its own virtual environment in .venv and works offline of any cluster.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# The extra `overlays` has it from Python 3.14 on, as its metadata says; it runs on older ones, too.
KUSTOMIZE := 'pykustomize==0.1.*'
KSERVEC_CONFORMANCE ?= ../shared/conformance

.PHONY: demo test lint bench conformance apiserver browser clean

$(READY): pyproject.toml Makefile
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev,router,overlays]'
	@$(BIN)/pip install --quiet --disable-pip-version-check --ignore-requires-python $(KUSTOMIZE) \
	  || echo "no pykustomize here: what overlays do is tested by kustomize or kubectl, if they are there"
	@touch $@

demo: $(READY)  ## compile examples/ and show the result
	@$(BIN)/python scripts/demo.py

test: $(READY)  ## unit, golden, property and CLI tests
	$(BIN)/pytest -n 2

lint: $(READY)  ## style and types, of workflows, shell scripts and Dockerfiles too
	$(BIN)/ruff check .
	$(BIN)/ruff format --check compiler router tests scripts benchmarks
	$(BIN)/mypy
	$(BIN)/zizmor --quiet --offline --persona pedantic .github action.yml
	$(BIN)/shellcheck .ci/run $$(find integrations router runtimes scripts -name '*.sh')
	$(BIN)/hadolint $$(find router runtimes -name '*Dockerfile')

bench: $(READY)  ## speed and memory, as ratios within one run
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.router

conformance: $(READY)  ## compare with what KServe itself made of recorded cases
	@KSERVEC_CONFORMANCE=$(KSERVEC_CONFORMANCE) $(BIN)/python scripts/conformance.py

apiserver: $(READY)  ## apply what is rendered to a real API server and read it back
	@KSERVEC_CONFORMANCE=$(KSERVEC_CONFORMANCE) $(BIN)/pytest -rs tests/apiserver

browser: $(READY)  ## look at reports in a real browser; says so where there is none
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[browser]' \
	  || echo "no playwright here: no report will be looked at"
	@sh scripts/get_browser.sh
	@$(BIN)/python -m pytest -rs tests/browser

clean:
	rm -rf $(VENV) build dist out
