"""``clusterspec estimate SPEC``."""

from __future__ import annotations

import argparse

from clusterspec import pipeline
from clusterspec.cli import FOUND, OK, UsageFault
from clusterspec.cli.inputs import study_of
from clusterspec.cli.terminal import ink, say
from clusterspec.finding import Severity
from clusterspec.report import estimate_text
from clusterspec.report.findings_machines import dumps
from clusterspec.report.results import EstimateReport


def run(asked: argparse.Namespace) -> int:
    """Prints what a design costs; 1 where the spec has errors, with what could be computed."""
    report = pipeline.estimate(study_of(asked, asked.spec))
    if asked.explain:
        say(explained(report, asked))
    elif asked.format == "json":
        say(dumps(report.to_json()))
    else:
        say(estimate_text.text(report, ink(asked)))
    return FOUND if any(finding.severity is Severity.ERROR for finding in report.findings) else OK


def explained(report: EstimateReport, asked: argparse.Namespace) -> str:
    """One term, by name; an unknown name is answered with the names there are."""
    found = estimate_text.explain(report, asked.explain, ink(asked))
    if found is None:
        names = ", ".join(estimate_text.names(report)) or "none: the spec is too incomplete to estimate"
        raise UsageFault(f"no term is called {asked.explain!r}; there are: {names}")
    return found
