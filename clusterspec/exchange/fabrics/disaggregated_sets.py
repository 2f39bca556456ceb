"""DisaggregatedSet of Kubernetes LWS: roles of engines, each a group of pods, in copies that are called slices.

Keys and defaults: kubernetes-sigs/lws 060ab4da (2026-08-21), api/disaggregatedset/v1/disaggregatedset_types.go: a role
has the template of a LeaderWorkerSet (``replicas`` and ``size`` are 1 where absent), ``slices`` is 1 where absent, and
a role whose ``scaling.mode`` is ``External`` takes its replicas from another object.
"""

from __future__ import annotations

from typing import Any

from clusterspec.exchange.documents import Yaml
from clusterspec.exchange.fabrics.pods import (
    Pods,
    count_product,
    list_at,
    pod_count,
    record_pods,
    template_pods,
)
from clusterspec.exchange.import_result import ImportBuilder, excerpt
from clusterspec.source import mapping_of, value_at

KIND = "DisaggregatedSet"


def engines_of_role(yaml: Yaml, number: int) -> int | None:
    """The number of groups of a role over all slices; each group is one engine; None if it is not a number."""
    role = list_at(yaml.value, "spec", "roles")[number]
    if value_at(role, "scaling", "mode") == "External":
        return None
    product = count_product(value_at(role, "spec", "replicas"), value_at(yaml.value, "spec", "slices"))
    return product if isinstance(product, int) else None


def record_disaggregated_set(yaml: Yaml, builder: ImportBuilder) -> None:
    """Record the pods of all roles and slices, and their nodes only if all pods request the same number of
    accelerators.
    """
    groups: list[Pods] = []
    for number, role in enumerate(list_at(yaml.value, "spec", "roles")):
        groups += _pods_of_role(yaml, number, mapping_of(role))
    line = yaml.line("spec", "roles")
    builder.count("slices", pod_count(value_at(yaml.value, "spec", "slices")), yaml.line("spec", "slices"))
    asking = [each for each in groups if each.accelerators]
    if len({each.accelerators for each in asking}) < 2:
        record_pods(groups, builder, line)
        return
    why = ", ".join(f"{each.what} {each.accelerators}" for each in asking)
    builder.unknown("cluster.accelerators_per_node", f"pods ask for different numbers: {why}", line)
    builder.unknown("layout.nodes", "pods of different sizes may share nodes", line)
    if all(each.copies is not None for each in asking):
        builder.count("accelerators", sum((each.copies or 0) * each.accelerators for each in asking), line)


def _pods_of_role(yaml: Yaml, number: int, role: dict[str, Any]) -> list[Pods]:
    """The leaders and workers of a role, in all its groups."""
    name, path = excerpt(role.get("name", number + 1)), ("spec", "roles", number, "spec", "leaderWorkerTemplate")
    template = mapping_of(value_at(role, "spec", "leaderWorkerTemplate"))
    engines, size = engines_of_role(yaml, number), pod_count(template.get("size"))
    copies: Any = "no count" if engines is None or size is None else engines
    rest: Any = copies if isinstance(copies, str) else copies * max((size or 1) - 1, 0)
    leader = "leaderTemplate" if isinstance(template.get("leaderTemplate"), dict) else "workerTemplate"
    found = [template_pods(yaml, path, template.get(leader), copies, name)]
    if rest:
        found.append(template_pods(yaml, path, template.get("workerTemplate"), rest, f"{name} worker"))
    return found
