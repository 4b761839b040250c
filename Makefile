# What a reader, learner, instructor or contributor needs; `make help` lists it. Nothing has to be installed before but
# Python. Commands with arguments are programs of their own: `.venv/bin/autograder`, `nbgrader`, `python -m experiments`.
VENV ?= .venv
export PIP_DISABLE_PIP_VERSION_CHECK := 1
ifeq ($(OS),Windows_NT)
PYTHON ?= python
BIN := Scripts
else
PYTHON ?= python3
BIN := bin
endif
RUN := $(abspath $(VENV))/$(BIN)/python
INSTALL := $(RUN) -m pip install -qq
# One thread for each of two workers: the models are small.
TEST := OMP_NUM_THREADS=1 $(RUN) -m pytest -n 2 --dist loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help install book test smoke check lint serve lab pdf exercises expected-values fixtures notebooks margins mutants bench newest colab-versions picture screens colours vendor lock clean

help: ## List the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

$(VENV)/.book: requirements.txt constraints.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) -r requirements.txt
	$(INSTALL) -c constraints.txt -e .
	@touch $@

$(VENV)/.test: $(VENV)/.book
	$(INSTALL) -c constraints.txt -e ".[test]"
	@touch $@

install: $(VENV)/.test ## Install the course and its tests into .venv; the other commands do it themselves

book: $(VENV)/.book ## Install, run all chapters and build the HTML book into _build/html (COURSE_ANSWERS=no: without answers)
	$(RUN) -m tools.build_site

test: $(VENV)/.test ## Install and run the tests of a contributor: units, checks, release, one graded class (5 minutes)
	$(TEST) -m "not slow and not browser and not book"

smoke: $(VENV)/.test ## Look at a page of each kind of the built book in Chromium, play with one explorer, check the site's links
	$(TEST) -m smoke tests/browser tests/book_site

# All that CI leaves out, in parts of at most ten minutes on two idle cores; `rest` is what no other part names.
banks := tests/answers/test_answers.py
mutants := tests/mutation/test_mutation.py
broken := tests/submissions/test_broken.py
cheats := tests/submissions/test_cheats.py
honest := tests/submissions/test_honest.py
classes := $(addprefix tests/grading/,test_assignment_run.py test_worker_pool.py test_dask_cluster.py test_postgres.py test_feedback_pages.py)
guide := tests/grading/test_instructor_guide.py tests/browser/test_classroom.py
pages := $(addprefix tests/browser/,test_pages.py test_wide_tables.py test_image_layout.py test_visit_fixture.py)
access := tests/browser/test_accessibility.py
explorers := $(filter-out $(pages) $(access) $(guide) tests/browser/test_pdf.py,$(wildcard tests/browser/test_*.py))
PARTS := banks mutants broken cheats honest classes guide pages access explorers

check: $(VENV)/.test ## Run all suites that CI leaves out, in parts, each by itself as make check-PART; ends with a table (an hour)
	@$(RUN) tools/run_make_targets.py book $(PARTS:%=check-%) check-rest

$(PARTS:%=check-%) check-rest: check-%: $(VENV)/.test
	$(TEST) -m "slow or browser or book" $(or $($*),$(foreach part,$(PARTS),$($(part):%=--ignore=%)))

lint: $(VENV)/.test ## Formatting, lint and types of all Python
	@status=0; \
	$(RUN) -m ruff format --check -q . || status=1; \
	$(RUN) -m ruff check -q . || status=1; \
	$(RUN) -m mypy --no-error-summary || status=1; \
	exit $$status

serve: book ## Show the built book at http://localhost:8000
	$(RUN) -m http.server 8000 --bind 127.0.0.1 --directory _build/html

lab: $(VENV)/.book ## Open the exercises in JupyterLab
	$(RUN) -m jupyter lab --LabApp.default_url=/lab/tree/exercises

$(VENV)/.pdf: $(VENV)/.book
	$(INSTALL) -c constraints.txt -e ".[pdf]"
	@touch $@

P ?=
pdf: $(VENV)/.pdf book ## Print the book as _build/attention.pdf (needs Chromium; P=--exercises with the exercises, P=--code with all code)
	$(RUN) -m tools.pdf $(P)

exercises: $(VENV)/.book ## Write the students' notebooks from solutions/ (COURSE_ANSWERS=no: as a class gets them), and the pages of solutions
	$(RUN) -m autograder.instructor.nbgrader.release

fixtures: expected-values
expected-values: $(VENV)/.book ## Compute the expected values whose cases, solutions or mistakes changed; write all hints
	$(RUN) -m autograder.instructor.expected_values

notebooks: $(VENV)/.book ## Write all chapters and exercises as notebooks for Colab and Binder, into _build/notebooks
	$(RUN) -m tools.export_notebooks

margins: $(VENV)/.test ## Print how near rounding brings right answers to being refused
	$(RUN) -m tests.answers.rounding_margins

mutants: $(VENV)/.test ## Change every place of every solution, and print what the checks say
	$(RUN) -m tests.mutation.run_mutants

bench: $(VENV)/.test ## Measure training and attention against torch's, and grading and feedback against stock nbgrader's
	$(RUN) -m experiments --all bench
	$(RUN) -m tests.grading.benchmark

newest: ## Run the tests with the newest versions that pyproject.toml allows, in an environment of their own
	$(PYTHON) -m venv --clear _build/newest
	_build/newest/$(BIN)/python -m pip install -qq --upgrade -e ".[test]" nbgrader pebble jupytext "jupyter-book<2"
	OMP_NUM_THREADS=1 _build/newest/$(BIN)/python -m pytest -n 2 -m "not slow and not browser and not book"

C ?= https://raw.githubusercontent.com/googlecolab/backend-info/main/pip-freeze.txt
colab-versions: $(VENV)/.test notebooks ## Run checks and chapters with Colab's versions, in an environment of their own (C=LIST)
	$(RUN) -m tools.colab_versions "$(C)" _build/colab.txt
	$(PYTHON) -m venv --clear _build/colab
	_build/colab/$(BIN)/python -m pip install -qq --no-deps -r _build/colab.txt
	_build/colab/$(BIN)/python -m pip install -qq ipykernel nbclient
	_build/colab/$(BIN)/python -c "from coursekit.notebook.colab import prepare; prepare('.')"
	OMP_NUM_THREADS=1 _build/colab/$(BIN)/python -m tools.learner_smoke_test --chapters

picture: $(VENV)/.test book ## Take the README's picture of the built chapter (needs Chromium)
	$(RUN) -m tools.readme_screenshot

screens: $(VENV)/.test ## Take the guide's pictures of a class in JupyterLab (needs Chromium and bubblewrap)
	COURSE_SCREENS=book/figures/classroom $(RUN) -m pytest tests/browser/test_classroom.py

colours: $(VENV)/.book ## Write the style sheet's colours from coursekit/plots/style.py
	$(RUN) -m coursekit.plots.style book/_static/colours.css

vendor: $(VENV)/.book ## Fetch the JavaScript that the site serves itself (needs npm)
	$(RUN) -m tools.vendor

lock: $(VENV)/.test ## Write constraints.txt: all packages in the versions that are tested together
	grep -v '^-c' requirements.txt | $(RUN) -m uv pip compile - pyproject.toml --all-extras --universal --python-version 3.10 \
		--no-annotate --no-emit-index-url --custom-compile-command "make lock" --quiet -o constraints.txt

clean: ## Remove what was built, not the environment
	rm -rf _build
