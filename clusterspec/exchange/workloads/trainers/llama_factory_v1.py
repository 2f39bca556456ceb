"""Configurations of the second trainer of LLaMA-Factory (YAML of ``llamafactory.v1``).

Names and defaults: hiyouga/LLaMA-Factory 8c28bd4d, src/llamafactory/v1/config/training_args.py (``micro_batch_size``,
``global_batch_size`` and ``dist_config``) and model_args.py (``peft_config``, ``quant_config``); examples/v1 at
26d949ae and 119c4373 (``cp_mode``, ``cp_size``, ``ep_size``). The command, not the configuration, states the stage.
"""

from __future__ import annotations

import re

from clusterspec.exchange.documents import read_yaml
from clusterspec.exchange.import_result import ELSEWHERE, ImportBuilder, ImportResult, InputFile, excerpt
from clusterspec.exchange.workloads.keys import Keys, flat_leaves, set_choice, set_counts
from clusterspec.exchange.workloads.model_files.models import set_model_of_key
from clusterspec.exchange.workloads.reinforcement.samples import list_cut_length
from clusterspec.exchange.workloads.trainers.deepspeed import set_adapter
from clusterspec.exchange.workloads.unused_keys import list_unused

_MARKS = (
    re.compile(r"^model[ \t]*:[ \t]*\S", re.MULTILINE),
    re.compile(r"^train_dataset[ \t]*:", re.MULTILINE),
    re.compile(r"^(?:dist_config|peft_config|kernel_config|model_class)[ \t]*:", re.MULTILINE),
)
_COUNTS = {
    "layout.micro_batch": ("micro_batch_size",),
    "workload.global_batch": ("global_batch_size",),
    "layout.cp": ("cp_size", "dist_config.cp_size"),
    "layout.ep": ("ep_size", "dist_config.ep_size"),
}
_CONTEXT = {"ulysses": "all-to-all", "ring": "ring"}
_UNRELATED = re.compile(
    r"template$|train_dataset|eval_dataset|output_dir|learning_rate|max_steps|num_train_epochs|sample_backend"
    r"|max_new_tokens|trust_remote_code|save_|logging_|seed$|kernel_config\.|init_config\.|model_class$|dist_config\.dcp"
)
"""Keys of data, samples, checkpoints and learning rate, which do not describe a layout."""


def is_second_trainer(file: InputFile) -> bool:
    """Whether a file configures the second trainer."""
    return all(mark.search(file.text) for mark in _MARKS)


def read_second_trainer(file: InputFile, kind: str) -> ImportResult:
    """The model, batch and layout of a run of the second trainer."""
    keys, yaml, builder = Keys(), read_yaml(file), ImportBuilder(kind, file.name)
    for name, value, line in flat_leaves(yaml.mapping, yaml.line):
        if value is not None and not _UNRELATED.match(name):
            keys.put(name, value, line)
    set_model_of_key(keys, "model", builder)
    builder.unknown("workload.kind", f"{ELSEWHERE}: the command states the stage (sft, dpo or rm)", keys.line("model"))
    set_counts(keys, _COUNTS, builder)
    set_choice(keys, "layout.cp_method", ("cp_mode", "dist_config.cp_mode"), _CONTEXT, builder)
    _set_sharding(keys, builder)
    if keys.is_on("bf16"):
        builder.set("workload.precision", "bf16", keys.line("bf16"))
    keys.used.add("bf16")
    _set_adapter(keys, builder)
    if length := keys.integer("cutoff_len"):
        list_cut_length("cutoff_len", length, builder, keys.line("cutoff_len"))
    list_unused(keys, builder)
    return builder.reading()


def _set_sharding(keys: Keys, builder: ImportBuilder) -> None:
    """Set the sharding by the plug-in that distributes the run."""
    name, line = str(keys.get("dist_config.name") or ""), keys.line("dist_config.name")
    if name in {"fsdp2", "fsdpturbo"}:
        builder.set("layout.framework", "fsdp", line)
        builder.set("layout.sharding", "fsdp", line)
    elif name == "deepspeed":
        builder.set("layout.framework", "deepspeed", line)
        other = keys.get("dist_config.config_file")
        builder.unknown(f"{excerpt(other)}", "a separate file: import it as well", keys.line("dist_config.config_file"))
    elif name:
        builder.unknown(f"distribution {excerpt(name)}", "no value of layout.sharding corresponds to it", line)


def _set_adapter(keys: Keys, builder: ImportBuilder) -> None:
    """Set the adapters; other ways of training a part of the weights are listed."""
    method, line = str(keys.get("peft_config.name") or ""), keys.line("peft_config.name")
    if not method:
        return
    names = [word for word in keys.words("peft_config.target_modules") if word != "all"]
    keys.used |= {name for name in keys.values if name.startswith("peft_config.lora_")}
    quantized = method == "lora" and keys.find("quant_config.name") is not None
    set_adapter("qlora" if quantized else method, keys.integer("peft_config.r"), names, builder, line)
