"""The bill of materials: what has to be bought, how each number came about, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clusterspec.cluster.fabric import Fabric, fabric
from clusterspec.cluster.layout import nodes_of_domain
from clusterspec.cluster.model import Cluster, Design
from clusterspec.spec.model import Price, ProcurementSpec
from clusterspec.units import say_bits


@dataclass(frozen=True, slots=True)
class Item:
    """One line: so many of a part. Prices are in ``currency``, a number or a range, None where not known.

    ``kind`` is a key of `procurement.prices`, or ``spare_node``, which has the price of a node.
    """

    kind: str
    part: str
    quantity: int
    derivation: str
    unit_price: Price | None = None
    currency: str = ""

    @property
    def price(self) -> Price | None:
        """The whole line."""
        if isinstance(self.unit_price, tuple):
            low, high = self.unit_price
            return (low * self.quantity, high * self.quantity)
        return None if self.unit_price is None else self.unit_price * self.quantity

    @property
    def unit_price_text(self) -> str:
        return money(self.unit_price, self.currency)

    @property
    def price_text(self) -> str:
        return money(self.price, self.currency)

    def to_json(self) -> dict[str, Any]:
        """The fields of the contract; prices are left out where they are not known."""
        said = {"kind": self.kind, "part": self.part, "quantity": self.quantity, "derivation": self.derivation}
        if self.unit_price is None:
            return said
        return said | {"unit_price": _plain(self.unit_price), "price": _plain(self.price)}


def bill(design: Design) -> tuple[tuple[Item, ...], Fabric | None, str]:
    """The items, the fabric behind them, and why there is none where there is none.

    Spare nodes are bought, with their NICs and cables; parts of which none is needed are left out.
    """
    cluster = design.cluster
    if cluster is None:
        return (), None, "the cluster cannot be settled; `clusterspec check` says why"
    said = design.spec.cluster.scale_out if design.spec.cluster else None
    counted = fabric(cluster, said)
    lines = _nodes(cluster) + (_fabric(counted) if isinstance(counted, Fabric) else [])
    items = tuple(_priced(*line, design.spec.procurement) for line in lines if line[2])
    return (items, counted, "") if isinstance(counted, Fabric) else (items, None, counted.why)


def total(items: Sequence[Item]) -> Price | None:
    """What all priced lines come to; None where no line is priced, a range where one of them is.

    >>> total([Item("node", "n", 2, "", (3, 4)), Item("cable", "c", 10, "", 1), Item("nic", "x", 1, "")])
    (16, 18)
    """
    prices = [item.price for item in items if item.price is not None]
    if not prices:
        return None
    low, high = (sum(_ends(price)[end] for price in prices) for end in (0, 1))
    return low if low == high else (low, high)


def _ends(price: Price) -> tuple[float, float]:
    return price if isinstance(price, tuple) else (price, price)


Line = tuple[str, str, int, str]


def _nodes(cluster: Cluster) -> list[Line]:
    bare = f"node of {cluster.accelerators_per_node} {cluster.accelerator.id}"
    node = _sold_as(cluster.platform.id, cluster) if cluster.platform else bare
    lines = [
        ("node", node, cluster.nodes, "cluster.nodes"),
        ("spare_node", node, cluster.spare_nodes, "cluster.spare_nodes, on top of the nodes that work"),
    ]
    scale_out, within = cluster.scale_out, cluster.platform is not None and cluster.platform.nics_per_node
    if scale_out is not None and not within and not cluster.cloud:
        nodes = cluster.all_nodes
        derivation = f"{nodes} nodes × {scale_out.nics_per_node}"
        part = f"{scale_out.technology.id} NIC, {say_bits(scale_out.nic_bandwidth.value)}"
        lines.append(("nic", part, nodes * scale_out.nics_per_node, derivation))
    return lines


def _sold_as(platform: str, cluster: Cluster) -> str:
    nodes = nodes_of_domain(cluster)
    return f"{platform}, one of the {nodes} nodes of a domain" if nodes > 1 else platform


def _fabric(counted: Fabric) -> list[Line]:
    how = counted.derivations
    rows = {"leaf": counted.leaf_switches, "spine": counted.spine_switches, "core": counted.core_switches}
    switches = [(f"{row}_switch", counted.switch, count, how[f"{row}_switches"]) for row, count in rows.items()]
    named = {"node_leaf": "node to leaf", "leaf_spine": "leaf to spine", "spine_core": "spine to core"}
    cables = [
        ("cable", f"{name} cable", counted.cables[level], f"{how[level]}; {how['cables']}")
        for level, name in named.items()
    ]
    optics = ("transceiver", "transceiver", counted.transceivers, how["transceivers"])
    return [*switches, *cables, optics]


def _priced(kind: str, part: str, quantity: int, derivation: str, said: ProcurementSpec | None) -> Item:
    prices: Mapping[str, Price] = (said.prices if said else None) or {}
    price = prices.get("node" if kind == "spare_node" else kind)
    return Item(kind, part, quantity, derivation, price, (said.currency if said else None) or "")


def money(price: Price | None, currency: str = "") -> str:
    """A price as people read it; empty where there is none.

    >>> money((280000, 340000.5), "USD"), money(900), money(None)
    ('280,000 – 340,000.50 USD', '900', '')
    """
    if price is None:
        return ""
    numbers = price if isinstance(price, tuple) else (price,)
    said = " – ".join(f"{number:,.0f}" if number == int(number) else f"{number:,.2f}" for number in numbers)
    return f"{said} {currency}".rstrip()


def _plain(price: Price | None) -> Any:
    return list(price) if isinstance(price, tuple) else price
