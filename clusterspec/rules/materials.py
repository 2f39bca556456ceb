"""The fabric that a design needs and the bill of it, counted once for all rules that ask."""

from __future__ import annotations

from clusterspec.cluster.fabric import Fabric, fabric
from clusterspec.cost.bill import Item, bill
from clusterspec.rules.facts import Facts


def counted(facts: Facts) -> Fabric | None:
    """The switches, links and cables that the design needs; None where it has no fabric that can be counted."""
    return facts.remember(_counted)


def items(facts: Facts) -> tuple[Item, ...]:
    """What has to be bought."""
    return facts.remember(_billed)


def _counted(facts: Facts) -> Fabric | None:
    found = fabric(facts.cluster, facts.said_scale_out) if facts.cluster else None
    return found if isinstance(found, Fabric) else None


def _billed(facts: Facts) -> tuple[Item, ...]:
    return bill(facts.design)[0]
