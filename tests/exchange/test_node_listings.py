"""Listings of rocm-smi, neuron-ls, hl-smi, nvidia-smi nvlink and lspci."""

from __future__ import annotations

import json

import pytest

from clusterspec.catalog import Catalog
from clusterspec.exchange.import_result import FormatError, SeveralParts
from clusterspec.exchange.machines.links import PCI_ACCELERATORS, accelerator_of_product
from tests.exchange.imports import counts, given, read, unknown


def rocm(count: int, kind: str, value: dict[bool, str], near: int) -> str:
    """One table of rocm-smi; ``near`` devices form a group whose cells are ``value[True]``."""
    names = [f"GPU{n}" for n in range(count)]
    rows = [
        [name, *("0" if a == b else value[a // near == b // near] for b in range(count))]
        for a, name in enumerate(names)
    ]
    table = ["       " + "         ".join(names), *("   ".join(row) for row in rows)]
    return f"{'=' * 20} {kind} between two GPUs {'=' * 20}\n" + "\n".join(table) + "\n\n"


def test_a_mesh_of_xgmi_has_a_link_to_every_peer() -> None:
    text = (
        rocm(8, "Weight", {True: "15"}, 8) + rocm(8, "Hops", {True: "1"}, 8) + rocm(8, "Link Type", {True: "XGMI"}, 8)
    )
    reading = read(text)
    assert given(reading)["cluster.scale_up.topology"] == "full-mesh"
    assert (counts(reading)["links_per_accelerator"], counts(reading)["edges"]) == (7, 28)


def test_two_xgmi_hives_are_two_domains() -> None:
    text = rocm(8, "Hops", {True: "1", False: "3"}, 4) + rocm(8, "Link Type", {True: "XGMI", False: "PCIE"}, 4)
    reading = read(text)
    assert given(reading)["cluster.scale_up.domain"] == 4
    assert counts(reading)["domains"] == 2
    assert counts(reading)["edges"] == 2 * 6


def test_weights_that_differ_leave_the_packages_unknown() -> None:
    text = rocm(8, "Weight", {True: "15", False: "30"}, 2) + rocm(8, "Link Type", {True: "XGMI", False: "XGMI"}, 2)
    reading = read(text)
    assert "cluster.accelerators_per_node" not in given(reading)
    assert "half of a package" in unknown(reading)
    assert counts(reading)["edges"] == 4


def test_numa_nodes_alone_state_no_accelerators() -> None:
    text = "".join(f"GPU[{n}]\t\t: (Topology) Numa Node: {n // 2}\n" for n in range(8))
    reading = read(text)
    assert (counts(reading)["numa_nodes"], counts(reading)["devices"]) == (4, 8)
    assert not given(reading)


def test_a_table_of_link_types_that_is_cut_off_is_refused() -> None:
    text = rocm(8, "Link Type", {True: "XGMI"}, 8)
    with pytest.raises(FormatError, match=r"truncated|cells"):
        read(text[: len(text) // 2], "rocm-smi-topo")


def neuron(sides: tuple[int, int]) -> str:
    """neuron-ls of a torus, devices numbered row by row."""
    rows, columns = sides
    out = [
        "instance-type: trn1.32xlarge",
        "| NEURON | NEURON | NEURON | CONNECTED | PCI |",
        "| DEVICE | CORES | MEMORY | DEVICES | BDF |",
    ]
    for r in range(rows):
        for c in range(columns):
            near = {((r + 1) % rows, c), ((r - 1) % rows, c), (r, (c + 1) % columns), (r, (c - 1) % columns)} - {(r, c)}
            peers = ", ".join(str(a * columns + b) for a, b in sorted(near, reverse=True))
            out.append(f"| {r * columns + c} | 2 | 32 GB | {peers} | a{r}:0{c}.0 |")
    return "\n".join(out) + "\n"


@pytest.mark.parametrize(("sides", "edges", "links"), [((4, 4), 32, 4), ((3, 4), 24, 4), ((2, 4), 12, 3)])
def test_a_torus_is_recognized_by_its_neighbors(sides: tuple[int, int], edges: int, links: int) -> None:
    reading = read(neuron(sides))
    assert given(reading)["cluster.scale_up.shape"] == list(sides)
    assert (counts(reading)["edges"], counts(reading)["links_per_accelerator"]) == (edges, links)
    assert given(reading)["cluster.ranks_per_accelerator"] == 2
    assert given(reading)["cluster.platform"] == "aws-trn1-32xlarge"


def test_a_ring_is_no_torus_and_json_says_the_same_as_a_table() -> None:
    devices = [
        {
            "neuron_device": n,
            "bdf": "00:04.0",
            "connected_to": [(n - 1) % 6, (n + 1) % 6],
            "nc_count": 2,
            "memory_size": 34359738368,
        }
        for n in range(6)
    ]
    reading = read(json.dumps(devices, indent=1))
    assert given(reading)["cluster.scale_up.topology"] == "ring"
    assert counts(reading)["edges"] == 6
    assert counts(reading)["memory_per_accelerator"] == "32 GiB"


def test_a_listing_whose_neighbors_are_missing_is_refused() -> None:
    with pytest.raises(FormatError, match="not listed"):
        read("\n".join(neuron((4, 4)).split("\n")[:-3]))


def test_inactive_nvlinks_are_not_counted_and_named() -> None:
    text = "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-a)\n" + "".join(f"\t Link {n}: 26.562 GB/s\n" for n in range(18))
    text += "GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-b)\n" + "".join(f"\t Link {n}: 26.562 GB/s\n" for n in range(17))
    reading = read(text + "\t Link 17: <inactive>\n")
    assert given(reading)["cluster.accelerator"] == "h100-sxm-80gb"
    assert counts(reading)["links_per_accelerator"] == "17 to 18"
    assert "1 inactive links of GPU 1 (17)" in unknown(reading)


@pytest.mark.parametrize("others", [False, True])
def test_a_listing_of_the_last_gpus_alone_does_not_count_those_of_a_node(*, others: bool) -> None:
    listed = range(8) if others else [7]
    links = "".join(f"\t Link {n}: 26.562 GB/s\n" for n in range(18))
    reading = read("".join(f"GPU {n}: NVIDIA H100 80GB HBM3 (UUID: GPU-a)\n{links}" for n in listed))
    assert given(reading).get("cluster.accelerators_per_node") == (8 if others else None)
    assert ("cluster.accelerators_per_node" in unknown(reading)) is not others


def test_gaudi_accelerators_are_named_by_their_product() -> None:
    row = "|   {0}  {1}              N/A  | 0000:{0}3:00.0     N/A |   0  |\n| N/A  25C | 768MiB / 98304MiB |"
    text = "| HL-SMI Version:   hl-1.14.0 |\n" + "\n".join(row.format(n, "HL-225") for n in range(8))
    reading = read(text)
    assert given(reading) == {"cluster.accelerators_per_node": 8, "cluster.accelerator": "gaudi2"}


LSPCI = """\
    16:00.0 PCI bridge: Broadcom / LSI PEX890xx PCIe Gen 5 Switch (rev b0)
    \t\tACSCtl:\tSrcValid{acs} TransBlk- ReqRedir+
    1b:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)
    \t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported
    \t\tLnkSta:\tSpeed {speed}GT/s, Width x16
    1c:00.0 Infiniband controller: Mellanox Technologies MT2910 Family [ConnectX-7]
    \t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16
    \t\tLnkSta:\tSpeed 32GT/s, Width x16
    """


def test_a_link_below_its_generation_and_access_control_are_listed() -> None:
    good, bad = read(LSPCI.format(acs="-", speed=32)), read(LSPCI.format(acs="+", speed=16))
    assert given(good) == given(bad)
    assert given(good)["cluster.pcie.host"] == 5
    assert "16 GT/s x16 instead of 32 GT/s x16" in unknown(bad)
    assert "GT/s" not in unknown(good)
    assert counts(bad)["bridges_with_acs"] == 1
    assert "bridges_with_acs" not in counts(good)
    unnamed = LSPCI.replace("GH100 [H100 SXM5 80GB]", "Device 2330")
    unnamed += "83:00.0 Bridge: NVIDIA Corporation Device 22a3 (rev a1)\n"
    assert given(read(unnamed.format(acs="-", speed=32))) == given(good)  # a PCI ID repository older than the device
    assert counts(read(unnamed.format(acs="-", speed=32)))["nvswitches"] == 1
    card = "VGA compatible controller: NVIDIA Corporation GA102GL [RTX A6000] (rev a1) (prog-if 00 [VGA controller])"
    cards = "".join(f"    {n}1:00.0 {card}\n            LnkCap: Port #0, Speed 16GT/s, Width x16\n" for n in range(4))
    found = given(read(cards, "lspci"))
    assert (found["cluster.accelerators_per_node"], found["cluster.accelerator"]) == (4, "rtx-a6000")
    assert "accelerator RTX A4000" in unknown(read(cards.replace("A6000", "A4000"), "lspci"))
    beside = read(LSPCI + cards.lstrip(), "lspci")
    assert "4 cards with display outputs: in addition to" in unknown(beside)


def test_a_product_that_differs_in_memory_or_form_is_not_its_sibling() -> None:
    for name, entry in (
        ("NVIDIA H200 NVL", "h200-nvl-141gb"),
        ("NVIDIA H200-NVL-141GB", "h200-nvl-141gb"),
        ("NVIDIA GH200 480GB", "gh200-96gb"),
        ("NVIDIA GH200-GraceHopper-Superchip", None),
        ("NVIDIA H800 PCIe", None),
        ("NVIDIA H20-3e", "h20-141gb"),
        ("NVIDIA H20", "h20-96gb"),
        ("NVIDIA A100-SXM-64GB", None),
        ("NVIDIA A100-PCIE-40GB", "a100-pcie-40gb"),
        ("NVIDIA L4", "l4"),
        ("NVIDIA L40S", "l40s"),
        ("NVIDIA T4G", None),
        ("NVIDIA A2", "a2"),
        ("NVIDIA GB10", "gb10"),
        ("NVIDIA GeForce RTX 3090", "rtx-3090"),
        ("NVIDIA GeForce RTX 3090 Ti", None),
        ("NVIDIA GeForce RTX 4090 D", "rtx-4090-d"),
        ("NVIDIA GeForce RTX 5080 Laptop GPU", None),
        ("NVIDIA RTX A6000", "rtx-a6000"),
        ("NVIDIA RTX 5000 Ada Generation", "rtx-5000-ada"),
        ("NVIDIA RTX 5000 Ada Generation Laptop GPU", None),
        ("AMD Instinct MI300X HF", None),
    ):
        assert accelerator_of_product(name) == entry, name
    ids = set(Catalog.open().ids("accelerator"))
    assert set(PCI_ACCELERATORS.values()) <= ids


SYSTEM = {
    "accelerator_model_name": "NVIDIA Blackwell GPU (GB200)",
    "accelerators_per_node": "4",
    "number_of_nodes": "9",
    "host_networking": "Infiniband",
    "framework": "x",
}


def test_a_system_of_mlperf_states_its_nodes_and_accelerators() -> None:
    reading = read(json.dumps(SYSTEM))
    assert given(reading) == {
        "cluster.accelerator": "gb200",
        "cluster.accelerators_per_node": 4,
        "cluster.nodes": 9,
    }
    assert "host_networking: Infiniband" in unknown(reading)
    least = {key: SYSTEM[key] for key in ("accelerator_model_name", "accelerators_per_node")}
    assert given(read(json.dumps(least))) == {"cluster.accelerator": "gb200", "cluster.accelerators_per_node": 4}
    both = SYSTEM | {"accelerator_model_name": "AMD Instinct MI300X (x32), AMD Instinct MI325X (x16)"}
    assert "cluster.accelerator" not in given(read(json.dumps(both)))
    with pytest.raises(FormatError, match="no accelerators: accelerators_per_node is '0'"):
        read(json.dumps(SYSTEM | {"accelerators_per_node": "0"}))
    with pytest.raises(SeveralParts, match="2 types of nodes"):
        read(json.dumps({"node_types": [SYSTEM, both]}))


def test_a_type_of_node_has_the_accelerators_of_its_only_description() -> None:
    described = {key: SYSTEM[key] for key in ("accelerator_model_name", "accelerators_per_node")}
    other = {"accelerator_model_name": "AMD Instinct MI300X", "accelerators_per_node": "8"}
    rest = {key: value for key, value in SYSTEM.items() if key not in described}
    one = {"node_types": [rest | {"accelerator_info": [described]}, rest | {"accelerator_info": [other]}]}
    for part, found in ((1, ("gb200", 4, 9)), (2, ("mi300x", 8, 9))):
        stated = given(read(json.dumps(one), part=part))
        assert tuple(stated[f"cluster.{key}"] for key in ("accelerator", "accelerators_per_node", "nodes")) == found
    with pytest.raises(SeveralParts, match=r"2 types of nodes \(NVIDIA Blackwell GPU \(GB200\), AMD Instinct MI300X\)"):
        read(json.dumps(one))
    several = {"node_types": [rest | {"accelerator_info": [described, other]}]}
    with pytest.raises(FormatError):
        read(json.dumps(several))


def test_gaudi_accelerators_of_several_products_have_no_name() -> None:
    rows = "index, name, memory\n" + "".join(
        f"{n}, HL-{kind}, 98304 MiB\n" for n, kind in enumerate(("225", "325", "225"))
    )
    reading = read(rows)
    assert given(reading) == {"cluster.accelerators_per_node": 3}
    assert "cluster.accelerator" in unknown(reading)


@pytest.mark.parametrize("number", [1, 8])
def test_a_query_names_each_gaudi_accelerator_below_its_address(number: int) -> None:
    text = "".join(f"[{n}] AIP (accel{n}) 0000:{n}3:00.0\n\tProduct Name : HL-325\n" for n in range(number))
    found = given(read(text))
    assert found == {"cluster.accelerators_per_node": number, "cluster.accelerator": "gaudi3"}
