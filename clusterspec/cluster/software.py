"""Finds the generation of software that a layout means: the framework's newest one of its year."""

from __future__ import annotations

from dataclasses import replace

from clusterspec.catalog.entries import Stack
from clusterspec.cluster.lookup import Lookup
from clusterspec.cluster.model import Layout

KIN = {"nemo": "megatron-core", "deepspeed": "megatron-deepspeed"}
"""Frameworks that share another one's kernels and schedules."""
USUAL = "megatron-core"
"""Whose generations stand for a framework that the catalog does not know."""


def with_stack(layout: Layout, lookup: Lookup) -> Layout:
    """The layout with its stack, None where the catalog has none. Reads one file.

    A stack's id is its framework and its first year. Before the first generation known the first is
    taken; a framework without any takes those of another, as a stated assumption.
    """
    own = _generations(KIN.get(layout.framework, layout.framework), lookup)
    known = own or _generations(USUAL, lookup)
    if not known:
        return layout
    year = max((each for each in known if each <= layout.software_year), default=min(known))
    stack = lookup.known("stack", known[year])
    if not own:
        why = f"the catalog has no generation of {layout.framework}"
        lookup.log.assume("layout.stack", known[year], why)
    return replace(layout, stack=stack) if isinstance(stack, Stack) else layout


def _generations(framework: str, lookup: Lookup) -> dict[int, str]:
    """First years and ids of a framework's generations."""
    found = {}
    for name in lookup.catalog.ids("stack"):
        family, _, year = name.rpartition("-")
        if family == framework and year.isdigit():
            found[int(year)] = name
    return found
