"""A tree of switches or blocks as schedulers describe it, with the nodes under each switch."""

from __future__ import annotations

from collections import Counter

from clusterspec.exchange.import_result import FormatError, ImportBuilder
from clusterspec.records import dataclass, field


@dataclass(slots=True)
class SwitchTree:
    """Switches by name with their child switches and nodes. A scheduler's switch may represent several physical
    switches, such as the leaves of all rails of a block.
    """

    children: dict[str, list[str]] = field(default_factory=dict)
    nodes: dict[str, list[str]] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, children: list[str], nodes: list[str], line: int) -> None:
        """Add a switch. Raises `FormatError` if its name is already used."""
        if name in self.lines:
            raise FormatError(f"the switch {name[:60]} is already described on line {self.lines[name]}", line)
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
                    raise FormatError(f"the switch {name[:60]} is its own descendant", self.lines[name])
                open_.add(name)
                waiting.append((name, True))
                waiting += [(child, False) for child in self._known(name) if child not in level]
        return level

    def _known(self, name: str) -> list[str]:
        for child in self.children[name]:
            if child not in self.lines:
                raise FormatError(
                    f"the switch {name[:60]} has the child {child[:60]}, which is not described", self.lines[name]
                )
        return self.children[name]


def describe(tree: SwitchTree, builder: ImportBuilder) -> None:
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
    sizes = Counter(len(set(held)) for held in tree.nodes.values() if held)
    if len(sizes) == 1:
        builder.count("nodes_per_leaf", next(iter(sizes)), line)
    else:
        shown = ", ".join(f"{count} with {size}" for size, count in sorted(sizes.items()))
        builder.unknown("nodes of a leaf", f"leaves of different sizes: {shown}", line)
    why = "a scheduler's switch may represent several physical switches, or none"
    builder.unknown("cluster.scale_out.leaf_switches", why, line)


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
