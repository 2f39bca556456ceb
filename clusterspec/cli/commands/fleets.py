"""The output of ``estimate``, ``cost`` and ``bom`` for a whole fleet."""

from __future__ import annotations

import argparse

from clusterspec.analysis.comparison import Names
from clusterspec.analysis.fleets.results import fleet_diff, fleet_report
from clusterspec.cli.inputs import status_of
from clusterspec.cli.terminal import ink_of, print_json, print_text
from clusterspec.report import fleet_costs, fleet_diff_text, fleet_text
from clusterspec.results.fleet import FleetReport
from clusterspec.studies import Study


def print_fleet(args: argparse.Namespace, study: Study, verb: str) -> int:
    """Print the result of a command for all jobs and pools. Returns 1 if the spec has errors."""
    report = fleet_report(study, verb)
    if args.format == "json":
        print_json(report.to_json())
    elif args.format == "csv":
        print_text(fleet_costs.fleet_bill_csv(report) if verb == "bom" else fleet_text.fleet_csv(report))
    else:
        print_text(_fleet_report_text(report, verb, args))
    return status_of(study, printed=args.format == "text")


def print_fleet_diff(args: argparse.Namespace, old: Study, new: Study, names: tuple[Names, Names]) -> int:
    """Print the difference of two fleets. Returns 1 if the new one has errors."""
    report = fleet_diff(old, new, names)
    if args.format == "json":
        print_json(report.to_json())
    else:
        print_text(fleet_diff_text.fleet_diff_text(report, ink_of(args), markdown=args.format == "markdown"))
    return status_of(new, name=args.new)


def _fleet_report_text(report: FleetReport, verb: str, args: argparse.Namespace) -> str:
    texts = {"bom": fleet_text.fleet_bill_text, "cost": fleet_text.fleet_cost_text}
    return texts.get(verb, fleet_text.fleet_text)(report, ink_of(args))
