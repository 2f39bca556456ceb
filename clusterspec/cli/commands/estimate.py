"""``clusterspec estimate SPEC``."""

from __future__ import annotations

import argparse

from clusterspec import pipeline
from clusterspec.cli import SpecFault, UsageFault
from clusterspec.cli.inputs import status_of, study_of
from clusterspec.cli.options import offer
from clusterspec.cli.terminal import ink, print_json, print_text
from clusterspec.report import estimate_assumptions, estimate_explain, estimate_text
from clusterspec.results import EstimateReport

MOST_NAMED = 12
"""Number of names listed in the message about an unknown name."""


def run(args: argparse.Namespace) -> int:
    """Print the estimate of a design, as far as it can be computed; 1 if the spec has errors."""
    study = study_of(args, args.spec)
    report = pipeline.estimate(study)
    if args.explain:
        print_text(explained(report, args))
    elif args.format == "json":
        print_json(report.to_json())
    elif args.assumptions or args.constants:
        shown = [
            (args.assumptions, estimate_assumptions.assumptions),
            (args.constants, estimate_assumptions.constants),
        ]
        print_text("\n".join(write(report, ink(args)) for wanted, write in shown if wanted))
    else:
        print_text(estimate_text.text(report, ink(args), pipeline.influences(study)))
    whole = args.format == "text" and not (args.explain or args.assumptions or args.constants)
    return status_of(study, told=whole)


def listed(report: EstimateReport, args: argparse.Namespace) -> str:
    """All assumptions, all constants, or both."""
    parts = [estimate_assumptions.assumptions(report, ink(args))] if args.assumptions else []
    parts += [estimate_assumptions.constants(report, ink(args))] if args.constants else []
    return "\n".join(parts)


def explained(report: EstimateReport, args: argparse.Namespace) -> str:
    """The explanation of a name.

    Raises `UsageFault` with the known names if it is unknown, `SpecFault` if the spec states too little.
    """
    found = estimate_explain.explain(report, args.explain, ink(args))
    if found is None:
        if report.plan.step is None and report.plan.serving is None:
            raise SpecFault(f"{args.spec}: states too little for an estimate of time; `clusterspec check` reports why")
        known = estimate_explain.names(report)
        meant = offer(args.explain, known) or f"; there are {', '.join(known[:MOST_NAMED])} and their parts"
        raise UsageFault(f"nothing is called {args.explain!r}{meant}")
    return found
