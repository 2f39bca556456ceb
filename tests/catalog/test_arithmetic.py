"""Sums that must close in every entry: lanes, links, meshes, domains, nodes, peaks, switches.

Where a maker's own figures do not add up, the entry says why (``exceptions``), and a sum that
does close needs no excuse.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import pytest

from clusterspec.catalog.raw_entry import RawEntry
from clusterspec.catalog.reader import Reader
from tests.catalog.shipped import CARDS, CATALOG

Sum = tuple[float | None, float | None]
"""What parts add up to, and what the entry says the whole is."""

TOLERANCE = 0.002
WIDTHS = {"x1": 1, "x4": 4, "x8": 8, "x12": 12}
PCIE_X16 = {3: "pcie-3", 4: "pcie-4", 5: "pcie-5", 6: "pcie-6"}


def rate(read: Reader, name: str) -> float | None:
    bandwidth = read.bandwidth(name)
    return bandwidth.value if bandwidth else None


def times(*factors: float | None) -> float | None:
    return None if None in factors else math.prod(factor for factor in factors if factor is not None)


def lanes(read: Reader) -> Iterator[Sum]:
    lane = rate(read, "lane.bandwidth")
    yield times(lane, read.count("lane.per_link")), rate(read, "link.bandwidth")
    for width, count in WIDTHS.items():
        yield times(lane, count), rate(read, f"widths.{width}")


def links(read: Reader) -> Iterator[Sum]:
    yield times(rate(read, "link.bandwidth"), read.count("link.count")), of_device(read)
    yield times(rate(read, "scale_up.link_bandwidth"), read.count("scale_up.links")), rate(read, "scale_up.bandwidth")
    for group in ("", "scale_up."):
        axes = [2 * axis.value for axis in read.bandwidths(f"{group}axis_bandwidth")]
        yield sum(axes) or None, rate(read, f"{group}bandwidth")


def of_device(read: Reader) -> float | None:
    whole = read.raw_entry.facts.get("bandwidth")
    return rate(read, "bandwidth") if whole and whole.scope in {"device", "slot"} else None


def mesh(read: Reader) -> Iterator[Sum]:
    if read.text("scale_up.topology") == "full-mesh":
        peers = read.counts("scale_up.domains")[0] - 1
        yield times(rate(read, "scale_up.peer_bandwidth"), peers), rate(read, "scale_up.bandwidth")


def domain(read: Reader) -> Iterator[Sum]:
    yield times(read.count("accelerators_per_node"), read.count("nodes_per_domain")), read.count("domain")
    if read.counts("shape"):
        yield math.prod(read.counts("shape")), read.count("domain")
    if shape := read.counts("scale_up.shape"):
        yield math.prod(shape), read.counts("scale_up.domains")[0]


def node(read: Reader) -> Iterator[Sum]:
    yield times(read.count("nics_per_node"), rate(read, "nic_bandwidth")), rate(read, "node_bandwidth")
    if read.raw_entry.kind == "interconnect":
        yield times(read.count("node_ports"), rate(read, "bandwidth")), rate(read, "node_bandwidth")


def sparse(read: Reader) -> Iterator[Sum]:
    dense, halved = read.peaks("peak"), read.peaks("sparse_peak")  # a sparse peak is read as its dense half
    for precision, peak in halved.items():
        yield peak.value, dense[precision].value


def switch(read: Reader) -> Iterator[Sum]:
    yield times(read.count("ports"), rate(read, "port_bandwidth")), rate(read, "capacity")


def interconnect(read: Reader) -> Iterator[Sum]:
    own = rate(read, "scale_up.bandwidth")
    if own and (named := CATALOG.interconnect(read.texts("scale_up.interconnects")[0]).bandwidth):
        yield named.value, own
    if read.raw_entry.kind == "platform" and (inside := CATALOG.accelerator(read.text("accelerator") or "")):
        whole = inside.scale_up_bandwidth
        yield whole.value if whole else None, rate(read, "scale_up_bandwidth")


LAWS: dict[str, Callable[[Reader], Iterator[Sum]]] = {
    "lanes": lanes,
    "links": links,
    "mesh": mesh,
    "domain": domain,
    "node": node,
    "sparse": sparse,
    "switch": switch,
    "interconnect": interconnect,
}


def broken(raw_entry: RawEntry, law: str) -> list[Sum]:
    sums = LAWS[law](Reader(raw_entry))
    return [(a, b) for a, b in sums if a is not None and b is not None and abs(a / b - 1) > TOLERANCE]


@pytest.mark.parametrize("law", LAWS)
def test_the_sum_closes_or_the_entry_says_why_not(law: str) -> None:
    open_sums = {
        f"{raw_entry.kind}/{raw_entry.id}": broken(raw_entry, law)
        for raw_entry in CARDS
        if law not in raw_entry.exceptions
    }
    assert {name: sums for name, sums in open_sums.items() if sums} == {}


@pytest.mark.parametrize("law", LAWS)
def test_a_sum_that_closes_needs_no_excuse(law: str) -> None:
    assert [raw_entry.id for raw_entry in CARDS if law in raw_entry.exceptions and not broken(raw_entry, law)] == []


@pytest.mark.parametrize("law", LAWS)
def test_the_law_is_asked_of_several_entries(law: str) -> None:
    asked = [sums for raw_entry in CARDS for sums in LAWS[law](Reader(raw_entry)) if None not in sums]
    assert len(asked) >= 2


def test_a_nic_fits_its_slot_or_the_entry_says_why_not() -> None:
    for raw_entry in CARDS:
        read = Reader(raw_entry)
        generation = read.count("pcie.nic") if raw_entry.kind == "platform" else read.count("pcie")
        one = rate(read, "nic_bandwidth") if raw_entry.kind == "platform" else rate(read, "port_bandwidth")
        if (
            raw_entry.kind not in {"platform", "nic"}
            or generation is None
            or one is None
            or "slot" in raw_entry.exceptions
        ):
            continue
        slot = CATALOG.interconnect(PCIE_X16[generation]).bandwidth
        assert slot is not None
        assert one * ((read.count("ports") or 1) if raw_entry.kind == "nic" else 1) <= slot.value, raw_entry.id


def test_a_fraction_of_a_figure_is_not_more_than_the_figure() -> None:
    fractions = {
        f"{raw_entry.id} {name}": figure.value
        for raw_entry in CARDS
        for name, figure in Reader(raw_entry).achievable().items()
        if figure.unit == "1" and raw_entry.achievable[name].of in raw_entry.facts
    }
    assert {name: value for name, value in fractions.items() if not 0 < value <= 1} == {}


def test_what_signals_is_at_least_what_carries() -> None:
    for raw_entry in CARDS:
        read = Reader(raw_entry)
        raw, carried = rate(read, "lane.signalling"), rate(read, "lane.bandwidth")
        assert raw is None or carried is None or carried <= raw * (1 + TOLERANCE), raw_entry.id
