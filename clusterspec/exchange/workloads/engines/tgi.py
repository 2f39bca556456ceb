"""Launches of Text Generation Inference (TGI): its launcher, and containers of its image.

Names and defaults: huggingface/text-generation-inference db931fcf, launcher/src/main.rs (options of ``Args``, each also
a variable of the environment; ``find_num_shards``: the visible devices where neither ``--num-shard`` nor ``--sharded``
is given) and sagemaker-entrypoint.sh (``HF_MODEL_ID``, ``SM_NUM_GPUS``, ``HF_MODEL_QUANTIZE``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.exchange.documents import read_documents
from clusterspec.exchange.import_result import (
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    NothingStarted,
    chosen_part,
    excerpt,
)
from clusterspec.exchange.workloads.container_scripts import mappings_in
from clusterspec.exchange.workloads.engines.declared_options import put_words
from clusterspec.exchange.workloads.engines.hosted_servers import set_sagemaker_machine
from clusterspec.exchange.workloads.engines.nim_images import container_variables_of, passed_variables
from clusterspec.exchange.workloads.keys import OPEN_COUNT, Keys, boolean_value, launches_of, set_choice, set_counts
from clusterspec.exchange.workloads.model_files.models import set_served_model
from clusterspec.exchange.workloads.stated_variables import stated_variables
from clusterspec.exchange.workloads.unused_keys import list_unused
from clusterspec.logs.statements.required_words import first_match
from clusterspec.units import plural

TGI = "tgi"
_LAUNCH = re.compile(r"\btext-generation-launcher\b|/text-generation-inference(?![\w/-])")
_IMAGE = re.compile(r"\S{1,200}/text-generation-inference(?:[:@]\S{0,200})?")
_VARIABLES = {
    "MODEL_ID": "model_id",
    "HF_MODEL_ID": "model_id",
    "NUM_SHARD": "num_shard",
    "SM_NUM_GPUS": "num_shard",
    "SHARDED": "sharded",
    "QUANTIZE": "quantize",
    "HF_MODEL_QUANTIZE": "quantize",
    "DTYPE": "dtype",
    "KV_CACHE_DTYPE": "kv_cache_dtype",
    "MAX_BATCH_SIZE": "max_batch_size",
    "CUDA_MEMORY_FRACTION": "cuda_memory_fraction",
    "MAX_TOTAL_TOKENS": "max_total_tokens",
    "MAX_BATCH_PREFILL_TOKENS": "max_batch_prefill_tokens",
    "SPECULATE": "speculate",
}
_OF_SAGEMAKER = re.compile(r"\bSM_NUM_GPUS[\"']?[ \t]*[:=]|\bSM_NUM_GPUS[\"']?,?\s*[\"']?[Vv]alue\b")
_QUANTIZED = {
    **dict.fromkeys(("awq", "gptq", "marlin"), "int4"),
    **dict.fromkeys(("eetq", "bitsandbytes"), "int8"),
    "fp8": "fp8",
}
_TYPES = {"float16": "fp16", "bfloat16": "bf16"}
_CACHE = dict.fromkeys(("fp8_e4m3fn", "fp8_e5m2"), "fp8")


def matches_tgi(file: InputFile) -> bool:
    text = file.uncommented
    named = bool(first_match(_LAUNCH, text) or (first_match(_OF_SAGEMAKER, text) and "HF_MODEL_ID" in text))
    return named and next(_servers(file), None) is not None


def read_tgi(file: InputFile) -> ImportResult:
    """The server of a launch. Raises `NothingStarted` if there is none, `SeveralParts` for several."""
    different = {tuple((k, str(v)) for k, (v, _) in sorted(each.values.items())): each for each in _servers(file)}
    found = list(different.values())
    if not found:
        raise NothingStarted("gives Text Generation Inference no option (--model-id, --num-shard, NUM_SHARD)")
    lines = ", ".join(str(_first_line(keys)) for keys in found[:12])
    counted = plural(len(found), "launch")
    keys = chosen_part(found, file.part, counted, f"holds {counted} with different options, on lines {lines}")
    builder, line = ImportBuilder(TGI, file.name), _first_line(keys)
    builder.set("workload.kind", "serve", line)
    builder.unknown("layout.framework", "Text Generation Inference: no framework of the catalog", line)
    if isinstance(named := keys.get("model_id"), str):
        set_served_model(named, builder, keys.line("model_id"), quantized=keys.find("quantize") is not None)
    else:
        builder.unknown("workload.model", "the launch names no model")
    _set_shards(keys, builder, line)
    set_counts(keys, {"workload.serving.max_sequences": ("max_batch_size",)}, builder)
    _set_memory(keys, builder)
    set_sagemaker_machine(file, builder)
    builder.count("max_total_tokens", keys.integer("max_total_tokens"), keys.line("max_total_tokens"))
    list_unused(keys, builder)
    return builder.reading()


def _first_line(keys: Keys) -> int:
    first = min((line for _, line in keys.values.values()), default=0)
    return keys.command.line if keys.command.words else first


def _servers(file: InputFile) -> Iterator[Keys]:
    """The options of each launch: of commands, of containers in documents, and of variables for SageMaker."""
    found = []
    for keys in launches_of(file, _LAUNCH):
        for name, (value, line) in passed_variables(keys.command).items():
            if name in _VARIABLES:
                keys.values.setdefault(_VARIABLES[name], (value, line))
        if keys.values:
            found.append(keys)
    found += [keys for keys in _of_documents(file) if keys.values]
    yield from found
    for group in stated_variables(file, "|".join(_VARIABLES)) if not found else ():
        if {"SM_NUM_GPUS", "NUM_SHARD"} & group.keys():
            keys = Keys()
            for name, (value, line) in group.items():
                keys.put(_VARIABLES[name], value, line)
            yield keys


def _of_documents(file: InputFile) -> Iterator[Keys]:
    """The containers of TGI in the objects and services of a file."""
    if not re.search(r"^[ \t-]*image[ \t]*:", file.text, re.MULTILINE):
        return
    try:
        documents = read_documents(file)
    except FormatError:
        return
    for yaml in documents:
        for value, path in mappings_in(yaml.mapping, ()):
            if not _IMAGE.fullmatch(str(value.get("image"))):
                continue
            keys = Keys()
            for name, (text, line) in container_variables_of(yaml, value, path):
                if name in _VARIABLES:
                    keys.put(_VARIABLES[name], text, line)
            for key in ("command", "args"):
                stated = value.get(key)
                words = stated.split() if isinstance(stated, str) else stated
                put_words(keys, words, yaml, (*path, key))
            yield keys


def _set_shards(keys: Keys, builder: ImportBuilder, line: int) -> None:
    """Set the degree of tensor parallelism: one where shards are off, unknown where the devices decide."""
    shards = keys.integer("num_shard")
    if keys.find("num_shard") and shards is None:
        builder.unknown(f"num_shard: {excerpt(keys.get('num_shard'))}", OPEN_COUNT, keys.line("num_shard"))
    elif shards is not None:
        builder.set("layout.tp", shards, keys.line("num_shard"))
    elif boolean_value(keys.get("sharded")) is False:
        builder.set("layout.tp", 1, keys.line("sharded"))
    else:
        builder.unknown("layout.tp", "not stated: TGI takes the devices that it sees", keys.line("sharded") or line)


def _set_memory(keys: Keys, builder: ImportBuilder) -> None:
    """Set the types of the weights and of the cache, and the share of the memory."""
    if keys.find("quantize"):
        set_choice(keys, "workload.parameter_precision", ("quantize",), _QUANTIZED, builder)
    else:
        set_choice(keys, "workload.parameter_precision", ("dtype",), _TYPES, builder)
    set_choice(keys, "workload.kv_precision", ("kv_cache_dtype",), _CACHE, builder)
    share, name = str(keys.get("cuda_memory_fraction") or ""), "cuda_memory_fraction"
    if re.fullmatch(r"0?\.\d{1,20}|1(\.0)?", share):
        builder.set("workload.serving.memory_fraction", round(float(share), 4), keys.line(name))
    elif share:
        why = "no share between 0 and 1: a variable, or computed elsewhere"
        builder.unknown(f"{name}: {excerpt(share)}", why, keys.line(name))
