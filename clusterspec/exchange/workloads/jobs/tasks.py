"""Tasks of SkyPilot and dstack: the nodes that they request, and the accelerators of each.

Names: SkyPilot, docs/source/reference/yaml-spec.rst (``num_nodes``, 1 where absent; ``resources.accelerators`` as
``NAME:COUNT``, a mapping, or a list of choices); dstack, docs/docs/reference/dstack.yml (``nodes``, 1 where absent;
``resources.gpu`` as ``NAME:MEMORY:COUNT`` in any order, or a mapping with ``name`` and ``count``). Each replica of a
service (``service.replicas`` of SkyPilot, ``replicas`` of dstack) has the nodes of the task for itself.
"""

from __future__ import annotations

import re
from typing import Any

from clusterspec.catalog import Catalog
from clusterspec.catalog.product_names import slice_of_name
from clusterspec.document.schema import letters_and_digits
from clusterspec.exchange.documents import Yaml, read_yaml
from clusterspec.exchange.import_result import LIST, FormatError, ImportBuilder, ImportResult, InputFile, excerpt
from clusterspec.exchange.machines.links import accelerator_of_product
from clusterspec.exchange.machines.tpu_slices import set_slices
from clusterspec.exchange.machines.unclear_names import unclear_name
from clusterspec.exchange.workloads.keys import positive_integer_of
from clusterspec.records import replace
from clusterspec.source import items_of, value_at

TASK = "task"
_SKYPILOT = (
    re.compile(r"^resources[ \t]*:", re.MULTILINE),
    re.compile(r"^[ \t]+(?:-[ \t]+\{?)?accelerators[ \t]*:", re.MULTILINE),
)
_DSTACK = (re.compile(r"^type[ \t]*:[ \t]*(?:task|service|dev-environment|fleet)\b", re.MULTILINE), _SKYPILOT[0])
_MEMORY = re.compile(r"[0-9.]+ ?[MGT]B?(?:\.\.[0-9.]* ?[MGT]?B?)?", re.IGNORECASE)


def matches_task(file: InputFile) -> bool:
    return any(all(mark.search(file.text) for mark in marks) for marks in (_SKYPILOT, _DSTACK))


def read_task(file: InputFile) -> ImportResult:
    """The nodes of a task. Raises `FormatError` if it requests no accelerators."""
    builder = ImportBuilder(TASK, file.name)
    _record_task(read_yaml(file), builder)
    builder.unknown("run, setup and envs", "not imported: a launch of a framework is read as its own kind")
    return builder.reading()


def result_with_nodes(file: InputFile, launch: ImportResult) -> ImportResult:
    """A launch that a task runs, with the nodes of the task, unless the launch states them."""
    builder = ImportBuilder(TASK, file.name)
    try:
        _record_task(read_yaml(file), builder)
    except FormatError:  # a page, or a task without accelerators
        return launch
    task = builder.reading()
    added = tuple(each for each in task.given if launch.value(each.path) is None)
    copies = tuple(each for each in task.counts if each.name == "replicas" and launch.number("replicas") is None)
    counts, unknown = (*launch.counts, *copies), (*launch.unknown, *task.unknown)
    return replace(launch, given=(*launch.given, *added), counts=counts, unknown=unknown)


def _record_task(yaml: Yaml, builder: ImportBuilder) -> None:
    """Set the accelerators of a node, and the nodes. Raises `FormatError` if the task requests no accelerators."""
    resources = yaml.mapping.get("resources")
    asked = resources if isinstance(resources, dict) else {}
    name, nodes = ("gpu", "nodes") if "gpu" in asked else ("accelerators", "num_nodes")
    if choices := _alternatives(asked):
        _set_alternatives(choices, yaml, builder)
        return
    if asked.get(name) is None:
        raise FormatError("asks for no accelerators (resources.accelerators, resources.gpu)", yaml.line("resources"))
    line = yaml.line("resources", name)
    product, count = _product_and_count(asked[name])
    if count == 1 and _SLICE.fullmatch(product):
        _set_slices_of_task(yaml, product, nodes, builder)
        return
    if count is None:
        why = "several choices, a range or a variable: the task does not state one"
        builder.unknown(f"{name}: {excerpt(asked[name])}", why, line)
    else:
        builder.set("cluster.accelerators_per_node", count, line)
    if product and (entry := _accelerator_of_service(product)):
        builder.set("cluster.accelerator", entry, line)
    elif product:
        builder.unknown(f"accelerator {excerpt(product)}", unclear_name(product, "service"), line)
    _set_nodes(yaml, nodes, count, builder)


def _alternatives(asked: dict[str, Any]) -> list[Any]:
    """The accelerators of the alternatives of a task, of which SkyPilot takes one (``any_of``, ``ordered``, a list)."""
    if isinstance(stated := asked.get("accelerators"), list):
        return stated if len(stated) > 1 else []
    listed = items_of(asked.get("any_of")) or items_of(asked.get("ordered"))
    return [found for each in listed if (found := value_at(each, "accelerators")) is not None]


def _set_alternatives(choices: list[Any], yaml: Yaml, builder: ImportBuilder) -> None:
    """Set the number of accelerators in which all alternatives agree, and list the alternatives."""
    counts = {_product_and_count(each)[1] for each in choices}
    count, line = counts.pop() if len(counts) == 1 else None, _line_of_alternatives(yaml)
    builder.set("cluster.accelerators_per_node", count, line)
    shown = ", ".join(dict.fromkeys(excerpt(each) for each in choices))
    builder.unknown(f"accelerators: {excerpt(shown, LIST)}", "several choices: the task does not state one", line)
    _set_nodes(yaml, "num_nodes", count, builder)


def _line_of_alternatives(yaml: Yaml) -> int:
    """The line of the key that lists the alternatives."""
    resources = value_at(yaml.value, "resources")
    name = next((each for each in ("accelerators", "any_of", "ordered") if value_at(resources, each)), "any_of")
    return yaml.line("resources", name)


_SLICE = re.compile(r"tpu-v\d{1,2}[a-z]{0,8}-\d{1,5}", re.IGNORECASE)
"""A slice of TPUs, which SkyPilot counts as one node (docs/source/reference/tpu.rst); it may have several hosts."""


def _set_slices_of_task(yaml: Yaml, product: str, nodes: str, builder: ImportBuilder) -> None:
    """Set the machine of a task on TPU slices; list a slice that the catalog lacks."""
    line, stated = yaml.line("resources", "accelerators"), yaml.mapping.get(nodes)
    found, slices = slice_of_name(product, Catalog.open()), 1 if stated is None else positive_integer_of(stated)
    if found is None or slices is None:
        why = "no TPU slice of the catalog" if found is None else "no count of slices"
        builder.unknown(f"{excerpt(product)} × {excerpt(1 if stated is None else stated)}", why, line)
    else:
        set_slices(found, slices, builder, line)


_FORM = re.compile(r"(?:^|[-_ ])(?:SXM[0-9]?|NVL|PCIE)(?:$|[-_ ])", re.IGNORECASE)
_MEMORY_FIRST = re.compile(r"([A-Z]{1,2}[0-9]{2,4})-([0-9]{2,3}GB)-(SXM[0-9]?|PCIE)", re.IGNORECASE)


def _accelerator_of_service(name: str) -> str | None:
    """The catalog id of an accelerator by the name of a service; None if the name leaves its form or memory open.

    >>> _accelerator_of_service("H200-SXM"), _accelerator_of_service("A100-80GB-SXM"), _accelerator_of_service("L40S")
    ('h200-sxm-141gb', 'a100-sxm-80gb', 'l40s')
    >>> _accelerator_of_service("A100-80GB"), _accelerator_of_service("H100")
    (None, None)
    """
    if _FORM.search(name):
        return accelerator_of_product(_MEMORY_FIRST.sub(r"\1-\3-\2", name))
    plain = letters_and_digits(name)
    return next((each for each in Catalog.open().ids("accelerator") if letters_and_digits(each) == plain), None)


def _set_nodes(yaml: Yaml, name: str, count: int | None, builder: ImportBuilder) -> None:
    stated = yaml.mapping.get(name)
    nodes = 1 if stated is None else positive_integer_of(stated)
    if nodes is None:
        builder.unknown(f"{name}: {excerpt(stated)}", "no count of nodes", yaml.line(name))
        return
    builder.set("layout.nodes", nodes, yaml.line(name) if stated is not None else yaml.line("resources"))
    if count:
        builder.count("accelerators", nodes * count, yaml.line("resources"))
    for path in (("service", "replicas"), ("service", "replica_policy", "min_replicas"), ("replicas",)):
        copies = value_at(yaml.value, *path)
        if positive_integer_of(copies):
            builder.count("replicas", positive_integer_of(copies), yaml.line(*path))
        elif copies is not None:
            builder.unknown(f"replicas: {excerpt(copies)}", "a range of engines of a service", yaml.line(*path))


def _product_and_count(asked: Any) -> tuple[str, int | None]:
    """The product and the number of accelerators of a node; no number where several are possible.

    >>> _product_and_count("A100-80GB:8"), _product_and_count("80GB:2"), _product_and_count({"H100": 8})
    (('A100-80GB', 8), ('', 2), ('H100', 8))
    >>> _product_and_count({"name": "H100", "count": "4..8"}), _product_and_count(["H100:8", "A100:8"])
    (('H100', None), ('', None))
    >>> _product_and_count("$ACCELERATOR"), _product_and_count("H100:${GPUS}")
    (('', None), ('H100', None))
    """
    if isinstance(asked, dict) and {"name", "count", "memory"} & set(asked):
        named = asked.get("name")
        return (named if isinstance(named, str) else ""), positive_integer_of(asked.get("count", 1))
    if isinstance(asked, dict):
        return (
            (str(next(iter(asked))), positive_integer_of(next(iter(asked.values())))) if len(asked) == 1 else ("", None)
        )
    if isinstance(asked, list) and len(asked) == 1:
        return _product_and_count(asked[0])
    if not isinstance(asked, str | int):
        return "", None
    parts = [part.strip() for part in str(asked).split(":")]
    counts = [count for part in parts if (count := positive_integer_of(part))]
    ranges = any(".." in part and not _MEMORY.fullmatch(part) for part in parts) or any("," in part for part in parts)
    open_ones = [part for part in parts if "$" in part or "{" in part]
    stated = [part for part in parts if part not in open_ones]
    names = [
        part for part in stated if not positive_integer_of(part) and not _MEMORY.fullmatch(part) and ".." not in part
    ]
    return (names[0] if names else ""), (None if ranges or open_ones else counts[0] if counts else 1)
