"""Clusters of Ray's launcher (``ray up``): the nodes of the node types with accelerators.

Fields and defaults: ray-project/ray 01145628, doc/source/cluster/vms/references/ray-cluster-configuration.rst
(``available_node_types``; ``min_workers`` is 0 where it is absent, ``max_workers`` that of the cluster, and 0 for the
type of the head), and the earlier ``head_node`` and ``worker_nodes`` of 72382412, python/ray/autoscaler/aws/
example-full-legacy.yaml, whose numbers stand at the root.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from clusterspec.catalog import Catalog
from clusterspec.exchange.documents import Yaml, read_yaml
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

RAY_LAUNCHER = "ray-launcher"
_TYPES = re.compile(r"^(?:available_node_types|worker_nodes)[ \t]*:", re.MULTILINE)
_CLUSTER = re.compile(r"^cluster_name[ \t]*:|^provider[ \t]*:", re.MULTILINE)
_MACHINE = (("InstanceType",), ("machineType",), ("azure_arm_parameters", "vmSize"), ("instance_type",))
"""Where the configuration of a node names its machine: on AWS, Google Cloud and Azure, and in Anyscale's files."""
_MOST = 2
"""The default of ``max_workers`` of the cluster."""
Path = tuple[str | int, ...]


class _NodeType(NamedTuple):
    """A node type: its name, machine, platform of the catalog, accelerators, numbers of nodes, and lines."""

    name: str
    machine: str
    platform: str | None
    accelerators: int | None
    least: int | None
    most: int | None
    line: int
    count_line: int


def matches_ray_launcher(file: InputFile) -> bool:
    """Whether a file itself is such a cluster; scripts and pages that contain one do not match."""
    stated = bool(_TYPES.search(file.text) and _CLUSTER.search(file.text))
    return stated and not is_page_or_script(file.text)


def read_ray_launcher(file: InputFile) -> ImportResult:
    """The nodes of the machine with accelerators. Raises `SeveralParts` for several, `FormatError` for none."""
    yaml, builder = read_yaml(file), ImportBuilder(RAY_LAUNCHER, file.name)
    types = list(_node_types(yaml))
    known = [each for each in types if (each.platform or each.accelerators) and each.most != 0]
    if not known:
        shown = excerpt(", ".join(dict.fromkeys(each.machine or "no machine" for each in types)), LIST)
        raise FormatError(
            f"no node type (ray up) is of an instance type with accelerators of the catalog, or states its GPU: {shown}"
        )
    machines = list(dict.fromkeys((each.machine, each.accelerators) for each in known))
    counted = plural(len(machines), "machine")
    shown = ", ".join(f"{machine or 'a machine'} of {name}" for machine, name in _machines_with_types(known))
    chosen = chosen_part(machines, file.part, f"{counted} with accelerators", f"{counted}: {shown}")
    group = [each for each in known if (each.machine, each.accelerators) == chosen]
    builder.set("cluster.platform", group[0].platform, group[0].line)
    if not group[0].platform:
        builder.set("cluster.accelerators_per_node", group[0].accelerators, group[0].line)
    _record_nodes(group, builder)
    if others := [each.name for each in types if each not in group]:
        why = "of a machine that is not part of this cluster"
        builder.unknown(f"node types {excerpt(', '.join(others), LIST)}", why, group[0].line)
    return builder.reading()


def _machines_with_types(known: list[_NodeType]) -> list[tuple[str, str]]:
    return [(each.machine, excerpt(each.name)) for each in known[:8]]


def _node_types(yaml: Yaml) -> Iterator[_NodeType]:
    """The node types; the head is a node next to the workers of its type."""
    value = yaml.mapping
    most, listed = value.get("max_workers", _MOST), value.get("available_node_types")
    if not isinstance(listed, dict):  # the earlier form
        yield from _types_of_root(yaml)
        return
    head = value.get("head_node_type")
    for name, stated in listed.items():
        if not isinstance(stated, dict):
            continue
        path: Path = ("available_node_types", name)
        is_head = name == head or len(listed) == 1 or (head is None and ".head" in str(name))
        limit = stated.get("max_workers", 0 if is_head else most)
        least = stated.get("min_workers", 0)
        counts = _count_of_nodes(least, head=is_head), _count_of_nodes(limit, head=is_head)
        named = "max_workers" if "max_workers" in stated else "min_workers"
        yield _node_type(yaml, path, ("node_config",), counts, yaml.line(*path, named))


def _types_of_root(yaml: Yaml) -> Iterator[_NodeType]:
    """The head and the workers of a file of the earlier form, whose machines are the same or not."""
    value = yaml.mapping
    least, most = value.get("min_workers", 0), value.get("max_workers", _MOST)
    line = yaml.line("max_workers")
    yield _node_type(yaml, ("head_node",), (), (1, 1), yaml.line("head_node"))
    counts = _count_of_nodes(least, head=False), _count_of_nodes(most, head=False)
    yield _node_type(yaml, ("worker_nodes",), (), counts, line)


def _count_of_nodes(value: Any, *, head: bool) -> int | None:
    """Nodes of a type: its workers, and the head that is of that type; None if the file states no number."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return None
    return value + head


def _node_type(
    yaml: Yaml, path: Path, inner: Path, counts: tuple[int | None, int | None], count_line: int
) -> _NodeType:
    """The node type at a path, whose machine is named in a part of it."""
    stated, cloud = value_at(yaml.value, *path), str(value_at(yaml.value, "provider", "type") or "")
    found = next((each for each in _MACHINE if isinstance(value_at(stated, *inner, *each), str)), None)
    machine = str(value_at(stated, *inner, *found)) if found else ""
    line = yaml.line(*path, *inner, *found) if found else yaml.line(*path)
    accelerators = positive_integer_of(value_at(stated, "resources", "GPU"))
    platform = match_instance(machine, cloud, Catalog.open().ids("platform")) if machine else None
    return _NodeType(str(path[-1]), machine, platform, accelerators, *counts, line, count_line)


def _record_nodes(group: list[_NodeType], builder: ImportBuilder) -> None:
    """Set the number of nodes if each type has a fixed number; list the limits if one of them scales."""
    line = max(each.count_line for each in group)
    least = [each.least for each in group if each.least is not None]
    most = [each.most for each in group if each.most is not None]
    if len(least) < len(group) or len(most) < len(group):
        builder.unknown("cluster.nodes", "a number of workers is not a number here: what a template fills in", line)
    elif sum(least) == sum(most) > 0:
        builder.set("cluster.nodes", sum(most), line)
    else:
        builder.count("least_nodes", sum(least), line)
        builder.count("most_nodes", sum(most), line)
        builder.unknown("cluster.nodes", f"{sum(least)} to {sum(most)} nodes: the cluster grows and shrinks", line)
