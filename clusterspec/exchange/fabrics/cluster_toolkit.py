"""Blueprints of Google Cluster Toolkit: the machines with accelerators of one module.

Settings and defaults: GoogleCloudPlatform/cluster-toolkit 10470803, ``variables.tf`` of the modules; a node set of
Slurm grows by 10 nodes where ``node_count_dynamic_max`` is absent, and a node pool of GKE grows and shrinks where
``static_node_count`` is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

from clusterspec.catalog import Catalog
from clusterspec.exchange.documents import Yaml, read_yaml
from clusterspec.exchange.fabrics.pods import list_at
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
from clusterspec.exchange.machines.node_labels import accelerator_of_label
from clusterspec.exchange.pages import is_page_or_script
from clusterspec.exchange.workloads.keys import positive_integer_of
from clusterspec.source import Path, value_at
from clusterspec.units import plural

CLUSTER_TOOLKIT = "cluster-toolkit"
_BLUEPRINT = re.compile(r"^blueprint_name[ \t]*:", re.MULTILINE)
_GROUPS = re.compile(r"^deployment_groups[ \t]*:", re.MULTILINE)
_VARIABLE = re.compile(r"\$\(vars\.(\w{1,80})\)")
_SLURM = re.compile(r"/schedmd-slurm-gcp-v\d-(?:nodeset|node-group)(?:-dynamic)?$")
_GROWTH = 10


class _Machines(NamedTuple):
    """A module with accelerators: its name, path and source, its settings with variables filled in, and the machine
    type.
    """

    name: str
    path: Path
    source: str
    settings: dict[str, Any]
    machine: str
    platform: str | None
    attached: tuple[str, int] | None
    """The type and number of the accelerators attached to a machine that does not have its own entry."""


def matches_cluster_toolkit(file: InputFile) -> bool:
    text = file.text
    return bool(_BLUEPRINT.search(text) and _GROUPS.search(text)) and not is_page_or_script(text)


def read_cluster_toolkit(file: InputFile) -> ImportResult:
    """The machines of the module with accelerators. Raises `SeveralParts` for several, `FormatError` for none."""
    yaml, builder = read_yaml(file), ImportBuilder(CLUSTER_TOOLKIT, file.name)
    modules = list(_machines_of(yaml))
    known = [each for each in modules if each.platform or each.attached]
    if not known:
        shown = excerpt(", ".join(dict.fromkeys(each.machine for each in modules)), LIST) or "none states its machines"
        raise FormatError(f"no module of the blueprint has machines with accelerators of the catalog: {shown}")
    counted = plural(len(known), "module")
    shown = ", ".join(f"{excerpt(each.name)} of {each.machine}" for each in known[:8])
    chosen = chosen_part(known, file.part, f"{counted} with accelerators", f"{counted}: {shown}")
    settings = (*chosen.path, "settings")
    builder.set("cluster.platform", chosen.platform, yaml.line(*settings, "machine_type"))
    if chosen.attached and not chosen.platform:
        kind, number = chosen.attached
        line = yaml.line(*settings, "guest_accelerator")
        builder.set("cluster.accelerator", accelerator_of_label(kind), line)
        builder.set("cluster.accelerators_per_node", number, line)
    _record_nodes(chosen, yaml, builder)
    for each in modules:
        if each not in known:
            why = "machines without an entry of accelerators: not part of the cluster"
            builder.unknown(excerpt(f"{each.name}: {each.machine}", LIST), why, yaml.line(*each.path))
    return builder.reading()


def _machines_of(yaml: Yaml) -> Iterator[_Machines]:
    """The modules that state a type of machine."""
    variables = value_at(yaml.value, "vars")
    known = {str(key): value for key, value in variables.items()} if isinstance(variables, dict) else {}
    ids = Catalog.open().ids("platform")
    for n, group in enumerate(list_at(yaml.value, "deployment_groups")):
        for m, module in enumerate(list_at(group, "modules")):
            stated = value_at(module, "settings")
            if not isinstance(stated, dict) or not isinstance(stated.get("machine_type"), str):
                continue
            settings = {str(key): _resolved_value(value, known) for key, value in stated.items()}
            machine = str(settings["machine_type"])
            path = ("deployment_groups", n, "modules", m)
            found = match_instance(machine, "gcp", ids)
            source = str(module.get("source"))
            yield _Machines(
                str(module.get("id")), path, source, settings, machine, found, _attached_accelerators(settings, known)
            )


def _resolved_value(value: Any, variables: dict[str, Any]) -> Any:
    """A value; a variable of the blueprint is replaced by its value."""
    match = _VARIABLE.fullmatch(value.strip()) if isinstance(value, str) else None
    return variables.get(match[1], value) if match else value


def _attached_accelerators(settings: dict[str, Any], variables: dict[str, Any]) -> tuple[str, int] | None:
    """The accelerators that ``guest_accelerator`` attaches, if it states one type and number."""
    listed = settings.get("guest_accelerator")
    first = listed[0] if isinstance(listed, list) and len(listed) == 1 else None
    kind, number = (_resolved_value(value_at(first, key), variables) for key in ("type", "count"))
    counted = positive_integer_of(number)
    return (kind, counted) if isinstance(kind, str) and counted and accelerator_of_label(kind) else None


def _record_nodes(module: _Machines, yaml: Yaml, builder: ImportBuilder) -> None:
    """Set the number of nodes if a module has a fixed number; otherwise list its setting."""
    name, factors, growth = _count_setting(module)
    stated = module.settings.get(name, 1 if name == "instance_count" else 0)
    line = yaml.line(*module.path, "settings", name)
    counts = [positive_integer_of(stated), *(positive_integer_of(module.settings.get(each, 1)) for each in factors)]
    if name and growth in (0, "0") and all(counts):
        builder.set("cluster.nodes", prod(count for count in counts if count), line)
    elif not name:
        why = f"how many machines {excerpt(module.source)} makes is not read"
        builder.unknown("cluster.nodes", why, yaml.line(*module.path, "source"))
    elif name == "node_count_static" and isinstance(stated, int):
        why = f"{stated} nodes, and up to {excerpt(growth)} more: the node set grows and shrinks"
        builder.unknown("cluster.nodes", why, line)
    else:
        why = f"{name} is not a number here: a deployment file or the command sets it, or the pool grows and shrinks"
        builder.unknown("cluster.nodes", why, line)


def _count_setting(module: _Machines) -> tuple[str, tuple[str, ...], Any]:
    """The setting with the number of machines of a module, the settings by which it is multiplied, and the number of
    machines by which it can grow.
    """
    if _SLURM.search(module.source):
        return "node_count_static", (), module.settings.get("node_count_dynamic_max", _GROWTH)
    if module.source.endswith("/gke-node-pool"):
        return "static_node_count", ("num_node_pools", "num_slices"), 0
    return ("instance_count", (), 0) if module.source.endswith("/vm-instance") else ("", (), 0)
