"""Regular sets of ranks, their division into blocks of equal size, and the groups that share a node; ranks are
not enumerated.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, takewhile
from math import gcd, prod

from clusterspec.records import dataclass, replace

Run = tuple[int, int]
Runs = tuple[Run, ...]

MOST_ALIGNMENTS = 20_000
"""Limit of distinguished alignments of a group with its blocks. Blocks up to as many ranks (twice the largest scale-up
domain sold, a TPU 7x pod of 9,216 chips) are exact; no catalog entry has larger ones.
"""


@dataclass(frozen=True)
class BlockSpread:
    """The division of a rank set into blocks: the number of blocks with members, and the members of the fullest.

    ``first`` and ``last`` are the indices of the outermost blocks, with the members in each.
    """

    blocks: int
    fullest: int
    first: int
    first_members: int
    last: int
    last_members: int

    @property
    def smallest_block(self) -> int:
        """The smaller of the group's rank counts in its first and its last block."""
        return min(self.first_members, self.last_members)


def merged_runs(runs: Runs) -> Runs:
    """The same rank set with the fewest runs; adjacent runs are merged.

    >>> merged_runs(((2, 1), (1, 2), (4, 2), (3, 16)))
    ((8, 1), (3, 16))
    """
    out: list[Run] = []
    for count, stride in runs:
        if count == 1:
            continue
        if out and stride == out[-1][0] * out[-1][1]:
            out[-1] = (out[-1][0] * count, out[-1][1])
        else:
            out.append((count, stride))
    return tuple(out)


def member_count(runs: Runs) -> int:
    """The number of members of a rank set."""
    return prod(count for count, _ in runs)


def member_span(runs: Runs) -> int:
    """The distance from the first member to the last."""
    return sum((count - 1) * stride for count, stride in runs)


def rank_members(base: int, runs: Runs) -> Iterator[int]:
    """The members in ascending order."""
    if not runs:
        yield base
        return
    *inner, (count, stride) = runs
    for index in range(count):
        yield from rank_members(base + index * stride, tuple(inner))


def block_spread(base: int, runs: Runs, block: int) -> BlockSpread:
    """The division of a rank set into blocks of ``block`` consecutive ranks.

    >>> block_spread(64, ((16, 1),), 72)
    BlockSpread(blocks=2, fullest=8, first=0, first_members=8, last=1, last_members=8)
    """
    if not runs:
        return BlockSpread(1, 1, base // block, 1, base // block, 1)
    *inner, (count, stride) = runs
    if not inner:
        return _single_run_spread(base, count, stride, block)
    return _repeated_spread(base, tuple(inner), (count, stride), block)


def _single_run_spread(base: int, count: int, stride: int, block: int) -> BlockSpread:
    """The division of one run. With a stride shorter than a block, every block in between has block // stride members
    or one more; the total determines how many have one more.
    """
    end = base + (count - 1) * stride
    first, last = base // block, end // block
    if stride >= block:
        return BlockSpread(count, 1, first, 1, last, 1)
    if first == last:
        return BlockSpread(1, count, first, count, last, count)
    at_first = -(-(block - base % block) // stride)
    at_last = end % block // stride + 1
    between, least = last - first - 1, block // stride
    more = count - at_first - at_last > least * between
    fullest = max(at_first, at_last, least + more if between else 0)
    return BlockSpread(between + 2, fullest, first, at_first, last, at_last)


def _repeated_spread(base: int, inner: Runs, outer: Run, block: int) -> BlockSpread:
    """The division of copies of a rank set at a stride: joined individually over three periods, then repeated."""
    count, stride = outer
    period = min(block // gcd(stride, block), MOST_ALIGNMENTS)
    repeats = max(0, count // period - 3)
    walked = count - repeats * period
    total = block_spread(base, inner, block)
    before = total.blocks if walked - period == 1 else 0
    for index in range(1, walked):
        total = _joined_spread(total, block_spread(base + index * stride, inner, block))
        if index == walked - period - 1:
            before = total.blocks
    if not repeats:
        return total
    grown = repeats * (total.blocks - before)
    return replace(total, blocks=total.blocks + grown, last=(base + member_span((*inner, outer))) // block)


def _joined_spread(left: BlockSpread, right: BlockSpread) -> BlockSpread:
    """Two adjacent divisions as one; they may share a block."""
    fullest = max(left.fullest, right.fullest)
    if left.last != right.first:
        blocks = left.blocks + right.blocks
        return BlockSpread(blocks, fullest, left.first, left.first_members, right.last, right.last_members)
    shared = left.last_members + right.first_members
    return BlockSpread(
        blocks=left.blocks + right.blocks - 1,
        fullest=max(fullest, shared),
        first=left.first,
        first_members=shared if left.blocks == 1 else left.first_members,
        last=right.last,
        last_members=shared if right.blocks == 1 else right.last_members,
    )


def evaluated_runs(runs: Runs, block: int) -> int:
    """The number of single runs that `spread` evaluates: one, unless the rank set has several runs.

    >>> evaluated_runs(((8, 1),), 72), evaluated_runs(((8, 1), (1000, 16)), 72)
    (1, 36)
    """
    return prod(min(count, 4 * (block // gcd(stride, block)), 4 * MOST_ALIGNMENTS) for count, stride in runs[1:])


def divides_groups_alike(group: Runs, others: Runs, block: int) -> bool:
    """Whether blocks of this size end at the end of a digit (or of a whole part of a digit), so that every group is
    divided in the same way. ``group`` and ``others`` together enumerate all ranks.

    >>> divides_groups_alike(((8, 1),), ((9, 8),), 72), divides_groups_alike(((16, 1),), ((9, 16),), 72)
    (True, False)
    """
    if member_count(group) * member_count(others) <= block:
        return True
    return all(
        stride % block == 0 or block % (count * stride) == 0 or (block % stride == 0 and count * stride % block == 0)
        for count, stride in group + others
    )


def block_alignments(bases: Runs, block: int) -> dict[int, tuple[int, int]]:
    """The distinct positions of rank sets relative to blocks: for each remainder of a base modulo the block size, the
    first base with that remainder and the number of such bases. At most `MOST_ALIGNMENTS` are distinguished.

    >>> block_alignments(((4, 16),), 24)
    {0: (0, 2), 16: (16, 1), 8: (32, 1)}
    """
    found = {0: (0, 1)}
    for count, stride in bases:
        period = block // gcd(stride, block)
        kept = min(count, period, MOST_ALIGNMENTS // len(found))
        grown: dict[int, tuple[int, int]] = {}
        for index in range(kept):
            times = (count - 1 - index) // period + 1
            for rest, (first, many) in found.items():
                key, base = (rest + index * stride) % block, first + index * stride
                known_first, known = grown.get(key, (base, 0))
                grown[key] = (min(known_first, base), known + many * times)
        found = grown
    return found


# The number of groups of one axis that share a node, and so its NICs, at the same time

MOST_RANKS = 20_000
"""Maximum number of ranks to enumerate. Groups with several runs are enumerated if they do not fit the pattern of the
nodes.
"""


@lru_cache(maxsize=1 << 13)  # clusters with equal nodes share them
def groups_sharing_a_node(group: Runs, others: Runs, node: int) -> int:
    """The maximum number of groups on one node that also have members on other nodes; 0 if no group leaves its node.

    ``group`` has the offsets of a group's members, ``others`` the first ranks of all groups; together they enumerate
    all ranks, unless there is only one group. ``node`` is the ranks per node.
    """
    total = member_count(group) * member_count(others)
    if not others:
        return int(block_spread(0, group, node).blocks > 1)
    if not group or total <= node:
        return 0
    if divides_groups_alike(group, others, node):
        on_node = block_spread(0, group, node)
        return node // on_node.fullest if on_node.blocks > 1 else 0
    if len(group) == 1:
        count, stride = group[0]
        starts = _candidate_nodes(count * stride, node, total)
        return max(
            _count_of_groups_leaving_node(start, min(node, total - first), count * stride, stride)
            for first, start in starts
        )
    return _maximum_enumerated_groups(group, others, node)


def _candidate_nodes(turn: int, node: int, total: int) -> Iterator[tuple[int, int]]:
    """Nodes to examine, each as its first rank and that rank modulo ``turn``: the first node, the last node, and one
    node for each alignment with the multiples of ``turn``.
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


def _count_of_groups_leaving_node(start: int, length: int, turn: int, stride: int) -> int:
    """Groups on a node of ``length`` ranks that leave it.

    One turn of ``stride × count`` ranks has ``stride`` groups; a node has the end of one turn, whole turns (whose
    groups do not leave it) and the start of another.
    """
    head = min(length, turn - start)
    return _split_group_count(head, turn, stride) + _split_group_count((length - head) % turn, turn, stride)


def _split_group_count(inside: int, turn: int, stride: int) -> int:
    """Number of groups of one turn that have members on both sides of a node boundary; ``inside`` of the turn's ranks
    are on one side.

    Each group is on at least one side; the groups on both are therefore the sum of the two sides' groups less all
    groups.
    """
    return min(inside, stride) + min(turn - inside, stride) - stride


def _maximum_enumerated_groups(group: Runs, others: Runs, node: int) -> int:
    """The maximum number of groups that leave a node, found by enumerating the first `MOST_RANKS` ranks."""
    ranks = min(member_count(group) * member_count(others), MOST_RANKS)
    end = -(-ranks // node) * node
    offsets = [*islice(rank_members(0, group), end)]
    leaving: Counter[int] = Counter()
    for base in takewhile(lambda base: base < end, rank_members(0, others)):
        if base // node != (base + member_span(group)) // node:
            leaving.update({(base + each) // node for each in offsets[: bisect_left(offsets, end - base)]})
    return max(leaving.values(), default=0)
