"""Machines and pools that are quoted without a fabric, since none of their jobs needs one."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.cluster.fleet import Fleet, Pool
from clusterspec.cluster.model import Cluster, Design
from clusterspec.procurement.offered import Offered
from clusterspec.procurement.part_names import ANY_SWITCH
from clusterspec.rules.knowledge.fabric_parts import may_have_no_fabric


def is_quoted_without_fabric(design: Design, cluster: Cluster, lines: Sequence[Offered]) -> bool:
    """Whether the fabric of a machine may be absent, and the quote has neither a switch nor a NIC: its cables are those of
    other networks.
    """
    return may_have_no_fabric(design, cluster) and not any(line.kind in {*ANY_SWITCH, "nic"} for line in lines)


def pool_has_no_fabric(fleet: Fleet, pool: Pool) -> bool:
    """Whether the fabric of a pool may be absent by each of its jobs."""
    if pool.design is None or pool.cluster is None:
        return False
    jobs = [job.design for job in fleet.jobs.values() if job.spec.pool == pool.name]
    return all(job is not None and may_have_no_fabric(job, pool.cluster) for job in jobs or [pool.design])
