"""Resolves the fabric between nodes: from the spec, the platform, the accelerator's typical NIC."""

from __future__ import annotations

from dataclasses import dataclass

from clusterspec.catalog.entries import Interconnect, Nic, Switch
from clusterspec.cluster.model import Level, ScaleOut
from clusterspec.cluster.parts import Parts
from clusterspec.cluster.resolution_log import ResolutionLog, written_bandwidth
from clusterspec.quantity import Bandwidth
from clusterspec.source import Path
from clusterspec.spec.model import LevelSpec, ScaleOutSpec

KEY = "cluster.scale_out"
PATH: Path = ("cluster", "scale_out")
RAIL_TOPOLOGIES = ("rail-optimized", "rail-only")
LEVEL_NAMES = ("leaf", "spine", "core")
USUAL_SWITCH = {
    "infiniband-edr": "switch-ib-2-sb7800",
    "infiniband-hdr": "quantum-qm8700",
    "infiniband-ndr": "quantum-2-qm9700",
    "infiniband-xdr": "quantum-x800-q3400",
    "omni-path-100": "omni-path-100-edge",
    "omni-path-cn5000": "cn5000-48",
    "slingshot-11": "slingshot-rosetta",
    "roce-v2": "spectrum-4-sn5600",
    "spectrum-x": "spectrum-4-sn5600",
}
"""The catalog switch that reference designs build a technology with, where a spec names none."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What describes the fabric: the spec, and the entries that fill what it leaves out."""

    parts: Parts
    said: ScaleOutSpec
    nic: Nic | None
    """The NIC that the spec or the platform names."""
    needed: bool
    """Whether the nodes reach each other by nothing else."""

    @property
    def log(self) -> ResolutionLog:
        return self.parts.log

    def lacks(self, key: str, why: str, remedy: str) -> None:
        """Reports a missing key of the fabric where the machine cannot do without."""
        if self.needed:
            self.log.missing((*PATH, key), why, remedy)


def resolve_scale_out(parts: Parts, domain: int) -> ScaleOut | None:
    """The scale-out tier; None on one node that names none, or where a problem says why.

    ``domain`` is the scale-up domain in accelerators: within it no other fabric is needed.
    """
    nodes = parts.nodes + (parts.said.spare_nodes or 0)
    offered = parts.platform is not None and bool(parts.platform.technologies)
    if parts.said.scale_out is None and ((nodes == 1 and not offered) or parts.log.unreadable(PATH)):
        return None
    said = parts.said.scale_out or ScaleOutSpec()
    asked = _Asked(parts, said, _nic(said, parts), needed=nodes * parts.per_node > domain)
    technology = _technology(asked)
    if technology is None:
        return None
    rate = _nic_bandwidth(asked, technology)
    nics = _nics(asked, technology)
    if rate is None or not nics:
        return None
    return _fabric(asked, technology, nics, rate)


def _nic(said: ScaleOutSpec, parts: Parts) -> Nic | None:
    if said.nic is not None:
        return parts.lookup.nic(said.nic, (*PATH, "nic"))
    named = parts.platform.nic if parts.platform is not None else None
    entry = parts.lookup.known("nic", named) if named else None
    return entry if isinstance(entry, Nic) else None


def nic_rate(nic: Nic | None) -> Bandwidth | None:
    """The line rate of a whole NIC, B/s per direction: that of one port times its ports; None where not known."""
    if nic is None or nic.port_bandwidth is None:
        return None
    ports = nic.ports or 1
    return (
        nic.port_bandwidth
        if ports == 1
        else Bandwidth.line_rate(ports * nic.port_bandwidth.value, nic.port_bandwidth.origin)
    )


def _technology(asked: _Asked) -> Interconnect | None:
    path = (*PATH, "technology")
    if asked.said.technology is not None:
        return asked.parts.lookup.interconnect(asked.said.technology, path, other_than="scale-up")
    if asked.log.unreadable(path):
        return None
    name = _supplied_technology(asked)
    entry = asked.parts.lookup.known("interconnect", name) if name else None
    if isinstance(entry, Interconnect):
        return entry
    asked.lacks("technology", "nothing says how the nodes reach each other", "name it, such as infiniband-ndr")
    return None


def _supplied_technology(asked: _Asked) -> str | None:
    key, platform, accelerator = f"{KEY}.technology", asked.parts.platform, asked.parts.accelerator
    if platform is not None and platform.technologies:
        first, *others = platform.technologies
        return asked.log.assume(key, first, f"the first that {platform.id} comes with") if others else first
    if accelerator.scale_out:
        return asked.log.assume(key, accelerator.scale_out, f"typical of {accelerator.id}")
    return None


def _nic_bandwidth(asked: _Asked, technology: Interconnect) -> Bandwidth | None:
    """The line rate of one NIC: as written, of the NIC named, the platform, the technology named, the typical NIC."""
    key = f"{KEY}.nic_bandwidth"
    if asked.said.nic_bandwidth is not None:
        return written_bandwidth(asked.said.nic_bandwidth, key)
    of_nic = nic_rate(asked.nic) if asked.said.nic else None
    if of_nic is not None:
        return of_nic
    if asked.parts.platform is not None and asked.parts.platform.nic_bandwidth is not None:
        return asked.parts.platform.nic_bandwidth
    named = technology.bandwidth if asked.said.technology else None
    typical = asked.parts.accelerator.nic_bandwidth
    supplied = named or typical or technology.bandwidth
    if supplied is None:
        asked.lacks("nic_bandwidth", "no catalog entry supplies it", "say the line rate of one NIC")
        return None
    of = (
        f"the typical NIC of {asked.parts.accelerator.id}"
        if supplied is typical
        else f"the usual rate of {technology.id}"
    )
    asked.log.assume(key, supplied, of)
    return supplied


def _nics(asked: _Asked, technology: Interconnect) -> int | None:
    said = asked.said.nics_per_node
    if said is not None:
        return said
    if asked.parts.platform is not None and asked.parts.platform.nics_per_node:
        return asked.parts.platform.nics_per_node
    if asked.log.unreadable((*PATH, "nics_per_node")):
        return None
    key = f"{KEY}.nics_per_node"
    if technology.cloud and technology.links:
        return asked.log.assume(key, technology.links, f"what an instance with {technology.id} has")
    share = asked.parts.accelerator.nics_per_accelerator
    if share:
        nics = max(1, round(asked.parts.per_node * share))
        return asked.log.assume(key, nics, f"{share:g} per accelerator is typical of {asked.parts.accelerator.id}")
    asked.lacks("nics_per_node", "no catalog entry supplies it", "say how many NICs a node has")
    return None


def _fabric(asked: _Asked, technology: Interconnect, nics: int, rate: Bandwidth) -> ScaleOut:
    said, log = asked.said, asked.log
    topology = said.topology or "unknown"
    planes = max(1, log.either(said.planes, f"{KEY}.planes", 1, "one fabric carries every NIC"))
    switch = _switch(asked, technology)
    platform = asked.parts.platform
    pfc, ecn = (said.flow_control.pfc, said.flow_control.ecn) if said.flow_control else (None, None)
    return ScaleOut(
        technology=technology,
        nics_per_node=nics,
        nic_bandwidth=rate,
        topology=topology,
        oversubscription=_oversubscription(said, log),
        planes=planes,
        rails=max(1, said.rails or (nics if topology in RAIL_TOPOLOGIES else 1)),
        tiers=said.tiers,
        pod_nodes=said.pod_nodes,
        switch=switch,
        switch_ports=said.switch_ports or broken_out_ports(switch, rate.value / planes),
        levels=tuple(_level(level, index) for index, level in enumerate(said.levels or ())),
        extra_endpoints=said.extra_endpoints or 0,
        in_network_reduction=log.either(
            said.in_network_reduction, f"{KEY}.in_network_reduction", False, "SHARP is used only where it is stated"
        ),
        collective_plugin=_plugin(said, technology, log),
        gpudirect_rdma=_gpudirect(said, technology, log),
        sharing=log.either(said.sharing, f"{KEY}.sharing", "exclusive", "no other job is said to share the fabric"),
        load_balancing=said.load_balancing,
        pfc=platform.pfc if pfc is None and platform else pfc,
        ecn=platform.ecn if ecn is None and platform else ecn,
        placement=said.placement,
        nic=asked.nic,
        collective_library=said.collective_library,
    )


def _switch(asked: _Asked, technology: Interconnect) -> Switch | None:
    said, platform = asked.said, asked.parts.platform
    if said.switch is not None:
        return asked.parts.lookup.switch(said.switch, (*PATH, "switch"))
    rented = technology.cloud or (platform is not None and platform.cloud)
    sized = said.switch_ports or (said.levels and all(level.switch_ports for level in said.levels))
    if sized or rented or asked.parts.nodes == 1:
        return None
    usual = asked.parts.lookup.known("switch", USUAL_SWITCH.get(technology.id, ""))
    if not isinstance(usual, Switch):
        return None
    asked.log.assume(f"{KEY}.switch", usual.id, f"usual for {technology.id}")
    return usual


def broken_out_ports(switch: Switch | None, rate: float) -> int | None:
    """Ports of a switch at ``rate`` (B/s per direction): whole ports split evenly; None where it has none so fast.

    A port is never run below its rate without being split: 64 ports of 800 Gb/s are 128 at 400 Gb/s.
    """
    if switch is None or switch.ports is None or switch.port_bandwidth is None or rate <= 0:
        return None
    split = round(switch.port_bandwidth.value / rate, 6)
    return switch.ports * int(split) or None


def _oversubscription(said: ScaleOutSpec, log: ResolutionLog) -> tuple[float, ...]:
    written = tuple(ratio.value for ratio in said.oversubscription or () if ratio.value > 0)
    if written or said.levels:
        return written or tuple(_level(level, 0).oversubscription for level in said.levels or ())
    return log.assume(f"{KEY}.oversubscription", (1.0,), "as much goes up from a leaf as comes in")


def _level(said: LevelSpec, index: int) -> Level:
    name = said.name or (LEVEL_NAMES[index] if index < len(LEVEL_NAMES) else f"level {index + 1}")
    ratio = said.oversubscription.value if said.oversubscription and said.oversubscription.value > 0 else 1.0
    uplink = said.uplink_bandwidth
    key = f"{KEY}.levels[{index}].uplink_bandwidth"
    return Level(
        name, said.nodes, ratio, said.switch_ports, written_bandwidth(uplink, key) if uplink else None, said.count
    )


def _gpudirect(said: ScaleOutSpec, technology: Interconnect, log: ResolutionLog) -> bool:
    why = f"{technology.id} {'has' if technology.rdma else 'has no'} remote direct memory access"
    return log.either(said.gpudirect_rdma, f"{KEY}.gpudirect_rdma", technology.rdma, why)


def _plugin(said: ScaleOutSpec, technology: Interconnect, log: ResolutionLog) -> str | None:
    if said.collective_plugin is not None:
        return said.collective_plugin
    if not technology.plugins:
        return None
    why = f"the one that belongs to {technology.id}"
    return log.assume(f"{KEY}.collective_plugin", technology.plugins[0], why)
