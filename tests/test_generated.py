"""What can be generated is generated, and current."""

from __future__ import annotations

import pytest

from tools.generate import ROOT, pages


@pytest.mark.parametrize("name", pages())
def test_generated_pages_are_current(name: str) -> None:
    assert (ROOT / name).read_text("utf-8") == pages()[name](), f"{name} is stale: run `make docs`"
