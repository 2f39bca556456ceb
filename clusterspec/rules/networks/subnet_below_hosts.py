"""An address plan of the text has fewer addresses than the machine needs.

## What it finds

In the description and the comments:

- a subnet, or a prefix alone (`a /24 per rail`), with fewer host addresses than NICs or nodes: for a rail, the compute
  fabric, nodes, baseboard management controllers or storage clients. The network and broadcast addresses, reserved
  addresses, a gateway in the sentence, and in a cloud the addresses of the provider do not count;
- a range or DHCP pool that is smaller than the number of nodes;
- a block that is split into fewer subnets than there are nodes, racks or links, such as a /24 for each node from a /16;
- fewer autonomous system numbers than leaves, where each leaf has its own;
- a gateway outside its subnet, two subnets that overlap, a subnet that does not start at a multiple of its size, and a
  VLAN above 4094.

Subnets of a rack or another part of the machine, and sentences with several subnets for one purpose, are not compared.

## Why it matters

The last nodes get no address, or the address of a gateway. A renumbered fabric is an outage of every node.

## What to do

Plan the next larger prefix, with addresses for spare nodes and growth.

## When to ignore it

Ignore it where further subnets are named in another document.

## Fires

```yaml description
clusterspec: 1
description: Every rail is one subnet, 10.64.<rail>.0/24, with .254 as the gateway. A NIC has the number of its node as host part.
cluster: {platform: mi300x-ubb8, nodes: 256, scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s, topology: rail-optimized, rails: 8}}
```

```yaml description
clusterspec: 1
description: Pods get 10.244.0.0/16, a /24 per node.
cluster: {platform: dgx-h100, nodes: 300}
```

## Silent

```yaml
clusterspec: 1
description: Every rail is one subnet, 10.64.<rail>.0/23, with .254 as the gateway. A NIC has the number of its node as host part.
cluster: {platform: mi300x-ubb8, nodes: 256, scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s, topology: rail-optimized, rails: 8}}
```

## Sources

- Prefixes and their addresses: https://www.rfc-editor.org/rfc/rfc4632
- Both addresses of a /31: https://www.rfc-editor.org/rfc/rfc3021
- Five addresses of a subnet that AWS keeps: https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html
- Private numbers of autonomous systems: https://www.rfc-editor.org/rfc/rfc6996
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.readers.clauses import planned_text
from clusterspec.rules.readers.plans.address_plans import (
    HIGHEST_VLAN,
    Subnet,
    gateway_outside,
    impossible_vlan,
    leaf_numbers_in,
    pools_in,
    splits_in,
    subnets_in,
)
from clusterspec.rules.readers.units import word_set
from clusterspec.rules.readers.written_numbers import has_word, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec
from clusterspec.standard import sum_of
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "error", "likely")
KEPT_BY_CLOUD = {"aws": 5, "azure": 5, "gcp": 4, "oci": 3}
"""Number of addresses that a cloud reserves in each subnet, by the first letters of its platform ids."""
LARGEST = 16
"""Ratio of needed to available addresses up to which a subnet is too small; above it, the subnet is probably for
something else.
"""
_CUES = word_set("vlan vlans asn asns dhcp gateway pool range")
_NAMES = {
    "rail": "a rail has {} NICs",
    "fabric": "the nodes have {} NICs",
    "node": "there are {} nodes",
    "bmc": "there are {} nodes",
    "storage": "there are {} nodes",
    "rack": "there are {} racks",
    "link": "there are {} links between leaves and spines",
}
_SYSTEM_NUMBERS = ("as num", "as-num")
"""Words for the numbers of autonomous systems."""


def check(own_remarks: str, cluster: Cluster, counts: FabricCount, power: PowerSpec | None) -> Iterator[Problem]:
    if not own_remarks:
        return
    prefixed = "255.255." in own_remarks or any(each[:2].isdigit() for each in own_remarks.split("/")[1:])
    numbered = any(each in own_remarks.lower() for each in _SYSTEM_NUMBERS)
    if not prefixed and not numbered and not has_word(own_remarks, _CUES):
        return
    text = own_remarks.lower()
    sentences = sentences_of(planned_text(" ".join(text.replace("...", "…").split())))
    found = (
        _small_subnet(sentences, cluster)
        or _small_pool(sentences, cluster)
        or _few_subnets(sentences, cluster, counts, power)
        or _few_numbers(sentences, counts)
        or _impossible_plan(sentences)
    )
    if found is not None:
        yield RULE.problem("description", *found)


def _needed_addresses(role: str, cluster: Cluster) -> int:
    """Number of addresses that the machine needs for a purpose; 0 if unknown."""
    fabric = cluster.scale_out
    if role in {"node", "bmc", "storage"}:
        return cluster.all_nodes
    if fabric is None or fabric.technology.family not in {"roce", "tcp", "efa"}:
        return 0
    all_nics = cluster.all_nodes * fabric.nics_per_node
    if role == "rail":
        return all_nics // (fabric.rails if fabric.rails > 1 else fabric.nics_per_node)
    return all_nics if role == "fabric" and not cluster.cloud else 0


def _small_subnet(sentences: Sequence[str], cluster: Cluster) -> tuple[str, str] | None:
    """The message and the remedy for a subnet with fewer addresses than NICs or nodes; else None."""
    found = [*dict.fromkeys(subnets_in(sentences))]
    platform = cluster.platform.id if cluster.platform is not None else ""
    kept = next((count for name, count in KEPT_BY_CLOUD.items() if platform.startswith(f"{name}-")), 0)
    for role in dict.fromkeys(each.role for each in found):
        own, needed = [each for each in found if each.role == role], _needed_addresses(role, cluster)
        if not needed or not all(each.whole for each in own) or len({each.text for each in own}) < len(own):
            continue
        if role in {"rail", "fabric"} and len(own) > 1:
            continue
        free = sum_of(_free_hosts(each, kept if cluster.cloud else 0) for each in own)
        if free < needed <= LARGEST * free:
            first = own[0]
            taken = f", {free:,.0f} of them free" if free < first.hosts and len(own) == 1 else ""
            message = f"`{first.text}` has {plural(first.hosts, 'host address', 'host addresses')}{taken}, but {_NAMES[role].format(f'{needed:,}')}"
            prefix = first.prefix
            while (1 << (32 - prefix)) - 2 - first.taken < needed:
                prefix -= 1
            return message, f"plan a /{prefix}, with {(1 << (32 - prefix)) - 2:,} host addresses"
    return None


def _free_hosts(subnet: Subnet, kept: int) -> int:
    """Number of addresses in a subnet that hosts can use; a cloud reserves ``kept`` addresses."""
    if kept:
        return int(1 << (32 - subnet.prefix)) - kept
    return subnet.hosts - subnet.taken


def _small_pool(sentences: Sequence[str], cluster: Cluster) -> tuple[str, str] | None:
    """The message and the remedy for an address range with fewer addresses than nodes; else None."""
    for text, count, role in pools_in(sentences):
        needed = cluster.all_nodes if role in {"node", "bmc"} else 0
        if count < needed:
            message = f"`{text}` has {plural(count, 'address', 'addresses')}, but {_NAMES[role].format(f'{needed:,}')}"
            return message, "make the range longer, or say which nodes have fixed addresses"
    return None


def _few_subnets(
    sentences: Sequence[str], cluster: Cluster, counts: FabricCount, power: PowerSpec | None
) -> tuple[str, str] | None:
    """The message and the remedy for a block that is split into too few subnets; else None."""
    racks = -(-cluster.all_nodes // power.nodes_per_rack) if power is not None and power.nodes_per_rack else 0
    links = counts.fabric.links.get("leaf_spine", 0) if counts.fabric is not None else 0
    needs = {"node": cluster.all_nodes, "rack": racks, "link": links}
    for text, count, thing in splits_in(sentences):
        needed = needs.get(thing, 0)
        if count < needed:
            message = f"`{text}` makes {plural(count, 'subnet')}, but {_NAMES[thing].format(f'{needed:,}')}"
            return message, "plan a larger block, or smaller subnets"
    return None


def _few_numbers(sentences: Sequence[str], counts: FabricCount) -> tuple[str, str] | None:
    """The message and the remedy for fewer autonomous system numbers than leaf switches; else None."""
    leaves = counts.fabric.leaf_switches if counts.fabric is not None else 0
    for text, count in leaf_numbers_in(sentences):
        if 0 < count < leaves:
            message = f"`{text}` are {plural(count, 'number')} of autonomous systems, but there are {leaves:,} leaves"
            return message, "make the range longer, or let leaves share a number"
    return None


def _impossible_plan(sentences: Sequence[str]) -> tuple[str, str] | None:
    """The message and the remedy for an impossible VLAN, gateway or subnet; else None."""
    vlan, outside = impossible_vlan(sentences), gateway_outside(sentences)
    if vlan is not None:
        return f"VLAN {vlan:,} does not exist: the largest is {HIGHEST_VLAN:,}", "choose another one"
    if outside is not None:
        return f"the gateway {outside[1]} is not in `{outside[0]}`", "correct the gateway or the subnet"
    known = [(each, ends) for each in subnets_in(sentences) if each.role and (ends := each.plain) is not None]
    for each, (first, _) in known:
        address = each.text.split("/")[0]
        octets = [int(octet) for octet in address.split(".")]
        if octets[-1] == 0 and each.prefix < 24 and int.from_bytes(bytes(octets), "big") != first:
            start = ".".join(map(str, first.to_bytes(4, "big")))
            return (
                f"`{each.text}` does not start at a multiple of its size: {address} is within {start}/{each.prefix}",
                "correct the address or the prefix",
            )
    return _overlap([*dict.fromkeys(known)])


def _overlap(known: list[tuple[Subnet, tuple[int, int]]]) -> tuple[str, str] | None:
    """The message and the remedy for two overlapping subnets with different purposes, neither of which is a block of
    several subnets; else None.
    """

    def holds(outer: tuple[int, int], inner: tuple[int, int]) -> bool:
        return outer != inner and outer[0] <= inner[0] and inner[1] <= outer[1]

    blocks = {ends for _, ends in known if sum(holds(ends, other) for _, other in known) > 1}
    for index, (one, ends) in enumerate(known):
        for other, others in known[index + 1 :]:
            apart = ends[1] < others[0] or others[1] < ends[0]
            unlike = one.role != other.role and {one.role, other.role} <= {"node", "bmc", "storage", "rail", "fabric"}
            if not apart and unlike and one.whole and other.whole and blocks.isdisjoint((ends, others)):
                return f"`{one.text}` and `{other.text}` overlap", "move one of the two"
    return None
