"""``clusterspec estimate SPEC``."""

from __future__ import annotations

import argparse

from clusterspec import pipeline
from clusterspec.cli import UsageFault
from clusterspec.cli.inputs import status_of, study_of
from clusterspec.cli.terminal import ink, say, say_json
from clusterspec.report import estimate_text
from clusterspec.results import EstimateReport


def run(asked: argparse.Namespace) -> int:
    """Prints what a design costs; 1 where the spec has errors, with what could be computed."""
    one = study_of(asked, asked.spec)
    report = pipeline.estimate(one)
    if asked.explain:
        say(explained(report, asked))
    elif asked.format == "json":
        say_json(report.to_json())
    else:
        say(estimate_text.text(report, ink(asked)))
    return status_of(one)


def explained(report: EstimateReport, asked: argparse.Namespace) -> str:
    """One term, by name; an unknown name is answered with the names there are."""
    found = estimate_text.explain(report, asked.explain, ink(asked))
    if found is None:
        names = ", ".join(estimate_text.names(report)) or "none: the spec is too incomplete to estimate"
        raise UsageFault(f"no term is called {asked.explain!r}; there are: {names}")
    return found
