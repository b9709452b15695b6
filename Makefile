# The development tasks. `make` lists them. Needs make and Python 3.11 or newer; everything else goes into .venv.

# Python 3.11.0 to 3.11.4 match possessive groups wrongly (CPython issue 106052), which costs speed to go round:
# take a later one if there is any.
PYTHON ?= $(shell for least in '3, 11, 5' '3, 11'; do \
	for p in python3 python3.14 python3.13 python3.12 python3.11 $(HOME)/.pyenv/versions/*/bin/python3; do \
	$$p -c "import sys; sys.exit(sys.version_info < ($$least))" 2>/dev/null && echo $$p && exit; done; done)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= auto
PYTEST := $(BIN)/python -m pytest -n $(WORKERS)

.DEFAULT_GOAL := help
.PHONY: help install demo test test-slow test-engines bench docs lint format clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMP) ## make .venv with the package and everything the tests need

$(STAMP): setup.py pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "making $(VENV), which takes some minutes the first time"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(STAMP)

demo: $(STAMP) ## chunk the sample corpus twice and show what became stale
	@$(BIN)/python examples/demo.py

test: $(STAMP) ## run the fast tests (minutes)
	$(PYTEST)

test-slow: $(STAMP) ## run the whole-corpus laws and the other slow tests
	$(PYTEST) -m slow

test-engines: $(STAMP) ## run the tests on Prism, Flink and Spark (got with go and mvn; says what is skipped)
	$(BIN)/python -m pytest -m engines -rs

bench: $(STAMP) ## measure speed and linearity (RECHUNK_CORPUS names the documents)
	$(BIN)/python -m benchmarks

docs: $(STAMP) ## put what snippets print now into README and docs
	$(BIN)/python -m tests.docs.refresh

lint: $(STAMP) ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(STAMP) ## rewrite the code in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## delete .venv, the demo's folder and every cache
	rm -rf $(VENV) .demo build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis benchmarks/results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
