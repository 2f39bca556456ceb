"""No placement policy keeps the cloud nodes close to each other.

## What it finds

A cloud platform or technology with more than one node and no `placement`, or `none`: a warning. `none` is an error in
OCI, where only members of a cluster network or compute cluster have RDMA. A policy of another cloud is also an error,
and a policy for a platform that no cloud rents out is a warning. More nodes than a policy takes, 200 in an availability
set of Azure, are an error. So are single virtual machines of Azure, as the text states them, in a proximity placement group:
it places them near each other, and only the members of one scale set or availability set share an InfiniBand partition. Where `placement` is absent, the finding is a note:
descriptions of clusters rarely state it, and Azure and OCI connect instances by RDMA only inside one scale set or
cluster network anyway. The rule is silent for TPU slices and for nodes of one rack-scale domain, which are always close
to each other, and where every group of the layout lies in one domain, as with engines of one node.

## Why it matters

Nodes in different parts of the zone can be several switches apart: on p4d that cost about 23 % of the bandwidth.

## What to do

Use a cluster placement group (AWS), a compact placement policy (GCP), an availability or proximity group (Azure), a
cluster network (OCI).

## When to ignore it

Ignore it where a capacity block or a managed service places nodes itself.

## Fires

```yaml cluster.scale_out.placement
clusterspec: 1
cluster:
  platform: aws-p5-48xlarge
  nodes: 4
  scale_out: {collective_plugin: aws-ofi-nccl, placement: none}
```

```yaml cluster.scale_out.placement
clusterspec: 1
cluster:
  platform: azure-nd-h100-v5
  nodes: 256
  scale_out: {placement: availability-set}
```

```yaml cluster.scale_out.placement
clusterspec: 1
description: Sixteen standalone VMs in one proximity placement group, without a scale set.
cluster:
  platform: azure-nd-h100-v5
  nodes: 16
  scale_out: {placement: proximity-placement-group}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: aws-p5-48xlarge
  nodes: 4
  scale_out: {collective_plugin: aws-ofi-nccl, placement: cluster-placement-group}
```

## Sources

- EFA and placement: https://docs.aws.amazon.com/parallelcluster/latest/ug/efa-v3.html
- 200 machines in an availability set: https://learn.microsoft.com/azure/azure-resource-manager/management/azure-subscription-service-limits
- RDMA inside one set: https://learn.microsoft.com/azure/virtual-machines/sizes-hpc
- InfiniBand of Azure inside one scale set or availability set: https://learn.microsoft.com/azure/virtual-machines/setup-infiniband
- Cluster networks of OCI: https://docs.cloud.oracle.com/iaas/tools/terraform-provider-oci/latest/docs/r/core_cluster_network.html
- Choosing a provider: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/insights/how-to-choose-cloud-provider.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout, ScaleOut, Workload
from clusterspec.finding import Problem
from clusterspec.rules.parts import Placements, traffic_uses_nics
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import or_list
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "warning")
BY_VENDOR = {
    "AWS": "cluster-placement-group",
    "GCP": "compact-placement-policy",
    "Google": "compact-placement-policy",
    "Azure": "availability-set",
    "Microsoft Azure": "availability-set",
    "Google Cloud": "compact-placement-policy",
    "OCI": "cluster-network",
    "Oracle": "cluster-network",
    "Oracle Cloud": "cluster-network",
}
AZURE = frozenset({"availability-set", "proximity-placement-group"})
OFFERED = {
    "AWS": frozenset({"cluster-placement-group"}),
    "GCP": frozenset({"compact-placement-policy"}),
    "Google Cloud": frozenset({"compact-placement-policy"}),
    "Google": frozenset({"compact-placement-policy"}),
    "Azure": AZURE,
    "Microsoft": AZURE,
    "Microsoft Azure": AZURE,
    "OCI": frozenset({"cluster-network"}),
    "Oracle": frozenset({"cluster-network"}),
}
"""The placement policies that each cloud offers."""
RDMA_BY_PLACEMENT = frozenset({"OCI", "Oracle"})
"""Vendors whose placement policy also connects the instances by RDMA."""


NEAR_ONLY = "proximity-placement-group"
"""A policy that places machines near each other and does not join their InfiniBand ports."""
MOST_NODES = {"availability-set": 200}
"""Largest number of nodes for one placement policy, where the cloud states a fixed limit."""
UNKNOWN_POLICY = "ask the provider how nodes are placed together, and state it as `placement`"


def check(
    placements: Placements | None,
    cluster: Cluster,
    workload: Workload | None,
    layout: Layout | None,
    scale_out: ScaleOut,
    own_remarks: str | None,
) -> Iterator[Problem]:
    in_cloud = cluster.cloud or scale_out.technology.cloud
    together = cluster.nodes * cluster.accelerators_per_node <= cluster.scale_up.domain
    entry = cluster.scale_up.interconnect
    slices = entry is not None and entry.family == "ici"
    if not in_cloud and cluster.platform is not None and scale_out.placement not in {None, "none"}:
        message = (
            f"`{scale_out.placement}` is a policy of a cloud, but {cluster.platform.id} is not the platform of a cloud"
        )
        help_ = "remove the key, or name the platform that is rented"
        yield RULE.problem("cluster.scale_out.placement", message, help_)
    if not in_cloud or cluster.nodes < 2 or together or slices:
        return
    vendor = (cluster.platform or scale_out.technology).vendor
    if scale_out.placement not in {None, "none"}:
        yield from _other_cloud_problems(vendor, scale_out.placement or "")
        yield from _size_problem(cluster.nodes, scale_out.placement or "")
        if own_remarks and scale_out.placement == NEAR_ONLY and scale_out.technology.family == "infiniband":
            yield from _single_machines_problem(cluster.nodes, own_remarks)
        return
    if placements and layout and workload and not traffic_uses_nics(placements, layout, workload):
        return
    policy = _policy_that_fits(vendor, cluster.nodes)
    if scale_out.placement == "none" and vendor in RDMA_BY_PLACEMENT:
        message = f"outside a cluster network the {cluster.nodes:,} nodes have no RDMA between them"
        yield RULE.problem("cluster.scale_out.placement", message, f"write `placement: {policy}`", severity="error")
        return
    message = f"no placement policy for {cluster.nodes:,} cloud nodes: they may be several switches apart"
    yield RULE.problem(
        "cluster.scale_out.placement",
        message,
        f"write `placement: {policy}`" if policy else UNKNOWN_POLICY,
        severity="note" if scale_out.placement is None else "warning",
    )


def _policy_that_fits(vendor: str, nodes: int) -> str:
    """A placement policy of the cloud for this number of nodes; empty if none is known."""
    usual = BY_VENDOR.get(vendor, "")
    others = (policy for policy in sorted(OFFERED.get(vendor, ())) if policy != usual)
    return next((policy for policy in (usual, *others) if nodes <= MOST_NODES.get(policy, nodes)), "")


def _size_problem(nodes: int, placement: str) -> Iterator[Problem]:
    """The problem of more nodes than a placement policy allows; the nodes beyond it have no RDMA to the others."""
    most = MOST_NODES.get(placement)
    if most is not None and nodes > most:
        message = f"{nodes:,} nodes exceed the {most:,} of one `{placement}`: a node has no RDMA to those of another"
        yield RULE.problem(
            "cluster.scale_out.placement", message, "use a scale set with one placement group", severity="error"
        )


_SINGLE_MACHINES = pattern(
    r"(?i)\b(?:stand-?alone|single|individual|separate(?:ly created)?) (?:\w+ )?(?:vms?|virtual machines?|instances?|resources)\b|\b(?:no|without a?|not in an?) (?:\w+ )?(?:scale set|vmss)\b|"
    r"\b(?:kein(?:e|em|en)?|ohne) (?:scale ?set|vmss)\b|\beinzelne (?:vms|virtuelle maschinen)\b|\bsans (?:scale set|vmss)\b|\bsin (?:scale set|vmss)\b"
)
"""Pattern of virtual machines that belong to no scale set."""


def _single_machines_problem(nodes: int, text: str) -> Iterator[Problem]:
    """The problem of virtual machines near each other that share no InfiniBand partition, by the text of the spec."""
    if (stated := _SINGLE_MACHINES.search(text)) is not None:
        message = (
            f"the text says `{stated[0]}`: a `{NEAR_ONLY}` gives the {nodes:,} machines no RDMA "
            "between them: only the members of one scale set or availability set have it"
        )
        help_ = "use one scale set, which may be in the group, or an availability set"
        yield RULE.problem("cluster.scale_out.placement", message, help_, severity="error", confidence="likely")


def _other_cloud_problems(vendor: str, placement: str) -> Iterator[Problem]:
    """A policy that the vendor of the instances does not offer."""
    offered = OFFERED.get(vendor)
    if offered is not None and placement not in offered:
        message = f"{vendor} has no `{placement}`: its nodes take {or_list(sorted(offered))}"
        yield RULE.problem(
            "cluster.scale_out.placement", message, f"write `placement: {BY_VENDOR[vendor]}`", severity="error"
        )
