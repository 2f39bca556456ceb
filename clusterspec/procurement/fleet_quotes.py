"""The bills of all pools of a fleet compared with the one quote for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clusterspec.catalog import Catalog
from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Cluster
from clusterspec.procurement.bill import PRICED_AS, Bill, Item
from clusterspec.procurement.offered import Offered, named_entries, offered_lines
from clusterspec.procurement.quotes import QuotedPart, quoted_part, quoted_parts
from clusterspec.records import replace
from clusterspec.spec.model import QuoteLine

Machines = Mapping[str, tuple[Bill, Cluster]]


def joined_bill(machines: Machines) -> Bill:
    """The items of all pools in one bill, with what the bill of each does not count."""
    items = tuple(item for bill, _ in machines.values() for item in bill.items)
    lacking = tuple(f"{name}: {text}" for name, (bill, _) in machines.items() for text in bill.not_counted)
    currency = next((bill.currency for bill, _ in machines.values() if bill.currency), "")
    return Bill(items, not_counted=lacking, currency=currency)


def quoted_parts_of_pools(machines: Machines, quote: tuple[QuoteLine, ...], catalog: Catalog) -> tuple[QuotedPart, ...]:
    """Every kind of part of the bills of all pools and of the quote; empty without a quote.

    Nodes of unlike accelerators are apart where each line for nodes names one of these accelerators.
    """
    if not machines or not quote:
        return ()
    largest = max((cluster for _, cluster in machines.values()), key=nodes_of_domain)  # a rack is of that domain
    nodes = _nodes_by_accelerator(machines, list(offered_lines(quote, largest)), catalog)
    parts = quoted_parts(joined_bill(machines), quote, largest)
    if len(nodes) < 2:
        return parts
    return (*nodes, *(part for part in parts if part.kind != "node"))


def _nodes_by_accelerator(machines: Machines, lines: Sequence[Offered], catalog: Catalog) -> tuple[QuotedPart, ...]:
    """The nodes of each accelerator in the bills and in the quote; empty where a line does not say which it offers."""
    items: dict[str, list[Item]] = {}
    for bill, cluster in machines.values():
        of_nodes = [item for item in bill.items if PRICED_AS.get(item.kind, item.kind) == "node"]
        items.setdefault(cluster.accelerator.id.partition("-")[0], []).extend(of_nodes)
    offered: dict[str, list[Offered]] = {name: [] for name in items}
    for line in lines:
        if line.kind != "node":
            continue
        named = named_entries(line.line.part or "", catalog, "accelerator") & items.keys()
        if len(named) != 1:
            return ()
        offered[named.pop()].append(line)
    currency = next((bill.currency for bill, _ in machines.values() if bill.currency), "")
    return tuple(_node_part(name, items[name], offered[name], currency) for name in items)


def _node_part(name: str, items: Sequence[Item], lines: Sequence[Offered], currency: str) -> QuotedPart:
    needed = sum(item.quantity for item in items)
    part = quoted_part("node", needed, lines, Bill(tuple(items), currency=currency))
    return replace(part, kind=f"{name.upper()} node")
