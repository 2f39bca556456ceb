"""Nodes of a cluster of Kubernetes, as ``kubectl get nodes -o yaml`` or ``-o json`` prints them.

Labels: node.kubernetes.io/instance-type (kubernetes.io, Well-Known Labels), and those of NVIDIA's feature discovery,
``nvidia.com/gpu.product``, ``gpu.count`` (devices of the node) and ``gpu.replicas`` (how often each is offered, above 1
where pods share one), NVIDIA/k8s-device-plugin, docs/gpu-feature-discovery, read 2026-11-26.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from clusterspec.catalog import Catalog
from clusterspec.exchange.documents import Yaml
from clusterspec.exchange.fabrics.pods import list_at, names_of_accelerators
from clusterspec.exchange.import_result import TITLE, FormatError, ImportBuilder, chosen_part, excerpt
from clusterspec.exchange.machines.links import accelerator_of_product, match_instance
from clusterspec.exchange.workloads.keys import positive_integer_of
from clusterspec.source import mapping_of, value_at
from clusterspec.units import plural

_INSTANCE = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_CLOUDS = {"aws": "aws", "gce": "gcp", "azure": "azure", "oci": "oci", "ocid1": "oci"}
"""The cloud by the prefix of a node's ``providerID``."""


class NodeKind(NamedTuple):
    """What nodes of one kind have in common: instance type and its cloud, product, and accelerators; None if not
    stated.
    """

    instance: str | None
    cloud: str | None
    product: str | None
    accelerators: int

    @property
    def shown(self) -> str:
        return " ".join(
            part for part in (self.instance, f"{self.accelerators} × {self.product or 'accelerators'}") if part
        )


def nodes_in(yaml: Yaml) -> Iterator[tuple[dict[str, Any], int]]:
    """The nodes of a document, or of the list that it is, each with its line."""
    if yaml.mapping.get("kind") == "Node":
        yield yaml.mapping, yaml.line("metadata")
    for number, item in enumerate(list_at(yaml.value, "items")):
        if isinstance(item, dict) and item.get("kind", "Node") == "Node" and isinstance(item.get("status"), dict):
            yield item, yaml.line("items", number)


def record_nodes(documents: list[Yaml], part: int | None, builder: ImportBuilder) -> None:
    """The nodes of one kind that have accelerators. Raises `SeveralParts` for several kinds, `FormatError` for none."""
    found: dict[NodeKind, list[int]] = {}
    others = 0
    for node, line in (each for yaml in documents for each in nodes_in(yaml)):
        kind = _kind_of(node)
        if kind.accelerators:
            found.setdefault(kind, []).append(line)
        else:
            others += 1
    if not found:
        raise FormatError("holds nodes without accelerators")
    choices = "; ".join(
        excerpt(f"{plural(len(lines), 'node')} of {kind.shown}", TITLE) for kind, lines in found.items()
    )
    kind, lines = chosen_part(list(found.items()), part, plural(len(found), "kind of node"), choices)
    builder.set("cluster.nodes", len(lines), lines[0])
    _set_machine(kind, lines[0], builder)
    if others:
        builder.count("nodes_without_accelerators", others, lines[0])


def _kind_of(node: dict[str, Any]) -> NodeKind:
    labels = mapping_of(value_at(node, "metadata", "labels"))
    offered = mapping_of(value_at(node, "status", "capacity")) or mapping_of(value_at(node, "status", "allocatable"))
    names = names_of_accelerators(offered)
    count = positive_integer_of(offered[names[0]]) or 0 if names else 0
    shared = positive_integer_of(labels.get("nvidia.com/gpu.replicas")) or 1
    count = positive_integer_of(labels.get("nvidia.com/gpu.count")) or count // shared if count else 0
    provider = str(value_at(node, "spec", "providerID") or "").partition(":")[0].partition(".")[0]
    instance = next((str(labels[name]) for name in _INSTANCE if labels.get(name)), None)
    product = labels.get("nvidia.com/gpu.product") or labels.get("amd.com/gpu.product-name")
    return NodeKind(instance, _CLOUDS.get(provider), str(product) if product else None, count)


def _set_machine(kind: NodeKind, line: int, builder: ImportBuilder) -> None:
    """Set the platform by the instance type, or else the accelerator and the number per node."""
    ids, catalog = Catalog.open().ids("platform"), Catalog.open()
    clouds = [kind.cloud] if kind.cloud else ["aws", "gcp", "azure", "oci"]
    platform = next((found for cloud in clouds if (found := match_instance(kind.instance or "", cloud, ids))), None)
    if platform and catalog.platform(platform).accelerators_per_node in {None, kind.accelerators}:
        builder.set("cluster.platform", platform, line)
        builder.count("accelerators_per_node", kind.accelerators, line)
        return
    if kind.instance:
        builder.unknown(
            f"instance {excerpt(kind.instance)}", "no catalog entry of this name with as many accelerators", line
        )
    builder.set("cluster.accelerators_per_node", kind.accelerators, line)
    name = (kind.product or "").replace("-SHARED", "")
    found = accelerator_of_product(name.replace("-", " ").replace("_", " ")) if name and "MIG" not in name else None
    builder.set("cluster.accelerator", found, line)
    if found is None:
        builder.unknown(f"accelerator {excerpt(name)}".rstrip(), "not stated, or no catalog entry of this name", line)
