"""A key contradicts the platform.

## What it finds

An `accelerator`, `accelerators_per_node`, `scale_up.domain`, `scale_up.interconnect`, `scale_up.topology`,
`scale_up.switches` or `pcie` that differs from the platform's entry; a `scale_out.technology` of another family than
a cloud instance has; or a technology that only a cloud has for a machine that is sold. It is an error for cloud instances, whose configuration is fixed, and for the topology, which is built into a machine; it is a
warning for parts that can be ordered otherwise. The same accelerator with another memory size is a note, except on
cloud instances, since machines are often sold with both sizes. A slice may use part of a host (four of the eight chips
of a TPU v6e host), so its smaller `accelerators_per_node` is accepted. In Markdown and text files, the rule reports a
wrong number of accelerators or NICs of a machine, as in "a DGX H100 has four GPUs". A larger number of NICs may include
storage, frontend and virtual NICs, and is not reported.

## Why it matters

The platform and the figures of the plan describe different machines, and the wrong one ends up in an order or in a
launch script. Megatron and torchrec had this error in their ranks per node on rack-scale machines.

## What to do

Remove the key so that the platform supplies it, or remove the platform and describe the machine.

## When to ignore it

Ignore it for a platform that the supplier modified, and state that as the reason. A smaller `scale_up.domain` on a
rack-scale platform (64 of 72) counts as the part that jobs use and is not reported.

## Fires

```yaml cluster.accelerators_per_node
clusterspec: 1
cluster: {platform: dgx-h100, accelerators_per_node: 4, nodes: 4}
```

```yaml cluster.scale_up.switches
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 18, scale_up: {switches: 18}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, accelerators_per_node: 8, nodes: 4}
```

## Sources

- Domain and node confused on rack-scale machines: https://github.com/meta-pytorch/torchrec/pull/3696
- The same: https://github.com/THUDM/slime/pull/95
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Interconnect, Platform
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import or_list
from clusterspec.spec.model import AcceleratorSpec, ClusterSpec, PcieSpec, ScaleUpSpec

RULE = Rule.of(
    __name__,
    "warning",
    yields_to=("interconnect-not-of-accelerator", "nic-exceeds-pcie-slot", "domain-not-whole-nodes"),
)

_KINDS_BY_KEY = {"accelerator": "accelerator", "scale_up.interconnect": "interconnect"}
"""Catalog kind of each key whose value is a catalog id."""


def check(catalog: Catalog, written_cluster: ClusterSpec, platform: Platform) -> Iterator[Problem]:
    if (board := _board_of_size(catalog, written_cluster, platform)) is not None:
        size = written_cluster.accelerators_per_node
        message = f"{platform.id} has {platform.accelerators_per_node} accelerators; the keys describe {board.id}, which has {size}"
        yield RULE.problem("cluster.platform", message, f"write `platform: {board.id}`", severity="note")
        return
    for key, given, supplied in _stated_and_platform_values(written_cluster, platform):
        if given is not None and supplied is not None and not _is_same_value(catalog, key, given, supplied):
            yield RULE.problem(
                f"cluster.{key}",
                f"{platform.id} has `{key}: {supplied}`, not {given}",
                _remedy(catalog, key, str(given), platform),
                related=[("cluster.platform", f"supplies {supplied} for this key")],
                severity=_severity(platform, key, str(given), str(supplied)),
            )
    yield from _instance_fabric_problem(catalog, written_cluster, platform)


def _board_of_size(catalog: Catalog, written: ClusterSpec, platform: Platform) -> Platform | None:
    """The platform's board with the stated number of accelerators, if the other written keys match it; else None."""
    size = written.accelerators_per_node
    if size is None or size == platform.accelerators_per_node or size in platform.node_sizes:
        return None
    board = catalog.find("platform", f"{platform.id}-{size}")
    if not isinstance(board, Platform):
        return None
    values = _stated_and_platform_values(written, board)
    differ = [
        key
        for key, given, own in values
        if given is not None and own is not None and not _is_same_value(catalog, key, given, own)
    ]
    return board if set(differ) <= {"accelerator"} else None


def _is_same_value(catalog: Catalog, key: str, given: object, supplied: object) -> bool:
    """Whether both values are equal or name the same entry. A name without an entry counts as agreement, because
    another rule reports it.
    """
    kind = _KINDS_BY_KEY.get(key)
    if given == supplied or kind is None or catalog.find(kind, str(given)) is not None:
        return given == supplied
    return catalog.ids_named(kind, str(given)) in ((), (supplied,))


def _remedy(catalog: Catalog, key: str, given: str, platform: Platform) -> str:
    """The remedy: remove the contradicting keys, or name one of the platforms that have the stated accelerator."""
    remedy = "remove the key, or the platform"
    if key != "accelerator" or platform.cloud:
        return remedy
    having = [f"`platform: {one.id}`" for one in catalog.platforms_with(given) if not one.cloud]
    return (
        f"write {or_list(having)}, which {'has' if len(having) == 1 else 'have'} it; or {remedy}" if having else remedy
    )


def _severity(platform: Platform, key: str, given: str, supplied: str) -> str:
    """A note if only the memory of a non-cloud machine differs, an error for a cloud instance (except its rarely
    published PCIe generation) and for the topology; else a warning.
    """
    if key == "accelerator" and not platform.cloud and _differ_in_memory_only(given, supplied):
        return "note"
    return "error" if (platform.cloud and not key.startswith("pcie")) or key == "scale_up.topology" else "warning"


def _instance_fabric_problem(catalog: Catalog, given: ClusterSpec, platform: Platform) -> Iterator[Problem]:
    """The problem of a network technology that a cloud instance does not have."""
    stated = given.scale_out.technology if given.scale_out else None
    if stated is None or stated in platform.technologies:
        return
    if not platform.cloud:
        yield from _cloud_fabric_problem(catalog, stated, platform)
        return
    if not platform.technologies:
        return
    entries = {each: catalog.find("interconnect", each) for each in (stated, *platform.technologies)}
    known = {each: entry for each, entry in entries.items() if isinstance(entry, Interconnect)}
    families = {known[each].family for each in platform.technologies if each in known}
    if stated in known and (known[stated].family not in families or known[stated].cloud):
        offered = or_list(list(platform.technologies))
        yield RULE.problem(
            "cluster.scale_out.technology",
            f"{platform.id} has {offered}, not {stated}",
            f"write `technology: {platform.technologies[0]}`, or remove the key",
            severity="error",
        )


def _cloud_fabric_problem(catalog: Catalog, stated: str, platform: Platform) -> Iterator[Problem]:
    """The problem of a cloud provider's network on a purchased machine: its adapters and switches are not sold."""
    entry = catalog.find("interconnect", stated)
    if isinstance(entry, Interconnect) and entry.cloud and entry.scope == "scale-out":
        yield RULE.problem(
            "cluster.scale_out.technology",
            f"{entry.name} is the network of a cloud, but {platform.id} is a machine that is sold",
            f"name the machine of the cloud as `platform`, or write `technology: {(*platform.technologies, 'infiniband-ndr')[0]}`",
            severity="error",
        )


def _differ_in_memory_only(given: str, supplied: str) -> bool:
    """Whether two accelerators are the same part with different memory; systems are often sold with either.

    >>> _differ_in_memory_only("a100-sxm-40gb", "a100-sxm-80gb"), _differ_in_memory_only("h100-nvl-94gb", "h100-sxm-80gb")
    (True, False)
    """
    part, _, size = given.rpartition("-")
    return size.endswith("gb") and supplied.startswith(f"{part}-") and supplied.endswith("gb")


def _stated_and_platform_values(given: ClusterSpec, platform: Platform) -> Iterator[tuple[str, object, object]]:
    """The keys that both the spec and the platform may state, each with the written value and the platform's value."""
    accelerator = given.accelerator.like if isinstance(given.accelerator, AcceleratorSpec) else given.accelerator
    scale_up, pcie = given.scale_up or ScaleUpSpec(), given.pcie or PcieSpec()
    yield "accelerator", accelerator, platform.accelerator
    if given.accelerators_per_node not in platform.node_sizes:
        yield "accelerators_per_node", given.accelerators_per_node, platform.accelerators_per_node
    if not _is_part_of_a_rack(given, platform):
        yield "scale_up.domain", scale_up.domain, platform.domain
    yield "scale_up.interconnect", scale_up.interconnect, platform.interconnect
    yield "scale_up.topology", scale_up.topology, platform.topology
    yield "scale_up.switches", scale_up.switches, platform.scale_up_switches
    if pcie.host == pcie.nic and platform.pcie_host == platform.pcie_nic:
        yield "pcie", pcie.host, platform.pcie_host  # one figure for both
    else:
        yield "pcie.host", pcie.host, platform.pcie_host
        own = given.scale_out.technology if given.scale_out else None
        if own is None or own in platform.technologies:  # another technology has other NICs
            yield "pcie.nic", pcie.nic, platform.pcie_nic


def _is_part_of_a_rack(given: ClusterSpec, platform: Platform) -> bool:
    """Whether the stated scale-up domain is a whole number of nodes and smaller than the platform's domain."""
    wanted = given.scale_up.domain if given.scale_up else None
    per_node = platform.accelerators_per_node or 1
    return bool(wanted and platform.domain and per_node < platform.domain > wanted and wanted % per_node == 0)
