"""The drawings of a machine from a report: its node, a block with its leaves, the whole, a torus, and racks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.cluster.degrees import nodes_of_rack
from clusterspec.cluster.fabric import Fabric
from clusterspec.cluster.model import Cluster
from clusterspec.records import replace
from clusterspec.report.charts.domains import MOST_PLANES, DrawnDomain, domain_chart, torus_chart
from clusterspec.report.charts.machine import (
    DrawnBlock,
    DrawnNode,
    DrawnRow,
    block_chart,
    fabric_chart,
    node_chart,
)
from clusterspec.report.charts.racks import DrawnRacks, DrawnSwitches, rack_chart
from clusterspec.report.paper.blocks import Picture
from clusterspec.report.paper.link_drawings import path_picture
from clusterspec.results.facility import Facility
from clusterspec.results.full import FullReport
from clusterspec.results.machine import Machine, Rack
from clusterspec.units import display, display_bits, percent, plural


def machine_pictures(report: FullReport) -> tuple[Picture, ...]:
    """The drawings that the spec has numbers for; the path between two accelerators is the last one."""
    machine, cluster = report.machine, report.estimate.design.cluster
    if machine is None or cluster is None:
        return ()
    drawn = cluster_pictures(cluster)
    fabric = report.bill.bill.fabric
    if fabric is not None and fabric.leaf_switches:
        drawn += _fabric_pictures(machine, cluster, fabric)
    path = path_picture(report.pod)
    return (*drawn, *_rack_picture(machine, cluster, report), *((path,) if path else ()))


def cluster_pictures(cluster: Cluster) -> list[Picture]:
    """The drawings inside a scale-up domain: a node, a torus, the trays of a rack."""
    return [_node_picture(cluster), *_torus_picture(cluster), *_domain_picture(cluster)]


def _node_picture(cluster: Cluster) -> Picture:
    up, out = cluster.scale_up, cluster.scale_out
    nics = out.nics_per_node if out else 0
    spans = max(1, up.domain // cluster.accelerators_per_node)
    rate = f"{display(up.bandwidth.value, 'B/s')} each way per accelerator"
    name = up.interconnect.name if up.interconnect else up.topology
    links = up.topology if up.domain > 1 else "none"
    topology = {"switched": "through switches", "pcie": "through the host"}.get(
        up.topology, up.topology.replace("-", " ")
    )
    own = cluster.has_built_in_nics and nics % cluster.accelerators_per_node == 0
    of_each = f": {nics // cluster.accelerators_per_node} of each accelerator"
    node = DrawnNode(
        accelerators=cluster.accelerators_per_node,
        name=_accelerator_text(cluster),
        nics=nics,
        nic_label=f"{nics} × {display_bits(out.nic_bandwidth.value)}, {out.technology.name}{of_each if own else ''}"
        if out
        else "no NIC stated",
        host_label=_host_label(cluster),
        links=links,
        link_label=f"{name}, {topology}: {rate}" if up.domain > 1 else "no scale-up links",
        others=spans - 1,
        own_ports=own,
        switch_links=_switch_links(cluster),
    )
    kind = cluster.platform.name if cluster.platform else "node"
    alt = f"{kind}: {node.nic_label}; {node.host_label}; {node.accelerators} × {node.name}; {node.link_label}"
    caption = f"One node: {kind}" if cluster.platform else "One node"
    return Picture(node_chart(node, alt), caption, "machine.accelerators_per_node")


def _switch_links(cluster: Cluster) -> tuple[int, ...]:
    """The number of links from an accelerator to each scale-up switch of its node; empty if they are unknown or are not
    all of its links.
    """
    links = cluster.platform.scale_up_switch_links if cluster.platform else ()
    whole = cluster.scale_up.domain == cluster.accelerators_per_node
    return links if whole and sum(links) == cluster.accelerator.links else ()


def _domain_picture(cluster: Cluster) -> Iterator[Picture]:
    """A scale-up domain of several nodes with its switch trays, where these are known."""
    up, each = cluster.scale_up, cluster.accelerators_per_node
    nodes = up.domain // each
    if nodes < 2 or up.switches is None:
        return
    links = cluster.accelerator.links
    spread = f"each accelerator: {plural(links, 'link')} over all trays" if links else "each accelerator to all trays"
    rate = f"{display(up.bandwidth.value, 'B/s')} each way"
    drawn = DrawnDomain(
        nodes=nodes,
        accelerators=each,
        switches=up.switches,
        node_title=f"{plural(nodes, 'node')} of {each}",
        switch_title=plural(up.switches, "switch tray"),
        notes=(f"{up.domain:,} accelerators; {spread}", f"{rate} per accelerator to any other"),
    )
    name = cluster.platform.name if cluster.platform else "rack"
    alt = f"{drawn.node_title} and {drawn.switch_title}: {'; '.join(drawn.notes)}"
    yield Picture(domain_chart(drawn, alt), f"One scale-up domain: {name}", "machine.domain")


def _host_label(cluster: Cluster) -> str:
    """The PCIe generation of the host, and the NICs' generation if it differs."""
    host, nic = cluster.pcie_host, cluster.pcie_nic
    if host is None:
        return "host"
    nics = f"; NICs, PCIe {nic}" if cluster.scale_out and nic not in (None, host) else ""
    return f"host, PCIe {host}{nics}"


def _accelerator_text(cluster: Cluster) -> str:
    part = cluster.accelerator
    size = display(part.memory.value, "B") if part.memory else ""
    rate = f" at {display(part.memory_bandwidth.value, 'B/s')}" if part.memory_bandwidth else ""
    return f"{part.name}, {size}{rate}" if size else part.name


def _torus_picture(cluster: Cluster) -> Iterator[Picture]:
    up = cluster.scale_up
    if up.topology != "torus" or len(up.shape) < 2:
        return
    sizes = " × ".join(f"{size}" for size in up.shape)
    note = f"{display(up.bandwidth.value, 'B/s')} each way per accelerator, over all links"
    label = f"{sizes}: {up.domain:,} accelerators"
    cut = f", the first {MOST_PLANES} drawn" if len(up.shape) > 2 and up.shape[2] > MOST_PLANES else ""
    planes = f", {up.shape[2]} planes{cut}" if len(up.shape) > 2 else ""
    drawn = torus_chart(up.shape, f"torus of {label}{planes}; {note}", label, note)
    yield Picture(drawn, f"The torus{planes}; links at the edges go around where the torus is closed", "pod.shape")


def _fabric_pictures(machine: Machine, cluster: Cluster, fabric: Fabric) -> Iterator[Picture]:
    inside = min(cluster.all_nodes, machine.nodes_per_leaf)
    blocks = -(-cluster.all_nodes // max(1, inside))
    of_plane = max(1, fabric.leaf_switches // fabric.planes)
    blocks = min(blocks, of_plane)  # fewer where nodes lie across leaves, as their links fill no whole ones
    leaves = max(1, of_plane // blocks)
    yield _block_picture(machine, cluster, fabric, (inside, leaves))
    if fabric.spine_switches:
        yield _whole_picture(cluster, fabric, (blocks, inside))


def _block_picture(machine: Machine, cluster: Cluster, fabric: Fabric, size: tuple[int, int]) -> Picture:
    inside, leaves = size
    up = fabric.links.get("leaf_spine", 0) // max(1, fabric.leaf_switches)
    pods, planes = fabric.pods if fabric.core_switches else 1, fabric.planes
    below = " of its pod" * (pods > 1) + " in its plane" * (planes > 1)
    spines = plural(fabric.spine_switches // pods // planes, "spine switch", "spine switches") + below
    rails = f", {machine.rails} rails" if machine.rails > 1 else ""
    rails += f", in each of {planes} planes" if planes > 1 else ""
    across = _nodes_lie_across(cluster, fabric, size)
    per_leaf = inside * (fabric.links.get("node_leaf", 0) // planes // max(1, cluster.all_nodes)) / leaves
    per_leaf = max(per_leaf, fabric.down_ports) if across else per_leaf
    most = "up to " if cluster.all_nodes % inside and not across else ""
    at_leaf = "up to " if cluster.all_nodes % inside or across else ""
    nodes = plural(inside, "whole node" if across else "node")
    others = ", and links of a node on two leaves" if across else ""
    block = DrawnBlock(
        nodes=inside,
        leaves=leaves,
        up=up,
        up_label=f"{plural(up, 'uplink')} of each leaf to {spines}" if up else "no level above",
        node_label=f"{most}{nodes} with {inside * cluster.accelerators_per_node:,} accelerators{others}",
        leaf_label=f"{plural(leaves, 'leaf', 'leaves')}{rails}; {at_leaf}{per_leaf:.0f} links from nodes to each",
    )
    alt = f"{block.up_label}; {block.leaf_label}; {block.node_label}"
    caption = "One block: the nodes below the same leaf switches" if fabric.spine_switches else "All nodes and switches"
    return Picture(block_chart(block, alt), caption + _plane_note(fabric), "machine.nodes_per_leaf")


def _plane_note(fabric: Fabric) -> str:
    """The end of a caption about switches if the fabric has several separate planes, of which one is drawn."""
    return f", in one of {fabric.planes} separate planes" if fabric.planes > 1 else ""


def _nodes_lie_across(cluster: Cluster, fabric: Fabric, size: tuple[int, int]) -> bool:
    """Whether some nodes connect to the leaves of two blocks, because blocks of whole nodes hold too few nodes."""
    inside, leaves = size
    return inside * (fabric.leaf_switches // fabric.planes // leaves) < cluster.all_nodes


def _whole_picture(cluster: Cluster, fabric: Fabric, size: tuple[int, int]) -> Picture:
    blocks, inside = size
    pods = fabric.pods if fabric.core_switches and fabric.pods > 1 else 1
    spine, core = fabric.spine_switches // fabric.planes, fabric.core_switches // fabric.planes
    rows = []
    if core:
        rows.append(DrawnRow(core, "pp", plural(core, "core switch"), ""))
    down, below = (fabric.links.get(level, 0) // fabric.planes for level in ("spine_core", "leaf_spine"))
    above = f"{plural(down, 'link')} to the cores" if down else f"{plural(below, 'link')} down"
    each = f"× {spine // pods}" if pods > 1 else ""
    rows.append(DrawnRow(pods if pods > 1 else spine, "cp", plural(spine, "spine switch"), above, each))
    held = f"× {blocks / pods:.3g}" if pods > 1 else ""
    most = "up to " if cluster.all_nodes % inside else ""
    note = f"of {most}{plural(inside, 'node')} each" if blocks > 1 else ""
    if inside * blocks < cluster.all_nodes:
        note = f"for {plural(cluster.all_nodes, 'node')}, some of them on two leaves"
    rows.append(DrawnRow(pods if pods > 1 else blocks, "memory", plural(blocks, "block"), note, held))
    alt = "; ".join(f"{row.label} {row.note}".strip() for row in rows)
    grouped = f"; one box of the two lower rows is one of {pods} pods" if pods > 1 else ""
    caption = f"The whole fabric by repeated blocks{_plane_note(fabric)}{grouped}"
    return Picture(fabric_chart(rows, alt, pods=pods), caption, "machine.rows")


def _switches_in_racks(hall: Facility | None) -> DrawnSwitches | None:
    """The fabric's switches in the minimum number of separate racks; None if their height is unknown."""
    if hall is None or not hall.switches or not hall.switch_units or not hall.switch_racks:
        return None
    return DrawnSwitches(hall.switches, hall.switch_units // hall.switches, -(-hall.switches // hall.switch_racks))


def _switch_note(hall: Facility | None, switches: DrawnSwitches | None) -> str:
    if hall is None or not hall.switches:
        return ""
    if switches is None:
        return "; racks of switches are not drawn: their height is not known"
    racks = plural(len(switches.in_racks), "rack")
    return f"; {plural(hall.switches, 'switch')} (S) in {racks} of their own, or in those of nodes"


def _built_in_parts(cluster: Cluster, rack: Rack, hall: Facility | None) -> list[tuple[str, int, int | None, str]]:
    """The parts that a rack sold whole contains in addition to its nodes: name, number, rack units if known, and
    tint.
    """
    platform, up = cluster.platform, cluster.scale_up
    if platform is None or platform.form != "rack":
        return []
    units = max(1, rack.nodes // nodes_of_rack(platform))
    parts = [("switch tray", (up.switches or 0) * units, platform.switch_tray_units, "scale-up")]
    if hall is not None and hall.supplied == "rack" and hall.supplies:
        parts.append(("power shelf", hall.supplies * units, platform.supply_units, "energy"))
    return [part for part in parts if part[1]]


def _built_in_note(drawn: DrawnRacks, parts: Sequence[tuple[str, int]]) -> str:
    """A note on the parts of a rack other than nodes, and on the rack units in use with them."""
    if not parts:
        return ""
    named = " and ".join(plural(count, name, "power shelves" if name == "power shelf" else "") for name, count in parts)
    if not drawn.built_in:
        return f"; {named} of each rack are not drawn: the height of one is not known"
    return f"; with {named} above the nodes, {drawn.full_units} U of each rack are taken"


def _rack_picture(machine: Machine, cluster: Cluster, report: FullReport) -> Iterator[Picture]:
    rack, drawn_power = machine.rack, report.estimate.drawn
    if rack is None:
        return
    full = drawn_power.supply.rack if drawn_power else None
    watts = rack.watts if rack.watts is not None or full is None else full.value
    power = f"{display(watts, 'W')} of a full rack" if watts is not None else "power of a node not known"
    share = watts / rack.limit if watts is not None and rack.limit else None
    limit = f", {percent(share)} of its limit of {display(rack.limit, 'W')}" if share and rack.limit else ""
    units = cluster.platform.rack_units if cluster.platform else None
    switches = _switches_in_racks(report.facility)
    last = cluster.all_nodes - rack.nodes * (rack.racks - 1)
    built_in = _built_in_parts(cluster, rack, report.facility)
    known = [(count, tall, tint) for _, count, tall, tint in built_in if tall is not None]
    drawn = DrawnRacks(
        racks=rack.racks,
        nodes=min(rack.nodes, cluster.all_nodes),
        last=last if 0 < last < rack.nodes else None,
        built_in=known if len(known) == len(built_in) and units else (),
        units=units,
        power_label=f"{power}{limit}",
        share=share,
        note=f"{plural(rack.racks, 'rack')} of {plural(rack.nodes, 'node')}",
        switches=switches,
    )
    note = drawn.note + (f", the last of {plural(last, 'node')}" if drawn.last is not None and rack.racks > 1 else "")
    note += _built_in_note(drawn, [(name, count) for name, count, _, _ in built_in])
    drawn = replace(drawn, note=note + _switch_note(report.facility, switches))
    caption = "Racks in elevation" + (", nodes to scale in 42 rack units" if units else "")
    yield Picture(rack_chart(drawn, f"{drawn.note}; {drawn.power_label}"), caption, "machine.rack")
