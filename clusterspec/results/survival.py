"""Communication time of one step by kind of parallelism, tabulated over nodes, model, scale-up bandwidth, NIC rate
and oversubscription.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from typing import Any

from clusterspec.cluster.legality import refusals
from clusterspec.cluster.model import Cluster, Design
from clusterspec.cluster.variation import revalued, varied
from clusterspec.cost.communication import sent
from clusterspec.cost.estimate import estimate
from clusterspec.cost.plan import Plan
from clusterspec.quantity import Bandwidth
from clusterspec.records import dataclass, replace
from clusterspec.results.survival_grid import Curve, Seconds, tabulated
from clusterspec.results.wire import WireTime, wire_times
from clusterspec.source import Path
from clusterspec.spec.model import LayoutSpec, ModelSpec
from clusterspec.summation import sum_of

SPAN = 4.0
"""Rates vary from a quarter to four times those of the spec."""
TAPERS = (1.0, 8.0)
STAGES = 8
MODELS = ("llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b")
"""Models beside that of the spec, by size."""
NODE_FACTORS = (0.25, 1.0, 4.0)
MOST_NODES = 16_384


@dataclass(frozen=True, slots=True)
class Strategy:
    """A single kind of parallelism: a description of the layout, and the axes of its traffic."""

    name: str
    axes: tuple[str, ...]
    note: str


STRATEGIES = (
    Strategy("TP", ("tp", "expert_tp"), "tensor parallelism over one domain, at most 8 ranks"),
    Strategy("PP", ("pp",), f"{STAGES} pipeline stages"),
    Strategy("DDP", ("dp_cp", "expert_dp"), "gradients reduced over all ranks, nothing sharded"),
    Strategy("FSDP", ("dp_cp", "expert_dp", "shard", "replicate"), "parameters sharded over all ranks"),
    Strategy("HSDP", ("dp_cp", "expert_dp", "shard", "replicate"), "sharded in one domain, replicated across"),
    Strategy("EP", ("ep",), "experts over one domain, at most 8 ranks"),
)


@dataclass(frozen=True, slots=True)
class WireCase:
    """A strategy with a number of nodes and a model: its curve, and its compute time in seconds."""

    strategy: str
    nodes: int
    model: str
    compute: float
    curve: Curve


@dataclass(frozen=True, slots=True)
class Survival:
    """The tabulated cases. ``bandwidth`` (B/s per direction per accelerator) and ``nic`` (B/s per NIC) are those of the
    spec, ``error`` is the largest relative interpolation error over ``checked`` positions.
    """

    nodes: tuple[int, ...]
    models: tuple[tuple[str, float], ...]
    bandwidth: float
    nic: float
    taper: float
    sequences: int
    cases: tuple[WireCase, ...]
    error: float
    checked: int

    def to_json(self) -> dict[str, Any]:
        return {
            "nodes": list(self.nodes),
            "models": [{"name": name, "parameters": count} for name, count in self.models],
            "bandwidth": self.bandwidth,
            "nic": self.nic,
            "taper": self.taper,
            "span": SPAN,
            "tapers": list(TAPERS),
            "sequences": self.sequences,
            "strategies": [{"name": one.name, "note": one.note} for one in STRATEGIES],
            "cases": [
                {
                    "strategy": case.strategy,
                    "nodes": case.nodes,
                    "model": case.model,
                    "compute": case.compute,
                    **case.curve.to_json(),
                }
                for case in self.cases
            ],
            "error": self.error,
            "checked": self.checked,
        }


def survival(design: Design, *, live: bool = True) -> Survival | None:
    """The grid around a design, of which only its own nodes and model unless ``live``.

    None unless the design is training on more than one node with a switched fabric."""
    cluster, work = design.cluster, design.workload
    if cluster is None or work is None or work.kind != "train" or cluster.scale_out is None or cluster.nodes < 2:
        return None
    nodes = tuple(sorted({max(2, min(MOST_NODES, round(cluster.nodes * factor))) for factor in NODE_FACTORS}))
    used = cluster.nodes * cluster.ranks_per_node
    sequences = max(1, round(work.global_batch / used))
    models = _models(design)
    if not live:
        nodes, models = (cluster.nodes,), tuple(each for each in models if each[0] == (work.model.id or "this model"))
    cases, worst, checked = [], 0.0, 0
    for count in nodes:
        for model, _ in models:
            for name, plan in _plans(design, count, model, sequences):
                curve = _curve(plan, name, cluster)
                if curve is None or plan.step is None:
                    continue
                cases.append(WireCase(name, count, model, plan.step.computing, curve[0]))
                worst, checked = max(worst, curve[1]), checked + curve[2]
    if not cases:
        return None
    return Survival(
        nodes=nodes,
        models=models,
        bandwidth=cluster.scale_up.bandwidth.value,
        nic=cluster.scale_out.nic_bandwidth.value,
        taper=min(max(cluster.scale_out.taper, TAPERS[0]), TAPERS[1]),
        sequences=sequences,
        cases=tuple(cases),
        error=worst,
        checked=checked,
    )


def _models(design: Design) -> tuple[tuple[str, float], ...]:
    """The model of the spec and two of `MODELS` nearest in size, by parameters; names are catalog ids."""
    from clusterspec.cost.parameters import count

    assert design.workload is not None and design.catalog is not None
    own = design.workload.model
    found = {own.id or "this model": count(own).total}
    others = {name: count(design.catalog.model(name)).total for name in MODELS if name != own.id}
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
    inside = _inside(cluster)
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
    return varied(design, changes)


def _inside(cluster: Cluster) -> int:
    """The largest power of two up to 8 that fits the ranks of a domain."""
    most = min(8, cluster.ranks_per_domain)
    return 1 << (most.bit_length() - 1)


def varied_cluster(cluster: Cluster, bandwidth: float, nic: float, taper: float) -> Cluster:
    """The cluster with other rates: scale-up at ``bandwidth``, all NICs at ``nic``, leaf oversubscription ``taper``."""
    up = cluster.scale_up
    factor = bandwidth / up.bandwidth.value

    def scaled(rate: Bandwidth) -> Bandwidth:
        return replace(rate, value=rate.value * factor)

    return revalued(
        cluster,
        {
            ("scale_up", "bandwidth"): scaled(up.bandwidth),
            ("scale_up", "peer_bandwidth"): scaled(up.peer_bandwidth),
            ("scale_up", "axis_bandwidth"): tuple(map(scaled, up.axis_bandwidth)),
            ("scale_out", "nic_bandwidth", "value"): nic,
            ("scale_out", "oversubscription"): (taper,),
        },
    )


def _curve(plan: Plan, name: str, base: Cluster) -> tuple[Curve, float, int] | None:
    """The communication time of a case over the rates."""
    axes = next(one.axes for one in STRATEGIES if one.name == name)
    cluster = plan.design.cluster
    if plan.step is None or cluster is None or base.scale_out is None:
        return None
    times = wire_times(plan, [pair for pair in sent(plan.step) if pair[0].axis in axes])
    if not times:
        return None
    seconds = _seconds(cluster, times)
    return tabulated(seconds, base.scale_up.bandwidth.value, base.scale_out.nic_bandwidth.value, SPAN, TAPERS)


def _seconds(cluster: Cluster, times: tuple[WireTime, ...]) -> Seconds:
    def at(bandwidth: float, nic: float, taper: float) -> float:
        other = varied_cluster(cluster, bandwidth, nic, taper)
        return sum_of(one.seconds(other) for one in times)

    return at
