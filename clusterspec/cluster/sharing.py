"""The number of groups of one axis that share a node, and so its NICs, at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from clusterspec.cluster.rank_sets import MOST_ALIGNMENTS, Runs, alike, reach, size, spread

MOST_RANKS = 20_000
"""Limit of enumerated ranks, where a group of several runs does not fit the pattern of the nodes."""


def groups_sharing_a_node(group: Runs, others: Runs, node: int) -> int:
    """The most groups that have members on one node and also on others; 0 where no group leaves its node.

    ``group`` are the offsets of a group's members, ``others`` the first ranks of all groups; together they enumerate
    all ranks, unless there is only one group. ``node`` is the ranks of a node.
    """
    total = size(group) * size(others)
    if not others:
        return int(spread(0, group, node).blocks > 1)
    if not group or total <= node:
        return 0
    if alike(group, others, node):
        on_node = spread(0, group, node)
        return node // on_node.fullest if on_node.blocks > 1 else 0
    if len(group) == 1:
        count, stride = group[0]
        starts = _starts(count * stride, node, total)
        return max(_sharing(start, min(node, total - first), count * stride, stride) for first, start in starts)
    return max(_counted(first, group, others, node) for first in range(0, min(total, MOST_RANKS), node))


def _starts(turn: int, node: int, total: int) -> Iterator[tuple[int, int]]:
    """Candidate nodes, as (first rank, its remainder by ``turn``): the first, the last, and one for each alignment of a
    node with a multiple of ``turn``.
    """
    nodes = -(-total // node)
    step = gcd(turn, node)
    yield 0, 0
    yield (nodes - 1) * node, (nodes - 1) * node % turn
    inverse = pow(node // step, -1, turn // step)
    lowest = max(0, (turn - node) // step * step)
    for rest in range(lowest, min(turn, lowest + step * MOST_ALIGNMENTS), step):
        index = rest // step * inverse % (turn // step)
        if index < nodes:
            yield index * node, rest


def _sharing(start: int, length: int, turn: int, stride: int) -> int:
    """Groups on a node of ``length`` ranks that leave it.

    One turn of ``stride × count`` ranks has ``stride`` groups; a node has the end of one turn, whole turns (whose
    groups do not leave it) and the start of another.
    """
    head = min(length, turn - start)
    return _cut(head, turn, stride) + _cut((length - head) % turn, turn, stride)


def _cut(inside: int, turn: int, stride: int) -> int:
    """Groups of one turn with members on both sides, where ``inside`` of its ranks are on one side.

    Each group is on at least one side, so those on both are the excess of the two sides' groups over all.
    """
    return min(inside, stride) + min(turn - inside, stride) - stride


def _counted(first: int, group: Runs, others: Runs, node: int) -> int:
    """The groups that leave one node, by enumeration of its ranks."""
    last = min(first + min(node, MOST_RANKS), size(group) * size(others))
    bases = {sum(rank // stride % count * stride for count, stride in others) for rank in range(first, last)}
    return sum(base < first or base + reach(group) >= last for base in bases)
