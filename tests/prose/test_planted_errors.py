"""Planted errors are found and named; the near miss of each stays silent."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from clusterspec.catalog import Catalog
from clusterspec.finding import Problem
from clusterspec.prose import text_problems
from clusterspec.prose.tokenize import SEVERITIES
from clusterspec.source import Position, Source
from tests.effort import each, sampled, thorough

CATALOG = Catalog.open()
PAIRS = tomllib.loads(Path(__file__).with_name("planted_errors.toml").read_text("utf-8"))["pair"]


def problems(text: str) -> list[Problem]:
    return list(text_problems(Source("notes.md", text), CATALOG))


def rules(text: str) -> list[str]:
    return [problem.rule for problem in problems(text)]


@each("pair", PAIRS)
def test_an_error_is_found_and_named_and_its_near_miss_is_silent(pair: dict[str, str]) -> None:
    assert pair["rule"] in rules(pair["wrong"])
    assert rules(pair["right"]) == []


CORRECTION = re.compile(r"write `([^`]+)`($|, or (name what|correct the))")
FIGURE = r"(?<![\w.])([\d.,]+) ?([kMGTP]?)(b/s|B/s|B|W|FLOP/s|FLOPS)\b"
RATIO = re.compile(rf"{FIGURE}[^=\d]*?(?: is|,) (?:1/([\d.]+) of|([\d.]+) times) the {FIGURE}")


def si(number: str, prefix: str, unit: str) -> float:
    """A figure in bytes, watts or operations, worked out without the reader of units."""
    value = float(number.replace(",", "")) * 1000.0 ** " kMGTP".index(prefix or " ")
    return value / 8 if unit.startswith("b") else value


def start(problem: Problem) -> Position:
    assert problem.span is not None
    return problem.span.start


def corrected(text: str, problem: Problem, right: str) -> str:
    """A text with the figure of a problem corrected; of an equation the right side."""
    assert problem.span is not None
    lines, at = text.split("\n"), problem.span
    line = lines[at.start.line - 1]
    wrong = line[at.start.column - 1 : at.end.column - 1]
    left = re.match(r".*(?:=|→|equals) ", wrong) if "correct the" in problem.help else None
    lines[at.start.line - 1] = (
        line[: at.start.column - 1] + (left[0] if left else "") + right + line[at.end.column - 1 :]
    )
    return "\n".join(lines)


@each("text", sampled([pair["wrong"] for pair in PAIRS], len(PAIRS)))
def test_a_text_with_the_figure_that_is_advised_is_right(text: str) -> None:
    """One figure is corrected at a time, so that the others of the text may be reported still."""
    for problem in problems(text):
        if advised := CORRECTION.match(problem.help):
            after = [
                (each.rule, each.span and each.span.start) for each in problems(corrected(text, problem, advised[1]))
            ]
            assert problem.span and (problem.rule, problem.span.start) not in after, problem.help


@thorough
def test_the_ratio_of_a_message_is_that_of_its_figures() -> None:
    said = [RATIO.search(problem.message) for pair in PAIRS for problem in problems(pair["wrong"])]
    for match in filter(None, said):
        ratio = si(*match.group(1, 2, 3)) / si(*match.group(6, 7, 8))
        assert ratio == pytest.approx(float(match[5]) if match[5] else 1 / float(match[4]), rel=0.01), match[0]
    assert len([*filter(None, said)]) > 80


def test_every_rule_that_text_can_break_has_a_pair() -> None:
    assert {pair["rule"] for pair in PAIRS} == set(SEVERITIES)
