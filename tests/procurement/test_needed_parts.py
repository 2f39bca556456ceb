"""What a quote has to offer of a bill, by the kinds that its lines have: counts worked out by hand."""

from __future__ import annotations

from clusterspec.procurement.bill import Bill
from clusterspec.procurement.items import Item
from clusterspec.procurement.offered import Offered
from clusterspec.procurement.quotes import needed_parts
from clusterspec.spec.model import QuoteLine
from tests.effort import each

NEEDED = {"node": 8, "leaf_switch": 4, "spine_switch": 2, "cable": 96, "transceiver": 160, "nic": 64}
BILL = Bill(tuple(Item(kind, kind, count, "by hand") for kind, count in {**NEEDED, "rack": 2, "storage": 1}.items()))
COPPER, FIBER = "400G DAC copper cable", "MPO fiber cable"


def lines(*offered: tuple[str, str, float]) -> list[Offered]:
    """Lines by their kind, their text and their quantity."""
    return [Offered(at, kind, QuoteLine(text, count)) for at, (kind, text, count) in enumerate(offered)]


@each(
    ("offered", "changes"),
    [
        ([], {}),
        # a line for any switch counts the tiers that no line names
        ([("switch", "Switch", 6.0)], {"switch": 6, "leaf_switch": 0, "spine_switch": 0}),
        ([("switch", "Switch", 2.0), ("leaf_switch", "Leaf", 4.0)], {"switch": 2, "spine_switch": 0}),
        ([("node", "Server with 8x ConnectX-7 NICs", 8.0)], {"nic": 0}),
        ([("node", "Server", 8.0)], {}),
        # 160 modules are on 80 pieces: fewer than 88 cables, the middle of 80 and 96, are pieces with fixed ends
        ([("cable", COPPER, 80.0)], {"cable": 80, "transceiver": 0}),
        ([("cable", COPPER, 87.0)], {"cable": 80, "transceiver": 0}),
        ([("cable", COPPER, 88.0)], {"transceiver": 0}),
        ([("cable", COPPER, 96.0)], {"transceiver": 0}),
        ([("cable", FIBER, 80.0)], {}),
        # all 160 modules are quoted as well
        ([("cable", COPPER, 96.0), ("transceiver", "OSFP module", 160.0)], {}),
        ([("cable", COPPER, 96.0), ("transceiver", "OSFP module", 159.0)], {"transceiver": 0}),
        # 20 pieces of copper may carry 40 links: with 60 fibers the 80 pieces carry 100, at least 96
        ([("cable", COPPER, 20.0), ("cable", FIBER, 60.0)], {"cable": 80, "transceiver": 0}),
        ([("cable", COPPER, 16.0), ("cable", FIBER, 64.0)], {"cable": 80, "transceiver": 0}),
        ([("cable", COPPER, 15.0), ("cable", FIBER, 65.0)], {"transceiver": 0}),
        ([("cable", COPPER, 20.0), ("cable", FIBER, 76.0)], {"transceiver": 0}),
    ],
)
def test_a_quote_needs_the_parts_that_its_lines_leave_to_others(
    offered: list[tuple[str, str, float]], changes: dict[str, int]
) -> None:
    wanted = {kind: count for kind, count in {**NEEDED, **changes}.items() if count}
    assert needed_parts(BILL, lines(*offered)) == wanted


def test_an_odd_module_is_on_a_piece_of_its_own() -> None:
    """Seven modules are on four pieces, fewer than the eight links."""
    bill = Bill((Item("transceiver", "module", 7, "by hand"), Item("cable", "cable", 8, "by hand")))
    assert needed_parts(bill, lines(("cable", COPPER, 4.0))) == {"cable": 4}


def test_links_without_modules_are_no_pieces_with_fixed_ends() -> None:
    """A bill without modules does not say that links share a piece: three of eight cables are too few."""
    assert needed_parts(Bill((Item("cable", "cable", 8, "by hand"),)), lines(("cable", COPPER, 3.0))) == {"cable": 8}
