PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check

.PHONY: demo test test-slow lint install install-dev bench docs gallery dist clean torture

demo: install  ## install, recover the factors of the Laplace-on-a-box process, write demo/
	$(BIN)/identica demo --out demo

install: $(VENV)/.installed

install-dev: $(VENV)/.installed-dev

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) install --quiet --constraint constraints.txt --editable .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

lint: install-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/mypy

test: lint  ## lint, types and the fast tests
	$(BIN)/pytest -m 'not slow' -n 2

test-slow: install-dev
	$(BIN)/pytest -m slow

bench: install  ## speed and memory against the bare encoder and a textbook loss, as a table with pass or fail
	$(BIN)/python benchmarks/bench.py

torture: install-dev  ## kill runs at random moments and damage files; nothing may come out wrong
	$(BIN)/python benchmarks/torture.py

docs: install-dev  ## the documentation as a site, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

gallery: install-dev  ## the pictures of the gallery and of pages, in docs/; needs IDENTICA_DATA and chromium
	$(BIN)/python examples/gallery.py
	$(BIN)/python examples/screenshots.py

dist: install-dev  ## a wheel and a source archive, in dist/
	$(BIN)/python -m hatchling build --clean

clean:
	rm -rf $(VENV) demo runs site dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
