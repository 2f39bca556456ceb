"""Sets of cliques of pods of Grove (PodCliqueSet), and quotas of Kueue (ClusterQueue).

Grove: ai-dynamo/grove fcc3b3bb, operator/api/core/v1alpha1/podcliqueset.go and podclique.go: a replica of the set has
``replicas`` pods of each clique, times the replicas of the scaling group that names the clique (1 where absent); the
set has no replicas where it states none. Kueue: kubernetes-sigs/kueue ff69552e, apis/kueue/v1beta2/
clusterqueue_types.go: ``nominalQuota`` of each flavor is what workloads of the queue may hold at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from clusterspec.exchange.documents import Yaml
from clusterspec.exchange.fabrics.pods import (
    NO_COUNT,
    RESOURCES,
    Pods,
    count_product,
    list_at,
    pod_count,
    record_pods,
    template_pods,
)
from clusterspec.exchange.import_result import LIST, FormatError, ImportBuilder, excerpt
from clusterspec.source import mapping_of, value_at

_CLIQUES = ("spec", "template", "cliques")
MOST_QUOTAS = 200


def record_pod_clique_set(yaml: Yaml, builder: ImportBuilder) -> None:
    """Set the nodes of one replica of a set, taking a pod as a node."""
    groups = list(_clique_pods(yaml))
    record_pods(groups, builder, yaml.line(*_CLIQUES))
    line, stated = yaml.line("spec", "replicas"), value_at(yaml.value, "spec", "replicas")
    if stated is None or pod_count(stated) is None:
        builder.unknown("replicas", NO_COUNT, line)
    else:
        builder.count("replicas", pod_count(stated), line)


def asks_for_accelerators(yaml: Yaml) -> bool:
    """Whether a pod of a clique requests accelerators."""
    return any(group.accelerators for group in _clique_pods(yaml))


def _clique_pods(yaml: Yaml) -> Iterator[Pods]:
    """The pods of each clique of one replica. Raises `FormatError` for a set without cliques."""
    cliques = value_at(yaml.value, *_CLIQUES)
    if not isinstance(cliques, list):
        raise FormatError("a PodCliqueSet without cliques", yaml.line("spec"))
    copies = _scaling_replicas(list_at(yaml.value, "spec", "template", "podCliqueScalingGroups"))
    for n, clique in enumerate(cliques):
        name, spec = str(value_at(clique, "name")), mapping_of(value_at(clique, "spec"))
        stated = "by load" if "autoScalingConfig" in spec else spec.get("replicas", "absent")
        count = count_product(stated, copies.get(name))
        path = (*_CLIQUES, n, "spec", "podSpec")
        yield template_pods(yaml, path, {"spec": spec.get("podSpec")}, count, name)


def _scaling_replicas(groups: list[Any]) -> dict[str, Any]:
    """The replicas of the scaling group of each clique in a group; a word if they depend on the load."""
    found: dict[str, Any] = {}
    for group in groups:
        stated = "by load" if "scaleConfig" in mapping_of(group) else value_at(group, "replicas")
        found |= dict.fromkeys(map(str, list_at(group, "cliqueNames")), stated)
    return found


def record_cluster_queue(yaml: Yaml, builder: ImportBuilder) -> None:
    """Count the accelerators that workloads of a queue may use, by flavor. They are not a machine."""
    queue = str(value_at(yaml.value, "metadata", "name"))
    for flavor, resource, quota, line in islice(_accelerator_quotas(yaml), MOST_QUOTAS):
        builder.count(
            excerpt(f"{resource} of {flavor} ({queue})", LIST), quota if isinstance(quota, int) else str(quota), line
        )
    why = "quotas limit what workloads of a queue hold at a time: they are neither nodes nor a whole machine"
    builder.unknown(excerpt(f"cluster, of queue {queue}", LIST), why, yaml.line("spec"))


def covers_accelerators(yaml: Yaml) -> bool:
    """Whether a queue has a quota of accelerators."""
    return next(_accelerator_quotas(yaml), None) is not None


def _accelerator_quotas(yaml: Yaml) -> Iterator[tuple[str, str, Any, int]]:
    """The quotas of accelerators of a queue: flavor, resource, quota and line."""
    base = ("spec", "resourceGroups")
    for n, group in enumerate(list_at(yaml.value, *base)):
        for m, flavor in enumerate(list_at(group, "flavors")):
            for k, each in enumerate(list_at(flavor, "resources")):
                if (name := str(value_at(each, "name"))) in RESOURCES:
                    line = yaml.line(*base, n, "flavors", m, "resources", k)
                    yield str(value_at(flavor, "name")), name, value_at(each, "nominalQuota"), line
