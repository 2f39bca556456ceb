"""Resolves the fabric between nodes: from the spec, the platform, or the accelerator's typical NIC."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterspec.catalog.entries import (
    ETHERNET,
    Accelerator,
    Interconnect,
    Nic,
    Optics,
    Platform,
    Switch,
    carries_family,
)
from clusterspec.cluster.model import Level, ScaleOut
from clusterspec.cluster.resolution import Parts, ResolutionLog
from clusterspec.quantity import Bandwidth
from clusterspec.records import dataclass
from clusterspec.source import Path, Written
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
"""The catalog switch of reference designs with a technology, where a spec names none."""


@dataclass(frozen=True)
class _FabricSources:
    """The sources that describe the fabric: the spec, and the entries that supply absent keys."""

    parts: Parts
    section: ScaleOutSpec
    nic: Nic | None
    """The NIC that the spec or the platform names."""
    needed: bool
    """Whether the fabric is the only connection between the nodes."""

    @property
    def log(self) -> ResolutionLog:
        return self.parts.log

    def report_missing(self, key: str, why: str, remedy: str) -> None:
        """Reports a missing key of the fabric where the machine requires one."""
        if self.needed:
            self.log.report_missing((*PATH, key), why, remedy)


def resolve_scale_out(parts: Parts, domain: int) -> ScaleOut | None:
    """The scale-out tier; None for one node that names no fabric, or where a problem states the reason.

    ``domain`` is the scale-up domain in accelerators: within it no other fabric is needed.
    """
    nodes = parts.nodes + (parts.section.spare_nodes or 0)
    offered = parts.platform is not None and bool(parts.platform.technologies)
    if parts.section.scale_out is None and ((nodes == 1 and not offered) or parts.log.unreadable(PATH)):
        return None
    section = parts.section.scale_out or ScaleOutSpec()
    sources = _FabricSources(parts, section, _named_nic(section, parts), needed=nodes * parts.per_node > domain)
    technology = _fabric_technology(sources)
    if technology is None:
        return None
    rate = _nic_bandwidth(sources, technology)
    nics = _nic_count(sources, technology)
    if rate is None or not nics:
        return None
    return _scale_out(sources, technology, nics, rate)


def _named_nic(section: ScaleOutSpec, parts: Parts) -> Nic | None:
    if section.nic is not None:
        return parts.lookup.nic(section.nic, (*PATH, "nic"))
    named = parts.platform.nic if parts.platform is not None else None
    entry = parts.lookup.named_entry("nic", named) if named else None
    return entry if isinstance(entry, Nic) else None


def nic_rate(nic: Nic | None) -> Bandwidth | None:
    """The line rate of a whole NIC, B/s per direction: the rate of a port times the ports; None if unknown."""
    if nic is None or nic.port_bandwidth is None:
        return None
    ports = nic.ports or 1
    return (
        nic.port_bandwidth
        if ports == 1
        else Bandwidth.line_rate(ports * nic.port_bandwidth.value, nic.port_bandwidth.origin)
    )


def _fabric_technology(sources: _FabricSources) -> Interconnect | None:
    path, stated = (*PATH, "technology"), sources.section.technology
    if stated is not None:
        usual = _usual_technology(sources.parts)
        return _technology_of_family(sources, stated) or sources.parts.lookup.interconnect(stated, path, usual=usual)
    if sources.log.unreadable(path):
        return None
    name = _supplied_technology(sources)
    entry = sources.parts.lookup.named_entry("interconnect", name) if name else None
    if isinstance(entry, Interconnect):
        return entry
    sources.report_missing("technology", "no network between the nodes is described", "name it, such as infiniband-ndr")
    return None


def _technology_of_family(sources: _FabricSources, name: str) -> Interconnect | None:
    """The generation that the name of a family means: the one with the rate of the stated NICs, else the usual one of
    the machine. None for other names, and where several generations are possible.
    """
    lookup = sources.parts.lookup
    members = lookup.catalog.family("interconnect", name)
    if len(members) < 2:
        return None
    rate = _stated_rate(sources)
    entries = [lookup.named_entry("interconnect", each) for each in members]
    found = [
        each
        for each in entries
        if isinstance(each, Interconnect)
        and each.bandwidth is not None
        and (each.id in _offered_technologies(sources.parts) if rate is None else _has_rate(each.bandwidth, rate))
    ]
    if len(found) != 1:
        return None
    from clusterspec.cluster.unknown_names import family_problem  # most specs name a generation
    from clusterspec.units import display_bits

    why = "the machine has" if rate is None else f"NICs of {display_bits(rate.value)} have"
    sources.log.problems.append(family_problem(name, found[0].id, why, (*PATH, "technology")))
    return found[0]


def _has_rate(one: Bandwidth, other: Bandwidth) -> bool:
    """Whether two line rates are the same but for rounding."""
    return abs(one.value / other.value - 1) < 0.01 if other.value else False


def _offered_technologies(parts: Parts) -> tuple[str, ...]:
    """The technologies that are sold with the platform, else the usual one of the accelerator."""
    if parts.platform is not None and parts.platform.technologies:
        return parts.platform.technologies
    return (parts.accelerator.scale_out,) if parts.accelerator.scale_out else ()


def _usual_technology(parts: Parts) -> str:
    """The technology that is sold with the platform, else with the accelerator, as a clause; empty if neither states
    one.
    """
    if parts.platform is not None and parts.platform.technologies:
        return f"{parts.platform.id} has `{parts.platform.technologies[0]}`"
    return f"{parts.accelerator.id} has `{parts.accelerator.scale_out}`" if parts.accelerator.scale_out else ""


def _supplied_technology(sources: _FabricSources) -> str | None:
    """The usual technology of the machine, or another one if the stated parts cannot carry the usual one."""
    key, platform, accelerator = f"{KEY}.technology", sources.parts.platform, sources.parts.accelerator
    offered = platform.technologies if platform is not None else ()
    usual = offered or ((accelerator.scale_out,) if accelerator.scale_out else ())
    stated = {} if platform is not None and platform.cloud else _stated_families(sources)
    entry = sources.parts.lookup.named_entry("interconnect", usual[0]) if usual else None
    family = entry.family if isinstance(entry, Interconnect) else ""
    if not all(carries_family(families, family) for families in stated.values()):
        fitting = next((name for name in (*usual, *USUAL_SWITCH) if _suits_stated_parts(sources, name, stated)), None)
        if fitting is not None:
            return sources.log.assume(key, fitting, f"what {' and '.join(stated)} can carry")
    if not usual or len(offered) == 1:
        return next(iter(usual), None)
    why = f"the first technology of {platform.id}" if platform and offered else f"typical of {accelerator.id}"
    return sources.log.assume(key, usual[0], why)


def _stated_families(sources: _FabricSources) -> dict[str, tuple[str, ...]]:
    """For each stated part or setting of the fabric, by name: the families of technologies that it supports."""
    section, lookup = sources.section, sources.parts.lookup
    named = [
        lookup.named_entry(kind, name) for kind, name in (("switch", section.switch), ("nic", section.nic)) if name
    ]
    found = {part.id: part.families for part in named if isinstance(part, Nic | Switch) and part.families}
    if section.flow_control is not None:
        found["flow_control"] = tuple(ETHERNET - {"tcp"})
    if section.subnet_manager is not None:
        found["subnet_manager"] = ("infiniband",)
    return found


def _suits_stated_parts(sources: _FabricSources, name: str, stated_families: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether all stated parts support a technology, and its line rate, if it has one, equals the line rate of the
    stated NICs.
    """
    technology, rate = sources.parts.lookup.named_entry("interconnect", name), _stated_rate(sources)
    return (
        isinstance(technology, Interconnect)
        and all(carries_family(families, technology.family) for families in stated_families.values())
        and (rate is None or technology.bandwidth is None or _has_rate(rate, technology.bandwidth))
    )


def _stated_rate(sources: _FabricSources) -> Bandwidth | None:
    """The line rate of one NIC as written, else the rate of the NIC that the spec names."""
    if sources.section.nic_bandwidth is not None:
        return Bandwidth.of(sources.section.nic_bandwidth, Written(f"{KEY}.nic_bandwidth"))
    return nic_rate(sources.nic) if sources.section.nic else None


def _nic_bandwidth(sources: _FabricSources, technology: Interconnect) -> Bandwidth | None:
    """The line rate of one NIC: as written, else from the named NIC, the platform, the named technology, or the typical
    NIC.
    """
    stated = _stated_rate(sources)
    if stated is not None:
        return stated
    if sources.parts.platform is not None and sources.parts.platform.nic_bandwidth is not None:
        return sources.parts.platform.nic_bandwidth
    named = technology.bandwidth if sources.section.technology else None
    typical = sources.parts.accelerator.nic_bandwidth
    supplied = named or typical or technology.bandwidth
    if supplied is None:
        sources.report_missing("nic_bandwidth", "no catalog entry supplies it", "state the line rate of one NIC")
        return None
    of = (
        f"the typical NIC of {sources.parts.accelerator.id}"
        if supplied is typical
        else f"the usual rate of {technology.id}"
    )
    return sources.log.assume(f"{KEY}.nic_bandwidth", supplied, of)


def _nic_count(sources: _FabricSources, technology: Interconnect) -> int | None:
    section = sources.section.nics_per_node
    if section is not None:
        return section
    if sources.parts.platform is not None and sources.parts.platform.nics_per_node:
        return sources.parts.platform.nics_per_node
    if sources.log.unreadable((*PATH, "nics_per_node")):
        return None
    key = f"{KEY}.nics_per_node"
    if technology.cloud and technology.links:
        return sources.log.assume(key, technology.links, f"what an instance with {technology.id} has")
    share = sources.parts.accelerator.nics_per_accelerator
    if share:
        nics = max(1, round(sources.parts.per_node * share))
        return sources.log.assume(key, nics, f"{share:g} per accelerator is typical of {sources.parts.accelerator.id}")
    sources.report_missing("nics_per_node", "no catalog entry supplies it", "state the number of NICs per node")
    return None


def _scale_out(sources: _FabricSources, technology: Interconnect, nics: int, rate: Bandwidth) -> ScaleOut:
    section, log = sources.section, sources.log
    topology = section.topology or _topology_of_rails(section, log)
    planes = log.written_or_assumed(section.planes, f"{KEY}.planes", 1, "one fabric carries every NIC")
    switch = _leaf_switch(sources, technology, rate.value / planes)
    ports = section.switch_ports or broken_out_ports(switch, rate.value / planes)
    platform = sources.parts.platform
    pfc, ecn = (section.flow_control.pfc, section.flow_control.ecn) if section.flow_control else (None, None)
    return ScaleOut(
        technology=technology,
        nics_per_node=nics,
        nic_bandwidth=rate,
        topology=topology,
        oversubscription=_resolved_oversubscription(section, log),
        planes=planes,
        rails=section.rails or (nics if topology in RAIL_TOPOLOGIES else 1),
        tiers=section.tiers
        or _tiers_of_switches(section, topology, log)
        or _tiers_of_spines(sources, topology, ports, nics),
        pod_nodes=section.pod_nodes,
        switch=switch,
        switch_ports=ports,
        levels=_resolved_levels(section, log),
        extra_endpoints=section.extra_endpoints or 0,
        in_network_reduction=log.written_or_assumed(
            section.in_network_reduction, f"{KEY}.in_network_reduction", False, "SHARP is used only where it is stated"
        ),
        collective_plugin=_collective_plugin(sources, technology),
        gpudirect_rdma=_has_gpudirect_rdma(sources, technology),
        sharing=log.written_or_assumed(
            section.sharing, f"{KEY}.sharing", "exclusive", "the spec names no other job on the fabric"
        ),
        load_balancing=section.load_balancing,
        pfc=platform.pfc if pfc is None and platform else pfc,
        ecn=platform.ecn if ecn is None and platform else ecn,
        placement=section.placement,
        nic=sources.nic,
        collective_library=section.collective_library,
        optics=tuple(_named_optics(sources)),
    )


def _topology_of_rails(section: ScaleOutSpec, log: ResolutionLog) -> str:
    """The topology of a fabric that states none: rail-optimized if the spec states several rails."""
    if section.rails is None or section.rails < 2:
        return "unknown"
    return log.assume(f"{KEY}.topology", "rail-optimized", "the spec states `rails` and no topology")


def _tiers_of_switches(section: ScaleOutSpec, topology: str, log: ResolutionLog) -> int | None:
    """Tiers of each rail's own switch tree, from the spec's spine or core switches; None if it states neither."""
    if topology != "rail-only" or section.levels:
        return None
    for key, tiers in (("core_switches", 3), ("spine_switches", 2)):
        if getattr(section, key):
            return log.assume(f"{KEY}.tiers", tiers, f"the spec states `{key}`")
    return None


def _tiers_of_spines(sources: _FabricSources, topology: str, ports: int | None, nics: int) -> int | None:
    """Two tiers if the spec states leaves and spines although one switch could connect all endpoints; else None."""
    section = sources.section
    several = (section.leaf_switches or 0) > 1 and bool(section.spine_switches)
    endpoints = (sources.parts.nodes or 0) * nics // (section.planes or 1) + (section.extra_endpoints or 0)
    if not several or topology in {"single-switch", "rail-only"} or section.levels or not ports or endpoints > ports:
        return None
    return sources.log.assume(f"{KEY}.tiers", 2, "the spec states `leaf_switches` and `spine_switches`")


def _named_optics(sources: _FabricSources) -> Iterator[tuple[str, tuple[Optics, ...]]]:
    for level, names in (sources.section.optics or {}).items():
        at = [(*PATH, "optics", level, *((end,) if len(names) > 1 else ())) for end in range(len(names))]
        ends = [sources.parts.lookup.optics(name, path) for name, path in zip(names, at, strict=True)]
        known = tuple(end for end in ends if end is not None)
        if known and len(known) == len(names):
            yield level, known


def _leaf_switch(sources: _FabricSources, technology: Interconnect, rate: float) -> Switch | None:
    """The stated switch; else the usual one, where it has ports of ``rate`` (B/s per direction)."""
    section, platform = sources.section, sources.parts.platform
    if section.switch is not None:
        return sources.parts.lookup.switch(section.switch, (*PATH, "switch"))
    rented = technology.cloud or (platform is not None and platform.cloud)
    if section.topology == "direct":
        return None
    sized = section.switch_ports or (section.levels and all(level.switch_ports for level in section.levels))
    if sized or rented or sources.parts.nodes == 1:
        return None
    usual = sources.parts.lookup.named_entry("switch", USUAL_SWITCH.get(technology.id, ""))
    if not isinstance(usual, Switch) or (usual.splits and (broken_out_ports(usual, rate) or 0) > usual.splits):
        return None
    sources.log.assume(f"{KEY}.switch", usual.id, f"usual for {technology.id}")
    return usual


def broken_out_ports(switch: Switch | None, rate: float) -> int | None:
    """Ports of a switch at ``rate`` (B/s per direction), by even breakout of its ports; None if no port reaches it.

    A port runs below its rate only where it is split: 64 ports of 800 Gb/s are 128 at 400 Gb/s.
    """
    if switch is None or switch.ports is None or switch.port_bandwidth is None or rate <= 0:
        return None
    split = round(switch.port_bandwidth.value / rate, 6)
    return switch.ports * int(split) or None


def _resolved_oversubscription(section: ScaleOutSpec, log: ResolutionLog) -> tuple[float, ...]:
    written = tuple(ratio.value for ratio in section.oversubscription or () if ratio.value > 0)
    if written or section.levels:
        return written or tuple(_resolved_level(level, 0).oversubscription for level in section.levels or ())
    return log.assume(f"{KEY}.oversubscription", (1.0,), "a leaf has as much uplink as downlink bandwidth")


def _resolved_levels(section: ScaleOutSpec, log: ResolutionLog) -> tuple[Level, ...]:
    """The stated levels. All traffic through the level below crosses a level without a stated block size."""
    levels = tuple(_resolved_level(level, index) for index, level in enumerate(section.levels or ()))
    below = 1
    for index, level in enumerate(levels[:-1]):
        if level.nodes is None:
            why = (
                "traffic that leaves a block of the level below crosses this one too"
                if index
                else "all traffic crosses it"
            )
            log.assume(f"{KEY}.levels[{index}].nodes", below, why)
        below = level.nodes or below
    return levels


def _resolved_level(section: LevelSpec, index: int) -> Level:
    name = section.name or (LEVEL_NAMES[index] if index < len(LEVEL_NAMES) else f"level {index + 1}")
    ratio = section.oversubscription.value if section.oversubscription and section.oversubscription.value > 0 else 1.0
    uplink = section.uplink_bandwidth
    key = f"{KEY}.levels[{index}].uplink_bandwidth"
    return Level(
        name,
        section.nodes,
        ratio,
        section.switch_ports,
        Bandwidth.of(uplink, Written(key)) if uplink else None,
        section.count,
    )


def _has_gpudirect_rdma(sources: _FabricSources, technology: Interconnect) -> bool:
    lacking = parts_without_gpudirect(sources.parts.accelerator, sources.parts.platform, sources.nic)
    why = f"{technology.id} {'has' if technology.rdma else 'has no'} remote direct memory access"
    if lacking and technology.rdma:
        why = f"{lacking[0]} has no GPUDirect RDMA"
    default = technology.rdma and not lacking
    return sources.log.written_or_assumed(sources.section.gpudirect_rdma, f"{KEY}.gpudirect_rdma", default, why)


def parts_without_gpudirect(accelerator: Accelerator, platform: Platform | None, nic: Nic | None) -> list[str]:
    """The ids of the parts of a node that are known to lack GPUDirect RDMA."""
    return [part.id for part in (accelerator, platform, nic) if part is not None and part.gpudirect_rdma is False]


def _collective_plugin(sources: _FabricSources, technology: Interconnect) -> str | None:
    section = sources.section
    if section.collective_plugin is not None:
        return section.collective_plugin
    if section.in_network_reduction and REDUCING_PLUGIN in technology.plugins:
        return sources.log.assume(f"{KEY}.collective_plugin", REDUCING_PLUGIN, "it reduces in the switches")
    plugin = usual_plugin(sources.parts.accelerator.vendor, technology.plugins)
    if not plugin:
        return None
    return sources.log.assume(f"{KEY}.collective_plugin", plugin, f"the plugin of {technology.id}")


PLUGINS_OF_VENDORS = {"AMD": "aws-ofi-rccl", "AWS": "neuron", "Intel": "hccl"}
"""The plugins that serve only the collective library of one vendor."""
WITH_PLUGINS = frozenset({"", "NVIDIA", "AMD", "AWS"})
"""Vendors whose collective libraries use libfabric through a plugin. Intel's oneCCL calls libfabric directly."""
REDUCING_PLUGIN = "nccl-rdma-sharp"


def usual_plugin(vendor: str, plugins: tuple[str, ...]) -> str:
    """The plugin of a technology that supports the accelerators of a vendor; empty if its library needs none.

    >>> usual_plugin("AWS", ("aws-ofi-nccl", "neuron")), usual_plugin("NVIDIA", ("aws-ofi-nccl", "neuron"))
    ('neuron', 'aws-ofi-nccl')
    """
    own = PLUGINS_OF_VENDORS.get(vendor, "")
    if own in plugins:
        return own
    if vendor not in WITH_PLUGINS:
        return ""
    return next((name for name in plugins if name not in PLUGINS_OF_VENDORS.values()), plugins[0] if plugins else "")
