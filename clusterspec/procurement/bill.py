"""The bill of materials of a design."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from clusterspec.catalog.entries import Optics, Switch
from clusterspec.cluster.clos import FIBER, parts_needed
from clusterspec.cluster.degrees import nodes_of_domain, rack_nodes
from clusterspec.cluster.fabric import Fabric, LevelOptics, cable_types, fabric_of_cluster, level_optics
from clusterspec.cluster.model import Cluster, Design, ScaleOut
from clusterspec.cluster.scaleout import broken_out_ports
from clusterspec.money import Money
from clusterspec.procurement.items import PRICED_AS, Item, kind_words, quantities_by_kind
from clusterspec.procurement.offered import servers_have_nics
from clusterspec.procurement.part_names import SWITCHES
from clusterspec.procurement.quoted_prices import quoted_unit_prices
from clusterspec.records import dataclass, replace
from clusterspec.spec.model import ClusterSpec, NetworkSpec, NetworksSpec, Price, ProcurementSpec
from clusterspec.units import display, display_bits, plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Parts of the networks other than the scale-out fabric: frontend (in-band), out-of-band and storage

COUNTED = ("frontend", "out_of_band")
TITLES = {"frontend": "frontend network", "out_of_band": "out-of-band network"}


def network_items(cluster: Cluster, written: NetworksSpec | None) -> Iterator[Item | str]:
    """The switches and cables of each described network; a text for each part that is not counted.

    Each network is counted as one tier of leaf switches with all NICs cabled; higher tiers depend on the existing
    network of the site.
    """
    for name in COUNTED:
        network: NetworkSpec | None = getattr(written, name) if written else None
        yield from _network_parts(cluster, name, network)


LANES = {"QSFP-DD": 8, "OSFP": 8}
"""Lanes of a cage; each may be a separate port. The other forms (QSFP) have 4."""


def port_count_at(switch: Switch, rate: float) -> int | None:
    """Ports of a switch for links of ``rate`` (B/s per direction; 0 if not stated). At low rates these are its copper
    ports, otherwise its ports after breakout, as far as the switch and the lanes of its cages allow.

    The SN5600 has 256 ports of 200 and of 100 Gb/s, the SN2201 48 of 1 Gb/s and four of 100 Gb/s.
    """
    low = switch.access_bandwidth.value if switch.access_bandwidth is not None else 0.0
    if switch.access_ports and rate <= low:
        return switch.access_ports
    whole = broken_out_ports(switch, rate)
    if whole is None or switch.ports is None:
        return switch.ports
    lanes = (switch.cages or switch.ports) * LANES.get(switch.connector or "", 4)
    return min(whole, max(switch.ports, switch.splits or lanes))


def _network_parts(cluster: Cluster, name: str, network: NetworkSpec | None) -> Iterator[Item | str]:
    title = TITLES[name]
    if network is None:
        yield f"{title}: not described (`cluster.networks.{name}`)"
        return
    if network.shares:
        return
    nics = network.nics_per_node or (1 if name == "out_of_band" else 0)
    if not nics:
        yield f"{title}: its links are not stated (`networks.{name}.nics_per_node`)"
        return
    links = cluster.all_nodes * nics
    derivation = f"{plural(cluster.all_nodes, 'node')} × {plural(nics, 'NIC')}"
    yield Item(f"{name}_cable", f"{title} cable", links, derivation)
    switch = dict(cluster.network_switches).get(name)
    if switch is None:
        why = "their entry is not in the catalog" if network.switch else "not stated"
        yield f"{title} switches: {why} (`networks.{name}.switch`)"
        return
    rate = network.nic_bandwidth.per_direction if network.nic_bandwidth else 0.0
    ports = port_count_at(switch, rate)
    if ports:
        yield Item(
            f"{name}_switch",
            switch.id,
            parts_needed(links, ports),
            f"{links:,} links / {ports} ports, the tier at the nodes",
        )


# The bill of materials: parts, the derivation of their quantities, and prices


@dataclass(frozen=True)
class Bill:
    """The items of a bill, the fabric they are counted from, and omissions.

    ``fabric`` is None if the customer builds none, with the reason in ``why``. ``not_counted`` lists parts that
    the spec does not describe completely enough to count, and ``unused`` of them are stated prices of parts that the
    bill does not have.
    """

    items: tuple[Item, ...] = ()
    fabric: Fabric | None = None
    why: str = ""
    not_counted: tuple[str, ...] = ()
    currency: str = ""
    unused: tuple[str, ...] = ()

    @property
    def lacking(self) -> tuple[str, ...]:
        """The parts of ``not_counted`` that the machine has. Parts that it does not have need no price."""
        return tuple(text for text in self.not_counted if text not in self.unused)

    @property
    def unpriced(self) -> tuple[Item, ...]:
        """The lines without a price, except rented parts."""
        return tuple(item for item in self.items if item.unpriced)

    @property
    def total(self) -> Money | None:
        """The sum of all priced lines; None if no line has a price. See `complete`."""
        prices = [item.price for item in self.items if item.price is not None]
        return Money.total(prices) if prices else None

    @property
    def complete(self) -> bool:
        """Whether every counted line has a price."""
        return bool(self.items) and not self.unpriced

    @property
    def total_title(self) -> str:
        """The title of the sum: a total only if all lines have a price."""
        if self.complete:
            return "Total"
        priced = sum(item.price is not None for item in self.items)
        return "The one priced line" if priced == 1 else f"Sum of the {priced} priced lines"

    def total_json(self) -> dict[str, Any]:
        """The sum as JSON, with the unpriced lines."""
        return {
            "price": self.total.to_json() if self.total is not None else None,
            "currency": self.currency or None,
            "complete": self.complete,
            "unpriced": [item.part for item in self.unpriced],
            "not_counted": list(self.not_counted),
        }


SHEET = ("kind", "part", "quantity", "unit_price", "price", "currency", "delivery_weeks", "warranty_years", "remark")
"""Columns of a price sheet; `import quote` reads the first six."""


def sheet_rows(items: Iterable[Item]) -> Iterator[tuple[object, ...]]:
    """The rows of a price sheet: each item with empty cells for suppliers to fill in."""
    return ((item.kind, item.part, item.quantity, *[""] * (len(SHEET) - 3)) for item in items)


def _storage_links_text(cluster: Cluster, store: NetworkSpec | None) -> str:
    """The network between nodes and storage as a phrase, since the price of a storage system must include it; empty if
    the storage system has no network of its own.
    """
    if store is None or store.shares or not store.nics_per_node:
        return ""
    links = cluster.all_nodes * store.nics_per_node
    return f", with the switches and cables of its {plural(links, 'link')} to nodes"


def bill(design: Design) -> Bill:
    """The bill of a design, including spare nodes with their NICs and cables. Parts with a quantity of zero are
    omitted.
    """
    cluster, written = design.cluster, design.spec.cluster
    if cluster is None:
        return Bill(why="the cluster cannot be resolved; `clusterspec check` reports the reason")
    found = fabric_of_cluster(cluster, written.scale_out if written else None)
    built = found if isinstance(found, Fabric) else None
    lines = [*_node_items(cluster), *(_fabric_items(built, cluster.scale_out) if built and cluster.scale_out else ())]
    others = list(_other_items(cluster, written or ClusterSpec(), design.spec.procurement))
    lines += [line for line in others if isinstance(line, Item)]
    assumed = {key: why for key, _, why in design.assumptions}
    procurement = design.spec.procurement or ProcurementSpec()
    quoted = _quoted_prices(procurement, cluster, lines)
    items = tuple(
        _priced_item(_item_with_assumption(line, assumed), procurement, quoted) for line in lines if line.quantity
    )
    if (procurement.prices or {}).get("node") or servers_have_nics(procurement.quote or (), cluster):
        items = tuple(replace(item, included=item.unpriced) if item.kind == "nic" else item for item in items)
    why = "" if isinstance(found, Fabric) else found.why
    fabric = (
        () if isinstance(found, Fabric) or not found.needed else (f"switches and cables between nodes: {found.why}",)
    )
    unused = tuple(_unused_prices(procurement, items))
    uncounted = (*fabric, *(line for line in others if isinstance(line, str)), *unused)
    return Bill(items, built, why, uncounted, procurement.currency or "", unused)


OF_TERMS = frozenset({"node_hour", "rack_per_month", "support_per_year"})
"""Prices per unit of time; the cost multiplies them by the term."""


def _unused_prices(procurement: ProcurementSpec, items: Sequence[Item]) -> Iterator[str]:
    """The stated prices of parts that the bill does not have."""
    kinds = {item.kind for item in items}
    for key in procurement.prices or {}:
        if key not in kinds | OF_TERMS:
            yield f"{kind_words(key)}: the bill has none (`procurement.prices.{key}`)"


FIXED_ENDS_UP_TO = 200e9
"""Line rate of a port, in bit/s and direction, up to which cables with fixed ends of every length are sold."""


def may_have_fixed_ends(design: Design) -> bool:
    """Whether cables may have fixed ends, so that no modules are bought: the spec states neither cable type nor optics,
    and active optical cables are sold at the port rate.
    """
    fabric = design.cluster.scale_out if design.cluster is not None else None
    written = design.spec.cluster.scale_out if design.spec.cluster is not None else None
    if fabric is None or cable_types(fabric, written.cable_type if written is not None else None):
        return False
    return fabric.nic_bandwidth.value / max(1, fabric.planes) <= FIXED_ENDS_UP_TO / 8


def _node_items(cluster: Cluster) -> Iterator[Item]:
    bare = f"node of {cluster.accelerators_per_node} {cluster.accelerator.id}"
    node = _node_name(cluster.platform.id, cluster) if cluster.platform else bare
    yield Item("node", node, cluster.nodes, "cluster.nodes")
    spares = "cluster.spare_nodes, in addition to the nodes that run the job"
    yield Item("spare_node", node, cluster.spare_nodes, spares)
    scale_out, sold = cluster.scale_out, cluster.platform is not None and cluster.platform.nics_per_node
    included = sold or cluster.has_built_in_nics
    rented = cluster.cloud or (scale_out is not None and scale_out.technology.cloud)
    if scale_out is not None and not included and not rented:
        derivation = f"{cluster.all_nodes:,} nodes × {scale_out.nics_per_node}"
        part = f"{(scale_out.nic or scale_out.technology).id} NIC, {display_bits(scale_out.nic_bandwidth.value)}"
        yield Item("nic", part, cluster.all_nodes * scale_out.nics_per_node, derivation)


def _node_name(platform: str, cluster: Cluster) -> str:
    nodes = nodes_of_domain(cluster)
    return f"{platform}, one of the {nodes} nodes of a domain" if nodes > 1 else platform


def _fabric_items(built: Fabric, scale_out: ScaleOut) -> Iterator[Item]:
    how = built.derivations
    rows = {"leaf": built.leaf_switches, "spine": built.spine_switches, "core": built.core_switches}
    for row, count in rows.items():
        yield Item(f"{row}_switch", built.switch, count, how[f"{row}_switches"])
    named = {one.level: one for one in level_optics(scale_out)}
    titles = {"node_leaf": "node to leaf", "leaf_spine": "leaf to spine", "spine_core": "spine to core"}
    for level, title in titles.items():
        fixed = named[level].lower_end.name if level in named and named[level].cable_type != FIBER else ""
        part = f"{title} cable" + f", {fixed}" * bool(fixed)
        yield Item("cable", part, built.cables[level], f"{how[level]}; {how[f'cables_{level}']}")
    unknown = " and ".join(built.modules.assumed)
    assumed = f"cages of the {unknown} are not known: one module for each port" if unknown else ""
    if not any(one.cable_type == FIBER for one in named.values()):
        yield Item("transceiver", "transceiver module", built.transceivers, how["transceivers"], assumed=assumed)
        return
    for tier in _ENDS:
        count = getattr(built.modules, tier)
        part, derivation = _module_part(tier, named), _module_derivation(tier, count, named)
        yield Item("transceiver", part, count, derivation, assumed=assumed)


_ENDS = {
    "node": (("node_leaf", 0),),
    "leaf": (("node_leaf", -1), ("leaf_spine", 0)),
    "spine": (("leaf_spine", -1), ("spine_core", 0)),
    "core": (("spine_core", -1),),
}
"""For each tier: the levels of links that end there, each with the index of that end."""


def _modules_of_tier(tier: str, named: Mapping[str, LevelOptics]) -> list[Optics]:
    """The distinct module types at a tier."""
    ends = [named[level].ends[end] for level, end in _ENDS[tier] if level in named and named[level].cable_type == FIBER]
    return list(dict.fromkeys(ends))


def _module_part(tier: str, named: Mapping[str, LevelOptics]) -> str:
    parts = " and ".join(module.name for module in _modules_of_tier(tier, named))
    return f"transceiver module at the {tier}" + f", {parts}" * bool(parts)


def _module_derivation(tier: str, count: int, named: Mapping[str, LevelOptics]) -> str:
    """How modules are counted, and their power; switches and nodes supply it."""
    powers = [module.power.value for module in _modules_of_tier(tier, named) if module.power is not None]
    if not powers or len(powers) < len(_modules_of_tier(tier, named)):
        return f"one for each cage in use at the {tier}"
    total = f"{max(powers):g} W each, {display(max(powers) * count, 'W')} in all, from the ports"
    return f"one for each cage in use at the {tier}; {total}"


def _other_items(cluster: Cluster, written: ClusterSpec, procurement: ProcurementSpec | None) -> Iterator[Item | str]:
    """Items for other networks, storage and racks; for rented machines only storage, if it has a price."""
    store = written.networks.storage if written.networks else None
    prices = (procurement.prices if procurement else None) or {}
    if cluster.cloud:
        if "storage" in prices and (store is None or store.pool is None):
            yield Item("storage", "storage system", 1, "procurement.prices.storage")
        return
    yield from network_items(cluster, written.networks)
    if store is not None and store.pool is not None:
        yield f"storage: counted with pool `{store.pool}` (`cluster.networks.storage.pool`)"
    elif store is not None or "storage" in prices:
        capacity = f" of {store.capacity.written}" if store and store.capacity else ""
        key = "cluster.networks.storage" if store else "procurement.prices.storage"
        yield Item("storage", f"storage system{capacity}", 1, f"{key}{_storage_links_text(cluster, store)}")
    else:
        yield "storage: not described (`cluster.networks.storage`)"
    stated = written.power.nodes_per_rack if written.power else None
    if per_rack := rack_nodes(cluster, stated):
        derivation = f"{cluster.all_nodes:,} nodes / {per_rack} nodes a rack, rounded up; racks of switches not counted"
        rented = "rack_per_month" in prices and "rack" not in prices
        included = not stated and not rented and "rack" not in prices
        count = parts_needed(cluster.all_nodes, per_rack)
        yield Item("rack", "rack", count, derivation, rented=rented, included=included)
    else:
        yield "racks: nodes of a rack are not stated (`cluster.power.nodes_per_rack`)"


ASSUMED_BY = {
    "leaf_switch": "cluster.scale_out.switch",
    "spine_switch": "cluster.scale_out.switch",
    "core_switch": "cluster.scale_out.switch",
    "nic": "cluster.scale_out.technology",
}
"""The key of the assumption that a part rests on, where the spec does not name the part."""


def _item_with_assumption(item: Item, assumed: dict[str, str]) -> Item:
    why = assumed.get(ASSUMED_BY.get(item.kind, ""), "")
    return replace(item, assumed=f"the spec names none; {why}") if why and not item.assumed else item


def _quoted_prices(
    procurement: ProcurementSpec, cluster: Cluster, items: Sequence[Item]
) -> Mapping[str, tuple[float, float]]:
    """The unit prices of the quote; empty for a rented machine."""
    if not procurement.quote or cluster.cloud or (procurement.prices or {}).get("node_hour") is not None:
        return {}
    return quoted_unit_prices(procurement.quote, cluster, quantities_by_kind(items))


def _priced_item(item: Item, procurement: ProcurementSpec, quoted: Mapping[str, tuple[float, float]]) -> Item:
    kind, currency = PRICED_AS.get(item.kind, item.kind), procurement.currency or ""
    price: Price | None = (procurement.prices or {}).get(kind)
    offered = quoted.get(kind, quoted.get("switch") if kind in SWITCHES else None)
    if price is not None or offered is None or item.rented or item.included:
        unit = None if price is None else Money.of(price, currency, procurement.as_of)
        return replace(item, unit_price=unit, currency=currency)
    low, high = offered
    unit = Money.of(low if low == high else (low, high), currency, procurement.as_of)
    derivation = f"{item.derivation}; priced by the quote"
    return replace(item, unit_price=unit, currency=currency, quoted=True, derivation=derivation)
