"""What identifies a finding from one run to the next, in baselines, SARIF and GitLab alike."""

from __future__ import annotations

from clusterspec.finding import Finding
from clusterspec.results import CheckReport
from clusterspec.source import pointer


def fingerprint(report: CheckReport, finding: Finding) -> str:
    """A SHA-256 of the rule, the path relative to the project, the key path and the value as written.

    Messages, lines and the current folder are no part of it, so that moved lines, a moved project and another
    catalog keep it.
    """
    import hashlib

    parts = (finding.rule, report.name_of(finding).project, pointer(finding.path), finding.written)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()
