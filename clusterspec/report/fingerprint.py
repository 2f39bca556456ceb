"""Fingerprints that identify findings across runs, in baselines, SARIF and GitLab."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from clusterspec.finding import Finding
from clusterspec.results import CheckReport
from clusterspec.source import pointer


def fingerprint(report: CheckReport, finding: Finding) -> str:
    """A SHA-256 of the rule, the path relative to the project, the key path and the value as written.

    Messages, line numbers and the current folder are not part of it, so that it is stable when lines or the project
    move, or the catalog changes.
    """
    import hashlib

    parts = (finding.rule, report.name_of(finding).project, pointer(finding.path), finding.written)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()


def distinct(marks: Iterable[str]) -> Iterator[str]:
    """The fingerprints, each repetition of one replaced by a fingerprint of it and of its number."""
    import hashlib

    seen: Counter[str] = Counter()
    for mark in marks:
        seen[mark] += 1
        yield mark if seen[mark] == 1 else hashlib.sha256(f"{mark}\0{seen[mark]}".encode()).hexdigest()
