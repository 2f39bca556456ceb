"""`lspci -vv`: accelerators, NICs and PCIe switches of a node, with the current and maximum speed of each link."""

from __future__ import annotations

import re
from collections import Counter

from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile
from clusterspec.exchange.machines.links import GENERATIONS, PCI_NICS, accelerator_of_product, set_accelerator
from clusterspec.records import dataclass, field

KIND = "lspci"
_DEVICE = re.compile(
    r"((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])\s++([^:\[]++)(?:\[([0-9a-f]{4})\])?:\s++(.*)$"
)
_IDS = re.compile(r"\[([0-9a-f]{4}:[0-9a-f]{4})\]")
_LINK = re.compile(r"\s*Lnk(Cap|Sta):.{0,100}?Speed ([0-9.]{1,16})GT/s[^,]{0,100}, Width x([0-9]+)")
_ACCELERATORS = ("3D controller", "Processing accelerators", "Display controller")
_NICS = ("Ethernet controller", "Infiniband controller", "InfiniBand controller", "Fabric controller")
_MAKERS = ("NVIDIA", "AMD", "Advanced Micro Devices", "Habana", "Amazon")
_NIC_NAMES = (
    (r"ConnectX-5", "connectx-5"),
    (r"ConnectX-6(?! ?(Dx|Lx))", "connectx-6"),
    (r"ConnectX-7", "connectx-7"),
    (r"ConnectX-8", "connectx-8"),
    (r"BlueField-3", "bluefield-3"),
)


@dataclass(slots=True)
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
        """Vendor and device id, as printed with ``-nn``."""
        ids: list[str] = _IDS.findall(self.name)
        return ids[-1] if ids else ""


def matches(file: InputFile) -> bool:
    return any(_DEVICE.match(line) for line in file.head.split("\n")[:200]) and (
        "LnkCap" in file.text or "bridge" in file.head
    )


def read(file: InputFile) -> ImportResult:
    """The relevant devices of a node. Raises `FormatError` if there are none."""
    builder, devices = ImportBuilder(KIND, file.name), list[PciDevice]()
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
    nics = [each for each in devices if each.kind.startswith(_NICS)]
    _record_accelerators(accelerators, builder)
    _record_nics(nics, builder)
    _record_bridges(devices, builder)
    return builder.reading()


def _is_accelerator_vendor(device: PciDevice) -> bool:
    return any(maker in device.name for maker in _MAKERS)


def _record_accelerators(devices: list[PciDevice], builder: ImportBuilder) -> None:
    builder.count("accelerators", len(devices), devices[0].line if devices else 0)
    if not devices:
        builder.unknown("cluster.accelerators_per_node", "no 3D controller or processing accelerator is listed")
        return
    line = devices[0].line
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
    inside = re.findall(r"\[([^\[\]]+)\]", name)
    return inside[-1] if inside else name[:60]


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
    switches = sum(1 for each in bridges if "NVSwitch" in each.name)
    builder.count("nvswitches", switches or None, devices[0].line)
