"""A baseline: findings that a team has accepted for now, so that new ones stand out.

Findings are compared by fingerprint (see `clusterspec.report.fingerprint`). One that occurs twice is held twice.
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
class Entry:
    """One finding of a baseline; ``file`` is relative to the project."""

    file: str
    rule: str
    fingerprint: str


def entries(report: CheckReport) -> list[Entry]:
    """The findings of a report as entries, in the order of files and rules; those that nothing silences aside."""
    kept = (one for one in report.findings if one.rule not in ALWAYS_REPORTED)
    return sorted(Entry(report.name_of(one).project, one.rule, fingerprint(report, one)) for one in kept)


def text(report: CheckReport) -> str:
    """The baseline of a report, as JSON that reads well in a diff."""
    rows = [{"fingerprint": one.fingerprint, "rule": one.rule, "file": one.file} for one in entries(report)]
    return dumps({"version": 1, "findings": rows})


def read(written: str) -> Counter[Entry]:
    """How often a baseline holds each entry. Raises `ValueError` for a text that is no baseline."""
    try:
        found = json.loads(written)
        return Counter(
            Entry(*(_text(row[key]) for key in ("file", "rule", "fingerprint"))) for row in found["findings"]
        )
    except (TypeError, KeyError, ValueError, RecursionError):
        raise ValueError("this is no baseline of clusterspec") from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def beyond(report: CheckReport, known: Counter[Entry]) -> CheckReport:
    """The report without the findings that a baseline holds, and with the entries that match nothing any more.

    An entry of a file that was not checked is not judged.
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
