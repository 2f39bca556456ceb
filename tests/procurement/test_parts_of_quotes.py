"""What a quote leaves to others, what its terms make of missing parts, and which modules are short, by hand."""

from __future__ import annotations

import pytest

from clusterspec.cluster.clos import ModuleCount
from clusterspec.money import Money
from clusterspec.procurement.bill import Bill
from clusterspec.procurement.items import Item
from clusterspec.procurement.offered import Offered
from clusterspec.procurement.quotes import (
    QuotedPart,
    parts_with_terms,
    shortest_end_first,
    with_included_parts,
    without_fabric,
)
from clusterspec.spec.model import ProcurementSpec, QuoteLine

KINDS = ("node", "leaf_switch", "spine_switch", "core_switch", "cable", "transceiver", "nic", "rack", "storage")
PRICE = Money.of(1000.0, "EUR")


def part(kind: str, state: str = "missing", missing: Money | None = PRICE) -> QuotedPart:
    return QuotedPart(kind, 8, None, None, missing, state)


def test_a_bill_without_a_fabric_keeps_nodes_racks_and_storage() -> None:
    whole = Bill(tuple(Item(kind, kind, 1, "by hand") for kind in KINDS))
    assert [item.kind for item in without_fabric(whole).items] == ["node", "rack", "storage"]


@pytest.mark.parametrize(
    ("kind", "state", "free", "fixed"),
    [
        ("nic", "missing", "elsewhere", "elsewhere"),  # servers include them
        ("transceiver", "missing", "missing", "elsewhere"),  # on the ends of cables
        ("cable", "missing", "missing", "missing"),
        ("node", "missing", "missing", "missing"),
        ("nic", "short", "short", "short"),  # of parts with a line, the quote states the number
        ("transceiver", "quoted", "quoted", "quoted"),
    ],
)
def test_servers_include_nics_and_cables_their_ends(kind: str, state: str, free: str, fixed: str) -> None:
    for fixed_ends, told in ((False, free), (True, fixed)):
        (found,) = with_included_parts([part(kind, state)], fixed_ends=fixed_ends)
        assert (found.state, found.missing) == (told, None if told == "elsewhere" else PRICE)


def test_missing_parts_have_the_discount_and_the_tax_of_the_quote() -> None:
    """1,000 less 5 % and with 20 % more are 1,140."""
    terms = ProcurementSpec(discount=0.05, tax=0.2)
    known, unknown = parts_with_terms([part("cable"), part("nic", missing=None)], terms)
    assert (known.missing, unknown.missing) == (Money.of(1140.0, "EUR"), None)
    assert parts_with_terms([part("cable")], ProcurementSpec()) == (part("cable"),)


def modules(name: str, quantity: float | None) -> Offered:
    return Offered(0, "transceiver", QuoteLine(f"800G module, {name}", quantity))


@pytest.mark.parametrize(
    ("nodes", "switches", "first"),
    [
        (16, 11, "switch"),  # 12 at switches are 4 of leaves, 5 of spines and 3 of cores
        (16, 12, "node"),
        (15, 11, "node"),  # the nodes lack one, too
        (17, 0, "switch"),
        (16, None, "switch"),
    ],
)
def test_the_end_of_links_with_too_few_modules_comes_first(nodes: int, switches: int | None, first: str) -> None:
    counted = ModuleCount(16, 4, 5, 3, (), "by hand")
    lines = [modules("node side", nodes), modules("switch side", switches)]
    assert f"{first} side" in str(shortest_end_first(lines, counted)[0].line.part)
    unnamed = [modules("switch side", 0), modules("spare", 9), modules("node side", 16)]
    assert shortest_end_first(unnamed, counted) == unnamed, "a line that names neither end"
