"""What the collective library costs by itself: latencies, protocols and the chunks in flight.

NCCL publishes the constants of its own cost model; RCCL inherits them, and other libraries are
taken to be alike (which their bands of uncertainty say).
"""

from __future__ import annotations

from dataclasses import dataclass

from clusterspec.origin import Assumed, Cited, Origin
from clusterspec.quantity import Figure

_COMMIT = "5067397c2676d5aed50042fc39e5c8ee96eb0027"
_SOURCES = f"https://github.com/NVIDIA/nccl/blob/{_COMMIT}/src"
MICRO = 1e-6
MEBI = 2**20


def _tuning(fact: str, note: str = "") -> Cited:
    return Cited("stack/nccl", fact, "NCCL, tuning constants", f"{_SOURCES}/graph/tuning.cc", "2026-11-20", note)


@dataclass(frozen=True, slots=True)
class Protocol:
    """How bytes are told from stale ones, and what that costs. Latencies in seconds.

    ``share`` of the wire that carries data; ``tree`` and ``ring`` the base latency of either
    algorithm; ``hops`` the latency of one hop by the kind of road, for trees and rings; ``posting``
    what a step of an inter-node ring costs the CPU at least; ``crossings`` how often a message waits
    for the network's own latency at one crossing; ``chunk`` the bytes of one chunk in flight.
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
"""A flag beside every four bytes: half of the wire, and no waiting for a fence."""
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
"""Whole chunks and a fence: all of the wire; two of eight half-megabyte steps make a slice."""
PROTOCOLS = (LL, LL128, SIMPLE)
PROTOCOL_ORIGIN: Origin = _tuning("baseLatencies, hwLatencies, net overhead")

TREE_SHARE = Figure(0.92, "1", _tuning("factor of tree all-reduce", "0.92 of what a ring reaches"))
LOW_LATENCY_TREE = Figure(1 / 3.8, "1", _tuning("factor of tree LL", "1 / 3.8 of the tree's bandwidth"))
TREE_FLAGS_ALONE = 7 / 9
"""Share of a tree inside one node under LL128 (NCCL, tuning.cc); 120 of 128 across nodes."""
TREE_BETWEEN = Figure(
    0.95,
    "1",
    Assumed("collectives.tree", "on two nodes a tree reaches 0.91 to 0.94 of the NICs where rings reach 0.95 to 0.97"),
)
LOW_LATENCY_BETWEEN = {2: 22.5e9, 3: 19e9}
"""The most that LL carries between two nodes, and between more: bus bandwidth, B/s (NCCL, llMaxBws)."""

SWITCH_REDUCTION = Figure(
    16.6e-6, "s", _tuning("hwLatencies of NVLS", "25 us, of which 8.4 are the base latency that launching covers")
)
SWITCH_TREE_HOP = Figure(20.9e-6, "s", _tuning("hwLatencies of NVLS Tree over the network"))
FABRIC_REDUCTION = Figure(31e-6, "s", _tuning("hwLatencies of CollNet Direct over the network"))
SWITCH_CHUNK = 128 * 1024
"""Bytes of a chunk of the reduction in NVSwitch (NCCL, transport/nvls.cc, NVLS_CHUNKSIZE)."""
CHUNKS_ALONE = {"4": 16, "5": 24}
"""Channels of that reduction in one domain, by the generation of NVLink (NCCL, transport/nvls.cc)."""
CHUNKS_OF_MANY = {"4": 16, "5": 32}
"""The same between domains (NVLS_NCHANNELS_SM90, _SM100; above _SM100_NVL)."""
CHUNKS_UNKNOWN = 32
SWITCH_TREE = Figure(
    0.92, "1", Assumed("collectives.nvls-tree", "two H100 nodes reach 250 to 260 GB/s where one alone reaches 274")
)

CHANNELS = Figure(
    32, "1", Assumed("collectives.channels", "NCCL opens 16 to 32 channels; a full pipeline holds one chunk of each")
)
LAUNCH = Figure(
    12e-6, "s", Assumed("collectives.launch", "launching a kernel and seeing its end: 8 bytes take 13 to 45 us in all")
)
LAUNCH_PER_RANK = Figure(
    1.5e-6, "s", Assumed("collectives.launch", "on one node one process drives all ranks, as nccl-tests -g does")
)
PER_MESSAGE = Figure(1e-6, "s", _tuning("net overhead", "1 us to post a message"))
TORUS_HOP = Figure(
    1e-6,
    "s",
    Cited(
        "stack/xla",
        "hop",
        "How to scale your model, chapter 3: about 1 us a hop (Google DeepMind)",
        "https://jax-ml.github.io/scaling-book/sharding/",
        "2026-11-20",
    ),
)

FITTED: dict[str, Figure] = {
    "launch": LAUNCH,
    "launch of each further rank of one process": LAUNCH_PER_RANK,
    "channels": CHANNELS,
    "tree between islands over ring": TREE_BETWEEN,
    "reduction in switches and a tree over reduction alone": SWITCH_TREE,
}
"""The constants here that were fitted, on public logs of all families together.

The first three by a grid search over 25 series; with each series left out in turn the others pick the same
channels always and the same launch within 3 us, and the series left out is missed by 1.4 % (256 MB and more),
7.4 % (1 to 256 MB) and 12.6 % (less) in the median.
"""
