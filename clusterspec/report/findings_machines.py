"""Findings as JUnit XML, GitLab code quality report, and Markdown table (SARIF is in `findings_sarif`)."""

from __future__ import annotations

import json
import re
from datetime import date
from html import escape
from typing import Any

from clusterspec.finding import Finding, Severity
from clusterspec.report.fingerprint import distinct, fingerprint
from clusterspec.report.hidden import escaped
from clusterspec.report.ink import located, plain
from clusterspec.report.rule_address import address
from clusterspec.results import INCOMPLETE, NOTHING_CHECKED, CheckReport
from clusterspec.units import plural

Json = dict[str, Any]
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: CheckReport, fail_on: Severity = Severity.ERROR, day: date = date.min) -> str:
    """One test case per finding, failing from a severity up; one per file without findings. ``day`` is the current day.

    The case of a file also fails where it inherits a failing finding, and is an error where its check is incomplete.
    Valid by the schema of Ant's JUnit reports, which requires a time and a host: passing findings have no element in
    it, so their messages are the output of the suite.
    """
    cases = [junit_case(finding, fail_on) for finding in report.findings]
    named = {finding.span.file for finding in report.findings}
    faults = {name: junit_inherited(name, report, fail_on) for name in dict.fromkeys(one.name for one in report.inputs)}
    faults |= dict.fromkeys(report.failed, f'<error type="internal" message={quoted(INCOMPLETE)}/>')
    cases += [
        f'    <testcase classname={quoted(name)} name="check" time="0"{f">{fault}</testcase>" if fault else "/>"}'
        for name, fault in faults.items()
        if fault or name not in named
    ]
    passing = [one for one in report.findings if one.severity.rank > fail_on.rank]
    failures = sum("<failure" in case for case in cases)
    counts = f'tests="{len(cases)}" failures="{failures}" errors="{len(report.failed)}"'
    where = f'package="clusterspec" id="0" timestamp="{day}T00:00:00" hostname="localhost" time="0"'
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        "<testsuites>",
        f'  <testsuite name="clusterspec" {counts} {where}>',
        "    <properties/>",
        *cases,
        f"    <system-out>{chr(10).join(map(junit_line, passing))}</system-out>",
        f"    <system-err>{chr(10).join(map(xml, report.notes))}</system-err>" if report.notes else "    <system-err/>",
        "  </testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def junit_case(finding: Finding, fail_on: Severity) -> str:
    """The test case of a finding, with a failure from a severity up."""
    name = f"{finding.rule} {finding.span.start.line}:{finding.span.start.column}"
    case = f'    <testcase classname={quoted(finding.span.file)} name={quoted(name)} time="0"'
    if finding.severity.rank > fail_on.rank:
        return f"{case}/>"
    failure = f"<failure type={quoted(str(finding.severity))} message={quoted(finding.message)}>"
    return f"{case}>{failure}{xml(located(finding.span))}\nhelp: {xml(finding.help)}</failure></testcase>"


def junit_inherited(name: str, report: CheckReport, fail_on: Severity) -> str:
    """The failure of a file whose base has failing findings, which are test cases of the base; empty if it has none."""
    inherited = [one for one in report.findings if name in one.heirs and one.severity.rank <= fail_on.rank]
    if not inherited:
        return ""
    message = f"inherits {plural(len(inherited), 'finding')} of a base"
    lines = "\n".join(map(junit_line, inherited))
    return f'<failure type="inherited" message={quoted(message)}>{lines}</failure>'


def junit_line(finding: Finding) -> str:
    """A finding that does not fail, as one line of the output of the suite."""
    return xml(f"{located(finding.span)}: {finding.severity}[{finding.rule}] {finding.message}")


def xml(value: str) -> str:
    """A value as XML text on one line; forbidden characters are replaced, others that cannot be printed are escaped."""
    text = escape(_NOT_XML.sub("\ufffd", value)).replace("##", "#&#35;")
    return "".join(c if c.isprintable() else f"&#{ord(c)};" for c in text)


def quoted(value: str) -> str:
    """A value as an XML attribute."""
    return f'"{xml(value)}"'


GITLAB = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}


def gitlab(report: CheckReport) -> list[Json]:
    """GitLab's code quality report, in which no two findings share a fingerprint."""
    marks = distinct(fingerprint(report, finding) for finding in report.findings)
    return [
        {
            "description": finding.message,
            "check_name": finding.rule,
            "fingerprint": mark,
            "severity": GITLAB[finding.severity],
            "location": {
                "path": report.name_of(finding).repository,
                "lines": {"begin": finding.span.start.line, "end": finding.span.end.line},
            },
        }
        for mark, finding in zip(marks, report.findings, strict=True)
    ]


def markdown(report: CheckReport) -> str:
    """A table for a pull request's comment or a job summary."""
    if not report.inputs:
        return f"**clusterspec**: {NOTHING_CHECKED}\n"
    if not report.findings and not report.failed:
        return f"**clusterspec**: {plural(len(report.inputs), 'file')} checked, nothing found.\n"
    counted = ", ".join(plural(number, level) for level, number in report.summary.items())
    counted += "".join(f"; {cell(note)}" for note in report.notes)
    head = [
        f"**clusterspec**: {counted}",
        "",
        "| severity | where | rule | what | what to do |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*head, *map(markdown_row, report.findings)]) + "\n"


def markdown_row(finding: Finding) -> str:
    rule = f"[{finding.rule}]({address(finding.rule)})"
    place = located(finding.span).replace("`", "'").replace("|", "\\|")
    cells = (str(finding.severity), f"`{place}`", rule, cell(finding.message), cell(finding.help))
    return f"| {' | '.join(cells)} |"


_ACTIVE = re.compile(r"[\\*_\[\]()<>&#!@~|$]|(?<=:)//|(?i:www)(?=\.)|:(?=[\w+-]{1,40}:)|(?<![a-z])GH(?=-\d)")


def cell(text: str) -> str:
    """A text as a Markdown table cell: code spans are kept; other Markdown, HTML, formulas, links, mentions and emoji
    are escaped.

    >>> cell("`a|b` is <b>no</b> @key")
    '`a\\\\|b` is &#60;b&#62;no&#60;/b&#62; &#64;key'
    """
    parts = plain(text).split("`")
    if len(parts) % 2 == 0:  # an unpaired backtick does not start code
        parts[-2:] = ["&#96;".join(parts[-2:])]
    shown = [
        part.replace("|", "\\|")
        if number % 2
        else _ACTIVE.sub(lambda found: f"&#{ord(found[0][0])};{found[0][1:]}", part)
        for number, part in enumerate(parts)
    ]
    return "`".join(shown)


def dumps(value: Any, indent: int | None = 2) -> str:
    """JSON as printed by all commands: UTF-8, indented by two spaces, or one line without ``indent``.

    It holds no NaN, no CI runner commands, and hidden characters only as escapes.
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    return escaped(text).replace("##", "#\\u0023") + "\n"
