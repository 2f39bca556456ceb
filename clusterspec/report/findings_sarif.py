"""SARIF 2.1.0 for code scanning: findings, fixes, waived findings with reasons, and rule pages.

Paths are relative to the root of the repository, independent of the current folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from clusterspec.finding import ALIASES, Finding, Severity
from clusterspec.records import dataclass
from clusterspec.report import plain_line
from clusterspec.report.findings_machines import fingerprint, rule_address
from clusterspec.results import CheckReport
from clusterspec.source import Span

Json = dict[str, Any]
ROOT = "ROOTPATH"
"""The name of the base of relative paths: the root of the repository."""


@dataclass(frozen=True)
class RuleText:
    """The SARIF description of a rule: summary, section "What it finds", page as Markdown, and default severity."""

    summary: str
    finds: str = ""
    page: str = ""
    severity: Severity = Severity.WARNING


Describe = Callable[[str], RuleText]


def findings_as_sarif(report: CheckReport, describe: Describe = RuleText) -> Json:
    """The findings of a report; ``describe`` gives the text of a rule."""
    found = [*report.findings, *(one.finding for one in report.waived)]
    rules = sorted({finding.rule for finding in found})
    driver = {
        "name": "clusterspec",
        "semanticVersion": report.tool.version,
        "informationUri": "https://github.com/clusterspec/clusterspec",
        "rules": [rule_json(rule, describe(rule)) for rule in rules],
    }
    results = [sarif_result(report, finding, rules) for finding in report.findings]
    for one in report.waived:
        reason = {"kind": "inSource", "status": "accepted", "justification": plain_line(one.waiver.reason)}
        results.append(sarif_result(report, one.finding, rules) | {"suppressions": [reason]})
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the repository."}}},
        "results": results,
    }
    if report.notes:
        run["invocations"] = [sarif_invocation(report)]
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


def sarif_invocation(report: CheckReport) -> Json:
    """The SARIF invocation of a run that checked nothing or not everything."""
    level = "error" if report.failed else "warning"
    notes = [{"level": level, "message": {"text": plain_line(note)}} for note in report.notes]
    return {"executionSuccessful": not report.failed, "toolExecutionNotifications": notes}


LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def rule_json(rule: str, text: RuleText) -> Json:
    """One rule of the driver, with its page."""
    place = rule_address(rule)
    former = {"deprecatedIds": list(ALIASES[rule])} if rule in ALIASES else {}
    return {
        "id": rule,
        **former,
        "shortDescription": {"text": text.summary},
        "fullDescription": {"text": text.finds or text.summary},
        "help": {"text": f"See {place}", "markdown": text.page or text.summary},
        "helpUri": place,
        "defaultConfiguration": {"level": LEVELS[text.severity]},
    }


def sarif_result(report: CheckReport, finding: Finding, rules: list[str]) -> Json:
    """One finding."""
    out: Json = {
        "ruleId": finding.rule,
        "ruleIndex": rules.index(finding.rule),
        "level": LEVELS[finding.severity],
        "message": unlinked_message(finding.message + (f"\n{finding.help}" if finding.help else "")),
        "locations": [{"physicalLocation": sarif_location(report, finding.span)}],
        "partialFingerprints": {"clusterspec/v1": fingerprint(report, finding)},
    }
    if finding.related:
        out["relatedLocations"] = related_locations(report, finding.related)
    if finding.edits:
        out["fixes"] = [sarif_fix(report, finding)]
    return out


def unlinked_message(text: str) -> Json:
    """A message without links, which SARIF viewers make of ``[text](address)``."""
    return {"text": text.replace("](", "] (")}


def related_locations(report: CheckReport, places: Iterable[tuple[Span, str]]) -> list[Json]:
    """The related locations of a finding."""
    return [
        {"id": number, "physicalLocation": sarif_location(report, span), "message": unlinked_message(words)}
        for number, (span, words) in enumerate(places, 1)
    ]


def sarif_fix(report: CheckReport, finding: Finding) -> Json:
    """The edits of a finding, file by file."""
    by_file: dict[str, list[Json]] = {}
    for edit in finding.edits:
        change = {"deletedRegion": sarif_region(edit.span), "insertedContent": {"text": edit.text}}
        by_file.setdefault(edit.span.file, []).append(change)
    changes = [{"artifactLocation": artifact_location(report, file), "replacements": by_file[file]} for file in by_file]
    return {"description": unlinked_message(finding.fix_description), "artifactChanges": changes}


def sarif_location(report: CheckReport, span: Span) -> Json:
    return {"artifactLocation": artifact_location(report, span.file), "region": sarif_region(span)}


def artifact_location(report: CheckReport, file: str) -> Json:
    """A file as a reference relative to the root of the repository."""
    name = report.names.get(file)
    return {"uri": relative_uri(name.repository if name else file), "uriBaseId": ROOT}


def sarif_region(span: Span) -> Json:
    return {
        "startLine": span.start.line,
        "startColumn": span.start.column,
        "endLine": span.end.line,
        "endColumn": span.end.column,
    }


def relative_uri(file: str) -> str:
    """The name of a file as a relative URI reference.

    >>> relative_uri("clusters/my pod.yaml")
    'clusters/my%20pod.yaml'
    """
    return quote(PurePath(file).as_posix(), safe="/", errors="surrogateescape")
