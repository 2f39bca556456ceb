"""Slightly smaller machines that save a fabric level or switches."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.legality import OF_MICRO_BATCHES, layout_error_rules
from clusterspec.cluster.model import Cluster, Design
from clusterspec.cluster.variation import design_with_keys
from clusterspec.money import Money
from clusterspec.procurement.bill import Bill, bill
from clusterspec.procurement.items import Item
from clusterspec.records import dataclass
from clusterspec.units import plural

MOST_FEWER = 0.05
"""The largest share of the nodes that a neighbor gives up."""
MOST_TRIED = 64
"""Neighbors that are counted."""
LEAST_SAVED = 2.0
"""Minimum ratio of the fraction of fabric cost saved to the fraction of nodes removed."""


@dataclass(frozen=True)
class Neighbor:
    """A machine with fewer nodes than the design. ``saved`` is the total price difference and ``saved_on_fabric`` the
    difference without nodes, both at midpoint prices. ``tiers`` and ``switches`` are pairs: this machine, then the
    design. With ``of_spares``, ``fewer`` and ``nodes`` count spare nodes.
    """

    nodes: int
    fewer: int
    saved: float
    saved_on_fabric: float
    tiers: tuple[int, int]
    switches: tuple[int, int]
    of_spares: bool = False

    @property
    def fewer_text(self) -> str:
        """The number of nodes removed and the number that remain, as text: `4 spare nodes fewer (0)`."""
        return f"{plural(self.fewer, 'spare node' if self.of_spares else 'node')} fewer ({self.nodes:,})"


def cheaper_neighbor(design: Design, counted: Bill) -> Neighbor | None:
    """The smaller machine with the largest fabric savings relative to the nodes removed; None if there is none, or
    prices are missing.
    """
    cluster = design.cluster
    if cluster is None or counted.fabric is None or not counted.complete:
        return None
    step = nodes_of_domain(cluster)
    most = min(int(cluster.nodes * MOST_FEWER), MOST_TRIED * step, _idle_nodes(design) or cluster.nodes)
    fabric = _fabric_price(counted)
    found = None
    for nodes, spares in _smaller_machines(cluster, step, most):
        other_design = _design_with_nodes(design, nodes, spares)
        other = bill(other_design)
        fewer = cluster.all_nodes - nodes - spares
        saved = fabric - _fabric_price(other)
        if other.fabric is None or saved <= LEAST_SAVED * fabric * fewer / cluster.nodes:
            continue
        if (found is None or saved > found.saved_on_fabric) and _keeps_job(design, other_design):
            of_spares = spares < cluster.spare_nodes
            left = spares if of_spares else nodes
            found = _neighbor(left, fewer, counted, other, of_spares=of_spares)
    return found


def _smaller_machines(cluster: Cluster, step: int, most: int) -> Iterator[tuple[int, int]]:
    """The nodes and the spare nodes of smaller machines: without some nodes of the job, or some of the spare ones."""
    for fewer in range(step, most + 1, step):
        yield cluster.nodes - fewer, cluster.spare_nodes
    for fewer in range(step, min(cluster.spare_nodes, MOST_TRIED * step) + 1, step):
        yield cluster.nodes, cluster.spare_nodes - fewer


def _keeps_job(design: Design, other: Design) -> bool:
    """Whether the design's layout also runs on a smaller machine, on the same number of nodes if the spec states it. An
    indivisible batch does not matter, since it is easily changed.
    """
    beyond = design.layout is not None and other.cluster is not None and design.layout.nodes > other.cluster.nodes
    return layout_error_rules(other) - OF_MICRO_BATCHES <= layout_error_rules(design) and not (
        beyond and _states_nodes(design)
    )


def _states_nodes(design: Design) -> bool:
    return design.spec.layout is not None and design.spec.layout.nodes is not None


def _design_with_nodes(design: Design, nodes: int, spares: int) -> Design:
    changes = {"nodes": nodes, "spare_nodes": spares, "accelerators": None}
    return design_with_keys(design, {("cluster", key): value for key, value in changes.items()})


def _idle_nodes(design: Design) -> int:
    """The number of nodes unused by the job; 0 if it uses all."""
    rl = design.workload.rl if design.workload is not None else None
    rl_nodes = rl.nodes - rl.trainer_nodes if rl is not None else 0
    return design.cluster.nodes - design.layout.nodes - rl_nodes if design.cluster and design.layout else 0


def _neighbor(left: int, fewer: int, bill: Bill, other: Bill, *, of_spares: bool) -> Neighbor:
    assert bill.fabric is not None and other.fabric is not None
    return Neighbor(
        nodes=left,
        fewer=fewer,
        saved=_price_sum(bill.items) - _price_sum(other.items),
        saved_on_fabric=_fabric_price(bill) - _fabric_price(other),
        tiers=(other.fabric.tiers, bill.fabric.tiers),
        switches=(_switch_count(other), _switch_count(bill)),
        of_spares=of_spares,
    )


def _switch_count(bill: Bill) -> int:
    return sum(item.quantity for item in bill.items if item.kind in {"leaf_switch", "spine_switch", "core_switch"})


def _fabric_price(bill: Bill) -> float:
    return _price_sum(tuple(item for item in bill.items if item.kind not in {"node", "spare_node"}))


def _price_sum(items: tuple[Item, ...]) -> float:
    """The sum of all prices at their midpoints. Raises `CurrencyMismatch` for prices in several currencies."""
    return Money.total(item.price for item in items if item.price is not None).middle.low
