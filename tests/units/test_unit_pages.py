"""The examples in the docstrings of the units hold."""

from __future__ import annotations

import doctest
from importlib import import_module
from pkgutil import iter_modules

import pytest

import clusterspec.units

MODULES = [f"clusterspec.units.{module.name}" for module in iter_modules(clusterspec.units.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_page_hold(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0
