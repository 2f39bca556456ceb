"""``clusterspec diagnose SPEC LOG…``."""

from __future__ import annotations

import argparse
from pathlib import Path

from clusterspec.cli import FOUND, OK, UsageFault
from clusterspec.cli.inputs import STDIN, Desk, folder_of
from clusterspec.cli.logs import benchmarks
from clusterspec.cli.output import write_whole
from clusterspec.cli.terminal import ink, say, say_json
from clusterspec.exchange.diagnosis.compare import Stated
from clusterspec.exchange.diagnosis.diagnose import calibration, diagnose
from clusterspec.exchange.merge import Merged, merge
from clusterspec.exchange.reading import Refusal, shown
from clusterspec.pipeline import Study, study_text
from clusterspec.report import diagnosis_text
from clusterspec.results.diagnosis import DiagnosisReport, Moved


def run(asked: argparse.Namespace) -> int:
    """Prints the diagnosis; 1 where a collective is slower than expected."""
    desk = Desk(asked)
    one = desk.study(asked.spec)
    cluster = one.design.cluster
    if cluster is None:
        raise UsageFault(f"{asked.spec}: the cluster cannot be settled; `clusterspec check` says why")
    found = diagnose(cluster, benchmarks(asked.logs), Stated(asked.collective, asked.ranks))
    if not found.compared:
        raise UsageFault(f"{found.unread[0][0]}: {found.unread[0][1]}")
    merged = _merged(one, calibration(found.runs)) if found.runs else None
    if asked.write and merged is not None:
        _write(asked, one, merged)
    written = [shown(each.value) for each in merged.written] if asked.write and merged else []
    moved = _moved(one, merged, desk, asked) if merged else None
    report = DiagnosisReport(one.settings.tool, one.input, found.compared, found.unread, moved, written)
    if asked.format == "json":
        say_json(report.to_json())
    else:
        say(diagnosis_text.text(report, ink(asked)))
    return FOUND if any(each.verdict == "slow" for each in found.compared) else OK


def _merged(one: Study, reading: object) -> Merged:
    """The spec with the measurements in it. Raises `UsageFault` where they cannot be inserted."""
    from clusterspec.exchange.reading import Reading

    assert isinstance(reading, Reading)
    try:
        return merge(one.source.text.removeprefix("\ufeff"), reading, one.input.name)
    except Refusal as why:
        raise UsageFault(str(why)) from None


def _write(asked: argparse.Namespace, one: Study, merged: Merged) -> None:
    if asked.spec == STDIN:
        raise UsageFault("--write: standard input cannot be written; name a file")
    if merged.written:
        mark = "\ufeff" if one.source.text.startswith("\ufeff") else ""
        write_whole(Path(asked.spec), (mark + merged.text).encode("utf-8", "surrogateescape"))


def _moved(one: Study, merged: Merged, desk: Desk, asked: argparse.Namespace) -> Moved | None:
    """The step time without and with the measurements; None where the spec has no work."""
    if one.design.workload is None:
        return None
    folder = folder_of(asked.spec)
    again = study_text(merged.text, desk.settings(folder), one.input.name, folder)
    return Moved(_step_time(one), _step_time(again))


def _step_time(one: Study) -> float | None:
    from clusterspec import pipeline

    value = pipeline.estimate(one).to_json().get("step_time")
    return float(value) if isinstance(value, int | float) else None
