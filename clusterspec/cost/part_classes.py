"""The classes of a machine's parts: how many parts each has, and the effect of one failure on a job.

All parts of a class have the same effect on the job. A part whose loss leaves bandwidth slows the job; any other loss
stops it.
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.clos import parts_needed
from clusterspec.cluster.degrees import nodes_of_domain, own_accelerators, rack_nodes
from clusterspec.cluster.fabric import Fabric
from clusterspec.cluster.model import Cluster, Design, Level, ScaleOut
from clusterspec.cluster.planes import fabric_levels
from clusterspec.cluster.scaleout import RAIL_TOPOLOGIES
from clusterspec.cost.energy import FEEDS
from clusterspec.cost.feed_loss import POWER, feed_loss
from clusterspec.cost.heat import cooling_units, loop_heat
from clusterspec.cost.standby import nodes_in_built_domain, nodes_of_job
from clusterspec.cost.switch_shares import core_share, pod_count, spine_share
from clusterspec.records import NamedTuple, dataclass, replace
from clusterspec.spec.model import ClusterSpec, PowerSpec
from clusterspec.units import display, plural

UNKNOWN_SUPPLIES = "whether the others carry the nodes takes `power.supplies`"
"""The explanation for machines with unknown power supplies or an unknown load."""
SCALE_UP_SWITCH = "scale-up switch"
"""The class of the switch trays of scale-up domains."""
SCALE_UP = "scale-up"
"""The tier of a failure that reduces the bandwidth inside a scale-up domain."""


@dataclass(frozen=True)
class PartClass:
    """The parts of one class and the effect of one failure.

    ``kind`` is the key of its rate in `operations.failures` and the catalog, `link` where cable and modules fail, empty
    if no rate is known. ``used`` of ``count`` parts carry the job. ``lost`` is the share of the bandwidth of ``tier``
    that a failure takes: of the NICs (``nic``), of the uplinks of a leaf (``leaf``) or of a pod (``pod``), of a
    scale-up domain (`SCALE_UP`), of the power of the accelerators (``power``), or the share of the engines of a serving
    plan (``engine``); 1 stops the job. ``nodes`` counts the nodes of the job that depend on the part, ``held`` those of
    the whole machine, spare and idle ones included. ``restarts`` says that the job restarts before it runs on the
    remaining nodes.
    """

    name: str
    count: int | None
    used: int
    kind: str
    lost: float
    tier: str
    nodes: int
    held: int
    why: str
    restarts: bool = False

    @property
    def interrupts_job(self) -> bool:
        """Whether the job starts again from the last checkpoint after a failure."""
        return self.lost >= 1 or self.restarts


class BuiltMachine(NamedTuple):
    """A machine with the counts that its failures depend on. ``nodes`` and ``accelerators`` are those of the job;
    ``levels`` are the levels of the fabric from the leaf upward; ``fabric`` is None if its parts are not counted.
    """

    design: Design
    cluster: Cluster
    fabric: Fabric | None
    nodes: int
    accelerators: int
    levels: tuple[Level, ...]

    @classmethod
    def from_design(cls, design: Design, cluster: Cluster, fabric: Fabric | None) -> BuiltMachine:
        """The machine ``cluster`` of a design."""
        nodes = nodes_of_job(design) or cluster.nodes
        whole = nodes * cluster.accelerators_per_node
        used = min(own_accelerators(design) or whole, whole)
        return cls(design, cluster, fabric, nodes, used, built_levels(cluster, fabric))

    @property
    def places(self) -> Iterator[tuple[int, int]]:
        """The runs of consecutive nodes that the job uses, each as its first node (from 0) and the node after its last.
        A layout that uses only some nodes of each domain uses the first ones.
        """
        layout, domain = self.design.layout, nodes_of_domain(self.cluster)
        used = layout.nodes_per_domain if layout is not None else None
        if not used or used >= domain:
            yield 0, self.nodes
            return
        for number in range(parts_needed(self.nodes, used)):
            yield number * domain, number * domain + min(used, self.nodes - number * used)

    def blocks(self, each: int, size: int) -> int:
        """The number of blocks of ``size`` ports that the job uses, if every node connects to ``each`` ports in
        order.
        """
        found, reached = 0, 0
        for first, end in self.places:
            low, high = max(reached, first * each // size), parts_needed(end * each, size)
            found, reached = found + max(0, high - low), max(reached, high)
        return found

    @property
    def written(self) -> ClusterSpec:
        """The section of the spec."""
        return self.design.spec.cluster or ClusterSpec()

    @property
    def all_nodes(self) -> int:
        """The nodes of the machine, spare and idle ones included."""
        return self.cluster.all_nodes


def built_levels(cluster: Cluster, fabric: Fabric | None) -> tuple[Level, ...]:
    """The levels of the fabric from the leaf upward. A level of leaves is added if the spec states only pods."""
    levels = fabric_levels(cluster)
    out = cluster.scale_out
    if out is None or fabric is None or not levels or levels[0].name != "pod":
        return levels
    rails = out.rails if out.topology in RAIL_TOPOLOGIES else 1
    below = max(1, fabric.down_ports // parts_needed(out.nics_per_node, rails))
    return (Level("leaf", min(below, levels[0].nodes or below), 1.0), *levels)


def part_classes(machine: BuiltMachine) -> Iterator[PartClass]:
    """The classes, from the accelerator outward, with the effect of each on a training job."""
    yield from _node_classes(machine)
    if machine.nodes > 1 and machine.cluster.scale_out is not None:
        inside = machine.nodes <= _nodes_in_domain(machine)
        for part in _fabric_classes(machine, machine.cluster.scale_out):
            yield replace(part, lost=0.0, why="the job communicates inside one scale-up domain") if inside else part
    yield from _room_classes(machine)
    yield PartClass("software", None, 1, "software", 1.0, "", 0, 0, "software and what it depends on; not a part")


def _node_classes(machine: BuiltMachine) -> Iterator[PartClass]:
    cluster, nodes, own = machine.cluster, machine.nodes, machine.accelerators
    yield PartClass("accelerator", own, own, "accelerator", 1.0, "", 1, 1, "every rank takes part in every step")
    yield PartClass("node", nodes, nodes, "node", 1.0, "", 1, 1, "host, power supply, drive, and maintenance")
    if nodes_of_domain(cluster) > 1:
        each = _nodes_in_domain(machine)
        count = parts_needed(nodes, each)
        yield PartClass(
            "scale-up domain",
            count,
            count,
            "domain",
            1.0,
            "",
            each,
            nodes_in_built_domain(cluster),
            f"{plural(each, 'node')} of the job {'is' if each == 1 else 'are'} in it",
        )
        if cluster.scale_up.topology == "switched":
            yield _scale_up_switches(cluster, count, each)


def _nodes_in_domain(machine: BuiltMachine) -> int:
    """The most nodes of the job in one scale-up domain: as stated in the layout, else limited by the domain and by the
    job.
    """
    layout = machine.design.layout
    placed = layout.nodes_per_domain if layout is not None else None
    return min(placed or nodes_of_domain(machine.cluster), machine.nodes)


def _scale_up_switches(cluster: Cluster, domains: int, nodes: int) -> PartClass:
    """The switch trays of scale-up domains that have ``nodes`` nodes of the job each. Every tray connects to every
    accelerator of its domain, so its loss takes the same share of links from each.
    """
    inside, held = cluster.scale_up, nodes_in_built_domain(cluster)
    trays, loss = inside.switches, inside.switch_loss or "stops"
    if trays is None:
        why = f"{nodes} nodes of the job are in the domain"
        return PartClass(SCALE_UP_SWITCH, None, 0, "tray", 1.0, SCALE_UP, nodes, held, why)
    number, left = trays * domains, f"{trays - 1} of {trays} trays of the domain are left"
    after = {
        "stops": f"{left}, but {nodes} nodes of the job wait for the replacement",
        "restarts": f"{left}: the job restarts with them",
        "slows": f"{left}: the job continues with them",
    }
    share = 1.0 if loss == "stops" or trays == 1 else 1 / trays
    restarts = loss == "restarts" and share < 1
    found = PartClass(SCALE_UP_SWITCH, number, number, "tray", share, SCALE_UP, nodes, held, after[loss])
    return replace(found, restarts=restarts)


def _fabric_classes(machine: BuiltMachine, out: ScaleOut) -> Iterator[PartClass]:
    """The parts of the scale-out fabric."""
    nics = machine.nodes * out.nics_per_node
    yield PartClass("NIC", nics, nics, "nic", 1.0, "nic", 1, 1, "a node loses a NIC that its collectives use")
    if machine.fabric is not None:
        yield from _edge_classes(machine, machine.fabric)
        yield from _tree_classes(machine, machine.fabric)
    else:
        why = "its parts are not counted, so each failure counts as one that stops the job"
        yield PartClass("network", None, 1, "network", 1.0, "", 1, 1, why)


def _edge_classes(machine: BuiltMachine, fabric: Fabric) -> Iterator[PartClass]:
    """The links of NICs, the leaves, and the rails and planes that leaves form."""
    out = machine.cluster.scale_out
    assert out is not None
    planes = fabric.planes
    lost = 1 / planes
    left = f"{planes - 1} of {planes} planes are left" if planes > 1 else "there is one plane"
    links = machine.nodes * out.nics_per_node * planes
    yield PartClass("NIC-leaf link", links, links, "link", lost, "nic", 1, 1, left)
    leaves, below, held = (
        _leaves_of_job(machine, fabric),
        _nodes_below_leaf(machine, fabric),
        _maximum_nodes_at_leaf(machine, fabric),
    )
    yield PartClass("leaf switch", leaves, leaves, "leaf", lost, "nic", below, held, f"{below} nodes below it; {left}")
    rails = out.rails if out.topology in RAIL_TOPOLOGIES else 1
    if rails > 1 and fabric.leaf_switches > planes:
        yield PartClass("rail", rails * planes, rails * planes, "", lost, "nic", machine.nodes, machine.all_nodes, left)
    if planes > 1:
        yield PartClass("plane", planes, planes, "", lost, "nic", machine.nodes, machine.all_nodes, left)


def _leaves_of_job(machine: BuiltMachine, fabric: Fabric) -> int:
    """The number of leaf switches, over all planes, that connect to a NIC of the job. Nodes fill the leaves in order,
    so some leaves may have only spare and idle nodes.
    """
    out, leaves = machine.cluster.scale_out, fabric.leaf_switches // fabric.planes
    assert out is not None
    if machine.nodes >= machine.all_nodes or leaves <= 1:
        return fabric.leaf_switches
    rails = out.rails if out.topology in RAIL_TOPOLOGIES else 1
    if out.levels:
        size = machine.levels[0].nodes or machine.all_nodes
        used = parts_needed(leaves * machine.blocks(1, size), parts_needed(machine.all_nodes, size))
    elif rails > 1:
        below = max(1, fabric.down_ports // parts_needed(out.nics_per_node, rails))
        used = min(rails, leaves) * machine.blocks(1, below)
    else:
        used = machine.blocks(out.nics_per_node, fabric.down_ports)
    return min(leaves, used) * fabric.planes


def _pods_of_job(machine: BuiltMachine, fabric: Fabric) -> tuple[int, int]:
    """The number of pods, that is groups of leaves with their own spines: those with nodes of the job (a lower bound),
    and all.
    """
    out, pods = machine.cluster.scale_out, pod_count(machine.cluster, fabric)
    assert out is not None
    if machine.nodes >= machine.all_nodes or pods <= 1 or out.topology == "rail-only":
        return pods, pods
    if out.levels and len(out.levels) > 1:
        return min(pods, machine.blocks(1, out.levels[1].nodes or machine.all_nodes)), pods
    leaves = parts_needed(fabric.leaf_switches // fabric.planes, pods)
    return min(pods, parts_needed(_leaves_of_job(machine, fabric) // fabric.planes, leaves)), pods


def _nodes_below_leaf(machine: BuiltMachine, fabric: Fabric) -> int:
    """The most nodes of the job with a NIC on the same leaf; all its nodes if the fabric has no levels."""
    return min(_maximum_nodes_at_leaf(machine, fabric), machine.nodes)


def _maximum_nodes_at_leaf(machine: BuiltMachine, fabric: Fabric) -> int:
    """The most nodes of the machine with a NIC on the same leaf."""
    return min(_nodes_at_leaf(machine, fabric) or machine.all_nodes, machine.all_nodes)


def _nodes_at_leaf(machine: BuiltMachine, fabric: Fabric) -> int | None:
    """The most nodes with a NIC on the same leaf; None if the fabric has no levels.

    A leaf takes whole nodes if there are enough leaves, as the drawing of the fabric shows. Otherwise nodes fill leaves
    in order, and some have their NICs at two.
    """
    out, whole = machine.cluster.scale_out, machine.levels[0].nodes if machine.levels else None
    assert out is not None
    each = parts_needed(out.nics_per_node, out.rails if out.topology in RAIL_TOPOLOGIES else 1)
    ports = fabric.down_ports
    if whole is None or whole != ports // each:
        return whole
    leaves, nodes = max(1, fabric.leaf_switches // fabric.planes), machine.cluster.all_nodes
    nics, rails = nodes * each, max(1, out.nics_per_node // each)
    if leaves // rails * whole >= nodes:
        return whole
    filled = ((leaf * ports, min(nics, (leaf + 1) * ports)) for leaf in range(min(each, leaves)))
    return max(parts_needed(last, each) - first // each for first, last in filled)


def _tree_classes(machine: BuiltMachine, fabric: Fabric) -> Iterator[PartClass]:
    """The switches above the leaves, and their links. The loss of a switch is its share of the uplinks of the leaf that
    it affects most.
    """
    up, spines, nodes, planes = fabric.links["leaf_spine"], fabric.spine_switches, machine.nodes, fabric.planes
    if not up or not spines:
        return
    below, held = _nodes_below_leaf(machine, fabric), _maximum_nodes_at_leaf(machine, fabric)
    uplinks = up / fabric.leaf_switches * planes
    why = f"one of {uplinks:.0f} uplinks of a node's leaves"
    links = parts_needed(up * _leaves_of_job(machine, fabric), fabric.leaf_switches)
    yield PartClass("leaf-spine link", links, links, "link", 1 / max(1.0, uplinks), "leaf", below, held, why)
    share = spine_share(machine.cluster, fabric)
    lost, why = share.most / share.links, share.text("a node's leaves", "leaves")
    why += ", all planes together"
    pods, of_pods = _pods_of_job(machine, fabric)
    count = parts_needed(spines * pods, of_pods)
    yield PartClass("spine switch", count, count, "spine", lost, "leaf", nodes, machine.all_nodes, why)
    yield from _core_classes(machine, fabric)


def _core_classes(machine: BuiltMachine, fabric: Fabric) -> Iterator[PartClass]:
    """The core switches and their links. A job in several pods waits for the pods with the most links to a
    failed core.
    """
    above, cores = fabric.links["spine_core"], fabric.core_switches
    if not above or not cores:
        return
    share = core_share(machine.cluster, fabric)
    why = f"one of {share.links:.0f} uplinks of a pod"
    pods, of_pods = _pods_of_job(machine, fabric)
    count = parts_needed(above * pods, of_pods)
    yield PartClass(
        "spine-core link", count, count, "link", 1 / share.links, "pod", machine.nodes, machine.all_nodes, why
    )
    lost, why = share.most / share.links, share.text("a pod", "pods")
    yield PartClass("core switch", cores, cores, "core", lost, "pod", machine.nodes, machine.all_nodes, why)


def _cooling_class(machine: BuiltMachine, power: PowerSpec, nodes: int, held: int) -> PartClass:
    """The cooling distribution units. If the spec states none, a failure is assumed to stop ``nodes`` nodes of the job
    and ``held`` nodes of the machine.
    """
    units, heat = cooling_units(power), loop_heat(machine.cluster, machine.fabric, power)
    own = machine.cluster.accelerator_cap or machine.cluster.accelerator.power
    name = "cooling distribution unit"
    if units is None or heat is None or own is None:
        return PartClass(name, None, 0, "cdu", 1.0, "", nodes, held, "the parts that it cools stop")
    left, needed = units.carried_watts(1), heat[1]
    carried = (
        f"{units.installed - 1} of {units.installed} units are left, {display(left, 'W')} for {display(needed, 'W')}"
    )
    short = max(0.0, needed - left) / (machine.cluster.all_nodes * machine.cluster.accelerators_per_node)
    why = f"{carried}: at full load the machine is throttled" if short else carried
    lost = min(1.0, short / own.value)
    return PartClass(name, units.installed, units.installed, "cdu", lost, POWER, machine.nodes, machine.all_nodes, why)


def _nodes_in_sold_rack(machine: BuiltMachine) -> int | None:
    """The job's nodes in a rack that is sold as a unit; None if the platform is sold by the node."""
    held, layout = rack_nodes(machine.cluster, None), machine.design.layout
    used = layout.nodes_per_domain if layout is not None else None
    return min(used or held, machine.nodes) if held else None


def _room_classes(machine: BuiltMachine) -> Iterator[PartClass]:
    """The rack, its feeds and the storage system, where the spec states them."""
    power, nodes, whole = machine.written.power, machine.nodes, machine.all_nodes
    stated = power.nodes_per_rack if power else None
    per_rack = min(stated, nodes) if stated else None
    of_rack = min(rack_nodes(machine.cluster, stated) or whole, whole)
    if per_rack:
        racks = parts_needed(nodes, per_rack)
        yield PartClass(
            "rack",
            racks,
            racks,
            "rack",
            1.0,
            "",
            per_rack,
            of_rack,
            f"{plural(per_rack, 'node')} {'is' if per_rack == 1 else 'are'} in it",
        )
    if power and power.feeds:
        alone = power.feeds == "N"
        why = "the rack has no other feed" if alone else f"feeds are {power.feeds}; {UNKNOWN_SUPPLIES}"
        loss = feed_loss(machine.cluster, power) if not alone else None
        lost, why = (loss.lost, loss.why) if loss is not None else (1.0 if alone else 0.0, why)
        held = per_rack or _nodes_in_sold_rack(machine)
        feeds = parts_needed(nodes, held) * FEEDS[power.feeds][0] if held else None
        yield PartClass("power feed", feeds, feeds or 0, "feed", lost, POWER, held or nodes, of_rack, why)
    if power and (power.cdus or (power.cooling and power.cooling != "air")):
        yield _cooling_class(machine, power, per_rack or nodes, of_rack if per_rack else whole)
    if machine.written.networks and machine.written.networks.storage:
        why = "checkpoints and data cannot be read or written"
        yield PartClass("storage system", 1, 1, "store", 1.0, "", nodes, whole, why)
