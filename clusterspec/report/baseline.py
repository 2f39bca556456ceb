"""Baselines: accepted findings of a team, so that only new ones are reported.

Findings are compared by fingerprint (see `clusterspec.report.fingerprint`). Duplicates are counted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection

from clusterspec.finding import ALWAYS_REPORTED, Finding
from clusterspec.records import dataclass, replace
from clusterspec.report.findings_machines import dumps
from clusterspec.report.fingerprint import fingerprint
from clusterspec.results import CheckReport

VERSION = 2
"""The version of the format that is written."""


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


@dataclass(frozen=True, slots=True)
class Baseline:
    """The number of occurrences of each entry, and the version of the format.

    In version 1, every finding in a base was an entry of the base. In version 2 it is one of the spec that extends the
    base, unless the base has it alone.
    """

    known: Counter[BaselineEntry]
    version: int = VERSION


def text(report: CheckReport) -> str:
    """The baseline of a report, as JSON with one entry per line."""
    rows = [{"fingerprint": one.fingerprint, "rule": one.rule, "file": one.file} for one in entries(report)]
    return dumps({"version": VERSION, "findings": rows})


def read(written: str) -> Baseline:
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


def beyond(
    report: CheckReport, baseline: Baseline, inherited: Callable[[Finding], bool] = lambda _: False
) -> CheckReport:
    """The report without the findings of a baseline, and with the entries that no longer match a finding.

    ``inherited`` tells whether a finding at an ``extends`` is one that the base has alone; it then matches the entry of
    the base, which is not checked itself. Entries of files that were not checked are ignored.
    """
    left: Counter[str] = Counter()
    for one, number in baseline.known.items():
        left[one.fingerprint] += number
    found, of_bases = [], set()
    for finding in report.findings:
        mark, of_base = fingerprint(report, finding), _of_base(report, finding)
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
    return replace(report, findings=tuple(found), hidden=hidden, stale=_stale(report, baseline, unmatched))


def _of_base(report: CheckReport, finding: Finding) -> str | None:
    """The fingerprint that a finding at an ``extends`` has in the base; None of any other."""
    return fingerprint(report, replace(finding, span=finding.base)) if finding.base else None


def _stale(report: CheckReport, baseline: Baseline, unmatched: Collection[str]) -> tuple[tuple[str, str], ...]:
    """The rule and file of the entries of checked files that match no finding."""
    checked = {report.names[one.name].project for one in report.inputs if one.name in report.names}
    stale = (one for one in sorted(baseline.known) if one.fingerprint in unmatched and one.file in checked)
    return tuple((one.rule, one.file) for one in stale)
