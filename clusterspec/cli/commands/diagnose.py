"""``clusterspec diagnose SPEC LOG…``."""

from __future__ import annotations

import argparse
from pathlib import Path

from clusterspec.cli import FOUND, OK, SpecFault, UsageFault
from clusterspec.cli.inputs import STDIN, study_of
from clusterspec.cli.logs import benchmarks
from clusterspec.cli.output import keep_inputs, write_whole
from clusterspec.cli.terminal import ink, print_error, print_json, print_text
from clusterspec.exchange.diagnosis.compare import LogOverrides
from clusterspec.exchange.import_result import FormatError, UnresolvedSpec, shown
from clusterspec.exchange.merge import Merged
from clusterspec.measurement import diagnose
from clusterspec.pipeline import Study
from clusterspec.records import replace
from clusterspec.report import diagnosis_text
from clusterspec.units import plural


def run(args: argparse.Namespace) -> int:
    """Print the diagnosis; 1 if a collective is slower than expected."""
    study = study_of(args, args.spec)
    try:
        report, merged = diagnose(study, benchmarks(args.logs), LogOverrides(args.collective, args.ranks))
    except UnresolvedSpec as why:
        raise SpecFault(f"{args.spec}: {why}") from None
    except FormatError as why:
        raise UsageFault(f"{args.spec}: {why}") from None
    if args.write:
        _write(args, study, merged)
        report = replace(report, written=[shown(each.value) for each in merged.written])
    if args.format == "json":
        print_json(report.to_json())
    else:
        print_text(diagnosis_text.text(report, ink(args)))
    slow = sum(each.verdict == "slow" for each in report.compared)
    if slow:
        print_error(f"clusterspec: {plural(slow, 'log')} slower than expected; the exit status is 1")
    return FOUND if slow else OK


def _write(args: argparse.Namespace, study: Study, merged: Merged) -> None:
    """Write the spec with the measurements. Raises `UsageFault` if that is not possible."""
    if args.spec == STDIN:
        raise UsageFault("--write: standard input cannot be written; name a file")
    keep_inputs(args, "--write", args.spec, args.logs, study.settings.config)
    if merged.written:
        mark = "\ufeff" if study.source.text.startswith("\ufeff") else ""
        write_whole(Path(args.spec), (mark + merged.text).encode("utf-8", "surrogateescape"))
