"""Classes of statements that a design keeps or breaks, in several languages.

In ``text_classes.txt`` a line `@ rule` is followed by the keys of a design. Below them `-` begins a text that the
design breaks, and `+` one that it keeps.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.test_other_subjects import is_found, rows

ROWS = [*rows(Path(__file__).with_name("text_classes.txt"))]


@pytest.mark.parametrize("rule", dict.fromkeys(rule for rule, _, _ in ROWS))
def test_a_text_that_the_design_breaks_is_told_from_one_that_it_keeps(rule: str) -> None:
    own = [(keys, line) for each, keys, line in ROWS if each == rule]
    assert [line for keys, line in own if is_found(rule, keys, line[2:]) != (line[0] == "-")] == []
