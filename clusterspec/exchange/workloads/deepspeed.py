"""DeepSpeed configurations (JSON) and Axolotl configurations (YAML), which may name one.

Names: https://www.deepspeed.ai/docs/config-json; axolotl-ai-cloud/axolotl, docs/config-reference.
"""

from __future__ import annotations

import re

from clusterspec.exchange.documents import read_yaml
from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile
from clusterspec.exchange.workloads.keys import (
    Keys,
    boolean_value,
    flat_leaves,
    list_unused,
    set_choice,
    set_counts,
    set_model,
)

KIND = "deepspeed"
_DEEPSPEED = {
    "layout.micro_batch": ("train_micro_batch_size_per_gpu",),
    "workload.global_batch": ("train_batch_size",),
}
_AXOLOTL = {
    "layout.micro_batch": ("micro_batch_size",),
    "layout.tp": ("tensor_parallel_size",),
    "layout.cp": ("context_parallel_size", "sequence_parallel_degree"),
    "layout.ep": ("expert_parallel_size",),
    "workload.sequence_length": ("sequence_len",),
}
_STAGES = {"0": "none", "1": "zero1", "2": "zero2", "3": "fsdp"}
_OPTIMIZERS = {
    "adam": "adam",
    "adamw": "adamw",
    "lion": "lion",
    "sgd": "sgd",
    "adamw_torch": "adamw",
    "muon": "muon",
    "adamw_torch_fused": "adamw",
    "adafactor": "adafactor",
    "fusedadam": "adam",
    "cpuadam": "adam",
}


def matches(file: InputFile) -> bool:
    text = file.text
    if re.search(r"pipe[-_]parallel[-_]size", text):
        return False
    return bool(re.search(r"\"zero_optimization\"|\"train_micro_batch_size_per_gpu\"", text)) or bool(
        re.search(r"^base_model\s*:", text, re.MULTILINE)
    )


def read(file: InputFile) -> ImportResult:
    """The layout, and for Axolotl the model. Raises `FormatError` if the file is of neither format."""
    builder, keys = ImportBuilder(KIND, file.name), Keys()
    if file.text.lstrip().startswith("{"):
        for name, value, line in flat_leaves(file.json, lambda *path: file.line_of_key(str(path[-1]))):
            keys.put(name, value, line)
    else:
        yaml = read_yaml(file)
        for name, value, line in flat_leaves(yaml.mapping, yaml.line):
            keys.put(name, value, line)
    if keys.find("base_model"):
        _set_axolotl_keys(keys, builder)
    elif keys.find(
        "zero_optimization.stage", "zero_optimization", "train_batch_size", "train_micro_batch_size_per_gpu"
    ):
        _set_deepspeed_keys(keys, builder)
    else:
        raise FormatError("has neither ZeRO or batch size keys of DeepSpeed nor a base model of Axolotl")
    list_unused(keys, builder)
    return builder.reading()


def _set_deepspeed_keys(keys: Keys, builder: ImportBuilder) -> None:
    builder.set("layout.framework", "deepspeed", keys.line("zero_optimization.stage", "train_batch_size"))
    set_counts(keys, _DEEPSPEED, builder)
    group = keys.whole("zero_optimization.mics_shard_size")
    if group:
        builder.set("layout.sharding", "hsdp", keys.line("zero_optimization.mics_shard_size"))
        builder.set("layout.shard_group", group, keys.line("zero_optimization.mics_shard_size"))
    else:
        set_choice(keys, "layout.sharding", ("zero_optimization.stage",), _STAGES, builder)
    if str(keys.get("zero_optimization.offload_optimizer.device")) in {"cpu", "nvme"}:
        share = keys.get("zero_optimization.offload_optimizer.ratio")
        value = share if isinstance(share, int | float) and 0 <= share <= 1 else 1
        builder.set("layout.offload.optimizer", value, keys.line("zero_optimization.offload_optimizer.device"))
    if str(keys.get("zero_optimization.offload_param.device")) in {"cpu", "nvme"}:
        builder.unknown(
            "offload_param",
            "the spec has no key for parameters offloaded to the host",
            keys.line("zero_optimization.offload_param.device"),
        )
    overlap = boolean_value(keys.get("zero_optimization.overlap_comm"))
    builder.set("layout.overlap.dp", overlap, keys.line("zero_optimization.overlap_comm"))
    for name in ("bf16", "fp16"):
        if keys.is_on(f"{name}.enabled"):
            builder.set("workload.precision", name, keys.line(f"{name}.enabled"))
    set_choice(keys, "workload.optimizer", ("optimizer.type",), _OPTIMIZERS, builder)
    if tensor := keys.whole("tensor_parallel.autotp_size"):
        builder.set("layout.tp", tensor, keys.line("tensor_parallel.autotp_size"))


def _set_axolotl_keys(keys: Keys, builder: ImportBuilder) -> None:
    set_model(str(keys.get("base_model")), builder, keys.line("base_model"))
    set_counts(keys, _AXOLOTL, builder)
    shard, replicate = keys.whole("dp_shard_size"), keys.whole("dp_replicate_size") or 1
    line = keys.line("dp_shard_size", "fsdp_config", "fsdp", "deepspeed")
    fsdp = bool(shard) or any(key.startswith("fsdp") for key in keys.values)
    if fsdp:
        keys.used |= {key for key in keys.values if key.startswith("fsdp")}
        builder.set("layout.framework", "fsdp", line)
        builder.set("layout.sharding", "hsdp" if replicate > 1 else "fsdp", line)
        builder.set("layout.shard_group", shard if replicate > 1 else None, line)
        builder.set("layout.dp", shard * replicate if shard else None, line)
    elif keys.get("deepspeed"):
        builder.set("layout.framework", "deepspeed", keys.line("deepspeed"))
        builder.unknown(
            f"deepspeed: {str(keys.get('deepspeed'))[:60]}",
            "a separate file: import it as well",
            keys.line("deepspeed"),
        )
    builder.set(
        "layout.recompute",
        "full" if keys.is_on("gradient_checkpointing") else None,
        keys.line("gradient_checkpointing"),
    )
    for name in ("bf16", "fp16"):
        if keys.is_on(name):
            builder.set("workload.precision", name, keys.line(name))
    set_choice(keys, "workload.optimizer", ("optimizer",), _OPTIMIZERS, builder)
    if adapter := keys.get("adapter"):
        builder.unknown(
            f"adapter: {str(adapter)[:40]}",
            "adapters are not modeled: all weights are assumed trainable",
            keys.line("adapter"),
        )
    if steps := keys.whole("gradient_accumulation_steps"):
        builder.count("gradient_accumulation_steps", steps, keys.line("gradient_accumulation_steps"))
        builder.unknown(
            "workload.global_batch",
            "micro batch × accumulation × replicas; the file does not state replicas",
            keys.line("gradient_accumulation_steps"),
        )
