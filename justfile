# Recipes for those who have `just`; each is one command that works without it, in an environment with `pip install -e .[dev]`.

default: check

# Style and format
lint:
    ruff check .
    ruff format --check .

# Types, strictly
types:
    mypy

# The layers: imports point downwards
layers:
    lint-imports

# Every test; arguments go to pytest
test *arguments:
    pytest {{arguments}}

# gatecheck against what real releases answered, a line a figure
truth *arguments:
    python -m tests.truth {{arguments}}

# Cold and warm times against libcst over the same files
bench *arguments:
    python -m benchmarks.cold {{arguments}}

# All that CI checks, in the environment at hand
check: lint types layers test
