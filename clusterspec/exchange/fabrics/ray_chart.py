"""Values of KubeRay's chart ``ray-cluster``: the nodes of its workers with accelerators.

Fields: ray-project/kuberay feeaf72f, helm-chart/ray-cluster/values.yaml and templates/raycluster-cluster.yaml. A group
that is not ``disabled`` has ``replicas`` × ``numOfHosts`` pods, and its ``resources`` belong to one of them.
"""

from __future__ import annotations

import re
from typing import Any

from clusterspec.exchange.documents import Yaml, read_yaml
from clusterspec.exchange.fabrics.pods import Path, Pods, count_product, pod_count, requested_accelerators
from clusterspec.exchange.fabrics.ray_clusters import offers_accelerators, record_ray_groups
from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, excerpt
from clusterspec.exchange.machines.node_labels import set_labelled_accelerator
from clusterspec.exchange.pages import is_page_or_script
from clusterspec.source import mapping_of, value_at

_HEAD = re.compile(r"^head[ \t]*:[ \t]*(?:#|$)", re.MULTILINE)
_WORKERS = re.compile(r"^(?:worker|additionalWorkerGroups)[ \t]*:[ \t]*(?:#|$)", re.MULTILINE)
_RAY = re.compile(r"\brayStartParams\b|\bkuberay\b|\brayproject/ray\b")
_OBJECT = re.compile(r"^apiVersion[ \t]*:", re.MULTILINE)


def matches_ray_chart(file: InputFile) -> bool:
    text = file.text
    stated = bool(_HEAD.search(text) and _WORKERS.search(text) and _RAY.search(text))
    return stated and not _OBJECT.search(text) and not is_page_or_script(text)


def read_ray_chart(file: InputFile) -> ImportResult:
    """The workers of the values. Raises `FormatError` if none of them, or several groups, request accelerators."""
    yaml, builder = read_yaml(file), ImportBuilder("ray-chart", file.name)
    groups = mapping_of(value_at(yaml.value, "additionalWorkerGroups"))
    paths: list[Path] = [("worker",), *(("additionalWorkerGroups", name) for name in groups)]
    workers = [pods for path in paths if (pods := _worker_group(yaml, path)) is not None]
    stated = value_at(yaml.value, "head")
    head = Pods(1, requested_accelerators(stated) or 0, yaml.line("head", "resources"), "head")
    scales = value_at(stated, "enableInTreeAutoscaling") is True
    line = yaml.line("additionalWorkerGroups" if groups else "worker")
    record_ray_groups(head if offers_accelerators(stated) else None, workers, builder, line, scales=scales)
    set_labelled_accelerator(file, builder)
    return builder.reading()


def _worker_group(yaml: Yaml, path: Path) -> Pods | None:
    """The pods of a group of workers; None if the group is absent or disabled.

    Raises `FormatError` if the file does not state whether it is one.
    """
    group: Any = value_at(yaml.value, *path)
    disabled = value_at(group, "disabled")
    if not isinstance(group, dict) or disabled is True:
        return None
    if disabled is not None and disabled is not False:
        raise FormatError(f"{excerpt('.'.join(map(str, path)))}: disabled is neither true nor false", yaml.line(*path))
    copies = count_product(group.get("numOfHosts"), group.get("replicas"))
    stated = pod_count(copies) if group.get("replicas") is not None else None
    return Pods(stated, requested_accelerators(group) or 0, yaml.line(*path), str(path[-1]))
