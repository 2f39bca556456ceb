"""``clusterspec accept SPEC LOG…``."""

from __future__ import annotations

import argparse

from clusterspec.cli import FOUND, OK, SpecFault
from clusterspec.cli.inputs import study_of
from clusterspec.cli.logs import benchmarks
from clusterspec.cli.terminal import ink, print_error, print_json, print_text
from clusterspec.exchange.import_result import UnresolvedSpec
from clusterspec.measurement import accept
from clusterspec.report import diagnosis_text
from clusterspec.units import plural


def run(args: argparse.Namespace) -> int:
    """Print the tests with their status; 1 if one fails or was not run."""
    study = study_of(args, args.spec)
    try:
        report, unclear = accept(study, benchmarks(args.logs))
    except UnresolvedSpec as why:
        raise SpecFault(f"{args.spec}: {why}; `clusterspec check` reports details") from None
    for each in unclear:
        print_error(f"clusterspec: {each}; skipped")
    if args.format == "json":
        print_json(report.to_json())
    else:
        print_text(diagnosis_text.acceptance(report, ink(args)))
    if report.passed and not unclear:
        return OK
    missed = sum(test.status != "pass" for test in report.tests)
    print_error(f"clusterspec: {plural(missed, 'test')} failed or not run; the exit status is 1")
    return FOUND
