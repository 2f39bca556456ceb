"""Levers: numeric keys of a spec that a design may change, with the values that are sold or usual."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf

from clusterspec.cluster.model import Design, Workload
from clusterspec.cluster.variation import Changes
from clusterspec.quantity import Direction, Quantity
from clusterspec.records import dataclass, replace
from clusterspec.source import Path

GIGABIT = 1e9 / 8
"""Bytes per second of one Gb/s."""


@dataclass(frozen=True)
class Lever:
    """A key with numeric values, in SI units (bandwidths in bytes per second per direction).

    ``steps`` are the values that are sold or usual, ascending. ``better`` is 1 if a larger value never slows a step
    down on the same layout, -1 if it never speeds one up. ``whole`` values are counts, which divisibility makes uneven:
    they are scanned instead of bisected. A count with ``every`` may take any number. ``removed`` are keys that would
    contradict a new value. ``written`` returns the value of the key in a spec. ``grown_from`` is the cluster's number
    of nodes where the job uses fewer: more than these are bought. ``most`` is the largest value that the design takes,
    such as the context of its model.
    """

    name: str
    path: Path
    unit: str
    steps: tuple[float, ...]
    better: int
    value: Callable[[Design], float | None]
    written: Callable[[float], object]
    whole: bool = False
    every: bool = False
    removed: tuple[Path, ...] = ()
    grown_from: float = inf
    most: float = inf
    spread: Callable[[float], Changes] | None = None
    """For a value that is a sum of several keys: a function that returns the changes for each value, divided among the
    keys.
    """

    @property
    def is_hardware(self) -> bool:
        """Whether the values describe hardware that is sold, and not the load."""
        return self.path[0] == "cluster"

    def counts(self, value: float) -> bool:
        """Whether a value is written as a whole number."""
        return isinstance(self.written(value), int)

    def printable(self, value: float) -> float:
        """The nearest value that can be printed exactly: an integer if the key counts something, else four significant
        digits in the printed unit.
        """
        scale = 8.0 if self.name == "nic_bandwidth" else 1.0
        return float(round(value)) if self.counts(value) else float(f"{value * scale:.3e}") / scale

    def changes(self, value: float) -> Changes:
        """The changes to a spec that give the key this value."""
        if self.spread is not None:
            return self.spread(value)
        grown: dict[Path, object] = {NODES: self.written(value), **_OF_NODES} if value > self.grown_from else {}
        return {self.path: self.written(value), **dict.fromkeys(self.removed), **grown}


def _nic_bandwidth(design: Design) -> float | None:
    fabric = design.cluster.scale_out if design.cluster else None
    return fabric.nic_bandwidth.value if fabric else None


def _leaf_oversubscription(design: Design) -> float | None:
    fabric = design.cluster.scale_out if design.cluster else None
    return fabric.oversubscription[0] if fabric and not fabric.levels and fabric.oversubscription else None


def _store_figure(name: str) -> Callable[[Design], float | None]:
    """A stated figure of the storage system; a rate in B/s per direction, for reads the bandwidth if none is stated."""

    def value(design: Design) -> float | None:
        networks = design.spec.cluster.networks if design.spec.cluster else None
        store = networks.storage if networks is not None else None
        stated = getattr(store, name) if store is not None else None
        if name == "read" and store is not None:
            stated = stated or store.bandwidth
        return stated.per_direction if isinstance(stated, Quantity) else stated

    return value


def _line_rate_quantity(value: float) -> Quantity:
    return Quantity(value, "B/s", f"{value / GIGABIT:.9g} Gb/s", "Gb/s", bits=True)


def _one_way_quantity(value: float) -> Quantity:
    return Quantity(value, "B/s", f"{value / 1e9:.9g} GB/s unidirectional", "GB/s", direction=Direction.ONE_WAY)


def _ratio_quantity(value: float) -> tuple[Quantity, ...]:
    return (Quantity(value, "1", f"{value:.9g}:1"),)


def _serving_number(name: str) -> Callable[[Design], float | None]:
    """A number from the serving section; None if it is not stated."""

    def value(design: Design) -> float | None:
        load = design.workload.serving if design.workload else None
        found = getattr(load, name) if load is not None else None
        return None if found is None else float(found)

    return value


NODES: Path = ("cluster", "nodes")
_OF_NODES: Mapping[Path, None] = {("cluster", "accelerators"): None}
"""Keys that conflict with a changed number of nodes."""
SERVING: Path = ("workload", "serving")
OF_LOAD = frozenset({"concurrency", "request_rate"})
"""Levers that trade throughput for waiting time. A higher value raises both, so the condition decides whether the
minimum or maximum is wanted.
"""
STORE: Path = ("cluster", "networks", "storage")
SCALE_OUT: Path = ("cluster", "scale_out")
SCALE_UP: Path = ("cluster", "scale_up")
STORE_RATES = tuple(1e9 * rate for rate in (5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560))
OF_STORE: Mapping[str, Lever] = {
    lever.name: lever
    for lever in (
        Lever(
            "storage.bandwidth",
            (*STORE, "bandwidth"),
            "B/s",
            STORE_RATES,
            1,
            _store_figure("bandwidth"),
            _one_way_quantity,
        ),
        Lever("storage.read", (*STORE, "read"), "B/s", STORE_RATES, 1, _store_figure("read"), _one_way_quantity),
        Lever(
            "storage.per_client",
            (*STORE, "per_client"),
            "B/s",
            tuple(1e9 * rate for rate in (0.5, 1, 2, 5, 10, 20, 40, 80)),
            1,
            _store_figure("per_client"),
            _one_way_quantity,
        ),
        Lever(
            "storage.slots",
            (*STORE, "slots"),
            "1",
            tuple(2.0**power for power in range(15)),
            1,
            _store_figure("slots"),
            int,
            whole=True,
        ),
        Lever(
            "storage.metadata_rate",
            (*STORE, "metadata_rate"),
            "1",
            tuple(10.0**power for power in range(2, 8)),
            1,
            _store_figure("metadata_rate"),
            lambda value: float(f"{value:.6g}"),
        ),
    )
}
"""Parameters that affect only the cost of checkpoints and the waiting for data, not step time or memory."""
LEVERS: Mapping[str, Lever] = {
    lever.name: lever
    for lever in (
        Lever(
            "nic_bandwidth",
            (*SCALE_OUT, "nic_bandwidth"),
            "B/s",
            tuple(rate * GIGABIT for rate in (25, 50, 100, 200, 400, 800, 1600)),
            1,
            _nic_bandwidth,
            _line_rate_quantity,
            removed=((*SCALE_OUT, "nic"), (*SCALE_OUT, "switch"), (*SCALE_OUT, "switch_ports")),
        ),
        Lever(
            "oversubscription",
            (*SCALE_OUT, "oversubscription"),
            "1",
            (1.0, 1.5, 2.0, 3.0, 4.0, 7.0, 8.0, 16.0),
            -1,
            _leaf_oversubscription,
            _ratio_quantity,
        ),
        Lever(
            "scale_up.bandwidth",
            (*SCALE_UP, "bandwidth"),
            "B/s",
            tuple(rate * 1e9 for rate in (32, 64, 150, 200, 300, 450, 900, 1800)),
            1,
            lambda design: design.cluster.scale_up.bandwidth.value if design.cluster else None,
            _one_way_quantity,
            removed=((*SCALE_UP, "interconnect"), (*SCALE_UP, "peer_bandwidth"), (*SCALE_UP, "axis_bandwidth")),
        ),
        Lever(
            "scale_up.domain",
            (*SCALE_UP, "domain"),
            "1",
            (1, 2, 4, 8, 16, 32, 64, 72, 144, 576),
            1,
            lambda design: float(design.cluster.scale_up.domain) if design.cluster else None,
            int,
            whole=True,
            removed=((*SCALE_UP, "shape"),),
        ),
        Lever(
            "nodes",
            NODES,
            "1",
            tuple(2.0**power for power in range(15)),
            1,
            lambda design: float(design.cluster.nodes) if design.cluster else None,
            int,
            whole=True,
            every=True,
            removed=(("layout", "nodes"), ("layout", "dp"), *_OF_NODES),
        ),
        *OF_STORE.values(),
        Lever(
            "global_batch",
            ("workload", "global_batch"),
            "1",
            tuple(2.0**power for power in range(4, 17)),
            1,
            lambda design: float(design.workload.global_batch) if design.workload else None,
            int,
            whole=True,
        ),
        Lever(
            "sequence_length",
            ("workload", "sequence_length"),
            "1",
            tuple(2.0**power for power in range(10, 21)),
            -1,
            lambda design: float(design.workload.sequence_length) if design.workload else None,
            int,
            whole=True,
        ),
        Lever(
            "concurrency",
            (*SERVING, "concurrency"),
            "1",
            tuple(2.0**power for power in range(13)),
            -1,
            _serving_number("concurrency"),
            lambda value: max(1, int(value)),
            removed=((*SERVING, "request_rate"),),
        ),
        Lever(
            "request_rate",
            (*SERVING, "request_rate"),
            "1",
            tuple(2.0**power for power in range(-3, 11)),
            -1,
            _serving_number("request_rate"),
            lambda value: float(f"{value:.6g}"),
            removed=((*SERVING, "concurrency"),),
        ),
        Lever(
            "input_tokens",
            (*SERVING, "input_tokens"),
            "1",
            tuple(2.0**power for power in range(7, 18)),
            -1,
            _serving_number("input_tokens"),
            lambda value: max(1, int(value)),
        ),
    )
}
"""The numeric levers, by the names that `solve --for` takes."""


MACHINE = "cluster.nodes"
"""The name for the nodes of the machine if the job uses only some of them; `nodes` then means those of the job."""


def uses_part(design: Design) -> bool:
    """Whether the spec states that the job uses fewer nodes than the cluster has."""
    cluster, layout = design.cluster, design.layout
    stated = design.spec.layout is not None and design.spec.layout.nodes is not None
    return stated and cluster is not None and layout is not None and layout.nodes < cluster.nodes


def machine_lever(design: Design) -> Lever:
    """The lever that changes only the cluster's number of nodes. If the job uses all of them, it is the lever
    `nodes`.
    """
    return replace(LEVERS["nodes"], removed=tuple(_OF_NODES)) if uses_part(design) else lever_of("nodes", design)


def lever_of(name: str, design: Design) -> Lever:
    """A lever of a design. `nodes` is the number that the job uses if the spec states fewer than the cluster has. In
    reinforcement learning it is the number of nodes for all roles on all machines, divided as in the spec. Scale-up
    links take the bandwidths of their family.
    """
    lever, cluster, layout = LEVERS[name], design.cluster, design.layout
    if name == "scale_up.bandwidth":
        return replace(lever, steps=_bandwidths_of_family(design) or lever.steps)
    if name == "input_tokens" and design.workload is not None:
        return replace(lever, most=_longest_prompt(design.workload))
    if name == "nodes" and design.workload is not None and design.workload.rl is not None:
        from clusterspec.analysis.searches.rl_splits import keys_of_nodes, nodes_of_job, rollout_nodes_in_proportion

        return replace(
            lever,
            value=lambda one: float(nodes_of_job(one)),
            spread=lambda value: keys_of_nodes(design, int(value), rollout_nodes_in_proportion(design, int(value))),
        )
    if name != "nodes" or cluster is None or layout is None or not uses_part(design):
        return lever
    used, path = float(layout.nodes), ("layout", "nodes")
    return replace(lever, path=path, value=lambda _: used, removed=(("layout", "dp"),), grown_from=float(cluster.nodes))


def _bandwidths_of_family(design: Design) -> tuple[float, ...]:
    """The bandwidths of the scale-up links of the same family in the catalog, in bytes per second per direction and
    accelerator, ascending; empty if the links of the design are of no entry.
    """
    own = design.cluster.scale_up.interconnect if design.cluster else None
    if own is None or design.catalog is None:
        return ()
    entries = map(design.catalog.interconnect, design.catalog.ids("interconnect"))
    related = [each.bandwidth for each in entries if (each.family, each.scope) == (own.family, own.scope)]
    return tuple(sorted({bandwidth.value for bandwidth in related if bandwidth is not None}))


def _longest_prompt(work: Workload) -> float:
    """Tokens of the longest prompt for which a mean answer still fits the model's context; infinite if that is
    unknown.
    """
    context, answer = work.model.max_sequence_length, work.serving.output_tokens if work.serving else 0
    return float(max(1, context - answer)) if context else inf


WORDS: Mapping[str, tuple[Path, tuple[object, ...], Callable[[Design], object]]] = {
    "recompute": (
        ("layout", "recompute"),
        ("none", "selective", "full"),
        lambda design: design.layout.recompute if design.layout else None,
    ),
    "sharding": (
        ("layout", "sharding"),
        ("none", "zero1", "zero2", "fsdp", "hsdp"),
        lambda design: design.layout.sharding if design.layout else None,
    ),
    "precision": (
        ("workload", "precision"),
        ("bf16", "fp8", "fp4"),
        lambda design: design.workload.precision if design.workload else None,
    ),
    "overlap.tp": (
        ("layout", "overlap", "tp"),
        ("none", "partial", "full"),
        lambda design: design.layout.overlap.tp if design.layout else None,
    ),
    "overlap.dp": (
        ("layout", "overlap", "dp"),
        (False, True),
        lambda design: design.layout.overlap.dp if design.layout else None,
    ),
    "micro_batch": (
        ("layout", "micro_batch"),
        (1, 2, 4, 8, 16),
        lambda design: design.layout.micro_batch if design.layout else None,
    ),
}
"""Levers whose values are a short ordered list, by name: key path, values, and the value of a design."""
