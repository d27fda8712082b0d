# The README's two commands are `make demo` and `make test`. Each target installs what it needs.
.PHONY: demo test check check-types check-rest format setup hostile audit corpus corpus-findings corpus-prices clients clients-tools sealed proof bench suites crash secrets faults soak fuzz ledger fleet mutants docs docs-site test-matrix \
	wheel sbom clean
.DEFAULT_GOAL := demo

# Looked up once per run, and only by the targets that need them.
PYTHON_PATH = $(eval PYTHON_PATH := $$(shell PYTHON='$(PYTHON)' sh .ci/find-python))$(PYTHON_PATH)
UV = $(eval UV := $$(shell sh .ci/find-uv '$(PYTHON_PATH)'))$(UV)
RUN = .venv/bin/
# uv must not download interpreters, and must write bytecode whatever the environment says.
export UV_PYTHON_DOWNLOADS = never
unexport PYTHONDONTWRITEBYTECODE

setup: .venv/.ready

.venv/.ready: pyproject.toml uv.lock
	@test -n '$(PYTHON_PATH)' && test -n '$(UV)'
	@echo 'setting up .venv (once; about a minute)'
	@'$(UV)' sync --quiet --frozen --python '$(PYTHON_PATH)'
	@touch $@

demo: setup
	@$(RUN)turntape demo

test: setup
	$(RUN)pytest -n auto -q

# The type checker needs one core for longer than all the rest, so both run at once: in `make check`, and in
# `make -j 2 check test`, where the tests follow the quick checks. Tests that are collected there are compiled when
# pytest comes, where each worker would compile them.
ifneq ($(filter test,$(MAKECMDGOALS)),)
check: check-types check-rest
test: $(if $(filter check,$(MAKECMDGOALS)),check-rest)
else
check: setup
	@$(MAKE) --no-print-directory -j 2 check-types check-rest
endif

check-types: setup
	$(RUN)pyright

check-rest: setup
	$(RUN)ruff check .
	$(RUN)ruff format --check .
	$(RUN)python .ci/plain_words.py
	$(RUN)python .ci/snippets.py
	$(RUN)python -m turntape.inspector.wire.protocols_page --check
	$(RUN)python -m turntape.inspector.findings.findings_page --check
	$(RUN)python -m turntape.inspector.views.json.schemas --check
	$(RUN)python -m turntape.inspector.fleet.rows.columns_page --check
	$(RUN)python -m turntape.proxy.cli.reference_page --check
	$(RUN)python -m turntape.proxy.cli.settings_page --check
	$(RUN)python docs/screens.py --check
	$(RUN)python docs/python_api.py --check
	.ci/check-workflows
	@echo 'every test can be collected'
	@found=$$($(RUN)pytest --collect-only -qq -p no:syrupy -p no:textual-snapshot) || { echo "$$found"; exit 1; }

format: setup
	$(RUN)ruff check --fix .
	$(RUN)ruff format .

# How our reading of the recorded corpus agrees with an independent one, protocol by fact.
corpus: setup
	$(RUN)python tests/corpus/table.py

# Every finding on the recorded corpus, by class: `make corpus-findings ARGS="--id client-assistant-mutated"`.
corpus-findings: setup
	$(RUN)python tests/corpus/found.py $(ARGS)

# Of the recorded answers that state their cost: how many have another one here, and by the price list alone.
corpus-prices: setup
	$(RUN)python tests/corpus/prices.py

# Real clients on both routes, in environments that are built once in .clients/; CLIENT='openai litellm' runs these alone,
# and without CLIENT, docs/clients.md is written.
clients: setup
	UV='$(UV)' $(RUN)python -m tests.clients $(or $(CLIENT),--page)

# Real clients with a tool server that returns every kind of result; writes docs/what-clients-do.md; CLIENT as above.
clients-tools: setup
	UV='$(UV)' $(RUN)python -m tests.clients.tool_results --page $(CLIENT)

# Real clients with real tool servers, recorded once and replayed with the cassette alone: for example
# `make sealed ARGS="codex filesystem stdio --count 20"`; `--page` writes docs/sealed.md.
sealed: setup
	UV='$(UV)' $(RUN)python -m tests.clients.sealed $(ARGS)

# Each client on each route under `turntape run --prove`: what differs from a run without us, and why; CLIENT as above.
proof: setup
	UV='$(UV)' $(RUN)python -m tests.clients.proof $(CLIENT)

# Every benchmark; `make bench ARGS=--readme` for the figures of the README, `ARGS='latency memory'` for some.
bench: setup
	@'$(UV)' sync --quiet --frozen --inexact --group bench --python '$(PYTHON_PATH)'
	$(RUN)python -m bench $(ARGS)

# Suites of other projects, moved from vcrpy: what passes before and after. ARGS='chatlas' for one of them.
suites: setup
	UV='$(UV)' $(RUN)python -m bench.suites $(ARGS)

# One fault in one layer of clean loops of every protocol, then of recorded ones: is it found, is the right layer blamed?
# `make faults ARGS="--recorded -v"` for the recorded loops alone, each miss with the command that shows it;
# `make faults ARGS="--generated -v"` for random changes of recorded answers.
faults: setup
	UV='$(UV)' $(RUN)python -m bench.faults $(ARGS)

# What is left of a recording after kill -9, a full disk, a changed file, a clock that jumps: `make crash ARGS="--rounds 10"`.
crash: setup
	$(RUN)python -m bench.crash $(ARGS)

# Mutated inputs through every reader; a run continues where the last one ended: `make fuzz ARGS="--count 10000 --again"`.
fuzz: setup
	$(RUN)python -m bench.fuzz $(ARGS)

# Mixed faults, 64 clients at once, ten minutes: what is lost, mixed up or changed? `make soak ARGS="--seconds 30"`.
soak: setup
	$(RUN)python -m bench.soak $(ARGS)

# 65 kinds of credentials in 37 places on both routes: is one on the disk afterwards? `ARGS='--place base64 -v'` for one.
secrets: setup
	$(RUN)python -m bench.planted $(ARGS)

# What enemies try: pages in a real Chromium, programs of other users, recordings made to do harm; `ARGS=-v` for each.
hostile: setup
	$(RUN)python -m bench.hostile $(ARGS)

# What is known to be insecure in the locked dependencies; skipped, with the reason, where nobody can be asked.
audit: setup
	.ci/audit '$(UV)' $(ARGS)

# How true the ledger's figures are, against backends with tokenizers that it never sees: `make ledger ARGS='-v gemini'`;
# `make ledger ARGS='--recordings FOLDER'` for the conversations in a folder, `make ledger ARGS=--real` with the tokenizers
# of five real models.
ledger: setup
	@'$(UV)' sync --quiet --frozen --inexact --group bench --python '$(PYTHON_PATH)'
	@UV='$(UV)' $(RUN)python -m bench.ledger $(ARGS)

# The fleet: 1,000 tapes, 8 shippers, kill -9, 503s, on two S3 servers; then sizes and times of rows, and the named
# questions in four engines (`--only engines`). Exit code 1: a bar is missed; 3: a part could not be run, with the reason.
# `make fleet ARGS='--tapes 100 --kills 5'` for a small one.
fleet: setup
	UV='$(UV)' $(RUN)python -m bench.fleet $(ARGS)

# One-line mistakes in a copy of a module: do its own tests notice? `make mutants ARGS="--module recorder --sample 60"`.
mutants: setup
	$(RUN)python -m tests.mutants $(ARGS)

docs: setup
	$(RUN)python -m turntape.inspector.wire.protocols_page
	$(RUN)python -m turntape.inspector.findings.findings_page
	$(RUN)python -m turntape.inspector.views.json.schemas
	$(RUN)python -m turntape.inspector.fleet.rows.columns_page
	$(RUN)python -m turntape.proxy.cli.reference_page
	$(RUN)python -m turntape.proxy.cli.settings_page
	$(RUN)python docs/screens.py
	$(RUN)python docs/python_api.py

# The documentation as a site with a search, in site/; needs no network once the packages are installed.
docs-site: setup
	@'$(UV)' sync --quiet --frozen --inexact --group docs --python '$(PYTHON_PATH)'
	@NO_MKDOCS_2_WARNING=1 $(RUN)mkdocs build --strict --quiet
	@echo 'site/index.html'

# The tests on other versions: MATRIX='3.12:lowest-direct' for one, ARGS='tests/cassettes' for some tests.
MATRIX = 3.12:lowest-direct 3.12:highest 3.13:highest 3.14:highest
test-matrix: setup
	.ci/test-matrix '$(UV)' '$(MATRIX)' $(ARGS)

# What an installation with all extras consists of, from the lock, as CycloneDX 1.5.
sbom: setup
	@mkdir -p build
	@'$(UV)' export --quiet --frozen --all-extras --no-dev --preview-features sbom-export --format cyclonedx1.5 \
		--output-file build/turntape.cdx.json
	@echo build/turntape.cdx.json

wheel: setup
	'$(UV)' build --quiet --python '$(PYTHON_PATH)'

clean:
	rm -rf .venv .matrix build dist site *.egg-info
