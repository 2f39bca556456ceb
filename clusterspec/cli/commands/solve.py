"""``clusterspec solve SPEC --for KEY --until CONDITION``."""

from __future__ import annotations

import argparse

from clusterspec.cli import UsageFault
from clusterspec.cli.inputs import status_of, study_with_errors_named
from clusterspec.cli.terminal import ink, print_json, print_text
from clusterspec.exploration.boundary import solve
from clusterspec.report import solve_text
from clusterspec.search.conditions import ConditionFault


def run(args: argparse.Namespace) -> int:
    """Print the minimum or maximum of a key that meets a condition."""
    study = study_with_errors_named(args, args.spec)
    try:
        report = solve(study, args.key, args.until, best_layout=args.layout == "best")
    except ConditionFault as fault:
        raise UsageFault(str(fault)) from None
    if args.format == "json":
        print_json(report.to_json())
    else:
        print_text(solve_text.solve(report, ink(args)))
    return status_of(study, told=True)
