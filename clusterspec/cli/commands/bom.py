"""``clusterspec bom SPEC``."""

from __future__ import annotations

import argparse

from clusterspec import pipeline
from clusterspec.cli import FOUND, OK
from clusterspec.cli.inputs import study_of
from clusterspec.cli.terminal import ink, say
from clusterspec.finding import Severity
from clusterspec.report import bill_text
from clusterspec.report.findings_machines import dumps


def run(asked: argparse.Namespace) -> int:
    """Prints the bill of materials."""
    report = pipeline.bill(study_of(asked, asked.spec))
    if asked.format == "json":
        say(dumps(report.to_json()))
    else:
        say(bill_text.csv(report) if asked.format == "csv" else bill_text.text(report, ink(asked)))
    return FOUND if any(finding.severity is Severity.ERROR for finding in report.findings) else OK
