"""The cost of a collective by its fastest algorithm, with measured shares, an uncertainty range, and a table over
sizes.
"""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.cluster.groups import Placement, contiguous_placement
from clusterspec.cluster.model import Cluster
from clusterspec.cluster.scaleup import NODE_SCALE
from clusterspec.cost import assumed_figure
from clusterspec.cost.collectives import Candidate, CollectiveCost, CollectiveUnavailableError, Paths
from clusterspec.cost.collectives.algorithms import algorithm_names, candidate_algorithms
from clusterspec.cost.collectives.paths import MESHES, busbw_ceiling, group_paths
from clusterspec.cost.collectives.stack import LL, LL_MESSAGES, Algorithm
from clusterspec.cost.formulas.collectives import algorithm_bandwidth, bus_bandwidth, time_at_busbw
from clusterspec.cost.formulas.compute import larger, smaller
from clusterspec.quantity import Figure, bus_factor
from clusterspec.records import NamedTuple, dataclass, replace
from clusterspec.source import Assumed, Measured, Origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cluster.measured_shares import MeasuredShare

RINGS = frozenset({"all-reduce", "all-gather", "reduce-scatter", "broadcast"})
"""Collectives that use the same rings, so that a measurement of one applies to the others."""
TREES = frozenset({"tree", "nvls-tree"})
"""Algorithms that send along a tree between islands."""


def with_measured_shares(paths: Paths, name: str, measured: Sequence[MeasuredShare]) -> Paths:
    """The links of a group with the measured shares that apply to a collective on them.

    Among several, one of the same collective is preferred, then one of a collective with the same ring; then the
    nearest number of ranks. A share measured inside an island also applies to groups that leave it.
    """
    if not measured:
        return paths
    inside, between = paths.inside, paths.between
    ring = _inside_share(paths, name, measured, "ring")
    exchange = _inside_share(paths, name, measured, "exchange")
    reduction = _inside_share(paths, name, measured, "reduction") if inside.reduction else None
    inside = replace(
        inside,
        ring=ring or inside.ring,
        exchange=exchange or inside.exchange,
        reduction=reduction or inside.reduction,
    )
    network = _nearest_share(name, paths.ranks, [each for each in measured if each.part == "network"])
    if between is not None and network is not None:
        between = replace(between, share=network)
    return replace(paths, inside=inside, between=between)


def _inside_share(paths: Paths, name: str, measured: Sequence[MeasuredShare], part: str) -> Figure | None:
    """The measured share of the tier that the group crosses, else the share of the tier inside its islands."""
    for tier in dict.fromkeys((paths.tier, paths.inside.tier)):
        fitting = [
            each for each in measured if each.part == part and each.tier == tier and _measurement_applies(paths, each)
        ]
        if found := _nearest_share(name, paths.ranks, fitting):
            return found
    return None


def _measurement_applies(paths: Paths, share: MeasuredShare) -> bool:
    """Whether a measurement on one group applies to a group of another size.

    On a mesh, a pair (one link) is not comparable to a larger group. Inside one domain, a group of node size is not
    comparable to a rack, which has its own switches.
    """
    if paths.inside.topology in MESHES and (paths.ranks > 2) != (share.ranks > 2):
        return False
    return (paths.ranks > NODE_SCALE) == (share.ranks > NODE_SCALE) or paths.between is not None


def _nearest_share(name: str, ranks: int, shares: Sequence[MeasuredShare]) -> Figure | None:
    """The share measured with the most similar collective, then the most similar number of ranks; None if none
    applies.
    """

    def measurement_distance(share: MeasuredShare) -> tuple[bool, bool, float]:
        kin = name in RINGS and share.collective in RINGS
        return share.collective != name, not kin, max(ranks / share.ranks, share.ranks / ranks)

    best = min(shares, key=measurement_distance, default=None)
    return best.share if best else None


GROUP = "uncertainty"
_COUNTED = "by judgment; docs/accuracy.md counts the measured collectives inside the range"
SENDING = {
    "measured": assumed_figure(
        GROUP, "sending.measured", 0.04, f"half-width of a share measured on the same machine, {_COUNTED}"
    ),
    "cited": assumed_figure(
        GROUP, "sending.cited", 0.09, f"half-width of a share that an entry states for its kind, {_COUNTED}"
    ),
    "assumed": assumed_figure(
        GROUP, "sending.assumed", 0.2, f"half-width of a share taken from other kinds of links, {_COUNTED}"
    ),
}
"""Relative uncertainty of the sending time, by the origin of the achieved share of the line."""
REPEATS = 2**0.5 * SENDING["measured"].value
"""The largest relative difference that two measurements of one machine have if each is within its half-width."""
STARTING = assumed_figure(GROUP, "starting", 0.3, f"half-width of launch time, latency and pipeline fill, {_COUNTED}")

ALONE = assumed_figure(
    GROUP,
    "starting.alone",
    0.2,
    "added if start-up dominates a collective: the launcher of its processes and the protocol change the time by up "
    f"to a factor of two, {_COUNTED}",
)


def uncertainty_band(
    paths: Paths, candidate: Candidate, sending: float, total: float, least: float
) -> tuple[float, float]:
    """The low and high end of a time in seconds. Errors of all terms are assumed to be correlated, and the low end is
    at least the time at line rate.
    """
    starting = total - sending
    share = STARTING.value + ALONE.value * starting / total
    spread = starting * share + sending * SENDING[_origin_kind(_limiting_origin(paths, candidate))].value
    return min(total, max(least, total - spread)), max(total, total + spread)


def _limiting_origin(paths: Paths, candidate: Candidate) -> Origin:
    """The origin (measured, assumed, cited) of the bandwidth share that limits the transfer."""
    if paths.between and candidate.between >= candidate.inside:
        return paths.between.share.origin
    if candidate.algorithm.startswith("nvls") and paths.inside.reduction:
        kept = paths.inside.reduction_between if paths.islands > 2 else None
        return (kept or paths.inside.reduction).origin
    return paths.inside.ring.origin


def _origin_kind(origin: Origin) -> str:
    if isinstance(origin, Measured):
        return "measured"
    return "assumed" if isinstance(origin, Assumed) else "cited"


# The cost of a collective over a group by its fastest algorithm, as the library would choose it


def collective_cost(
    cluster: Cluster,
    name: str,
    group: Placement,
    size: float,
    algorithm: str | None = None,
    *,
    processes: str | None = None,
) -> CollectiveCost:
    """The cost of a collective over a group.

    ``name`` is one of `NAMES`, ``size`` in bytes as nccl-tests counts it. Without ``algorithm`` the fastest is used, as
    the library's own cost model would choose. ``processes`` is ``node`` or ``rank``: how a test on one node was
    started. Raises `CollectiveUnavailableError` where the cluster does not state how
    the ranks are connected, and where the algorithm does not apply to the group.
    """
    if group.ranks <= 1 or size <= 0:
        return cost_of_nothing(name, group.ranks, max(0.0, size))
    return group_timing(cluster, name, group, algorithm, processes=processes).cost(size)


def group_timing(
    cluster: Cluster, name: str, group: Placement, algorithm: str | None = None, *, processes: str | None = None
) -> CollectiveTiming:
    """The timing of a collective over a group of two or more ranks, for any size.

    Raises `CollectiveUnavailableError` as `collective` does.
    """
    paths = group_paths(cluster, group)
    if paths is None:
        raise CollectiveUnavailableError(f"{group.nodes} nodes, and no network between them is described")
    return paths_timing(MeasuredLinks.of(cluster, replace(paths, processes=processes)), name, algorithm)


class MeasuredLinks(NamedTuple):
    """The inputs of a collective's timing that depend on the machine: the links of the group, their measured shares,
    and whether the switches of a domain can reduce.
    """

    paths: Paths
    measured: tuple[MeasuredShare, ...]
    reduces: bool

    @classmethod
    def of(cls, cluster: Cluster, paths: Paths) -> MeasuredLinks:
        """The links of a group on a machine."""
        return cls(paths, cluster.measured, cluster.scale_up.in_network_reduction)


def paths_timing(links: MeasuredLinks, name: str, algorithm: str | None = None) -> CollectiveTiming:
    """The timing of a collective over a group with these links."""
    paths = with_measured_shares(links.paths, name, links.measured)
    candidates = _candidates_of_links(name, paths, candidate_algorithms(name, algorithm))
    if not candidates:
        raise CollectiveUnavailableError(_refusal_text(name, algorithm, paths))
    candidates = candidates if algorithm else _allowed_candidates(paths, name, candidates)
    highest = busbw_ceiling(name, paths, algorithm, reduces=links.reduces)
    return CollectiveTiming(name, paths, candidates, highest, bus_factor(name, paths.ranks))


def _refusal_text(name: str, algorithm: str | None, paths: Paths) -> str:
    """The reason why a collective has no time over these links, and the algorithms that would run instead."""
    names = [
        each for each in algorithm_names(name) if _candidates_of_links(name, paths, candidate_algorithms(name, each))
    ]
    refused = f" by `{algorithm}`" if algorithm else ""
    instead = f"; it runs by {', '.join(names)}" if names else ""
    return f"{name} does not run{refused} over these ranks{instead}"


def _candidates_of_links(name: str, paths: Paths, algorithms: Sequence[Algorithm]) -> tuple[Candidate, ...]:
    """The candidates of the given algorithms over these links. LL messages too large to be sent eagerly also wait for
    their receivers.
    """
    found = tuple(candidate for each in algorithms for candidate in each(paths))
    between = paths.between
    if between is None or between.rendezvous is None or between.eager is None:
        return found
    # LL alone waits so: the other protocols, two thirds of the candidates, are not timed again.
    slower = replace(between, latency=between.rendezvous, protocols=between.protocols & {LL.name})
    waiting = replace(paths, between=slower)
    late = (other.latency for each in algorithms for other in each(waiting) if other.protocol == LL.name)
    eager = LL_MESSAGES.value * between.eager.value * LL.share
    return tuple(
        replace(one, late=next(late) - one.latency, eager=eager * _parts_of_size(name, one, paths.ranks))
        if one.protocol == LL.name
        else one
        for one in found
    )


def _parts_of_size(name: str, candidate: Candidate, ranks: int) -> int:
    """The number of parts in which a ring sends the size one after another; 1 for other algorithms."""
    return ranks if candidate.algorithm == "ring" and name != "broadcast" else 1


def _allowed_candidates(paths: Paths, name: str, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """The candidates of an all-reduce that the network's settings allow; all candidates if they restrict nothing."""
    algorithms = paths.between.algorithms if paths.between and name == "all-reduce" else frozenset()
    return tuple(one for one in candidates if one.algorithm in algorithms) or candidates


def cost_of_nothing(name: str, ranks: int, size: float) -> CollectiveCost:
    """The cost of a collective that sends nothing: one rank, or no bytes."""
    return CollectiveCost(name, "none", "none", "none", ranks, size, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, "nothing")


@dataclass(frozen=True)
class CollectiveTiming:
    """A collective over one group, for any size: its candidate algorithms, and the ceiling of its links.

    ``ceiling`` is the bus bandwidth at line rate, B/s; ``bus_factor`` is bus bandwidth over algorithm bandwidth.
    """

    name: str
    paths: Paths
    candidates: Sequence[Candidate]
    ceiling: float
    bus_factor: float

    def by_trees(self, *, trees: bool) -> CollectiveTiming:
        """The timing by trees only (``trees``) or by other algorithms only; unchanged if there is no such algorithm."""
        kept = [one for one in self.candidates if (one.algorithm in TREES) is trees]
        return replace(self, candidates=kept) if kept else self

    def device_seconds(self, size: float) -> float:
        """Seconds on the device, without launch time; ``size`` is above zero, or a column."""
        launch = self.candidates[0].launch
        fastest = self.candidates[0].device_seconds(size)
        for candidate in self.candidates[1:]:
            fastest = smaller(fastest, candidate.device_seconds(size))
        return larger(fastest, time_at_busbw(size, self.ceiling, self.bus_factor) - launch)

    def cost(self, size: float) -> CollectiveCost:
        """The cost of one size above zero."""
        candidate = min(self.candidates, key=lambda each: each.launch + each.device_seconds(size))
        least = time_at_busbw(size, self.ceiling, self.bus_factor)
        total = max(candidate.launch + candidate.device_seconds(size), candidate.posting, least)
        sending = candidate.per_byte * size
        low, high = uncertainty_band(self.paths, candidate, sending, total, least)
        return CollectiveCost(
            name=self.name,
            algorithm=candidate.algorithm,
            protocol=candidate.protocol,
            tier=self.paths.tier,
            ranks=self.paths.ranks,
            size=size,
            seconds=total,
            sending=sending,
            low=low,
            high=high,
            algbw=algorithm_bandwidth(size, total),
            busbw=bus_bandwidth(size, total, self.bus_factor),
            ceiling_busbw=self.ceiling,
            bound_by=_bottleneck_name(self.paths, candidate, sending, total),
            paths=self.paths,
            candidate=candidate,
        )


def _bottleneck_name(paths: Paths, candidate: Candidate, sending: float, total: float) -> str:
    """The bottleneck: latency, or the bandwidth of the tier that sends longest."""
    if sending < total / 2:
        return "latency"
    between = paths.between
    longest = between if between and candidate.between >= candidate.inside else paths.inside
    return f"{longest.tier} bandwidth"


# The table of a collective over several sizes, as nccl-tests prints it, with the ceiling


@dataclass(frozen=True)
class CollectiveRow:
    """One size of a table: bytes as nccl-tests counts them, seconds, bytes per second."""

    collective: str
    ranks: int
    size: float
    seconds: float
    low: float
    high: float
    algbw: float
    busbw: float
    ceiling_busbw: float
    bound_by: str
    tier: str
    algorithm: str

    @property
    def lowest_busbw(self) -> float:
        """The lowest bus bandwidth in B/s that a healthy machine shows: the slow end of the uncertainty range."""
        return self.busbw * self.seconds / self.high if self.high else self.busbw

    @classmethod
    def of(cls, cost: CollectiveCost) -> CollectiveRow:
        """The plain numbers of a cost."""
        return cls(
            cost.name,
            cost.ranks,
            cost.size,
            cost.seconds,
            cost.low,
            cost.high,
            cost.algbw,
            cost.busbw,
            cost.ceiling_busbw,
            cost.bound_by,
            cost.tier,
            cost.algorithm,
        )


def collective_table(
    cluster: Cluster,
    name: str,
    ranks: int,
    sizes: Sequence[float],
    algorithm: str | None = None,
    *,
    processes: str | None = None,
) -> tuple[CollectiveRow, ...]:
    """A collective over the first ``ranks`` ranks, for each size in bytes; ``processes`` as for `collective_cost`.

    Raises `CollectiveUnavailableError` as `collective` does.
    """
    group = contiguous_placement(cluster, ranks)
    return tuple(
        CollectiveRow.of(collective_cost(cluster, name, group, size, algorithm, processes=processes)) for size in sizes
    )
