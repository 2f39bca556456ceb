"""A baseline: findings that a team has seen and will settle later, so that new ones stand out.

Findings are told apart by rule, file, key path and message, not by line, so a baseline outlives
edits around them. One that occurs twice is held twice.
"""

from __future__ import annotations

import json
from collections import Counter

from clusterspec.finding import Finding
from clusterspec.report.findings_machines import dumps, fingerprint
from clusterspec.results import CheckReport


def text(report: CheckReport) -> str:
    """The baseline of a report, as JSON that reads well in a diff."""
    rows = [{"fingerprint": fingerprint(f), "rule": f.rule, "file": f.span.file} for f in report.findings]
    return dumps(
        {"version": 1, "findings": sorted(rows, key=lambda row: (row["file"], row["rule"], row["fingerprint"]))}
    )


def read(written: str) -> Counter[str]:
    """How often a baseline holds each fingerprint. Raises `ValueError` for what is no baseline."""
    try:
        found = json.loads(written)
        return Counter(str(row["fingerprint"]) for row in found["findings"])
    except (TypeError, KeyError, RecursionError):
        raise ValueError("this is no baseline of clusterspec") from None


def beyond(report: CheckReport, known: Counter[str]) -> tuple[Finding, ...]:
    """The findings that a baseline does not hold."""
    left = Counter(known)
    found = []
    for finding in report.findings:
        mark = fingerprint(finding)
        if left[mark] > 0:
            left[mark] -= 1
        else:
            found.append(finding)
    return tuple(found)
