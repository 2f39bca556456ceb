"""Layouts whose tensor-parallel groups lie inside a scale-up domain."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout
from clusterspec.rules.advice.what_if import Alternative, WhatIf
from clusterspec.rules.knowledge.domains import used_domain


def fastest_within_domain(what_if: WhatIf, cluster: Cluster, layout: Layout) -> Alternative | None:
    """The fastest legal layout that fits in memory, whose tp divides the domain and is first in the rank order."""
    found = what_if.fitting_alternatives(_candidates(cluster, layout))
    return found[0] if found else None


def _candidates(cluster: Cluster, layout: Layout) -> Iterator[dict[str, object]]:
    """Layouts with tp innermost and a degree that divides the domain, from the largest down; freed ranks become stages
    or replicas. The present tp is kept first if it divides the domain.
    """
    domain = used_domain(cluster, layout)
    order = tuple(sorted(layout.order, key=lambda axis: axis != "tp"))
    first: dict[str, object] = {} if layout.order[0] == "tp" else {"order": order}
    degrees = [tp for tp in range(min(layout.tp, domain), 0, -1) if domain % tp == 0]
    if layout.tp in degrees and first:
        yield first
    for tp in degrees:
        if tp == layout.tp:
            continue
        yield {"tp": tp} | first
        if layout.tp % tp == 0:
            yield {"tp": tp, "pp": layout.pp * layout.tp // tp, "stage_layers": None} | first
