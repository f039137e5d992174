# Everything a contributor runs. Needs GNU make and Python 3.11 or later; the rest goes into .venv.
# The tests need bubblewrap too, which is a package of the system.

BIN := .venv/bin
PACKAGES := bot adapters approvals core

# The first Python that runs (a pyenv shim may exist and still fail), is new enough and can make a
# virtual environment. Choose another with `make PYTHON=/path/to/python venv`.
FITS := import ensurepip, sqlite3, ssl, sys, venv; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	if $$p -c '$(FITS)' >/dev/null 2>&1; then echo $$p; break; fi; done)

PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input -qq
NO_PROXY_ENV := env -u http_proxy -u https_proxy -u HTTP_PROXY -u HTTPS_PROXY -u all_proxy -u ALL_PROXY

# Tests wait for processes and disks more than they compute. `make WORKERS=0 test` runs one at a time.
WORKERS ?= 3

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: venv demo test postgres explore check bench guarantees captures clean help

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

venv: .venv/.ready ## Make .venv with everything pinned; again only when the lock or pyproject.toml changed

.venv/.locked: requirements.lock
	@$(if $(PYTHON),,echo "No Python 3.11 or later that can make a virtual environment: install one (Debian: python3-venv) or run make PYTHON=/path/to/python" >&2; exit 2;) \
	echo "Making .venv with $(PYTHON)"
	@$(PYTHON) -m venv --clear .venv
	@$(PIP) install --require-hashes -r requirements.lock
	@touch $@

.venv/.ready: .venv/.locked pyproject.toml
	@$(PIP) install --no-deps --no-build-isolation -e .
	@$(PIP) check || { echo "requirements.lock does not satisfy pyproject.toml: compile it again (CONTRIBUTING.md)" >&2; exit 1; }
	@touch $@

demo: venv ## Try Sayso in this terminal: no key, no token, nothing to configure
	@$(BIN)/sayso demo

check: venv ## Format, lint, import rules, dependencies, two type checkers, the wheel
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/lint-imports
	$(BIN)/deptry .
	$(BIN)/mypy
	$(BIN)/basedpyright --pythonpath $(BIN)/python
	@echo "build the wheel"; \
	out=$$(mktemp -d) && trap 'rm -rf "$$out"' EXIT && \
	{ $(BIN)/python -m build --wheel --no-isolation --outdir "$$out" >"$$out/log" 2>&1 || { cat "$$out/log" >&2; exit 1; }; } && \
	$(BIN)/python -m zipfile -l "$$out"/sayso-*.whl | awk '{ print $$1 }' | sort >"$$out/held" && \
	{ find $(PACKAGES) -name '*.py' -o -name '*.sql' -o -name '*.md'; printf '%s/py.typed\n' $(PACKAGES); \
		find runbooks -type f | sed 's|^runbooks|bot/samples|'; } | sort >"$$out/wanted" && \
	missing=$$(comm -13 "$$out/held" "$$out/wanted") && \
	{ [ -z "$$missing" ] || { echo "The wheel lacks:" $$missing >&2; exit 1; }; }

test: venv ## All tests; branch coverage 90 % overall, 100 % in core and approvals
	$(NO_PROXY_ENV) $(BIN)/pytest --numprocesses $(WORKERS) --dist worksteal --cov --cov-report=term --cov-fail-under=90
	$(BIN)/coverage report --include='core/*,approvals/*' --fail-under=100

postgres: venv ## All tests of the contracts on PostgreSQL too: `make test` tries an example of each that matters most
	$(NO_PROXY_ENV) $(BIN)/pytest --numprocesses $(WORKERS) --dist worksteal --everything-on-postgres tests/contracts

explore: venv ## The property tests, with examples that nobody has tried yet
	$(NO_PROXY_ENV) $(BIN)/pytest --numprocesses $(WORKERS) --dist worksteal -m hypothesis --hypothesis-profile=explore

bench: venv ## Run every benchmark and print its figures
	@set -e; for script in benchmarks/bench_*.py; do \
		name=$$(basename "$$script" .py); \
		echo "== $$name"; $(NO_PROXY_ENV) PYTHONPATH=. $(BIN)/python -m "benchmarks.$$name"; \
	done

guarantees: venv ## Kill Sayso everywhere, try the sandbox, and write what comes of it into docs
	@$(NO_PROXY_ENV) PYTHONPATH=. $(BIN)/python -m tests.crash_table
	@$(NO_PROXY_ENV) PYTHONPATH=. $(BIN)/python -m tests.probe_table

captures: venv ## Write what the tour, Slack and Discord show into docs/captures and the documents
	@$(NO_PROXY_ENV) PYTHONPATH=. $(BIN)/python -m tests.captures
	@PYTHONPATH=. $(BIN)/python -m tests.drawings
	@PYTHONPATH=. $(BIN)/python -m tests.slack_drawings
	@PYTHONPATH=. $(BIN)/python -m tests.slack_pictures
	@PYTHONPATH=. $(BIN)/python -m tests.discord_drawings
	@PYTHONPATH=. $(BIN)/python -m tests.discord_pictures
	@PYTHONPATH=. $(BIN)/python -m tests.side_by_side

clean: ## Remove .venv, caches and builds; never your data
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis htmlcov .coverage .coverage.*
	find $(PACKAGES) tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
