"""Recipes of srt-slurm: engines for prefill and decode, or of both, on the nodes of a Slurm job, and their load.

Names: NVIDIA/srt-slurm c88ef731, docs/config-reference.md and docs/overrides.md; the options of an engine are those of
its command line. ``sa-bench`` draws lengths evenly between ``random_range_ratio`` (0.8 where it is absent:
src/srtctl/benchmarks/sa_bench.py, line 112) and all of ``isl`` and ``osl``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from clusterspec.catalog.names import quantized_precision
from clusterspec.exchange.documents import Yaml, read_yaml
from clusterspec.exchange.import_result import (
    LIST,
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    Value,
    excerpt,
)
from clusterspec.exchange.workloads.engines.command_lines import set_engine_options
from clusterspec.exchange.workloads.engines.engine_limits import set_block
from clusterspec.exchange.workloads.engines.engine_roles import set_roles
from clusterspec.exchange.workloads.engines.trtllm import set_options
from clusterspec.exchange.workloads.keys import OPEN_VALUE, Keys, flat_leaves, positive_integer_of
from clusterspec.exchange.workloads.model_files.models import catalog_model, keeps_experts_in, set_model
from clusterspec.exchange.workloads.unused_keys import list_unused
from clusterspec.source import value_at

SRT_SLURM = "srt-slurm"
_RESOURCES = re.compile(
    r"^[ \t]*[\"']?(?:prefill|decode|agg)_(?:nodes|workers)[\"']?[ \t]*:|[{,][ \t]*agg_nodes[ \t]*:", re.M
)
_BACKEND = re.compile(r"^[ \t]*(?:sglang|vllm|trtllm)_config[ \t]*:", re.MULTILINE)
_ENGINES = {"sglang": "sglang", "vllm": "vllm", "trtllm": "trt-llm"}
_RELEASE = re.compile(r"(?:vllm-openai|lmsysorg/sglang|tensorrt-llm/release):v?(\d+\.\d+(?:\.\d+)?)(?![\d.]*rc|\w)")
_ACCELERATORS = {
    "h100": "h100-sxm-80gb",
    "h200": "h200-sxm-141gb",
    "b200": "b200-sxm-180gb",
    "b300": "b300-sxm-288gb",
    "gb200": "gb200",
    "gb300": "gb300",
}
_ROLES = {"prefill": "prefill", "decode": "decode", "aggregated": "agg"}
"""The roles of engines, with the first word of their resources."""
RANGE_RATIO = 0.8
"""The shortest prompt over the longest where a recipe states no ratio."""


def matches_srt_slurm(file: InputFile) -> bool:
    return bool(_BACKEND.search(file.text) and _RESOURCES.search(file.text))


def read_srt_slurm(file: InputFile) -> ImportResult:
    """The machine, engines and load of a recipe. Raises `FormatError` if it is none, or one of several variants."""
    yaml, builder = read_yaml(file), ImportBuilder(SRT_SLURM, file.name)
    value = yaml.mapping
    if "base" in value:
        variants = [name for name in value if re.match(r"(?:zip_)?override_", str(name))]
        why = f"a base and variants of it ({', '.join(variants[:4])}): import what `srtctl resolve-override` writes"
        raise FormatError(why, yaml.line("base"))
    engine = _engine_of(value)
    line = yaml.line("backend")
    builder.set("workload.kind", "serve", line)
    builder.set("layout.framework", engine, line)
    _set_release(yaml, engine, builder)
    _set_machine(yaml, builder)
    model = _set_model(yaml, builder)
    roles = [
        role for role, word in _ROLES.items() if positive_integer_of(value_at(value, "resources", f"{word}_workers"))
    ]
    readings = {role: _role_result(yaml, engine, role, model, file.name) for role in roles}
    if list(readings) == ["aggregated"]:
        _set_replicas(yaml, readings["aggregated"], builder)
        builder.given += [each for each in readings["aggregated"].given if each.path != ("layout", "dp")]
        builder.unknowns += readings["aggregated"].unknown
    elif list(readings) == ["prefill", "decode"]:
        _set_split(yaml, readings, builder)
    else:
        why = "neither engines of both roles nor engines that do both"
        raise FormatError(f"has workers for {' and '.join(roles) or 'no role'}: {why}", yaml.line("resources"))
    _set_precision(yaml, model, builder)
    _set_load(yaml, builder)
    return builder.reading()


def _engine_of(value: Mapping[str, Any]) -> str:
    """The engine: the type of the backend, or, without one, the engine that has options."""
    backend = value_at(value, "backend")
    named = [name for name in _ENGINES if value_at(backend, "type") == name or value_at(backend, f"{name}_config")]
    if not named:
        raise FormatError("its backend is neither SGLang, vLLM nor TensorRT-LLM")
    return _ENGINES[named[0]]


def _set_release(yaml: Yaml, engine: str, builder: ImportBuilder) -> None:
    """Set the release of the engine that the image or the identity of the run names."""
    image, path = str(value_at(yaml.value, "model", "container") or ""), ("identity", "frameworks", engine)
    stated = value_at(yaml.value, *path)
    found = re.match(r"\d+\.\d+(?:\.\d+)?$", str(stated or "")) or _RELEASE.search(image)
    if found:
        at = yaml.line(*path) if stated else yaml.line("model", "container")
        builder.set("layout.software", f"{engine} {found[found.lastindex or 0]}", at)


def _set_machine(yaml: Yaml, builder: ImportBuilder) -> None:
    """Set the accelerator, the accelerators per node, and the nodes of all roles; nodes shared by roles count once."""
    base = "resources"
    named = str(value_at(yaml.value, base, "gpu_type") or "").lower()
    if named in _ACCELERATORS:
        builder.set("cluster.accelerator", _ACCELERATORS[named], yaml.line(base, "gpu_type"))
    elif named:
        builder.unknown(f"gpu_type: {excerpt(named)}", "no accelerator of the catalog", yaml.line(base, "gpu_type"))
    each = positive_integer_of(value_at(yaml.value, base, "gpus_per_node"))
    builder.set("cluster.accelerators_per_node", each, yaml.line(base, "gpus_per_node"))
    counts = [value_at(yaml.value, base, f"{word}_nodes") for word in _ROLES.values()]
    if shared := value_at(yaml.value, "backend", "allow_prefill_decode_colocation_across_nodes"):
        why = "engines of both roles may share nodes: the nodes of the job are not their sum"
        builder.unknown(f"allow_prefill_decode_colocation_across_nodes: {shared}", why, yaml.line(base))
    elif any(str(count).startswith("$") for count in counts):
        builder.unknown("layout.nodes", OPEN_VALUE, yaml.line(base))
    else:
        nodes = sum(positive_integer_of(count) or 0 for count in counts if count is not None)
        builder.set("layout.nodes", nodes or None, yaml.line(base))
    apart = ("infra", "etcd_nats_dedicated_node")
    if value_at(yaml.value, *apart) is True:
        why = "the job has a further node, which runs no engine"
        builder.unknown(f"{'.'.join(apart)}: true", why, yaml.line(*apart))


def _set_model(yaml: Yaml, builder: ImportBuilder) -> str | None:
    """Set the model to the first of its names that the catalog lists, and return its id."""
    stated, line = _names_of_model(yaml), yaml.line("model", "path")
    chosen = next((name for name in stated if catalog_model(name)), stated[0] if stated else None)
    if chosen is None:
        builder.unknown("workload.model", "the recipe names none", line)
        return None
    return set_model(chosen, builder, line)


def _names_of_model(yaml: Yaml) -> list[str]:
    """The possible names of the model: its repository, its path, and the names under which it is served."""
    backend = value_at(yaml.value, "backend")
    options = [value for key, value in backend.items() if str(key).endswith("_config")] if backend else []
    served = [value_at(each, role, "served-model-name") for each in options for role in _ROLES]
    names = [value_at(yaml.value, "identity", "model", "repo"), value_at(yaml.value, "model", "path"), *served]
    return [name.removeprefix("hf:").rstrip("/") for name in names if isinstance(name, str)]


def _set_precision(yaml: Yaml, model: str | None, builder: ImportBuilder) -> None:
    """Set the precision of the weights, unless an option of the engines has, by a name of the model or its width."""
    kept = next((found for name in _names_of_model(yaml) if (found := quantized_precision(name))), None)
    stated = builder.reading().value(("workload", "parameter_precision")) is not None
    if stated or (model and kept and keeps_experts_in(model, kept)):
        return
    width, line = str(value_at(yaml.value, "model", "precision") or ""), yaml.line("model", "precision")
    if kept or width in {"fp8", "bf16", "fp16"}:
        builder.set("workload.parameter_precision", kept or width, yaml.line("model", "path") if kept else line)
    elif width:
        why = "nvfp4 or mxfp4, or that of the published checkpoint: state workload.parameter_precision"
        builder.unknown(f"precision: {excerpt(width)}", why, line)


def _role_result(yaml: Yaml, engine: str, role: str, model: str | None, name: str) -> ImportResult:
    """The import result of the options of one role, read as a separate launch."""
    word = next(word for word, catalog_id in _ENGINES.items() if catalog_id == engine)
    path = ("backend", f"{word}_config", role)
    options, keys, builder = value_at(yaml.value, *path), Keys(), ImportBuilder(SRT_SLURM, name)
    for option, value, line in flat_leaves(options if isinstance(options, dict) else {}, yaml.line, path):
        if value is not False:
            keys.put(option.removeprefix(f"{'.'.join(path)}."), value, line)
    keys.used |= {"served_model_name", "model_path", "disaggregation_mode", "trust_remote_code"} & keys.values.keys()
    if engine == "trt-llm":
        set_options(keys, builder)
    else:
        set_engine_options(engine, keys, model, builder)
    if role in {"prefill", "decode"}:
        set_block(keys, builder)
    list_unused(keys, builder)
    return builder.reading()


def _engine_count(yaml: Yaml, role: str, reading: ImportResult) -> Value:
    """Number of engines of a role: its workers, times the replicas of a dense model in each worker."""
    workers = positive_integer_of(value_at(yaml.value, "resources", f"{_ROLES[role]}_workers"))
    copies = reading.value(("layout", "dp"))
    return workers * copies if workers and isinstance(copies, int) else workers


def _set_replicas(yaml: Yaml, reading: ImportResult, builder: ImportBuilder) -> None:
    builder.set("layout.dp", _engine_count(yaml, "aggregated", reading), yaml.line("resources", "agg_workers"))


def _set_split(yaml: Yaml, readings: Mapping[str, ImportResult], builder: ImportBuilder) -> None:
    """Set the engines of prefill and decode."""
    engines = {
        role: (_engine_count(yaml, role, reading), yaml.line("resources", f"{role}_workers"))
        for role, reading in readings.items()
    }
    set_roles(readings, engines, builder)


def _set_load(yaml: Yaml, builder: ImportBuilder) -> None:
    """Set lengths and concurrency of the load test; several concurrencies are several plans."""
    base, benchmark = "workload.serving", value_at(yaml.value, "benchmark")
    if value_at(benchmark, "type") != "sa-bench":
        builder.unknown("benchmark", "not of random lengths (sa-bench): state the load", yaml.line("benchmark"))
        return
    stated = value_at(benchmark, "random_range_ratio")
    ratio = stated if isinstance(stated, int | float) and 0 <= stated <= 1 else RANGE_RATIO
    for name, key in (("isl", "input_tokens"), ("osl", "output_tokens")):
        if most := positive_integer_of(value_at(benchmark, name)):
            mean = round(most * (1 + ratio) / 2)
            lengths: Value = most if ratio == 1 else {"mean": mean, "max": most}
            builder.set(f"{base}.{key}", lengths, yaml.line("benchmark", name))
    listed = value_at(benchmark, "concurrencies")
    words = [str(word) for word in listed] if isinstance(listed, list) else re.split(r"[x,\s]+", str(listed or ""))
    counts, line = (
        [count for word in words if (count := positive_integer_of(word))],
        yaml.line("benchmark", "concurrencies"),
    )
    if len(counts) == 1:
        builder.set(f"{base}.concurrency", counts[0], line)
    elif counts:
        builder.unknown(
            excerpt(f"concurrencies: {', '.join(map(str, counts))}", LIST), "one plan each: state one", line
        )
    if str(rate := value_at(benchmark, "req_rate")) not in {"inf", "None"}:
        why = "requests are offered at this rate until the concurrency is reached"
        builder.unknown(f"req_rate: {excerpt(rate)}", why, yaml.line("benchmark", "req_rate"))
