"""``clusterspec bom`` and ``clusterspec cost``."""

from __future__ import annotations

import argparse

from clusterspec import analysis
from clusterspec.cli.inputs import status_of, study_of, study_with_errors_named
from clusterspec.cli.options import format_option, spec_argument
from clusterspec.cli.terminal import ink_of, print_json, print_text
from clusterspec.report import cost_text

# Options of ``clusterspec bom``


def describe_bom(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    spec_argument(parser)
    format_option(parser, "text", "json", "csv")


# Options of ``clusterspec cost``


def describe_cost(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    spec_argument(parser)
    format_option(parser, "text", "json", "csv")


# ``clusterspec bom SPEC``


def run_bom(args: argparse.Namespace) -> int:
    """Print the bill of materials."""
    study = study_of(args, args.spec)
    report = analysis.bill(study)
    if args.format == "json":
        print_json(report.to_json())
    else:
        print_text(cost_text.bill_csv(report) if args.format == "csv" else cost_text.bill_text(report, ink_of(args)))
    return status_of(study, told=args.format == "text")


# ``clusterspec cost SPEC``


def run_cost(args: argparse.Namespace) -> int:
    """Print the cost of a design over its term."""
    study = study_with_errors_named(args, args.spec)
    report = analysis.cost(study)
    if args.format == "json":
        print_json(report.to_json())
    else:
        print_text(cost_text.cost_csv(report) if args.format == "csv" else cost_text.cost_text(report, ink_of(args)))
    return status_of(study, told=True)
