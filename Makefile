# Everything sets up its own virtual environment in .venv and works offline of any cluster.
PYTHON ?= python3
# Tests start hundreds of processes; none is to compile what another one has compiled.
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# The extra `overlays` has it from Python 3.14 on, as its metadata says; it runs on older ones, too.
KUSTOMIZE := 'pykustomize==0.1.*'
KSERVEC_CONFORMANCE ?= ../shared/conformance
# Which odd inputs `make fuzz` tries: COUNT numbers of SEED from FIRST on, for SECONDS at most (0: all), in JOBS processes.
SEED ?= 1
FIRST ?= 0
COUNT ?= 1000000
SECONDS ?= 0
JOBS ?= 1
FAMILY ?=

.PHONY: demo test test-slow pythons mutants lint bench bench-growth conformance apiserver browser images-check gpu-check fuzz fuzz-check
.PHONY: clean

$(READY): pyproject.toml Makefile
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev,router,overlays]'
	@$(BIN)/pip install --quiet --disable-pip-version-check --ignore-requires-python $(KUSTOMIZE) \
	  || echo "no pykustomize here: what overlays do is tested by kustomize or kubectl, if they are there"
	@touch $@

demo: $(READY)  ## compile examples/ and show the result
	@$(BIN)/python scripts/demo.py

test: $(READY)  ## unit, golden, property and CLI tests: all that is quick
	$(BIN)/pytest -n 3 --dist worksteal -m 'not slow'

test-slow: $(READY)  ## what takes long by nature: scale, crashes, real servers under load, installs, other environments
	$(BIN)/pytest -n 2 --dist worksteal -m slow

pythons: $(READY)  ## what other versions of Python need, so that `make test-slow` holds their output against this one's
	@$(BIN)/python scripts/pythons.py

lint: $(READY)  ## style and types, of workflows, shell scripts and Dockerfiles too
	$(BIN)/ruff check .
	$(BIN)/ruff format --check compiler router runtimes tests scripts benchmarks fuzz
	$(BIN)/mypy
	$(BIN)/zizmor --quiet --offline --persona pedantic .github action.yml
	$(BIN)/shellcheck .ci/run $$(find integrations router runtimes scripts -name '*.sh')
	$(BIN)/hadolint $$(find router runtimes -name '*Dockerfile')
	MYPYPATH=.:compiler:router $(BIN)/mypy --package fuzz

bench: $(READY)  ## speed and memory, as ratios within one run
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.router

bench-growth: $(READY)  ## up to 100,000 services, with --jobs and by shards: takes minutes, and 4 GB
	$(BIN)/python -m benchmarks.growth

mutants: $(READY)  ## a sample of small mistakes in passes and plugs, and whether a test notices (MUTANTS="--sample 500 --seed 2")
	@PYTHONPATH=. nice $(BIN)/python scripts/mutation $(MUTANTS)

conformance: $(READY)  ## compare with what KServe itself made of recorded cases
	@KSERVEC_CONFORMANCE=$(KSERVEC_CONFORMANCE) $(BIN)/python scripts/conformance.py

apiserver: $(READY)  ## apply what is rendered to a real API server and read it back
	@KSERVEC_CONFORMANCE=$(KSERVEC_CONFORMANCE) $(BIN)/pytest -rs tests/apiserver

browser: $(READY)  ## look at reports in a real browser; says so where there is none
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[browser]' \
	  || echo "no playwright here: no report will be looked at"
	@scripts/get_browser.sh
	@$(BIN)/python -m pytest -rs tests/browser

images-check: $(READY)  ## the vLLM images: Dockerfiles, pins, the entry point as a program; without docker and GPU
	$(BIN)/ruff check runtimes/images
	$(BIN)/mypy -p kservec_vllm
	$(BIN)/pytest -n 2 -rs tests/images

gpu-check:  ## the entry point with real vLLM on a tiny model, where there are a GPU and vllm
	@$(PYTHON) scripts/gpu_check.py

fuzz: $(READY)  ## odd inputs for the whole compiler: SEED, FIRST, COUNT, SECONDS, JOBS, FAMILY; goes on where it ended
	$(BIN)/python -m fuzz --seed $(SEED) --first $(FIRST) --count $(COUNT) --seconds $(SECONDS) --jobs $(JOBS) \
	  --family '$(FAMILY)'

fuzz-check: $(READY)  ## a few thousand of them, always the same
	$(BIN)/python -m fuzz --fresh --seed 8 --count 4000 --jobs 2

clean:
	rm -rf $(VENV) build dist out
