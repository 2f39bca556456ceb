"""The quote of a machine compared with its bill, and machines and pools that may be quoted without a fabric."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.cluster.fleet import Fleet, Pool
from clusterspec.cluster.model import Cluster, Design
from clusterspec.procurement.bill import Bill, may_have_fixed_ends
from clusterspec.procurement.offered import Offered, offered_lines
from clusterspec.procurement.part_names import ANY_SWITCH
from clusterspec.procurement.quotes import (
    QuotedPart,
    parts_with_terms,
    quoted_parts,
    with_included_parts,
    without_fabric,
)
from clusterspec.rules.knowledge.fabric_parts import may_have_no_fabric
from clusterspec.spec.model import ProcurementSpec


def is_quoted_without_fabric(design: Design, cluster: Cluster, lines: Sequence[Offered]) -> bool:
    """Whether the machine may have no fabric and the quote has neither switches nor NICs; its cables then belong to
    other networks.
    """
    return may_have_no_fabric(design, cluster) and not any(line.kind in {*ANY_SWITCH, "nic"} for line in lines)


def parts_of_quote(design: Design, cluster: Cluster, bill: Bill, remarks: str) -> tuple[QuotedPart, ...]:
    """Every kind of part in the bill of a design and in its quote; values of missing parts include the quote's discount
    and tax.

    ``remarks`` may say that parts exist already.
    """
    buying = design.spec.procurement or ProcurementSpec()
    quote = buying.quote or ()
    bare = is_quoted_without_fabric(design, cluster, [*offered_lines(quote, cluster)])
    parts = quoted_parts(without_fabric(bill) if bare else bill, quote, cluster, remarks)
    return parts_with_terms(with_included_parts(parts, fixed_ends=may_have_fixed_ends(design)), buying)


def pool_has_no_fabric(fleet: Fleet, pool: Pool) -> bool:
    """Whether the pool may have no fabric according to each of its jobs."""
    if pool.design is None or pool.cluster is None:
        return False
    jobs = [job.design for job in fleet.jobs.values() if job.spec.pool == pool.name]
    return all(job is not None and may_have_no_fabric(job, pool.cluster) for job in jobs or [pool.design])
