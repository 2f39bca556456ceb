"""The quote has the whole fabric, but no part of another network that the design describes.

## What it finds

A quote whose lines name nodes and every part of the fabric, but no part of a frontend or out-of-band network whose
switches `clusterspec bom` lists. Each line must name a known part or service: a line for a whole network, a switch of
another model than the fabric's or one more than the fabric needs may be the missing part. Storage systems and racks are
often bought elsewhere, so the rule does not report them.

## Why it matters

Nodes without a frontend have no users, no images and no data; without an out-of-band network, nobody starts or repairs them
from afar. Switches that are ordered when the nodes arrive delay the start by their own lead time.

## What to do

Ask for the line, or state in the description who delivers the network.

## When to ignore it

Ignore it where the site has the network.

## Fires

```yaml procurement.quote
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 31
  spare_nodes: 1
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: rail-optimized, subnet_manager: switch}
  networks:
    frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s, switch: spectrum-4-sn5600}
    out_of_band: {nics_per_node: 1, nic_bandwidth: 1 Gb/s, switch: spectrum-sn2201}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: DGX H100 system, quantity: 32, unit_price: 310000}
    - {part: QM9700 leaf switch, quantity: 8, unit_price: 36000}
    - {part: QM9700 spine switch, quantity: 4, unit_price: 36000}
    - {part: fiber cable, quantity: 512, unit_price: 300}
    - {part: transceiver, quantity: 512, unit_price: 1200}
    - {part: SN2201 management switch, quantity: 1, unit_price: 3000}
    - {part: Cat6 management cable, quantity: 32, unit_price: 10}
```

## Silent

```yaml
clusterspec: 1
description: The frontend switches exist and belong to the site.
cluster:
  platform: dgx-h100
  nodes: 31
  spare_nodes: 1
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: rail-optimized, subnet_manager: switch}
  networks: {frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s, switch: spectrum-4-sn5600}}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: DGX H100 system, quantity: 32, unit_price: 310000}
    - {part: QM9700 leaf switch, quantity: 8, unit_price: 36000}
    - {part: QM9700 spine switch, quantity: 4, unit_price: 36000}
    - {part: fiber cable, quantity: 512, unit_price: 300}
    - {part: transceiver, quantity: 512, unit_price: 1200}
```

## Sources

- The networks of a pod in addition to the fabric: https://docs.nvidia.com/dgx-superpod/reference-architecture-scalable-infrastructure-h100/latest/network-fabrics.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.catalog import Catalog
from clusterspec.cluster.model import Cluster, Design
from clusterspec.finding import Problem
from clusterspec.procurement.bill import Bill, bill
from clusterspec.procurement.offered import Offered, offered_lines
from clusterspec.procurement.part_names import ANY_SWITCH, SWITCHES, plain_part, words_in
from clusterspec.procurement.quotes import NETWORKS_OF_SITE, needed_parts, offered_quantity, quoted_parts
from clusterspec.rules.knowledge.purchases import is_bought
from clusterspec.rules.readers.purchases.orders import are_elsewhere
from clusterspec.rules.readers.quotes.parts import named_switch
from clusterspec.rules.readers.quotes.readings import names_every_part
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "warning", "likely")
_NETWORK = pattern(r"\b(?:switch\w*|routers?|firewalls?|ethernet|networks?|netz\w*|red|réseau|rete|rede)\b")
"""Pattern of words in a line that may offer a network without naming its kind."""
_OTHERS = pattern(
    r"(?i)\b(?:sites?['’]s?|campus|landlord|customer|buyer|operator|owner|tenant|house|colo\w*|provider|we (?:own|have|use|supply|provide|buy)|ours?)\b"
)
"""Pattern of words by which a text says who else has or supplies a network."""
_NAMED = pattern(
    r"(?i)\b(?:front-?end|in-?band|north-south|out-of-band|oob|management|bmc|networks?|switch\w*|netz\w*|réseau\w*|redes?|ret[ei])\b"
)


def check(
    procurement: ProcurementSpec, design: Design, cluster: Cluster, catalog: Catalog, remarks: str
) -> Iterator[Problem]:
    if not procurement.quote or not is_bought(procurement, cluster):
        return
    counted, lines = bill(design), list(offered_lines(procurement.quote, cluster))
    if not _is_whole_fabric(lines, counted) or _may_have_network(lines, counted, cluster, catalog):
        return
    texts = [remarks, *(delivery.milestones or () if (delivery := procurement.delivery) else ())]
    if are_elsewhere({"switch": 1}, " # ".join(texts)) or any(
        _is_of_others(each) for text in texts for each in sentences_of(text)
    ):
        return
    absent = _absent_networks(lines, counted, procurement, cluster)
    if absent:
        message = f"the quote has the fabric in full, but no line for the {and_list(absent)} that the design describes"
        yield RULE.problem("procurement.quote", message, "ask for the lines, or state who delivers them")


def _is_whole_fabric(lines: Sequence[Offered], counted: Bill) -> bool:
    """Whether a quote lists nodes and every kind of part of the fabric, and each of its lines names a known part."""
    kinds = {kind for line in lines for kind in line.covered_kinds}
    needed = {*needed_parts(counted, lines)} - {"nic"}
    return bool(needed & ANY_SWITCH) and "node" in needed and needed <= kinds and names_every_part(lines)


def _may_have_network(lines: Sequence[Offered], counted: Bill, cluster: Cluster, catalog: Catalog) -> bool:
    """Whether a line may be for another network: it has a part of an unknown kind, another switch, or more switches
    than the fabric needs.
    """
    needed = needed_parts(counted, lines)
    kinds = (*SWITCHES, "switch")
    spare = any(offered_quantity([line for line in lines if line.kind == kind]) > needed.get(kind, 0) for kind in kinds)
    own = cluster.scale_out.switch if cluster.scale_out is not None else None
    bare = [plain_part(line.line) for line in lines if line.kind == "switch"]
    unknown = [plain_part(line.line) for line in lines if line.kind == "other" and not _names_network(line)]
    return (
        spare
        or any(own is None or named_switch(text, catalog) != own for text in bare)
        or any(_NETWORK.search(text) is not None for text in unknown)
    )


def _names_network(line: Offered) -> bool:
    """Whether a line names a network other than the fabric."""
    words = words_in(plain_part(line.line))
    return any(not words.isdisjoint(names) for names in NETWORKS_OF_SITE.values())


def _is_of_others(sentence: str) -> bool:
    """Whether a sentence is about a network that somebody else has or supplies.

    >>> _is_of_others("Front-end and management switches are the site's."), _is_of_others("Frontend of 200 Gb/s.")
    (True, False)
    """
    return _NAMED.search(sentence) is not None and _OTHERS.search(sentence) is not None


def _absent_networks(
    lines: Sequence[Offered], counted: Bill, procurement: ProcurementSpec, cluster: Cluster
) -> list[str]:
    """The networks with switches in the bill for which no line of the quote names a part."""
    missing = {
        part.kind for part in quoted_parts(counted, procurement.quote or (), cluster) if part.state == "elsewhere"
    }
    return [
        f"{network.replace('_', '-')} network"
        for network, names in NETWORKS_OF_SITE.items()
        if f"{network}_switch" in missing
        and not any(
            part.kind == f"{network}_cable" and part.quantity and part.kind not in missing for part in counted.items
        )
        and not any(not words_in(plain_part(line.line)).isdisjoint(names) for line in lines)
    ]
