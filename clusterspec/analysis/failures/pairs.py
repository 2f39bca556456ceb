"""Failures of two parts of different kinds that share a node, a leaf or a rack, by class of pairs.

The place shared is the innermost of three: a node; a leaf switch, shared by a node that any NIC connects to it; a rack
with its feeds. The switch trays of a scale-up domain share the domain with all parts of its nodes, and share a rack if
racks hold whole domains. All pairs of one class have the same effect on the job, so one degraded machine is estimated
per class. A link and a leaf in different planes together cost a NIC two links if the NIC is connected to that leaf.
Otherwise, or in the same plane, the loss is at most that of the leaf.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cost.part_classes import SCALE_UP_SWITCH, PartClass
from clusterspec.exchange.exporters.fabric import fabric_links
from clusterspec.exchange.exporters.registry import ExportInput
from clusterspec.records import NamedTuple, dataclass
from clusterspec.results.faults import NONE, SLOWS, STOPS, PairRow
from clusterspec.rules.knowledge.failing_engines import ENGINES
from clusterspec.rules.knowledge.failing_parts import FailingMachine
from clusterspec.standard import sum_of

IN_NODE = ("accelerator", "node", "NIC", "NIC-leaf link")
AT_LEAF = ("leaf switch", "leaf-spine link")
IN_RACK = ("rack", "power feed")
ONE_PLANE, PLANES, OTHER_NICS = "in one plane", "in unlike planes", "in unlike planes, of unlike NICs"
RANK = {NONE: 0, SLOWS: 1, STOPS: 2}
"""Effects of a failure on the job, from none to the worst."""


@dataclass(frozen=True)
class Places:
    """Positions of a job's nodes: for each leaf of a plane its nodes and uplinks, and the number of racks.

    ``same_leaf`` counts the pairs of nodes that share a leaf, each in both orders; ``same_rack`` counts the pairs that
    share a rack and no leaf.
    """

    nodes: int
    leaves: dict[tuple[int, int], frozenset[int]]
    uplinks: Counter[tuple[int, int]]
    racks: int
    same_leaf: int
    same_rack: int


def places_of(machine: FailingMachine) -> Places:
    """The places of the nodes of the job, from every link of the fabric."""
    under: dict[tuple[int, int], set[int]] = defaultdict(set)
    uplinks: Counter[tuple[int, int]] = Counter()
    if machine.fabric is not None and machine.nodes > 1:
        for link in fabric_links(ExportInput(machine.design)):
            if link.level == "node_leaf" and link.low.kind == "node" and link.low.number <= machine.nodes:
                under[link.plane, link.high.number].add(link.low.number)
            elif link.level == "leaf_spine":
                uplinks[link.plane, link.low.number] += 1
    leaves = {leaf: frozenset(nodes) for leaf, nodes in under.items()}
    power = machine.written.power
    per_rack = power.nodes_per_rack if power and power.nodes_per_rack else 0
    same_leaf, same_rack = _neighbor_pairs(machine.nodes, leaves, per_rack)
    racks = -(-machine.nodes // per_rack) if per_rack else 0
    return Places(machine.nodes, leaves, uplinks, racks, same_leaf, same_rack)


def _neighbor_pairs(nodes: int, leaves: dict[tuple[int, int], frozenset[int]], per_rack: int) -> tuple[int, int]:
    """The number of ordered pairs of nodes that share a leaf, and of pairs that share a rack but no leaf.

    Nodes with the same set of leaves are counted as a group; only few groups share a leaf.
    """
    reached: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for leaf, held in leaves.items():
        for node in held:
            reached[node].append(leaf)
    group_of = {node: frozenset(found) for node, found in reached.items()}
    sizes = Counter(group_of.values())
    on_leaf: dict[tuple[int, int], list[frozenset[tuple[int, int]]]] = defaultdict(list)
    for group in sizes:
        for leaf in group:
            on_leaf[leaf].append(group)
    meeting = {frozenset(pair) for groups in on_leaf.values() for pair in combinations(groups, 2)}
    same_leaf = sum(size * (size - 1) for size in sizes.values())
    for pair in meeting:
        one, other = pair
        same_leaf += 2 * sizes[one] * sizes[other]
    same_rack = 0
    if per_rack:
        alone: frozenset[tuple[int, int]] = frozenset()
        for first in range(1, nodes + 1, per_rack):
            rack = [group_of.get(node, alone) for node in range(first, min(nodes, first + per_rack - 1) + 1)]
            same_rack += 2 * sum(one.isdisjoint(other) for one, other in combinations(rack, 2))
    return same_leaf, same_rack


class SharedPlace(NamedTuple):
    """The innermost place that parts of two classes share, the number of pairs that share it, and the planes of the
    parts.

    For a link and a leaf in different planes, ``planes`` says whether the leaf belongs to another NIC of the node.
    """

    what: str
    pairs: int
    planes: str = ""


def pairs_of(machine: FailingMachine) -> Iterator[tuple[PartClass, PartClass, SharedPlace]]:
    """The pairs of classes, each with the place that their parts share."""
    places = places_of(machine)
    classes = [part for part in machine.classes if part.name in (*IN_NODE, SCALE_UP_SWITCH, *AT_LEAF, *IN_RACK)]
    for one, other in combinations(classes, 2):
        yield from ((one, other, shared) for shared in _shared_places(machine, places, one, other) if shared.pairs)


def _shared_places(machine: FailingMachine, places: Places, one: PartClass, other: PartClass) -> Iterator[SharedPlace]:
    """The place that the parts of two classes share; the classes are in the order of the machine."""
    first, second = (_parts_held_by_node(machine, part) for part in (one, other))
    if SCALE_UP_SWITCH in (one.name, other.name):
        trays, part = (one, other) if one.name == SCALE_UP_SWITCH else (other, one)
        yield from _places_of_trays(machine, places, trays, part)
    elif first and second:
        yield SharedPlace("node", places.nodes * first * second)
        yield SharedPlace("leaf", places.same_leaf * first * second)
        yield SharedPlace("rack", places.same_rack * first * second)
    elif first and other.name in AT_LEAF:
        of_leaf = places.uplinks if other.name == "leaf-spine link" else dict.fromkeys(places.leaves, 1)
        count = first * sum(len(nodes) * of_leaf.get(leaf, 0) for leaf, nodes in places.leaves.items())
        planes = machine.fabric.planes if machine.fabric is not None else 1
        if (one.name, other.name) == ("NIC-leaf link", "leaf switch") and planes > 1:
            yield SharedPlace("leaf", count // planes, ONE_PLANE)
            of_nic = places.nodes * first * (planes - 1)
            yield SharedPlace("leaf", of_nic, PLANES)
            yield SharedPlace("leaf", count - count // planes - of_nic, OTHER_NICS)
        else:
            yield SharedPlace("leaf", count)
    elif one.name in AT_LEAF and other.name in AT_LEAF:
        yield SharedPlace("leaf", sum(places.uplinks[leaf] for leaf in places.leaves), ONE_PLANE)
    elif first and other.name in IN_RACK:
        yield SharedPlace("rack", places.nodes * first * _parts_held_by_rack(places, other))
    elif one.name in IN_RACK and other.name in IN_RACK:
        yield SharedPlace("rack", places.racks * _parts_held_by_rack(places, one) * _parts_held_by_rack(places, other))


def _places_of_trays(
    machine: FailingMachine, places: Places, trays: PartClass, other: PartClass
) -> Iterator[SharedPlace]:
    """The place that a switch tray shares with a part of another class: its domain, or a rack with several whole
    domains.
    """
    power, domain = machine.written.power, nodes_of_domain(machine.cluster)
    per_rack = power.nodes_per_rack if power and power.nodes_per_rack else 0
    together = per_rack // domain if per_rack % domain == 0 else 0
    sizes = [min(trays.nodes, places.nodes - first) for first in range(0, places.nodes, trays.nodes)]
    each, held = trays.used // len(sizes), _parts_held_by_node(machine, other)
    if held:
        yield SharedPlace("scale-up domain", each * places.nodes * held)
    if together and held:
        racks = [sizes[first : first + together] for first in range(0, len(sizes), together)]
        yield SharedPlace("rack", each * held * sum((len(rack) - 1) * sum(rack) for rack in racks))
    elif together and other.name in IN_RACK:
        yield SharedPlace("rack", trays.used * _parts_held_by_rack(places, other))


def _parts_held_by_node(machine: FailingMachine, part: PartClass) -> int:
    """The parts of a class in a node; 0 for others."""
    return part.used // machine.nodes if part.name in IN_NODE else 0


def _parts_held_by_rack(places: Places, part: PartClass) -> int:
    return part.used // places.racks if places.racks else 0


def _stops_same_engines(machine: FailingMachine, shared: str, names: tuple[str, str]) -> bool:
    """Whether the failure of one of two parts on a shared node or leaf stops the same engines as the failure of the
    other.
    """
    if shared == "node":
        layout = machine.design.layout
        whole = layout is not None and layout.ranks // layout.dp >= machine.cluster.ranks_per_node
        return whole or "node" in names
    return shared == "leaf" and "leaf switch" in names


def pair_rows(machine: FailingMachine, hour: float | None) -> Iterator[PairRow]:
    """A row for each class of pairs; ``hour`` is the cost of an hour of the machine."""
    rates = machine.failures()
    alone = {row.part: row.effect for row in machine.rows(hour)}
    for one, other, shared in pairs_of(machine):
        leaf = one if one.name == "leaf switch" else other
        cut = (leaf,) if shared.planes in (ONE_PLANE, OTHER_NICS) else (one, other)
        if one.tier == other.tier == ENGINES and _stops_same_engines(machine, shared.what, (one.name, other.name)):
            cut = (max(one, other, key=lambda part: part.lost),)
        lost = machine.cuts(*cut)
        stops = one.lost >= 1 or other.lost >= 1 or any(share >= 1 for _, share in lost)
        step = machine.step if stops else machine.degraded_step(*cut)
        effect = STOPS if stops else machine.bandwidth_loss_effect(step, sum_of(share for _, share in lost))
        inside = shared.what in ("node", "scale-up domain")
        away, held = (
            max(first, second) if inside else min(first + second, most)
            for first, second, most in (
                (one.nodes, other.nodes, machine.nodes),
                (one.held, other.held, machine.cluster.all_nodes),
            )
        )
        yearly = None
        if one.name in rates and other.name in rates and one.used and other.used:
            each = rates[one.name].yearly / one.used, rates[other.name].yearly / other.used
            yearly = shared.pairs * each[0] * each[1] * 2 * machine.repair_years
        hours = machine.hours_lost(away, held, stops=stops, step=step, repair=machine.repair.value)
        share = machine.shares_lost[0 if stops else 1]
        taken = yearly * hours * share if yearly is not None and hours is not None else None
        yield PairRow(
            parts=(one.name, other.name),
            shared=shared.what,
            planes=shared.planes,
            count=shared.pairs,
            failures=yearly,
            effect=effect,
            worse=RANK[effect] > max(RANK[alone[one.name]], RANK[alone[other.name]]),
            step_time=None if stops else step,
            hours=taken,
            cost=taken * hour if taken is not None and hour is not None else None,
        )
