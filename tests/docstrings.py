"""The examples in the docstrings of a package, which the tests of its own folder try."""

from __future__ import annotations

import doctest
import linecache
from collections.abc import Callable
from importlib import import_module

import pytest

from tests.source_code import PACKAGE, texts


def examples_test(package: str) -> Callable[[str], None]:
    """A test that tries the examples of each module of a package; ``""`` stands for the modules outside the
    packages.
    """
    folder = PACKAGE / package
    names = [
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        for path, text in texts().items()
        if (path.is_relative_to(folder) if package else path.parent == folder) and "\n    >>> " in text
    ]
    assert names, f"no docstring of {folder} has an example"

    @pytest.mark.parametrize("name", names)
    def test(name: str) -> None:
        linecache.clearcache()  # whose every file doctest looks at on the disk, for each docstring
        done = doctest.testmod(import_module(name))
        assert done.attempted
        assert not done.failed

    return test
