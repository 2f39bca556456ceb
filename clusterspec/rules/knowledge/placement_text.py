"""Descriptions of the placement of groups in messages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from clusterspec.cluster.groups import Placement


def straddling_groups(placement: Placement) -> str:
    """The groups across domains as text: `4 of 27 tp groups span 2 scale-up domains (the first: ranks 64–79)`."""
    name = placement.axis.replace("_", " ")
    where = f"{placement.domains} scale-up domains" if placement.domains > 1 else "several scale-up domains"
    if placement.groups == 1:
        return f"the {name} group spans {where}"
    which = "all" if placement.straddling == placement.groups else f"{placement.straddling:,} of"
    first = ranks_text(placement.first_straddling, placement.ranks)
    span = "spans" if placement.straddling == 1 else "span"
    return f"{which} {placement.groups:,} {name} groups {span} {where} (the first: ranks {first})"


def ranks_text(ranks: Sequence[int], size: int) -> str:
    """Ranks of a group as text: ``0–15``, ``0, 8, 16 …``.

    >>> ranks_text((0, 1, 2, 3), 4), ranks_text((0, 8, 16, 24), 8)
    ('0–3', '0, 8, 16 …')
    """
    contiguous = len(ranks) > 2 and all(after - before == 1 for before, after in pairwise(ranks))
    if contiguous:
        return f"{ranks[0]}–{ranks[0] + size - 1}"
    listed = ", ".join(map(str, ranks[:3]))
    return listed + (" …" if size > 3 else "")
