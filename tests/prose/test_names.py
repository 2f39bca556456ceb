"""Names of parts as people write them: which entries each may mean, and where it begins and ends."""

from __future__ import annotations

import pytest

from clusterspec.catalog import Catalog
from clusterspec.prose.blocks import ProseLine
from clusterspec.prose.known_figures import KnownFigures
from clusterspec.prose.lexicon import Channel, FigureScope
from clusterspec.prose.subjects import UNKNOWN, Mention, NameIndex
from clusterspec.prose.tier_comparison import _is_of_replaced_figure
from clusterspec.prose.tokenize import tokens
from tests.effort import each

CATALOG = Catalog.open()
NAMES, KNOWN = NameIndex(CATALOG), KnownFigures(CATALOG)


def found(text: str) -> list[Mention]:
    return list(NAMES.find(tokens([ProseLine(1, text)])))


@each(
    ("name", "kind", "ids"),
    [
        ("H100", "accelerator", ("h100-sxm-80gb", "h100-nvl-94gb", "h100-pcie-80gb")),
        ("h100s", "accelerator", ("h100-sxm-80gb", "h100-nvl-94gb", "h100-pcie-80gb")),
        ("H100-SXM", "accelerator", ("h100-sxm-80gb",)),
        ("H100 NVL", "accelerator", ("h100-nvl-94gb",)),
        ("A100 80GB", "accelerator", ("a100-sxm-80gb", "a100-pcie-80gb")),
        ("A100-40GB", "accelerator", ("a100-sxm-40gb", "a100-pcie-40gb")),
        ("MI300X", "accelerator", ("mi300x",)),
        ("TPU v5e", "accelerator", ("tpu-v5e",)),
        ("v5p", "accelerator", ("tpu-v5p",)),
        ("p5.48xlarge", "platform", ("aws-p5-48xlarge",)),
        ("DGX H100", "platform", ("dgx-h100",)),
        ("GB200 NVL72", "platform", ("gb200-nvl72",)),
        ("NVLink 4", "interconnect", ("nvlink-4",)),
        ("NVLink4", "interconnect", ("nvlink-4",)),
        ("NVLink v4", "interconnect", ("nvlink-4",)),
        ("fourth-generation NVLink", "interconnect", ("nvlink-4",)),
        ("Gen5 NVLink", "interconnect", ("nvlink-5",)),
        ("NVLink Gen 4 bridge", "interconnect", ("nvlink-4-bridge",)),
        ("NVLink-C2C", "interconnect", ("nvlink-c2c",)),
        ("NDR400 InfiniBand", "interconnect", ("infiniband-ndr",)),
        ("InfiniBand NDR", "interconnect", ("infiniband-ndr",)),
        ("InfiniBand", "interconnect", ()),
        ("FDR10", "interconnect", ("infiniband-fdr",)),
        ("Omni-Path 100", "interconnect", ("omni-path-100",)),
        ("Quantum-2", "interconnect", ("infiniband-ndr",)),
        ("EFA v2", "interconnect", ("efa-v2",)),
        ("GPUDirect-TCPXO", "interconnect", ("gpudirect-tcpxo",)),
        ("PCIe Gen5 x8", "interconnect", ("pcie-5",)),
        ("PCI Express 4.0", "interconnect", ("pcie-4",)),
        ("Gen5 x16", "interconnect", ("pcie-5",)),
        ("ConnectX-7", "nic", ("connectx-7",)),
        ("CX7", "nic", ("connectx-7",)),
        ("BlueField-3", "nic", ("bluefield-3",)),
    ],
)
def test_a_name_means_its_entries_and_ends_where_it_ends(name: str, kind: str, ids: tuple[str, ...]) -> None:
    (mention,) = found(f"the {name} of it")
    assert (mention.subject.kind, mention.subject.ids) == (kind, ids)
    row = tokens([ProseLine(1, f"the {name} of it")])
    assert (mention.start, mention.end) == (1, len(row) - 2)
    assert name.startswith(mention.subject.name) or mention.subject.name.startswith(name)


@pytest.mark.parametrize(
    ("name", "label", "lanes"),
    [
        ("NDR400", 400, 0),
        ("NDR", 0, 0),
        ("Gen5 x16", 0, 16),
        ("PCIe 5.0 x 8", 0, 8),
        ("PCIe 5", 0, 0),
        ("NVLink 4 x8", 0, 0),
    ],
)
def test_a_name_holds_its_rate_and_its_lanes(name: str, label: int, lanes: int) -> None:
    (mention,) = found(name)
    assert (mention.subject.label, mention.subject.lanes) == (label, lanes)


@pytest.mark.parametrize("name", ["NVLink 9", "Infinity Fabric 3"])
def test_a_generation_that_the_catalog_lacks_is_unknown(name: str) -> None:
    (mention,) = found(name)
    assert (mention.subject.family, mention.subject.ids) == (UNKNOWN, ())


@pytest.mark.parametrize("text", ["Gen2 x16", "Gen9", "ndr", "the gen", "H", "100", "ethernet-less words", "Quantum"])
def test_a_word_that_is_no_name_is_none(text: str) -> None:
    assert not any(mention.subject.ids for mention in found(text))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("H100 and A100", ["H100", "A100"]),
        ("H100, A100 80GB", ["H100", "A100 80GB"]),
        ("NVLink 4 NVLink 5", ["NVLink 4", "NVLink 5"]),
        ("NVLink PCIe", ["NVLink", "PCIe"]),
        ("InfiniBand, NDR", ["InfiniBand", "NDR"]),
        ("a b c d e f g H100", ["H100"]),
    ],
)
def test_names_side_by_side_are_one_only_for_one_family_without_words_between(text: str, names: list[str]) -> None:
    assert [mention.subject.name for mention in found(text)] == names


def figures(name: str, channel: Channel) -> dict[str, float]:
    """The figures of the only part that a text names, in GB or GB/s, by scope."""
    (mention,) = found(name)
    known = [one for one in KNOWN.figures_of(mention.subject) if one.channel is channel and not one.reduced_rate]
    return {f"{one.scope}{'!' if one.misprint else ''}": round(one.value / 1e9, 3) for one in known}


@pytest.mark.parametrize(
    ("name", "channel", "known"),
    [
        ("NVLink 4", Channel.SCALE_UP, {"accelerator": 450, "link": 25, "lane": 12.5}),  # 18 links of two lanes
        ("NVLink 5", Channel.SCALE_UP, {"accelerator": 900, "link": 50, "lane": 25}),
        ("NDR", Channel.NETWORK, {"port": 50, "lane": 12.5}),  # four lanes
        ("DGX H100", Channel.SCALE_UP, {"accelerator": 450, "link": 25, "lane": 12.5, "node": 8 * 450, "sum": 4 * 450}),
        ("DGX H100", Channel.NETWORK, {"port": 50, "node": 400}),
        (
            "DGX H100",
            Channel.CAPACITY,
            {"accelerator": 85.521, "node": 684.166},
        ),  # as the driver reports it, times eight
        (
            "MI300X",
            Channel.SCALE_UP,
            {"accelerator": 448, "link": 64, "pair": 64, "lane": 4},
        ),  # seven links of 16 lanes
        # three of the 24 ports leave the node: the sum of all of them is printed, and wrong within it
        ("Gaudi 3", Channel.SCALE_UP, {"accelerator": 525, "pair": 75, "link": 25, "lane": 12.5, "accelerator!": 600}),
        # eight links to seven peers, one of them twice: seven links are printed
        ("MI250X", Channel.SCALE_UP, {"accelerator": 400, "pair": 50, "link": 50, "lane": 3.125, "accelerator!": 350}),
        ("PCIe Gen5 x8", Channel.HOST, {"accelerator": 31.508, "lane": 3.938}),  # 32 GT/s at 128/130, eight lanes
        ("PCIe 5", Channel.HOST, {"accelerator": 63.015, "lane": 3.938}),
    ],
)
def test_the_figures_of_a_part_are_those_of_its_links_devices_and_nodes(
    name: str, channel: Channel, known: dict[str, float]
) -> None:
    assert figures(name, channel) == known


def test_a_part_is_narrowed_by_a_memory_size_that_one_of_its_variants_has() -> None:
    (mention,) = found("H100")
    sizes = {80e9: ("h100-sxm-80gb", "h100-pcie-80gb"), 94e9: ("h100-nvl-94gb",), 40e9: mention.subject.ids}
    for size, ids in sizes.items():
        assert KNOWN.with_memory(mention.subject, [size]).ids == ids
    assert KNOWN.with_memory(mention.subject, []) is mention.subject


def test_machines_have_links_ranks_and_neighbors() -> None:
    parts = {name: found(name)[0].subject for name in ("DGX H100", "H100", "MI300X", "TPU v5e", "TPU v5p", "NVLink 4")}
    assert KNOWN.link_counts(parts["DGX H100"]) == (8, 18) and KNOWN.link_counts(parts["H100"]) is None
    neighbors = {name: sorted(KNOWN.neighbors(part)) for name, part in parts.items()}
    assert neighbors == {
        "DGX H100": [],
        "H100": [],
        "MI300X": [7],
        "TPU v5e": [4],
        "TPU v5p": [6],
        "NVLink 4": [],
    }
    machine = KNOWN.machine(parts["DGX H100"])
    assert machine is not None and KNOWN.ranks_per_accelerator(machine) == 1
    assert KNOWN.interconnects(parts["DGX H100"]) == ("nvlink-4",) and KNOWN.interconnects(parts["NVLink 4"]) == ()


def test_siblings_of_an_interconnect_are_its_other_generations() -> None:
    (ndr,) = found("NDR")
    siblings = [name for name, _ in KNOWN.siblings(ndr.subject)]
    assert "infiniband-hdr" in siblings and "infiniband-ndr" not in siblings and "nvlink-4" not in siblings
    (part,) = found("H100")
    vendor = [name for name, _ in KNOWN.figures_of_vendor(part.subject)]
    assert "h200-sxm-141gb" in vendor and "mi300x" not in vendor and not set(vendor) & set(part.subject.ids)
    assert vendor[0].startswith("h") and list(KNOWN.siblings(part.subject)) == []
    assert list(KNOWN.figures_of_vendor(ndr.subject)) == []


def test_a_lane_of_a_scope_keeps_its_rate_at_any_width() -> None:
    lanes = {width: figures(f"PCIe 5 x{width}", Channel.HOST)[FigureScope.LANE] for width in (1, 4, 16)}
    assert set(lanes.values()) == {3.938}


@each(
    ("text", "ratio", "same"),
    [
        ("2.35 times as fast (4.8 instead of 2.039 TB/s)", 2.354, True),
        ("2.35 times as fast (4.8 instead of 2.039 TB/s)", 2.40, True),  # 2 % apart
        ("2.35 times as fast (4.8 instead of 2.039 TB/s)", 2.41, False),
        ("2.35 times as fast (4.8 instead of 2.039 TB/s)", 2.30, False),
        ("twice as fast, 800 GB/s up from 400 GB/s", 2.0, True),
        ("twice as fast, 800 GB/s up from 400 GB/s", 4.0, False),
        ("twice as fast, 800 GB/s and not 400 GB/s", 2.0, False),
        ("18 times, 900 GB/s compared with 50 GB/s", 18.0, True),
        ("18 times, 900 rather than slow", 18.0, False),
        ("800 GB/s up from 400 GB/s", 2.0, True),  # at the start of the sentence
        ("up from 400 GB/s", 2.0, False),
    ],
)
def test_a_ratio_of_a_figure_to_the_one_it_replaces_compares_no_tiers(text: str, ratio: float, same: bool) -> None:
    assert _is_of_replaced_figure(tokens([ProseLine(1, text)]), ratio) is same


@each(
    ("text", "only"),
    [
        ("a port has 50 GB/s, a ninth of its NVLink rate", True),
        ("a port has 50 GB/s, a ninth of NVLink", True),
        ("memory has 9 times the NVLink rate", True),
        ("memory has 9 times NVLink 4, and the fabric less", True),
        ("a port has 50 GB/s, a ninth of NVLink 4 with 450 GB/s", False),  # its figure is stated
        ("memory has 9 times NVLink 4, whose rate is high: 450 GB/s", False),
        ("a port has 50 GB/s, the rate of NVLink", False),
        ("NVLink is a ninth of memory", False),
    ],
)
def test_a_part_after_a_fraction_or_a_factor_is_named_where_its_figure_follows(text: str, only: bool) -> None:
    assert [each.subject.family for each in found(text)] == ([] if only else ["nvlink"])
