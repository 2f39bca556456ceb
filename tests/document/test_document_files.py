"""Laws of file names, of findings of files that are checked together, and of what a finding keeps of a text."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from clusterspec.document import parse, plain, to_finding, validate
from clusterspec.document.files import (
    FileFindings,
    FileName,
    attributed_findings,
    file_name,
    file_names,
    real_path,
    spec_paths,
)
from clusterspec.finding import Confidence, Finding, Problem, Severity
from clusterspec.source import Position, Source, Span
from tests.effort import each


def finding(file: str, line: int, rule: str = "shared-nic", message: str = "m") -> Finding:
    at = Position(line, 1)
    return Finding(rule, Severity.WARNING, Confidence.CERTAIN, message, "", Span(file, at, at), ())


def derived(name: str, *findings: Finding, bases: tuple[str, ...] = ("base.yaml",)) -> FileFindings:
    """The findings of a spec whose second line extends a base."""
    at = Position(2, 10)
    return FileFindings(name, findings, Span(name, at, at), frozenset(map(real_path, bases)))


BASE = finding("base.yaml", 1)
OTHER = finding("base.yaml", 1, message="n")
ALONE = FileFindings("base.yaml", [BASE])
GROUPS = [  # files with their findings, and what is reported: file, line, line in the base, heirs
    ([FileFindings("a", [finding("a", 1), finding("a", 1)])], [("a", 1, 0, ()), ("a", 1, 0, ())]),
    ([derived("a", BASE)], [("a", 2, 1, ())]),
    ([derived("a", BASE), derived("b", BASE)], [("a", 2, 1, ()), ("b", 2, 1, ())]),
    ([derived("a", BASE), ALONE], [("base.yaml", 1, 0, ("a",))]),
    ([ALONE, derived("a", BASE), derived("b", BASE)], [("base.yaml", 1, 0, ("a", "b"))]),
    ([FileFindings("./base.yaml", [finding("./base.yaml", 1)]), derived("a", BASE)], [("./base.yaml", 1, 0, ("a",))]),
    ([ALONE, derived("a", OTHER)], [("base.yaml", 1, 0, ()), ("a", 2, 1, ())]),  # another message at the same place
    ([ALONE, derived("a", finding("base.yaml", 1, "few-spines"))], [("base.yaml", 1, 0, ()), ("a", 2, 1, ())]),
    ([ALONE, derived("a", finding("base.yaml", 2))], [("base.yaml", 1, 0, ()), ("a", 2, 2, ())]),
    ([derived("a", BASE, finding("a", 1))], [("a", 1, 0, ()), ("a", 2, 1, ())]),
    # a chain: the middle file combines the fault, the top inherits it
    (
        [derived("top", OTHER, bases=("middle", "base.yaml")), derived("middle", OTHER), FileFindings("base.yaml", [])],
        [("middle", 2, 1, ("top",))],
    ),
    (
        [derived("top", BASE, bases=("middle", "base.yaml")), derived("middle", BASE), ALONE],
        [("base.yaml", 1, 0, ("top", "middle"))],
    ),
    # the same fault in a file that is no base
    ([derived("a", BASE), derived("b", BASE, bases=("base.yaml",))], [("a", 2, 1, ()), ("b", 2, 1, ())]),
]


@each(("files", "reported"), GROUPS)
def test_a_fault_is_reported_where_it_arises(
    files: list[FileFindings], reported: list[tuple[str, int, int, tuple[str, ...]]]
) -> None:
    found = attributed_findings(files)
    placed = [(one.span.file, one.span.start.line, one.base.start.line if one.base else 0, one.heirs) for one in found]
    assert placed == reported
    for one in found:
        notes = [note for _, note in one.related]
        assert notes == (["in the base"] if one.base else []) + ["inherits this"] * len(one.heirs)
        assert (one.base is not None) == one.message.startswith("base.yaml:")


def test_many_heirs_are_counted() -> None:
    found = attributed_findings([ALONE, *(derived(f"{number}", BASE) for number in range(30))])
    assert len(found) == 1 and len(found[0].heirs) == 30
    assert [note for _, note in found[0].related][-1] == "inherits this, as 25 more do"


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
        assert (plain.plain_events(f"a: {opened}{end * (levels - 1)}\n") is not None) is read


@each(
    ("target", "read"),
    [("notes.md", True), ("inner/notes.md", True), ("../outside/notes.md", False), ("absent.md", False)],
)
def test_a_link_to_a_running_text_is_followed_within_the_project(target: str, read: bool) -> None:
    with TemporaryDirectory() as name:
        project, outside = Path(name) / "project", Path(name) / "outside"
        for folder in (project / ".git", project / "inner", outside):
            folder.mkdir(parents=True)
        for folder in (project, project / "inner", outside):
            (folder / "notes.md").write_text("# Notes\n")
        (project / "link.md").symlink_to(target)
        found = spec_paths(str(project), included=lambda each: each.endswith(".md"))
        named = {Path(each).relative_to(project).as_posix() for each in found}
        assert named == {"notes.md", "inner/notes.md"} | ({"link.md"} if read else set())
