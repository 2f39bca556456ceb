"""Communication time of one step over link rates: a table for each kind of parallelism, number of nodes and model.

The transfers of a plan are timed again on the same ranks with other link rates. The curve of their seconds has a kink
where the slower tier changes, so that the table has more points there (`analysis.levers.interpolation`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import log

from clusterspec.analysis.levers.interpolation import (
    CHECKS,
    SOUND,
    Rates,
    Seconds,
    fastest_seconds,
    largest_error,
    needs_tables_by_taper,
    tabulated_curve,
)
from clusterspec.cluster.groups import Placement, group_runs, runs_placement
from clusterspec.cluster.legality import layout_error_rules
from clusterspec.cluster.model import Cluster, Design
from clusterspec.cluster.planes import fabric_levels
from clusterspec.cluster.variation import design_with_keys, with_values
from clusterspec.cost.collectives import Inside
from clusterspec.cost.collectives.paths import group_paths
from clusterspec.cost.collectives.predict import CollectiveTiming, MeasuredLinks, paths_timing
from clusterspec.cost.estimate import estimate
from clusterspec.cost.plan import Plan, transfer_rows
from clusterspec.quantity import Bandwidth
from clusterspec.records import dataclass, replace
from clusterspec.results.survival import SPAN, STAGES, STRATEGIES, TAPERS, Curve, Survival, WireCase
from clusterspec.source import Path
from clusterspec.spec.model import LayoutSpec, ModelSpec
from clusterspec.standard import sum_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.plan import Sent

MODELS = ("llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b")
"""Models in addition to the spec's, by size."""
NODE_FACTORS = (0.25, 1.0, 4.0)
Curves = Sequence[Curve]
"""Curves whose minimum counts."""
MOST_NODES = 16_384


def survival(design: Design, *, live: bool = True) -> Survival | None:
    """The grid of communication times for several numbers of nodes and models; unless ``live``, only for those of the
    spec.

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
    models = _models_near_in_size(design)
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
                found = _curves(plan, name, present, machine) if machine else None
                if found is None or plan.step is None:
                    continue
                cases.append(_wire_case(plan, (name, count, model), fastest_seconds(found[0], *present), found[0]))
                worst, checked = max(worst, found[1]), checked + found[2]
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


def _wire_case(plan: Plan, key: tuple[str, int, str], communication: float, curves: Curves) -> WireCase:
    """A case with the other parts of its estimate: computation, exposed time, bubble, memory."""
    assert plan.step is not None
    axes = next(one.axes for one in STRATEGIES if one.name == key[0])
    exposed = sum_of(row.exposed for row in plan.communication if row.axis in axes)
    bubble = plan.step.times.bubble
    times = plan.step.computing_seconds, communication, exposed, bubble
    return WireCase(*key, *times, plan.memory_bytes, plan.fits, curves[0], tuple(curves[1:]))


def _models_near_in_size(design: Design) -> tuple[tuple[str, float], ...]:
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
        if (
            other is not None
            and other.layout is not None
            and other.workload is not None
            and not layout_error_rules(other)
        ):
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
    """The cluster with other rates: scale-up at ``bandwidth``, all NICs at ``nic``, leaf oversubscription ``taper``.

    A leaf keeps its nodes, and has fewer uplinks: with more nodes below it, times would jump.
    """
    up, fabric = cluster.scale_up, cluster.scale_out
    assert fabric is not None
    levels = tuple(
        replace(each, oversubscription=1.0 if at else taper) for at, each in enumerate(fabric_levels(cluster))
    )
    nics, factor = fabric.nic_bandwidth, bandwidth / up.bandwidth.value

    def scaled_bandwidth(rate: Bandwidth) -> Bandwidth:
        return replace(rate, value=rate.value * factor)

    return with_values(
        cluster,
        {
            ("scale_up",): replace(
                up,
                bandwidth=scaled_bandwidth(up.bandwidth),
                peer_bandwidth=scaled_bandwidth(up.peer_bandwidth),
                axis_bandwidth=tuple(map(scaled_bandwidth, up.axis_bandwidth)),
            ),
            ("scale_out",): replace(
                fabric, nic_bandwidth=replace(nics, value=nic), oversubscription=(taper,), levels=levels
            ),
        },
    )


def _curves(plan: Plan, name: str, present: Rates, machine: VariedRates) -> tuple[Curves, float, int] | None:
    """The communication time of a case over the rates, as the minimum of one or two curves, with the largest relative
    interpolation error and the number of positions checked.

    An oversubscription slows trees more than rings. Where both are the fastest somewhere, each has a curve of its own,
    in which it divides the rate of the NICs: a table for each oversubscription takes many more points.
    """
    axes = next(one.axes for one in STRATEGIES if one.name == name)
    if plan.step is None:
        return None
    times = wire_times(plan, [pair for pair in transfer_rows(plan.step) if pair[0].axis in axes])
    if not times:
        return None

    whole = _seconds_of(times, machine)
    if needs_tables_by_taper(whole, present, TAPERS):
        parts = [tabulated_curve(_seconds_of(times, machine, trees), present, SPAN, TAPERS) for trees in (False, True)]
        curves = [curve for curve, _, _ in parts]
        error = max(largest_error(curves, whole, present, SPAN, TAPERS), *(each for _, each, _ in parts))
        if error <= SOUND:
            return curves, error, sum(number for *_, number in parts) + CHECKS
    curve, error, checked = tabulated_curve(whole, present, SPAN, TAPERS)
    return (curve,), error, checked


def _seconds_of(times: Sequence[WireTime], machine: VariedRates, trees: bool | None = None) -> Seconds:
    """A function from rates to the seconds of transfers: with the fastest algorithms, with trees only, or without trees
    (``trees`` False).
    """
    timed = [(one, machine.timings(one.collective, one.placement, trees)) for one in times]

    def seconds(bandwidth: float, nic: float, taper: float) -> float:
        rates = (bandwidth, nic, taper)
        return sum_of(one.calls * timings.device_seconds(rates, one.size) for one, timings in timed)

    return seconds


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
    """A machine at other link rates. The cases share its scanned rates, so each collective is timed once for all."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._clusters: dict[Rates, Cluster] = {}
        self._groups: dict[Placement, GroupLinks] = {}
        self._timings: dict[tuple[str, Placement, bool | None], GroupTimings] = {}

    def timings(self, collective: str, placement: Placement, trees: bool | None = None) -> GroupTimings:
        """The timings of a group's collective by rates; with trees only or without trees if ``trees`` is given."""
        key = (collective, placement, trees)
        if key not in self._timings:
            links = self._groups.setdefault(placement, GroupLinks(self, placement))
            self._timings[key] = GroupTimings(links, collective, trees)
        return self._timings[key]

    def cluster_at(self, rates: Rates) -> Cluster:
        """The machine at these rates."""
        if rates not in self._clusters:
            self._clusters[rates] = varied_cluster(self.cluster, *rates)
        return self._clusters[rates]


class GroupLinks(dict["Rates", "MeasuredLinks | None"]):
    """The links of a group by rates, shared by all its collectives; None if no link connects its ranks."""

    def __init__(self, machine: VariedRates, placement: Placement) -> None:
        super().__init__()
        self.machine = machine
        self.placement = placement
        self._inside: dict[float, Inside] = {}
        """The links inside an island, by the scale-up bandwidth."""

    def __missing__(self, rates: Rates) -> MeasuredLinks | None:
        cluster = self.machine.cluster_at(rates)
        paths = group_paths(cluster, self.placement, self._inside.get(rates[0]))
        if paths:
            self._inside[rates[0]] = paths.inside
        self[rates] = MeasuredLinks.of(cluster, paths) if paths else None
        return self[rates]

    def decisive_rates(self, rates: Rates) -> Rates:
        """The rates that affect the links: within one domain only the scale-up bandwidth, so that the others are set to
        those of the machine.
        """
        fabric = self.machine.cluster.scale_out
        if self.placement.domains > 1 or fabric is None:
            return rates
        return rates[0], fabric.nic_bandwidth.value, fabric.taper


class GroupTimings(dict["Rates", "CollectiveTiming | None"]):
    """The timings of a group's collective by rates; with trees only or without trees if ``trees`` is given."""

    def __init__(self, links: GroupLinks, collective: str, trees: bool | None = None) -> None:
        super().__init__()
        self.links = links
        self.collective = collective
        self.trees = trees

    def __missing__(self, rates: Rates) -> CollectiveTiming | None:
        decisive = self.links.decisive_rates(rates)
        if decisive != rates:
            found = self[decisive]
        elif self.trees is not None:
            whole = self.links.machine.timings(self.collective, self.links.placement)[rates]
            found = whole.by_trees(trees=self.trees) if whole else None
        else:
            links = self.links[rates]
            found = paths_timing(links, self.collective) if links else None
        self[rates] = found
        return found

    def device_seconds(self, rates: Rates, size: float) -> float:
        """Seconds of one call of ``size`` bytes at these rates; 0 if no link connects the ranks."""
        timing = self[rates]
        return timing.device_seconds(size) if timing else 0.0


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
