.PHONY: setup run check test bars format bill
PYTHON ?= python3
VENV := .venv/bin

setup: .venv/ready
	@$(VENV)/python manage.py migrate --verbosity 0

run: setup
	@$(VENV)/python manage.py up --demo

check: .venv/ready-dev
	@$(VENV)/python -m tests --changed

test: .venv/ready-dev
	@$(VENV)/python -m tests

bars: .venv/ready-dev
	@VERTEX_FULL=1 $(VENV)/python -m tests
	@VERTEX_FULL=1 $(VENV)/python -m benchmarks.run --data "$(DATA)"

bill: .venv/ready
	@mkdir -p var
	@$(VENV)/python manage.py bill_of_materials --output var/bill-of-materials.json
	@$(VENV)/python manage.py bill_of_materials --check

format: .venv/ready-dev
	@$(VENV)/ruff format .
	@$(VENV)/ruff check --fix .

.venv/bin/pip:
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { echo "Python cannot make a virtual environment: apt-get install python3-venv"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or later is needed; set PYTHON=…"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/ready: .venv/bin/pip requirements.txt
	$(VENV)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	@touch $@

.venv/ready-dev: .venv/ready requirements-dev.txt
	$(VENV)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@
