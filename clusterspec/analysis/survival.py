"""Communication time of one step over link rates: a table for each kind of parallelism, number of nodes and model.

The transfers of a plan are timed again on the same ranks with other link rates. The curve of their seconds has a kink
where the slower tier changes, so that the table has more points there (`analysis.interpolation`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import log

from clusterspec.analysis.interpolation import Rates, interpolated_seconds, tabulated_curve
from clusterspec.cluster.groups import Placement, group_runs, runs_placement
from clusterspec.cluster.legality import refusals
from clusterspec.cluster.model import Cluster, Design
from clusterspec.cluster.variation import design_with_keys, with_values
from clusterspec.cost.collectives.paths import group_paths
from clusterspec.cost.collectives.predict import CollectiveTiming, MeasuredLinks, paths_timing
from clusterspec.cost.estimate import estimate
from clusterspec.cost.plan import Plan
from clusterspec.cost.record import Sent, transfer_rows
from clusterspec.quantity import Bandwidth
from clusterspec.records import dataclass, replace
from clusterspec.results.survival import SPAN, STAGES, STRATEGIES, TAPERS, Curve, Survival, WireCase
from clusterspec.source import Path
from clusterspec.spec.model import LayoutSpec, ModelSpec
from clusterspec.summation import sum_of

MODELS = ("llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b")
"""Models in addition to the spec's, by size."""
NODE_FACTORS = (0.25, 1.0, 4.0)
MOST_NODES = 16_384


def survival(design: Design, *, live: bool = True) -> Survival | None:
    """The grid around the nodes of the job; unless ``live``, only its own nodes and model.

    None unless the design is training on more than one node with a switched fabric."""
    cluster, work = design.cluster, design.workload
    if cluster is None or work is None or work.kind != "train" or cluster.scale_out is None or cluster.nodes < 2:
        return None
    own = design.layout.nodes if design.layout else cluster.nodes
    if own < 2:
        return None
    nodes = tuple(sorted({max(2, min(MOST_NODES, round(own * factor))) for factor in NODE_FACTORS}))
    used = own * cluster.ranks_per_node
    sequences = max(1, round(work.global_batch / used))
    models = _models(design)
    if not live:
        nodes, models = (own,), tuple(each for each in models if each[0] == (work.model.id or "this model"))
    taper = min(max(cluster.scale_out.taper, TAPERS[0]), TAPERS[1])
    present = cluster.scale_up.bandwidth.value, cluster.scale_out.nic_bandwidth.value, taper
    cases, worst, checked = [], 0.0, 0
    for count in nodes:
        machine: VariedRates | None = None
        for model, _ in models:
            for name, plan in _plans(design, count, model, sequences):
                if machine is None or machine.cluster != plan.design.cluster:
                    machine = VariedRates(plan.design.cluster) if plan.design.cluster else None
                curve = _curve(plan, name, present, machine) if machine else None
                if curve is None or plan.step is None:
                    continue
                cases.append(_case(plan, (name, count, model), interpolated_seconds(curve[0], *present), curve[0]))
                worst, checked = max(worst, curve[1]), checked + curve[2]
    if not cases:
        return None
    return Survival(
        nodes=nodes,
        models=models,
        bandwidth=present[0],
        nic=present[1],
        taper=taper,
        sequences=sequences,
        cases=tuple(cases),
        error=worst,
        checked=checked,
    )


def _case(plan: Plan, key: tuple[str, int, str], communication: float, curve: Curve) -> WireCase:
    """A case with the other parts of its estimate: computation, exposed time, bubble, memory."""
    assert plan.step is not None
    axes = next(one.axes for one in STRATEGIES if one.name == key[0])
    exposed = sum_of(row.exposed for row in plan.communication if row.axis in axes)
    bubble = plan.step.times.bubble
    return WireCase(*key, plan.step.computing, communication, exposed, bubble, plan.memory_bytes, plan.fits, curve)


def _models(design: Design) -> tuple[tuple[str, float], ...]:
    """The model of the spec and two of `MODELS` nearest in size, by parameters; names are catalog ids."""
    from clusterspec.cost.parameters import model_weights

    assert design.workload is not None and design.catalog is not None
    own = design.workload.model
    found = {own.id or "this model": model_weights(own).total}
    others = {name: model_weights(design.catalog.model(name)).total for name in MODELS if name != own.id}
    nearest = sorted(others.items(), key=lambda pair: abs(log(pair[1] / found[own.id or "this model"])))
    found |= dict(nearest[:2])
    return tuple(sorted(found.items(), key=lambda pair: pair[1]))


def _plans(design: Design, nodes: int, model: str, sequences: int) -> Iterator[tuple[str, Plan]]:
    """The plans of the legal strategies."""
    for strategy in STRATEGIES:
        other = varied_design(design, nodes, model, sequences, strategy.name)
        if other is not None and other.layout is not None and other.workload is not None and not refusals(other):
            yield strategy.name, estimate(other)


def varied_design(design: Design, nodes: int, model: str, sequences: int, strategy: str) -> Design | None:
    """A case: the design with a number of nodes and one kind of parallelism; None if the machine has no such layout."""
    cluster, spec = design.cluster, design.spec
    assert cluster is not None and spec.cluster is not None and spec.workload is not None
    ranks = nodes * cluster.ranks_per_node
    inside = _ranks_inside_domain(cluster)
    framework = spec.layout.framework if spec.layout else None
    spec_layout: dict[str, LayoutSpec] = {
        "TP": LayoutSpec(tp=inside),
        "PP": LayoutSpec(pp=STAGES),
        "DDP": LayoutSpec(sharding="none"),
        "FSDP": LayoutSpec(sharding="fsdp"),
        "HSDP": LayoutSpec(sharding="hsdp"),
        "EP": LayoutSpec(ep=inside),
    }
    layout = replace(spec_layout[strategy], framework=framework, micro_batch=1)
    if (strategy in ("TP", "EP") and inside < 2) or (strategy == "PP" and ranks % STAGES):
        return None
    # One level with one ratio, which `varied_cluster` sets: groups must not lie across levels that it lacks.
    machine = {"nodes": nodes, "spare_nodes": None, "accelerators": None}
    fabric = dict.fromkeys(("tiers", "levels", "oversubscription"))
    work = {"global_batch": ranks * sequences, "tokens": None, "expected_mfu": None}
    changes: dict[Path, object] = {("layout",): layout}
    changes |= {("cluster", key): value for key, value in machine.items()}
    changes |= {("cluster", "scale_out", key): value for key, value in fabric.items()}
    changes |= {("workload", key): value for key, value in work.items()}
    if model != "this model":
        changes[("workload", "model")] = ModelSpec(base=model)
    return design_with_keys(design, changes)


def _ranks_inside_domain(cluster: Cluster) -> int:
    """The largest power of two up to 8 that fits the ranks of a domain."""
    most = min(8, cluster.ranks_per_domain)
    return 1 << (most.bit_length() - 1)


def varied_cluster(cluster: Cluster, bandwidth: float, nic: float, taper: float) -> Cluster:
    """The cluster with other rates: scale-up at ``bandwidth``, all NICs at ``nic``, leaf oversubscription ``taper``."""
    up = cluster.scale_up
    factor = bandwidth / up.bandwidth.value

    def scaled(rate: Bandwidth) -> Bandwidth:
        return replace(rate, value=rate.value * factor)

    return with_values(
        cluster,
        {
            ("scale_up", "bandwidth"): scaled(up.bandwidth),
            ("scale_up", "peer_bandwidth"): scaled(up.peer_bandwidth),
            ("scale_up", "axis_bandwidth"): tuple(map(scaled, up.axis_bandwidth)),
            ("scale_out", "nic_bandwidth", "value"): nic,
            ("scale_out", "oversubscription"): (taper,),
        },
    )


def _curve(plan: Plan, name: str, present: Rates, machine: VariedRates) -> tuple[Curve, float, int] | None:
    """The communication time of a case over the rates."""
    axes = next(one.axes for one in STRATEGIES if one.name == name)
    if plan.step is None:
        return None
    times = wire_times(plan, [pair for pair in transfer_rows(plan.step) if pair[0].axis in axes])
    if not times:
        return None

    def seconds(bandwidth: float, nic: float, taper: float) -> float:
        rates = (bandwidth, nic, taper)
        return sum_of(one.calls * machine.device_seconds(rates, one) for one in times)

    return tabulated_curve(seconds, present, SPAN, TAPERS)


@dataclass(frozen=True)
class WireTime:
    """``calls`` collectives of ``size`` bytes each on the groups of one axis, whose placement is fixed.

    ``calls`` includes framework efficiency: a collective at 0.9 of the usual rate counts as 1 / 0.9 calls.
    """

    collective: str
    placement: Placement
    size: float
    calls: float


class VariedRates:
    """A machine at other link rates. The cases share its scanned rates, so each collective is timed once for all.

    The links of a group inside one domain depend on the scale-up bandwidth alone.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._clusters: dict[Rates, Cluster] = {}
        self._links: dict[tuple[Rates, Placement], MeasuredLinks | None] = {}
        self._timings: dict[tuple[Rates, str, Placement], CollectiveTiming | None] = {}

    def device_seconds(self, rates: Rates, transfer: WireTime) -> float:
        """Seconds of one call of a transfer at these rates; 0 if no link connects its ranks."""
        placement = transfer.placement
        key = (self._rates_of_one_domain(rates) if placement.domains == 1 else rates, transfer.collective, placement)
        if key not in self._timings:
            self._timings[key] = self._timing(*key)
        timing = self._timings[key]
        return timing.cost(transfer.size).device_seconds if timing else 0.0

    def _timing(self, rates: Rates, collective: str, placement: Placement) -> CollectiveTiming | None:
        if (rates, placement) not in self._links:
            self._links[rates, placement] = self._links_at(rates, placement)
        links = self._links[rates, placement]
        return paths_timing(links, collective) if links else None

    def _links_at(self, rates: Rates, placement: Placement) -> MeasuredLinks | None:
        """The links of a group at these rates, which all collectives of the group share; None if none connects it."""
        cluster = self._cluster_at(rates)
        paths = group_paths(cluster, placement)
        return MeasuredLinks.of(cluster, paths) if paths else None

    def _rates_of_one_domain(self, rates: Rates) -> Rates:
        """The scale-up bandwidth of some rates, with the NIC rate and the oversubscription of the machine."""
        fabric = self.cluster.scale_out
        return (rates[0], fabric.nic_bandwidth.value, fabric.taper) if fabric is not None else rates

    def _cluster_at(self, rates: Rates) -> Cluster:
        if rates not in self._clusters:
            self._clusters[rates] = varied_cluster(self.cluster, *rates)
        return self._clusters[rates]


def wire_times(plan: Plan, rows: Iterable[Sent]) -> tuple[WireTime, ...]:
    """The transfers of a plan, grouped by kind and size."""
    cluster, layout = plan.design.cluster, plan.design.layout
    if cluster is None or layout is None:
        return ()
    found: dict[tuple[str, str, float], WireTime] = {}
    for row, cost in rows:
        if row.seconds <= 0 or cost.device_seconds <= 0 or row.ranks < 2:
            continue
        key = (row.axis, row.collective, cost.size)
        calls = row.seconds / cost.device_seconds
        if key in found:
            calls += found[key].calls
            placement = found[key].placement
        else:
            inside, outside = group_runs(layout, row.axis)
            placement = runs_placement(cluster, row.axis, inside, outside, layout.nodes_per_domain)
        found[key] = WireTime(row.collective, placement, cost.size, calls)
    return tuple(found.values())
