"""The tree or the blocks of nodes below switches, for Slurm and Kueue, in agreement with the cabling list."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from clusterspec.cluster.clos import parts_needed
from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.exchange.exporters.fabric import FabricPlane, fabric_plane, leaf_of
from clusterspec.exchange.exporters.registry import ExportedFile, ExportInput
from clusterspec.units import plural


def _host_list(first: int, last: int) -> str:
    """Nodes from ``first`` to ``last`` as a Slurm host list."""
    return f"node{first:04d}" if first == last else f"node[{first:04d}-{last:04d}]"


def slurm(source: ExportInput) -> ExportedFile:
    """A tree of blocks of nodes, or of scale-up domains if a domain has several nodes. Spare nodes are left out."""
    cluster = source.cluster
    omitted = _omitted_switches(source)
    if split := _nodes_on_two_leaves(source):
        omitted.append(f"{plural(split, 'node')} with links to two leaves: each is below the leaf with most of them")
    if cluster.spare_nodes:
        omitted.append(f"{plural(cluster.spare_nodes, 'spare node')}: to add when a node has failed")
    size = plural(cluster.nodes, "node")
    head = [f"# {source.name}: {size}, named node0001 and so on; rename them to your hosts.", "---"]
    of_domain = nodes_of_domain(cluster)
    body = _block_lines(cluster.nodes, of_domain) if of_domain > 1 else _tree_lines(source)
    return ExportedFile("\n".join([*head, *body, ""]), tuple(omitted))


def _omitted_switches(source: ExportInput) -> list[str]:
    """A note, if the switches between the nodes are unknown, that the nodes are therefore listed below a single
    switch.
    """
    known = source.bill.fabric is not None or nodes_of_domain(source.cluster) > 1 or source.cluster.nodes == 1
    return [] if known else [f"the switches between the nodes: {source.bill.why}"]


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
        of_pod = _groups_of_pod(fabric_plane(source))
        for pod in range(pods):
            first, last = pod * of_pod + 1, min(len(groups), (pod + 1) * of_pod)
            yield f"      - switch: pod{pod + 1:04d}"
            yield f"        children: block[{first:04d}-{last:04d}]"
    for number, (first, last) in enumerate(groups, 1):
        yield f"      - switch: block{number:04d}"
        yield f"        nodes: {_host_list(first, last)}"


def _leaf_groups(source: ExportInput) -> tuple[list[tuple[int, int]], int]:
    """The first and last node of each group that shares a leaf (one leaf per rail), and the number of pods with nodes
    of the job. Pods with only spare nodes are left out.
    """
    cluster = source.cluster
    if source.bill.fabric is None:  # a provider's fabric is not known to the customer: one group
        return [(1, cluster.nodes)], 1
    plane = fabric_plane(source)
    members = (tuple(nodes) for _, nodes in groupby(range(cluster.nodes), key=lambda node: _main_leaf(plane, node)))
    groups = [(nodes[0] + 1, nodes[-1] + 1) for nodes in members]
    return groups, parts_needed(len(groups), _groups_of_pod(plane))


def _main_leaf(plane: FabricPlane, node: int) -> int:
    """The leaf (from 0) to which most links of a node connect; as in the cabling list, a node uses adjacent ports. In a
    rail fabric it is the leaf of the first rail.
    """
    return leaf_of(plane, node, 0 if plane.rails > 1 else (plane.nics - 1) // 2)


def _nodes_on_two_leaves(source: ExportInput) -> int:
    """The number of nodes of the job whose links go to two leaves of one rail, since leaves do not fit whole nodes."""
    if source.bill.fabric is None or nodes_of_domain(source.cluster) > 1:
        return 0
    plane = fabric_plane(source)
    if plane.rails > 1:
        return 0
    nodes = range(source.cluster.nodes)
    return sum(leaf_of(plane, node, 0) != leaf_of(plane, node, plane.nics - 1) for node in nodes)


def _groups_of_pod(plane: FabricPlane) -> int:
    """The number of node groups below one pod: the leaves of the pod, or of one rail of it."""
    return max(1, parts_needed(plane.leaves, plane.pods) // plane.rails)


def kueue(source: ExportInput) -> ExportedFile:
    """A Kueue topology with its levels, outermost first, and the node labels it needs.

    The API version is the one that Kueue stores since 0.16; v1beta1 is deprecated, and to be removed
    (kubernetes-sigs/kueue, pull requests 7304 and 8020).
    """
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
        "apiVersion: kueue.x-k8s.io/v1beta2",
        "kind: Topology",
        "metadata:",
        f"  name: {source.name}",
        "spec:",
        "  levels:",
        *(f"    - nodeLabel: {level}" for level in (*levels, "kubernetes.io/hostname")),
        "",
    ]
    omitted = ["counts of nodes: a Topology names labels only", *_omitted_switches(source)]
    return ExportedFile("\n".join(lines), tuple(omitted))
