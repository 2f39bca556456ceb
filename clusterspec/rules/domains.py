"""What happens at the boundary of a scale-up domain, and the layouts on its inner side."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.groups import Placement
from clusterspec.cluster.model import Cluster, Layout
from clusterspec.rules.facts import Facts
from clusterspec.rules.ranks import used_domain
from clusterspec.rules.what_if import Alternative, fitting
from clusterspec.units import say


def accelerators_of_tp(cluster: Cluster, layout: Layout) -> int:
    """Packages that the ranks of one tp group fill."""
    return -(-layout.tp // cluster.ranks_per_accelerator)


def beyond(cluster: Cluster, layout: Layout) -> bool:
    """Whether no placement could keep a tp group inside one domain."""
    return accelerators_of_tp(cluster, layout) > cluster.scale_up.domain


def inside(facts: Facts) -> Alternative | None:
    """The fastest layout whose tp divides the domain and comes first in the order, that is legal and fits."""
    found = fitting(facts, _candidates(facts))
    return found[0] if found else None


def _candidates(facts: Facts) -> Iterator[dict[str, object]]:
    """The ranks that a smaller tp sets free become stages or replicas; a tp that already divides keeps its size."""
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


def tiers(cluster: Cluster, placement: Placement) -> str:
    """`at 50 GB/s of NICs an accelerator instead of the 450 GB/s inside`."""
    within = say(cluster.scale_up.bandwidth.value, "B/s")
    if placement.nodes == 1:
        return f"over PCIe instead of the {within} inside"
    if cluster.nic_share is None:
        return f"over a network that is not described instead of the {within} inside"
    return f"at {say(cluster.nic_share, 'B/s')} of NICs an accelerator instead of the {within} inside"
