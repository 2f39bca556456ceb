"""``clusterspec faults SPEC --log LOG…``: failure rates from a team's own logs."""

from __future__ import annotations

import argparse
from pathlib import Path

from clusterspec import analysis
from clusterspec.cli import OK, SpecFault, UsageFault
from clusterspec.cli.commands.logs import write_spec
from clusterspec.cli.inputs import STDIN, read_bytes, study_of
from clusterspec.cli.terminal import print_result
from clusterspec.exchange.import_result import LARGEST, FormatError, InputFile, UnresolvedSpec
from clusterspec.exchange.merge import MergedText
from clusterspec.records import replace
from clusterspec.studies import Study
from clusterspec.units import UnitFault, read


def run_failure_rates(args: argparse.Namespace) -> int:
    """Print the rates, and store them with ``--write``. Raises `UsageFault` if a log does not give them."""
    from clusterspec.report.failure_rates_text import failure_rates_text

    if not args.log or args.pairs or args.format == "csv":
        raise UsageFault("--period, --nodes and --write belong to --log; --log takes no --pairs and prints no CSV")
    study = study_of(args, args.spec)
    files = [InputFile(name if name == STDIN else Path(name).name, read_bytes(name, LARGEST)) for name in args.log]
    try:
        report, merged = analysis.failure_rates_of(study, files, period=_stated_period(args.period), nodes=args.nodes)
    except UnresolvedSpec as why:
        raise SpecFault(f"{args.spec}: {why}") from None
    except FormatError as why:
        raise UsageFault(f"{', '.join(args.log)}: {why}") from None
    if args.write:
        _refuse_pool_without_job(study, merged)
        write_spec(args, study, merged, args.log)
        report = replace(report, written=tuple(".".join(map(str, each.path)) for each in merged.written))
    print_result(args, report, failure_rates_text)
    return OK


def _refuse_pool_without_job(study: Study, merged: MergedText) -> None:
    """Raises `UsageFault` for a pool without a place in the fleet's file where its rates could be stored."""
    if study.fleet_part is not None and not (merged.written or merged.same or merged.kept):
        pool = study.fleet_part[1].pool
        raise UsageFault(
            f"--write: no rate of pool `{pool}` can be stored: it has no job or no failure, and `operations` of the"
            " file applies to all pools"
        )


def _stated_period(text: str | None) -> float | None:
    """A stated period. Raises `UsageFault` if it is no positive time."""
    if text is None:
        return None
    try:
        value = read(text, "time").value
    except UnitFault as why:
        raise UsageFault(f"--period: {why}") from None
    if value <= 0:
        raise UsageFault(f"--period {text} is not a positive time")
    return value
