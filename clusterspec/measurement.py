"""Logs against a design: the diagnosis and the acceptance tests, as the commands and the library return them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from clusterspec.document import read_bytes
from clusterspec.exchange.acceptance import acceptance_cases, evaluate
from clusterspec.exchange.diagnosis.compare import LogOverrides
from clusterspec.exchange.diagnosis.diagnose import calibration
from clusterspec.exchange.diagnosis.diagnose import diagnose as compare
from clusterspec.exchange.import_result import FormatError, UnresolvedSpec
from clusterspec.exchange.input_file import LARGEST, InputFile
from clusterspec.exchange.merge import Merged, merge
from clusterspec.logs.benchmark import Benchmark
from clusterspec.logs.nccl_tests import NotALogError
from clusterspec.logs.readers import read_benchmark
from clusterspec.pipeline import Study, estimate, study_text
from clusterspec.results.diagnosis import AcceptanceReport, DiagnosisReport, Moved

Logs = Sequence[tuple[str, Benchmark]]
"""Logs by the names that reports use."""


def read_log(name: str, data: bytes) -> Benchmark:
    """The benchmark log in a file's bytes. Raises `FormatError` if they are no log or too large."""
    file = InputFile(name, data)
    try:
        return read_benchmark("\n".join(file.lines))
    except NotALogError as why:
        raise FormatError(str(why)) from None


def read_logs(paths: Sequence[str | Path]) -> Logs:
    """The logs in some files. Raises `OSError`, and `FormatError` for a file that is no log."""
    return [(Path(path).name, read_log(str(path), read_bytes(path, LARGEST))) for path in paths]


def diagnose(study: Study, logs: Logs, stated: LogOverrides) -> tuple[DiagnosisReport, Merged]:
    """Every collective of some logs compared with the design, and the spec with the measurements in it.

    Raises `UnresolvedSpec` if the cluster cannot be resolved, and `FormatError` if nothing can be compared or the
    measurements cannot be inserted.
    """
    cluster = study.design.cluster
    if cluster is None:
        raise UnresolvedSpec("the cluster cannot be resolved; `clusterspec check` reports the reason")
    found = compare(cluster, logs, stated)
    if not found.compared:
        raise FormatError("; ".join(f"{log}: {why}" for log, why in found.unread[:3]) or "no log is given")
    merged = merge(study.source.text.removeprefix("\ufeff"), calibration(found.runs), study.input.name)
    report = DiagnosisReport(study.settings.tool, study.input, found.compared, found.unread, _moved(study, merged))
    return report, merged


def _moved(study: Study, merged: Merged) -> Moved | None:
    """The step time without and with the measurements; None if the spec has no work."""
    if study.design.workload is None:
        return None
    again = study_text(merged.text, study.settings, study.input.name, study.folder)
    return Moved(_step_time(study), _step_time(again))


def _step_time(study: Study) -> float | None:
    value = estimate(study).to_json().get("step_time")
    return float(value) if isinstance(value, int | float) else None


def accept(study: Study, logs: Logs) -> tuple[AcceptanceReport, tuple[str, ...]]:
    """Every acceptance test with its status, and the tests of the spec that cannot be run, with the reasons.

    Raises `UnresolvedSpec` if there is no test that can be run.
    """
    tests, stated, unclear = acceptance_cases(study.design)
    if not tests:
        why = "the cluster cannot be resolved" if study.design.cluster is None else "it has no test that can be run"
        raise UnresolvedSpec("; ".join([why, *unclear]))
    outcomes, unused = evaluate(tests, logs)
    return AcceptanceReport(study.settings.tool, study.input, outcomes, unused, stated), unclear
