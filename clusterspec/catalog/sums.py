"""Consistency checks of entries: lanes, links, meshes, domains, nodes, peaks, switches, slots.

Each check yields pairs of a value computed from parts and the value stated by the entry, both in SI
(bandwidths per direction), None if unknown. An entry with inconsistent published figures names the
check in its ``exceptions``, with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from clusterspec.catalog.library import Catalog
from clusterspec.catalog.reader import FactReader

Sum = tuple[float | None, float | None]
SumCheck = Callable[[FactReader, Catalog], Iterator[Sum]]
TOLERANCE = 0.002
_WIDTHS = {"x1": 1, "x4": 4, "x8": 8, "x12": 12}
_SLOTS = {3: "pcie-3", 4: "pcie-4", 5: "pcie-5", 6: "pcie-6"}


def open_sums(read: FactReader, check: str, catalog: Catalog) -> list[Sum]:
    """The pairs of a check that differ by more than `TOLERANCE`."""
    known = [
        (parts, whole) for parts, whole in SUM_CHECKS[check](read, catalog) if parts is not None and whole is not None
    ]
    return [(parts, whole) for parts, whole in known if abs(parts / whole - 1) > TOLERANCE]


def _rate(read: FactReader, name: str) -> float | None:
    bandwidth = read.bandwidth(name)
    return bandwidth.value if bandwidth else None


def _times(*factors: float | None) -> float | None:
    return None if None in factors else math.prod(factor for factor in factors if factor is not None)


def _lanes(read: FactReader, _: Catalog) -> Iterator[Sum]:
    lane = _rate(read, "lane.bandwidth")
    yield _times(lane, read.count("lane.per_link")), _rate(read, "link.bandwidth")
    for width, count in _WIDTHS.items():
        yield _times(lane, count), _rate(read, f"widths.{width}")


def _links(read: FactReader, _: Catalog) -> Iterator[Sum]:
    yield _times(_rate(read, "link.bandwidth"), read.count("link.count")), _of_device(read)
    yield (
        _times(_rate(read, "scale_up.link_bandwidth"), read.count("scale_up.links")),
        _rate(read, "scale_up.bandwidth"),
    )
    for group in ("", "scale_up."):
        axes = [2 * axis.value for axis in read.bandwidths(f"{group}axis_bandwidth")]
        yield sum(axes) or None, _rate(read, f"{group}bandwidth")


def _of_device(read: FactReader) -> float | None:
    whole = read.raw_entry.facts.get("bandwidth")
    return _rate(read, "bandwidth") if whole and whole.scope in {"device", "slot"} else None


def _mesh(read: FactReader, _: Catalog) -> Iterator[Sum]:
    if read.text("scale_up.topology") == "full-mesh" and read.counts("scale_up.domains"):
        peers = read.counts("scale_up.domains")[0] - 1
        yield _times(_rate(read, "scale_up.peer_bandwidth"), peers), _rate(read, "scale_up.bandwidth")


def _domain(read: FactReader, _: Catalog) -> Iterator[Sum]:
    yield _times(read.count("accelerators_per_node"), read.count("nodes_per_domain")), read.count("domain")
    if read.counts("shape"):
        yield math.prod(read.counts("shape")), read.count("domain")
    if shape := read.counts("scale_up.shape"):
        yield math.prod(shape), read.counts("scale_up.domains")[0]


def _node(read: FactReader, _: Catalog) -> Iterator[Sum]:
    yield _times(read.count("nics_per_node"), _rate(read, "nic_bandwidth")), _rate(read, "node_bandwidth")
    if read.raw_entry.kind == "interconnect":
        yield _times(read.count("node_ports"), _rate(read, "bandwidth")), _rate(read, "node_bandwidth")


def _sparse(read: FactReader, _: Catalog) -> Iterator[Sum]:
    dense, halved = read.peaks("peak"), read.peaks("sparse_peak")  # a sparse peak is read as its dense half
    for precision, peak in halved.items():
        yield peak.value, dense[precision].value if precision in dense else 0.5 * peak.value


def _switch(read: FactReader, _: Catalog) -> Iterator[Sum]:
    yield _times(read.count("ports"), _rate(read, "port_bandwidth")), _rate(read, "capacity")


def _interconnect(read: FactReader, catalog: Catalog) -> Iterator[Sum]:
    own, named = _rate(read, "scale_up.bandwidth"), read.texts("scale_up.interconnects")
    if own and named and (whole := catalog.interconnect(named[0]).bandwidth):
        yield whole.value, own
    if read.raw_entry.kind == "platform":
        inside = catalog.accelerator(read.text("accelerator") or "").scale_up_bandwidth
        yield inside.value if inside else None, _rate(read, "scale_up_bandwidth")


def _slot(read: FactReader, catalog: Catalog) -> Iterator[Sum]:
    """The rate of a NIC limited by its slot, and the NIC's own; they differ only if the slot is too slow."""
    kind = read.raw_entry.kind
    generation = read.count("pcie.nic" if kind == "platform" else "pcie")
    one = _rate(read, "nic_bandwidth" if kind == "platform" else "port_bandwidth")
    if kind not in {"platform", "nic"} or one is None or generation not in _SLOTS:
        return
    slot = catalog.interconnect(_SLOTS[generation]).bandwidth
    needed = one * ((read.count("ports") or 1) if kind == "nic" else 1)
    yield min(needed, slot.value) if slot else None, needed


SUM_CHECKS: dict[str, SumCheck] = {
    "lanes": _lanes,
    "links": _links,
    "mesh": _mesh,
    "domain": _domain,
    "node": _node,
    "sparse": _sparse,
    "switch": _switch,
    "interconnect": _interconnect,
    "slot": _slot,
}
