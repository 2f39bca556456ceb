"""Engines of a job on another machine: its design there, and the link between the two machines.

A job of a fleet is designed on one machine, the cluster of its spec. Engines that name a ``pool`` run on another
machine, listed in ``pools`` of the job's spec; ``pool_links`` describes the connection.
"""

from __future__ import annotations

from clusterspec.cluster.degrees import own_accelerators
from clusterspec.cluster.model import Cluster, Design
from clusterspec.cluster.variation import Changes, design_of_engines, design_on_machine
from clusterspec.records import NamedTuple
from clusterspec.spec.model import PoolLinkSpec, Spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cluster.samples import Rl

FREE: Changes = {("pools",): None, ("pool_links",): None}
"""Keys that the design on the other machine does not keep."""


class PoolLink(NamedTuple):
    """The connection of two machines: B/s per direction of all nodes together, and seconds of one message.

    ``node`` is the B/s per direction of one node at the slower end if both machines are on one fabric, and infinite
    otherwise.
    """

    total: float
    node: float
    latency: float


def design_on_pool(design: Design, pool: str, changes: Changes) -> Design:
    """The design of a job on the machine of a pool, with other keys. Measured shares are dropped, since they apply to
    one machine only.

    Raises `ValueError` for a pool that the spec does not have.
    """
    machine = (design.spec.pools or {}).get(pool)
    if machine is None:
        raise ValueError(f"no pool {pool!r}")
    return design_on_machine(design, machine, {**FREE, **changes})


def prefill_design(design: Design) -> Design | None:
    """The design with its prefill engines as the layout; None without separate prefill engines.

    If they name a pool, they are on its machine, on the nodes that they need.
    """
    engines = design.workload.serving.prefill if design.workload is not None and design.workload.serving else None
    if engines is None:
        return None
    if engines.pool is None:
        return design_of_engines(design, engines)
    machine = machine_of(design, engines.pool)
    nodes = machine.nodes_of_ranks(engines.replicas * engines.ranks) if machine is not None else None
    return design_of_engines(design_on_pool(design, engines.pool, {("layout", "nodes"): nodes}), engines)


def link_to_named_pool(spec: Spec, pool: str) -> PoolLinkSpec | None:
    """The link of a job that joins its machine with a pool; None without one."""
    return next((each for each in spec.pool_links or () if pool in (each.between or ())), None)


def link_to_pool(design: Design, pool: str, other: Cluster, nodes: tuple[int, int]) -> PoolLink | None:
    """The link from a design's machine to a pool on which the job has ``nodes``; None without a link.

    On one fabric both ends send at the rate of their NICs, divided by the oversubscription of their fabrics.
    """
    written = link_to_named_pool(design.spec, pool)
    if written is None or design.cluster is None:
        return None
    latency = written.latency.value if written.latency else 0.0
    if written.bandwidth is not None:
        share = 1.0 if written.share is None else written.share
        return PoolLink(written.bandwidth.per_direction * share, float("inf"), latency)
    ends = [_node_rate(cluster) for cluster in (design.cluster, other)]
    return PoolLink(min(rate * count for rate, count in zip(ends, nodes, strict=True)), min(ends), latency)


def job_accelerators(design: Design) -> int | None:
    """Accelerators that the whole job uses, including engines on other machines; None without a layout."""
    own, away = own_accelerators(design), accelerators_away(design)
    return own + sum(away.values()) if own is not None else None


def accelerators_away(design: Design) -> dict[str, int]:
    """Accelerators of the engines on other machines, by pool."""
    work = design.workload
    if work is not None and work.rl is not None:
        return _accelerators_of_roles(design, work.rl)
    prefill = work.serving.prefill if work is not None and work.serving else None
    machine = machine_of(design, prefill.pool) if prefill is not None and prefill.pool is not None else None
    if prefill is None or prefill.pool is None or machine is None:
        return {}
    return {prefill.pool: -(-prefill.replicas * prefill.ranks // machine.ranks_per_accelerator)}


def _accelerators_of_roles(design: Design, rl: Rl) -> dict[str, int]:
    """Accelerators of rollout and of the other roles whose nodes are on other pools, by pool."""
    found: dict[str, int] = {}
    for pool, nodes in (
        (rl.rollout_pool, rl.rollout_nodes),
        *((role.pool, role.nodes) for role in rl.roles_on_separate_nodes),
    ):
        machine = machine_of(design, pool) if pool is not None and nodes else None
        if pool is not None and nodes and machine is not None:
            found[pool] = found.get(pool, 0) + nodes * machine.accelerators_per_node
    return found


def machine_of(design: Design, pool: str) -> Cluster | None:
    """The machine of a pool that the job's spec has; None if there is none, or it cannot be resolved."""
    if pool not in (design.spec.pools or {}):
        return None
    return design_on_pool(design, pool, {("workload",): None, ("layout",): None}).cluster


def _node_rate(cluster: Cluster) -> float:
    """B/s per direction between a node and another machine on the same fabric; 0 without a fabric."""
    return cluster.scale_out.node_bandwidth / max(1.0, cluster.scale_out.taper) if cluster.scale_out else 0.0
