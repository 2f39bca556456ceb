"""``clusterspec diagnose SPEC LOG…``."""

from __future__ import annotations

import argparse
from pathlib import Path

from clusterspec.cli import FOUND, OK, UsageFault
from clusterspec.cli.inputs import STDIN, study_of
from clusterspec.cli.logs import benchmarks
from clusterspec.cli.output import write_whole
from clusterspec.cli.terminal import ink, print_json, print_text
from clusterspec.exchange.diagnosis.compare import LogOverrides
from clusterspec.exchange.import_result import FormatError, shown
from clusterspec.exchange.merge import Merged
from clusterspec.measurement import diagnose
from clusterspec.pipeline import Study
from clusterspec.records import replace
from clusterspec.report import diagnosis_text


def run(asked: argparse.Namespace) -> int:
    """Print the diagnosis; 1 if a collective is slower than expected."""
    one = study_of(asked, asked.spec)
    try:
        report, merged = diagnose(one, benchmarks(asked.logs), LogOverrides(asked.collective, asked.ranks))
    except FormatError as why:
        raise UsageFault(f"{asked.spec}: {why}") from None
    if asked.write:
        _write(asked, one, merged)
        report = replace(report, written=[shown(each.value) for each in merged.written])
    if asked.format == "json":
        print_json(report.to_json())
    else:
        print_text(diagnosis_text.text(report, ink(asked)))
    return FOUND if any(each.verdict == "slow" for each in report.compared) else OK


def _write(asked: argparse.Namespace, one: Study, merged: Merged) -> None:
    """Write the spec with the measurements."""
    if asked.spec == STDIN:
        raise UsageFault("--write: standard input cannot be written; name a file")
    if merged.written:
        mark = "\ufeff" if one.source.text.startswith("\ufeff") else ""
        write_whole(Path(asked.spec), (mark + merged.text).encode("utf-8", "surrogateescape"))
