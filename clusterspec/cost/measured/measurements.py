"""Resolves `measured:` to measurements: the collective, its ranks, and bus bandwidth in B/s by size.

A log is read from the folder of the spec only. An entry and its log must agree. A measurement with a value that
neither states is not used.
"""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Sequence
from math import isclose
from pathlib import Path as FilePath
from typing import TypeVar

from clusterspec.cluster.groups import Placement, contiguous
from clusterspec.cluster.model import Cluster
from clusterspec.cost.collectives.ceilings import factor
from clusterspec.finding import Problem
from clusterspec.logs.inference import collective_of, ranks_of
from clusterspec.logs.nccl_tests import DISAGREES, LARGEST, NcclLog, NotALogError, read_log
from clusterspec.records import dataclass
from clusterspec.source import Path
from clusterspec.spec.model import MeasuredSpec
from clusterspec.summation import sum_of

T = TypeVar("T")

RULE = "unreadable-log"
MOST_BYTES = 4 * LARGEST
"""Bytes of all logs of one spec."""
_ADVICE = "give the raw output of nccl-tests or rccl-tests, as a file beside the spec"


@dataclass(frozen=True, slots=True)
class MeasuredSize:
    """One size in bytes, as nccl-tests counts it, and its bus bandwidth in B/s."""

    size: float
    busbw: float


@dataclass(frozen=True, slots=True)
class Measurement:
    """One entry of `measured:`; ``rows`` in ascending size. A value is ``None`` where neither entry nor log states it.

    ``at`` is the key that holds the figure; ``wrong`` the number of wrong results in the log.
    """

    index: int
    at: Path
    collective: str | None
    ranks: int | None
    nodes: int | None
    rows: tuple[MeasuredSize, ...]
    algorithm: str | None = None
    log: str | None = None
    wrong: int = 0

    @property
    def largest(self) -> MeasuredSize | None:
        """The largest size, where collectives come closest to their plateau."""
        return self.rows[-1] if self.rows else None

    def group(self, cluster: Cluster) -> Placement | None:
        """The placement of its ranks; None for a single rank or an unknown number of ranks."""
        if self.ranks is None or self.ranks < 2:
            return None
        return contiguous(cluster, self.ranks, self.nodes)


def resolve_measurements(
    entries: Sequence[MeasuredSpec], cluster: Cluster | None, folder: FilePath
) -> tuple[tuple[Measurement, ...], list[Problem]]:
    """The measurements of a spec in ``folder``, and a problem for each unusable log."""
    measurements, problems = [], []
    logs = _Logs(folder)
    for index, entry in enumerate(entries):
        try:
            log = logs.named(entry.log) if entry.log is not None else None
            measurements.append(_resolve(index, entry, log, cluster))
        except NotALogError as fault:
            problems.append(Problem(RULE, ("measured", index, "log"), f"{_short(entry.log or '')}: {fault}", _ADVICE))
    return tuple(measurements), problems


class _Logs:
    """The logs of one spec. Each is read once, also where it is none; together they have at most `MOST_BYTES`."""

    def __init__(self, folder: FilePath) -> None:
        self.folder = folder
        self.left = MOST_BYTES
        self.known: dict[str, NcclLog | NotALogError] = {}

    def named(self, name: str) -> NcclLog:
        """The log of a name. Raises `NotALogError`."""
        place = os.path.normpath(name)
        if place not in self.known:
            try:
                self.known[place] = self._read(name)
            except NotALogError as fault:
                self.known[place] = fault
        log = self.known[place]
        if isinstance(log, NotALogError):
            raise log
        return log

    def _read(self, name: str) -> NcclLog:
        if self.left <= 0:
            raise NotALogError(f"the logs of the spec have more than {MOST_BYTES >> 20} MiB together")
        text = _text(name, self.folder)
        self.left -= len(text)
        return read_log(text)


def _resolve(index: int, entry: MeasuredSpec, log: NcclLog | None, cluster: Cluster | None) -> Measurement:
    named = collective_of(log) if log else None
    collective = _agreed(entry.collective, named, "a log of {log}, and the entry says {entry}")
    per_node = cluster.ranks_per_node if cluster else None
    stated = entry.ranks or (entry.nodes * per_node if entry.nodes and per_node else None)
    counted = ranks_of(log, collective) if log else None
    ranks = _agreed(entry.ranks, counted, "a log of {log} ranks, and the entry says {entry}") or stated
    nodes = entry.nodes or (log.nodes if log else None) or (-(-ranks // per_node) if ranks and per_node else None)
    if log is not None:
        _fits(log, collective, ranks)
    rows = _rows_of(log) if log else _stated(entry, collective, ranks)
    key = "log" if log else "busbw" if entry.busbw is not None else "algbw"
    path = ("measured", index, key)
    wrong = log.wrong if log else 0
    return Measurement(index, path, collective, ranks, nodes, rows, entry.algorithm, entry.log, wrong)


def _agreed(stated: T | None, logged: T | None, how: str) -> T | None:
    """The value of the entry, else that of the log. Raises `NotALogError` if they differ."""
    if stated is not None and logged is not None and stated != logged:
        raise NotALogError(how.format(entry=stated, log=logged))
    return stated if stated is not None else logged


def _fits(log: NcclLog, collective: str | None, ranks: int | None) -> None:
    """Raises `NotALogError` if the two bandwidths are not those of this collective on these ranks."""
    line = max(log.lines, key=lambda each: each.algbw)
    if collective is None or ranks is None or line.algbw <= 0:
        return
    expected = factor(collective, ranks)
    if not isclose(line.busbw / line.algbw, expected, rel_tol=DISAGREES):
        ratio = f"busbw is {line.busbw / line.algbw:.4g} times algbw"
        raise NotALogError(f"{ratio}, and {collective} on {ranks} ranks has {expected:.4g}", line.number)


def _rows_of(log: NcclLog) -> tuple[MeasuredSize, ...]:
    """One row for each size: sizes that were run several times by their mean time."""
    seconds: defaultdict[float, list[float]] = defaultdict(list)
    ratio: dict[float, float] = {}
    for line in log.lines:
        if line.seconds > 0 and line.algbw > 0:
            seconds[line.size].append(line.seconds)
            ratio[line.size] = line.busbw / line.algbw
    return tuple(
        MeasuredSize(size, ratio[size] * size * len(times) / sum_of(times)) for size, times in sorted(seconds.items())
    )


def _stated(entry: MeasuredSpec, collective: str | None, ranks: int | None) -> tuple[MeasuredSize, ...]:
    """The one row of an entry without a log; algbw becomes busbw by the factor of nccl-tests."""
    if entry.size is None:
        return ()
    if entry.busbw is not None:
        return (MeasuredSize(entry.size.value, entry.busbw.per_direction),)
    if entry.algbw is None or collective is None or ranks is None or ranks < 2:
        return ()
    return (MeasuredSize(entry.size.value, entry.algbw.per_direction * factor(collective, ranks)),)


def _text(name: str, folder: FilePath) -> str:
    """The text of a log. Raises `NotALogError` if it is missing, lies outside the folder, or is not a regular file."""
    try:
        path = (folder / name).resolve()
        inside = path.is_relative_to(folder.resolve()) and not FilePath(name).is_absolute()
    except (OSError, ValueError, RuntimeError):
        raise NotALogError("the file cannot be opened") from None
    if not inside:
        raise NotALogError("lies outside the folder of the spec")
    data = _bytes(path)
    if len(data) > LARGEST:
        raise NotALogError(f"is larger than {LARGEST // 1024**2} MiB, the most that is read of a log")
    return data.decode("utf-8", "replace")


def _bytes(path: FilePath) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # a pipe must not make us wait
    except FileNotFoundError:
        raise NotALogError("the folder of the spec has no such file") from None
    except OSError as error:
        raise NotALogError(f"cannot be read: {(error.strerror or 'no reason given').lower()}") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NotALogError("is not an ordinary file")
        return _all(descriptor)
    except OSError as error:
        raise NotALogError(f"cannot be read: {(error.strerror or 'no reason given').lower()}") from None
    finally:
        os.close(descriptor)


def _all(descriptor: int) -> bytes:
    """The content of a file, up to one byte more than the size limit of logs."""
    parts: list[bytes] = []
    while sum(map(len, parts)) <= LARGEST and (part := os.read(descriptor, LARGEST + 1)):
        parts.append(part)
    return b"".join(parts)


def _short(text: str) -> str:
    """A file name, shortened for one line."""
    shown = "".join(character if character.isprintable() else "?" for character in text)
    return f"`{shown}`" if len(shown) <= 80 else f"`{shown[:79]}…`"
