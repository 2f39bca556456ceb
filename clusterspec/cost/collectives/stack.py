"""Overhead of the collective library: protocols, latencies, launch time and chunks in flight."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf

from clusterspec.cost import assumed_figure, cited_figure
from clusterspec.cost.collectives import ALL_PROTOCOLS, Between, Candidate, Paths
from clusterspec.records import dataclass
from clusterspec.source import Cited

_COMMIT = "5067397c2676d5aed50042fc39e5c8ee96eb0027"
_SOURCES = f"https://github.com/NVIDIA/nccl/blob/{_COMMIT}/src"
MICRO = 1e-6
MEBI = 2**20
LIBRARY = "collectives"
"""The group of the constants of this module. Assumed figures are read from public logs, as each reason says;
docs/accuracy.md shows how each figure changes when one source is left out.
"""


def _tuning_source(fact: str, note: str = "") -> Cited:
    return Cited("stack/nccl", fact, "NCCL, tuning constants", f"{_SOURCES}/graph/tuning.cc", "2026-11-20", note)


@dataclass(frozen=True)
class Protocol:
    """How a receiver detects new data, and its overhead. Latencies in seconds.

    - ``share`` of the wire that carries data
    - ``tree`` and ``ring`` the base latency of either algorithm
    - ``hops`` the latency of one hop by the kind of link, for trees and rings
    - ``posting`` the least CPU time of one step of an inter-node ring
    - ``crossings`` how many network latencies a message waits at one crossing
    - ``chunk`` the bytes of one chunk in flight
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


def _hop_latencies(nvlink: float, pci: float, net: float) -> dict[str, float]:
    return {"nvlink": nvlink * MICRO, "pci": pci * MICRO, "net": net * MICRO}


LL = Protocol(
    "LL",
    0.5,
    6.8e-6,
    6.6e-6,
    _hop_latencies(0.6, 1.0, 5.0),
    _hop_latencies(0.6, 1.0, 2.7),
    posting=2e-6,
    crossings=1,
    chunk=0.0,
)
"""The protocol that sends a flag with every four bytes: half of the wire rate, no memory fence, forwarding line by
line.
"""
LL128 = Protocol(
    "LL128",
    0.92,
    14e-6,
    14e-6,
    _hop_latencies(1.25, 1.9, 14.0),
    _hop_latencies(1.9, 2.5, 14.0),
    posting=2e-6,
    crossings=1,
    chunk=0.6 * MEBI,
)
"""A flag in every 128 bytes: 120 of 128, 0.92 in NCCL's model.

Over the network, NCCL expects 8.5 us for a hop of a tree and 4 us for a hop of a ring; the logs of two nodes of H100,
H200 and B200 fit the latency of Simple.
"""
SIMPLE = Protocol(
    "Simple",
    1.0,
    8.4e-6,
    8.4e-6,
    _hop_latencies(4.0, 4.0, 14.0),
    _hop_latencies(3.4, 5.7, 14.0),
    posting=6e-6,
    crossings=2,
    chunk=MEBI,
)
"""Whole chunks and a memory fence: the full wire rate; two of eight half-megabyte steps make a slice."""
PROTOCOLS = (LL, LL128, SIMPLE)

TREE_SHARE = cited_figure(LIBRARY, "tree over ring", 0.92, _tuning_source("factor of tree all-reduce"))
LOW_LATENCY_TREE = cited_figure(LIBRARY, "tree LL over tree", 1 / 3.8, _tuning_source("factor of tree LL, 1 / 3.8"))
TREE_FLAGS_ALONE = cited_figure(
    LIBRARY, "tree LL128 in one node", 7 / 9, _tuning_source("factor of tree LL128 inside one node")
)
"""The share of the wire rate that a tree reaches with LL128 inside one node. Across nodes it is 120/128."""
TREE_BETWEEN = assumed_figure(
    LIBRARY,
    "tree between islands over ring",
    0.95,
    "on two nodes trees reach 0.91 to 0.94 of the NICs, rings 0.95 to 0.97",
)
LOW_LATENCY_BETWEEN = {
    2: cited_figure(
        LIBRARY, "LL between two nodes", 22.5e9, _tuning_source("llMaxBws", "AMD hosts; 39 with Intel"), "B/s"
    ),
    3: cited_figure(
        LIBRARY, "LL between more nodes", 19e9, _tuning_source("llMaxBws", "AMD hosts; 20.4 with Intel"), "B/s"
    ),
}
"""The highest bus bandwidth of LL in B/s, between two nodes and between more."""

SWITCH_REDUCTION = cited_figure(
    LIBRARY,
    "NVLS latency",
    25e-6,
    _tuning_source("hwLatencies of NVLS", "25 us, without a base latency"),
    "s",
)
SWITCH_TREE_HOP = cited_figure(
    LIBRARY, "NVLS tree hop", 20.9e-6, _tuning_source("hwLatencies of NVLS Tree over the network"), "s"
)
FABRIC_REDUCTION = cited_figure(
    LIBRARY, "CollNet latency", 31e-6, _tuning_source("hwLatencies of CollNet Direct over the network"), "s"
)
SWITCH_CHUNK = 128 * 1024
"""Bytes of one chunk of the reduction in NVSwitch (NCCL, transport/nvls.cc, NVLS_CHUNKSIZE)."""
SWITCH_TREE = assumed_figure(
    LIBRARY,
    "reduction in switches and a tree over reduction alone",
    0.92,
    "two H100 nodes reach 250 to 260 GB/s, one alone 274",
)

MESSAGE_CHUNK = 512 * 1024
"""Bytes of one chunk of a send over NVLink (NCCL, init.cc, P2P_NVL_CHUNKSIZE)."""

CHANNELS = assumed_figure(
    LIBRARY, "channels", 32, "NCCL opens 16 to 32 channels; a full pipeline holds one chunk of each"
)
LL_MESSAGES = assumed_figure(
    LIBRARY,
    "messages of LL",
    8,
    "LL spreads a message over channels of 4 KiB each, with their flags the 8 KiB that the EFA plugin sends eagerly;"
    " two p4de and two p5 take 30 to 40 us longer from 32 KiB on (nccl-tests)",
)
LL_MESSAGE_OF_PEER = cited_figure(
    LIBRARY,
    "largest part of a message that an all-to-all sends by LL",
    16 * 1024,
    Cited("stack/nccl", "NCCL_P2P_LL_THRESHOLD", "16384 bytes", f"{_SOURCES}/enqueue.cc", "2026-11-27"),
    "B",
)
TREE_CHUNK = 32 * 1024
"""Bytes of one chunk of a tree between islands: NCCL halves chunks down to this until a message fills the tree
(src/enqueue.cc, calcCollChunking).
"""
SWITCH_STAGE = assumed_figure(
    LIBRARY,
    "stages of a crossing between reductions in switches",
    1 / 3,
    "chunks that a crossing between domains adds to the pipeline: 144 and 1,440 ranks of NVL72 take 0.9 to 1.2 and "
    "4.6 to 5.4"
    " ms longer than their bandwidth (CoreWeave, nccl-tests)",
)
OWN_COPY = assumed_figure(
    LIBRARY,
    "copy of the own part over ring",
    2.2,
    "from 2, 4 and 8 ranks of one node: 2.2 on A100, 2.7 on H100, 2.0 on B200 in all-gathers of 512 MiB (nccl-tests,"
    " aiconfigurator)",
)
LAUNCH_APART = assumed_figure(
    LIBRARY,
    "launch time with one process for each rank",
    6e-6,
    "each process launches one kernel while the previous one runs; 8 bytes on two H100 nodes take 30 us, on two B200"
    " nodes 36 us, of which the hops take 26 and 36; larger messages of all sources ask for 8 us",
    "s",
)
LAUNCH_PER_RANK = assumed_figure(
    LIBRARY,
    "launch time of each further rank of one process",
    2e-6,
    "one process launches on all ranks of a node in turn, as nccl-tests -g does. Eight ranks take 20 us in"
    " published tests of one node (20 to 22 us by torch.distributed and nccl-tests -g 8, 10 us by MPI, none by a"
    " thread for each GPU); one rank takes as long as a process of its own",
    "s",
)
LAUNCH_PER_CALL = assumed_figure(
    LIBRARY,
    "launch time of each send and receive of one process",
    0.335e-6,
    "one process posts the sends and receives of all its ranks in an all-to-all while earlier ones run: 8 H20 take"
    " 58 to 59 us for every size from 1 to 4 MiB (nccl-tests issue 314)",
    "s",
)
PER_MESSAGE = cited_figure(
    LIBRARY, "posting a message", 1e-6, _tuning_source("net overhead", "1 us to post a message"), "s"
)
TORUS_HOP = cited_figure(
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


# Times common to all algorithms: launch time, allowed protocols, hops and crossings

SWITCHED = "switched"
Candidates = Iterator[Candidate]
Algorithm = Callable[[Paths], Candidates]


def launch_seconds(paths: Paths) -> float:
    """Seconds until all ranks run the kernel. Unless ``paths.processes`` states otherwise, one process drives all ranks
    of a single node, and on several nodes each rank has its own process.
    """
    if paths.processes == "rank" or (paths.nodes > 1 and paths.processes is None):
        return LAUNCH_APART.value
    if paths.inside.launch and paths.processes is None:
        return paths.inside.launch.value
    further = paths.inside.launch_rank or LAUNCH_PER_RANK
    return LAUNCH_APART.value + further.value * (paths.ranks / paths.nodes - 1)


def allowed_protocols(paths: Paths) -> Iterator[Protocol]:
    """The protocols that the links of the group allow."""
    allowed = paths.between.protocols if paths.between else ALL_PROTOCOLS
    whole = paths.inside.hops == "nvlink"
    return (each for each in PROTOCOLS if each.name in allowed and (whole or each is not LL128))


def start_latency(protocol: Protocol, base: float, paths: Paths) -> float:
    """Seconds before the first hop: measured on the links for LL, else ``base``, the figure of NCCL."""
    return paths.inside.start.value if protocol is LL and paths.inside.start else base


def near_hop_latency(protocol: Protocol, hops: dict[str, float], paths: Paths) -> float:
    """Seconds of one hop inside an island: measured on the links for LL, else the figure of NCCL."""
    return paths.inside.hop.value if protocol is LL and paths.inside.hop else hops[paths.inside.hops]


def crossing_latency(protocol: Protocol, hop: float, between: Between) -> float:
    """Seconds of one hop over the network."""
    one = between.latency if protocol is LL else between.chunk_latency
    return hop + protocol.crossings * one.value


def highest_ll_rate(paths: Paths) -> float:
    """The highest rate of the LL (low-latency) protocol in B/s."""
    if paths.between:
        usual = LOW_LATENCY_BETWEEN[min(3, max(2, paths.islands))]
        limits = (paths.inside.low_latency_between or usual, paths.between.low_latency)
        return min(limit.value for limit in limits if limit)
    return paths.inside.low_latency.value if paths.inside.low_latency else inf


def copy_seconds_per_byte(paths: Paths, own: float) -> float:
    """Seconds per byte that a rank needs to copy its ``own`` part of the size between its buffers.

    The copy adds to the time behind a switch. On a mesh it runs in parallel with sending, which single links limit.
    """
    if paths.inside.topology != SWITCHED:
        return 0.0
    return own / (paths.inside.ring_rate * OWN_COPY.value)


def has_overlapped_latency(paths: Paths, ring: Protocol | None = None) -> bool:
    """Whether latency overlaps with sending; ``ring`` is the protocol if the algorithm is a ring."""
    if paths.between is None:
        return False
    return paths.between.overlapped or (paths.between.overlaps_rings and ring is SIMPLE and paths.islands > 2)


def tree_share_between(paths: Paths) -> float:
    """The share of a ring's rate that trees between islands reach. For more than two islands the network's entry may
    state it.
    """
    known = paths.between.tree if paths.between and paths.islands > 2 else None
    return known.value if known else TREE_BETWEEN.value


def fill_seconds(protocol: Protocol, rate: float, chunks: float = 1.0) -> float:
    """Seconds to send the contents of a full pipeline: ``chunks`` of each channel."""
    return chunks * CHANNELS.value * protocol.chunk / rate


def chunks_of_full_ring(paths: Paths) -> float:
    """The number of chunks per channel that fill a ring; 0 if the entry of the links has no figure."""
    return paths.inside.held.value if paths.inside.held else 0.0


BEST_OF_MESH = assumed_figure(
    "links",
    "best of mesh",
    0.977,
    "the highest share of a full mesh that is published: 513 of 525 GB/s of an all-reduce on 8 Gaudi 3 (Intel)",
)


def mesh_rate(paths: Paths) -> float:
    """The rate of rings inside an island in B/s. On a mesh, rings that continue across nodes gain bandwidth, up to the
    highest published share of the links.
    """
    line, share = paths.inside.line.value, paths.inside.ring.value
    return line * min(share * _mesh_gain(paths), max(share, BEST_OF_MESH.value))


def _mesh_gain(paths: Paths) -> float:
    """The factor by which rings across nodes exceed the line rate of a full mesh of m ranks. The line rate counts the m
    − 1 links of a rank, but m open chains fit a mesh if the rings close outside of it.
    """
    ranks = paths.inside.ranks
    return ranks / (ranks - 1) if paths.between and paths.inside.topology == "full-mesh" and ranks > 1 else 1.0
