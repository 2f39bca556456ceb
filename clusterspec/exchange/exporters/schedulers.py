"""Slurm ``topology.yaml`` and Kueue ``Topology``: nodes grouped by leaf, pod or scale-up domain."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.planes import parts_needed
from clusterspec.exchange.exporters.fabric import FabricPlane, fabric_plane
from clusterspec.exchange.exporters.registry import ExportedFile, ExportInput


def _host_list(first: int, last: int) -> str:
    """Nodes from ``first`` to ``last`` as a Slurm host list."""
    return f"node{first:04d}" if first == last else f"node[{first:04d}-{last:04d}]"


def slurm(source: ExportInput) -> ExportedFile:
    """A tree of blocks of nodes, or blocks of scale-up domains if a domain spans nodes. Spare nodes are omitted."""
    cluster = source.cluster
    omitted = (
        (f"{cluster.spare_nodes} spare nodes: add them when they replace a failed node",) if cluster.spare_nodes else ()
    )
    head = [f"# {source.name}: {cluster.nodes} nodes, named node0001 and so on; rename them to your hosts.", "---"]
    of_domain = nodes_of_domain(cluster)
    body = _block_lines(cluster.nodes, of_domain) if of_domain > 1 else _tree_lines(source)
    return ExportedFile("\n".join([*head, *body, ""]), omitted)


def _block_lines(nodes: int, size: int) -> Iterator[str]:
    yield from (
        "- topology: default",
        "  cluster_default: true",
        "  block:",
        "    block_sizes:",
        f"      - {size}",
        "    blocks:",
    )
    for number in range(parts_needed(nodes, size)):
        first = number * size + 1
        yield f"      - block: domain{number + 1:04d}"
        yield f"        nodes: {_host_list(first, min(nodes, first + size - 1))}"


def _tree_lines(source: ExportInput) -> Iterator[str]:
    groups, pods = _leaf_groups(source)
    yield from ("- topology: default", "  cluster_default: true", "  tree:", "    switches:")
    if len(groups) > 1:
        top = f"block[{1:04d}-{len(groups):04d}]" if pods < 2 else f"pod[{1:04d}-{pods:04d}]"
        yield from ("      - switch: fabric", f"        children: {top}")
    if pods > 1:
        size = parts_needed(len(groups), pods)
        for pod in range(pods):
            first, last = pod * size + 1, min(len(groups), (pod + 1) * size)
            yield f"      - switch: pod{pod + 1:04d}"
            yield f"        children: block[{first:04d}-{last:04d}]"
    for number, (first, last) in enumerate(groups, 1):
        yield f"      - switch: block{number:04d}"
        yield f"        nodes: {_host_list(first, last)}"


def _leaf_groups(source: ExportInput) -> tuple[list[tuple[int, int]], int]:
    """The first and last node of each group that shares a leaf (one leaf per rail), and the number of pods."""
    cluster = source.cluster
    if source.bill.fabric is None:  # a provider's fabric is not known to the customer: one group
        return [(1, cluster.nodes)], 1
    plane: FabricPlane = fabric_plane(source)
    size = plane.nodes_per_leaf
    groups = [(first, min(cluster.nodes, first + size - 1)) for first in range(1, cluster.nodes + 1, size)]
    return groups, min(plane.pods, len(groups))


def kueue(source: ExportInput) -> ExportedFile:
    """A Kueue topology with its levels, outermost first, and the node labels it needs."""
    cluster = source.cluster
    groups, pods = _leaf_groups(source)
    levels = []
    if pods > 1:
        levels.append("clusterspec.io/pod")
    if nodes_of_domain(cluster) > 1:
        levels.append("clusterspec.io/domain")
    elif len(groups) > 1:
        levels.append("clusterspec.io/block")
    named = ", ".join(each.split("/")[1] for each in levels) or "host name"
    lines = [
        f"# {source.name}: label every node with its {named}.",
        "apiVersion: kueue.x-k8s.io/v1beta1",
        "kind: Topology",
        "metadata:",
        f"  name: {source.name}",
        "spec:",
        "  levels:",
        *(f"    - nodeLabel: {level}" for level in (*levels, "kubernetes.io/hostname")),
        "",
    ]
    return ExportedFile("\n".join(lines), ("counts of nodes: a Topology names labels only",))
