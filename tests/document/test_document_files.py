"""Laws of file names, of findings of files that are checked together, and of what a finding keeps of a text."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterspec.document import parse, plain, to_finding, validate
from clusterspec.document.file_names import FileName, file_name, file_names, without_repeats
from clusterspec.finding import Confidence, Finding, Problem, Severity
from clusterspec.source import Position, Source, Span


def finding(file: str, line: int, rule: str = "shared-nic", message: str = "m") -> Finding:
    at = Position(line, 1)
    return Finding(rule, Severity.WARNING, Confidence.CERTAIN, message, "", Span(file, at, at), ())


BASE = finding("base.yaml", 1)
GROUPS = [  # files with their findings, and what is reported, as file of the group and finding
    ([("a", [finding("a", 1), finding("a", 1)])], [finding("a", 1), finding("a", 1)]),  # its own are all kept
    ([("a", [BASE])], [BASE]),
    ([("a", [BASE]), ("b", [BASE])], [BASE]),
    ([("a", [BASE]), ("b", [finding("base.yaml", 2)])], [BASE, finding("base.yaml", 2)]),
    ([("a", [BASE]), ("b", [finding("base.yaml", 1, "few-spines")])], [BASE, finding("base.yaml", 1, "few-spines")]),
    (
        [("a", [BASE]), ("b", [finding("base.yaml", 1, message="n")])],
        [BASE, finding("base.yaml", 1, message="n")],  # another message at the same place
    ),
    ([("a", [BASE]), ("base.yaml", [BASE])], [BASE]),  # with the base itself
    ([("base.yaml", [BASE]), ("a", [BASE])], [BASE]),
    ([("a", [finding("base.yaml", 1, message="n")]), ("base.yaml", [BASE])], [BASE]),
    ([("a", [finding("base.yaml", 2)]), ("base.yaml", [BASE])], [finding("base.yaml", 2), BASE]),
    ([("a", [BASE]), ("./base.yaml", [finding("./base.yaml", 1)])], [finding("./base.yaml", 1)]),  # the same file
    ([("a", [BASE]), ("b", [finding("other.yaml", 1)])], [BASE, finding("other.yaml", 1)]),
]


@pytest.mark.parametrize(("groups", "reported"), GROUPS)
def test_a_finding_in_a_base_is_reported_once(groups: list[tuple[str, list[Finding]]], reported: list[Finding]) -> None:
    assert list(without_repeats(groups)) == reported


def test_a_file_is_named_from_its_project_and_from_its_repository(tmp_path: Path) -> None:
    """The project has a settings file of its own, below the root of the repository."""
    (tmp_path / ".git").mkdir()
    project = tmp_path / "team" / "specs"
    (project / "east").mkdir(parents=True)
    (project / "clusterspec.toml").touch()
    inner, outer = project / "east" / "a.yaml", tmp_path / "team" / "b.yaml"
    assert file_name(str(inner)) == FileName("east/a.yaml", "team/specs/east/a.yaml")
    assert file_name(str(outer)) == FileName("team/b.yaml", "team/b.yaml")
    assert file_name(str(project / "east" / ".." / "c.yaml")) == FileName("c.yaml", "team/specs/c.yaml")
    assert file_names([str(inner), str(outer)]) == {str(name): file_name(str(name)) for name in (inner, outer)}


def test_a_project_without_a_repository_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "clusterspec.toml").touch()
    (tmp_path / "a").mkdir()
    assert file_name(str(tmp_path / "a" / "b.yaml")) == FileName("a/b.yaml", "a/b.yaml")


def test_a_name_that_no_file_can_have_stays_as_it_is() -> None:
    assert file_name("a\0b/c.yaml") == FileName("a\0b/c.yaml", "a\0b/c.yaml")


@pytest.mark.parametrize(
    ("start", "end", "written"),
    [
        ((1, 4), (1, 6), "12"),
        ((1, 4), (1, 7), "123"),
        ((1, 4), (1, 5), "a: 123"),  # one character says too little: the line
        ((2, 3), (2, 3), "b: 4"),
        ((1, 4), (2, 6), "a: 123"),  # several lines: the first
    ],
)
def test_a_finding_in_text_keeps_what_it_marks_or_its_line(
    start: tuple[int, int], end: tuple[int, int], written: str
) -> None:
    source = Source("t.yaml", "a: 123\n  b: 4  \n")
    problem = Problem("unreadable-yaml", (), "", span=Span("t.yaml", Position(*start), Position(*end)))
    assert to_finding(problem, None, source).written == written
    elsewhere = Problem("unreadable-yaml", (), "", span=Span("u.yaml", Position(1, 1), Position(1, 3)))
    assert to_finding(elsewhere, None, source).written == ""


@pytest.mark.parametrize(("items", "messages"), [(4, 4), (5, 5), (6, 5), (7, 5)])
def test_a_list_gets_five_findings_and_the_fifth_counts_the_others(items: int, messages: int) -> None:
    document, _ = parse(Source("t.yaml", f"a: [{', '.join('x' * items)}]"))
    assert document is not None
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}}
    found = validate(document, schema)
    assert [one.path for one in found] == [("a", item) for item in range(messages)]
    more = f"; {items - 5} further items have errors"
    assert [one.message.endswith(more) for one in found] == [item == 4 and items > 5 for item in range(messages)]


@pytest.mark.parametrize(("levels", "read"), [(1, True), (40, True), (41, True), (42, False), (500, False)])
def test_flow_collections_are_read_as_plain_to_a_depth_beyond_every_document(levels: int, read: bool) -> None:
    for start, end in ("[]", ("{a: ", "}")):
        opened = start * (levels - 1) + ("[" if start == "[" else "{") + ("]" if start == "[" else "}")
        assert (plain.events(f"a: {opened}{end * (levels - 1)}\n") is not None) is read
