"""``clusterspec sensitivity SPEC``."""

from __future__ import annotations

import argparse

from clusterspec.cli.inputs import status_of, study_with_errors_named
from clusterspec.cli.terminal import ink, print_json, print_text
from clusterspec.exploration.levers import sensitivity
from clusterspec.report import solve_text


def run(args: argparse.Namespace) -> int:
    """Print the effect of each lever, one step up and one down."""
    study = study_with_errors_named(args, args.spec)
    report = sensitivity(study)
    if args.format == "json":
        print_json(report.to_json())
    elif args.format == "csv":
        print_text(solve_text.sensitivity_csv(report))
    else:
        print_text(solve_text.sensitivity(report, ink(args)))
    return status_of(study, told=True)
