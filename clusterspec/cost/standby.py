"""Standby nodes, and the failures whose nodes they can replace.

A standby node replaces a failed one only where it does not depend on the failed part itself: no spare node replaces a
storage system, or the only leaf switch, which it needs too. A group of tensor or expert parallelism over the scale-up
links of several nodes needs the standby node in its own domain, or a whole other domain.
"""

from __future__ import annotations

from clusterspec.cluster.degrees import nodes_of_domain, nodes_of_rack, own_accelerators
from clusterspec.cluster.model import Cluster, Design, Layout
from clusterspec.records import NamedTuple

ONE_NODE = 1
"""Nodes that depend on a part of a node."""


class Standbys(NamedTuple):
    """The nodes of a machine that run nothing of a job.

    ``total`` are spare nodes and idle ones. ``inside`` of them stand in each scale-up domain of the job, of which it
    uses ``used`` nodes; ``apart`` stand in other domains, of ``domain`` nodes each. ``bound`` says that groups of the
    job need the scale-up links between nodes, ``provided`` that a provider replaces single nodes, or that the spec
    leaves open whether spare ones do. The machine has ``nodes`` in all.
    """

    total: int
    inside: int
    apart: int
    used: int
    domain: int
    bound: bool
    provided: bool
    nodes: int

    @classmethod
    def from_design(cls, design: Design) -> Standbys:
        """The standby nodes of a design with a cluster and a layout."""
        cluster, layout = design.cluster, design.layout
        assert cluster is not None and layout is not None
        total, job = standby_nodes(design), nodes_of_job(design) or layout.nodes
        domain = nodes_in_built_domain(cluster)
        used = layout.nodes_per_domain or min(domain, job)
        inside = min(domain - used, total) if domain > 1 else 0
        apart = max(0, total - inside * -(-job // used))
        bound = domain > 1 and bound_ranks(layout) > cluster.ranks_per_node
        provided = is_provided(design) or leaves_spares_open(design)
        return cls(total, inside, apart, used, domain, bound, provided, cluster.all_nodes)

    def replace(self, away: int, held: int) -> bool:
        """Whether they replace ``away`` nodes of the job that a failure takes with ``held`` nodes of the machine.

        True where the failure takes no node.
        """
        if away == 0 or (self.provided and held == ONE_NODE):
            return True
        if held >= self.nodes > ONE_NODE:
            return False
        if not self.bound:
            return self.total - self._taken_along(away, held) >= away
        if held == ONE_NODE and self.inside:
            return True
        left = min(self.apart, self.total - self._taken_along(away, held))
        whole = left // self.domain + (left % self.domain >= self.used)
        return whole >= -(-away // self.used)

    def _taken_along(self, away: int, held: int) -> int:
        """The standby nodes that a failure takes: at least those beside the job's nodes in each domain."""
        if held == ONE_NODE:
            return 0
        return min(self.total, max(held - away, -(-held // self.domain) * self.inside))


def nodes_in_built_domain(cluster: Cluster) -> int:
    """Nodes of one scale-up domain of a machine, with its spare nodes where all nodes are in one domain; 1 if it is
    within a node.
    """
    domain = nodes_of_domain(cluster)
    if cluster.platform is None or domain == 1 or domain < cluster.nodes:
        return domain
    return max(domain, min(nodes_of_rack(cluster.platform), cluster.all_nodes))


def bound_ranks(layout: Layout) -> int:
    """The ranks of the largest group that needs scale-up links: of tensor or of expert parallelism."""
    return max(layout.tp, layout.ep * layout.expert_tp)


def nodes_of_job(design: Design) -> int | None:
    """The nodes that a job has on its machine, including separate rollout nodes; None without a layout."""
    if design.layout is None or design.cluster is None:
        return None
    if design.workload is None or design.workload.rl is None:
        return design.layout.nodes
    own = own_accelerators(design)
    return own // design.cluster.accelerators_per_node if own is not None else None


def standby_nodes(design: Design) -> int:
    """Nodes without work of the job: spares, and nodes without ranks of the layout; 0 without a layout."""
    used = nodes_of_job(design)
    if design.cluster is None or used is None:
        return 0
    return design.cluster.spare_nodes + max(0, design.cluster.nodes - used)


def leaves_spares_open(design: Design) -> bool:
    """Whether a spec neither states a number of spare nodes nor has nodes without work: another one may take over.

    A job that shrinks goes on without the failed node, so that none is assumed to stand by.
    """
    written, operations = design.spec.cluster, design.spec.operations
    stated = written is None or written.spare_nodes is not None or (operations is not None and operations.shrinks)
    return not (stated or is_provided(design) or standby_nodes(design))


def is_provided(design: Design) -> bool:
    """Whether a provider replaces failed nodes: of a cloud, or rented by the hour."""
    buying = design.spec.procurement
    return bool((design.cluster is not None and design.cluster.cloud) or (buying is not None and buying.is_rent))
