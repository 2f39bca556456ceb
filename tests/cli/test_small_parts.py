"""Small parts of the command line, called by themselves: versions, fixes, formats, words, and states of files."""

from __future__ import annotations

import argparse
import io
import sys
from datetime import date
from pathlib import Path

import pytest

from clusterspec.cli import UsageFault, choices, files, fixes, git, options, parallel, watch
from clusterspec.cli.commands import reports
from clusterspec.cli.fixes import FileChange
from clusterspec.cli.starting_layouts import Attempt, aligned_spec
from clusterspec.cli.terminal import Bar
from clusterspec.finding import Edit
from clusterspec.records import replace
from clusterspec.source import Position, Source, Span
from tests.designs import TRAINED, study_of

VERSIONS = [
    ("1.2.3", "1.2.3", True),
    ("1.2.3", "1.2", False),
    ("1.2.0", "1.2", True),
    ("1.2.3", "!=1.2.3", False),
    ("1.2.3", ">=1.2.3, <1.2.4", True),
    ("1.2.3", ">1.2.3", False),
    ("1.2.3", "<=1.2.3", True),
    ("1.2.3", "<1.2.3", False),
    ("1.10", ">1.9", True),
    ("1.2.3", "~=1.2.1", True),  # from 1.2.1, below 1.3
    ("1.3.0", "~=1.2.1", False),
    ("1.2.0", "~=1.2.1", False),
    ("1.9", "~=1.2", True),  # from 1.2, below 2
    ("2.0", "~=1.2", False),
    ("1.2", "~=1", True),
    ("1.2.3rc1", ">=1.2.3", True),
]


@pytest.mark.parametrize(("version", "required", "met"), VERSIONS)
def test_a_version_meets_a_requirement_by_its_numbers(version: str, required: str, met: bool) -> None:
    assert choices.meets_requirement(version, required, "x") is met


def test_release_numbers_have_six_places_and_a_requirement_only_numbers() -> None:
    assert choices.release_numbers("1.2") == (1, 2, 0, 0, 0, 0)
    assert choices.release_numbers("1.2.3.4.5.6.7") == (1, 2, 3, 4, 5, 6)
    assert choices.release_numbers("dev") == (0,) * 6
    with pytest.raises(UsageFault, match="'newest' is not a version"):
        choices.meets_requirement("1.0", ">=0.1, newest", "x")


@pytest.mark.parametrize(
    ("today", "epoch", "found"),
    [
        ("2026-03-04", "86400", date(2026, 3, 4)),
        (None, "86400", date(1970, 1, 2)),
        (None, "86399", date(1970, 1, 1)),
        (None, "99999999999", date(5138, 11, 16)),  # eleven digits
    ],
)
def test_the_date_is_that_of_the_call_then_of_the_build(
    today: str | None, epoch: str, found: date, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    assert choices.current_date(argparse.Namespace(today=today)) == found


@pytest.mark.parametrize("epoch", ["", "-1", "1e9", "100000000000"])
def test_an_epoch_that_is_none_is_left_aside(epoch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    assert choices.current_date(argparse.Namespace(today=None)) >= date(2025, 1, 1)


def edit(start: tuple[int, int], end: tuple[int, int], text: str = "x") -> Edit:
    return Edit(Span("a.yaml", Position(*start), Position(*end)), text)


@pytest.mark.parametrize(
    ("start", "end", "overlaps"),
    [
        ((1, 1), (1, 5), False),  # ends where the next one starts
        ((1, 1), (1, 6), True),
        ((1, 5), (1, 5), True),  # an insertion at the start of another
        ((1, 6), (1, 7), True),
        ((1, 9), (2, 1), True),
        ((1, 10), (2, 1), False),
        ((3, 1), (3, 2), False),
        ((1, 1), (9, 1), True),
    ],
)
def test_an_edit_overlaps_a_span_that_it_enters(start: tuple[int, int], end: tuple[int, int], overlaps: bool) -> None:
    spans = [(Position(1, 5), Position(1, 10)), (Position(4, 1), Position(4, 9))]
    assert fixes.overlaps_spans(edit(start, end), spans) is overlaps
    assert not fixes.overlaps_spans(edit(start, end), [])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", "nothing"),
        (" \n ", "nothing"),
        ("a\n  b", "`a b`"),
        ("x" * 60, f"`{'x' * 60}`"),
        ("x" * 61, f"`{'x' * 59}…`"),
    ],
)
def test_a_text_is_quoted_on_one_line_of_sixty_characters(text: str, shown: str) -> None:
    assert fixes.quoted_text(text) == shown


def test_a_change_lists_old_and_new_texts() -> None:
    change = FileChange("a.yaml", "\ufeffnodes: 4\nfoo: bar\n", "", ((edit((1, 8), (1, 9), "8"), "rule"),))
    assert [*change.lines()] == ["a.yaml:1:8: fixed rule: `4` → `8`"]
    several = FileChange("a.yaml", "nodes: 4\nfoo: bar\n", "", ((edit((1, 8), (2, 4), ""), "rule"),))
    assert [*several.lines()] == ["a.yaml:1:8: fixed rule: `4` → nothing"]


def test_a_diff_has_three_lines_around_a_change_and_marks_a_missing_last_line_end() -> None:
    lines = [f"line{number}" for number in range(10)]
    before = "\n".join(lines)
    after = before.replace("line5", "five")
    change = FileChange("/a.yaml", before, after, ())
    diff = fixes.unified_diff({"a": change}).splitlines()
    assert diff[:3] == ["--- a/a.yaml", "+++ b/a.yaml", "@@ -3,7 +3,7 @@"]
    assert diff[3:] == [" line2", " line3", " line4", "-line5", "+five", " line6", " line7", " line8"]
    end = fixes.unified_diff({"a": FileChange("a", before, before + "\n", ())}).splitlines()
    assert end[-3:] == ["-line9", "\\ No newline at end of file", "+line9"]
    command = before.replace("line4", "::error::x")
    hidden = fixes.unified_diff({"a": FileChange("a", command, command.replace("line5", "five"), ())})
    assert "::error" not in hidden and "@@ -6 +6 @@" in hidden


@pytest.mark.parametrize(
    ("formats", "outputs", "pairs"),
    [
        ([], [], [("text", None)]),
        ([], ["a.json"], [("json", "a.json")]),
        ([], ["a.SARIF"], [("sarif", "a.SARIF")]),
        ([], ["a.xml", "b.md"], [("junit", "a.xml"), ("markdown", "b.md")]),
        (["json"], [], [("json", None)]),
        (["json", "text"], ["a"], [("json", "a"), ("text", None)]),
        (["json"], ["a.txt"], [("json", "a.txt")]),
        (["json", "text"], [], None),  # both to standard output
        (["json"], ["a", "b"], None),
        ([], ["a.json", "b.unknown"], None),
        (["json", "text", "junit"], ["a"], None),
    ],
)
def test_formats_and_outputs_are_pairs(
    formats: list[str], outputs: list[str], pairs: list[tuple[str, str | None]] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GITHUB_ACTIONS", "GITLAB_CI"):
        monkeypatch.delenv(name, raising=False)
    args = argparse.Namespace(format=formats, output=outputs)
    if pairs is None:
        with pytest.raises(UsageFault, match="give them in pairs"):
            choices.format_pairs(args)
    else:
        assert choices.format_pairs(args) == pairs


@pytest.mark.parametrize(
    ("service", "name", "pairs"),
    [
        ("GITHUB_ACTIONS", None, [("github", None)]),
        ("GITHUB_ACTIONS", "a", [("sarif", "a"), ("github", None)]),
        ("GITHUB_ACTIONS", "a.json", [("json", "a.json"), ("github", None)]),
        ("GITLAB_CI", "a", [("gitlab", "a"), ("text", None)]),
        ("GITLAB_CI", "a.json", [("gitlab", "a.json"), ("text", None)]),
        ("GITLAB_CI", "a.xml", [("junit", "a.xml"), ("text", None)]),
    ],
)
def test_a_service_has_its_own_formats(
    service: str, name: str | None, pairs: list[tuple[str, str | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in ("GITHUB_ACTIONS", "GITLAB_CI"):
        monkeypatch.delenv(each, raising=False)
    monkeypatch.setenv(service, "true")
    assert choices.automatic_pairs(name) == pairs


def test_words_of_a_call_are_options_or_values() -> None:
    parser = options.shared_options()
    for word, is_option in (("-", False), ("--x", True), ("-x", True), ("x", False), ("-5", False), ("-x y", False)):
        assert parser.is_option(word) is is_option, word
    for words, count in (
        (["--color", "never", "a"], 1),
        (["--color=never", "a"], 0),
        (["--debug", "a"], 0),
        (["--color", "--debug"], 0),
        (["--col", "never"], 1),
        (["--c", "never"], 0),  # ambiguous
    ):
        assert parser.values_at(words, 0) == count, words
    with pytest.raises(UsageFault, match="unknown option --colour; did you mean --color"):
        parser.values_at(["--colour", "never"], 0)


@pytest.mark.parametrize(
    ("word", "known", "text"),
    [
        ("est", ["estimate", "esteem", "esto", "estoc"], "; did you mean estimate or esteem or esto?"),
        ("chekc", ["check", "estimate"], "; did you mean check?"),
        ("zzz", ["check"], ""),
        ("--", ["--color"], ""),
    ],
)
def test_similar_words_are_suggested(word: str, known: list[str], text: str) -> None:
    assert options.suggestion_text(word, known) == text


def test_files_are_watched_by_time_and_size_below_folders(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / ".git").mkdir()
    for name in ("sub/a.yaml", ".git/index"):
        (tmp_path / name).write_text("12345")
    states = watch.file_states([str(tmp_path), str(tmp_path / "absent")])
    assert {*states} == {str(tmp_path), str(tmp_path / "sub/a.yaml"), str(tmp_path / "absent")}
    assert states[str(tmp_path / "absent")] is None
    held = states[str(tmp_path / "sub/a.yaml")]
    assert held is not None and held[1] == 5 and held[0] == (tmp_path / "sub/a.yaml").stat().st_mtime_ns


def test_one_point_or_one_job_needs_no_process() -> None:
    one, several = (argparse.Namespace(dask=None, jobs=jobs) for jobs in (1, 4))
    assert [*parallel.ordered_results(one, lambda point: point + 1, [1, 2])] == [
        2,
        3,
    ]  # a function that cannot be pickled
    assert [*parallel.ordered_results(several, lambda point: point + 1, [1])] == [2]
    assert [*parallel.ordered_results(several, lambda point: point + 1, [])] == []
    assert files.core_count() >= 1


@pytest.mark.parametrize(
    ("nodes", "tp", "pp", "ranks", "batch"),
    [
        (1, 1, 1, 8, 256),
        (4, 8, 1, 32, 256),
        (64, 8, 1, 512, 512),  # eight a node
        (3, 1, 1, 24, 264),  # a multiple of 24
        (1, 8, 4, 8, 256),  # less than one replica
        (33, 1, 1, 264, 264),
    ],
)
def test_a_starting_batch_divides_over_the_replicas(nodes: int, tp: int, pp: int, ranks: int, batch: int) -> None:
    assert Attempt(nodes, tp, pp, 1, "none", "bf16", ranks).global_batch == batch


def test_comments_stand_in_one_column() -> None:
    assert aligned_spec("a: 1  # b\nlonger: 2") == f"a: 1{' ' * 26}  # b\nlonger: 2"


@pytest.mark.parametrize(("jobs", "pools", "taken"), [(1, 1, True), (2, 1, False), (1, 2, False), (0, 1, False)])
def test_a_fleet_of_one_job_on_one_pool_is_compared_as_a_cluster(jobs: int, pools: int, taken: bool) -> None:
    machines = (f"  p{at}: {{platform: dgx-h100, nodes: 4}}" for at in range(pools))
    work = "workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 32}"
    planned = (f"  j{at}: {{pool: p0, nodes: 1, {work}}}" for at in range(jobs))
    study = study_of("\n".join(["pools:", *machines, "jobs:", *planned]))
    assert study.fleet is not None and (len(study.fleet.jobs), len(study.fleet.pools)) == (jobs, pools)
    if taken:
        assert reports.sole_job(study, "a.yaml") is study.fleet.jobs["j0"]
    else:
        with pytest.raises(UsageFault, match=r"a\.yaml is a fleet, and the other spec one cluster"):
            reports.sole_job(study, "a.yaml")
    alone = study_of(TRAINED)
    assert reports.sole_job(alone, "a.yaml") is alone


def test_files_of_a_revision_have_the_names_of_the_call() -> None:
    study = replace(study_of(TRAINED), source=Source("/tmp/x/a.yaml", ""))
    assert reports.caller_names(study, "HEAD~1:a.yaml", Path("/tmp/x")) == {
        "/tmp/x/a.yaml": "HEAD~1:a.yaml",
        "/tmp/x/": "HEAD~1:",
    }


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (None, []),
        (["a"], []),
        ({"extends": "base.yaml"}, ["base.yaml"]),
        ({"extends": 3, "measured": "log.txt"}, []),
        ({"measured": [{"log": "a.txt"}, "b.txt", {"step_log": "c.txt"}, {"log": "d\0.txt"}]}, ["a.txt"]),
        ({"extends": "base.yaml", "measured": [{"log": "a.txt"}]}, ["base.yaml", "a.txt"]),
    ],
)
def test_a_spec_names_its_base_and_its_logs(value: object, named: list[str]) -> None:
    document = study_of(TRAINED).document
    assert document is not None
    document = replace(document, value=value)
    assert git._referenced_files(document) == named
    assert git._referenced_files(None) == []


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("done", "total", "signs", "share"),
    [(0, 4, 0, "  0 %"), (1, 4, 7, " 25 %"), (2, 3, 20, " 66 %"), (1, 1, 30, "100 %"), (0, 0, 0, "  0 %")],
)
def test_a_bar_is_as_full_as_the_work_is_done(
    done: int, total: int, signs: int, share: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """30 places: 1 of 4 fills 7.5 of them, 2 of 3 fill 20, and no work is none done."""
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    bar = Bar("searching")
    bar(done, total)
    drawn = f"\rsearching [{'#' * signs}{'.' * (30 - signs)}] {share}"
    assert shown.getvalue() == drawn
    bar.close()
    erased = shown.getvalue().removeprefix(drawn)
    assert erased.split(" ") == ["\r", *[""] * (len(erased) - 3), "\r"] and len(erased) - 2 >= len(drawn) - 1


def test_a_bar_is_drawn_on_terminals_alone(capsys: pytest.CaptureFixture[str]) -> None:
    bar = Bar("searching")
    bar(1, 2)
    bar.close()
    assert capsys.readouterr() == ("", "")
