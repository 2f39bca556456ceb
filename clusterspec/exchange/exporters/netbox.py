"""Device types of NetBox (YAML documents): the node and each kind of switch of a design.

Grammar: netbox-community/devicetype-library 014cd468, schema/devicetype.json: ``manufacturer``, ``model``, ``slug``,
``u_height`` in rack units and ``is_full_depth`` are required. An interface has a ``name`` and a ``type`` of
schema/generated_schema.json at 03f56bb4, which names the rate of a port in one direction, and the form of its cage for
Ethernet.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from clusterspec.catalog.entries import Interconnect, Switch
from clusterspec.cluster.model import Cluster
from clusterspec.exchange.exporters.registry import ExportedFile, ExportInput, MissingPart, NotExportable
from clusterspec.records import dataclass

ETHERNET_TYPES = frozenset(
    {
        "25gbase-x-sfp28",
        "40gbase-x-qsfpp",
        "100gbase-x-qsfp28",
        "200gbase-x-qsfp56",
        "200gbase-x-qsfpdd",
        "400gbase-x-osfp",
        "400gbase-x-qsfp112",
        "400gbase-x-qsfpdd",
        "800gbase-x-osfp",
        "800gbase-x-qsfpdd",
    }
)
ETHERNET_FAMILIES = frozenset({"ethernet", "roce", "tcp", "ultra-ethernet"})
INFINIBAND_TYPES = {"EDR": 100, "HDR": 200, "NDR": 400, "XDR": 800}
"""Gb/s of a port of four lanes in one direction, by generation."""
OTHER = "other"
"""The interface type for ports that have no type of their own in the grammar."""


@dataclass(frozen=True)
class DeviceType:
    """A kind of device: the names of its interfaces, which all have the same type."""

    maker: str
    model: str
    rack_units: int | None
    interfaces: tuple[str, ...]
    type: str

    def lines(self) -> Iterator[str]:
        slug = re.sub(r"[^a-z0-9]+", "-", f"{self.maker} {self.model}".lower()).strip("-")
        yield from ("---", f"manufacturer: {json.dumps(self.maker)}", f"model: {json.dumps(self.model[:100])}")
        yield from (f"slug: {slug[:100]}", f"u_height: {self.rack_units}", "is_full_depth: true")
        yield from ("interfaces:",) if self.interfaces else ()
        yield from (f"- {{name: {name}, type: {self.type}}}" for name in self.interfaces)


def write(source: ExportInput) -> ExportedFile:
    """The device types. Raises `NotExportable` if no device has a known height."""
    cluster = source.cluster
    if cluster.cloud:
        raise NotExportable("the machine is rented from a cloud, which has no devices to rack")
    found = tuple(_device_types(cluster))
    whole = tuple(each for each in found if each.rack_units)
    if not whole:
        raise MissingPart("neither the platform nor a switch has a known height in rack units")
    content = "\n".join(line for each in whole for line in each.lines()) + "\n"
    return ExportedFile(content, tuple(_omission_texts(cluster, found)))


def _device_types(cluster: Cluster) -> Iterator[DeviceType]:
    fabric, platform = cluster.scale_out, cluster.platform
    if platform is not None and fabric is not None:
        model = f"{platform.name} node" if platform.form == "rack" else platform.name
        rate = fabric.nic_bandwidth.value / fabric.planes
        kind = _interface_type(fabric.technology, rate, platform.connector)
        yield DeviceType(platform.vendor, model, platform.rack_units, tuple(_nic_ports(cluster)), kind)
    if fabric is not None and fabric.switch is not None:
        yield _switch_type(fabric.switch, fabric.technology)
    used = {fabric.switch.id} if fabric is not None and fabric.switch is not None else set()
    others = {switch.id: switch for _, switch in cluster.network_switches if switch.id not in used}
    yield from (_switch_type(switch, None) for switch in others.values())


def _nic_ports(cluster: Cluster) -> Iterator[str]:
    """The ports of the NICs of a node, one for each plane, with the names of the cabling list."""
    fabric = cluster.scale_out
    assert fabric is not None
    for nic in range(fabric.nics_per_node):
        yield from (f"nic{nic}" + (f"-plane{plane + 1}" if fabric.planes > 1 else "") for plane in range(fabric.planes))


def _switch_type(switch: Switch, technology: Interconnect | None) -> DeviceType:
    rate = switch.port_bandwidth.value if switch.port_bandwidth else 0.0
    names = tuple(f"port{number + 1}" for number in range(switch.ports or 0))
    kind = _interface_type(technology, rate, switch.connector, switch.families)
    return DeviceType(switch.vendor, switch.name, switch.rack_units, names, kind)


def _interface_type(
    technology: Interconnect | None, rate: float, connector: str | None, families: tuple[str, ...] = ()
) -> str:
    """The type of a port of a rate in B/s per direction."""
    gigabits = round(rate * 8 / 1e9)
    family = technology.family if technology else next(iter(families), "")
    if family == "infiniband":
        names = (technology.generation,) if technology and not families else tuple(INFINIBAND_TYPES)
        named = next((name for name in names if INFINIBAND_TYPES.get(name) == gigabits), None)
        return f"infiniband-{named.lower()}" if named else OTHER
    form = (connector or "").lower().replace("-", "")
    plain = f"{gigabits}gbase-x-{form}"
    return plain if plain in ETHERNET_TYPES and family in ETHERNET_FAMILIES else OTHER


def _omission_texts(cluster: Cluster, found: tuple[DeviceType, ...]) -> Iterator[str]:
    yield "the depth of devices: not known, written as full, the default of NetBox"
    yield "power inlets, consoles, weight, airflow and ports for management: their forms are not known"
    yield "networks other than the accelerators' at the node"
    yield "devices and cables: device types state kinds, not pieces (`cabling` lists the links)"
    if cluster.platform is None:
        yield "the node: the spec names no platform"
    if cluster.scale_out is None or cluster.scale_out.switch is None:
        yield "switches of the fabric: the spec names none"
    for each in found:
        if not each.rack_units:
            yield f"{each.model}: its height in rack units is not known"
        elif each.type == OTHER and each.interfaces:
            yield f"the rate and form of the ports of {each.model}: the grammar has no name for them"
