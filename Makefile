# Everything here makes its own virtual environment. Python >= 3.11, pip and make are all that is needed.
PYTHON ?= python3
VENV ?= .venv
ORACLE ?= .venv-oracle
JOBS ?= 20000
ANONYMETER ?= .venv-anonymeter
BIN := $(VENV)/bin

.PHONY: demo serve test check fuzz docs dist lock bench scaling experiments screenshots clean

demo: $(VENV)/.demo
	$(BIN)/shoal demo

serve: $(VENV)/.serve
	$(BIN)/shoal serve --sample --workspace shoal-workspace

test: $(VENV)/.dev $(ORACLE)/.ready $(ANONYMETER)/.ready
	$(BIN)/python -m pytest -n 2 --dist loadfile -q

check: $(VENV)/.dev
	$(BIN)/ruff check src tests benchmarks experiments tools
	$(BIN)/ruff format --check src tests benchmarks experiments tools
	$(BIN)/mypy
	$(BIN)/python tools/check_imports.py

# Random jobs against a reader of its own; stopped, it goes on where it was.
fuzz: $(VENV)/.dev
	$(BIN)/python tools/fuzz.py --jobs $(JOBS) --processes 2

# The documentation as a site that needs no network: site/index.html
docs: $(VENV)/.dev
	$(BIN)/python tools/make_docs.py

# sdist and wheel, built and tried in clean environments
dist:
	$(PYTHON) tools/make_dist.py

# the versions that development uses, with hashes
lock: $(VENV)/.dev
	$(BIN)/python tools/make_lock.py

bench: $(VENV)/.dev $(ORACLE)/.ready
	$(BIN)/python -m benchmarks.run
	$(BIN)/python -m benchmarks.flagship --effort default,high
	$(BIN)/python -m benchmarks.flagship --effort default,high --records 1000000 --variants hier --k 10
	$(BIN)/python -m benchmarks.other_tables
	$(BIN)/python -m benchmarks.known_values

scaling: $(VENV)/.dev
	$(BIN)/python -m benchmarks.scaling

.PHONY: bench-scale
bench-scale: $(VENV)/.dev
	$(BIN)/python -m benchmarks.scale --sizes 1000000,10000000 --local --spark
	$(BIN)/python -m benchmarks.scale --sizes 100000000 --carried 10
	$(BIN)/python -m benchmarks.sql

experiments: $(VENV)/.dev
	$(BIN)/python -m experiments.run

screenshots: $(VENV)/.dev
	$(BIN)/python tools/screenshots.py

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("Shoal needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[report]"
	touch $@

$(VENV)/.serve: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[report,web]"
	touch $@ $(VENV)/.demo

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@ $(VENV)/.demo $(VENV)/.serve

# pycanon (a second opinion on released tables), anonypy and anjana (peers in the benchmark) pin old versions: they live
# in an environment of their own.
$(ORACLE)/.ready:
	$(PYTHON) -m venv $(ORACLE)
	$(ORACLE)/bin/python -m pip install --quiet --disable-pip-version-check pycanon anonypy anjana \
	  || echo "pycanon cannot be installed with this Python: the tests that ask it are skipped, and say so"
	touch $@

# anonymeter (a second opinion on attacks) needs an older numpy than pycanon.
$(ANONYMETER)/.ready:
	$(PYTHON) -m venv $(ANONYMETER)
	$(ANONYMETER)/bin/python -m pip install --quiet --disable-pip-version-check anonymeter \
	  || echo "anonymeter cannot be installed with this Python: the tests that ask it are skipped, and say so"
	touch $@

clean:
	rm -rf $(VENV) $(ORACLE) $(ANONYMETER) shoal-demo
