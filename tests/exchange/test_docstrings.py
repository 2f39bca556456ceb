"""The examples in docstrings of this package are what the code does."""

from __future__ import annotations

from tests.docstrings import examples_test

test_an_example_gives_what_it_says = examples_test("exchange")
