"""Benchmark logs: collectives compared with the design, and likely causes of low bandwidth."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from clusterspec.analysis.diagnosis.causes import causes, impossible_causes
from clusterspec.analysis.diagnosis.deciding_checks import deciding_check
from clusterspec.analysis.diagnosis.open_causes import causes_alike
from clusterspec.analysis.diagnosis.other_devices import have_other_links, other_devices
from clusterspec.analysis.diagnosis.placed_runs import LogOverrides, NotComparable, PlacedRun, placed_run
from clusterspec.analysis.diagnosis.release_causes import published_faults
from clusterspec.analysis.diagnosis.several_logs import first_failing_first
from clusterspec.analysis.diagnosis.slow_causes import is_reported_slow
from clusterspec.analysis.merged_parts import merged_into, study_of_merged
from clusterspec.analysis.outputs import estimate
from clusterspec.catalog import Catalog
from clusterspec.catalog.releases import ReleaseFault
from clusterspec.cluster.model import Cluster
from clusterspec.document import read_bytes
from clusterspec.exchange.import_result import (
    LARGEST,
    LONGEST_LINE,
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    UnresolvedSpec,
    Value,
)
from clusterspec.exchange.merge import MergedText
from clusterspec.exchange.workloads.step_logs.step_lines import step_program
from clusterspec.logs.benchmarks.benchmark import Benchmark, Evidence, Series
from clusterspec.logs.benchmarks.nccl_rows import NotALogError
from clusterspec.logs.benchmarks.pair_faults import OF_PAIRS
from clusterspec.logs.benchmarks.readers import read_benchmark
from clusterspec.logs.benchmarks.stopped_tables import stops_amid_table, with_stop
from clusterspec.logs.reports.report_sentences import reported_fault
from clusterspec.logs.reports.worded_causes import suspected_statements
from clusterspec.logs.statements.statement_search import log_evidence
from clusterspec.logs.statements.unfinished import TOOL as UNFINISHED
from clusterspec.logs.statements.unfinished import read_unfinished
from clusterspec.logs.text_lines import searched_part
from clusterspec.logs.told_lines import states_success
from clusterspec.records import dataclass, replace
from clusterspec.results.diagnosis import ComparedCollective, DiagnosisReport, FigureChange
from clusterspec.studies import Study
from clusterspec.units import size_text

# Diagnosis of benchmark logs: each collective compared with the design, with the likely causes of low bandwidth


@dataclass(frozen=True)
class Diagnosis:
    """The runs that were compared, and the logs that were not, with the reason."""

    runs: tuple[PlacedRun, ...]
    compared: tuple[ComparedCollective, ...]
    unread: tuple[tuple[str, str], ...]


def diagnosis_of(
    cluster: Cluster,
    logs: Sequence[tuple[str, Benchmark]],
    overrides: LogOverrides,
    published: tuple[ReleaseFault, ...] = (),
    catalog: Catalog | None = None,
    *,
    work: str = "",
) -> Diagnosis:
    """The diagnosis of named logs on a cluster; ``published`` are the faults of releases of its collective library,
    and ``work`` is the kind of work of the design. With a ``catalog``, the devices that a log prints are compared with
    the cluster's.
    """
    runs: list[PlacedRun] = []
    unread: list[tuple[str, str]] = []
    for log, benchmark in logs:
        if not benchmark.series:
            unread.append((log, benchmark.reason_without_series))
        others = other_devices(cluster, benchmark, catalog)
        links = have_other_links(cluster, benchmark, catalog)
        for series in benchmark.series:
            try:
                run = placed_run(cluster, benchmark, series, log, overrides)
                facts = replace(run, published=published, work=work)
                runs.append(replace(facts, other_devices=others, other_links=links))
            except NotComparable as why:
                unread.append((log, str(why)))
    return Diagnosis(tuple(runs), first_failing_first(runs, tuple(map(_compared_run, runs))), tuple(unread))


def _compared_run(run: PlacedRun) -> ComparedCollective:
    algorithm = run.series.algorithm or ""
    rows = run.rows if run.has_result else ()
    found = causes(run)
    errors = [] if found else [f"line {line}: {text}" for text, line in run.log_lines("error")]
    error = errors[0] if errors else ""
    compared = ComparedCollective(
        run.log,
        run.name,
        run.group.ranks,
        run.group.nodes,
        algorithm,
        rows,
        found,
        error,
        run.assumed_ranks,
        run.benchmark.left_out,
    )
    undecided = is_reported_slow(run) and not any(cause.is_likely for cause in found)
    return replace(
        compared,
        alike=causes_alike(run, found, error),
        other_devices=run.other_devices,
        deciding=deciding_check(found) if undecided else "",
    )


def _is_measurement(run: PlacedRun) -> bool:
    """Whether a run has a result that its spec can keep: of its accelerators, and not above line rate."""
    return run.has_result and not run.other_devices and not impossible_causes(run)


def calibration(runs: Sequence[PlacedRun]) -> ImportResult:
    """The `measured:` entries of runs, each at its largest size; none of runs on other accelerators."""
    builder = ImportBuilder("diagnosis", "")
    for run in runs:
        if not _is_measurement(run):
            continue
        last = run.series.largest
        entry: dict[str, Value] = {
            "collective": run.name,
            "nodes": run.group.nodes,
            "ranks": run.group.ranks,
            "size": size_text(last.size),
            "busbw": f"{run.largest.measured / 1e9:.6g} GB/s",
        }
        if run.series.algorithm:
            entry["algorithm"] = run.series.algorithm
        builder.file = run.log
        builder.append("measured", entry, last.line)
    return builder.reading()


# Logs against a design: the diagnosis, as the commands and the library return it

NOTHING_STATED = LogOverrides()
Logs = Sequence[tuple[str, Benchmark]]
"""Logs by the names that reports use."""
MOST_LINES = 1_000_000
"""Largest number of lines of a log: more than a file of the maximum size has with lines of 33 characters, the
shortest of libraries.
"""


def read_log(name: str, data: bytes, *, unfinished: bool = False) -> Benchmark:
    """The benchmark log in a file's bytes; with ``unfinished`` also one of a run that has no result.

    Raises `FormatError` if they are no log or too large.
    """
    if data.count(b"\n") > MOST_LINES:
        raise FormatError(f"has more than {MOST_LINES:,} lines, the maximum for a log")
    digest = hashlib.sha256(data).hexdigest()
    file = InputFile(name, with_whole_characters(with_lines_cut(data) if unfinished else data))
    text = file.unpainted
    try:
        found = read_benchmark(text)
    except NotALogError as why:
        started = read_unfinished(text) if unfinished else None
        if started is None:
            raise FormatError(_without_error(text, str(why)) if unfinished else str(why)) from None
        found = started
    return replace(_with_evidence(found, text) if unfinished else found, sha256=digest)


def _with_evidence(benchmark: Benchmark, text: str) -> Benchmark:
    """A benchmark with the statements of its text, where its reader reads none; one of pairs of accelerators has a
    series without sizes, whose causes its matrices show.
    """
    evidence = benchmark.evidence or log_evidence(searched_part(text)[0])
    if stops_amid_table(text, benchmark, evidence) and (stopped := read_unfinished(text)) is not None:
        return with_stop(benchmark, stopped)
    if benchmark.tool != UNFINISHED:
        evidence = (*evidence, *(Evidence(*each) for each in suspected_statements(text)))
    if benchmark.series or not benchmark.pairs or not any(each.name in OF_PAIRS for each in evidence):
        return replace(benchmark, evidence=evidence)
    return replace(benchmark, evidence=evidence, series=(Series(None, benchmark.pairs[0].accelerators, 1, ()),))


def with_lines_cut(data: bytes) -> bytes:
    """The bytes of a log with lines cut to `LONGEST_LINE` bytes, so that a configuration or a record on one line does
    not prevent the reading of other lines.

    >>> len(with_lines_cut(b"a" * 70_000 + b"\\nb")), with_lines_cut(b"a\\nb")
    (65538, b'a\\nb')
    """
    parts: list[bytes] = []
    start = written = 0
    while start + LONGEST_LINE < len(data):
        last = data.rfind(b"\n", start, start + LONGEST_LINE + 1)
        if last < 0:
            parts.append(data[written : start + LONGEST_LINE])
            last = data.find(b"\n", start + LONGEST_LINE)
            written = last = last if last >= 0 else len(data)
        start = last + 1
    return b"".join((*parts, data[written:])) if parts else data


def with_whole_characters(data: bytes) -> bytes:
    """The bytes of a log with U+FFFD in place of bytes that form no character: ranks that write concurrently may split
    a character. If more than one byte in 100 forms no character, the bytes are unchanged.

    >>> with_whole_characters("50%|█".encode()[:-1] + b"\\n" + b"." * 400).count("\\N{REPLACEMENT CHARACTER}".encode())
    1
    """
    try:
        data.decode()
    except UnicodeDecodeError:
        text = data.decode(errors="replace")
        return text.encode() if text.count("\N{REPLACEMENT CHARACTER}") * 100 <= len(text) else data
    return data


def _without_error(text: str, why: str) -> str:
    """Why a text is neither a benchmark nor a run that stopped."""
    if states_success(text):
        return "its run states that it ended with success"
    steps = step_program(text)
    if steps:
        return f"it has steps of {steps}, but neither the result of a collective nor a line that reports an error"
    if (fault := reported_fault(text)) is not None:
        return f"line {fault[1]} reports a fault ({fault[0]}), but no line and no wording shows a known cause"
    left_out = searched_part(text)[1]
    if left_out:
        return f"{why}; no line that was searched reports an error, and {left_out:,} were not: too many differ"
    return f"{why}, and no line of it tells of an error"


def read_logs(paths: Sequence[str | Path], *, unfinished: bool = False) -> Logs:
    """The logs in some files, as `read_log` reads each. Raises `OSError`, and `FormatError` for a file that is not a
    log.
    """
    return [(Path(path).name, read_log(str(path), read_bytes(path, LARGEST), unfinished=unfinished)) for path in paths]


def diagnose(
    study: Study, logs: Logs, overrides: LogOverrides = NOTHING_STATED, skipped: Sequence[tuple[str, str]] = ()
) -> tuple[DiagnosisReport, MergedText]:
    """Every collective of some logs compared with the design, and the spec with the measurements in it; ``skipped``
    are files that are no logs, with the reasons, for the report.

    Raises `UnresolvedSpec` if the cluster cannot be resolved, and `FormatError` if nothing can be compared or the
    measurements cannot be inserted.
    """
    cluster = study.design.cluster
    if cluster is None:
        raise UnresolvedSpec("the cluster cannot be resolved; `clusterspec check` reports the reason")
    catalog = study.settings.catalog
    work = study.design.workload.kind if study.design.workload is not None else ""
    found = diagnosis_of(cluster, logs, overrides, published_faults(cluster, catalog), catalog, work=work)
    if not found.compared:
        raise FormatError("; ".join(f"{log}: {why}" for log, why in found.unread[:3]) or "no log is given")
    merged = merged_into(study, calibration(found.runs))
    report = DiagnosisReport(
        study.settings.tool,
        study.input,
        found.compared,
        (*found.unread, *skipped),
        _step_time_change(study, merged) if any(map(_is_measurement, found.runs)) else None,
    )
    return report, merged


def _step_time_change(study: Study, merged: MergedText) -> FigureChange | None:
    """The step time without and with the measurements; None if the spec has no work."""
    if study.design.workload is None:
        return None
    again = study_of_merged(study, merged)
    return FigureChange(_step_time(study), _step_time(again))


def _step_time(study: Study) -> float | None:
    value = estimate(study).to_json().get("step_time")
    return float(value) if isinstance(value, int | float) else None
