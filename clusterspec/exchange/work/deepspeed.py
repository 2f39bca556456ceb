"""DeepSpeed configurations (JSON) and Axolotl configurations (YAML), which may name one.

Names: https://www.deepspeed.ai/docs/config-json; axolotl-ai-cloud/axolotl, docs/config-reference.
"""

from __future__ import annotations

import re

from clusterspec.exchange.files import InputFile
from clusterspec.exchange.reading import Notes, Reading, Refusal
from clusterspec.exchange.work.keys import Keys, flat, give_choice, give_counts, list_unused, truth
from clusterspec.exchange.work.model_names import give_model
from clusterspec.exchange.yaml_input import read_yaml

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


def suits(file: InputFile) -> bool:
    text = file.text
    if re.search(r"pipe[-_]parallel[-_]size", text):
        return False
    return bool(re.search(r"\"zero_optimization\"|\"train_micro_batch_size_per_gpu\"", text)) or bool(
        re.search(r"^base_model\s*:", text, re.MULTILINE)
    )


def read(file: InputFile) -> Reading:
    """The layout, and of Axolotl the model. Raises `Refusal` where the file is of neither form."""
    notes, keys = Notes(KIND, file.name), Keys()
    if file.text.lstrip().startswith("{"):
        for name, value, line in flat(file.json, lambda *path: file.line_of_key(str(path[-1]))):
            keys.put(name, value, line)
    else:
        yaml = read_yaml(file)
        for name, value, line in flat(yaml.mapping, yaml.line):
            keys.put(name, value, line)
    if keys.find("base_model"):
        _axolotl(keys, notes)
    elif keys.find(
        "zero_optimization.stage", "zero_optimization", "train_batch_size", "train_micro_batch_size_per_gpu"
    ):
        _deepspeed(keys, notes)
    else:
        raise Refusal("names neither ZeRO nor batch sizes as DeepSpeed does, nor a base model as Axolotl does")
    list_unused(keys, notes)
    return notes.reading()


def _deepspeed(keys: Keys, notes: Notes) -> None:
    notes.give("layout.framework", "deepspeed", keys.line("zero_optimization.stage", "train_batch_size"))
    give_counts(keys, _DEEPSPEED, notes)
    group = keys.whole("zero_optimization.mics_shard_size")
    if group:
        notes.give("layout.sharding", "hsdp", keys.line("zero_optimization.mics_shard_size"))
        notes.give("layout.shard_group", group, keys.line("zero_optimization.mics_shard_size"))
    else:
        give_choice(keys, "layout.sharding", ("zero_optimization.stage",), _STAGES, notes)
    if str(keys.get("zero_optimization.offload_optimizer.device")) in {"cpu", "nvme"}:
        share = keys.get("zero_optimization.offload_optimizer.ratio")
        value = share if isinstance(share, int | float) and 0 <= share <= 1 else 1
        notes.give("layout.offload.optimizer", value, keys.line("zero_optimization.offload_optimizer.device"))
    if str(keys.get("zero_optimization.offload_param.device")) in {"cpu", "nvme"}:
        notes.unknown(
            "offload_param",
            "no key of the spec stands for parameters kept outside the accelerator",
            keys.line("zero_optimization.offload_param.device"),
        )
    overlap = truth(keys.get("zero_optimization.overlap_comm"))
    notes.give("layout.overlap.dp", overlap, keys.line("zero_optimization.overlap_comm"))
    for name in ("bf16", "fp16"):
        if keys.on(f"{name}.enabled"):
            notes.give("workload.precision", name, keys.line(f"{name}.enabled"))
    give_choice(keys, "workload.optimizer", ("optimizer.type",), _OPTIMIZERS, notes)
    if tensor := keys.whole("tensor_parallel.autotp_size"):
        notes.give("layout.tp", tensor, keys.line("tensor_parallel.autotp_size"))


def _axolotl(keys: Keys, notes: Notes) -> None:
    give_model(str(keys.get("base_model")), notes, keys.line("base_model"))
    give_counts(keys, _AXOLOTL, notes)
    shard, replicate = keys.whole("dp_shard_size"), keys.whole("dp_replicate_size") or 1
    line = keys.line("dp_shard_size", "fsdp_config", "fsdp", "deepspeed")
    fsdp = bool(shard) or any(key.startswith("fsdp") for key in keys.values)
    if fsdp:
        keys.used |= {key for key in keys.values if key.startswith("fsdp")}
        notes.give("layout.framework", "fsdp", line)
        notes.give("layout.sharding", "hsdp" if replicate > 1 else "fsdp", line)
        notes.give("layout.shard_group", shard if replicate > 1 else None, line)
        notes.give("layout.dp", shard * replicate if shard else None, line)
    elif keys.get("deepspeed"):
        notes.give("layout.framework", "deepspeed", keys.line("deepspeed"))
        notes.unknown(
            f"deepspeed: {str(keys.get('deepspeed'))[:60]}",
            "a file of its own: import it as well",
            keys.line("deepspeed"),
        )
    notes.give(
        "layout.recompute", "full" if keys.on("gradient_checkpointing") else None, keys.line("gradient_checkpointing")
    )
    for name in ("bf16", "fp16"):
        if keys.on(name):
            notes.give("workload.precision", name, keys.line(name))
    give_choice(keys, "workload.optimizer", ("optimizer",), _OPTIMIZERS, notes)
    if adapter := keys.get("adapter"):
        notes.unknown(
            f"adapter: {str(adapter)[:40]}",
            "adapters are not modeled: all weights are taken to be trained",
            keys.line("adapter"),
        )
    if steps := keys.whole("gradient_accumulation_steps"):
        notes.count("gradient_accumulation_steps", steps, keys.line("gradient_accumulation_steps"))
        notes.unknown(
            "workload.global_batch",
            "micro batch × accumulation × replicas; the file does not state replicas",
            keys.line("gradient_accumulation_steps"),
        )
