"""Lines of a quote that name another part than the design has: the line, what differs, and the part of the design."""

from __future__ import annotations

from clusterspec.source import dotted_path
from tests.effort import each

from .conftest import Check

ADAPTERS = """clusterspec: 1
cluster: {{platform: hgx-h200, nodes: 16, scale_out: {{technology: infiniband-ndr, nics_per_node: 8}}}}
procurement:
  currency: USD
  quote:
    - {{part: HGX H200 server, quantity: 16}}
    - {{part: {first}, quantity: 128}}
    - {{part: {second}, quantity: 16}}
"""


@each(
    ("first", "second", "wrong"),
    [
        ("MCX75310AAS-NEAT NIC", "frontend NIC", []),
        ("MCX75310AAS-HEAT NIC", "frontend NIC", [1]),  # H is 200 Gb/s, N 400
        ("MCX653105A-HDAT NIC", "frontend NIC", [1]),
        ("MCX75310AAS-HEAT NIC 400G", "frontend NIC", []),  # a stated rate counts, not the code
        # the NICs of one line are all that the nodes need: the others are for another network
        ("MCX75310AAS-NEAT NIC", "MCX75310AAS-HEAT NIC", []),
        ("NDR NIC", "NDR200 NIC", []),
        ("NDR200 NIC", "NDR NIC", [1]),
    ],
)
def test_slow_adapters_are_those_of_the_fabric(first: str, second: str, wrong: list[int], check: Check) -> None:
    found = check(ADAPTERS.format(first=first, second=second))
    slow = [one for one in found if one.rule == "quote-names-other-part" and "links of the fabric" in one.message]
    assert [one.path[2] for one in slow] == wrong


ENDS = """clusterspec: 1
cluster: {{platform: hgx-h200, nodes: 16}}
procurement:
  currency: USD
  quote:
    - {{part: {module} transceiver, quantity: 128}}
    - {{part: {cable}, quantity: 128}}
"""


@each(
    ("module", "cable", "wrong"),
    [
        ("MMS4X00-NS400 DR4", "OS2 MPO-12/UPC fiber cable", True),
        ("MMS4X00-NS400 DR4", "MTP-UPC fiber cable", True),
        ("MMS4X00-NS400 DR4", "OS2 MPO-12/APC fiber cable", False),
        ("MMS4X00-NS400 DR4", "OS2 LC/UPC patch cable", False),
        # NVIDIA's page of the module: its angled end "is not compatible with" flat ones
        ("MMA4Z00-NS400 SR4", "OM4 MPO-12/UPC fiber cable", True),
        ("MMA4Z00-NS400 SR4", "OM4 MPO-12/APC fiber cable", False),
    ],
)
def test_fast_and_single_mode_modules_take_angled_ends(module: str, cable: str, wrong: bool, check: Check) -> None:
    found = check(ENDS.format(module=module, cable=cable))
    assert any("angled" in one.message for one in found) is wrong


SPEC = """clusterspec: 1
cluster: {{{machine}}}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {{part: cables, quantity: 1, unit_price: 1}}
    - {{part: {part}, quantity: 32, unit_price: 26000}}
"""
H100 = "platform: hgx-h100, nodes: 4"
A100 = "platform: dgx-a100, nodes: 4"
NDR = "platform: dgx-h100, nodes: 16, scale_out: {technology: infiniband-ndr}"
ROCE = "platform: dgx-h100, nodes: 16, scale_out: {technology: roce-v2}"
FASTER = ROCE.replace("roce-v2", "roce-v2, nic_bandwidth: %s Gb/s")
QUANTUM = NDR.replace("ndr", "ndr, switch: quantum-2-qm9700")
SXM, FOUR = "but the design has H100 SXM5 80 GB", "but the design has A100 SXM4 80 GB"


@each(
    ("machine", "part", "message"),
    [
        (H100, "H100 PCIe 80 GB GPU", f"`H100 PCIe 80 GB GPU` is the part with pcie, {SXM}"),
        (H100, "H100 SXM5 80 GB GPU", ""),
        # every place that names the family counts: one that states the own part is enough
        (
            H100,
            "HGX H100 board with H100 PCIe 80 GB",
            f"`HGX H100 board with H100 PCIe 80 GB` is the part with pcie, {SXM}",
        ),
        (H100, "H100 SXM5 board in place of H100 PCIe", ""),
        (H100, "HGX H100 640 GB", ""),  # eight of 80 GB
        (H100, "HGX B200 server", "`HGX B200 server` is b200, but the design has h100-sxm-80gb"),
        (A100, "DGX A100 640 GB", ""),
        (A100, "DGX A100 320 GB", f"`DGX A100 320 GB` is the part with 320 GB, {FOUR}"),  # eight of 40 GB
        (A100, "A100 40GB GPU", f"`A100 40GB GPU` is the part with 40 GB, {FOUR}"),
        (A100, "A100 PCIe 40GB GPU", f"`A100 PCIe 40GB GPU` is the part with pcie and 40 GB, {FOUR}"),
        (NDR, "SN5600 leaf switch", "Spectrum-4 SN5600 has no InfiniBand NDR"),
        (NDR, "QM8700 leaf switch", "Quantum QM8700 has ports of 200 Gb/s, but a NIC 400 Gb/s"),
        (NDR, "QM9700 leaf switch", ""),
        (QUANTUM, "QM8700 leaf switch", "`QM8700 leaf switch` is qm8700, but the design has quantum-2-qm9700"),
        (QUANTUM, "QM9700 leaf switch", ""),
        (QUANTUM, "MQM9700-NS2F leaf switch", ""),
        (
            QUANTUM,
            "MQM9790-NS2F leaf switch",
            "`MQM9790-NS2F leaf switch` is qm9790, but the design has quantum-2-qm9700",
        ),
        (ROCE, "MSN3700-CS2F switch", "Spectrum-2 SN3700 has ports of 200 Gb/s, but a NIC 400 Gb/s"),
        (ROCE, "SN3700 switch", "Spectrum-2 SN3700 has ports of 200 Gb/s, but a NIC 400 Gb/s"),
        (ROCE, "SN4700 switch", ""),
        # ports of 400 Gb/s carry 99 % of 404, and not of 405
        (FASTER % 404, "SN4700 switch", ""),
        (FASTER % 405, "SN4700 switch", "Spectrum-3 SN4700 has ports of 400 Gb/s, but a NIC 405 Gb/s"),
        (NDR.replace("ndr", "ndr, nic: connectx-7"), "ConnectX-7 NIC", ""),
        (
            NDR.replace("ndr", "ndr, nic: connectx-7"),
            "ConnectX-6 NIC",
            "`ConnectX-6 NIC` is connectx-6, but the design has connectx-7",
        ),
    ],
)
def test_a_line_of_another_part_is_an_error_that_names_both(
    machine: str, part: str, message: str, check: Check
) -> None:
    found = [
        each
        for each in check(SPEC.format(machine=machine, part=part), "quote-names-other-part")
        if each.rule == "quote-names-other-part"
    ]
    assert [each.message for each in found] == ([message] if message else [])
    for one in found:
        assert (str(one.severity), dotted_path(one.path)) == ("error", "procurement.quote[1].part")
        assert one.help == "correct the line or the design"


FIBER = """clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 16
  scale_out: {{technology: infiniband-ndr, optics: {{node_leaf: [{node}, {node}], leaf_spine: [{spine}, {spine}]}}}}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {{part: DGX H100 node, quantity: 16, unit_price: 300000}}
    - {{part: {fiber}, quantity: 128, unit_price: 90}}
"""


@each(
    ("node", "spine", "fiber", "needed"),
    [
        ("mms4x00-nm-hgx", "mms4x00-nm", "MPO cable OM4", "single-mode"),
        ("mms4x00-nm-hgx", "mms4x00-nm", "MPO cable OS2", ""),
        # a cable with fixed ends takes no fiber, so that the modules of the other level decide
        ("dac-mcp4y10", "mms4x00-nm", "MPO cable OM4", "single-mode"),
        ("dac-mcp4y10", "mma4z00-ns", "MPO cable OS2", "multimode"),
        ("aoc-800g-osfp", "mms4x00-nm", "MPO cable OM4", "single-mode"),
        ("mma4z00-ns", "mms4x00-nm", "MPO cable OM4", ""),  # both kinds
        ("dac-mcp4y10", "dac-mcp4y10", "MPO cable OM4", ""),
    ],
)
def test_fiber_of_a_quote_is_that_of_the_modules_entries(
    check: Check, node: str, spine: str, fiber: str, needed: str
) -> None:
    found = [one for one in check(FIBER.format(node=node, spine=spine, fiber=fiber)) if "fiber" in one.message]
    assert [one.rule for one in found] == ["quote-text-off-design"] * bool(needed)
    assert all(one.message.endswith(f"but all transceivers are {needed}") for one in found)


def test_a_switch_of_another_network_is_no_other_part_where_the_fabric_has_its_own(check: Check) -> None:
    fabric = "technology: roce-v2, nic_bandwidth: 400 Gb/s, switch: spectrum-4-sn5600"
    for lines, wrong in (("{part: SN5600 switch}, {part: SN3700 switch}", 0), ("{part: SN3700 switch}", 1)):
        text = f"clusterspec: 1\ncluster: {{platform: hgx-h200, nodes: 6, scale_out: {{{fabric}}}}}\n"
        found = check(f"{text}procurement: {{currency: USD, quote: [{{part: HGX H200 server}}, {lines}]}}\n")
        assert sum(each.rule == "quote-names-other-part" for each in found) == wrong, lines


NODES = """clusterspec: 1
cluster: {{platform: {platform}, nodes: 16}}
procurement:
  currency: USD
  quote:
    - {{part: "{part}", quantity: 16}}
"""


@each(
    ("platform", "part", "states"),
    [
        ("dgx-h200", "DGX H200 system, 8 GPU 141 GB", ""),
        ("dgx-h200", "DGX H200 system, 8 GPU 70 GB", "70 GB, but H200 has 141 GB or more"),
        ("dgx-h200", "DGX H200 system, 8 x 80 GB", "80 GB, but H200 has 141 GB or more"),
        ("dgx-h200", "DGX H200, 8x H200, 8x 96 GB RDIMM", ""),  # modules of the host
        ("dgx-h200", "DGX H200 1128 GB", ""),  # 8 x 141
        ("dgx-h100", "DGX H100 640GB", ""),
        ("dgx-h100", "DGX H100 320GB", "320 GB, but DGX H100 has 640 GB or more"),
        ("dgx-h100", "server, 8x H100 141 GB", "141 GB, but H100 has at most 94 GB"),
        ("dgx-h100", "server, 8x H100 752 GB", ""),  # 8 x 94, a sibling that another rule names
        ("dgx-b200", "DGX B200 1440 GB", ""),
        ("dgx-b200", "DGX B200 (1,440 GB), 4 TB", ""),
        ("gaudi3-hls", "server with 8x Gaudi 3 OAM (HL-325L) 64 GB", "64 GB, but GAUDI3 has 128 GB or more"),
        ("gaudi3-hls", "server with 8x Gaudi 3 OAM HL-325L 128 GB", ""),
    ],
)
def test_the_memory_of_a_line_is_that_of_its_accelerator(platform: str, part: str, states: str, check: Check) -> None:
    found = [
        one.message
        for one in check(NODES.format(platform=platform, part=part), "quote-text-off-part")
        if one.rule == "quote-text-off-part"
    ]
    assert [message.partition(" states ")[2] for message in found] == [states] * bool(states)


@each(
    ("part", "quantity", "wrong"),
    [
        ("Dedicated server, 8x H100, rent for 36 months, 20.80 per hour", 16, True),
        ("Dedicated server, 8x H200, rent for 36 months, 20.80 per hour", 16, False),
        ("Dedicated server, 4x H100, rent for 36 months, 20.80 per hour", 16, False),  # no machine of the design's size
        ("Dedicated server, 8x H100, rent for 36 months, 20.80 per hour", 2, False),  # a machine with it
    ],
)
def test_rented_machines_have_the_accelerator_of_the_design(
    part: str, quantity: int, wrong: bool, check: Check
) -> None:
    text = NODES.format(platform="hgx-h200", part=part).replace("quantity: 16", f"quantity: {quantity}")
    assert any(one.rule == "quote-names-other-part" for one in check(text, "quote-names-other-part")) == wrong


POOLS = """clusterspec: 1
pools:
  training: {{platform: dgx-b200, nodes: 32}}
  serving: {{platform: dgx-h200, nodes: 8}}
procurement:
  currency: USD
  quote:
    - {{part: "DGX B200", quantity: 32}}
    - {{part: "{part}", quantity: 8}}
"""


@each(
    ("part", "rules"),
    [
        ("DGX H200, 8x H200 141 GB", []),
        ("DGX B200", []),  # its number is for another rule
        ("DGX H100", ["quote-names-other-part"]),
        ("DGX H200, 8x H200 80 GB", ["quote-text-off-part"]),
    ],
)
def test_a_line_of_a_common_quote_fits_one_of_the_pools(part: str, rules: list[str], check: Check) -> None:
    found = check(POOLS.format(part=part))
    assert [
        one.rule for one in found if one.path[:3] == ("procurement", "quote", 1) and one.path[3:] == ("part",)
    ] == rules


@each(
    ("part", "wrong"),
    [
        ("DCS-7060X6-64PE-F leaf switch, 64x 800G", False),
        ("DCS-7060X6-64PE-F leaf switch, 32x 800G", True),
        ("Arista 7060X6-64PE leaf switch, 32x 800G", True),
        ("leaf switch, 32x 800G", False),
    ],
)
def test_order_codes_name_switches_of_arista(part: str, wrong: bool, check: Check) -> None:
    found = check(NODES.format(platform="dgx-h200", part=part))
    assert any(one.rule == "quote-text-off-part" and " ports" in one.message for one in found) == wrong


WITHOUT_CABLES = """clusterspec: 1
cluster:
  accelerator: gaudi3
  accelerators_per_node: 8
  nodes: 4
  scale_out:
    technology: roce-v2
    nics_per_node: 24
    nic_bandwidth: 200 Gb/s
    topology: single-switch
    switch_ports: 128
    leaf_switches: 1
    {cables}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {{part: node with 8 Gaudi 3, quantity: 4, unit_price: 180000, price: 720000}}
    - {{part: leaf switch, quantity: 1, unit_price: 50000, price: 50000}}
"""


# 96 cables of 100 USD are 1.2 % of 770,000 USD; 192 modules of 250 USD are another 6.2 %
@each("cables, severity", [("", "note"), ("cable_type: {node_leaf: fiber}", "error")])
def test_cables_that_may_have_fixed_ends_are_compared_without_modules(cables: str, severity: str, check: Check) -> None:
    found = check(WITHOUT_CABLES.format(cables=cables), "quote-off-bill")
    assert [str(each.severity) for each in found if each.rule == "quote-off-bill"] == [severity]
