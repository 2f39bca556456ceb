"""Standby nodes, and the failures that they can cover.

A standby node can replace a failed node only if it does not depend on the failed part. No spare node replaces a storage
system or the only leaf switch. A group of tensor or expert parallelism over several nodes that is within one scale-up
domain has to stay within one domain: it needs a standby node in its own domain, or a whole other domain. If such groups
span domains anyway, any standby node will do.
"""

from __future__ import annotations

from clusterspec.cluster.degrees import nodes_of_domain, nodes_of_engines, nodes_of_rack, own_accelerators
from clusterspec.cluster.groups import axis_placement
from clusterspec.cluster.model import Cluster, Design, Layout
from clusterspec.records import NamedTuple

ONE_NODE = 1
"""Nodes that depend on a part of a node."""


class Standbys(NamedTuple):
    """The nodes of a machine that run nothing of a job.

    ``total`` are spare nodes and idle ones. ``inside`` is the number of standby nodes in each scale-up domain of the
    job, which uses ``used`` nodes of the domain; ``in_last`` is the additional number in its last domain, of which the
    job uses ``last`` nodes;
    ``outside`` in other domains, of ``domain`` nodes each. ``bound`` says that groups of the job need the scale-up
    links between nodes, ``provided`` that a provider replaces single nodes, or that the spec leaves open whether spare
    ones do. The job has ``job`` of the machine's ``nodes``.
    """

    total: int
    inside: int
    in_last: int
    outside: int
    used: int
    last: int
    domain: int
    bound: bool
    provided: bool
    job: int
    nodes: int

    @classmethod
    def from_design(cls, design: Design) -> Standbys:
        """The standby nodes of a design with a cluster and a layout."""
        cluster, layout = design.cluster, design.layout
        assert cluster is not None and layout is not None
        total, job = standby_nodes(design), nodes_of_job(design) or layout.nodes
        domain = nodes_in_built_domain(cluster)
        used = layout.nodes_per_domain or min(domain, job)
        domains = -(-job // used)
        inside = min(domain - used, total) if domain > 1 else 0
        last, left = job - (domains - 1) * used, max(0, total - inside * domains)
        in_last = min(used - last, left)
        bound = domain > 1 and has_bound_groups(cluster, layout)
        provided = is_provided(design) or leaves_spares_open(design)
        return cls(total, inside, in_last, left - in_last, used, last, domain, bound, provided, job, cluster.all_nodes)

    def replaced_share(self, away: int, held: int) -> float:
        """The share of failures that standby nodes cover. A failure takes ``away`` nodes of the job and ``held`` nodes
        of the machine; 1 if it takes no node of the job.
        """
        if away == 0 or (self.provided and held == ONE_NODE):
            return 1.0
        if held >= self.nodes > ONE_NODE:
            return 0.0
        if not self.bound:
            return float(self.total - self._standby_nodes_of_failure(away, held) >= away)
        if held > ONE_NODE:
            left = min(self.outside, self.total - self._standby_nodes_of_failure(away, held))
            return float(self._domains_in(left) >= -(-away // self.used))
        if self.inside or self._domains_in(self.outside):
            return 1.0
        return self.last / self.job if self.in_last else 0.0

    def _domains_in(self, nodes: int) -> int:
        """The number of domains that ``nodes`` standby nodes can replace. The last one may be incomplete if it has
        enough nodes for the job.
        """
        return nodes // self.domain + (nodes % self.domain >= self.used)

    def _standby_nodes_of_failure(self, away: int, held: int) -> int:
        """The number of standby nodes that fail together with the job's nodes: at least the standby nodes in the
        affected domains.
        """
        if held == ONE_NODE:
            return 0
        return min(self.total, max(held - away, -(-held // self.domain) * self.inside))


def nodes_in_built_domain(cluster: Cluster) -> int:
    """Nodes of one scale-up domain, including spare nodes if the whole machine is one domain; 1 if a domain is within a
    node.
    """
    domain = nodes_of_domain(cluster)
    if cluster.platform is None or domain == 1 or domain < cluster.nodes:
        return domain
    return max(domain, min(nodes_of_rack(cluster.platform), cluster.all_nodes))


def has_bound_groups(cluster: Cluster, layout: Layout) -> bool:
    """Whether the job has groups of tensor or expert parallelism that span several nodes but stay within one scale-up
    domain.
    """
    groups = (("tp", layout.tp), ("ep", layout.ep * layout.expert_tp))
    wide = (axis_placement(cluster, layout, axis) for axis, ranks in groups if ranks > cluster.ranks_per_node)
    return any(placed.straddling == 0 and placed.domains == 1 for placed in wide)


def nodes_of_job(design: Design) -> int | None:
    """The nodes on which a job runs ranks, including separate rollout nodes; None without a layout."""
    if design.layout is None or design.cluster is None:
        return None
    if design.workload is None or design.workload.rl is None:
        return nodes_of_engines(design)
    own = own_accelerators(design)
    return own // design.cluster.accelerators_per_node if own is not None else None


def standby_nodes(design: Design) -> int:
    """Nodes without work of the job: spares, and nodes without ranks of the layout; 0 without a layout."""
    used = nodes_of_job(design)
    if design.cluster is None or used is None:
        return 0
    return design.cluster.spare_nodes + max(0, design.cluster.nodes - used)


def leaves_spares_open(design: Design) -> bool:
    """Whether the spec leaves open if a spare node exists: it states no number of spare nodes, and no node is idle.

    A job that shrinks continues without the failed node, so no standby node is assumed.
    """
    written, operations = design.spec.cluster, design.spec.operations
    stated = written is None or written.spare_nodes is not None or (operations is not None and operations.shrinks)
    return not (stated or is_provided(design) or standby_nodes(design))


def is_provided(design: Design) -> bool:
    """Whether a provider replaces failed nodes, as in a cloud or for nodes rented by the hour."""
    buying = design.spec.procurement
    return bool((design.cluster is not None and design.cluster.cloud) or (buying is not None and buying.is_rent))
