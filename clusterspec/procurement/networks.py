"""Parts of the networks other than the scale-out fabric: frontend (in-band), out-of-band and storage."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.clos import parts
from clusterspec.cluster.model import Cluster
from clusterspec.cluster.scaleout import broken_out_ports
from clusterspec.procurement.item import Item
from clusterspec.spec.model import NetworkSpec, NetworksSpec
from clusterspec.units import plural

COUNTED = ("frontend", "out_of_band")
TITLES = {"frontend": "frontend network", "out_of_band": "out-of-band network"}


def network_items(cluster: Cluster, written: NetworksSpec | None) -> Iterator[Item | str]:
    """The switches and cables of each described network; a text for each part that is not counted.

    Each network is counted as one tier of leaf switches with all NICs cabled; higher tiers depend on the existing
    network of the site.
    """
    for name in COUNTED:
        network: NetworkSpec | None = getattr(written, name) if written else None
        yield from _network(cluster, name, network)


def _network(cluster: Cluster, name: str, network: NetworkSpec | None) -> Iterator[Item | str]:
    title = TITLES[name]
    if network is None:
        yield f"{title}: not described (`cluster.networks.{name}`)"
        return
    if network.shares:
        return
    nics = network.nics_per_node or (1 if name == "out_of_band" else 0)
    if not nics:
        yield f"{title}: `nics_per_node` is missing"
        return
    links = cluster.all_nodes * nics
    derivation = f"{plural(cluster.all_nodes, 'node')} × {plural(nics, 'NIC')}"
    yield Item(f"{name}_cable", f"{title} cable", links, derivation)
    switch = dict(cluster.network_switches).get(name)
    if switch is None:
        why = "is not in the catalog" if network.switch else "is missing"
        yield f"{title} switches: `switch` {why}"
        return
    rate = network.nic_bandwidth.per_direction if network.nic_bandwidth else 0.0
    ports = broken_out_ports(switch, rate) or switch.ports
    if ports:
        yield Item(
            f"{name}_switch", switch.id, parts(links, ports), f"{links:,} links / {ports} ports, the tier at the nodes"
        )
