"""Queues of AWS ParallelCluster 3: the instances with accelerators of one compute resource.

Fields: ``Scheduling.SlurmQueues[].ComputeResources[]`` (awsdocs/aws-parallelcluster-user-guide, doc_source/
Scheduling-v3.md; ``MinCount`` is 0 and ``MaxCount`` 10 where they are absent).
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from clusterspec.catalog import Catalog
from clusterspec.exchange.documents import read_yaml
from clusterspec.exchange.import_result import (
    LIST,
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    chosen_part,
    excerpt,
)
from clusterspec.exchange.machines.links import match_instance
from clusterspec.exchange.pages import is_page_or_script
from clusterspec.exchange.workloads.keys import positive_integer_of
from clusterspec.source import value_at
from clusterspec.units import plural

PARALLELCLUSTER = "parallelcluster"
_QUEUES = re.compile(r"^[ \t]+SlurmQueues[ \t]*:", re.MULTILINE)
_MOST = 10
"""The default of ``MaxCount``."""
Path = tuple[str | int, ...]


class _Resource(NamedTuple):
    """A compute resource of a queue: its name, path, instance types, platform of the catalog, and values."""

    name: str
    path: Path
    types: tuple[str, ...]
    platform: str | None
    value: dict[str, Any]
    queue: dict[str, Any]


def matches_parallelcluster(file: InputFile) -> bool:
    """Whether a file itself has queues; scripts and pages that contain them do not match."""
    return bool(_QUEUES.search(file.text)) and "ComputeResources" in file.text and not is_page_or_script(file.text)


def read_parallelcluster(file: InputFile) -> ImportResult:
    """The nodes of the compute resource with accelerators. Raises `SeveralParts` for several."""
    yaml, builder = read_yaml(file), ImportBuilder(PARALLELCLUSTER, file.name)
    resources = list(_resources(yaml.value))
    known = [each for each in resources if each.platform]
    if not known:
        shown = excerpt(", ".join(dict.fromkeys(name for each in resources for name in each.types)), LIST)
        raise FormatError(f"no compute resource is of an instance type with accelerators of the catalog: {shown}")
    shown = ", ".join(f"{excerpt(each.name)} of {each.types[0]}" for each in known[:8])
    counted = plural(len(known), "compute resource")
    chosen = chosen_part(known, file.part, f"{counted} with accelerators", f"{counted}: {shown}")
    line = yaml.line(*chosen.path)
    builder.set("cluster.platform", chosen.platform, yaml.line(*chosen.path, *_type_path(chosen.value)))
    _record_nodes(chosen, builder, yaml.line(*chosen.path, "MinCount"), yaml.line(*chosen.path, "MaxCount"))
    if _is_on(chosen.value, "Networking", "PlacementGroup") or _is_on(chosen.queue, "Networking", "PlacementGroup"):
        inner = value_at(chosen.value, "Networking", "PlacementGroup") is not None
        base = chosen.path if inner else chosen.path[:-2]
        at = yaml.line(*base, "Networking", "PlacementGroup")
        builder.set("cluster.scale_out.placement", "cluster-placement-group", at)
    builder.count("efa", "enabled" if _is_on(chosen.value, "Efa") else "not enabled", line)
    if others := len(resources) - len(known):
        why = "of instance types without an entry of accelerators: not part of the cluster"
        builder.unknown(plural(others, "compute resource"), why, line)
    return builder.reading()


def _resources(value: Any) -> list[_Resource]:
    found, ids = [], Catalog.open().ids("platform")
    queues = value_at(value, "Scheduling", "SlurmQueues")
    for n, queue in enumerate(queues if isinstance(queues, list) else []):
        listed = value_at(queue, "ComputeResources")
        for m, resource in enumerate(listed if isinstance(listed, list) else []):
            if not isinstance(resource, dict):
                continue
            several = resource.get("Instances")
            stated = [value_at(each, "InstanceType") for each in several] if isinstance(several, list) else []
            types = tuple(str(each) for each in [resource.get("InstanceType"), *stated] if each is not None)
            platforms = {match_instance(each, "aws", ids) for each in types}
            platform = platforms.pop() if len(platforms) == 1 else None
            path = ("Scheduling", "SlurmQueues", n, "ComputeResources", m)
            found.append(_Resource(str(resource.get("Name")), path, types, platform, resource, queue))
    return found


def _type_path(resource: dict[str, Any]) -> Path:
    return ("InstanceType",) if "InstanceType" in resource else ("Instances", 0, "InstanceType")


def _record_nodes(resource: _Resource, builder: ImportBuilder, least_line: int, most_line: int) -> None:
    """Set the number of nodes if the resource has a fixed number; list its limits if it scales."""
    least, most = resource.value.get("MinCount", 0), resource.value.get("MaxCount", _MOST)
    if (nodes := positive_integer_of(most)) and positive_integer_of(least) == nodes:
        builder.set("cluster.nodes", nodes, most_line)
        return
    if not isinstance(least, int) or not nodes:
        why = f"{excerpt(most)} is not a number here: a variable, or what a template fills in"
        builder.unknown("cluster.nodes", why, most_line)
        return
    builder.count("least_nodes", least, least_line)
    builder.count("most_nodes", nodes, most_line)
    default = "" if "MaxCount" in resource.value else ", the default"
    why = f"{excerpt(least)} to {excerpt(most)} nodes{default}: the compute resource grows and shrinks"
    builder.unknown("cluster.nodes", why, most_line)


def _is_on(value: Any, *path: str) -> bool:
    return value_at(value, *path, "Enabled") is True
