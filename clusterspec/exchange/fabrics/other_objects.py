"""Kubernetes objects of kinds without a reader, from which only the requests of their pods are read, not the number of
pods; and objects that change the replicas of others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from clusterspec.exchange.documents import Yaml
from clusterspec.exchange.fabrics.pods import Path, Pods, template_pods
from clusterspec.exchange.import_result import FormatError, ImportBuilder, excerpt
from clusterspec.exchange.workloads.keys import positive_integer_of
from clusterspec.source import value_at

DEEPEST = 24
MOST_TEMPLATES = 200


def requests_accelerators(yaml: Yaml) -> bool:
    """Whether a pod in an object requests accelerators, also in a number that the text leaves open."""
    return any(pods.accelerators or pods.is_open for pods in _pods_in(yaml))


def record_other_object(kind: str, yaml: Yaml, builder: ImportBuilder) -> None:
    """Set the accelerators of a node if all pods that request accelerators request the same number. The number of pods
    is listed as unknown.

    Raises `FormatError` if the text leaves open how many each of them requests.
    """
    found = list(_pods_in(yaml))
    asking = [pods for pods in found if pods.accelerators]
    line = asking[0].line if asking else yaml.line("spec")
    if not asking:
        raise FormatError(f"a {excerpt(kind)} whose number of accelerators is a variable, as of a template", line)
    if any(pods.is_open for pods in found):
        why = "the number of accelerators of a container is a variable"
        builder.unknown("cluster.accelerators_per_node", why, line)
    elif len({pods.accelerators for pods in asking}) == 1:
        builder.set("cluster.accelerators_per_node", asking[0].accelerators, line)
    else:
        why = "pods ask for different numbers: " + ", ".join(str(pods.accelerators) for pods in asking[:8])
        builder.unknown("cluster.accelerators_per_node", why, line)
    builder.unknown("layout.nodes", f"how many pods a {excerpt(kind)} has is not read", line)


_SCALING = {
    "HorizontalPodAutoscaler": ("minReplicas", "maxReplicas"),
    "ScaledObject": ("minReplicaCount", "maxReplicaCount"),
}
"""Kinds that scale other objects, with their limits: ``autoscaling/v2`` of Kubernetes, and KEDA (kedacore/keda)."""


def list_scaling(
    jobs: Sequence[tuple[str, Yaml]], documents: Sequence[tuple[str, Yaml]], builder: ImportBuilder
) -> None:
    """List the limits between which an object of the file changes the replicas of its jobs."""
    names = {(kind, value_at(yaml.value, "metadata", "name")) for kind, yaml in jobs}
    for kind, yaml in documents:
        target = value_at(yaml.value, "spec", "scaleTargetRef")
        if kind in _SCALING and (value_at(target, "kind") or "Deployment", value_at(target, "name")) in names:
            least, most = (positive_integer_of(value_at(yaml.value, "spec", name)) for name in _SCALING[kind])
            why = "the number of replicas changes with load: replicas is the number at the start"
            builder.unknown(f"{kind}: {least or 1} to {most or '?'} replicas", why, yaml.line("kind"))


def _pods_in(yaml: Yaml) -> Iterator[Pods]:
    """The pods of each template in an object, at any depth."""
    waiting: deque[tuple[Any, Path]] = deque([(yaml.mapping.get("spec"), ("spec",))])
    count = 0
    while waiting and count < MOST_TEMPLATES:
        value, path = waiting.popleft()
        if isinstance(value, dict) and isinstance(value.get("containers"), list):
            count += 1
            yield template_pods(yaml, path, {"spec": value}, 1, "pod")
        elif len(path) < DEEPEST:
            items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
            waiting += [(inner, (*path, key)) for key, inner in items if isinstance(inner, dict | list)]
