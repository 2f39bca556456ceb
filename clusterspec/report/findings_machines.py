"""Findings for machines: fingerprints, JUnit XML, GitLab code quality, Markdown, and baselines."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import date
from html import escape

from clusterspec.finding import ALWAYS_REPORTED, Finding, Severity, first_name
from clusterspec.records import dataclass, replace
from clusterspec.report import location_text, plain_line
from clusterspec.report.json_text import json_text
from clusterspec.results import INCOMPLETE, NOTHING_CHECKED, CheckReport
from clusterspec.source import pointer
from clusterspec.units import plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Fingerprints that identify findings across runs, in baselines, SARIF and GitLab


def fingerprint(report: CheckReport, finding: Finding) -> str:
    """A SHA-256 of the rule (its oldest name), the path relative to the project, the key path and the value as written.

    It excludes messages, line numbers and the current folder, so it stays the same when lines or the project move, or
    the catalog changes.
    """
    import hashlib

    parts = (first_name(finding.rule), report.name_of(finding).project, pointer(finding.path), finding.written)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()


def distinct_fingerprints(marks: Iterable[str]) -> Iterator[str]:
    """The fingerprints. A repeated fingerprint is hashed with its count."""
    import hashlib

    seen: Counter[str] = Counter()
    for mark in marks:
        seen[mark] += 1
        yield mark if seen[mark] == 1 else hashlib.sha256(f"{mark}\0{seen[mark]}".encode()).hexdigest()


# Addresses of the pages of rules, in formats that link to them

DOCUMENTATION = "https://github.com/clusterspec/clusterspec/blob/main/docs"


def rule_address(rule: str) -> str:
    """The address of a rule's page. Company rules share one page.

    >>> rule_address("few-spines").rpartition("/docs/")[2], rule_address("own/no-taper").rpartition("/docs/")[2]
    ('rules/few-spines.md', 'policy.md')
    """
    return f"{DOCUMENTATION}/policy.md" if "/" in rule else f"{DOCUMENTATION}/rules/{rule}.md"


# Findings as JUnit XML, GitLab code quality report, and Markdown table (SARIF is in `findings_sarif`)

Json = dict[str, "Any"]
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def findings_as_junit(report: CheckReport, fail_on: Severity = Severity.ERROR, day: date = date.min) -> str:
    """One test case per finding, which fails from the severity ``fail_on`` up, and one per file without findings.
    ``day`` is the current day.

    The case of a file also fails if the file inherits a failing finding, and is an error if its check is incomplete.
    The output is valid by the schema of Ant's JUnit reports, which requires a time and a host. The schema has no
    element for passing findings, so their messages are the output of the suite.
    """
    cases = [junit_case(finding, fail_on) for finding in report.findings]
    named = {finding.span.file for finding in report.findings}
    faults = {
        name: junit_inherited_failure(name, report, fail_on)
        for name in dict.fromkeys(one.name for one in report.inputs)
    }
    faults |= dict.fromkeys(report.failed, f'<error type="internal" message={xml_attribute(INCOMPLETE)}/>')
    cases += [
        f'    <testcase classname={xml_attribute(name)} name="check" time="0"'
        f"{f'>{fault}</testcase>' if fault else '/>'}"
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
        f"    <system-err>{chr(10).join(map(xml_text, report.notes))}</system-err>"
        if report.notes
        else "    <system-err/>",
        "  </testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def junit_case(finding: Finding, fail_on: Severity) -> str:
    """The test case of a finding, with a failure from a severity up."""
    name = f"{finding.rule} {finding.span.start.line}:{finding.span.start.column}"
    case = f'    <testcase classname={xml_attribute(finding.span.file)} name={xml_attribute(name)} time="0"'
    if finding.severity.rank > fail_on.rank:
        return f"{case}/>"
    failure = f"<failure type={xml_attribute(str(finding.severity))} message={xml_attribute(finding.message)}>"
    return (
        f"{case}>{failure}{xml_text(location_text(finding.span))}\nhelp: {xml_text(finding.help)}</failure></testcase>"
    )


def junit_inherited_failure(name: str, report: CheckReport, fail_on: Severity) -> str:
    """The failure of a file that inherits failing findings from its base; empty if it inherits none. The base's own
    test cases have the findings.
    """
    inherited = [one for one in report.findings if name in one.heirs and one.severity.rank <= fail_on.rank]
    if not inherited:
        return ""
    message = f"inherits {plural(len(inherited), 'finding')} of a base"
    lines = "\n".join(map(junit_line, inherited))
    return f'<failure type="inherited" message={xml_attribute(message)}>{lines}</failure>'


def junit_line(finding: Finding) -> str:
    """A finding that does not fail, as one line of the output of the suite."""
    return xml_text(f"{location_text(finding.span)}: {finding.severity}[{finding.rule}] {finding.message}")


def xml_text(value: str) -> str:
    """A value as XML text on one line; forbidden characters are replaced, others that cannot be printed are escaped."""
    text = escape(_NOT_XML.sub("\ufffd", value)).replace("##", "#&#35;")
    return "".join(c if c.isprintable() else f"&#{ord(c)};" for c in text)


def xml_attribute(value: str) -> str:
    """A value as an XML attribute."""
    return f'"{xml_text(value)}"'


GITLAB = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}


def findings_as_gitlab(report: CheckReport) -> list[Json]:
    """GitLab's code quality report. Each finding has a distinct fingerprint."""
    marks = distinct_fingerprints(fingerprint(report, finding) for finding in report.findings)
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


def findings_as_markdown(report: CheckReport) -> str:
    """A table for a pull request's comment or a job summary."""
    if not report.inputs:
        return f"**clusterspec**: {NOTHING_CHECKED}\n"
    if not report.findings and not report.failed:
        return f"**clusterspec**: {plural(len(report.inputs), 'file')} checked, nothing found.\n"
    counted = ", ".join(plural(number, level) for level, number in report.summary.items())
    counted += "".join(f"; {markdown_cell(note)}" for note in report.notes)
    head = [
        f"**clusterspec**: {counted}",
        "",
        "| severity | where | rule | what | what to do |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*head, *map(markdown_row, report.findings)]) + "\n"


def markdown_row(finding: Finding) -> str:
    rule = f"[{finding.rule}]({rule_address(finding.rule)})"
    place = location_text(finding.span).replace("`", "'").replace("|", "\\|")
    cells = (str(finding.severity), f"`{place}`", rule, markdown_cell(finding.message), markdown_cell(finding.help))
    return f"| {' | '.join(cells)} |"


_ACTIVE = re.compile(r"[\\*_\[\]()<>&#!@~|$]|(?<=:)//|(?i:www)(?=\.)|:(?=[\w+-]{1,40}:)|(?<![a-z])GH(?=-\d)")


def markdown_cell(text: str) -> str:
    """A text as a Markdown table cell: code spans are kept; other Markdown, HTML, formulas, links, mentions and emoji
    are escaped.

    >>> markdown_cell("`a|b` is <b>no</b> @key")
    '`a\\\\|b` is &#60;b&#62;no&#60;/b&#62; &#64;key'
    """
    parts = plain_line(text).split("`")
    if len(parts) % 2 == 0:  # an unpaired backtick does not start code
        parts[-2:] = ["&#96;".join(parts[-2:])]
    shown = [
        part.replace("|", "\\|")
        if number % 2
        else _ACTIVE.sub(lambda found: f"&#{ord(found[0][0])};{found[0][1:]}", part)
        for number, part in enumerate(parts)
    ]
    return "`".join(shown)


# Baselines: accepted findings of a team, so that only new ones are reported

VERSION = 2
"""The version of the format that is written."""


@dataclass(frozen=True, order=True)
class BaselineEntry:
    """A finding of a baseline; ``file`` is relative to the project."""

    file: str
    rule: str
    fingerprint: str


def baseline_entries(report: CheckReport) -> list[BaselineEntry]:
    """The baseline entries of a report, by file and rule. Findings that cannot be suppressed are left out."""
    kept = (one for one in report.findings if one.rule not in ALWAYS_REPORTED)
    return sorted(BaselineEntry(report.name_of(one).project, one.rule, fingerprint(report, one)) for one in kept)


@dataclass(frozen=True)
class Baseline:
    """The number of occurrences of each entry, and the version of the format.

    In version 1, every finding in a base file was an entry of the base. In version 2 it is an entry of the spec that
    extends the base, unless the base by itself has the finding.
    """

    known: Counter[BaselineEntry]
    version: int = VERSION


def baseline_as_text(report: CheckReport) -> str:
    """The baseline of a report, as JSON with one entry per line."""
    rows = [{"fingerprint": one.fingerprint, "rule": one.rule, "file": one.file} for one in baseline_entries(report)]
    return json_text({"version": VERSION, "findings": rows})


def parsed_baseline(written: str) -> Baseline:
    """The baseline of a text. Raises `ValueError` if the text is not one, or one of a later version."""
    try:
        found = json.loads(written)
        version = found.get("version", 1)
        known = Counter(
            BaselineEntry(*(_text(row[key]) for key in ("file", "rule", "fingerprint"))) for row in found["findings"]
        )
    except (AttributeError, TypeError, KeyError, ValueError, RecursionError):
        raise ValueError("this is not a clusterspec baseline") from None
    if isinstance(version, bool) or not isinstance(version, int) or not 1 <= version <= VERSION:
        raise ValueError(f"the format of this baseline is not one of the versions 1 to {VERSION}")
    return Baseline(known, version)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def report_beyond_baseline(
    report: CheckReport, baseline: Baseline, inherited: Callable[[Finding], bool] = lambda _: False
) -> CheckReport:
    """The report without the findings of a baseline, with a list of baseline entries that no longer match.

    ``inherited`` tells whether the base by itself has a finding reported at an ``extends``; the finding then matches
    the entry of the base, which is not checked itself. Entries of files that were not checked are ignored.
    """
    left: Counter[str] = Counter()
    for one, number in baseline.known.items():
        left[one.fingerprint] += number
    found, of_bases = [], set()
    for finding in report.findings:
        mark, of_base = fingerprint(report, finding), _base_fingerprint(report, finding)
        if finding.rule in ALWAYS_REPORTED:
            found.append(finding)
        elif left[mark] > 0:
            left[mark] -= 1
        elif of_base in left and (baseline.version == 1 or inherited(finding)):
            of_bases.add(of_base)
        else:
            found.append(finding)
    unmatched = {mark for mark, number in left.items() if number > 0} - of_bases
    hidden = len(report.findings) - len(found)
    return replace(report, findings=tuple(found), hidden=hidden, stale=_stale_entries(report, baseline, unmatched))


def _base_fingerprint(report: CheckReport, finding: Finding) -> str | None:
    """The fingerprint in the base of a finding that is reported at ``extends``; None for other findings."""
    return fingerprint(report, replace(finding, span=finding.base)) if finding.base else None


def _stale_entries(report: CheckReport, baseline: Baseline, unmatched: Collection[str]) -> tuple[tuple[str, str], ...]:
    """The rule and file of the entries of checked files that match no finding."""
    checked = {report.names[one.name].project for one in report.inputs if one.name in report.names}
    stale = (one for one in sorted(baseline.known) if one.fingerprint in unmatched and one.file in checked)
    return tuple((one.rule, one.file) for one in stale)
