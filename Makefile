# Tasks of a working copy; `.ci/run` uses them as well. PYTHON makes the virtual environment.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help install test oldest lint types wheels suites slow many wild kills studies timed coverage docs site

help: ## show the tasks
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 12

install: ## make .venv with everything that the tests need
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet -e '.[all,bench,test,dev,docs]'

test: ## run the fast tests (under two minutes)
	$(BIN)/pytest

oldest: ## run the fast tests with the oldest dependencies that pyproject.toml allows
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/pip install --quiet uv
	.venv-oldest/bin/uv pip install --quiet --python .venv-oldest/bin/python \
		--resolution lowest-direct -e '.[test]'
	.venv-oldest/bin/pytest -p no:cacheprovider

lint: ## check style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: ## check types
	$(BIN)/mypy

wheels: ## show for which systems and Pythons a dependency has no wheel
	$(BIN)/python scripts/wheels.py

suites: ## fetch the conformance suites of the RDF syntaxes
	$(BIN)/python scripts/rdf_suites.py

# tests that kill processes, each on a frontier of its own
KILLS = $(wildcard tests/frontier/test_*kill.py) tests/frontier/test_crawl_failures.py

# tests that measure time, which busy processors would spoil; they wait for most of theirs
TIMED = tests/hostile tests/frontier/test_crawl_politeness.py \
	$(addprefix tests/harvest/test_, every_gap.py outages.py politeness.py progress.py)

# whole crawls race on a busy machine: one that fails is tried once more, and both are told of
SLOW = -m "(slow or server or sites) and not study" -p no:cacheprovider --reruns 1 -rfER

# one more than the two processors of CI: some tests wait

slow: ## run the slow tests and those against real servers side by side
	$(BIN)/pytest -n 4 --dist loadfile $(SLOW) --durations=15 $(addprefix --ignore=,$(KILLS) $(TIMED) tests/wild)

many: ## run the property and kill tests with many examples
	HYPOTHESIS_PROFILE=many FORMS=300 $(BIN)/pytest -n 2 -q \
		$(shell grep -rl --include='test_*.py' 'from hypothesis' tests)
	DAMAGES=all $(BIN)/pytest -n 2 -q -m slow tests/results/test_check.py
	HYPOTHESIS_PROFILE=many SEMCRAWL_TEST_KILL_RUNS=20 $(BIN)/pytest -n 2 -q -m "slow or server" \
		$(KILLS) tests/frontier/test_frontier_model.py tests/pipelines/test_graph_owners.py

wild: ## hold real pages and RDF files against readers that are not ours
	$(BIN)/pytest -n 2 --dist worksteal $(SLOW) --durations=5 tests/wild

kills: ## run the slow tests that kill workers and servers
	$(BIN)/pytest -n 3 --dist load $(SLOW) --durations=5 $(KILLS)

studies: ## repeat the measurements that the documentation states, before a release
	$(BIN)/pytest -n 2 -p no:cacheprovider -m study --durations=0 tests

timed: ## run the slow tests that measure time, three at a time
	$(BIN)/pytest -n 3 --dist worksteal $(SLOW) --durations=15 $(TIMED)

# left out: a test whose crawl has no room on the disk, not even for the measurement
coverage: ## measure which lines and branches the fast tests run, in all processes
	$(BIN)/pytest -p no:cacheprovider --cov --cov-report=term:skip-covered --cov-fail-under=85 \
		--deselect tests/exporters/test_addon_and_warc.py::test_a_record_that_does_not_fit_costs_no_other

docs: ## write docs/settings.md
	$(BIN)/python docs/build_settings.py

site: ## build the documentation as a site, in site/; a dead link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --clean
