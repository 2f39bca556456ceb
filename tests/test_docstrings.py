"""The examples in docstrings are what the code does."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "clusterspec"
FILES = sorted(path for path in PACKAGE.rglob("*.py") if "\n    >>> " in path.read_text("utf-8"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_an_example_gives_what_it_says(path: Path) -> None:
    name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    done = doctest.testmod(import_module(name))
    assert done.attempted
    assert not done.failed


def test_every_formula_has_an_example() -> None:
    modules = [path for path in (PACKAGE / "cost" / "formulas").glob("*.py") if path.name != "__init__.py"]
    functions = [function for path in modules for function in path.read_text("utf-8").split("\ndef ")[1:]]
    assert len(functions) > 50
    assert [function.partition("(")[0] for function in functions if ">>> " not in function] == []
