"""``clusterspec cost SPEC``."""

from __future__ import annotations

import argparse

from clusterspec import pipeline
from clusterspec.cli.inputs import status_of, study_with_errors_named
from clusterspec.cli.terminal import ink, print_json, print_text
from clusterspec.report import cost_text


def run(args: argparse.Namespace) -> int:
    """Print the cost of a design over its term."""
    study = study_with_errors_named(args, args.spec)
    report = pipeline.cost(study)
    if args.format == "json":
        print_json(report.to_json())
    else:
        print_text(cost_text.csv(report) if args.format == "csv" else cost_text.text(report, ink(args)))
    return status_of(study, told=True)
