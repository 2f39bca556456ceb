"""Machines that hwloc prints: ``lstopo --of xml``, and the tree of ``lstopo`` as text.

Elements: open-mpi/hwloc, include/hwloc.h and its DTD: ``object`` of type ``PCIDev`` (``pci_type`` is the class, vendor
and device), ``OSDev`` (``osdev_type`` 3 is OpenFabrics) and ``NUMANode``.
"""

from __future__ import annotations

import re
from collections import Counter

from clusterspec.exchange.documents import Element, parse_xml
from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile
from clusterspec.exchange.machines.links import PCI_NICS, set_accelerator
from clusterspec.exchange.machines.pcie import accelerator_elements
from clusterspec.units import plural

LSTOPO = "lstopo"
_DOCTYPE = re.compile(r"<!DOCTYPE\s+topology\s+SYSTEM\s+\"hwloc2?\.dtd\"\s*>")
"""The document type that hwloc itself declares; it is not loaded."""
_TREE = re.compile(r"^[ \t]*Machine (?:L#\d+ )?\(\d+[MGT]i?B\b", re.MULTILINE)
_DEVICE = re.compile(
    r"^[ \t]*PCI (?:L#\d+ \()?(?:(?P<id>[0-9a-f]{4}:[0-9a-f]{4})|[0-9a-f:]{2,12}\.\d)\)? \((?P<kind>\w{1,40})\)"
)
_CLASS = re.compile(r"(?P<kind>[0-9a-f]{4})(?: \[(?P<vendor>[0-9a-f]{4}):(?P<device>[0-9a-f]{4})\])?")
_MAKERS = {"10de", "1002", "1da3", "1d0f", "8086"}
"""NVIDIA, AMD, Habana, Amazon, Intel."""
_GRAPHICS = "0300"
_FABRICS = "3"
_UNSERVED = "hwloc does not show which network a NIC serves"


def matches_lstopo(file: InputFile) -> bool:
    head = file.head
    if "<topology" in head:
        return 'type="Machine"' in head
    return bool(_TREE.search(file.text)) and any(_DEVICE.match(line) for line in file.lines)


def read_lstopo(file: InputFile) -> ImportResult:
    """The accelerators, NICs and NUMA nodes of a machine. Raises `FormatError` if there are several machines."""
    builder = ImportBuilder(LSTOPO, file.name)
    if "<topology" in file.head:
        _read_xml(file, builder)
    else:
        _read_tree(file, builder)
    return builder.reading()


def _read_xml(file: InputFile, builder: ImportBuilder) -> None:
    root = parse_xml(InputFile(file.name, _DOCTYPE.sub("", file.text, count=1).encode()))
    objects = root.descendants("object")
    machines = [each for each in objects if each.get("type") == "Machine"]
    if root.tag != "topology" or len(machines) != 1:
        raise FormatError(f"holds {plural(len(machines), 'machine')}, not one", root.line)
    numa = [each for each in objects if each.get("type") == "NUMANode" and each.get("subtype") != "GPUMemory"]
    builder.count("numa_nodes", len(numa) or None, numa[0].line if numa else 0)
    devices = [device for each in objects if each.get("type") == "PCIDev" and (device := _pci_element(each))]
    found = Element("system", {}, root.line, children=_accelerators(devices))
    if not found.children:
        builder.unknown("cluster.accelerators_per_node", "no PCI device of a class of accelerators is listed")
    accelerator_elements(found, builder)
    nics = [each for each in devices if each.get("class").startswith("0x02") and each.get("fabric")]
    builder.count("nics", len(nics), nics[0].line if nics else 0)
    named = Counter(PCI_NICS.get(f"{each.get('vendor')}:{each.get('device')}", "") for each in nics)
    for name, count in named.items():
        builder.count(f"nics_{name}" if name else "nics without a catalog entry", count, nics[0].line)
    if nics:
        builder.unknown("cluster.scale_out.nics_per_node", _UNSERVED, nics[0].line)


def _pci_element(device: Element) -> Element | None:
    """A PCI device as an element of NCCL's topology files; the attribute ``fabric`` is set for a NIC with RDMA
    verbs.
    """
    match = _CLASS.match(device.get("pci_type"))
    if match is None:
        return None
    fabric = any(child.get("osdev_type") == _FABRICS for child in device.children)
    ids = {"vendor": match["vendor"] or "", "device": match["device"] or "", "fabric": "1" if fabric else ""}
    return Element("pci", {"class": f"0x{match['kind']}", "busid": device.get("pci_busid"), **ids}, device.line)


def _accelerators(devices: list[Element]) -> list[Element]:
    """The accelerators among PCI devices. Devices with display outputs count only if there are no others."""
    classes = ("0x0302", "0x0380", "0x1200")
    found = [each for each in devices if each.get("class") in classes and each.get("vendor") in _MAKERS]
    cards = [each for each in devices if each.get("class") == f"0x{_GRAPHICS}" and each.get("vendor") == "10de"]
    return found or cards


def _read_tree(file: InputFile, builder: ImportBuilder) -> None:
    """The devices of the tree as text, which may have the ids of PCI devices."""
    if len(_TREE.findall(file.text)) != 1:
        raise FormatError("holds the trees of several machines")
    listed = [(match, number) for number, line in enumerate(file.lines, 1) if (match := _DEVICE.match(line))]
    found = [(match["kind"], number) for match, number in listed]
    numa = [number for number, line in enumerate(file.lines, 1) if re.match(r"[ \t]*NUMANode L#", line)]
    builder.count("numa_nodes", len(numa) or None, numa[0] if numa else 0)
    cards = [number for kind, number in found if kind in {"3D", "ProcessingAccelerator"}]
    others = [number for kind, number in found if kind in {"Display", "VGA"}]
    if cards:
        builder.count("accelerators", len(cards), cards[0])
        builder.set("cluster.accelerators_per_node", len(cards), cards[0])
        ids = {match["id"] for match, number in listed if number in cards}
        if len(ids) == 1 and (pci := ids.pop()):
            set_accelerator(pci, builder, cards[0])
        else:
            builder.unknown("cluster.accelerator", "the tree names no products, or several", cards[0])
    if others:
        why = "of a class for displays: graphics, an accelerator or one of its two dies"
        builder.unknown(plural(len(others), "device"), why, others[0])
    fabrics = [number for number, line in enumerate(file.lines, 1) if re.match(r"[ \t]*OpenFabrics\b", line)]
    if fabrics:
        builder.count("nics", len(fabrics), fabrics[0])
        builder.unknown("cluster.scale_out.nics_per_node", _UNSERVED, fabrics[0])
