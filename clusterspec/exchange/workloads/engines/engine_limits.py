"""Options of engines that no table of names holds: shortened ones, lengths with units, limits of groups, drafts."""

from __future__ import annotations

import re
from itertools import pairwise

from clusterspec.catalog import Catalog
from clusterspec.exchange.import_result import FormatError, ImportBuilder, excerpt
from clusterspec.exchange.shell_words import Word
from clusterspec.exchange.workloads.keys import Keys

_SHORTENED = {
    "vllm": {
        "tensor_parallel_size": "tensor_par",
        "pipeline_parallel_size": "pipeline_par",
        "enable_expert_parallel": "enable_exp",
        "gpu_memory_utilization": "gpu_mem",
        "max_model_len": "max_model",
        "max_num_batched_tokens": "max_num_bat",
        "max_num_seqs": "max_num_se",
    },
    "sglang": {
        "tensor_parallel_size": "tensor_par",
        "pipeline_parallel_size": "pipeline_par",
        "data_parallel_size": "data_par",
        "expert_parallel_size": "expert_par",
        "context_length": "context_len",
        "mem_fraction_static": "mem_fr",
        "chunked_prefill_size": "chunked_pre",
        "max_running_requests": "max_run",
    },
}
"""Options that a launch may shorten, and a beginning of each that no other option has (names of vllm 0.33.0 and sglang
0.5.23; argparse completes such a beginning: docs.python.org, argparse, allow_abbrev).
"""


_OF_IMAGES = re.compile(
    r"(?:dit|vae|image_encoder|text_encoder)_cpu_offload|dit_layerwise_offload|layerwise_offload_components"
    r"|ring_degree|ulysses_degree|enable_cfg_parallel|cfg_parallel_size|pipeline_class_name"
)
"""Options of SGLang's server of models of images and videos, which ``sglang serve`` starts for them (sglang 0.5.23,
sglang/multimodal_gen/runtime/server_args/server_args.py)."""
_OPEN_WORD = re.compile(r"\{[A-Za-z_]\w{0,40}\}")
"""A word that a program puts a value in, as ``str.format`` of Python does."""


def _open_model(keys: Keys) -> Word | None:
    """The model of a launch if a program inserts its name, and the launch states no numbers except ports; None for
    others.
    """
    numbers = (value for name, (value, _) in keys.values.items() if "port" not in name)
    if any(re.fullmatch(r"[0-9.]{1,20}", str(value)) for value in numbers):
        return None
    pairs = pairwise(keys.command.words)
    named = ("--model", "--model-path", "serve")
    return next((word for before, word in pairs if before.text in named and _OPEN_WORD.fullmatch(word.text)), None)


def complete_options(engine: str, keys: Keys, builder: ImportBuilder) -> None:
    """Give options that a launch shortens (``--max-num-seq``) their names, and list those of a server that generates
    no tokens.

    Raises `FormatError` for a server of models of images, and for a template of a launch that states no numbers.
    """
    if engine == "sglang" and (images := next(filter(_OF_IMAGES.fullmatch, keys.values), None)):
        why = "starts a server of models of images and videos: a spec describes only text decoders"
        raise FormatError(f"{why} ({images})", keys.values[images][1])
    if open_model := _open_model(keys):
        why = f"is a template in which a program fills in {open_model.text}: import a launch with its values"
        raise FormatError(why, open_model.line)
    for name, least in _SHORTENED.get(engine, {}).items():
        shortened = [key for key in keys.values if key.startswith(least) and name.startswith(key)]
        if name not in keys.values and len(shortened) == 1:
            value, line = keys.values.pop(shortened[0])
            keys.put(name, value, line)
    _list_pooling(keys, builder)


_TYPES = {"half": "fp16", "float16": "fp16", "bfloat16": "bf16", "float": "fp32", "float32": "fp32"}


def set_weight_type(keys: Keys, model: str | None, builder: ImportBuilder) -> None:
    """Set the precision of weights by ``--dtype``. For quantized weights, or an unknown model, the option gives only
    the precision of the other tensors, and remains among the options not imported.
    """
    value = keys.values.get("dtype", (None, 0))[0]
    kept = Catalog.open().model(model).checkpoint_precision or "bf16" if model else ""
    named = builder.reading().value(("workload", "parameter_precision"))
    if value == "auto":
        keys.get("dtype")
    elif value in _TYPES and named is None and kept in _TYPES.values() and keys.find("quantization") is None:
        builder.set("workload.parameter_precision", _TYPES[keys.get("dtype")], keys.line("dtype"))


_SHORT_LENGTH = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)([kKmM])")
_THOUSANDS = {"k": 10**3, "K": 2**10, "m": 10**6, "M": 2**20}
"""Units of ``--max-model-len`` (vllm 0.33.0, vllm/engine/arg_utils.py, human_readable_int)."""


def count_length(keys: Keys, builder: ImportBuilder) -> None:
    """Count the longest sequence, which may be written ``32k`` (32,000) or ``32K`` (32,768); list another value."""
    name = "max_model_len"
    value, length = keys.get(name), keys.integer(name)
    if value is None or str(value) in {"auto", "-1"}:
        return
    if match := _SHORT_LENGTH.fullmatch(str(value)):
        length = int(float(match[1]) * _THOUSANDS[match[2]])
    builder.count(name, length, keys.line(name))
    if length is None:
        why = "not an integer: a variable, or computed elsewhere"
        builder.unknown(f"{name}: {excerpt(value)}", why, keys.line(name))


_POOLED = {
    "runner": frozenset({"pooling"}),
    "convert": frozenset({"embed", "classify", "reward", "token_embed", "token_classify"}),
    "task": frozenset({"embed", "embedding", "score", "classify", "reward", "encode", "plugin"}),
}
"""Options of vLLM, with the values for which a server returns vectors or scores (vllm/config/model.py; ``task`` in
releases before 0.13).
"""


def _list_pooling(keys: Keys, builder: ImportBuilder) -> None:
    """List that a server returns vectors or scores, so that it generates no tokens (``is_embedding`` of SGLang)."""
    name = next((each for each, values in _POOLED.items() if str(keys.get(each)).lower() in values), None)
    if name is None and keys.is_on("is_embedding"):
        name = "is_embedding"
    if name is not None:
        stated = name if name == "is_embedding" else f"{name}: {keys.get(name)}"
        builder.unknown(stated, "returns vectors or scores: requests generate no tokens", keys.line(name))


def divide_limit(keys: Keys, name: str, groups: int | None, builder: ImportBuilder) -> None:
    """Replace the limit of all attention groups by the limit of one; list it where the number of groups is unknown."""
    whole = keys.integer(name)
    if keys.printed and name == "chunked_prefill_size":
        why = "a log may print it before or after dividing it by the attention data-parallel ranks"
        builder.unknown(f"{name}: {whole}", why, keys.line(name))
        keys.values.pop(name, None)
    elif whole and groups:
        keys.put(name, max(1, whole // groups), keys.line(name))
    elif whole:
        why = "of all groups of attention, whose number is not known"
        builder.unknown(f"{name}: {whole}", why, keys.line(name))
        del keys.values[name]


def set_delayed_prompt_steps(keys: Keys, switch: str, steps: str, default: int, builder: ImportBuilder) -> None:
    """Set for how many steps prompts are held at most until all attention replicas have one, where the switch is on:
    ``default`` where nothing states them (SGLang 0.5.9, server_args.py; TensorRT-LLM, llm_args.py, AttentionDpConfig).
    """
    if keys.is_on(switch):
        builder.set("workload.serving.hold_steps", keys.integer(steps) or default, keys.line(steps, switch))


def set_drafts(keys: Keys, builder: ImportBuilder) -> None:
    """Set the number of tokens that SGLang drafts: one per step for a chain, which is verified together with the
    preceding token.

    ``--speculative-num-draft-tokens`` counts the verified tokens (0.5.21: arg_groups/speculative_hook.py); with
    ``--speculative-eagle-topk`` above 1, the drafts form a tree.
    """
    steps, verified, names = "speculative_num_steps", "speculative_num_draft_tokens", "speculative_algorithm"
    method = str(keys.get(names) or "")
    of_text = method.upper() == "NGRAM"
    width = "speculative_ngram_max_bfs_breadth" if of_text else "speculative_eagle_topk"
    if (wide := keys.integer(width) or (_NGRAM_BREADTH if of_text else 1)) > 1:
        why = "drafts form a tree: workload.serving.speculative.tokens describes a chain"
        builder.unknown(f"{width}: {wide}", why, keys.line(width, names))
        return
    tokens = keys.integer(steps) or (keys.integer(verified) or 1) - 1
    builder.set("workload.serving.speculative.tokens", tokens or None, keys.line(steps, verified))
    own = method.upper() in {"EAGLE", "NEXTN"} and keys.find("speculative_draft_model_path") is None
    if tokens:
        set_draft_method("mtp" if own else method, keys.line(names), builder)


_NGRAM_BREADTH = 10
"""Branches of a draft by ``NGRAM`` where no option states them (sglang 0.5.23, srt/server_args.py)."""
_METHODS = {
    "mtp": "mtp",
    "ngram": "ngram",
    "ngram-gpu": "ngram",
    "eagle": "eagle",
    "eagle3": "eagle",
    "medusa": "medusa",
    "draft-model": "draft-model",
    "standalone": "draft-model",
    "drafttarget": "draft-model",
}
"""Methods of drafts by the words of engines (vllm 0.33.0, config/speculative.py; sglang 0.5.23,
srt/speculative/spec_info.py; TensorRT-LLM, llmapi/llm_args.py).
"""


def set_draft_method(stated: str, line: int, builder: ImportBuilder) -> None:
    """Set what drafts the tokens, by the word of an engine (``deepseek_mtp``); list a word that no method has."""
    word = stated.lower().replace("_", "-")
    method = "mtp" if word.endswith("-mtp") else _METHODS.get(word)
    builder.set("workload.serving.speculative.method", method, line)
    if stated and method is None:
        builder.unknown(f"speculative decoding by {excerpt(stated)}", "no method of a draft corresponds to it", line)


def set_speculation(keys: Keys, builder: ImportBuilder) -> None:
    """Set the tokens that vLLM drafts, and what drafts them."""
    name = "speculative_config"
    stated, line = str(keys.get(name) or ""), keys.line(name)
    if match := re.search(r"num_speculative_tokens\"?\s*:\s*([0-9]{1,3})", stated):
        builder.set("workload.serving.speculative.tokens", int(match[1]), line)
        method = re.search(r"\bmethod\W{1,9}([A-Za-z][\w-]{0,40})", stated)
        set_draft_method(method[1] if method else "", line, builder)
    elif stated and not stated.startswith("$"):
        builder.unknown(f"{name}: {excerpt(stated)}", "states no number of drafted tokens", line)
    elif tokens := keys.integer("spec_tokens"):  # vllm 0.33.0, vllm/engine/arg_utils.py
        builder.set("workload.serving.speculative.tokens", tokens, keys.line("spec_tokens"))
        set_draft_method(str(keys.get("spec_method") or ""), keys.line("spec_method"), builder)


_UNCAPTURED = re.compile(r"\bcudagraph_mode\W{1,9}(?:CUDAGraphMode\.)?NONE\b", re.IGNORECASE)


def set_captured_graphs(keys: Keys, builder: ImportBuilder) -> None:
    """Set that kernels are launched one by one, by a switch or a configuration of vLLM's compilation."""
    switches = ("enforce_eager", "disable_cuda_graph", "disable_decode_cuda_graph")
    if keys.is_on(*switches):
        builder.set("workload.serving.captured_graphs", False, keys.line(*switches))
    elif _UNCAPTURED.search(str(keys.values.get("compilation_config", ("",))[0])):
        keys.used.add("compilation_config")
        builder.set("workload.serving.captured_graphs", False, keys.line("compilation_config"))


_REDUNDANT = re.compile(r"num_redundant_experts\W{1,9}([0-9]{1,5})\b")


def set_redundant_experts(keys: Keys, builder: ImportBuilder) -> None:
    """Set the redundant experts of vLLM, a number of ``--eplb-config`` or an option of earlier releases (0.10)."""
    for name in ("eplb_config", "eplb_config.num_redundant_experts", "num_redundant_experts"):
        match = _REDUNDANT.search(str(keys.values.get(name, ("",))[0]))
        count = int(match[1]) if match else keys.integer(name) if name != "eplb_config" else None
        if count:
            keys.used |= {name, "enable_eplb"} & keys.values.keys()
            builder.set("workload.serving.redundant_experts", count, keys.line(name))
            return


def set_block(keys: Keys, builder: ImportBuilder) -> None:
    """Set the tokens of a block of the cache. Prefill engines send a cache block by block."""
    names = ("block_size", "page_size")
    builder.set("workload.serving.disaggregated.transfer.block_tokens", keys.integer(*names), keys.line(*names))
