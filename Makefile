PYTHON ?= python3
BIN = .venv/bin
export TF_CPP_MIN_LOG_LEVEL ?= 3
export PYTHONDONTWRITEBYTECODE =# what is imported is compiled once; pip would compile all of TensorFlow first

.PHONY: demo check quick test test-everything lint site bytecode bench figures release viewer golden clean

# The demo: a real posterior from 256 chains; prints a table and saves a plot in out/.
demo: .venv/ready
	$(BIN)/python -m examples.breast_cancer

# Lint, types, the site, and the tests, the examples at a small size among them; the samplers' in processes of their own,
# as TensorFlow keeps what it compiles (some 200 MB for each sampler) until its process ends.
test: .venv/ready
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target lint site bytecode
	$(BIN)/python -m pytest -q -n 2 --dist worksteal tests/mcmc
	$(BIN)/python -m pytest -q -n 2 --dist worksteal tests/passes tests/meaning tests/fuzz tests/collection tests/test_*.py

# The loop of daily work: lint, types, passes, texts, errors, and some programs of each kind on the local-static backend;
# XLA compiles nothing.
QUICK = tests/passes tests/meaning $(addprefix tests/test_,architecture.py conformance.py errors.py golden.py lowering.py programs.py storage.py)
check: .venv/ready
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target lint quick

quick: .venv/ready
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not compiles and not thorough" $(QUICK)

# Every program and every feature in every way to run it (tests/modes.py).
test-everything: export AUTOBATCH_EVERY_MODE = 1
test-everything: test

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

# The documentation as pages in out/site/; a warning is an error.
site: .venv/ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

# Of what the tests import, which their two processes would each compile.
bytecode: .venv/ready
	$(BIN)/python -c "import tests.conftest, autobatch.mcmc, tensorflow, tensorflow_probability, arviz, hypothesis"

# The benchmarks of this version of the machine, in turn with TFP's auto_batching.
bench: .venv/ready
	$(BIN)/python -m benchmarks

# The paper's experiments: tables and plots in docs/.
figures: .venv/ready
	$(BIN)/python -m benchmarks figures

# A wheel and an sdist in out/dist, as a stranger gets them: the README renders, and the wheel works without the rest.
release: .venv/ready
	rm -rf out/dist out/fresh
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[release]"
	$(BIN)/python -m build --outdir out/dist . > /dev/null
	$(BIN)/twine check --strict out/dist/*
	$(PYTHON) -m venv out/fresh
	out/fresh/bin/pip install --quiet --disable-pip-version-check --no-compile out/dist/*.whl
	out/fresh/bin/autobatch --version
	out/fresh/bin/python tests/installed.py

# Bundles the page of `Profile.to_html`, of which the result is checked in; needs npm.
viewer:
	cd autobatch/profiling/viewer && npm ci --silent && npm run --silent build

# Writes the golden texts anew; read the difference before you commit it.
golden: .venv/ready
	AUTOBATCH_WRITE_GOLDEN=1 $(BIN)/python -m pytest -q tests/test_golden.py tests/test_errors.py tests/test_conformance.py tests/test_docs.py tests/collection -n 2

.venv/ready: pyproject.toml
	@echo "Setting up .venv: this fetches TensorFlow and takes a minute or two."
	test -d .venv || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile --editable ".[test]"
	touch $@

clean:
	rm -rf .venv out .pytest_cache .ruff_cache .hypothesis
