"""Effect of a failed part on a serving plan: engines are independent, so the others continue to serve."""

from __future__ import annotations

from math import ceil

from clusterspec.cluster.model import Cluster, Design, Layout, Workload
from clusterspec.cluster.requests import Engines
from clusterspec.cost.part_classes import SCALE_UP, PartClass
from clusterspec.records import NamedTuple, replace
from clusterspec.rules.parts import Placements, traffic_uses_nics

ENGINES = "engine"
"""The tier of a failure that stops engines and does not reduce bandwidth."""
OF_FABRIC = frozenset(
    {
        "NIC",
        "NIC-leaf link",
        "leaf switch",
        "rail",
        "plane",
        "leaf-spine link",
        "spine switch",
        "spine-core link",
        "core switch",
        "network",
    }
)
"""The classes of parts that carry traffic between nodes."""
OF_EDGE = frozenset({"NIC", "NIC-leaf link", "leaf switch"})
"""The classes of `OF_FABRIC` on which only some nodes depend."""
LOADED = "engines run with the weights that they have loaded; none can start until it is back"
INSIDE = "no traffic of the engines leaves a scale-up domain"


class Loss(NamedTuple):
    """The share of the engines that a failure stops, and the reason."""

    share: float
    why: str


def with_engines(design: Design, part: PartClass) -> PartClass:
    """A class of parts with the effect of its failure on the engines of a serving plan: the other engines continue,
    where a training job would stop.
    """
    if part.tier == SCALE_UP and part.lost < 1 and not part.restarts:
        return part
    loss = engine_loss(design, part.name, part.nodes, whole=part.lost >= 1) if part.lost else None
    return part if loss is None else replace(part, lost=loss.share, tier=ENGINES, why=loss.why)


def engine_loss(design: Design, part: str, nodes: int, *, whole: bool = True) -> Loss | None:
    """The effect of one failed part on the engines of a serving plan; ``nodes`` fail with the part.

    A failed NIC, NIC link or leaf switch stops the engines on its nodes if they lose their ``whole`` path to the
    fabric. None for a design that does not serve, and for other parts of a fabric that carries its traffic, whose
    failure reduces bandwidth or stops all engines.
    """
    cluster, work, layout = design.cluster, design.workload, design.layout
    if cluster is None or work is None or layout is None or work.kind != "serve":
        return None
    if part == "storage system":
        return Loss(0.0, LOADED)
    if part in OF_FABRIC:
        inside = not traffic_uses_nics(Placements(cluster, layout), layout, work)
        if inside or not whole or part not in OF_EDGE:
            return Loss(0.0, INSIDE) if inside else None
    within = part in {"accelerator", "software"}
    losses = [_loss_of_kind(name, kind, nodes, cluster, within) for name, kind in _engine_kinds(work, layout)]
    return max(losses, default=None)


def _engine_kinds(work: Workload, layout: Layout) -> list[tuple[str, Engines]]:
    """The kinds of engines that run on the machine of a design, each with its name as text."""
    load = work.serving
    if load is not None and load.prefill is not None and load.decode is not None:
        both = ("prefill", load.prefill), ("decode", load.decode)
        return [(f" for {name}", kind) for name, kind in both if kind.pool is None]
    return [("", Engines(replicas=layout.dp, tp=layout.ranks // max(1, layout.dp)))]


def _loss_of_kind(name: str, kind: Engines, nodes: int, cluster: Cluster, within: bool) -> Loss:
    """The share of the engines of one kind that stop when ``nodes`` fail, or one part ``within`` a node."""
    held = 1 if within else ceil(nodes * cluster.ranks_per_node / kind.ranks)
    lost = min(kind.replicas, held)
    if kind.replicas == 1:
        return Loss(1.0, f"the only engine{name} stops")
    stop = "stops" if lost == 1 else "stop"
    rest = "" if lost == kind.replicas else ", the others serve"
    return Loss(lost / kind.replicas, f"{lost} of {kind.replicas:,} engines{name} {stop}{rest}")
