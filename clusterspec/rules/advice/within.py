"""Layouts whose tensor-parallel groups stay inside a scale-up domain."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.rules.advice.what_if import Alternative, fitting
from clusterspec.rules.facts import Facts
from clusterspec.rules.knowledge.domains import used_domain


def inside(facts: Facts) -> Alternative | None:
    """The fastest layout whose tp divides the domain and comes first in the order, that is legal and fits."""
    found = fitting(facts, _candidates(facts))
    return found[0] if found else None


def _candidates(facts: Facts) -> Iterator[dict[str, object]]:
    """The ranks that a smaller tp frees become stages or replicas; a tp that already divides stays."""
    cluster, layout = facts.cluster, facts.layout
    assert cluster is not None and layout is not None
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
