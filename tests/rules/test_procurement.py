"""What is bought, and whether the papers add up: flaws and their near misses."""

from __future__ import annotations

import pytest

from clusterspec.procurement.bill import bill
from clusterspec.procurement.part_names import kind_of_part
from clusterspec.rules.procurement import price_outside_market
from clusterspec.spec.model import ProcurementSpec
from clusterspec.studies import study_text
from tests.analysis.jobs import design_of
from tests.effort import thorough
from tests.settings import SETTINGS

from .conftest import Check
from .reports import Reported, one, reported
from .test_verdicts import of

SOUND = """
cluster:
  platform: dgx-h100
  nodes: 31
  spare_nodes: 2
  scale_out: {switch: quantum-2-qm9700, extra_endpoints: 4}
  networks:
    frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}
    storage: {bandwidth: 40 GB/s, capacity: 2 PB}
    out_of_band: {nic_bandwidth: 1 Gb/s}
operations: {burn_in: 72 h}
acceptance: [{collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 330 GB/s, algorithm: ring}]
procurement:
  currency: USD
  as_of: 2026-11-01
  term: 4 years
  warranty: 4 years
  prices: {node: 310000, leaf_switch: 36000, spine_switch: 36000, cable: 900, transceiver: 1200}
  electricity: 0.12
  pue: 1.3
  utilization: 0.85
"""
QUOTE = """\
  quote:
    - {part: node, quantity: 33, unit_price: 310000, price: 10230000}
    - {part: leaf switch, quantity: 9, unit_price: 36000, price: 324000}
    - {part: spine switch, quantity: 5, unit_price: 36000, price: 180000}
    - {part: cable, quantity: 556, unit_price: 900, price: 500400}
    - {part: transceiver, quantity: 560, unit_price: 1200, price: 672000}
"""
"""31 and 2 nodes; 268 links to 9 leaves, 288 from there to 5 spines; 560 modules."""


PRICES = "procurement.prices"
FABRIC = "leaf_switch: 36000, spine_switch: 36000, cable: 900, transceiver: 1200"
CASES: list[tuple[str, str, Reported]] = [
    ("", "", []),
    (", transceiver: 1200", "", one("unpriced-part", PRICES)),
    (", transceiver: 1200", ", transceiver: 0", []),
    (", leaf_switch: 36000", "", one("unpriced-part", PRICES)),
    ("310000", "[280000, 340000]", []),
    ("acceptance: ", "# ", one("procurement-without-acceptance", "procurement", "note")),
    ("spare_nodes: 2", "spare_nodes: 0", one("procurement-without-spares", "cluster.spare_nodes")),
    ("1.3", "0.95", one("impossible-pue", "procurement.pue", "error")),
    ("1.3", "1", []),
    ("0.85", "85", one("impossible-utilization", "procurement.utilization", "error")),
    ("0.85", "0", one("impossible-utilization", "procurement.utilization", "error")),
    ("0.85", "0.96", one("full-utilization-assumed", "procurement.utilization", "note")),
    ("0.85", "0.95", []),
    ("  as_of: 2026-11-01\n", "", one("undated-prices", "procurement", "note")),
    ("  currency: USD\n", "", one("undated-prices", "procurement", "note")),
    ("  electricity: 0.12\n", "", one("incomplete-cost-inputs", "procurement", "warning")),
    (", capacity: 2 PB", "", one("storage-clause-missing", "cluster.networks.storage", "warning")),
    (
        FABRIC,
        "leaf_switch: 6000, spine_switch: 6000, cable: 90, transceiver: 70",
        one("network-share-unusual", PRICES, "note"),
    ),
]


@pytest.mark.parametrize(("old", "new", "wanted"), CASES)
def test_a_procurement_is_judged(old: str, new: str, wanted: Reported, check: Check) -> None:
    assert old in SOUND
    assert reported(check, "procurement", SOUND.replace(old, new, 1) if old else SOUND) == wanted


LINE = "procurement.quote[{}].{}"
QUOTES: list[tuple[str, str, Reported]] = [
    ("", "", []),
    ("", "  quoted_total: 11906400\n", []),
    ("", "  quoted_total: 12000000\n", one("quote-arithmetic", "procurement.quoted_total", "error")),
    # a tenth off, then 19 % of tax: 11,906,400 × 0.9 × 1.19
    ("", "  quoted_total: 12751754.4\n  discount: 0.1\n  tax: 0.19\n", []),
    ("", "  quoted_total: 11906400\n  discount: 0.1\n", one("quote-arithmetic", "procurement.quoted_total", "error")),
    ("10230000", "10320000", one("quote-arithmetic", LINE.format(0, "price"), "error")),
    (", price: 324000", "", []),
    (
        "node, quantity: 33, unit_price: 310000, price: 10230000",
        "node, quantity: 32, unit_price: 310000, price: 9920000",
        one("quote-off-bill", LINE.format(0, "quantity"), "error"),
    ),
    (
        "node, quantity: 33, unit_price: 310000, price: 10230000",
        "node, quantity: 264, unit_price: 38750, price: 10230000",
        [
            *one("quote-off-bill", LINE.format(0, "quantity"), "error"),
            *one("quote-off-prices", LINE.format(0, "unit_price")),
        ],
    ),
    ("node, quantity: 33, unit_price: 310000", "8-GPU server, quantity: 33, unit_price: 310000", []),
    (
        "quantity: 9, unit_price: 36000, price: 324000",
        "quantity: 8, unit_price: 36000, price: 288000",
        one("quote-off-bill", LINE.format(1, "quantity"), "error"),
    ),
    (
        "quantity: 9, unit_price: 36000, price: 324000",
        "quantity: 10, unit_price: 36000, price: 360000",
        one("quote-off-bill", LINE.format(1, "quantity"), "note"),
    ),
    # one lot of cables is not a count; 98 % of 556 are 544.9
    ("quantity: 556, unit_price: 900", "quantity: 1, unit_price: 500400", []),
    ("quantity: 556, unit_price: 900, price: 500400", "quantity: 545, unit_price: 900, price: 490500", []),
    (
        "quantity: 556, unit_price: 900, price: 500400",
        "quantity: 544, unit_price: 900, price: 489600",
        one("quote-off-bill", LINE.format(3, "quantity")),
    ),
    # 85 % are 472.6
    (
        "quantity: 556, unit_price: 900, price: 500400",
        "quantity: 472, unit_price: 900, price: 424800",
        one("quote-off-bill", LINE.format(3, "quantity"), "error"),
    ),
    # two thirds of 5 spines are 3.3: the bill may take more than the ports need
    ("quantity: 5, unit_price: 36000, price: 180000", "quantity: 4, unit_price: 36000, price: 144000", []),
    (
        "quantity: 5, unit_price: 36000, price: 180000",
        "quantity: 3, unit_price: 36000, price: 108000",
        one("quote-off-bill", LINE.format(2, "quantity"), "error"),
    ),
    (
        "    - {part: transceiver, quantity: 560, unit_price: 1200, price: 672000}\n",
        "",
        one("quote-off-bill", "procurement.quote", "error"),
    ),
    ("leaf switch", "QM8700 leaf switch", one("quote-names-other-part", LINE.format(1, "part"), "error")),
    ("leaf switch", "NVIDIA Quantum-2 QM9700 leaf switch", []),
    ("part: node", "part: HGX H200 server", one("quote-names-other-part", LINE.format(0, "part"), "error")),
    ("part: node", "part: DGX-H100 (8 x H100 80 GB)", []),
    (
        "unit_price: 1200, price: 672000",
        "unit_price: 1400, price: 784000",
        one("quote-off-prices", LINE.format(4, "unit_price")),
    ),
    ("unit_price: 1200, price: 672000", "unit_price: 1210, price: 677600", []),
]


@pytest.mark.parametrize(("old", "new", "wanted"), QUOTES)
def test_a_quote_is_compared_with_the_bill(old: str, new: str, wanted: Reported, check: Check) -> None:
    assert old in QUOTE
    assert reported(check, "procurement", SOUND + (QUOTE.replace(old, new, 1) if old else QUOTE + new)) == wanted


def test_an_order_or_a_study_of_prices_without_acceptance_is_a_note(check: Check) -> None:
    without = SOUND.replace("acceptance: ", "# ", 1)
    for lines in ("", "  delivery: {weeks: 20}\n", QUOTE):
        found = reported(check, "procurement", without + lines)
        assert found == one("procurement-without-acceptance", "procurement", "note"), lines


def test_one_lot_of_cabling_or_of_a_whole_network_offers_all_its_parts(check: Check) -> None:
    nodes = "  quote:\n    - {part: node, quantity: 33, unit_price: 310000, price: 10230000}\n"
    lot = "    - {{part: {}, quantity: 1, unit_price: 1500000, price: 1500000}}\n"
    switches = QUOTE[QUOTE.index("    - {part: leaf switch") : QUOTE.index("    - {part: cable")]
    for lines, missing in (
        (lot.format("InfiniBand network"), False),
        (switches + lot.format("cabling and optics"), False),
        (lot.format("cabling and optics"), True),  # the switches
        (lot.format("storage network"), True),
    ):
        found = reported(check, "procurement", SOUND + nodes + lines)
        assert any(rule == "quote-off-bill" for rule, *_ in found) is missing, lines


def test_cables_with_their_ends_take_no_transceivers(check: Check) -> None:
    without = QUOTE[: QUOTE.index("    - {part: transceiver")]
    for cable, missing in (("400G DAC, 2 m", False), ("active optical cable", False), ("MPO fiber", True)):
        found = reported(check, "procurement", SOUND + without.replace("part: cable", f'part: "{cable}"'))
        assert (one("quote-off-bill", "procurement.quote", "error")[0] in found) == missing


@pytest.mark.parametrize(
    ("accelerator", "part", "other"),
    [
        ("gb200-nvl72", "GB200 NVL72 rack with 72 B200", False),
        ("gb200-nvl72", "GB300 NVL72 rack", True),
        ("dgx-b200", "GB200 NVL72 rack", True),
        ("dgx-h200", "DGX H200, successor of DGX H100", False),
        ("dgx-h200", "HGX H100 server", True),
        ("mi325x-ubb8", "8x MI300X server", True),
    ],
)
def test_a_quote_of_another_generation_is_an_error(accelerator: str, part: str, other: bool, check: Check) -> None:
    text = f"""
cluster: {{platform: {accelerator}, nodes: 36, spare_nodes: 2}}
procurement: {{currency: USD, as_of: 2026-11-01, quote: [{{part: "{part}", quantity: 38}}]}}
"""
    found = reported(check, "procurement", text)
    assert (("quote-names-other-part", "procurement.quote[0].part", "error") in found) == other


@thorough
def test_the_lines_of_the_own_bill_are_a_complete_quote(check: Check) -> None:
    """Whatever the design: its bill, taken as a quote, lacks nothing."""
    for nodes, spares in ((4, 0), (31, 2), (127, 3), (500, 12)):
        text = SOUND.replace("nodes: 31", f"nodes: {nodes}").replace("spare_nodes: 2", f"spare_nodes: {spares}")
        design = study_text(f"clusterspec: 1\n{text}", SETTINGS).design
        lines = "".join(
            f"    - {{part: {item.part} {item.kind.replace('_', ' ')}, quantity: {item.quantity}}}\n"
            for item in bill(design).items
        )
        found = reported(check, "procurement", f"{text}  quote:\n{lines}")
        assert [rule for rule, _, _ in found if rule.startswith("quote")] == []


TERMS: list[tuple[str, Reported]] = [
    ("warranty: 4 years", []),
    ("budget: 99000000", one("warranty-shorter-than-term", "procurement", "note")),
    ("term: 2 years", []),
    ("warranty: 3 years", one("warranty-shorter-than-term", "procurement.warranty", "note")),
    ("warranty: 34 months", one("warranty-shorter-than-term", "procurement.warranty")),
    ("warranty: 3 years, support: {term: 4 years}", []),
    ("warranty: 1 year, support: {term: 2 years}", one("warranty-shorter-than-term", "procurement.support.term")),
    ("budget: 10230000", []),
    ("budget: 10229999", one("over-budget", "procurement.budget", "error")),
    ("quoted_total: 10230000, budget: 10000000", one("over-budget", "procurement.quoted_total", "error")),
    # 20 weeks after 1 November are 21 March; the burn-in takes three days
    ("delivery: {weeks: 20}, needed_by: 2027-03-25", []),
    (
        "delivery: {weeks: 20}, needed_by: 2027-03-23",
        one("delivery-misses-date", "procurement.delivery.weeks", "error"),
    ),
    (
        "delivery: {weeks: 20, milestones: [first rack in week 21]}",
        one("delivery-misses-date", "procurement.delivery.milestones[0]", "error"),
    ),
    ("delivery: {weeks: 8}", []),
    ("delivery: {weeks: 7}", one("short-lead-time", "procurement.delivery.weeks")),
    ("payment: {order: 0.3, delivery: 0.6, acceptance: 0.1}", []),
    ("payment: {order: 0.5, delivery: 0.4, acceptance: 0.1}", []),
    (
        "payment: {order: 0.3, delivery: 0.65, acceptance: 0.05}",
        one("payment-before-acceptance", "procurement.payment"),
    ),
    (
        "payment: {order: 0.6, delivery: 0.2, acceptance: 0.2}",
        one("payment-before-acceptance", "procurement.payment", "note"),
    ),
    (
        "payment: {order: 30, delivery: 40, acceptance: 30}",
        one("payment-before-acceptance", "procurement.payment", "error"),
    ),
    ("pue: 1.02", one("optimistic-pue", "procurement.pue")),
    ("pue: 1.03", []),
    # 60 % of 25,000 USD for each of eight are 120,000; two and a half times 40,000 are 800,000
    ("prices: {node: 119000}", one("price-outside-market", "procurement.prices.node")),
    ("prices: {node: 121000}", []),
    ("prices: {node: 801000}", one("price-outside-market", "procurement.prices.node")),
    ("prices: {node: 799000}", []),
    ("currency: JPY, prices: {node: 310000}", one("price-outside-market", "procurement.prices.node", "error")),
    ("currency: JPY, prices: {node: 46500000}", []),
    ("prices: {node: 310000, node_hour: 20}", one("cloud-priced-as-purchase", "procurement.prices.node_hour", "error")),
    # modules of 400 Gb/s cost 0.15 to 12 USD a Gb/s: 60 to 4,800; a third of that, or three times, has a wrong digit
    ("prices: {node: 310000, transceiver: 21}", one("part-price-outside-market", "procurement.prices.transceiver")),
    (
        "prices: {node: 310000, transceiver: 19}",
        one("part-price-outside-market", "procurement.prices.transceiver", "error"),
    ),
    ("prices: {node: 310000, transceiver: 14300}", one("part-price-outside-market", "procurement.prices.transceiver")),
    (
        "prices: {node: 310000, transceiver: 14500}",
        one("part-price-outside-market", "procurement.prices.transceiver", "error"),
    ),
    ("term: 6 years", []),
    ("term: 7 years", one("term-outlives-hardware", "procurement.term", "note")),
    ("term: 9 years", one("term-outlives-hardware", "procurement.term")),
]


@pytest.mark.parametrize(("keys", "wanted"), TERMS)
def test_the_terms_of_a_purchase_are_judged(keys: str, wanted: Reported, check: Check) -> None:
    given = {"currency": "USD", "as_of": "2026-11-01", "term": "4 years", "prices": "{node: 310000}"}
    if "warranty" not in keys and "99000000" not in keys:
        stated = next((each for each in keys.split(", ") if each.startswith("term:")), "term: 4 years")
        given["support"] = f"{{{stated}}}"
    usual = {"electricity": "0.12", "pue": "1.3", "utilization": "0.85"} | given
    stated = ", ".join(
        f"{key}: {value}" for key, value in usual.items() if not keys.startswith(f"{key}:") and f", {key}:" not in keys
    )
    text = f"""
cluster: {{platform: dgx-h100, nodes: 31, spare_nodes: 2, scale_out: {{technology: infiniband-ndr}}}}
operations: {{burn_in: 72 h}}
acceptance: [{{collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 330 GB/s, algorithm: ring}}]
procurement: {{{stated}, {keys}}}
"""
    assert [row for row in reported(check, "procurement", text) if row[0] != "unpriced-part"] == wanted


def test_a_delivery_after_the_last_day_of_the_calendar_is_late(check: Check) -> None:
    text = """
cluster: {platform: dgx-h100, nodes: 2}
procurement: {currency: USD, as_of: 9999-12-30, delivery: {weeks: 10000}, needed_by: 9999-12-31}
"""
    assert one("delivery-misses-date", "procurement.delivery.weeks", "error")[0] in reported(check, "procurement", text)


@pytest.mark.parametrize(
    ("cluster", "wanted"),
    [
        # 50,700 accelerator-hours over 16,384 are 3.1 h: 7.8 nodes are away for a day each
        ("nodes: 2048, spare_nodes: 8", []),
        ("nodes: 2048, spare_nodes: 7", one("spares-off-population", "cluster.spare_nodes")),
        ("nodes: 64, spare_nodes: 16", []),
        ("nodes: 64, spare_nodes: 17", one("spares-off-population", "cluster.spare_nodes", "note")),
    ],
)
def test_spares_follow_the_number_of_nodes(cluster: str, wanted: Reported, check: Check) -> None:
    text = f"""
cluster: {{platform: dgx-h100, {cluster}}}
operations: {{burn_in: 72 h}}
acceptance: [{{collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 330 GB/s, algorithm: ring}}]
procurement: {{currency: USD, as_of: 2026-11-01}}
"""
    assert reported(check, "procurement", text) == wanted


RENT = """
cluster:
  platform: aws-p5-48xlarge
  nodes: 64
  scale_out: {{collective_plugin: aws-ofi-nccl, placement: cluster-placement-group}}
workload: {{model: llama-3.1-70b, sequence_length: 8192, global_batch: 512, tokens: {tokens}}}
layout: {{tp: 8, pp: 4}}
procurement: {{currency: USD, as_of: 2026-11-01, term: {term}, prices: {{node_hour: {rent}}}}}
"""


@pytest.mark.parametrize(
    ("tokens", "term", "rent", "wanted"),
    [
        ("1T", "1 year", 55.04, []),
        ("15T", "6 months", 55.04, one("term-shorter-than-run", "procurement.term", "error")),
        # an H100 costs 1.47 to 6.88 USD an hour: 6.88 is a rent of one, and 0.86 for each of eight is none
        ("1T", "1 year", 6.88, one("price-outside-market", "procurement.prices.node_hour", "error")),
        ("1T", "1 year", 7.6, []),
        ("1T", "1 year", 1.4, one("price-outside-market", "procurement.prices.node_hour", "error")),
        ("1T", "1 year", 98.32, []),
    ],
)
def test_a_rent_by_the_hour_meets_no_rule_of_purchases(
    tokens: str, term: str, rent: float, wanted: Reported, check: Check
) -> None:
    assert reported(check, "procurement", RENT.format(tokens=tokens, term=term, rent=rent)) == wanted


# USD an hour: on demand in us-east-1, East US, us-central1 or any region of OCI, then dearer regions, and reservations
PUBLISHED = """\
aws-dl1-24xlarge 13.11
aws-g4dn-12xlarge 3.912
aws-g5-48xlarge 16.288
aws-g6-48xlarge 13.3504
aws-g6e-12xlarge 10.49
aws-g7e-48xlarge 33.14
aws-inf2-48xlarge 12.98
aws-p4d-24xlarge 21.96 32.77 14.75
aws-p4de-24xlarge 27.45 40.97
aws-p5-48xlarge 55.04 98.32 39.33
aws-p5en-48xlarge 63.296
aws-p6-b200-48xlarge 113.93
aws-p6-b300-48xlarge 142.416
aws-trn1-32xlarge 21.50 15.49
aws-trn1n-32xlarge 24.78
azure-nc96ads-a100-v4 14.692 29.384
azure-nd96amsr-a100-v4 32.77 65.54
azure-nd-h100-v5 98.32 127.816 186.608
azure-nd-h200-v5 84.8 110.272 169.6
azure-nd-mi300x-v5 48.0 96.0
azure-nd-gb200-v6 108.16 216.32
gcp-a2-highgpu-8g 29.387 34.6
gcp-a3-highgpu-8g 88.49 126.643
gcp-g2-standard-96 8.003 12.805
gcp-g4-standard-384 36.0 48.408
oci-bm-gpu-b300-8 120
oci-bm-gpu-gb300-4 72
oci-bm-gpu-mi355x-v1-8 68.8
tpu-v4 12.88
tpu-v5e 9.6 13.728
tpu-v5p 16.8 17.838 19.116
tpu-v6e 21.6 23.76 25.92
"""


def test_a_published_rent_of_an_instance_is_silent_and_that_of_one_accelerator_is_not() -> None:
    wrong = []
    for name, first, *others in (row.split() for row in PUBLISHED.splitlines()):
        cluster = design_of(f"\ncluster: {{platform: {name}, nodes: 2}}\n").cluster
        assert cluster is not None
        count = cluster.accelerators_per_node
        rents = [float(each) for each in (first, *others)]
        for rent, wanted in (*((rent, 0) for rent in rents), (rents[0] / count, 1), (rents[0] * count, 1)):
            found = list(
                price_outside_market.check(ProcurementSpec(currency="USD", prices={"node_hour": rent}), cluster, "")
            )
            named = [each for each in found if rent > rents[0] / count or "of one accelerator" in (each.help or "")]
            wrong += [(name, rent)] if len(found) != wanted or named != found else []
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("NVIDIA DGX H100 640 GB", "node"),
        ("Supermicro SYS-821GE HGX H100 8-GPU server, 2 TB, 8 x ConnectX-7", "node"),
        ("NVIDIA H100 SXM5 GPU", "accelerator"),
        ("Quantum-2 QM9700 switch, leaf", "leaf_switch"),
        ("spine switches", "spine_switch"),
        ("64-port 400G switch", "switch"),
        ("800G twin-port OSFP transceiver for switch", "transceiver"),
        ("400G OSFP DAC, 2 m", "cable"),
        ("MPO-12 fiber 30 m", "cable"),
        ("ConnectX-7 NDR adapter for server", "nic"),
        ("5-year support per node", "other"),
        ("management switch", "other"),
        ("power cable", "other"),
        ("leaf_switch", "leaf_switch"),
    ],
)
def test_a_description_names_one_kind_of_part(text: str, kind: str) -> None:
    assert kind_of_part(text.lower().replace("_", " ")) == kind


def test_a_rented_machine_is_not_asked_for_the_parts_of_its_provider(check: Check) -> None:
    text = """
cluster:
  platform: aws-p5-48xlarge
  nodes: 16
  scale_out: {collective_plugin: aws-ofi-nccl, placement: cluster-placement-group}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node_hour: 98}}
"""
    assert reported(check, "procurement", text) == []


@pytest.mark.parametrize(
    ("nodes", "fabric", "severity"),
    [
        (2, "", "note"),  # two nodes without a stated topology may be joined by cables alone
        (2, "technology: infiniband-ndr", "note"),
        (2, "technology: infiniband-ndr, topology: fat-tree", "warning"),
        (3, "", "warning"),
        (3, "technology: infiniband-ndr", "warning"),
    ],
)
def test_switches_without_a_price_are_a_note_where_two_nodes_need_none(
    nodes: int, fabric: str, severity: str, check: Check
) -> None:
    machine = f"cluster: {{platform: dgx-h100, nodes: {nodes}, scale_out: {{{fabric}}}}}\n"
    prices = "procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000, cable: 400}}\n"
    (found,) = of("unpriced-part", machine + prices, check)
    assert (str(found.severity), "leaf_switch" in found.help) == (severity, True)


def test_a_quote_that_extends_a_machine_is_not_compared_with_the_whole(check: Check) -> None:
    """33 nodes of which 17 are in place according to the text, and 16 are offered; any other number is a shortage."""
    half = QUOTE.replace("node, quantity: 33", "node, quantity: 16").replace("price: 10230000", "price: 4960000")
    half = half.replace(
        "quantity: 9, unit_price: 36000, price: 324000", "quantity: 4, unit_price: 36000, price: 144000"
    )
    key = LINE.format(0, "quantity")
    for text, severity in (
        ("17 nodes are in place, the order adds 16", "note"),
        ("the order adds 16 nodes to 18 existing ones", "error"),
        ("17 nodes in racks of four", "error"),
    ):
        found = reported(check, "procurement", f"description: {text}\n{SOUND}{half}")
        assert [it for it in found if it[:2] == ("quote-off-bill", key)] == one("quote-off-bill", key, severity)
        assert (len([it for it in found if it[0] == "quote-off-bill"]) == 1) == (severity == "note")


@pytest.mark.parametrize(("node", "severity"), [(60_000, "note"), (50_000, "error")])
def test_cabling_of_one_switch_of_less_than_three_hundredths_of_a_quote_is_a_note(
    node: int, severity: str, check: Check
) -> None:
    """8 cables at $200 and 12 modules at $500 are $7,600: 2.7 % of $280,000, and 3.2 % of $240,000."""
    spec = f"""
cluster:
  platform: hgx-h200
  nodes: 4
  scale_out: {{technology: roce-v2, nics_per_node: 2, nic_bandwidth: 400 Gb/s, topology: single-switch,
              switch: spectrum-4-sn5600, switch_ports: 128, leaf_switches: 1, cable_type: {{node_leaf: fiber}}}}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {{part: HGX H200 server, quantity: 4, unit_price: {node}}}
    - {{part: SN5600 switch, quantity: 1, unit_price: 40000}}
"""
    found = [it for it in reported(check, "procurement", spec) if it[0] == "quote-off-bill"]
    assert found == one("quote-off-bill", "procurement.quote", severity)
