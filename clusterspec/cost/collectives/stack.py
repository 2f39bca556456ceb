"""Overhead of the collective library: latencies, protocols and chunks in flight.

NCCL publishes the constants of its own cost model; RCCL inherits them. Other libraries are assumed to be similar, with
a wider uncertainty range.
"""

from __future__ import annotations

from clusterspec.cost.constants import assumed, cited
from clusterspec.origin import Cited, Origin
from clusterspec.records import dataclass

_COMMIT = "5067397c2676d5aed50042fc39e5c8ee96eb0027"
_SOURCES = f"https://github.com/NVIDIA/nccl/blob/{_COMMIT}/src"
MICRO = 1e-6
MEBI = 2**20
LIBRARY = "collectives"
"""The group of these constants.

Launch, its cost for each further rank, and channels are fitted by a grid search over 25 series of public logs of
all families; with each series left out in turn the others pick the same channels always and the same launch within
3 us, and the series left out is missed by 1.4 % (256 MB and more), 7.4 % (1 to 256 MB) and 12.6 % (less) in the
median.
"""


def _tuning(fact: str, note: str = "") -> Cited:
    return Cited("stack/nccl", fact, "NCCL, tuning constants", f"{_SOURCES}/graph/tuning.cc", "2026-11-20", note)


@dataclass(frozen=True, slots=True)
class Protocol:
    """How a receiver detects new data, and its overhead. Latencies in seconds.

    ``share`` of the wire that carries data; ``tree`` and ``ring`` the base latency of either algorithm; ``hops`` the
    latency of one hop by the kind of link, for trees and rings; ``posting`` the least CPU time of one step of an
    inter-node ring; ``crossings`` how many network latencies a message waits at one crossing; ``chunk`` the bytes of
    one chunk in flight.
    """

    name: str
    share: float
    tree: float
    ring: float
    tree_hops: dict[str, float]
    ring_hops: dict[str, float]
    posting: float
    crossings: int
    chunk: float


def _hops(nvlink: float, pci: float, net: float) -> dict[str, float]:
    return {"nvlink": nvlink * MICRO, "pci": pci * MICRO, "net": net * MICRO}


LL = Protocol(
    "LL", 0.5, 6.8e-6, 6.6e-6, _hops(0.6, 1.0, 5.0), _hops(0.6, 1.0, 2.7), posting=2e-6, crossings=1, chunk=MEBI / 32
)
"""A flag beside every four bytes: half of the wire rate, without a memory fence."""
LL128 = Protocol(
    "LL128",
    0.92,
    14e-6,
    14e-6,
    _hops(1.25, 1.9, 14.0),
    _hops(1.9, 2.5, 14.0),
    posting=2e-6,
    crossings=1,
    chunk=0.6 * MEBI,
)
"""A flag in every 128 bytes: 120 of 128, 0.92 in NCCL's model.

Over the network NCCL expects 8.5 us a hop of a tree and 4 of a ring; the logs of two nodes of H100, H200
and B200 ask for what Simple pays.
"""
SIMPLE = Protocol(
    "Simple", 1.0, 8.4e-6, 8.4e-6, _hops(4.0, 4.0, 14.0), _hops(3.4, 5.7, 14.0), posting=6e-6, crossings=2, chunk=MEBI
)
"""Whole chunks and a memory fence: the full wire rate; two of eight half-megabyte steps make a slice."""
PROTOCOLS = (LL, LL128, SIMPLE)
PROTOCOL_ORIGIN: Origin = _tuning("baseLatencies, hwLatencies, net overhead")

TREE_SHARE = cited(LIBRARY, "tree over ring", 0.92, _tuning("factor of tree all-reduce"))
LOW_LATENCY_TREE = cited(LIBRARY, "tree LL over tree", 1 / 3.8, _tuning("factor of tree LL, 1 / 3.8"))
TREE_FLAGS_ALONE = cited(LIBRARY, "tree LL128 in one node", 7 / 9, _tuning("factor of tree LL128 inside one node"))
"""Share of a tree inside one node under LL128; 120 of 128 across nodes."""
TREE_BETWEEN = assumed(
    LIBRARY,
    "tree between islands over ring",
    0.95,
    "on two nodes trees reach 0.91 to 0.94 of the NICs, rings 0.95 to 0.97",
)
LOW_LATENCY_BETWEEN = {
    2: cited(LIBRARY, "LL between two nodes", 22.5e9, _tuning("llMaxBws"), "B/s"),
    3: cited(LIBRARY, "LL between more nodes", 19e9, _tuning("llMaxBws"), "B/s"),
}
"""The highest bus bandwidth of LL between two nodes, and between more."""

SWITCH_REDUCTION = cited(
    LIBRARY,
    "NVLS latency",
    16.6e-6,
    _tuning("hwLatencies of NVLS", "25 us without the base latency of 8.4"),
    "s",
)
SWITCH_TREE_HOP = cited(LIBRARY, "NVLS tree hop", 20.9e-6, _tuning("hwLatencies of NVLS Tree over the network"), "s")
FABRIC_REDUCTION = cited(
    LIBRARY, "CollNet latency", 31e-6, _tuning("hwLatencies of CollNet Direct over the network"), "s"
)
SWITCH_CHUNK = 128 * 1024
"""Bytes of one chunk of the reduction in NVSwitch (NCCL, transport/nvls.cc, NVLS_CHUNKSIZE)."""
SWITCH_TREE = assumed(
    LIBRARY,
    "reduction in switches and a tree over reduction alone",
    0.92,
    "two H100 nodes reach 250 to 260 GB/s, one alone 274",
)

CHANNELS = assumed(LIBRARY, "channels", 32, "NCCL opens 16 to 32 channels; a full pipeline holds one chunk of each")
TREE_DEPTH = assumed(
    LIBRARY,
    "tree depth",
    16,
    "hops up and down a tree over two nodes of eight, whose full pipeline holds two chunks of each channel;"
    " deeper trees hold more in proportion",
)
LAUNCH = assumed(
    LIBRARY, "launch", 12e-6, "launching a kernel and detecting its end: 8 bytes take 13 to 45 us in total", "s"
)
LAUNCH_PER_RANK = assumed(
    LIBRARY,
    "launch of each further rank of one process",
    1.5e-6,
    "one process drives all ranks of a node, as nccl-tests -g does",
    "s",
)
LAUNCH_PER_CALL = assumed(
    LIBRARY,
    "launch of each send and receive of one process",
    0.15e-6,
    "the same process posts all sends and receives of an all-to-all: 8 H20 take 58 us for 1 to 4 MiB"
    " (nccl-tests issue 314)",
    "s",
)
PER_MESSAGE = cited(LIBRARY, "posting a message", 1e-6, _tuning("net overhead", "1 us to post a message"), "s")
TORUS_HOP = cited(
    LIBRARY,
    "torus hop",
    1e-6,
    Cited(
        "stack/xla",
        "hop",
        "How to scale your model, chapter 3: about 1 us per hop (Google DeepMind)",
        "https://jax-ml.github.io/scaling-book/sharding/",
        "2026-11-20",
    ),
    "s",
)
