"""Fabrics as graphs and switch trees: host lists, levels, counts, and uneven uplinks."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import product

from clusterspec.exchange.import_result import FormatError, ImportBuilder, excerpt
from clusterspec.records import dataclass, field
from clusterspec.units import plural

# Slurm host lists: ``tux[0-3,12,18-20]`` represents eight names; zeros in front are kept

MOST_NAMES = 200_000
_BRACKET = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


def expanded_hosts(text: str, line: int = 0) -> list[str]:
    """The names that a host list represents, in order. Raises `FormatError` if it is malformed or too long.

    >>> expanded_hosts("tux[08-10,12],a")
    ['tux08', 'tux09', 'tux10', 'tux12', 'a']
    """
    names: list[str] = []
    for item in _host_list_items(text):
        for name in _expanded_item(item, line):
            names.append(name)
            if len(names) > MOST_NAMES:
                raise FormatError(f"a host list of more than {MOST_NAMES:,} names", line)
    return names


def _host_list_items(text: str) -> Iterator[str]:
    """The items between commas outside brackets."""
    depth, start = 0, 0
    for at, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if character == "," and depth == 0:
            yield text[start:at].strip()
            start = at + 1
    if text[start:].strip():
        yield text[start:].strip()


def _expanded_item(item: str, line: int) -> Iterator[str]:
    parts = _BRACKET.split(item)
    if "[" in "".join(parts[::2]) or "]" in "".join(parts[::2]):
        raise FormatError(f"the host list {excerpt(item)!r} has a bracket that is not closed", line)
    choices = [[part] if at % 2 == 0 else _bracket_numbers(part, line) for at, part in enumerate(parts)]
    size = 1
    for choice in choices:
        size *= len(choice)
    if size > MOST_NAMES:
        raise FormatError(f"a host list of more than {MOST_NAMES:,} names", line)
    return ("".join(chosen) for chosen in product(*choices))


def _bracket_numbers(text: str, line: int) -> list[str]:
    found: list[str] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if not match:
            raise FormatError(f"[{excerpt(text)}] is not a range of numbers", line)
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last - first >= MOST_NAMES:
            raise FormatError(f"the range {excerpt(part)} runs backward or is too long", line)
        found += [str(number).zfill(len(match[1])) for number in range(first, last + 1)]
    return found


# A fabric as a graph of endpoints and switches: levels, counts and uneven uplinks

NAMES = ("leaf", "spine", "core")
"""Names of the levels of switches, from the endpoints upward."""
BETWEEN = ("node_leaf", "leaf_spine", "spine_core")
"""Names of the links below each level."""


@dataclass
class FabricGraph:
    """Endpoints (NIC ports) by id with their host, switches by id, and the number of links between two ids.

    ``hosts`` has None for an endpoint whose host the file does not name.
    """

    hosts: dict[str, str | None] = field(default_factory=dict)
    switches: dict[str, int | None] = field(default_factory=dict)
    """Number of ports of each switch; None if the file does not state it."""
    links: Counter[tuple[str, str]] = field(default_factory=Counter)
    rails: dict[str, str] = field(default_factory=dict)
    """The file's name for the NIC of an endpoint, such as ``mlx5_0``; endpoints of one rail have the same name."""
    others: set[str] = field(default_factory=set)
    """Endpoints that belong to no node, such as fabric managers."""

    def join(self, one: str, other: str, count: int = 1) -> None:
        """Add links between two devices."""
        self.links[min(one, other), max(one, other)] += count

    def levels(self) -> dict[str, int]:
        """The level of every connected switch: 1 if it has endpoints, plus one per hop from a switch with endpoints."""
        neighbors: defaultdict[str, set[str]] = defaultdict(set)
        now: set[str] = set()
        for one, other in self.links:
            if one in self.switches and other in self.switches:
                neighbors[one].add(other)
                neighbors[other].add(one)
            else:
                now |= {end for end in (one, other) if end in self.switches}
        level: dict[str, int] = {}
        depth = 1
        while now:
            level |= dict.fromkeys(now, depth)
            now = {up for each in now for up in neighbors[each] if up not in level}
            depth += 1
        return level


def describe_graph(graph: FabricGraph, builder: ImportBuilder, line: int) -> None:
    """Record nodes, NICs per node, switches and links per level, and the uplinks of leaves.

    Raises `FormatError` if no endpoint is joined to a switch.
    """
    level = graph.levels()
    if not level:
        raise FormatError("connects no endpoint to a switch")
    builder.count("switches", len(graph.switches), line)
    builder.count("endpoints", len(graph.hosts), line)
    _record_nodes(graph, builder, line)
    depth = max(level.values())
    if of_one_level := sum(
        count for ends, count in graph.links.items() if len({level.get(end, 0) for end in ends}) == 1
    ):
        why = f"{plural(of_one_level, 'link')} between switches of one level: no tree, and the file names no topology"
        builder.unknown("cluster.scale_out.topology", why, line)
        return
    if depth > len(NAMES):
        builder.unknown("cluster.scale_out.tiers", f"{depth} levels of switches: only three have keys", line)
    for number, name in enumerate(NAMES[:depth], 1):
        count = sum(1 for each in level.values() if each == number)
        builder.count(f"{name}_switches", count, line)
        builder.set(f"cluster.scale_out.{name}_switches", count, line)
    builder.set("cluster.scale_out.tiers", min(depth, 3), line)
    _record_links(graph, level, builder, line)
    _record_topology(graph, level, builder, line)
    apart = [switch for switch in graph.switches if switch not in level]
    if apart:
        builder.unknown(f"{len(apart)} switches", "no links connect them to any endpoint", line)


def _record_nodes(graph: FabricGraph, builder: ImportBuilder, line: int) -> None:
    named = Counter(host for end, host in graph.hosts.items() if host and end not in graph.others)
    unnamed = sum(1 for end, host in graph.hosts.items() if not host and end not in graph.others)
    if graph.others:
        builder.set("cluster.scale_out.extra_endpoints", len(graph.others), line)
    builder.count("hosts", len(named), line)
    if unnamed:
        builder.count("endpoints_without_host", unnamed, line)
    sizes = Counter(named.values())
    if len(sizes) == 1 and not unnamed:
        builder.set("cluster.nodes", len(named), line)
        builder.set("cluster.scale_out.nics_per_node", next(iter(sizes)), line)
        return
    shown = ", ".join(f"{hosts} with {nics}" for nics, hosts in sorted(sizes.items(), reverse=True)[:6])
    why = f"hosts by their number of ports: {shown}" + (f"; {unnamed} ports name no host" if unnamed else "")
    builder.unknown("cluster.nodes and cluster.scale_out.nics_per_node", why, line)


def _record_topology(graph: FabricGraph, level: Mapping[str, int], builder: ImportBuilder, line: int) -> None:
    """Record a rail topology if all adapters on a leaf have the same name and the names differ between leaves."""
    on_leaf: defaultdict[str, set[str]] = defaultdict(set)
    for one, other in graph.links:
        for end, leaf in ((one, other), (other, one)):
            if end in graph.rails and level.get(leaf) == 1 and end not in graph.others:
                on_leaf[leaf].add(graph.rails[end])
    names = {name for found in on_leaf.values() for name in found}
    if len(names) < 2 or len(on_leaf) < 2:
        return
    if all(len(found) == 1 for found in on_leaf.values()):
        builder.set("cluster.scale_out.topology", "rail-optimized" if max(level.values()) > 1 else "rail-only", line)
    elif max(level.values()) > 1 and all(len(found) > 1 for found in on_leaf.values()):
        builder.set("cluster.scale_out.topology", "fat-tree", line)


def _record_links(graph: FabricGraph, level: Mapping[str, int], builder: ImportBuilder, line: int) -> None:
    totals: Counter[int] = Counter()
    up: Counter[str] = Counter()
    for (one, other), count in graph.links.items():
        low, high = sorted((one, other), key=lambda each: level.get(each, 0))
        if level.get(low, 0) == level.get(high, 0):
            continue
        totals[level.get(high, 0)] += count
        up[low] += count
    for number, name in enumerate(BETWEEN, 1):
        if totals[number]:
            builder.count(f"links_{name}", totals[number], line)
            builder.set(f"cluster.scale_out.links.{name}", totals[number], line)
    builder.count("links", sum(totals.values()), line)
    leaves = [each for each, depth in level.items() if depth == 1]
    if max(level.values()) > 1:
        _record_uplinks(Counter(up[leaf] for leaf in leaves), builder, line)


def _record_uplinks(ups: Counter[int], builder: ImportBuilder, line: int) -> None:
    """Record the uplinks per leaf; if they differ, also by how much."""
    if len(ups) == 1:
        builder.count("uplinks_per_leaf", next(iter(ups)), line)
        return
    builder.count("uplinks_per_leaf", f"{min(ups)} to {max(ups)}", line)
    most = max(ups)
    missing = sum((most - each) * count for each, count in ups.items() if each < most)
    shown = ", ".join(f"{count} leaves with {each}" for each, count in sorted(ups.items()))
    builder.unknown("uneven uplinks", f"{shown}; {missing} fewer than {most} on every leaf", line)


# A tree of switches or blocks as schedulers describe it, with the nodes under each switch


@dataclass
class SwitchTree:
    """Switches by name with their child switches and nodes. A switch of a scheduler may represent several physical
    switches, such as the leaves of all rails of a block.
    """

    children: dict[str, list[str]] = field(default_factory=dict)
    nodes: dict[str, list[str]] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, children: list[str], nodes: list[str], line: int) -> None:
        """Add a switch. Raises `FormatError` if its name is already used."""
        if name in self.lines:
            raise FormatError(f"the switch {excerpt(name)} is already described on line {self.lines[name]}", line)
        self.children[name], self.nodes[name], self.lines[name] = children, nodes, line

    def level(self) -> dict[str, int]:
        """The level of every switch, 1 for those with nodes. Raises `FormatError` for a cycle or a missing switch."""
        level: dict[str, int] = {}
        waiting = [(name, False) for name in self.lines]
        open_: set[str] = set()
        while waiting:
            name, done = waiting.pop()
            if done:
                open_.discard(name)
                level[name] = 1 + max((level[child] for child in self.children[name]), default=0)
            elif name not in level:
                if name in open_:
                    raise FormatError(f"the switch {excerpt(name)} is its own descendant", self.lines[name])
                open_.add(name)
                waiting.append((name, True))
                waiting += [(child, False) for child in self._known_names(name) if child not in level]
        return level

    def _known_names(self, name: str) -> list[str]:
        for child in self.children[name]:
            if child not in self.lines:
                raise FormatError(
                    f"the switch {excerpt(name)} has the child {excerpt(child)}, which is not described",
                    self.lines[name],
                )
        return self.children[name]


MOST_SHARED = 8
"""Maximum number of listed nodes that are below several switches."""


def describe_tree(tree: SwitchTree, builder: ImportBuilder) -> None:
    """Record the nodes of a tree and its switches per level. Raises `FormatError` if it has no node."""
    level = tree.level()
    nodes = {node for held in tree.nodes.values() for node in held}
    if not nodes:
        raise FormatError("names no node below any switch")
    line = min(tree.lines.values())
    depth = max(level.values())
    builder.set("cluster.nodes", len(nodes), line)
    builder.count("nodes", len(nodes), line)
    builder.count("switches", len(level), line)
    builder.count("edges", sum(map(len, tree.children.values())) + sum(map(len, tree.nodes.values())), line)
    for each in range(1, depth + 1):
        builder.count(f"switches_at_level_{each}", sum(1 for found in level.values() if found == each), line)
    builder.count("levels", depth, line)
    _list_shared_nodes(tree, builder)
    sizes = Counter(len(set(held)) for held in tree.nodes.values() if held)
    if len(sizes) == 1:
        builder.count("nodes_per_leaf", next(iter(sizes)), line)
    else:
        shown = ", ".join(f"{count} with {size}" for size, count in sorted(sizes.items()))
        builder.unknown("nodes of a leaf", f"leaves of different sizes: {shown}", line)
    why = "a scheduler's switch may represent several physical switches, or none"
    builder.unknown("cluster.scale_out.leaf_switches", why, line)


def _list_shared_nodes(tree: SwitchTree, builder: ImportBuilder) -> None:
    """List nodes below two switches if most nodes are below one."""
    owners: dict[str, list[str]] = {}
    for name, held in tree.nodes.items():
        for node in dict.fromkeys(held):
            owners.setdefault(node, []).append(name)
    shared = {node: names for node, names in owners.items() if len(names) > 1}
    if 2 * len(shared) < len(owners):
        for node, names in list(shared.items())[:MOST_SHARED]:
            builder.unknown(
                f"the switch of {excerpt(node)}", f"named below {' and '.join(names[:4])}", tree.lines[names[-1]]
            )


def describe_blocks(blocks: dict[str, list[str]], builder: ImportBuilder, line: int) -> None:
    """Record nodes and blocks; the nodes of a block share a scale-up domain or a leaf."""
    nodes = {node for held in blocks.values() for node in held}
    if not nodes:
        raise FormatError("names no node in any block", line)
    builder.set("cluster.nodes", len(nodes), line)
    builder.count("nodes", len(nodes), line)
    builder.count("blocks", len(blocks), line)
    sizes = Counter(map(len, blocks.values()))
    if len(sizes) == 1:
        builder.count("nodes_per_block", next(iter(sizes)), line)
    else:
        shown = ", ".join(f"{count} with {size}" for size, count in sorted(sizes.items()))
        builder.unknown("nodes of a block", f"blocks of different sizes: {shown}", line)
