"""Every format says the same findings, each in its own way; what people see is golden."""

from __future__ import annotations

import json
import re
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from clusterspec import analysis, studies
from clusterspec.document import apply_edits
from clusterspec.document.files import FileName
from clusterspec.finding import Confidence, Edit, Finding, Severity
from clusterspec.records import replace
from clusterspec.report import (
    PLAIN,
    TextStyle,
    findings_machines,
    findings_sarif,
    findings_text,
    location_text,
    plain_line,
    text_width,
)
from clusterspec.report import findings_machines as baseline
from clusterspec.report.findings_machines import fingerprint
from clusterspec.report.json_text import json_text
from clusterspec.results import CheckReport, Input, Tool
from clusterspec.source import Position, Span
from tests.effort import each
from tests.golden import assert_golden
from tests.settings import SETTINGS

GOLDEN = Path(__file__).with_name("golden")
FLAWED = """\
clusterspec: 1
name: flawed «ß日本»
cluster:
  platform: dgx-h100
  nodes: 16
  scale_up: {bandwidth: 900 GB/s unidirectional}
  scale_out:
    technology: infiniband-ndr
    nics_per_node: 8
    nic_bandwidth: 400 GB/s   # meant Gb/s
layout:
  tp: 2
  tp_size: 3
"""


@pytest.fixture(scope="module")
def report() -> CheckReport:
    one = studies.study_text(FLAWED, SETTINGS, "flawed.yaml")
    return analysis.check([one], SETTINGS)


def test_the_text_people_see(report: CheckReport) -> None:
    assert_golden(GOLDEN / "flawed.txt", findings_text.findings_as_text(report))


def test_one_line_a_finding(report: CheckReport) -> None:
    said = findings_text.findings_as_lines(report)
    assert len(said.splitlines()) == len(report.findings)
    assert_golden(GOLDEN / "flawed-concise.txt", said)


def test_annotations_for_github(report: CheckReport) -> None:
    said = findings_text.findings_as_github(report)
    assert_golden(GOLDEN / "flawed-github.txt", said)
    assert all(
        re.match(r"::(error|warning|notice) title=.*,file=flawed\.yaml,line=\d+", row) for row in said.splitlines()
    )


def test_a_table_for_a_pull_request(report: CheckReport) -> None:
    assert_golden(GOLDEN / "flawed.md", findings_machines.findings_as_markdown(report))


def test_color_adds_only_escape_sequences(report: CheckReport) -> None:
    painted = findings_text.findings_as_text(report, TextStyle(True))
    assert painted != findings_text.findings_as_text(report)
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == findings_text.findings_as_text(report)


def test_marks_stand_under_what_they_mean(report: CheckReport) -> None:
    lines = FLAWED.splitlines()
    for finding in report.findings:
        marked = lines[finding.span.start.line - 1][finding.span.start.column - 1 : finding.span.end.column - 1]
        assert marked.strip()
    assert any("400 GB/s" in lines[f.span.start.line - 1] and f.span.start.column == 20 for f in report.findings)


def test_every_machine_format_holds_every_finding(report: CheckReport) -> None:
    number = len(report.findings)
    assert number >= 3
    assert len(report.to_json()["findings"]) == number
    assert len(findings_sarif.findings_as_sarif(report)["runs"][0]["results"]) == number
    assert len(findings_machines.findings_as_gitlab(report)) == number
    suite = ElementTree.fromstring(findings_machines.findings_as_junit(report))[0]
    assert len(suite.findall("testcase")) == number == int(suite.attrib["tests"])


def test_json_holds_the_fields_of_the_contract(report: CheckReport) -> None:
    document = json.loads(json_text(report.to_json()))
    assert list(document)[:3] == ["version", "tool", "input"]
    assert set(document["summary"]) == {"error", "warning", "note"}
    fields = {"rule", "severity", "confidence", "message", "help", "file", "line", "column", "end_line", "end_column"}
    assert all(fields | {"path", "related"} <= set(finding) for finding in document["findings"])


def test_fixes_give_the_described_text(report: CheckReport) -> None:
    edits = [edit for finding in report.findings for edit in finding.edits]
    assert edits
    mended = apply_edits(FLAWED, edits)
    assert "# meant Gb/s" in mended, "comments and layout stay"
    again = studies.study_text(mended, SETTINGS, "flawed.yaml").findings
    assert not {finding.rule for finding in again} & {f.rule for f in report.findings if f.edits}


def test_a_baseline_holds_what_was_seen_and_lets_through_what_is_new(report: CheckReport) -> None:
    known = baseline.parsed_baseline(baseline.baseline_as_text(report))
    assert baseline.report_beyond_baseline(report, known).findings == ()
    first = report.findings[0]
    known.known.subtract([one for one in known.known if one.fingerprint == fingerprint(report, first)])
    assert baseline.report_beyond_baseline(report, known).findings == (first,)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"findings": 3}', '{"findings": [1]}', "[" * 5000])
def test_what_is_no_baseline_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"baseline|Expecting|JSON"):
        baseline.parsed_baseline(text)


def test_hostile_text_cannot_command_a_terminal_or_a_workflow() -> None:
    sly = r"x\n::error::y\e[31m\ufffe\b"
    text = f'clusterspec: 1\nname: "\\e[2J"\ncluster: {{platform: "{sly}", "{sly}": 1, nodes: no}}\n'
    hostile = analysis.check([studies.study_text(text, SETTINGS, "a\n::b\x1b.yaml")], SETTINGS)
    assert len(hostile.findings) > 2
    for said in (
        findings_text.findings_as_text(hostile),
        findings_text.findings_as_lines(hostile),
        findings_text.findings_as_github(hostile),
        findings_machines.findings_as_markdown(hostile),
        findings_machines.findings_as_junit(hostile).replace("\ufffd", ""),
    ):
        assert all(character.isprintable() or character == "\n" for character in said)
    commands = findings_text.findings_as_github(hostile).splitlines()
    assert all(row.startswith(("::error ", "::warning ", "::notice ")) for row in commands)
    assert len(commands) == len(hostile.findings)
    ElementTree.fromstring(findings_machines.findings_as_junit(hostile))


def test_sarif_names_files_as_references() -> None:
    one = studies.study_text("clusterspec: 2\n", SETTINGS, "my clusters/pod #1 \udcff.yaml")
    sarif = findings_sarif.findings_as_sarif(analysis.check([one], SETTINGS))
    place = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "my%20clusters/pod%20%231%20%FF.yaml", "uriBaseId": "ROOTPATH"}


def found(rule: str, severity: Severity, line: int, **more: Any) -> Finding:
    span = Span(more.pop("file", "a.yaml"), Position(line, 3), Position(line + 1, 9))
    return Finding(rule, severity, Confidence.LIKELY, f"{rule} found", f"mend {rule}", span, ("cluster", rule), **more)


ALL = (found("few", Severity.ERROR, 2), found("many", Severity.WARNING, 4), found("odd", Severity.NOTE, 6))
CHECKED = CheckReport(Tool("1", "1"), tuple(Input(name, b"") for name in ("a.yaml", "b.yaml", "c.yaml")), ALL)


@pytest.mark.parametrize(
    ("fail_on", "failing"), [(Severity.ERROR, 1), (Severity.WARNING, 2), (Severity.NOTE, 3)], ids=str
)
def test_findings_from_a_severity_up_fail_and_the_others_are_output(fail_on: Severity, failing: int) -> None:
    heir = replace(ALL[1], heirs=("b.yaml",), span=Span("base.yaml", Position(1, 1), Position(1, 2)))
    report = replace(CHECKED, findings=(ALL[0], heir, ALL[2]), failed=("c.yaml",))
    (suite,) = ElementTree.fromstring(findings_machines.findings_as_junit(report, fail_on, date(2026, 11, 22)))
    cases = suite.findall("testcase")
    failed = [case.get("classname") for case in cases if case.find("failure") is not None]
    inherited = ["b.yaml"] if failing > 1 else []
    assert failed == ["a.yaml", "base.yaml", "a.yaml"][:failing] + inherited
    assert [case.get("classname") for case in cases if case.find("error") is not None] == ["c.yaml"]
    assert [suite.get(name) for name in ("tests", "failures", "errors", "timestamp")] == [
        *("5", str(failing + len(inherited)), "1", "2026-11-22T00:00:00")
    ]
    assert [case.get("name") for case in cases] == ["few 2:3", "many 1:1", "odd 6:3", "check", "check"]
    passing = [f"{one.severity}[{one.rule}] {one.message}" for one in report.findings[failing:]]
    told = (suite.findtext("system-out") or "").splitlines()
    assert [line.partition(": ")[2] for line in told] == passing
    assert [case.find("failure") is None for case in cases if case.get("classname") == "b.yaml"] == [failing == 1]


def test_a_merge_request_has_each_finding_once_at_its_lines_in_the_repository() -> None:
    report = replace(CHECKED, findings=(*ALL, ALL[0]), names={"a.yaml": FileName("a.yaml", "sub/a.yaml")})
    rows = findings_machines.findings_as_gitlab(report)
    assert [row["severity"] for row in rows] == ["major", "minor", "info", "major"]
    places = [(row["location"]["path"], *row["location"]["lines"].values()) for row in rows]
    assert places == [("sub/a.yaml", 2, 3), ("sub/a.yaml", 4, 5), ("sub/a.yaml", 6, 7), ("sub/a.yaml", 2, 3)]
    assert len({row["fingerprint"] for row in rows}) == 4, "the same finding again has a mark of its own"
    assert rows[:3] == findings_machines.findings_as_gitlab(replace(report, findings=ALL))
    moved = replace(ALL[0], span=Span("a.yaml", Position(9, 1), Position(9, 2)), message="other words")
    assert fingerprint(report, moved) == fingerprint(report, ALL[0]) != fingerprint(report, replace(moved, written="8"))


@pytest.mark.parametrize(
    ("version", "known"), [(1, True), (2, True), (0, False), (3, False), (-1, False), (True, False), ("2", False)]
)
def test_a_baseline_of_another_version_is_refused(version: object, known: bool) -> None:
    text = json.dumps({"version": version, "findings": []})
    if known:
        assert baseline.parsed_baseline(text).version == version
    else:
        with pytest.raises(ValueError, match="is not one of the versions 1 to 2"):
            baseline.parsed_baseline(text)
    assert baseline.parsed_baseline('{"findings": []}').version == 1, "the first version had no number"


@pytest.mark.parametrize(("seen", "now"), [(0, 1), (1, 1), (1, 2), (2, 2), (3, 2), (2, 0)])
def test_a_baseline_hides_a_finding_as_often_as_it_was_seen(seen: int, now: int) -> None:
    names = {"a.yaml": FileName("a.yaml", "a.yaml")}
    before = replace(CHECKED, findings=ALL[:1] * seen, names=names)
    after = replace(CHECKED, findings=ALL[:1] * now + ALL[1:], names=names)
    shown = baseline.report_beyond_baseline(after, baseline.parsed_baseline(baseline.baseline_as_text(before)))
    assert shown.findings == ALL[:1] * max(0, now - seen) + ALL[1:]
    assert shown.hidden == min(seen, now)
    assert shown.stale == ((("few", "a.yaml"),) if seen > now else ())
    elsewhere = replace(after, names={}, inputs=(Input("b.yaml", b""),))
    assert (
        baseline.report_beyond_baseline(elsewhere, baseline.parsed_baseline(baseline.baseline_as_text(before))).stale
        == ()
    )


def test_a_finding_of_a_base_is_known_where_the_base_had_it() -> None:
    """Version 1 kept it as one of the base, version 2 only where the base has it alone."""
    own = found("few", Severity.ERROR, 1, file="base.yaml")
    names = {name: FileName(name, name) for name in ("a.yaml", "base.yaml")}
    before = replace(CHECKED, findings=(own,), names=names)
    after = replace(CHECKED, findings=(replace(ALL[0], base=own.span),), names=names)
    known = baseline.parsed_baseline(baseline.baseline_as_text(before))
    assert len(baseline.report_beyond_baseline(after, known).findings) == 1
    for alone in (baseline.report_beyond_baseline(after, known, lambda _: True),
                  baseline.report_beyond_baseline(after, replace(known, version=1))):  # fmt: skip
        assert (alone.findings, alone.hidden, alone.stale) == ((), 1, ())


def test_what_no_baseline_can_hide_is_not_in_it_and_stays() -> None:
    fatal = found("unreadable-yaml", Severity.ERROR, 1)
    report = replace(CHECKED, findings=(fatal, ALL[0]))
    entries = baseline.baseline_entries(report)
    assert [entry.rule for entry in entries] == ["few"]
    assert baseline.report_beyond_baseline(
        report, baseline.parsed_baseline(baseline.baseline_as_text(report))
    ).findings == (fatal,)


def test_a_pull_request_is_told_how_many_findings_there_are_and_what_limits_them() -> None:
    for failed, level in (((), []), (("c.yaml",), ["error"])):
        told = findings_sarif.sarif_invocation(replace(CHECKED, failed=failed))
        assert told["executionSuccessful"] is not bool(failed)
        assert [note["level"] for note in told["toolExecutionNotifications"]] == level
    nothing = findings_sarif.sarif_invocation(replace(CHECKED, inputs=(), findings=()))
    assert nothing["executionSuccessful"] and nothing["toolExecutionNotifications"][0]["level"] == "warning"
    text = findings_machines.findings_as_markdown(replace(CHECKED, failed=("c.yaml",)))
    assert text.startswith("**clusterspec**: 1 error, 1 warning, 1 note; c.yaml: ")
    rows = [line.split(" | ") for line in text.splitlines()[4:]]
    assert [row[0] for row in rows] == ["| error", "| warning", "| note"]
    assert [row[1] for row in rows] == ["`a.yaml:2:3`", "`a.yaml:4:3`", "`a.yaml:6:3`"]
    none = replace(CHECKED, findings=())
    assert "3 files checked, nothing found" in findings_machines.findings_as_markdown(none)
    assert "|" in findings_machines.findings_as_markdown(replace(none, failed=("c.yaml",)))
    assert "Nothing was checked" in findings_machines.findings_as_markdown(replace(none, inputs=()))


@pytest.mark.parametrize("stale", [0, 1, 10, 11, 13])
def test_ten_entries_without_a_finding_are_listed_and_the_others_counted(stale: int) -> None:
    entries = tuple((f"rule-{at}", "a.yaml") for at in range(stale))
    first, *lines = findings_text.baseline_lines(replace(CHECKED, hidden=2, stale=entries))
    assert first == "The baseline hides 2 findings."
    assert [line.split()[3] for line in lines[:10]] == [rule for rule, _ in entries[:10]]
    more = {11: ["1 further entry"], 13: ["3 further entries"]}.get(stale, [])
    assert [line.partition(" of the")[0] for line in lines[10:]] == more
    assert findings_text.baseline_lines(CHECKED) == [], "without a baseline"


def test_rules_are_counted_the_most_frequent_first() -> None:
    text = findings_text.rule_statistics(replace(CHECKED, findings=(*ALL, ALL[2], ALL[1], ALL[2]) + ALL[1:2] * 8))
    assert [line.split() for line in text.splitlines()[1:4]] == [
        ["10", "warning", "many"],
        ["3", "note", "odd"],
        ["1", "error", "few"],
    ]
    assert text.splitlines()[5].startswith("1 error, 10 warnings and 3 notes in 3 files.")
    assert findings_text.rule_statistics(replace(CHECKED, findings=())).startswith("All clear: 3 files")
    hidden = replace(CHECKED, findings=(), hidden=2)
    assert findings_text.summary_line(hidden) == "Nothing new: 3 files checked.", "two findings are known"


def test_a_long_text_ends_with_its_findings_by_rule_the_most_severe_first() -> None:
    report = replace(CHECKED, findings=(*ALL, ALL[2], ALL[1], ALL[2]) + ALL[1:2] * 8)
    assert len(report.findings) > findings_text.LONG
    *_, heads, few, many, odd, blank, summary = findings_text.findings_as_text(report).splitlines()
    assert heads.split()[:3] == ["findings", "severity", "rule"]
    assert [few.split()[:3], many.split()[:3], odd.split()[:3]] == [
        ["1", "error", "few"],
        ["10", "warning", "many"],
        ["3", "note", "odd"],
    ]
    positions = [location_text(finding.span) for finding in ALL]
    assert [line.split()[3] for line in (few, many, odd)] == positions, "that of the first of each rule"
    assert (blank, summary.split(".")[0]) == ("", "1 error, 10 warnings and 3 notes in 3 files")
    narrow = findings_text.findings_as_text(report, replace(PLAIN, width=30)).splitlines()
    assert "       1  error     few" in narrow, "without the column that does not fit"
    for number in (12, 13):
        text = findings_text.findings_as_text(replace(CHECKED, findings=ALL[1:2] * number))
        assert ("findings  severity" in text) is (number > 12), number


def test_a_table_by_rule_counts_the_rules_that_it_does_not_list() -> None:
    findings = tuple(replace(ALL[1], rule=f"rule-{k:02}") for k in range(12 + 3))
    lines = findings_text.findings_as_text(replace(CHECKED, findings=findings)).splitlines()
    listed = [word for line in lines for word in line.split()[2:3] if word in {"rule-11", "rule-12"}]
    assert "and 3 further rules" in lines and listed == ["rule-11"]


@each(
    ("columns", "before", "length"),
    product([20, 40, 60], [0, 10, 19, 20, 21, 39, 40, 41, 59, 60, 200], [1, 5, 30, 300]),
)
def test_a_mark_stands_below_its_part_of_a_long_line_within_the_terminal(
    columns: int, before: int, length: int
) -> None:
    line = "-" * before + "x" * length + "-" * 100
    span = Span("a.yaml", Position(1, before + 1), Position(1, before + length + 1))
    first = findings_text.window_start(line, span, columns)
    shown, marks = findings_text.cut_line(line, columns, first), findings_text.marker_line(line, span, columns, first)
    assert len(shown) <= columns and len(marks) <= columns
    assert marks.count("^") >= min(length, columns // 2 - 1)
    pairs = [below for above, below in zip(shown.ljust(len(marks)), marks, strict=False) if above == "x"]
    assert pairs and set(pairs) == {"^"}, (shown, marks)
    assert (shown[0] == "…") is (first > 0) and (shown[-1] == "…") is (len(line) - first > columns - (first > 0)), "cut"
    assert first in (0, before - min(20, columns // 2)), "20 characters before it are shown, or half a line"


SPAN = Span("a.yaml", Position(1, 1), Position(1, 2))
ADVICE = [  # help, what the fix does, whether it has edits and is safe; the lines below the position
    ("write `8`", "write 8", True, True, ["= fix: write `8`"]),  # the same words are told once
    ("write `8`", "write 8", True, False, ["= suggestion: write `8` (--fix --unsafe-fixes)"]),
    ("did you mean `tp`?", "write `tp`", True, False, ["= suggestion: did you mean `tp`? (--fix --unsafe-fixes)"]),
    (
        "did you mean `tp`? The keys are `tp` or `pp`",
        "write `tp`",
        True,
        False,
        ["= suggestion: did you mean `tp`? (--fix --unsafe-fixes). The keys are `tp` or `pp`"],
    ),
    (
        "did you mean `tp`? The keys are `tp` or `pp`",
        "write `tp`",
        True,
        True,
        ["= fix: did you mean `tp`? The keys are `tp` or `pp`"],
    ),
    (
        "write `a`; the rest is checked with it",
        "write `a`",
        True,
        True,
        ["= fix: write `a`; the rest is checked with it"],
    ),
    (
        "write `dp: 8`, or drop the key",
        "write `8`",
        True,
        True,
        ["= help: write `dp: 8`, or drop the key", "= fix: write `8`"],
    ),
    (
        "write `4` or `8`",
        "write `4`",
        True,
        False,
        ["= help: write `4` or `8`", "= suggestion: write `4` (--fix --unsafe-fixes)"],
    ),
    ("write fewer", "write 8", True, True, ["= help: write fewer", "= fix: write 8"]),
    ("", "write 8", True, True, ["= fix: write 8"]),
    ("write 8", "write 8", False, True, ["= help: write 8"]),
    ("", "", False, False, []),
]


@pytest.mark.parametrize(
    ("before", "marked"),
    [("a", "b"), ("caf\udce9: ", "x\u200by"), ("400\xa0Gb/s, ", "fat\u200b-tree"), ("\t", "漢字"), ("\x1b", "\udcff")],
)
def test_the_marker_stands_below_what_is_shown_of_its_part(before: str, marked: str) -> None:
    """Escapes of hidden characters are wider than the characters."""
    line = f"{before}{marked}, rest"
    span = Span("a.yaml", Position(1, len(before) + 1), Position(1, len(before + marked) + 1))
    shown, marks = findings_text.cut_line(line, 80, 0), findings_text.marker_line(line, span, 80, 0)
    at = len(marks) - len(marks.lstrip())
    assert len(marks.strip()) == text_width(plain_line(marked))
    assert text_width(shown.partition(plain_line(marked))[0]) == at


@pytest.mark.parametrize(("help_", "fix", "edited", "safe", "told"), ADVICE)
def test_advice_that_the_fix_repeats_is_told_once(
    help_: str, fix: str, edited: bool, safe: bool, told: list[str]
) -> None:
    edits = (Edit(SPAN, "8"),) if edited else ()
    finding = Finding(
        "a-rule", Severity.ERROR, Confidence.CERTAIN, "too many", help_, SPAN, ("a",), ((SPAN, "from here"),),
        fix_description=fix, edits=edits, fix_safe=safe,
    )  # fmt: skip
    lines = [line.strip() for line in findings_text.framed_finding(finding, {}, TextStyle(False)).splitlines()]
    assert lines == ["error[a-rule]: too many", "--> a.yaml:1:1", "= see a.yaml:1:1: from here", *told]
