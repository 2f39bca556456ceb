"""The pages of the rules of text are true, and the project's own documentation is silent."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterspec.catalog import Catalog
from clusterspec.prose import text_problems
from clusterspec.prose.tokenize import SEVERITIES
from clusterspec.rules.index import RULES
from clusterspec.rules.pages import Example, page
from clusterspec.source import Source
from tests.effort import ALL_CASES, each, sampled, steps, thorough

CATALOG = Catalog.open()
ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "docs" / "gallery.md"
"""A table whose rows put figures of a plan next to the name of a part: what they need of it, not what it has."""
DOCUMENTATION = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")} - {GALLERY})
GENERATED = [path for path in DOCUMENTATION if path.parent.name in {"rules", "catalog"}]
OF_TEXT = [name for name, (group, _) in RULES.items() if group == "text"]


MOST_LINES = 10**9 if ALL_CASES else 250
"""Lines of a page that are checked: the long ones are generated, and their rows are alike."""


@each("path", [*sampled(GENERATED, 20), *(path for path in DOCUMENTATION if path not in GENERATED)])
def test_the_documentation_of_the_project_is_silent(path: Path) -> None:
    text = "".join(path.read_text("utf-8").splitlines(keepends=True)[:MOST_LINES])
    problems = text_problems(Source(path.name, text), CATALOG)
    assert [(str(problem.span), problem.message) for problem in problems] == []


@thorough
def test_work_grows_linearly_with_the_text() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    text_problems(Source("README.md", text), CATALOG)  # reads the entries that it names
    once, twice = (steps(lambda n=n: text_problems(Source("README.md", text * n), CATALOG)) for n in (1, 2))  # type: ignore[misc]
    assert twice < 2.2 * once


@each("name", SEVERITIES)
def test_a_rule_has_the_severity_of_its_page(name: str) -> None:
    assert page(name).rule.severity is SEVERITIES[name]


def told(example: Example) -> list[tuple[str, int]]:
    spans = [(problem.rule, problem.span) for problem in text_problems(Source("example.md", example.text), CATALOG)]
    return [(rule, span.start.line) for rule, span in spans if span is not None]


@pytest.mark.parametrize("name", OF_TEXT)
def test_a_rule_of_text_fires_where_its_page_says(name: str) -> None:
    examples = [example for example in page(name).fires if example.prose]  # tests/rules runs examples of specs
    assert examples
    assert [told(example) for example in examples] == [[(name, int(example.path))] for example in examples]


@pytest.mark.parametrize("name", OF_TEXT)
def test_a_rule_of_text_is_silent_on_its_near_miss(name: str) -> None:
    examples = [example for example in page(name).silent if example.prose]
    assert examples and [told(example) for example in examples] == [[]] * len(examples)
