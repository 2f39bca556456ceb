"""Configurations of TensorRT-LLM: options of its LLM API (YAML), and ``config.json`` of engines and checkpoints.

Names: NVIDIA/TensorRT-LLM, tensorrt_llm/llmapi/llm_args.py at fcd3f316 (``TorchLlmArgs``, which ``trtllm-serve`` fills
from ``--config`` or ``--extra_llm_api_options``), examples/configs at 8396191 to 180e9756, disaggregated servers
(``context_servers``, ``generation_servers``); tensorrt_llm/builder.py (``EngineConfig``: ``pretrained_config``,
``build_config``) and tensorrt_llm/models/modeling_utils.py (``PretrainedConfig``, ``Mapping``, ``QuantConfig``). A file
of options names no model as a rule: the command has it. The recipes of AI-Hypercomputer/gpu-recipes (src/frameworks,
trtllm-configs) hold the options of the command and, in ``llm_api_args``, those of the API.
"""

from __future__ import annotations

import re
from typing import Any

from clusterspec.exchange.documents import Yaml, read_yaml
from clusterspec.exchange.import_result import (
    ELSEWHERE,
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    chosen_part,
    excerpt,
)
from clusterspec.exchange.workloads.engines.engine_limits import set_delayed_prompt_steps, set_draft_method
from clusterspec.exchange.workloads.keys import (
    UNDECIDED_REPLICAS,
    Keys,
    boolean_value,
    flat_leaves,
    set_choice,
    set_counts,
)
from clusterspec.exchange.workloads.model_files.models import set_model
from clusterspec.exchange.workloads.unused_keys import list_unused
from clusterspec.source import value_at

TRTLLM = "trtllm-config"
_OPTIONS = re.compile(
    r"^(?:tensor_parallel_size|moe_expert_parallel_size|enable_attention_dp|kv_cache_config|cuda_graph_config|moe_config"
    r"|attention_dp_config|cache_transceiver_config|speculative_config|disable_overlap_scheduler)[ \t]*:",
    re.MULTILINE,
)
_OWN = re.compile(
    r"(?:^|[{,])[ \t]*(?:kv_cache_config|cuda_graph_config|moe_config|cache_transceiver_config|enable_attention_dp)"
    r"[ \t]*:",
    re.MULTILINE,
)
_SERVERS = re.compile(r"^(?:context|generation)_servers[ \t]*:", re.MULTILINE)
_ENGINE = re.compile(r"\"(?:pretrained_config|build_config)\"\s*:\s*\{")
_CHECKPOINT = re.compile(r"\"mapping\"\s*:\s*\{[^{}]{0,400}\"tp_size\"")
_ROLES = ("context_servers", "generation_servers")
_DEGREES = {
    "layout.pp": ("pipeline_parallel_size", "mapping.pp_size", "pp_size"),
    "layout.cp": ("context_parallel_size", "mapping.cp_size"),
    "layout.ep": ("moe_expert_parallel_size", "mapping.moe_ep_size", "ep_size"),
}
_TP = ("tensor_parallel_size", "mapping.tp_size", "tp_size")
_API = "llm_api_args"
_RECIPE = re.compile(rf"^{_API}[ \t]*:", re.MULTILINE)
_MODEL = {
    "workload.model.layers": ("num_hidden_layers",),
    "workload.model.hidden": ("hidden_size",),
    "workload.model.heads": ("num_attention_heads",),
    "workload.model.kv_heads": ("num_key_value_heads",),
    "workload.model.head_dim": ("head_size",),
    "workload.model.ffn_hidden": ("intermediate_size",),
    "workload.model.vocab": ("vocab_size",),
    "workload.model.experts": ("moe.num_experts", "moe_num_experts"),
    "workload.model.experts_per_token": ("moe.top_k", "moe_top_k"),
}
_CACHE = {
    "fp8": "fp8",
    "nvfp4": "nvfp4",
    "bfloat16": "bf16",
    "bf16": "bf16",
    "float16": "fp16",
    "int8": "int8",
    "auto": None,
    "none": None,
}
_TYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
_WEIGHTS = {
    "fp8": "fp8",
    "fp8_block_scales": "fp8",
    "fp8_per_channel_per_token": "fp8",
    "nvfp4": "nvfp4",
    "nvfp4_awq": "nvfp4",
    "w4a8_nvfp4_fp8": "nvfp4",
    "w4a16": "int4",
    "w4a16_awq": "int4",
    "w4a8_awq": "int4",
    "w4a16_gptq": "int4",
    "w8a16": "int8",
    "w8a8_sq_per_channel": "int8",
    "none": None,
}
"""Weights by ``quant_algo`` (tensorrt_llm/quantization/mode.py)."""
_GATED = {"silu", "swiglu", "geglu", "fused-swiglu", "gegelu"}
_SHARES = ("kv_cache_config.free_gpu_memory_fraction", "kv_cache_free_gpu_memory_fraction")


_AROUND = re.compile(
    r"^(?:kind[ \t]*:|```|[ \t]*--[a-z]|[^#\n]{0,200}<<-?[ \t]?[\"']?[A-Z]|[^#:\n]{0,200}\btrtllm-serve[ \t])",
    re.MULTILINE,
)
"""Lines of an object, a page or a script that holds such options."""


def matches_trtllm_config(file: InputFile) -> bool:
    text = file.text
    if text.lstrip()[:1] == "{":
        return bool(_ENGINE.search(text) or _CHECKPOINT.search(text))
    if text.startswith("#!") or _AROUND.search(text):
        return False  # an object, a page or a script that holds one
    if _RECIPE.search(text):
        return re.search(r"^tp_size[ \t]*:", text, re.MULTILINE) is not None
    return bool(_OWN.search(text)) and bool(_SERVERS.search(text) or len(set(_OPTIONS.findall(text))) > 1)


def read_trtllm_config(file: InputFile) -> ImportResult:
    """The layout and limits of an engine. Raises `SeveralParts` for a file with the options of several kinds."""
    builder = ImportBuilder(TRTLLM, file.name)
    if file.text.lstrip()[:1] == "{":
        keys = _json_keys(file)
        _set_network(keys, builder)
    else:
        keys = _role_keys(read_yaml(file), file)
        name = "model_name" if "model_name" in keys.values else "model"  # the first in examples of Dynamo
        if isinstance(named := keys.get(name), str):
            set_model(named, builder, keys.line(name))
        else:
            builder.unknown("workload.model", f"{ELSEWHERE}: the command that starts the server names it")
    line = keys.line(*_TP, *_SHARES, "enable_attention_dp", "num_hidden_layers")
    builder.set("workload.kind", "serve", line)
    builder.set("layout.framework", "trt-llm", line)
    set_options(keys, builder)
    list_unused(keys, builder)
    return builder.reading()


def set_options(keys: Keys, builder: ImportBuilder) -> None:
    """Set degrees, limits, precisions and drafts of an engine."""
    _set_degrees(keys, builder)
    _set_limits(keys, builder)
    _set_precisions(keys, builder)
    _set_speculation(keys, builder)


def _role_keys(yaml: Yaml, file: InputFile) -> Keys:
    """The options of an engine. If the file has servers of both roles, the options of one role together with the shared
    ones.
    """
    value = yaml.mapping
    keys, roles = Keys(), [name for name in _ROLES if isinstance(value.get(name), dict)]
    chosen = chosen_part(roles, file.part, f"{len(roles)} roles", f"holds {' and '.join(roles)}") if roles else ""
    own = {name: inner for name, inner in value.items() if name not in _ROLES}
    for part, path in ((own, ()), *(((value[chosen], (chosen,)),) if chosen else ())):
        for name, inner, line in flat_leaves(part, lambda *at, path=path: yaml.line(*path, *at)):
            keys.put(name.removeprefix(f"{_API}."), inner, line)
    return keys


def _json_keys(file: InputFile) -> Keys:
    """The keys of an engine (its model and its limits), or of a checkpoint. Raises `FormatError` if it is neither."""
    value = file.json
    keys = Keys()
    model = value_at(value, "pretrained_config") if isinstance(value, dict) and "pretrained_config" in value else value
    for part in (model, value_at(value, "build_config")):
        for name, inner, _ in flat_leaves(part if isinstance(part, dict) else {}, lambda *at: 0):
            if not isinstance(inner, dict | list):
                keys.put(name, inner, file.line_of_key(name.rpartition(".")[2]))
    if not keys.values:
        raise FormatError("is no configuration of an engine or a checkpoint of TensorRT-LLM")
    return keys


def _set_network(keys: Keys, builder: ImportBuilder) -> None:
    """Set the sizes of the model. An expert count of 0 is a dense model."""
    set_counts(keys, _MODEL, builder)
    activation, line = str(keys.get("hidden_act") or ""), keys.line("hidden_act")
    if activation:
        builder.set("workload.model.gated_ffn", activation in _GATED, line)
    builder.count("architecture", keys.get("architecture"), keys.line("architecture"))


def _set_degrees(keys: Keys, builder: ImportBuilder) -> None:
    """Set the degrees; with data-parallel attention every rank of tp is an attention replica."""
    tp, line = keys.integer(*_TP), keys.line(*_TP)
    if keys.is_open("enable_attention_dp"):
        builder.unknown("layout.tp", UNDECIDED_REPLICAS, line)
        return
    if keys.is_on("enable_attention_dp"):
        builder.set("layout.tp", 1 if tp else None, line)
        builder.set("layout.attention_dp", tp, keys.line("enable_attention_dp"))
    else:
        builder.set("layout.tp", tp, line)
    if tp is None:
        builder.unknown("layout.tp", f"{ELSEWHERE}: the command that starts the server may state --tp_size")
    set_counts(keys, _DEGREES, builder)
    balance = "attention_dp_config.enable_balance"
    set_delayed_prompt_steps(keys, balance, "attention_dp_config.timeout_iters", 50, builder)
    builder.count("ranks", keys.integer("mapping.world_size"), keys.line("mapping.world_size"))
    builder.count("ranks_per_node", keys.integer("gpus_per_node"), keys.line("gpus_per_node"))
    builder.count("instances", keys.integer("num_instances"), keys.line("num_instances"))


def _set_limits(keys: Keys, builder: ImportBuilder) -> None:
    """Set the limits of a step; with data-parallel attention it is not stated what they apply to."""
    limits = {
        "workload.serving.chunk_tokens": ("max_num_tokens",),
        "workload.serving.max_sequences": ("max_batch_size",),
    }
    for path, (name,) in limits.items():
        if name not in keys.values:  # that of cuda_graph_config is another
            continue
        if keys.is_on("enable_attention_dp"):
            why = f"of an attention replica or of the engine: state {path}"
            builder.unknown(f"{name}: {excerpt(keys.get(name))}", why, keys.line(name))
        else:
            builder.set(path, keys.integer(name), keys.line(name))
    builder.count("max_seq_len", keys.integer("max_seq_len"), keys.line("max_seq_len"))
    if share := keys.get(*_SHARES):
        why = "of the memory that the weights leave; workload.serving.memory_fraction is a share of the whole"
        builder.unknown(f"{keys.find(*_SHARES)}: {excerpt(share)}", why, keys.line(*_SHARES))
    if "cuda_graph_config" in keys.values and keys.get("cuda_graph_config") is None:
        builder.set("workload.serving.captured_graphs", False, keys.line("cuda_graph_config"))
    elif boolean_value(keys.get("pytorch_backend_config.use_cuda_graph")) is False:  # of earlier releases
        builder.set("workload.serving.captured_graphs", False, keys.line("pytorch_backend_config.use_cuda_graph"))


def _set_precisions(keys: Keys, builder: ImportBuilder) -> None:
    cache = ("kv_cache_config.dtype", "quantization.kv_cache_quant_algo")
    set_choice(keys, "workload.kv_precision", cache, _CACHE, builder)
    weights = ("quantization.quant_algo", "quant_config.quant_algo")
    set_choice(keys, "workload.parameter_precision", weights, _WEIGHTS, builder)
    if "dtype" in keys.values and str(keys.values["dtype"][0]) != "auto":
        keys.used.add("dtype")
        builder.set("workload.precision", _TYPES.get(str(keys.values["dtype"][0])), keys.line("dtype"))


def _set_speculation(keys: Keys, builder: ImportBuilder) -> None:
    """Set the tokens that a draft predicts; the option's name depends on the release."""
    drafts = ("speculative_config.max_draft_len", "speculative_config.num_nextn_predict_layers")
    set_counts(keys, {"workload.serving.speculative.tokens": drafts}, builder)
    kind: Any = keys.get("speculative_config.decoding_type")
    if keys.integer(*drafts):
        set_draft_method(str(kind or ""), keys.line("speculative_config.decoding_type"), builder)
    if kind and str(kind).upper() not in {"MTP", "NGRAM"}:
        builder.unknown(f"speculative decoding {excerpt(kind)}", "its draft model", keys.line(drafts[0]))
