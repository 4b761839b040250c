# Every command a user needs; `make help` lists them. Nothing has to be installed before but Python.
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

.DEFAULT_GOAL := help
.PHONY: help book test test-all units pages newest links links-out data-urls colab-versions lint serve lab exercises notebooks fixtures release grade report bundle data full \
	full-all picture screens pdf frames bench bench-grading bank margins cheats colours vendor lock clean

help: ## List the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

$(VENV)/.book: requirements.txt constraints.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet -r requirements.txt
	$(RUN) -m pip install --quiet -c constraints.txt -e .
	@touch $@

$(VENV)/.test: $(VENV)/.book
	$(RUN) -m pip install --quiet -c constraints.txt -e ".[test]"
	@touch $@

book: $(VENV)/.book ## Install, run all chapters and build the HTML book into _build/html
	$(RUN) book/_ext/build.py

test: $(VENV)/.test lint book ## Install and run the tests: units, checks, release, a graded class, the book
	OMP_NUM_THREADS=1 $(RUN) -m pytest -n 2 --dist loadfile -m "not slow and not browser"

test-all: $(VENV)/.test lint book ## All tests, also those in the browser (needs Chromium)
	$(RUN) -m pytest

units: $(VENV)/.test ## Install and run the tests that need no built book: units, checks, release, grading
	OMP_NUM_THREADS=1 $(RUN) -m pytest -n 2 --dist loadfile -m "not slow and not browser"

pages: $(VENV)/.test book ## The tests of the built pages, also in the browser (needs Chromium)
	$(RUN) -m pytest -m "not slow" tests/test_book.py $(wildcard tests/test_page_*.py) tests/test_links.py tests/browser

links: $(VENV)/.test book ## Check the links between the built pages
	$(RUN) -m tests.tools.links

links-out: $(VENV)/.test book ## Check also the links to other people's sites (needs the network)
	$(RUN) -m tests.tools.links --external

D_ALL ?=
data-urls: $(VENV)/.test ## Check that the data sets can still be downloaded (D_ALL="imdb nsmc" for some)
	$(RUN) -m tests.tools.data_urls $(D_ALL)

newest: ## Run the units with the newest versions that pyproject.toml allows, in an environment of their own
	$(PYTHON) -m venv --clear _build/newest
	_build/newest/$(BIN)/python -m pip install --quiet --upgrade -e ".[test]" nbgrader jupytext "jupyter-book<2"
	OMP_NUM_THREADS=1 _build/newest/$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow and not browser"

C ?= https://raw.githubusercontent.com/googlecolab/backend-info/main/pip-freeze.txt
colab-versions: $(VENV)/.test notebooks ## Run checks and chapters with Colab's versions, in an environment of their own (C=LIST)
	$(RUN) -m tests.tools.colab "$(C)" _build/colab.txt
	$(PYTHON) -m venv --clear _build/colab
	_build/colab/$(BIN)/python -m pip install --quiet --no-deps -r _build/colab.txt
	_build/colab/$(BIN)/python -m pip install --quiet ipykernel nbclient
	_build/colab/$(BIN)/python -c "from coursekit.colab import prepare; prepare('.')"
	OMP_NUM_THREADS=1 _build/colab/$(BIN)/python -m tests.tools.learner --chapters

lint: $(VENV)/.test ## Formatting, lint and types
	$(RUN) -m ruff format --check .
	$(RUN) -m ruff check .
	$(RUN) -m mypy

serve: book ## Show the built book at http://localhost:8000
	$(RUN) -m http.server 8000 --bind 127.0.0.1 --directory _build/html

lab: $(VENV)/.book ## Open the exercises in JupyterLab
	$(RUN) -m jupyter lab exercises

exercises: $(VENV)/.book ## Write the students' notebooks from solutions/
	$(RUN) -m autograder.instructor.release

notebooks: $(VENV)/.book ## Write all chapters and exercises as notebooks for Colab and Binder, into _build/notebooks
	$(RUN) book/_ext/notebooks.py

fixtures: $(VENV)/.book ## Write the expected values that the students' checks compare with
	$(RUN) -m autograder.instructor.fixtures

A ?= bahdanau
release: $(VENV)/.book ## Release assignment A with nbgrader: make release A=bahdanau
	$(RUN) -m nbgrader generate_assignment $(A) --force

grade: $(VENV)/.book ## Grade what lies in submitted/*/A and write feedback: make grade A=bahdanau
	$(RUN) -m autograder grade $(A)
	$(RUN) -m nbgrader generate_feedback $(A) --force

report: $(VENV)/.book ## Write the instructor's page about assignment A to reports/
	$(RUN) -m autograder report $(A)

B ?= students.zip
bundle: $(VENV)/.book ## Write what students get, without any answer: make bundle B=students.zip
	$(RUN) -m autograder bundle $(B)

D ?= multi30k-de-en
data: $(VENV)/.book ## Fetch a data set: make data D=multi30k-de-en
	$(RUN) -m coursekit.datasets $(D)

M ?= bahdanau
O ?=
full: $(VENV)/.book ## Train a chapter's model at full size (M=seq2seq, bahdanau, luong, classifiers, transformer or bert; an hour on a CPU; O="--model han")
	$(RUN) book/runs/$(M).py $(O)

full-all: $(VENV)/.book ## All recorded runs again, one after the other (a day on a CPU)
	$(RUN) book/runs/seq2seq.py
	$(RUN) book/runs/seq2seq.py --model gru
	$(RUN) book/runs/bahdanau.py --attention additive
	$(RUN) book/runs/bahdanau.py --attention fixed
	$(RUN) book/runs/bahdanau.py --attention additive --max-words 10
	$(RUN) book/runs/bahdanau.py --attention fixed --max-words 10
	$(RUN) book/runs/luong.py
	$(RUN) book/runs/luong.py --attention local-p --epochs 10
	$(RUN) book/runs/luong.py --data tatoeba-eng-kor --epochs 25 --batch-size 32 --dropout 0.4 --subwords 2000
	$(RUN) book/runs/language_models.py
	$(RUN) book/runs/classifiers.py --epochs 6 --learning-rate 2e-3
	$(RUN) book/runs/classifiers.py --model structured --epochs 5 --learning-rate 2e-3 --penalty 0.003
	$(RUN) book/runs/classifiers.py --model structured --name structured-strong --epochs 5 --learning-rate 2e-3
	$(RUN) book/runs/classifiers.py --model structured-no-penalty --epochs 5 --learning-rate 2e-3
	$(RUN) book/runs/classifiers.py --model bilstm-max --epochs 5 --learning-rate 2e-3
	$(RUN) book/runs/classifiers.py --model han --epochs 6 --learning-rate 2e-3
	$(RUN) book/runs/classifiers.py --model average --learning-rate 2e-3
	$(RUN) book/runs/classifiers.py --model cnn --epochs 6 --learning-rate 2e-3
	$(RUN) book/runs/classifiers.py --model bilstm-last --epochs 4 --learning-rate 2e-3
	$(RUN) book/runs/classifiers.py --data nsmc --width 128 --batch-size 128 --epochs 5 --vocabulary 16000 --learning-rate 2e-3 --dropout 0.3 --word-dropout 0.05
	$(RUN) book/runs/classifiers.py --data bbc --model han --epochs 12 --batch-size 16 --learning-rate 2e-3
	for data in imdb nsmc bbc; do for model in logistic-regression naive-bayes; do $(RUN) book/runs/bags.py --model $$model --data $$data; done; done
	$(RUN) book/runs/recipe.py
	$(RUN) book/runs/recipe.py --masked
	$(RUN) book/runs/captioning.py --epochs 40 --seeds 1
	$(RUN) book/runs/transformer.py
	$(RUN) book/runs/stories.py
	$(RUN) book/runs/bert.py
	for labels in 50 500; do $(RUN) book/runs/bert.py --data sst-2 --labels $$labels --seeds 1 2 3 4 5; done
	$(RUN) book/runs/bert.py --data sst-2
	$(RUN) book/runs/bert.py --data mrpc --seeds 1 2 3

bench: $(VENV)/.book ## Measure training: U h once or in every step; Bahdanau's decoder against Luong's; texts by length or not; our attention against torch's
	$(RUN) book/runs/bench_projection.py
	$(RUN) book/runs/bench_decoders.py
	$(RUN) book/runs/bench_bucketing.py
	$(RUN) book/runs/bench_attention.py

cheats: $(VENV)/.test ## Print what cheating gains with stock nbgrader and with ours
	$(RUN) -m tests.grading.cheats

bench-grading: $(VENV)/.test ## Measure grading against stock nbgrader, on the same 40 submissions
	$(RUN) -m tests.grading.bench

bank: $(VENV)/.test ## Print how the checks judge the bank of right and wrong answers
	$(RUN) -m tests.bank

margins: $(VENV)/.test ## Print how near rounding brings right answers to being refused
	$(RUN) -m tests.bank.margins

$(VENV)/.pdf: $(VENV)/.book
	$(RUN) -m pip install --quiet -c constraints.txt -e ".[pdf]"
	@touch $@

P ?=
pdf: $(VENV)/.pdf book ## Print the book as _build/attention.pdf (needs Chromium; P=--exercises with the exercises, P=--code with all code)
	$(RUN) book/_ext/pdf.py $(P)

frames: $(VENV)/.test book ## Measure how evenly the explorers move while they play (needs Chromium)
	$(RUN) tests/browser/frames.py

picture: $(VENV)/.test book ## Take the README's picture of the built chapter (needs Chromium)
	$(RUN) book/_ext/picture.py

screens: $(VENV)/.test ## Take the guide's pictures of a class in JupyterLab (needs Chromium and bubblewrap)
	COURSE_SCREENS=book/figures/classroom $(RUN) -m pytest tests/browser/test_classroom.py

colours: $(VENV)/.book ## Write the style sheet's colours from coursekit/style.py
	$(RUN) -m coursekit.style book/_static/colours.css

vendor: $(VENV)/.book ## Fetch the JavaScript that the site serves itself (needs npm)
	$(RUN) book/_ext/vendor.py

lock: $(VENV)/.test ## Write constraints.txt from what is installed
	$(RUN) book/_ext/lock.py

clean: ## Remove what was built, not the environment
	rm -rf _build
