"""The content of a benchmark log: series of sizes, pairs, NCCL evidence, and the bandwidth ratios of collectives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import ceil, floor

from clusterspec.logs.engine_load import starved_engine
from clusterspec.logs.failure_lines import FAILURE_PATTERNS, FAILURE_WORDS
from clusterspec.logs.program_lines import PROGRAM_PATTERNS, PROGRAM_WORDS
from clusterspec.logs.progress import diverging_ranks, parted_ranks, waiting_ranks
from clusterspec.records import dataclass

# Statements of `NCCL_DEBUG=INFO` lines about transports, plugins, GPUDirect and algorithms


@dataclass(frozen=True)
class Evidence:
    """A statement of a log: its name, its text and its line."""

    name: str
    text: str
    line: int


_PATTERNS = (
    ("version", re.compile(r"(?:NCCL|RCCL) version\s*+:?\s*+([0-9][0-9A-Za-z.+:_-]{2,40})")),
    ("socket", re.compile(r"NET/Socket\s*:\s*Using\s+(.{1,200})")),
    ("socket", re.compile(r"\bvia NET/Socket/([0-9]+)")),
    ("socket", re.compile(r"Using (?:internal )?[Nn]etwork (Socket)\b")),
    ("hcas", re.compile(r"NET/IB\s*:\s*Using\s+(.{1,2000})")),
    ("no-ib", re.compile(r"NET/IB\s*:\s*(No device found)")),
    ("ofi", re.compile(r"NET/OFI (?:Selected|selected|Using) (?:provider|Provider)\S*\s+(?:is )?(.{1,100})")),
    ("network", re.compile(r"Using network (\S{2,40})")),
    (
        "no-plugin",
        re.compile(r"NET/Plugin\s*:\s*((?:No plugin found|Could not find|Failed to find|Plugin load).{0,80})"),
    ),
    ("no-plugin", re.compile(r"NET/OFI ?:? ?(Could(?: not|n't) find any optimal provider)")),
    ("port-error", re.compile(r"Got async (?:error )?event ?: ?(port error)")),
    ("gdr", re.compile(r"via NET/\S{1,30}?(/GDRDMA)")),
    (
        "no-gdr",
        re.compile(
            r"via (NET/(?:IB|IBext\S{0,6}|OFI|AWS Libfabric|Libfabric|FasTrak|GPUDirectTCPX\S*)/[0-9]+)"
            r"(?!/GDRDMA)(?:\s|\(|$)"
        ),
    ),
    ("gdr", re.compile(r"GPU Direct RDMA (Enabled) for (?:HCA|GPU)")),
    ("no-gdr", re.compile(r"GPU Direct RDMA (Disabled) for (?:HCA|GPU)")),
    ("far-nic", re.compile(r"GPU Direct RDMA Disabled for .{1,80}\(distance ([0-9]+) > ([0-9]+)\)")),
    ("numa-balancing", re.compile(r"(NUMA auto balancing enabled)")),
    ("fine-grain", re.compile(r"Missing \"(HSA_FORCE_FINE_GRAIN_PCIE=1)\"")),
    ("iommu", re.compile(r"Missing \"(iommu=pt)\"")),
    ("amd-host", re.compile(r"\bCPU/[0-9A-Fa-f-]{1,20} \((1/2)/-?[0-9]+\)")),
    ("numa-node", re.compile(r"(?:INFO|-) CPU/([0-9A-Fa-f]{1,8}(?:-[0-9A-Fa-f]{1,8})?)\b")),
    ("slow-pcie", re.compile(r"\+ PCI\[(0\.[0-9]{1,4})\] - PCI/")),
    ("other-socket", re.compile(r"crossNic .{0,80}? type \S{2,4}/(SYS)\b")),
    ("host-bridge", re.compile(r"crossNic .{0,80}? type \S{2,4}/(PHB)\b")),
    ("channels", re.compile(r"\b([0-9]{1,4}) coll channels\b")),
    ("nvls", re.compile(r"(?<![0-9])([0-9]+) nvls channels")),
    ("no-nvls", re.compile(r"NVLS multicast support is (not available)")),
    ("group", re.compile(r"nranks ([0-9]+) .{0,200}?nNodes ([0-9]+)|nNodes ([0-9]+) localRanks ([0-9]+)")),
    ("acs-on", re.compile(r"(ACSCtl:\s*SrcValid[+-] (?=.{0,80}?(?:ReqRedir|CmpltRedir)\+).{1,120})")),
    ("p2p-direct", re.compile(r"via (P2P/(?:direct pointer|IPC|CUMEM|indirect)\S{0,40})")),
    ("unreachable", re.compile(r"(ibv_modify_qp failed with .{1,60})")),
    (
        "unreachable",
        re.compile(
            r"([Cc]onnect (?:to .{1,80} )?(?:failed : |timeout : |returned )(?:[0-9]{1,3}\()?"
            r"(?:No route to host|Network is unreachable|Connection (?:refused|timed out)))"
        ),
    ),
    ("unreachable", re.compile(r"(Socket creation failed : (?!Too many open files).{1,60})")),
    ("open-files", re.compile(r"(Too many open files)")),
    # cudaErrorInsufficientDriver, cudaErrorCompatNotSupportedOnDevice and cudaErrorUnsupportedPtxVersion
    ("driver-release", re.compile(r"(CUDA driver version is insufficient for CUDA runtime version)")),
    ("driver-release", re.compile(r"(forward compatibility was attempted on non supported HW)")),
    ("driver-release", re.compile(r"(the provided PTX was compiled with an unsupported toolchain)")),
    # cudaErrorInvalidDevice and cudaErrorNoDevice, and as HIP words them
    ("no-device", re.compile(r"(invalid device ordinal|no (?:CUDA|ROCm)-capable device is detected)")),
    ("out-of-memory", re.compile(r"((?:Cuda|CUDA|HIP) failure (?:[0-9]{1,4} )?.out of memory)")),
    ("hardware", re.compile(r"(uncorrectable (?:ECC|NVLink) error.{0,40})")),
    ("peer-limit", re.compile(r"(peer mapping resources exhausted)")),  # cudaErrorTooManyPeers
    # ibv_wc_status of rdma-core (libibverbs/verbs.h): 12 retries exceeded, 4 local protection error
    (
        "unreachable",
        re.compile(
            r"(Got completion (?:from peer .{1,80} )?(?:with )?"
            r"(?:error |status=)(?:IBV_WC_[A-Z_]{1,24}\()?12\b.{0,40})"
        ),
    ),
    (
        "protection",
        re.compile(
            r"(Got completion (?:from peer .{1,80} )?(?:with )?"
            r"(?:error |status=)(?:IBV_WC_[A-Z_]{1,24}\()?4\b.{0,40})"
        ),
    ),
    ("network-error", re.compile(r"(remote process exited or there was a network error)")),
    ("registration", re.compile(r"(NET/OFI Unable to register memory .{0,120})")),
    ("registration", re.compile(r"(NET/OFI Couldn't set FI_OPT_\w{1,80})")),
    ("registration", re.compile(r"NET/Plugin.{1,200}?((?:undefined symbol|version `).{1,80})")),
    ("shared-memory", re.compile(r"((?:posix_fallocate|shm_open) failed ?: .{1,60})")),
    ("shared-memory", re.compile(r"(failed to extend /dev/shm/.{1,100})")),
    ("shared-memory", re.compile(r"(Error while (?:creating|attaching to) shared memory segment .{1,80})")),
    (
        "bus-error",
        re.compile(r"(Signal: Bus error|received signal SIGBUS|signal: Bus error|Bus error \(core dumped\))"),
    ),
    ("locked-memory", re.compile(r"(ibv_(?:reg_mr\w{0,8}|reg_dmabuf_mr|create_cq|create_qp) failed.{0,60})")),
    ("family", re.compile(r"(address .{0,80}with family [0-9]{1,8} is neither AF_INET.{0,40})")),
    ("family", re.compile(r"(Message truncated : received [0-9]{1,12} bytes instead of [0-9]{1,12})")),
    ("fabric-manager", re.compile(r"(nvls\.cc:[0-9]{1,5} NCCL WARN Cuda failure .{0,60})")),
    ("fabric-manager", re.compile(r"(failure .{0,60}system not yet initialized)")),
    ("fabric-manager", re.compile(r"(Failed to bind NVLink SHARP \(NVLS\) Multicast memory)")),
    ("shared-accelerator", re.compile(r"(Duplicate GPU detected ?: .{1,80})")),
    ("shared-accelerator", re.compile(r"(rank [0-9]{1,7} of [0-9]{1,7} ranks has already checked in)")),
    ("peer-refused", re.compile(r"(failed to open CUDA IPC handle ?: .{1,80})")),
    ("peer-refused", re.compile(r"(peer access is not supported.{0,40})")),
    ("interface", re.compile(r"(?:Bootstrap|NET/Socket|NET) ?: Using (?:interface )?(?:\[[0-9]+\])?([\w.@-]{1,40}):")),
    ("gloo", re.compile(r"(Gloo connectFullMesh failed.{0,120})")),
    ("no-interface", re.compile(r"([Nn]o (?:socket |IP )?interface found.{0,60})")),
    (
        "local-interface",
        re.compile(r"Using (?:interface )?(?:\[[0-9]\])?((?:lo|docker[0-9]{1,3}|virbr[0-9]{1,3}):\S{1,60})"),
    ),
    ("local-interface", re.compile(r"(?:Using interface |Socket ?: Using .{0,200}?)(\S{1,40}:fe80::\S{1,60})")),
    ("p2p-host", re.compile(r"via (SHM/\S{1,40})")),
    ("environment", re.compile(r"\b((?:NCCL|RCCL|FI)_[A-Z0-9_]{2,40}) set by environment to (\S{1,80}?)\.?(?:\s|$)")),
    ("environment", re.compile(r"\b((?:NCCL|RCCL|FI)_[A-Z0-9_]{2,40})=(\S{1,80})")),
    *PROGRAM_PATTERNS,
    *FAILURE_PATTERNS,
)
_UNLIKE = re.compile(r"nranks|nNodes|(?:INFO|-) CPU/")  # lines that differ by their digits alone, and are all read
_WORDS = (
    *("NCCL", "RCCL", "CCOM WARN", "NET/", "GDRDMA", "FI_", "ACSCtl", "Cuda failure", "CUDA failure", "HIP failure"),
    *("Duplicate GPU", "uncorrectable ", "SIGBUS", "Bus error", "Gloo ", *PROGRAM_WORDS, *FAILURE_WORDS),
)
"""What a line contains if it may be a statement."""
_LAST_ERROR = re.compile(r"\bLast error:\s*$")
"""Text that PyTorch prints on the line before the library's last warning, without its prefix."""
_DIGITS = re.compile(r"[0-9]+")
_AS_ZERO = str.maketrans("123456789", "000000000")
MOST_FORMS = 50_000
"""Different lines that are remembered, digits aside."""
MOST = 2_000
"""Statements kept of each name; further ones repeat them for other ranks and channels."""


def log_evidence(text: str) -> tuple[Evidence, ...]:
    """The distinct statements of a log, in file order."""
    found: dict[tuple[str, str], Evidence] = {}
    counts: dict[str, int] = {}
    several = {
        "diverging": diverging_ranks,
        "parted": parted_ranks,
        "waiting": waiting_ranks,
        "cache-starved": starved_engine,
    }
    joined = (Evidence(name, *stated) for name, read in several.items() if (stated := read(text)))
    for each in (*_log_statements(text), *_only_adapter(text), *joined):
        key = (each.name, each.text)
        if key not in found and counts.get(each.name, 0) < MOST:
            found[key] = each
            counts[each.name] = counts.get(each.name, 0) + 1
    return tuple(found.values())


def _words_in(text: str) -> list[str]:
    """The words of statements that a log may contain: few, for which its lines are then searched.

    Lines that differ by digits alone are searched once.
    """
    forms = "\n".join({*text.translate(_AS_ZERO).split("\n")})
    return [word for word in _WORDS if word.translate(_AS_ZERO) in forms]


def _log_statements(text: str) -> Iterator[Evidence]:
    seen: set[str] = set()
    quoted = False
    words = _words_in(text)
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > 8_000:
            continue
        marked = quoted or any(word in line for word in words)
        quoted = "Last error:" in line and bool(_LAST_ERROR.search(line))
        if not marked:
            continue
        form = _DIGITS.sub("0", line)
        if form in seen and not _UNLIKE.search(line):
            continue  # the same statement of another rank or channel
        if len(seen) < MOST_FORMS:
            seen.add(form)
        for name, pattern in _PATTERNS:
            if match := pattern.search(line):
                text = " ".join(part for part in match.groups() if part).strip()
                yield Evidence(name, text, number)


_NETWORK_CHANNEL = re.compile(
    r"(?:Channel|Ring) ([0-9]{1,3})(?:/[0-9]+)? : [^\n]{1,80} via NET/(?:IB\w{0,6}|Socket)/([0-9]{1,3})"
)


def _only_adapter(text: str) -> Iterator[Evidence]:
    """The adapter that all channels of a log use, where these are several."""
    found = [match.groups() for match in _NETWORK_CHANNEL.finditer(text)]
    if len({channel for channel, _ in found}) > 1 and len({adapter for _, adapter in found}) == 1:
        first = _NETWORK_CHANNEL.search(text)
        assert first is not None
        yield Evidence("only-adapter", found[0][1], text.count("\n", 0, first.start()) + 1)


def adapter_count(evidence: tuple[Evidence, ...]) -> int | None:
    """The number of RDMA adapters that NCCL uses on a node: the maximum over ranks; None if no rank names any.

    Newer releases list the adapters that they merge into one device in braces: ``[0]={[0] mlx5_7:1, [1] mlx5_6:1}``.

    >>> adapter_count((Evidence("hcas", "[0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.1<0>", 3),))
    2
    >>> adapter_count((Evidence("hcas", "[0]={[0] mlx5_7:1/RoCE, [1] mlx5_6:1/RoCE} ; OOB eth0:10.0.0.1<0>", 3),))
    2
    """
    return _listed_devices(evidence, "hcas")


def interface_count(evidence: tuple[Evidence, ...]) -> int | None:
    """The number of interfaces whose sockets NCCL uses on a node: the maximum over ranks; None if no rank names any.

    >>> interface_count((Evidence("socket", "[0]eth0:10.0.0.1<0> [1]eth1:10.0.1.1<0>", 3),))
    2
    """
    return _listed_devices(evidence, "socket") or None


def _listed_devices(evidence: tuple[Evidence, ...], name: str) -> int | None:
    """The most devices, numbered in brackets, that a line of this name lists."""
    counts = [len(re.findall(r"\[[0-9]+\](?!=)", each.text.split("OOB")[0])) for each in evidence if each.name == name]
    return max(counts, default=None)


def largest_communicator(evidence: tuple[Evidence, ...]) -> tuple[int | None, int | None]:
    """The ranks and nodes of the largest communicator in the log."""
    ranks = nodes = None
    for each in evidence:
        if each.name == "group":
            one, other = (int(part) for part in each.text.split()[:2])
            first = "localRanks" not in each.text and one >= other
            total = one if first else one * other
            if ranks is None or total > ranks:
                ranks, nodes = total, other if first else one
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
    ``jobs`` counts the copies of the benchmark that ran side by side, each alone.
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

    @property
    def largest(self) -> SizePoint:
        """The point of the largest size, closest to peak bandwidth."""
        return max(self.points, key=lambda point: point.size)


@dataclass(frozen=True)
class PairTable:
    """Bandwidths between pairs of accelerators of a node in B/s, without the diagonal.

    ``both_ways`` is set if the figures sum both directions.
    """

    name: str
    accelerators: int
    values: tuple[float, ...]
    both_ways: bool
    line: int

    @property
    def slowest(self) -> float:
        """The bandwidth of the slowest pair in B/s per direction."""
        return min(self.values) / (2 if self.both_ways else 1)


@dataclass(frozen=True)
class Benchmark:
    """The content of a log. ``remarks`` explain how units were determined and what was skipped, each with its line;
    ``sha256`` is the digest of the file, empty if it was not read from one.
    """

    tool: str
    series: tuple[Series, ...] = ()
    pairs: tuple[PairTable, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    remarks: tuple[tuple[str, int], ...] = ()
    sha256: str = ""


# Ratios of bus bandwidth to algorithm bandwidth, and the number of ranks they imply

MOST_RANKS = 100_000


def bus_factor(collective: str, ranks: int) -> float:
    """The ratio of busbw to algbw of a collective on a number of ranks.

    >>> bus_factor("all-reduce", 8), bus_factor("all-gather", 8), bus_factor("send-recv", 2)
    (1.75, 0.875, 1.0)
    """
    if collective == "all-reduce":
        return 2 * (ranks - 1) / ranks
    return (ranks - 1) / ranks if collective in {"all-gather", "reduce-scatter", "all-to-all"} else 1.0


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
    """The power of two within two percent of a decimal size, else the size itself."""
    nearest = 2.0 ** round(_log2(value))
    return nearest if abs(nearest / value - 1) < 0.035 else value


def _log2(value: float) -> float:
    from math import log2

    return log2(value) if value > 0 else 0.0


def size_text(size: float) -> str:
    """The exact text of a size in bytes for a spec.

    >>> size_text(2.0**33), size_text(2.0**20 * 3), size_text(1000.0)
    ('8 GiB', '3 MiB', '1000 B')
    """
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << power and size % (1 << power) == 0:
            return f"{int(size) >> power} {unit}"
    return f"{size:.12g} B"
