"""The PCIe devices of a node: `lspci -vv`, and the topology files of NCCL and RCCL."""

from __future__ import annotations

import re
from collections import Counter

from clusterspec.exchange.documents import Element, parse_xml
from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, excerpt
from clusterspec.exchange.machines.links import (
    GENERATIONS,
    PCI_NICS,
    NodeLinks,
    accelerator_of_product,
    gigabits,
    record_links,
    set_accelerator,
    set_rate,
)
from clusterspec.records import dataclass, field
from clusterspec.standard import DECIMAL
from clusterspec.units import plural

# `lspci -vv`: accelerators, NICs and PCIe switches of a node, with the current and maximum speed of each link

LSPCI = "lspci"
_DEVICE = re.compile(
    r"((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])\s++([^:\[]++)(?:\[([0-9a-f]{4})\])?:\s++(.*)$"
)
_IDS = re.compile(r"\[([0-9a-f]{4}:[0-9a-f]{4})\]")
_UNNAMED = re.compile(
    r"^(NVIDIA Corporation|Advanced Micro Devices|Mellanox Technologies)\b.{0,40} Device ([0-9a-f]{4})\b"
)
_VENDORS = {"NVIDIA Corporation": "10de", "Advanced Micro Devices": "1002", "Mellanox Technologies": "15b3"}
"""Vendor ids of the PCI ID repository."""
_LINK = re.compile(r"\s*Lnk(Cap|Sta):.{0,100}?Speed " + DECIMAL + r"GT/s[^,]{0,100}, Width x([0-9]+)")
_ACCELERATORS = ("3D controller", "Processing accelerators", "Display controller")
_GRAPHICS = "VGA compatible controller"
"""Class of cards with display outputs: RTX PRO, RTX A6000 and GeForce. AMD devices of this class may be graphics inside
the CPU.
"""
_NICS = ("Ethernet controller", "Infiniband controller", "InfiniBand controller", "Fabric controller")
_MAKERS = ("NVIDIA", "AMD", "Advanced Micro Devices", "Habana", "Amazon")
_NIC_NAMES = (
    (r"ConnectX-5", "connectx-5"),
    (r"ConnectX-6(?! ?(Dx|Lx))", "connectx-6"),
    (r"ConnectX-7", "connectx-7"),
    (r"ConnectX-8", "connectx-8"),
    (r"BlueField-3", "bluefield-3"),
)


@dataclass
class PciDevice:
    """A PCI function; ``links`` has the capability (Cap) and status (Sta) of its link, in GT/s and lanes."""

    address: str
    kind: str
    name: str
    line: int
    links: dict[str, tuple[float, int]] = field(default_factory=dict)
    acs: bool = False

    @property
    def pci(self) -> str:
        """Vendor and device id, if printed with ``-nn`` or if the PCI ID repository has no name for the device."""
        ids: list[str] = _IDS.findall(self.name)
        if ids:
            return ids[-1]
        unnamed = _UNNAMED.search(self.name)
        return f"{_VENDORS[unnamed[1]]}:{unnamed[2]}" if unnamed else ""


def matches_lspci(file: InputFile) -> bool:
    return any(_DEVICE.match(line) for line in file.head.split("\n")[:200]) and (
        "LnkCap" in file.text or "bridge" in file.head
    )


def read_lspci(file: InputFile) -> ImportResult:
    """The relevant devices of a node. Raises `FormatError` if there are none."""
    builder, devices = ImportBuilder(LSPCI, file.name), list[PciDevice]()
    for number, line in enumerate(file.lines, 1):
        if match := _DEVICE.match(line):
            devices.append(PciDevice(match[1], match[2].strip(), match[4], number))
        elif devices and (match := _LINK.match(line)):
            devices[-1].links.setdefault(match[1], (float(match[2]), int(match[3])))
        elif devices and "ACSCtl:" in line and "SrcValid+" in line:
            devices[-1].acs = True
    if not devices:
        raise FormatError("lists no PCI device in the format of lspci")
    accelerators = [each for each in devices if each.kind.startswith(_ACCELERATORS) and _is_accelerator_vendor(each)]
    cards = [each for each in devices if each.kind.startswith(_GRAPHICS) and "NVIDIA" in each.name]
    if cards and accelerators:
        why = f"in addition to {plural(len(accelerators), 'accelerator')}: not counted"
        builder.unknown(f"{plural(len(cards), 'card')} with display outputs", why, cards[0].line)
    accelerators = accelerators or cards
    nics = [each for each in devices if each.kind.startswith(_NICS)]
    _record_accelerators(accelerators, builder)
    _record_nics(nics, builder)
    _record_bridges(devices, builder)
    return builder.reading()


def _is_accelerator_vendor(device: PciDevice) -> bool:
    return any(maker in device.name for maker in _MAKERS)


def _record_accelerators(devices: list[PciDevice], builder: ImportBuilder) -> None:
    if not devices:
        builder.unknown("cluster.accelerators_per_node", "no 3D controller or processing accelerator is listed")
        return
    line = devices[0].line
    builder.count("accelerators", len(devices), line)
    builder.set("cluster.accelerators_per_node", len(devices), line)
    kinds = {each.pci or _bracketed_name(each.name) for each in devices}
    for kind in sorted(kinds):
        entry = None if ":" in kind else accelerator_of_product(kind)
        if ":" in kind:
            set_accelerator(kind, builder, line)
        elif entry and len(kinds) == 1:
            builder.set("cluster.accelerator", entry, line)
        else:
            builder.unknown(f"accelerator {kind}", "no catalog entry of this name", line)
    _record_links(devices, "host", builder)


def _bracketed_name(name: str) -> str:
    """The product name in brackets, as in the PCI ID repository: ``GH100 [H100 SXM5 80GB]``."""
    inside = re.findall(r"\[([^\[\]]+)\]", name.split("(prog-if", maxsplit=1)[0])
    return inside[-1] if inside else excerpt(name)


def _record_nics(devices: list[PciDevice], builder: ImportBuilder) -> None:
    builder.count("nics", len(devices), devices[0].line if devices else 0)
    kinds = Counter(_nic_name(each) for each in devices)
    for kind, count in kinds.items():
        line = next(each.line for each in devices if _nic_name(each) == kind)
        builder.count(f"nics_{kind}", count, line)
    if devices:
        builder.unknown(
            "cluster.scale_out.nics_per_node", "lspci does not show which network a NIC serves", devices[0].line
        )
        _record_links(devices, "nic", builder)


def _nic_name(device: PciDevice) -> str:
    if device.pci in PCI_NICS:
        return PCI_NICS[device.pci]
    return next(
        (entry for pattern, entry in _NIC_NAMES if re.search(pattern, device.name)), _bracketed_name(device.name)
    )


def _record_links(devices: list[PciDevice], key: str, builder: ImportBuilder) -> None:
    """Record the PCIe generation if all links agree; list links that run below their capability."""
    could = {GENERATIONS.get(each.links["Cap"][0]) for each in devices if "Cap" in each.links}
    if len(could) == 1 and None not in could:
        builder.set(f"cluster.pcie.{key}", could.pop(), devices[0].line)
    for each in devices:
        if {"Cap", "Sta"} <= set(each.links) and each.links["Sta"] < each.links["Cap"]:
            (speed, width), (best, widest) = each.links["Sta"], each.links["Cap"]
            what = f"link of {each.address}: {speed:g} GT/s x{width} instead of {best:g} GT/s x{widest}"
            builder.unknown(what, "an idle device may lower its link speed; under load this is a fault", each.line)


def _record_bridges(devices: list[PciDevice], builder: ImportBuilder) -> None:
    bridges = [each for each in devices if "bridge" in each.kind.lower()]
    acs = [each for each in bridges if each.acs]
    if acs:
        what = f"access control (ACS) is on in {len(acs)} bridges"
        builder.count("bridges_with_acs", len(acs), acs[0].line)
        builder.unknown(what, "peer-to-peer traffic then passes through the CPU, which slows GPUDirect", acs[0].line)
    switches = sum(1 for each in bridges if "NVSwitch" in each.name or _is_nvlink_bridge(each))
    builder.count("nvswitches", switches or None, devices[0].line)


def _is_nvlink_bridge(device: PciDevice) -> bool:
    """Whether a device of the class "other bridge" is an NVSwitch: it is from NVIDIA and has no name."""
    return device.kind.strip() == "Bridge" and bool(_UNNAMED.match(device.name)) and device.name.startswith("NVIDIA")


# NCCL and RCCL topology files: plans (`NCCL_TOPO_FILE`) and dumps (`NCCL_TOPO_DUMP_FILE`).
#
# Grammar (NCCL, src/graph/xml.cc): ``system`` holds ``cpu`` (numaid), which holds ``pci`` (busid, class, vendor,
# device, link_speed) and ``nic``; a ``pci`` may hold a ``gpu`` with ``nvlink`` or ``xgmi`` (target, count, tclass) and
# a ``nic`` with ``net`` (name, speed in Mb/s, gdr). A file whose root is ``graphs`` is a graph file, another thing

NCCL_TOPO = "nccl-topo"
ACCELERATOR_CLASSES = ("0x0300", "0x0302", "0x0380", "0x1200")
NIC_CLASSES = ("0x0200", "0x0207", "0x0280")
SWITCH_CLASS = "0x0680"
"""The PCI class of "other bridge", which NVSwitches have."""
_TWO_DEVICES_A_PACKAGE = {"1002:7408", "1002:740c"}
"""MI250 and MI250X, whose packages appear as two devices. Source: AMD, CDNA 2 white paper."""


def matches_nccl_topo(file: InputFile) -> bool:
    return file.head.lstrip().startswith("<") and bool(re.search(r"<(system|graphs)[\s>]", file.text))


def read_nccl_topo(file: InputFile) -> ImportResult:
    """The node of a topology file. Raises `FormatError` for other XML and for graph files."""
    root = parse_xml(file)
    if root.tag == "graphs":
        why = "is an NCCL graph file (root `graphs`: channels and rings), not a topology: give NCCL_TOPO_DUMP_FILE"
        raise FormatError(why, root.line)
    if root.tag != "system":
        raise FormatError(f"its root is `{excerpt(root.tag)}`, and a topology file has `system`", root.line)
    builder = ImportBuilder(NCCL_TOPO, file.name)
    cpus = root.descendants("cpu")
    builder.count("numa_nodes", len({cpu.get("numaid") for cpu in cpus}) or None, root.line)
    accelerators, halves = accelerator_elements(root, builder)
    _record_link_elements(accelerators, builder, halves)
    _record_nic_elements(root, builder)
    return builder.reading()


def _pci_id(pci: Element) -> str:
    vendor, device = pci.get("vendor").removeprefix("0x"), pci.get("device").removeprefix("0x")
    return f"{vendor}:{device}" if vendor and device else ""


def accelerator_elements(root: Element, builder: ImportBuilder) -> tuple[list[Element], int]:
    """The PCI elements of accelerators and the number of elements per package. Accelerators have a ``gpu``, or in a
    plan the class.
    """
    every = root.descendants("pci")
    found = [pci for pci in every if any(child.tag == "gpu" for child in pci.children)]
    found = found or [pci for pci in every if pci.get("class").startswith(ACCELERATOR_CLASSES)]
    without = [pci for pci in every if not pci.get("class") and not pci.children]
    if without:
        what = f"{len(without)} PCI devices ({', '.join(pci.get('busid') for pci in without[:9])})"
        builder.count("pci_devices", len(without), without[0].line)
        builder.unknown(what, "the file does not state their class, so accelerators are unknown", without[0].line)
    if not found:
        return [], 1
    line, ids = found[0].line, Counter(_pci_id(pci) for pci in found)
    pci_id = next(iter(ids))
    halves = 2 if len(ids) == 1 and pci_id in _TWO_DEVICES_A_PACKAGE and len(found) % 2 == 0 else 1
    builder.count("devices", len(found), line)
    builder.count("accelerators", len(found) // halves, line)
    builder.set("cluster.accelerators_per_node", len(found) // halves, line)
    if halves == 2:
        builder.set("cluster.ranks_per_accelerator", 2, line)
    for each in ids:
        if each:
            set_accelerator(each, builder, line)
    if not any(ids):
        builder.unknown("cluster.accelerator", "the file holds no vendor and device of its accelerators", line)
    _record_pcie(found, "accelerators", builder)
    return found, halves


def _record_pcie(devices: list[Element], name: str, builder: ImportBuilder) -> None:
    """Record the PCIe generation if all devices agree. Virtual machines may report a wrong generation."""
    speeds = {match[0] for pci in devices if (match := re.match(r"[0-9.]+", pci.get("link_speed")))}
    found = {GENERATIONS.get(float(speed)) for speed in speeds if re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,2})?", speed)}
    if len(found) == 1:
        builder.count(f"pcie_generation_of_{name}", found.pop(), devices[0].line)


def _record_link_elements(accelerators: list[Element], builder: ImportBuilder, halves: int) -> None:
    own: dict[str, int] = {}
    pairs: dict[tuple[str, str], int] = {}
    switches: set[str] = set()
    edges = 0
    bus = {pci.get("busid") for pci in accelerators}
    elements = [link for pci in accelerators for link in pci.descendants("nvlink", "xgmi")]
    if not elements:
        if accelerators:
            why = "the file is a plan without links: give a dump, or `nvidia-smi topo -m`"
            builder.unknown("cluster.scale_up", why, accelerators[0].line)
        return
    for link in elements:
        one, other, count = _link_busid(link), link.get("target"), _link_count(link)
        own[one] = own.get(one, 0) + count
        if link.get("tclass").startswith(SWITCH_CLASS):
            switches.add(other)
            edges += 1
        elif other in bus and other != one:
            pairs[one, other] = count
    names = tuple(pci.get("busid") for pci in accelerators)
    line = elements[0].line
    if switches:
        combined = {(one, other): own[one] for one in own for other in own if one != other}
        builder.count("nvswitches", len(switches), line)
        builder.count("links_to_switches", edges, line)
        record_links(NodeLinks(names, combined, switched=True, own=own), builder, line)
    elif pairs:
        record_links(NodeLinks(names, pairs), builder, line, halves)
    else:
        builder.count(
            "links_per_accelerator", next(iter(own.values())) if len(set(own.values())) == 1 else "uneven", line
        )
        builder.count("edges", 0, line)
        builder.unknown("cluster.scale_up", "every link points to its own accelerator: the peers are not stated", line)


def _link_busid(link: Element) -> str:
    """The PCI address of the accelerator at the start of a link."""
    element = link.parent
    while element is not None and element.tag != "pci":
        element = element.parent
    return element.get("busid") if element else ""


def _link_count(link: Element) -> int:
    count = link.get("count")
    if not count.isdecimal() or not 0 < len(count) <= 3:
        raise FormatError(f"a link whose count is {excerpt(count)!r}", link.line)
    return int(count)


def _record_nic_elements(root: Element, builder: ImportBuilder) -> None:
    nets = _distinct_nets(root)
    devices = [pci for pci in root.descendants("pci") if pci.get("class").startswith(NIC_CLASSES)]
    count = len(nets) or len(devices)
    if not count:
        return
    line = (nets or devices)[0].line
    builder.count("nics", count, line)
    if nets and devices and len(nets) != len(devices):
        builder.count("nic_devices", len(devices), devices[0].line)
    builder.set("cluster.scale_out.nics_per_node", count, line)
    rates = {gigabits(float(net.get("speed"))) for net in nets if re.fullmatch(r"[0-9]{1,12}", net.get("speed"))}
    rate = next(iter(rates)) if len(rates) == 1 else None
    if len(rates) > 1:
        builder.unknown("cluster.scale_out.nic_bandwidth", f"NICs of different speeds: {sorted(rates)} Gb/s", line)
    direct = {net.get("gdr") for net in nets if net.get("gdr")}
    if len(direct) == 1 and rate:
        builder.set("cluster.scale_out.gpudirect_rdma", direct == {"1"}, line)
    set_rate(rate, _network_family(devices), builder, line)
    ids = {_pci_id(pci) for pci in devices} - {""}
    if len(ids) == 1 and (nic := PCI_NICS.get(next(iter(ids)))):
        builder.set("cluster.scale_out.nic", nic, line)
    if devices:
        _record_pcie(devices, "nics", builder)


def _distinct_nets(root: Element) -> list[Element]:
    """The networks of a node, without repetitions. NCCL attaches a network without a PCI device to the first CPU that a
    rank knows (NVIDIA/nccl, src/graph/xml.cc, ``ncclTopoFillNet``) and merges the ranks of a node, so networks with
    equal names are one interface.
    """
    nets = root.descendants("net")
    virtual = [net for net in nets if net.parent and net.parent.parent and net.parent.parent.tag == "cpu"]
    first = {(net.get("name"), net.get("dev")): net for net in reversed(virtual) if net.get("name") and net.get("dev")}
    repeated = {id(net) for net in virtual if first.get((net.get("name"), net.get("dev")), net) is not net}
    return [net for net in nets if id(net) not in repeated]


def _network_family(devices: list[Element]) -> str:
    """The network family of the NICs by PCI class and vendor; empty if it is ambiguous."""
    vendors = {pci.get("vendor").removeprefix("0x") for pci in devices}
    classes = {pci.get("class")[:6] for pci in devices}
    if vendors == {"1d0f"}:
        return "efa-" + "".join(sorted({pci.get("device").removeprefix("0x") for pci in devices}))
    if vendors == {"17db"}:
        return "slingshot"
    if classes == {"0x0207"}:
        return "infiniband"
    return "roce" if vendors == {"15b3"} and classes == {"0x0200"} else ""
