"""Baselines: accepted findings of a team, so that only new ones are reported.

Findings are compared by fingerprint (see `clusterspec.report.fingerprint`). Duplicates are counted.
"""

from __future__ import annotations

import json
from collections import Counter

from clusterspec.finding import ALWAYS_REPORTED
from clusterspec.records import dataclass, replace
from clusterspec.report.findings_machines import dumps
from clusterspec.report.fingerprint import fingerprint
from clusterspec.results import CheckReport


@dataclass(frozen=True, slots=True, order=True)
class BaselineEntry:
    """A finding of a baseline; ``file`` is relative to the project."""

    file: str
    rule: str
    fingerprint: str


def entries(report: CheckReport) -> list[BaselineEntry]:
    """The findings of a report as entries, by file and rule, without those that cannot be suppressed."""
    kept = (one for one in report.findings if one.rule not in ALWAYS_REPORTED)
    return sorted(BaselineEntry(report.name_of(one).project, one.rule, fingerprint(report, one)) for one in kept)


def text(report: CheckReport) -> str:
    """The baseline of a report, as JSON with one entry per line."""
    rows = [{"fingerprint": one.fingerprint, "rule": one.rule, "file": one.file} for one in entries(report)]
    return dumps({"version": 1, "findings": rows})


def read(written: str) -> Counter[BaselineEntry]:
    """The number of occurrences of each entry. Raises `ValueError` if the text is not a baseline."""
    try:
        found = json.loads(written)
        return Counter(
            BaselineEntry(*(_text(row[key]) for key in ("file", "rule", "fingerprint"))) for row in found["findings"]
        )
    except (TypeError, KeyError, ValueError, RecursionError):
        raise ValueError("this is not a clusterspec baseline") from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def beyond(report: CheckReport, known: Counter[BaselineEntry]) -> CheckReport:
    """The report without the findings of a baseline, and with the entries that no longer match a finding.

    Entries of files that were not checked are ignored.
    """
    left = Counter({one.fingerprint: 0 for one in known})
    for one, number in known.items():
        left[one.fingerprint] += number
    found = []
    for finding in report.findings:
        mark = fingerprint(report, finding)
        if left[mark] > 0 and finding.rule not in ALWAYS_REPORTED:
            left[mark] -= 1
        else:
            found.append(finding)
    checked = {name.project for name in report.names.values()}
    stale = tuple((one.rule, one.file) for one in sorted(known) if left[one.fingerprint] > 0 and one.file in checked)
    return replace(report, findings=tuple(found), hidden=len(report.findings) - len(found), stale=stale)
