"""The content of a benchmark log: series of sizes, pairs, NCCL evidence, and the bandwidth ratios of collectives."""

from __future__ import annotations

import re
from math import ceil, floor

from clusterspec.records import dataclass
from clusterspec.units import plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.logs.statements.first_failures import RunEnding

# Statements of logs


@dataclass(frozen=True)
class Evidence:
    """A statement of a log: its name, its text and its line."""

    name: str
    text: str
    line: int
    count: int = 0
    """The number of parts that the statement counts: of addresses that are announced, or of active nodes."""


def adapter_count(evidence: tuple[Evidence, ...]) -> int | None:
    """The number of RDMA adapters that NCCL uses on a node: the maximum over ranks; None if no rank names any.

    Newer releases list the adapters that they merge into one device in braces: ``[0]={[0] mlx5_7:1, [1] mlx5_6:1}``.

    >>> adapter_count((Evidence("hcas", "[0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.1<0>", 3),))
    2
    >>> adapter_count((Evidence("hcas", "[0]={[0] mlx5_7:1/RoCE, [1] mlx5_6:1/RoCE} ; OOB eth0:10.0.0.1<0>", 3),))
    2
    """
    return _listed_device_count(evidence, "hcas")


def interface_count(evidence: tuple[Evidence, ...]) -> int | None:
    """The number of interfaces whose sockets NCCL uses on a node: the maximum over ranks; None if no rank names any.

    >>> interface_count((Evidence("socket", "[0]eth0:10.0.0.1<0> [1]eth1:10.0.1.1<0>", 3),))
    2
    """
    return _listed_device_count(evidence, "socket") or None


def _listed_device_count(evidence: tuple[Evidence, ...], name: str) -> int | None:
    """The most devices, numbered in brackets, that a line of this name lists."""
    counts = [len(re.findall(r"\[[0-9]+\](?!=)", each.text.split("OOB")[0])) for each in evidence if each.name == name]
    return max(counts, default=None)


_GROUPS = ("group", "group-of-node")
"""Statements of communicators: ranks and nodes; nodes and the ranks on one of them."""


def largest_communicator(evidence: tuple[Evidence, ...]) -> tuple[int | None, int | None]:
    """The ranks and nodes of the largest communicator in the log, from lines that state both (NCCL, `src/init.cc`),
    else from the nodes and the ranks on one of them.

    >>> largest_communicator((Evidence("group-of-node", "16 8", 1),))
    (128, 16)
    >>> largest_communicator((Evidence("group", "12 2", 1), Evidence("group-of-node", "2 8", 1)))
    (12, 2)
    """
    pairs = {name: [list(map(int, each.text.split())) for each in evidence if each.name == name] for name in _GROUPS}
    stated = pairs["group"] or [[nodes * ranks, nodes] for nodes, ranks in pairs["group-of-node"]]
    ranks, nodes = max(stated, default=(None, None))
    return ranks, nodes


# The content of a benchmark log, independent of the tool: series of sizes, pairwise bandwidths and evidence


@dataclass(frozen=True)
class SizePoint:
    """A message size of a series: bytes as nccl-tests counts them, seconds, bus bandwidth in B/s per direction."""

    size: float
    seconds: float | None
    busbw: float
    line: int


@dataclass(frozen=True)
class Series:
    """A collective over message sizes. Fields that the log lacks are None; ``wrong`` counts wrong results.

    ``device`` is the name of the accelerators as the log prints it, ``buses`` are their bus addresses in a node.
    ``jobs`` counts the copies of the benchmark that ran side by side, each alone, and ``hosts`` the hosts that print
    lines of a run if no line states its nodes, 0 if unknown.
    """

    collective: str | None
    ranks: int | None
    nodes: int | None
    points: tuple[SizePoint, ...]
    algorithm: str | None = None
    wrong: int = 0
    device: str | None = None
    buses: frozenset[str] = frozenset()
    jobs: int = 1
    hosts: int = 0
    unchecked: bool = False
    """Whether the log says that the results were not compared with the expected values."""
    listed: int | None = None
    """The ranks that the log lists, where they are fewer than ``ranks``: a shortened list."""
    in_flight: int = 1
    """Messages of a row that are on their way at once: tests of the bandwidth of a link do not wait for each."""

    @property
    def description(self) -> str:
        """The collective and the ranks, for messages."""
        name = self.collective or "a collective that the log does not name"
        return f"{name} on {plural(self.ranks, 'rank') if self.ranks else 'an unknown number of ranks'}"

    @property
    def largest(self) -> SizePoint:
        """The point of the largest size, closest to peak bandwidth."""
        return max(self.points, key=lambda point: point.size)


@dataclass(frozen=True)
class PairTable:
    """Bandwidths between pairs of accelerators of a node in B/s, without the diagonal.

    ``both_ways`` is set if the figures sum both directions, ``opposed`` if they are for one direction while data also
    moves in the other.
    """

    name: str
    accelerators: int
    values: tuple[float, ...]
    both_ways: bool
    line: int
    opposed: bool = False

    @property
    def slowest_bandwidth(self) -> float:
        """The bandwidth of the slowest pair in B/s per direction."""
        return min(self.values) / (2 if self.both_ways else 1)


@dataclass(frozen=True)
class ListedFigure:
    """A figure with its unit that no key of a spec holds, and its line."""

    name: str
    text: str
    line: int


@dataclass(frozen=True)
class Benchmark:
    """The content of a log. ``remarks`` explain how units were determined and what was skipped, each with its line;
    ``listed`` are figures that measure no link between accelerators; ``sha256`` is the digest of the file, empty if it
    was not read from one.
    """

    tool: str
    series: tuple[Series, ...] = ()
    pairs: tuple[PairTable, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    remarks: tuple[tuple[str, int], ...] = ()
    sha256: str = ""
    listed: tuple[ListedFigure, ...] = ()
    ending: RunEnding | None = None
    """How the run ended, of a log without a result."""
    left_out: int = 0
    """The lines that were not searched for statements, as of a log with too many different ones."""
    devices: tuple[Evidence, ...] = ()
    """The number and the names of devices that a log prints; the number is 0 if it is not stated."""

    @property
    def reason_without_series(self) -> str:
        """Why a log without series is compared with no design."""
        what = "a host or a link" if self.listed else "pairs of accelerators"
        return f"it measures {what}, not a collective"


# Ratios of bus bandwidth to algorithm bandwidth, and the number of ranks they imply

MOST_RANKS = 100_000


def ranks_from_ratio(algbw: float, busbw: float, rounding: float) -> int | None:
    """The ranks n of an all-reduce, with busbw / algbw = 2 (n − 1) / n; None if the rounded figures fit several.

    >>> ranks_from_ratio(134.22, 234.89, 0.005)
    8
    """
    if algbw <= 0 or busbw <= 0:
        return None
    ratio = busbw / algbw
    spread = ratio * (rounding / algbw + rounding / busbw)
    if ratio + spread >= 2:
        return None
    low, high = ceil(2 / (2 - ratio + spread)), floor(2 / (2 - ratio - spread))
    return low if low == high and 1 < low <= MOST_RANKS else None


# Sizes and rates as benchmarks print them

_SIZE = re.compile(r"([0-9][0-9_,]{0,20}(?:\.[0-9]{1,6})?) ?([KMGT]?)(i?)B?", re.IGNORECASE)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def size_of(text: str) -> float | None:
    """A size in bytes from text; None if it is not a size.

    A decimal multiple that represents a power of two (``524K``, ``33M``) is that power.

    >>> size_of("32KiB"), size_of("1_048_576"), size_of("524K"), size_of("33M"), size_of("8G"), size_of("x")
    (32768.0, 1048576.0, 524288.0, 33554432.0, 8589934592.0, None)
    """
    match = _SIZE.fullmatch(text.strip())
    if not match:
        return None
    number = float(match[1].replace("_", "").replace(",", ""))
    power = _POWERS[match[2].upper()]
    if power == 0:
        return number
    binary = number * 1024.0**power
    if match[3] or number < 10 or _is_power_of_two(binary):
        return binary
    return _snapped_size(number * 1000.0**power)


def _is_power_of_two(value: float) -> bool:
    return value == int(value) and int(value) & (int(value) - 1) == 0


def _snapped_size(value: float) -> float:
    """The power of two within 3.5 % of a decimal size, else the size itself."""
    nearest = 2.0 ** round(_log2(value))
    return nearest if abs(nearest / value - 1) < 0.035 else value


def _log2(value: float) -> float:
    from math import log2

    return log2(value) if value > 0 else 0.0
