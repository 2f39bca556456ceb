"""Series of the logs of nccl-tests and rccl-tests: collective and ranks follow from columns if not stated. Also the
logs that a spec names, which are of these tests.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path as FilePath

from clusterspec.logs.benchmarks.benchmark import (
    MOST_RANKS,
    Benchmark,
    Evidence,
    Series,
    SizePoint,
    largest_communicator,
    ranks_from_ratio,
)
from clusterspec.logs.benchmarks.launch_lines import nodes_launched
from clusterspec.logs.benchmarks.nccl_commands import ranks_of_command
from clusterspec.logs.benchmarks.nccl_rows import (
    LARGEST,
    NAMES,
    LogRow,
    NcclLog,
    NotALogError,
    hosts_of_lines,
    log_of_rows,
    log_tables,
    read_log,
)
from clusterspec.logs.files import log_text
from clusterspec.logs.text_lines import searched_part
from clusterspec.records import replace

# Inference of the collective and the number of ranks from the columns of a log that does not state them

_BYTES = {
    "int8": 1,
    "uint8": 1,
    "f8e4m3": 1,
    "f8e5m2": 1,
    "fp8_e4m3": 1,
    "fp8_e5m2": 1,
    "half": 2,
    "bfloat16": 2,
    "int32": 4,
    "uint32": 4,
    "float": 4,
    "int64": 8,
    "uint64": 8,
    "double": 8,
}


def collective_of(log: NcclLog) -> str | None:
    """The collective named in a log, else the only one compatible with its columns, else None."""
    if log.tests:
        return log.tests[0] if len(log.tests) == 1 and log.tests[0] in NAMES.values() else None
    line = log.lines[-1]
    parts = _shard_count(line)
    if line.redop == "" and "type" in log.header:
        return _implied_collective(log.header)
    if line.redop not in {"", "none"}:
        return _reduction_collective(line, parts)
    if line.redop == "none" and parts is not None:
        return _exchange_collective(log) if parts > 1 else _point_to_point_collective(line)
    return "all-reduce" if _bandwidth_ratio(line) > 1.02 else None


def _implied_collective(header: tuple[str, ...]) -> str:
    """The collective implied by the columns of releases before 2.11, which omit unused ones (nccl-tests, src/*.cu)."""
    if "redop" in header:
        return "all-to-all"
    return "broadcast" if "root" in header else "all-gather"


def _reduction_collective(line: LogRow, parts: int | None) -> str | None:
    """The collective of a log with a reduction operation: all-reduce, reduce-scatter, or send, which prints no root."""
    if parts is not None and parts > 1:
        return "reduce-scatter"
    return "all-reduce" if _bandwidth_ratio(line) > 1.02 else None


def _exchange_collective(log: NcclLog) -> str | None:
    """All-to-all or all-gather: only the latter is checked in place; None for unchecked logs."""
    checked = [line.wrong for line in log.lines if len(line.wrong) == 2 and line.wrong[0] != "N/A"]
    if not checked:
        return None
    return "all-to-all" if all(in_place == "N/A" for _, in_place in checked) else "all-gather"


def _point_to_point_collective(line: LogRow) -> str | None:
    return "broadcast" if line.root not in {"", "-1"} else None


def ranks_of(log: NcclLog, collective: str | None) -> int | None:
    """The ranks that a log reports, else those implied by counts or bandwidths; None if ambiguous."""
    if log.ranks is not None:
        return log.ranks
    line = max(log.lines, key=lambda each: each.algbw)
    parts = _shard_count(line)
    if parts is not None and parts > 1:
        return parts
    return ranks_from_ratio(line.algbw, line.busbw, line.rounding) if collective == "all-reduce" else None


def _bandwidth_ratio(line: LogRow) -> float:
    return line.busbw / line.algbw if line.algbw > 0 else 0.0


def _shard_count(line: LogRow) -> int | None:
    """The number of shards of the buffer; None if the columns do not determine it."""
    width = _BYTES.get(line.type)
    if width is None or not line.count.isdecimal() or len(line.count) > 18 or int(line.count) == 0:
        return None
    parts = round(line.size / (int(line.count) * width))
    return parts if 1 <= parts <= MOST_RANKS else None


# nccl-tests and rccl-tests: the table of results and the `NCCL_DEBUG` lines around it

TOOL = "nccl-tests"
_ROW = re.compile(
    r"^.{0,160}?(?:^|\s)[0-9][0-9_]*\s+[0-9]+\s+(?:int8|uint8|half|float|double|bfloat16|u?int(?:32|64)|fp?8\S*)\s+\S+\s+-?[0-9]+"
    r"\s+[0-9.]+\s+[0-9.]+\s+[0-9.]+",
    re.MULTILINE,
)
_ALGORITHMS = {"ring": "ring", "tree": "tree", "nvls": "nvls", "nvlstree": "nvls-tree"}


def is_nccl_output(head: str) -> bool:
    """Whether a text looks like the output of nccl-tests."""
    titled = re.search(r"^(?>.{0,80}?\bsize\b)(?>.*?\btime\b)(?>.*?\balgbw\b).*?\bbusbw\b", head, re.MULTILINE)
    return bool(titled and "size(B)" not in head) or bool(_ROW.search(head)) or "# nThread" in head


def read(text: str) -> Benchmark:
    """The series of a log. Raises `NotALogError` if there is none, or where its rows contradict themselves."""
    from clusterspec.logs.statements.device_names import device_statements  # patterns that no log of a spec needs
    from clusterspec.logs.statements.statement_search import log_evidence

    searched, left_out = searched_part(text)
    evidence, tables = log_evidence(searched), log_tables(text)
    own = [evidence] if len(tables) == 1 else [log_evidence(searched_part(part)[0]) for part, _, _ in tables]
    logs = [(log_of_rows(*table), of_table, table) for of_table, table in zip(own, tables, strict=True)]
    series = (
        replace(
            _series_of(log if largest_communicator(own)[0] else _with_command(log, table), own),
            hosts=max(hosts_of_lines(table[0]), nodes_launched(table[0])),
        )
        for log, own, table in logs
    )
    devices = tuple(device_statements(text))
    return Benchmark(TOOL, tuple(series), evidence=evidence, left_out=left_out, devices=devices)


def _with_command(log: NcclLog, table: tuple[str, tuple[LogRow, ...], int]) -> NcclLog:
    """A log without a list of devices with the ranks of the command above its rows, unless its columns imply others,
    or several hosts print its lines: the command is of one process, and a launcher starts it on each.
    """
    text, rows, start = table
    if max(hosts_of_lines(text), nodes_launched(text)) > 1:
        return log
    head = "\n".join(text.splitlines()[: rows[0].number - start])
    stated = ranks_of_command(head) if log.ranks is None else None
    implied = ranks_of(log, collective_of(log))
    return replace(log, ranks=stated, nodes=1) if stated and implied in {None, stated} else log


def _series_of(log: NcclLog, evidence: tuple[Evidence, ...]) -> Series:
    """The series of one table, with the number of ranks from its header, or from its columns if the header lists none
    or fewer (a shortened list).
    """
    most, hosts = largest_communicator(evidence)
    collective = collective_of(log)
    implied, listed = ranks_of(replace(log, ranks=None), collective), None
    if log.ranks and implied and implied > log.ranks:
        log, listed = replace(log, ranks=None, nodes=None), log.ranks
    ranks = log.ranks or most or implied
    nodes = log.nodes or (hosts if most == ranks else None)
    points = _size_points(log)
    if not points:
        raise NotALogError("every row has a size or a time of zero")
    found = Series(
        collective, ranks, nodes, points, _forced_algorithm(evidence), log.wrong, log.device, log.buses, log.jobs
    )
    return replace(found, unchecked=log.unchecked, listed=listed)


def _size_points(log: NcclLog) -> tuple[SizePoint, ...]:
    return tuple(
        SizePoint(line.size, line.seconds, line.busbw, line.number) for line in log.lines if line.size and line.seconds
    )


def _forced_algorithm(evidence: tuple[Evidence, ...]) -> str | None:
    """The algorithm forced by the environment; None if NCCL chose it."""
    forced = {
        each.text.split()[-1].lower() for each in evidence if each.name == "environment" and "_ALGO " in each.text
    }
    return _ALGORITHMS.get(forced.pop()) if len(forced) == 1 else None


# The logs of collective benchmarks that a spec names: read from its folder, and bounded in bytes

MOST_BYTES = 4 * LARGEST
"""Bytes of all logs of one spec."""


def read_logs(names: Iterable[str], folder: FilePath) -> dict[str, NcclLog | NotALogError]:
    """Log by file name, relative to the folder of a spec; an error in its place where a file is no log."""
    logs = SpecLogs(folder)
    return {name: logs.log_named(name) for name in names}


class SpecLogs:
    """The logs of one spec. Each file is read once, even if it is no log; together they have at most `MOST_BYTES`."""

    def __init__(self, folder: FilePath) -> None:
        self.folder = folder
        self.left = MOST_BYTES
        self.known: dict[str, NcclLog | NotALogError] = {}

    def log_named(self, name: str) -> NcclLog | NotALogError:
        """The log of a name, or the reason why it is none."""
        place = os.path.normpath(name)
        if place not in self.known:
            try:
                self.known[place] = self._read_nccl_log(name)
            except NotALogError as fault:
                self.known[place] = fault
        return self.known[place]

    def _read_nccl_log(self, name: str) -> NcclLog:
        if self.left <= 0:
            raise NotALogError(f"the logs of the spec have more than {MOST_BYTES >> 20} MiB together")
        text = log_text(name, self.folder)
        self.left -= len(text)
        return read_log(text)
