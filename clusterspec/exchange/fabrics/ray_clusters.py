"""Clusters of Ray on Kubernetes: the nodes of their workers with accelerators.

Fields: RayCluster, RayJob and RayService (ray-project/kuberay), RayClusterFleet (vllm-project/aibrix,
orchestration/v1alpha1).
"""

from __future__ import annotations

from typing import Any

from clusterspec.exchange.documents import Yaml
from clusterspec.exchange.fabrics.pods import Path, Pods, count_product, pod_count, record_pods, template_pods
from clusterspec.exchange.import_result import FormatError, ImportBuilder
from clusterspec.source import value_at


def record_ray_job(yaml: Yaml, builder: ImportBuilder) -> None:
    record_ray_cluster(yaml, builder, ("spec", "rayClusterSpec"))


def record_ray_fleet(yaml: Yaml, builder: ImportBuilder) -> None:
    """The nodes of one cluster of a RayClusterFleet (vllm-project/aibrix, orchestration/v1alpha1)."""
    record_ray_cluster(yaml, builder, ("spec", "template", "spec"))
    builder.count("replicas", pod_count(value_at(yaml.value, "spec", "replicas")), yaml.line("spec", "replicas"))


def record_ray_service(yaml: Yaml, builder: ImportBuilder) -> None:
    """The accelerators of a node. The number of nodes per replica of a model depends on the service's deployments."""
    base = ("spec", "rayClusterConfig")
    cluster = ImportBuilder("kubernetes", "")
    record_ray_cluster(yaml, cluster, base)
    for each in cluster.reading().given:
        if each.path == ("cluster", "accelerators_per_node"):
            builder.set("cluster.accelerators_per_node", each.value, each.at.line)
    why = "the deployments of a RayService decide how many nodes one replica takes"
    builder.unknown("layout.nodes", why, yaml.line(*base))


def record_ray_cluster(yaml: Yaml, builder: ImportBuilder, base: Path = ("spec",)) -> None:
    """The workers that request accelerators: replicas × numOfHosts (1 if absent), unless their number depends on the
    load.

    A head that requests accelerators is a node, unless it offers Ray none (``num-gpus: "0"``).
    """
    groups = value_at(yaml.value, *base, "workerGroupSpecs")
    if groups is not None and not isinstance(groups, list):
        raise FormatError("a RayCluster whose workerGroupSpecs are no list", yaml.line(*base))
    head_group = value_at(yaml.value, *base, "headGroupSpec")
    head = template_pods(yaml, (*base, "headGroupSpec"), value_at(head_group, "template"), None, "head")
    workers = []
    for number, group in enumerate(groups or []):
        path = (*base, "workerGroupSpecs", number)
        copies = count_product(value_at(group, "numOfHosts"), value_at(group, "replicas"))
        stated = value_at(group, "replicas") is not None
        workers.append(
            template_pods(yaml, path, value_at(group, "template"), copies if stated else "no count", "worker")
        )
    scales = value_at(yaml.value, *base, "enableInTreeAutoscaling") is True
    line = yaml.line(*base, "workerGroupSpecs")
    record_ray_groups(head if offers_accelerators(head_group) else None, workers, builder, line, scales=scales)


def offers_accelerators(head_group: Any) -> bool:
    """Whether a head offers Ray the accelerators that it requests; it does not with ``num-gpus: "0"``."""
    return str(value_at(head_group, "rayStartParams", "num-gpus")) != "0"


def record_ray_groups(
    head: Pods | None, workers: list[Pods], builder: ImportBuilder, line: int, *, scales: bool
) -> None:
    """Record the nodes of a head that offers accelerators, and of the single group of workers that requests
    accelerators.

    Raises `FormatError` if none asks, or several groups of workers do.
    """
    working = [pods for pods in workers if pods.accelerators]
    asking = [head, *working] if head is not None and head.accelerators else working
    if not asking:
        raise FormatError("a RayCluster whose workers ask for no accelerators", line)
    if len(working) > 1:
        raise FormatError("a RayCluster with several groups of workers with accelerators: no single machine", line)
    if scales or any(not pods.copies for pods in asking):
        if len({pods.accelerators for pods in asking}) == 1:
            builder.set("cluster.accelerators_per_node", asking[0].accelerators, asking[0].line)
        builder.unknown("layout.nodes", "the number of workers follows the load, or is not stated", asking[-1].line)
        return
    record_pods(asking, builder, line)
