"""MLPerf submissions: descriptions of systems (JSON), and configurations of training runs (shell).

Fields: mlcommons/training_results_v5.0 0fdc28f0, ``*/systems/*.json``; mlcommons/inference_results_v5.1 likewise. All
values are text or numbers as the submitter wrote them; the values of networks follow no format. ``node_types`` of
mlcommons/endpoints holds one description for each type of node. Variables of configurations:
mlcommons/training_results_v5.1 441d65f4, Dell/benchmarks/llama31_8b/implementations/nemo/conf/custom.yaml lines 48-72
and llama2_70b_lora/implementations/nemo/conf/megatron_gpt_peft_tuning_config.yaml lines 21-31, in both of which
``MINIBS`` is the sequences of a data-parallel replica in a step.
"""

from __future__ import annotations

import re
from typing import Any

from clusterspec.exchange.import_result import (
    LIST,
    TITLE,
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    chosen_part,
    excerpt,
)
from clusterspec.exchange.machines.links import accelerator_of_product, set_product
from clusterspec.exchange.shell import variables_of
from clusterspec.exchange.workloads.keys import Keys, boolean_value, positive_integer_of, set_choice, set_counts
from clusterspec.exchange.workloads.unused_keys import list_unused

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
    count = positive_integer_of(_stripped_value(system["accelerators_per_node"]))
    if count is None:
        raise FormatError(f"has no accelerators: accelerators_per_node is {system['accelerators_per_node']!r}", line)
    _record_accelerator(str(system["accelerator_model_name"]).strip(), builder, line)
    builder.set("cluster.accelerators_per_node", count, file.line_of_key("accelerators_per_node"))
    nodes = positive_integer_of(_stripped_value(system.get("number_of_nodes")))
    builder.set("cluster.nodes", nodes, file.line_of_key("number_of_nodes"))
    if nodes:
        builder.count("accelerators", nodes * count, file.line_of_key("number_of_nodes"))
    else:
        builder.unknown("cluster.nodes", "number_of_nodes is absent, or no count", line)
    for name in _TEXTS:
        text = str(system.get(name) or "").strip()
        if text.lower() not in _EMPTY:
            why = "free text of the submitter, without a defined form"
            builder.unknown(f"{name}: {excerpt(text, TITLE)}", why, file.line_of_key(name))
    framework = str(system.get("framework") or system.get("serving_framework") or "").strip()
    if framework:
        builder.count("framework", excerpt(framework, LIST), file.line_of_key("framework"))
    return builder.reading()


def _stripped_value(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def _record_accelerator(name: str, builder: ImportBuilder, line: int) -> None:
    """Record the accelerator; a text that names several, with counts, is listed as unknown."""
    parts = {accelerator_of_product(part) for part in re.split(r"[,;+]| and ", name)} - {None}
    if len(parts) > 1:
        builder.unknown(f"accelerator {excerpt(name, TITLE)}", "several types of accelerators", line)
    else:
        set_product(excerpt(name, TITLE), builder, line)


def _chosen_type(value: dict[str, Any], part: int | None) -> dict[str, Any]:
    """The description of one type of node: the object itself, or the chosen one of ``node_types``."""
    types = value.get("node_types")
    if not isinstance(types, list) or not types or not all(isinstance(each, dict) for each in types):
        return value
    flat: list[dict[str, Any]] = []
    for each in types:
        inner = each.get("accelerator_info")
        flat.append(value | each | (inner[0] if isinstance(inner, list) and len(inner) == 1 else {}))
    names = ", ".join(excerpt(each.get("accelerator_model_name", "unnamed")) for each in flat[:12])
    counted = f"{len(flat)} types of nodes"
    return chosen_part(flat, part, counted, f"has {counted} ({names})")


# Configurations of training runs (``config_*.sh``), which a run script sources

MLPERF_CONFIG = "mlperf-config"
_NODES = ("DGXNNODES", "NNODES")
_DEVICES = ("DGXNGPU", "GPUS_PER_NODE", "SBATCH_GPUS_PER_NODE")
_DEGREES = {
    "layout.tp": ("TENSOR_MODEL_PARALLEL", "TP"),
    "layout.pp": ("PIPELINE_MODEL_PARALLEL", "PP"),
    "layout.cp": ("CONTEXT_PARALLEL", "CP"),
    "layout.ep": ("EXPERT_PARALLEL", "EP"),
    "layout.virtual_stages": ("INTERLEAVED_PIPELINE", "VP"),
    "layout.micro_batch": ("MICRO_BATCH_SIZE", "MBS"),
    "workload.global_batch": ("GBS",),
    "layout.nodes": _NODES,
    "cluster.accelerators_per_node": _DEVICES,
}
_CONFIG = re.compile(r"^[ \t]*export[ \t]+(?:DGXNNODES|MLPERF_SUBMISSION_PLATFORM)=", re.MULTILINE)
LARGEST_CONFIG = 128 << 10
"""Bytes of the largest configuration read; published ones have some 5 KiB."""
_LAUNCH = re.compile(r"\b(?:torchrun|srun|mpirun|python3?)[ \t]")


def matches_mlperf_config(file: InputFile) -> bool:
    return bool(_CONFIG.search(file.text)) and not _LAUNCH.search(re.sub(r"#[^\n]*", "", file.text))


def read_mlperf_config(file: InputFile) -> ImportResult:
    """The layout of a run. Raises `FormatError` if the file states no degree of a transformer's layout."""
    file.refuse_oversized("a configuration", LARGEST_CONFIG)
    keys = Keys()
    for name, word in variables_of(file.text).items():
        if word.branch:
            keys.undecided.append((f"{name}={excerpt(word.text)}", word.line, word.branch))
        else:
            keys.put(name, word.text, word.line)
    names = [each for path, listed in _DEGREES.items() if path in _SPLITS for each in listed]
    if not any(keys.find(name) for name in names):
        raise FormatError("states no degree of tensor, pipeline or context parallelism: no layout of a transformer")
    builder = ImportBuilder(MLPERF_CONFIG, file.name)
    builder.set("workload.kind", "train", keys.line(*names))
    set_counts(keys, _DEGREES, builder)
    for name in ("SEQ_PARALLEL", "SP"):
        builder.set("layout.sequence_parallel", boolean_value(keys.get(name)), keys.line(name))
    for name, precision in (("FP4", "nvfp4"), ("FP8", "fp8")):
        if keys.is_on(name):
            builder.set("workload.precision", precision, keys.line(name))
            break
    words = {"true": "zero1", "false": "none"}
    set_choice(keys, "layout.sharding", ("USE_DIST_OPTIMIZER",), words, builder)
    set_choice(keys, "layout.recompute", ("ACT_CKPT_GRANULARITY",), {"full": "full", "selective": "selective"}, builder)
    _set_global_batch(keys, builder)
    for number, line in enumerate(file.lines, 1):
        if match := re.match(r"[ \t]*(?:source|\.)[ \t].{0,200}?([\w.-]{1,80}\.sh)\b", line):
            builder.unknown(match[1], "a separate file; its variables apply if this file does not set them", number)
    list_unused(keys, builder)
    return builder.reading()


_SPLITS = ("layout.tp", "layout.pp", "layout.cp")


def _set_global_batch(keys: Keys, builder: ImportBuilder) -> None:
    """Set the global batch to sequences per replica × replicas, if all degrees are stated."""
    each, line = keys.integer("MINIBS"), keys.line("MINIBS")
    counts = [keys.integer(*_DEGREES[path]) for path in (*_SPLITS, "layout.nodes", "cluster.accelerators_per_node")]
    if not keys.find("MINIBS") or keys.find("GBS"):
        return
    if each is None:
        builder.unknown(f"MINIBS={excerpt(keys.get('MINIBS'))}", "not a count of sequences", line)
        return
    if all(counts):
        tp, pp, cp, nodes, devices = (count or 1 for count in counts)
        replicas, rest = divmod(nodes * devices, tp * pp * cp)
        if not rest:
            builder.set("workload.global_batch", each * replicas, line)
            return
    builder.unknown(f"MINIBS={each}", "sequences of a replica in a step; the file does not state all degrees", line)
