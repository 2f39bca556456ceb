"""``clusterspec bom SPEC``."""

from __future__ import annotations

import argparse

from clusterspec import pipeline
from clusterspec.cli.inputs import status_of, study_of
from clusterspec.cli.terminal import ink, print_json, print_text
from clusterspec.report import bill_text


def run(args: argparse.Namespace) -> int:
    """Print the bill of materials."""
    study = study_of(args, args.spec)
    report = pipeline.bill(study)
    if args.format == "json":
        print_json(report.to_json())
    else:
        print_text(bill_text.csv(report) if args.format == "csv" else bill_text.text(report, ink(args)))
    return status_of(study, told=args.format == "text")
