"""System descriptions of MLPerf submissions (JSON).

Fields: mlcommons/training_results_v5.0 0fdc28f0, ``*/systems/*.json``; mlcommons/inference_results_v5.1 likewise. All
values are text or numbers as the submitter wrote them; those of networks have no form of their own. ``node_types`` of
mlcommons/endpoints holds one description for each type of node.
"""

from __future__ import annotations

import re
from typing import Any

from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, chosen_part
from clusterspec.exchange.machines.links import accelerator_of_product, set_product
from clusterspec.exchange.workloads.keys import whole_of

MLPERF_SYSTEM = "mlperf-system"
_NAMES = ("accelerator_model_name", "accelerators_per_node")
_TEXTS = ("accelerator_interconnect", "host_networking", "host_networking_topology", "host_network_card_count")
_EMPTY = {"", "n/a", "na", "none", "-", "todo", "tbd"}


def matches_mlperf_system(file: InputFile) -> bool:
    return file.text.lstrip()[:1] == "{" and all(f'"{name}"' in file.text for name in _NAMES)


def read_mlperf_system(file: InputFile) -> ImportResult:
    """The nodes and accelerators of a system. Raises `FormatError` if it is no description, or has no accelerator,
    `SeveralParts` for several types of nodes.
    """
    if not isinstance(value := file.json, dict):
        raise FormatError("is not an object with the keys of an MLPerf system")
    system = _chosen_type(value, file.part)
    if not set(_NAMES) <= set(system):
        raise FormatError(f"lacks {' or '.join(name for name in _NAMES if name not in system)}")
    builder = ImportBuilder(MLPERF_SYSTEM, file.name)
    line = file.line_of_key("accelerator_model_name")
    count = whole_of(_stripped(system["accelerators_per_node"]))
    if count is None:
        raise FormatError(f"has no accelerators: accelerators_per_node is {system['accelerators_per_node']!r}", line)
    _record_accelerator(str(system["accelerator_model_name"]).strip(), builder, line)
    builder.set("cluster.accelerators_per_node", count, file.line_of_key("accelerators_per_node"))
    nodes = whole_of(_stripped(system.get("number_of_nodes")))
    builder.set("cluster.nodes", nodes, file.line_of_key("number_of_nodes"))
    if nodes:
        builder.count("accelerators", nodes * count, file.line_of_key("number_of_nodes"))
    else:
        builder.unknown("cluster.nodes", "number_of_nodes is absent, or no count", line)
    for name in _TEXTS:
        text = str(system.get(name) or "").strip()
        if text.lower() not in _EMPTY:
            why = "the text of a submitter, of which no form is defined"
            builder.unknown(f"{name}: {text[:100]}", why, file.line_of_key(name))
    framework = str(system.get("framework") or system.get("serving_framework") or "").strip()
    if framework:
        builder.count("framework", framework[:80], file.line_of_key("framework"))
    return builder.reading()


def _stripped(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def _record_accelerator(name: str, builder: ImportBuilder, line: int) -> None:
    """Record the accelerator; a text that names several, with counts, is listed as unknown."""
    parts = {accelerator_of_product(part) for part in re.split(r"[,;+]| and ", name)} - {None}
    if len(parts) > 1:
        builder.unknown(f"accelerator {name[:100]}", "several types of accelerators", line)
    else:
        set_product(name[:100], builder, line)


def _chosen_type(value: dict[str, Any], part: int | None) -> dict[str, Any]:
    """The description of one type of node: the object itself, or the chosen one of ``node_types``."""
    types = value.get("node_types")
    if not isinstance(types, list) or not types or not all(isinstance(each, dict) for each in types):
        return value
    flat: list[dict[str, Any]] = []
    for each in types:
        inner = each.get("accelerator_info")
        flat.append(value | each | (inner[0] if isinstance(inner, list) and len(inner) == 1 else {}))
    names = ", ".join(str(each.get("accelerator_model_name", "unnamed"))[:40] for each in flat[:12])
    counted = f"{len(flat)} types of nodes"
    return chosen_part(flat, part, counted, f"has {counted} ({names})")
