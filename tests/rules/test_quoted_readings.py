"""Other readings of a quote: a number is a note, and no error, where lines that may be misread explain it.

The machine has 62 DGX H100 and one spare with 4 further endpoints: 508 links to 16 leaves, 512 to 8 spines, and
1,024 modules of two links each.
"""

from __future__ import annotations

from tests.effort import each

from .conftest import Check

SPEC = """clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 62
  spare_nodes: 1
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: rail-optimized, extra_endpoints: 4}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: DGX H100 system, quantity: 63}
    - {part: QM9700 leaf switch, quantity: 16}
    - {part: QM9700 spine switch, quantity: 8}
    - {part: node to leaf cable, quantity: 508}
    - {part: leaf to spine cable, quantity: 512}
"""
MODULES = "    - {part: transceiver, quantity: %d}\n"
UNKNOWN = "    - {part: PX-77 elements, quantity: %d}\n"


@each(
    ("lines", "severity", "words"),
    [
        (MODULES % 1020, "", ""),
        (MODULES % 508, "error", "516 are missing"),
        # a line without a known noun has as many as are missing, up to a tenth more than needed together
        (MODULES % 508 + UNKNOWN % 516, "note", "`PX-77 elements` may offer them"),
        (MODULES % 508 + UNKNOWN % 618, "note", "`PX-77 elements` may offer them"),
        (MODULES % 508 + UNKNOWN % 619, "error", "516 are missing"),
        (MODULES % 508 + UNKNOWN % 515, "error", "516 are missing"),
        (MODULES % 508 + UNKNOWN % 258 + UNKNOWN.replace("77", "78") % 258, "note", "`PX-77 elements` and `PX-78 elem"),
        # services and racks are known, and offer no modules
        (MODULES % 508 + "    - {part: support per module, quantity: 516}\n", "error", "516 are missing"),
        (MODULES % 508 + "    - {part: rack, quantity: 516}\n", "error", "516 are missing"),
        # a line without modules at all
        (UNKNOWN % 1024, "note", "no line for 1,024 × transceiver, which the design needs; `PX-77 elements` may"),
        (UNKNOWN % 1023, "error", "no line for 1,024 × transceiver"),
        # packs
        (MODULES.replace("transceiver", "transceiver (pack of 4)") % 256, "note", "`transceiver (pack of 4)` may"),
        (MODULES.replace("transceiver", "transceiver (pack of 4)") % 255, "error", "are missing"),
        (MODULES.replace("transceiver", "transceiver 4-pack") % 256, "note", "`transceiver 4-pack` may offer them"),
    ],
)
def test_lines_that_may_fill_a_shortage_make_it_a_note(lines: str, severity: str, words: str, check: Check) -> None:
    found = [one for one in check(SPEC + lines) if one.rule == "quote-off-bill" and "need" in one.message]
    assert [str(one.severity) for one in found] == ([severity] if severity else [])
    assert all(words in one.message for one in found)


@each(
    ("nodes", "severity"),
    [
        ((63,), ""),
        ((80,), "warning"),  # 17 more in one line
        ((63, 17), "note"),  # 63 and 17 others
        ((62, 18), "warning"),  # no line or sum of lines has the 63
        ((40, 23, 17), "note"),
    ],
)
def test_nodes_beside_as_many_as_needed_may_be_for_something_else(
    nodes: tuple[int, ...], severity: str, check: Check
) -> None:
    own = "    - {part: DGX H100 system, quantity: 63}\n"
    lines = "".join(own.replace("63", str(count)).replace("system", f"system {n}x") for n, count in enumerate(nodes))
    text = SPEC.replace(own, lines) + MODULES % 1020
    found = [one for one in check(text) if one.rule == "quote-off-bill" and "nodes" in one.message]
    assert [str(one.severity) for one in found] == ([severity] if severity else [])
