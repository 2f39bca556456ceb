"""Generations and lanes next to the name of an interconnect, as people write them."""

from __future__ import annotations

import pytest

from clusterspec.prose.blocks import ProseLine
from clusterspec.prose.lexicon import generation_after, generation_before, link_width
from clusterspec.prose.tokenize import Token, tokens


def words(text: str) -> list[Token]:
    return tokens([ProseLine(1, text)])


@pytest.mark.parametrize(
    ("before", "generation", "taken"),
    [
        ("Gen5", "5", 1),
        ("a Gen5", "5", 1),
        ("fourth-generation", "4", 3),
        ("fourth generation", "4", 2),
        ("the fifth gen", "5", 2),
        ("5th gen", "5", 3),
        ("5th-gen", "5", 4),
        ("3 - gen", "3", 3),
        ("10 gen", None, 0),
        ("generation", None, 0),
        ("next generation", None, 0),
        ("fast", None, 0),
        ("", None, 0),
    ],
)
def test_a_generation_before_a_family_is_read_with_its_words(before: str, generation: str | None, taken: int) -> None:
    row = words(f"{before} PCIe")
    found, start = generation_before(row, len(row) - 1)
    assert found == generation
    if found is None:
        assert start == len(row) - 1
    else:
        assert [each.text for each in row[start:-1]] == [each.text for each in row[len(row) - 1 - taken : -1]]


@pytest.mark.parametrize(
    ("after", "generation", "rest"),
    [
        ("4", "4", ""),
        ("4.0", "4", ""),
        ("Gen5 x16", "5", "x16"),
        ("gen 5", "5", ""),
        ("-4", "4", ""),
        ("v3 bridge", "3", "bridge"),
        ("(gen 4)", "4", ")"),
        ("18 links", None, "18 links"),
        ("16x", None, "16x"),
        ("switches", None, "switches"),
    ],
)
def test_a_generation_after_a_family_is_no_count(after: str, generation: str | None, rest: str) -> None:
    row = words(f"NVLink {after}")
    found, end = generation_after(row, 1)
    assert found == generation
    assert "".join(each.text for each in row[end:]) == rest.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "lanes", "taken"), [("x16", 16, 1), ("x 8", 8, 2), ("× 4", 4, 2), ("x3", 0, 0), ("16", 0, 0), ("x", 0, 0)]
)
def test_lanes_of_a_link_are_powers_of_two_up_to_32(text: str, lanes: int, taken: int) -> None:
    assert link_width(words(f"PCIe {text}"), 1) == (lanes, 1 + taken)
