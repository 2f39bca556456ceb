"""Engines that a container starts by variables: those of SageMaker for vLLM and SGLang, and LMI of DJL Serving.

``SM_VLLM_NAME=value`` becomes ``--name value`` of ``vllm serve`` (vllm-project/vllm, examples/online_serving/
sagemaker-entrypoint.sh), ``SM_SGLANG_NAME=value`` of ``sglang.launch_server`` (sgl-project/sglang, docker/serve).
``option.name=value`` in ``serving.properties`` is ``OPTION_NAME`` in the environment; the engine is that of
``rolling_batch``, or of the module ``entryPoint``; a degree ``max`` takes all accelerators of the machine
(deepjavalibrary/djl-serving d21927c4, serving/docs/lmi/deployment_guide/configurations.md and engines/python/setup/
djl_python/properties_manager/vllm_rb_properties.py, lines 217 to 219, and trt_properties.py, lines 140 to 158).
"""

from __future__ import annotations

import re

from clusterspec.catalog import Catalog
from clusterspec.exchange.import_result import (
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    chosen_part,
    excerpt,
)
from clusterspec.exchange.machines.links import match_instance
from clusterspec.exchange.workloads.engines.command_lines import set_engine_options
from clusterspec.exchange.workloads.keys import Keys, boolean_value
from clusterspec.exchange.workloads.model_files.models import set_served_model
from clusterspec.exchange.workloads.stated_variables import stated_variables
from clusterspec.exchange.workloads.unused_keys import list_unused
from clusterspec.logs.statements.required_words import first_match
from clusterspec.logs.text_lines import line_at
from clusterspec.units import plural

HOSTED = "hosted-server"
_SAGEMAKER = re.compile(r"\bSM_(?:VLLM|SGLANG)_[A-Z]")
_LMI = re.compile(
    r"^[ \t]*option\.(?:tensor_parallel_degree|rolling_batch)[ \t]*="
    r"|\bOPTION_(?:ROLLING_BATCH|TENSOR_PARALLEL_DEGREE)\b",
    re.MULTILINE,
)
_NAMES = r"SM_(?:VLLM|SGLANG)_[A-Z][A-Z0-9_]*|option\.\w+|OPTION_[A-Z][A-Z0-9_]*|HF_MODEL_ID|TENSOR_PARALLEL_DEGREE"
_ENGINES = {"vllm": "vllm", "trtllm": "trt-llm"}
_MODULES = (("lmi_vllm", "vllm"), ("djl_python.vllm", "vllm"), ("tensorrt_llm", "trt-llm"))
_RENAMED = {
    "vllm": {
        "tensor_parallel_degree": "tensor_parallel_size",
        "pipeline_parallel_degree": "pipeline_parallel_size",
        "max_rolling_batch_size": "max_num_seqs",
        "max_rolling_batch_prefill_tokens": "max_num_batched_tokens",
        "quantize": "quantization",
    },
    "trt-llm": {
        "tensor_parallel_degree": "tp_size",
        "pipeline_parallel_degree": "pp_size",
        "max_rolling_batch_size": "max_batch_size",
    },
}
"""Options of LMI, and the engine's own names for them."""
_DEGREES = ("tensor_parallel_degree", "tensor_parallel_size", "tp_size", "pipeline_parallel_degree")
_INSTANCE = re.compile(r"\bml\.([a-z][a-z0-9-]{1,12}\.\d{0,2}x?large|[a-z][a-z0-9-]{1,12}\.metal)\b")


def matches_hosted_server(file: InputFile) -> bool:
    """Whether a file gives variables or properties to such a container, other than in comments."""
    text = file.text
    return bool((first_match(_SAGEMAKER, text) or first_match(_LMI, text)) and _groups(file))


def read_hosted_server(file: InputFile) -> ImportResult:
    """The engine and its options. Raises `SeveralParts` for several servers, `FormatError` if none has an option."""
    groups = _groups(file)
    if not groups:
        raise FormatError("gives no option of an engine to a container (SM_VLLM_*, SM_SGLANG_*, OPTION_*, option.*)")
    lines = ", ".join(str(min(line for _, line in each.values())) for each in groups[:12])
    counted = plural(len(groups), "server")
    variables = chosen_part(groups, file.part, counted, f"holds {counted} with different options, from lines {lines}")
    builder, line = ImportBuilder(HOSTED, file.name), min(variables[name][1] for name in variables if _is_option(name))
    keys = _options(variables)
    builder.set("workload.kind", "serve", line)
    engine = _engine(variables, keys)
    model = _set_model(keys, builder)
    _take_whole_machine(keys, builder)
    if engine is None:
        why = "not stated: LMI chooses an engine by its release and the model: state option.rolling_batch"
        builder.unknown("layout.framework", why, line)
        builder.set("layout.tp", keys.integer(*_DEGREES), keys.line(*_DEGREES))
    else:
        builder.set("layout.framework", engine, keys.line("rolling_batch", "entrypoint") or line)
        set_engine_options(engine, keys, model, builder)
    set_sagemaker_machine(file, builder)
    keys.undecided.clear()
    list_unused(keys, builder)
    return builder.reading()


def _groups(file: InputFile) -> list[dict[str, tuple[str, int]]]:
    """The variables of each server that has an option of its engine."""
    found = stated_variables(file, _NAMES)
    return [each for each in found if any(map(_is_option, each))]


def _is_option(name: str) -> bool:
    """Whether a variable gives an option to an engine, and does not only name a model."""
    return name.startswith(("SM_", "OPTION_", "option."))


def _options(variables: dict[str, tuple[str, int]]) -> Keys:
    """The options that the variables become."""
    keys = Keys()
    for name, (value, line) in variables.items():
        own = re.sub(r"^(?:SM_(?:VLLM|SGLANG)|OPTION)_|^option\.", "", name).lower()
        own = {"hf_model_id": "model", "model_id": "model", "model_path": "model"}.get(own, own)
        if boolean_value(value) is False and not value.isdecimal():
            continue  # a switch that is off
        held = keys.values.get(own)
        if held is None or name.startswith("SM_"):
            keys.put(own, True if value in {"", "true", "True"} else value, line)
    return keys


def _engine(variables: dict[str, tuple[str, int]], keys: Keys) -> str | None:
    """The engine that a container starts, whose own names the options get; None if no option says which."""
    for prefix, engine in (("SM_VLLM_", "vllm"), ("SM_SGLANG_", "sglang")):
        if any(name.startswith(prefix) for name in variables):
            return engine
    chosen, module = str(keys.get("rolling_batch") or ""), str(keys.get("entrypoint") or "")
    found = _ENGINES.get(chosen) or next((each for mark, each in _MODULES if mark in module), None)
    for name, own in _RENAMED.get(found or "", {}).items():
        if name in keys.values:
            keys.values[own] = keys.values.pop(name)
    return found


def _set_model(keys: Keys, builder: ImportBuilder) -> str | None:
    named = keys.get("model")
    if not isinstance(named, str):
        builder.unknown("workload.model", "no variable names the model")
        return None
    return set_served_model(named, builder, keys.line("model"), quantized=keys.find("quantization") is not None)


def _take_whole_machine(keys: Keys, builder: ImportBuilder) -> None:
    """Record a degree that takes all accelerators of the machine, whose number the variables do not state."""
    for name in _DEGREES:
        if str(keys.values.get(name, ("",))[0]) == "max":
            why = "all accelerators of the machine that it runs on"
            builder.unknown(f"{name}: max", why, keys.line(name))
            _, line = keys.values.pop(name)
            keys.undecided.append((f"--{name.replace('_', '-')}", line, line))


def set_sagemaker_machine(file: InputFile, builder: ImportBuilder) -> None:
    """Set the machine if the text names one type of instance of SageMaker with accelerators; list several."""
    ids = Catalog.open().ids("platform")
    found = {match[1]: match.start() for match in reversed(list(_INSTANCE.finditer(file.uncommented)))}
    known = {name: platform for name in found if (platform := match_instance(name, "aws", ids))}
    if len(known) > 1:
        builder.unknown(f"instances {excerpt(', '.join(known))}", "several types: state cluster.platform")
    for name, platform in known.items() if len(known) == 1 else ():
        builder.set("cluster.platform", platform, line_at(file.uncommented, found[name]))
