"""The examples in docstrings are what the code does; those of a package are tried in the folder of its tests."""

from __future__ import annotations

from tests.docstrings import examples_test
from tests.source_code import PACKAGE, texts

test_an_example_gives_what_it_says = examples_test("")


def test_the_folder_of_every_package_with_examples_tries_them() -> None:
    packages = {
        path.relative_to(PACKAGE).parts[0]
        for path, text in texts().items()
        if path.parent != PACKAGE and "\n    >>> " in text
    }
    tried = {path.parent.name for path in PACKAGE.parent.glob("tests/*/test_docstrings.py")}
    assert packages == tried


def test_every_formula_has_an_example() -> None:
    modules = [path for path in (PACKAGE / "cost" / "formulas").glob("*.py") if path.name != "__init__.py"]
    functions = [function for path in modules for function in path.read_text("utf-8").split("\ndef ")[1:]]
    assert len(functions) > 50
    assert [function.partition("(")[0] for function in functions if ">>> " not in function] == []
