"""Pods of a Kubernetes template: their number, and the accelerators, networks and processors that they request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from clusterspec.exchange.documents import Yaml
from clusterspec.exchange.import_result import FormatError, ImportBuilder, excerpt, without_comments
from clusterspec.source import items_of, mapping_of, value_at

RESOURCES = ("nvidia.com/gpu", "amd.com/gpu", "habana.ai/gaudi", "aws.amazon.com/neuron", "google.com/tpu")
_PRODUCT = re.compile(r"nvidia\.com/(?:rtx[a-z]?|gtx|a|h|gh|gb|b|v|t|l|p)[0-9]{1,4}[a-z0-9]{0,8}", re.IGNORECASE)
"""A resource that a site names after the product; slices (``nvidia.com/mig-1g.5gb``) do not match. Example:
``nvidia.com/a100`` of Nautilus in Lucas-SJY/train_llm_with_nrp 2bb18a93, k8s/job.yaml, read 2026-11-25.
"""
NO_COUNT = "its replicas are not a number: a template, or absent"
_PROCESSORS = {"cpu", "memory", "ephemeral-storage"}

Path = tuple[str | int, ...]


class Pods(NamedTuple):
    """Pods of one template: their number (None if not a count), the accelerators that each requests, and the line."""

    copies: int | None
    accelerators: int
    line: int
    what: str
    is_open: bool = False
    """Whether a container requests a number of accelerators that is a placeholder in the text (``${GPUS}``)."""
    host: str = ""
    """The one node to which the template assigns its pods (a selector of ``kubernetes.io/hostname``, or
    ``nodeName``).
    """


def template_pods(yaml: Yaml, path: Path, template: Any, copies: Any, what: str) -> Pods:
    """The pods of a template; ``path`` is the position for messages."""
    asked = sum(requested_accelerators(each) or 0 for each in containers_of(template))
    is_open = not asked and any(names_of_accelerators(requested_resources(each)) for each in containers_of(template))
    selected = value_at(template, "spec", "nodeSelector", "kubernetes.io/hostname")
    host = selected or value_at(template, "spec", "nodeName")
    return Pods(pod_count(copies), asked, yaml.line(*path), what, is_open, host if isinstance(host, str) else "")


def volcano_pods(yaml: Yaml, tasks: list[Any]) -> list[Pods]:
    """The pods of the tasks of a Volcano Job. A task without ``replicas`` has no count, since the field has no default.

    Raises `FormatError` if none of them requests accelerators. Form: volcano-sh/apis 7c2e554c,
    pkg/apis/batch/v1alpha1/job.go, ``TaskSpec``.
    """
    found = []
    for number, task in enumerate(tasks):
        copies, name = value_at(task, "replicas"), excerpt(value_at(task, "name") or number + 1)
        path = ("spec", "tasks", number)
        found.append(template_pods(yaml, path, value_at(task, "template"), copies if copies else "no count", name))
    if not any(pods.accelerators or pods.is_open for pods in found):
        raise FormatError("a Job of Volcano whose containers ask for no accelerators", yaml.line("spec", "tasks"))
    return found


def pod_count(value: Any) -> int | None:
    """A whole number; 1 if absent, as in Kubernetes; None for a placeholder or a word."""
    if value is None:
        return 1
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def count_product(*values: Any) -> Any:
    """The product of counts, 1 for absent ones; a word if one of them is not a number."""
    product = 1
    for value in values:
        count = pod_count(value)
        if count is None:
            return "no count"
        product *= count
    return product


def containers_of(template: Any) -> list[Any]:
    return list_at(template, "spec", "containers")


def requested_accelerators(container: Any) -> int | None:
    """The accelerators that a container requests; None if it requests none."""
    asked = requested_resources(container)
    found = (asked.get(name) for name in names_of_accelerators(asked))
    return next((int(str(count)) for count in found if str(count).isdecimal()), None)


def names_of_accelerators(asked: dict[str, Any]) -> list[str]:
    """The resources among those requested that are accelerators.

    >>> names_of_accelerators({"cpu": 2, "nvidia.com/a100": 1}), names_of_accelerators({"nvidia.com/hostdev": 8})
    (['nvidia.com/a100'], [])
    """
    return [name for name in RESOURCES if name in asked] + [name for name in asked if _PRODUCT.fullmatch(str(name))]


def requested_resources(container: Any) -> dict[str, Any]:
    resources = value_at(container, "resources")
    return mapping_of(value_at(resources, "requests")) | mapping_of(value_at(resources, "limits"))


def list_at(value: Any, *path: str | int) -> list[Any]:
    """The list at a path in a value; empty if there is none."""
    return items_of(value_at(value, *path))


def requests_only_processors(template: Any) -> bool:
    """Whether containers state resources but no accelerators (by name, as devices, or as claims)."""
    resources = [value_at(each, "resources") for each in containers_of(template)]
    names = {name for each in resources for part in ("requests", "limits") for name in mapping_of(value_at(each, part))}
    claims = any(mapping_of(each).get("claims") for each in resources)
    return bool(names) and not claims and names <= _PROCESSORS


def record_pods(groups: list[Pods], builder: ImportBuilder, line: int) -> int | None:
    """Set the nodes and the accelerators per node. Returns the number of nodes; None if it is undecided."""
    asking = [each for each in groups if each.accelerators and each.copies != 0]
    if not asking:
        why = "the number of accelerators of a container is a variable, or not stated"
        is_open = any(each.is_open for each in groups)
        builder.unknown("layout.nodes", why if is_open else "no container asks for accelerators", line)
        return None
    first, each_asks = asking[0], {pods.accelerators for pods in asking}
    if len(each_asks) == 1:
        builder.set("cluster.accelerators_per_node", first.accelerators, first.line)
    else:
        why = ", ".join(f"{pods.what} {pods.accelerators}" for pods in asking)
        builder.unknown("cluster.accelerators_per_node", f"pods ask for different numbers: {why}", first.line)
    if open_ones := [pods for pods in asking if pods.copies is None]:
        builder.unknown("layout.nodes", NO_COUNT, open_ones[0].line)
        return None
    nodes = sum(pods.copies or 0 for pods in asking)
    hosts = {pods.host for pods in asking}
    if nodes > 1 and len(hosts) == 1 and hosts != {""}:
        why = f"its {nodes} pods are bound to the node {excerpt(first.host)}: a pod is not a node"
        builder.unknown("layout.nodes", why, first.line)
        builder.count("accelerators", sum((pods.copies or 0) * pods.accelerators for pods in asking), first.line)
        return None
    builder.set("layout.nodes", nodes, first.line)
    builder.count("nodes", nodes, first.line)
    builder.count("accelerators", sum((pods.copies or 0) * pods.accelerators for pods in asking), first.line)
    return nodes


_JOINED = re.compile(r"\bray start\b|--nnodes\b|\btorchrun\b|distributed[-_]executor[-_]backend|--node-rank\b")
"""Text that indicates that several pods are nodes of one launch."""
_WAITS = re.compile(
    r"(?:^|[\s;&|/])(?:sleep inf(?:inity)?|tail -f /dev/null|sleep \d{4,9}|sleep \d{1,4}d)\s*(?:;\s*)?$"
)
"""A command after which a container only waits for work started from outside."""


def record_copies(yaml: Yaml, builder: ImportBuilder) -> None:
    """Record the pods of a Deployment or StatefulSet. Each replica is a separate node, unless the pods form one launch
    or wait for one.
    """
    spec = mapping_of(yaml.mapping.get("spec"))
    pods = template_pods(yaml, ("spec",), spec.get("template"), 1, "pod")
    stated, line = spec.get("replicas"), yaml.line("spec", "replicas")
    joined = _JOINED.search(without_comments(yaml.document.source.text))
    waiting = stated not in (None, 0, 1) and _only_waits(spec.get("template"))
    if joined or waiting or stated == 0:
        builder.set("cluster.accelerators_per_node", pods.accelerators, pods.line)
        why = "replicas of 0: none of its pods runs"
        if waiting:
            why = "its pods wait: the commands started in them decide how many pods are nodes of one launch"
        elif joined:
            why = "its pods may join in one launch, which its commands decide"
        builder.unknown("layout.nodes", why, line)
    else:
        record_pods([pods], builder, line)
    if stated is None and _is_patch(spec):
        why = "a patch, with neither a selector nor an image: the manifest that it changes states them"
        builder.unknown("replicas", why, pods.line)
        return
    if (copies := pod_count(stated)) is None:
        builder.unknown("replicas", NO_COUNT, line)
    builder.count("replicas", copies, line)


def _is_patch(spec: Mapping[str, Any]) -> bool:
    """Whether a spec is only a part, as in a Kustomize patch. A whole one has a selector and images."""
    return "selector" not in spec and not any(
        "image" in mapping_of(each) for each in containers_of(spec.get("template"))
    )


def _only_waits(template: Any) -> bool:
    """Whether each container with accelerators ends with a wait and runs nothing in the background."""
    asking = [each for each in containers_of(template) if requested_accelerators(each)]
    run = [" ".join(str(word) for key in ("command", "args") for word in list_at(each, key)) for each in asking]
    return bool(run) and all(_WAITS.search(each) and not re.search(r"(?<![&>])&(?![&>])", each) for each in run)
