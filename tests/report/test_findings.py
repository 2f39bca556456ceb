"""Every format says the same findings, each in its own way; what people see is golden."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from clusterspec import analysis, studies
from clusterspec.document import apply_edits
from clusterspec.report import findings_machines, findings_sarif, findings_text
from clusterspec.report import findings_machines as baseline
from clusterspec.report.findings_machines import fingerprint
from clusterspec.report.ink import Ink
from clusterspec.results import CheckReport
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
    painted = findings_text.findings_as_text(report, Ink(True))
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
    document = json.loads(findings_machines.json_text(report.to_json()))
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
    known = baseline.read(baseline.baseline_as_text(report))
    assert baseline.report_beyond_baseline(report, known).findings == ()
    first = report.findings[0]
    known.known.subtract([one for one in known.known if one.fingerprint == fingerprint(report, first)])
    assert baseline.report_beyond_baseline(report, known).findings == (first,)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"findings": 3}', '{"findings": [1]}', "[" * 5000])
def test_what_is_no_baseline_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"baseline|Expecting|JSON"):
        baseline.read(text)


def test_hostile_text_cannot_command_a_terminal_or_a_workflow() -> None:
    sly = r"x\n::error::y\e[31m\ufffe\b"
    text = f'clusterspec: 1\nname: "\\e[2J"\ncluster: {{platform: "{sly}", "{sly}": 1, nodes: no}}\n'
    found = analysis.check([studies.study_text(text, SETTINGS, "a\n::b\x1b.yaml")], SETTINGS)
    assert len(found.findings) > 2
    for said in (
        findings_text.findings_as_text(found),
        findings_text.findings_as_lines(found),
        findings_text.findings_as_github(found),
        findings_machines.findings_as_markdown(found),
        findings_machines.findings_as_junit(found).replace("\ufffd", ""),
    ):
        assert all(character.isprintable() or character == "\n" for character in said)
    commands = findings_text.findings_as_github(found).splitlines()
    assert all(row.startswith(("::error ", "::warning ", "::notice ")) for row in commands)
    assert len(commands) == len(found.findings)
    ElementTree.fromstring(findings_machines.findings_as_junit(found))


def test_sarif_names_files_as_references() -> None:
    one = studies.study_text("clusterspec: 2\n", SETTINGS, "my clusters/pod #1 \udcff.yaml")
    sarif = findings_sarif.findings_as_sarif(analysis.check([one], SETTINGS))
    place = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "my%20clusters/pod%20%231%20%FF.yaml", "uriBaseId": "ROOTPATH"}
