"""Machines that ``lstopo`` prints, as XML and as a tree."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.exchange.imports import counts, given, read, unknown

GPU = '<object type="PCIDev" pci_busid="0000:{}:00.0" pci_type="{} [{}] [10de:16c1] a1"/>'
NIC = (
    '<object type="PCIDev" pci_busid="0000:{}:00.0" pci_type="0207 [15b3:1021] [15b3:0041] 00">'
    '<object type="OSDev" name="mlx5_0" osdev_type="3"/></object>'
)
HEAD = (
    '<?xml version="1.0"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n<topology version="2.0">\n<object type="Machine">'
)
TAIL = "</object>\n</topology>\n"
NODE = '<object type="NUMANode" os_index="{}"/>'
TREE = """\
Machine (2011GB total)
  Package L#0
    NUMANode L#0 (P#0 1006GB)
    PCIBridge
      PCI {0} (3D)
        CoProc(CUDA) "cuda0"
      PCI {1} (3D)
      PCI c1:00.0 (InfiniBand)
        OpenFabrics "mlx5_0"
    PCI 0b:00.0 (VGA)
"""


def xml(*devices: str) -> str:
    return HEAD + "\n" + "\n".join(devices) + "\n" + TAIL


def test_devices_are_told_by_class_and_maker() -> None:
    screen = GPU.format("03", "0300", "1a03:2000")
    plain = GPU.format("61", "0200", "8086:1533")
    gpus = [GPU.format(f"1{n}", "0302", "10de:2330") for n in range(8)]
    reading = read(xml(NODE.format(0), NODE.format(1), screen, plain, *gpus, NIC.format("21"), NIC.format("22")))
    assert given(reading) == {"cluster.accelerators_per_node": 8, "cluster.accelerator": "h100-sxm-80gb"}
    found = counts(reading)
    assert (found["numa_nodes"], found["nics"], found["nics_connectx-7"]) == (2, 2, 2)
    assert "does not show which network" in unknown(reading)


def test_two_dies_of_a_package_are_one_accelerator() -> None:
    reading = read(xml(*(GPU.format(f"c{n}", "0380", "1002:7408") for n in range(8))))
    assert given(reading)["cluster.accelerators_per_node"] == 4
    assert given(reading)["cluster.ranks_per_accelerator"] == 2


def test_a_machine_without_accelerators_states_none() -> None:
    reading = read(xml(GPU.format("03", "0300", "1a03:2000")))
    assert not given(reading)
    assert "no PCI device of a class of accelerators" in unknown(reading)


def test_other_document_types_and_several_machines_are_refused() -> None:
    with pytest.raises(FormatError, match="document type"):
        read(xml().replace("hwloc2.dtd", "other.dtd"))
    with pytest.raises(FormatError, match="2 machines"):
        read(xml('<object type="Machine"/>'))


@pytest.mark.parametrize(
    ("first", "second", "product"),
    [
        ("10de:2330", "10de:2330", "h100-sxm-80gb"),
        ("10de:2330", "10de:20b2", None),
        ("04:00.0", "07:00.0", None),
    ],
)
def test_a_tree_counts_3d_controllers_and_names_products_by_their_id(first: str, second: str, product: str) -> None:
    reading = read(TREE.format(first, second))
    assert given(reading)["cluster.accelerators_per_node"] == 2
    assert given(reading).get("cluster.accelerator") == product
    assert (counts(reading)["nics"], counts(reading)["numa_nodes"]) == (1, 1)
    assert "1 device: of a class for displays" in unknown(reading)


def test_trees_of_several_machines_are_refused() -> None:
    tree = TREE.format("04:00.0", "07:00.0")
    with pytest.raises(FormatError, match="several machines"):
        read(tree + tree)
