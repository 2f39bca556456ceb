"""Bandwidth of links from their parts. Floats or arrays; bytes per second unless stated otherwise.

All figures are per direction; `duplex` returns the sum of both.
"""

from __future__ import annotations

from clusterspec.cost.expressions import formula

PCIE_3_TRANSFERS = 8e9
"""Transfers per second and lane of PCIe 3; each generation since doubles them (PCI Express Base Specification)."""
PCIE_128B130B = 128 / 130
"""Share of the transfer rate that PCIe 3 to 5 leaves after its line code (PCI Express Base Specification)."""
PCIE_FLIT = 242 / 256
"""Share that PCIe 6 and 7 leave for transaction and data-link packets of a 256-byte flit (same source)."""
PCIE_FLIT_PAYLOAD = 236 / 256
"""Share of a flit for transaction packets only (same source)."""


@formula("lane * lanes * links")
def accelerator_bandwidth(lane: float, lanes: float, links: float) -> float:
    """One accelerator over all its links, one direction: lane × lanes × links.

    >>> accelerator_bandwidth(12.5e9, 2, 18) / 1e9, accelerator_bandwidth(2.5e9, 8, 4) / 1e9
    (450.0, 80.0)
    """
    return lane * lanes * links


@formula("2 * bandwidth")
def duplex(bandwidth: float) -> float:
    """Both directions summed.

    >>> duplex(450e9)
    900000000000.0
    """
    return 2 * bandwidth


@formula("transfers * lanes * share / 8")
def slot_bandwidth(transfers: float, lanes: float, share: float) -> float:
    """A PCIe slot: T × x × share / 8, with T in transfers per second and lane.

    >>> round(slot_bandwidth(32e9, 16, PCIE_128B130B) / 1e9, 3), slot_bandwidth(64e9, 16, PCIE_FLIT) / 1e9
    (63.015, 121.0)
    >>> slot_bandwidth(64e9, 16, PCIE_FLIT_PAYLOAD) / 1e9
    118.0
    """
    return transfers * lanes * share / 8


def slot_rate(generation: int) -> float:
    """An x16 slot of a PCIe generation, B/s in one direction; generations from 3 on.

    >>> round(slot_rate(5) / 1e9, 2), slot_rate(6) / 1e9
    (63.02, 121.0)
    """
    transfers = PCIE_3_TRANSFERS * 2 ** (generation - 3)
    return float(slot_bandwidth(transfers, 16, PCIE_FLIT if generation >= 6 else PCIE_128B130B))


@formula("nics * line_rate")
def node_bandwidth(nics: float, line_rate: float) -> float:
    """All NICs of a node at line rate, in the unit of ``line_rate``.

    >>> node_bandwidth(8, 50e9) / 1e9, node_bandwidth(24, 200)
    (400.0, 4800)
    """
    return nics * line_rate


@formula("(ranks - 1) * peer_bandwidth")
def mesh_bandwidth(peer_bandwidth: float, ranks: float) -> float:
    """The bandwidth of a rank of a full mesh to a group: one link to each other member, (k − 1) B.

    >>> mesh_bandwidth(64e9, 8) / 1e9, mesh_bandwidth(64e9, 2) / 1e9
    (448.0, 64.0)
    """
    return (ranks - 1) * peer_bandwidth


@formula("accelerators / 2 * bandwidth")
def bisection(accelerators: float, bandwidth: float) -> float:
    """The bandwidth between the two halves of a non-blocking domain, one direction: n / 2 · B.

    >>> duplex(bisection(8, 450e9)) / 1e12, duplex(bisection(128, 450e9)) / 1e12
    (3.6, 57.6)
    """
    return accelerators / 2 * bandwidth


@formula("bandwidth / (sharers * oversubscription)")
def share(bandwidth: float, sharers: float, oversubscription: float = 1.0) -> float:
    """The bandwidth of one of several concurrent users of a link behind an oversubscribed level: B / (g o).

    >>> share(400e9, 8), share(400e9, 1, 2.0)
    (50000000000.0, 200000000000.0)
    """
    return bandwidth / (sharers * oversubscription)
