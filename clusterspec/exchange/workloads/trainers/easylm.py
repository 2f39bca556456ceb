"""Launches of EasyLM, which trains LLaMA with JAX (``python -m EasyLM.models.llama.llama_train …``).

Names and defaults: yizhongw/EasyLM 95a9dbc5, EasyLM/models/llama/llama_train.py and llama_model.py: ``mesh_dim`` lists
the degrees of replicas, FSDP and model parallelism (with four entries, the third is the degree of sequence
parallelism). One of them may be -1: the devices that the other degrees leave. The batch of a dataset is the batch of
all devices (EasyLM/data.py); steps of accumulated gradients (EasyLM/optimizers.py) each take one.
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import (
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    NothingStarted,
    excerpt,
)
from clusterspec.exchange.workloads.keys import Keys, read_arguments, set_choice
from clusterspec.exchange.workloads.model_files.models import set_model
from clusterspec.exchange.workloads.unused_keys import list_unused
from clusterspec.logs.statements.required_words import first_match

EASYLM = "easylm"
_LAUNCH = re.compile(r"\bEasyLM[./]models[./]\w{1,20}[./]\w{1,40}train\w{0,20}")
_OTHER = re.compile(r"train_(?:dpo|online_dpo|ppo|rm)\b")
_DTYPES = {"fp32": "fp32", "float32": "fp32", "bf16": "bf16", "bfloat16": "bf16", "fp16": "fp16", "float16": "fp16"}
_NAMED = ("load_llama_config", "llama.base_model")
_CONFIGURATIONS = {
    **{f"{size}b": f"llama-2-{size}b" for size in (7, 13)},
    **{f"llama2_{size}b": f"llama-2-{size}b" for size in (7, 13, 70)},
    **{f"llama3_{size}b": f"llama-3-{size}b" for size in (8, 70)},
    "70b": "llama-2-70b",
}
"""Models of the catalog with the sizes of ``LLAMA_STANDARD_CONFIGS``; the first LLaMA of 7 and 13 billion has those of
the second.
"""


def matches_easylm(file: InputFile) -> bool:
    return bool(first_match(_LAUNCH, file.text))


def read_easylm(file: InputFile) -> ImportResult:
    """The batch and the layout of a launch. Raises `FormatError` if it states neither, or learns from rewards."""
    builder, keys = ImportBuilder(EASYLM, file.name), read_arguments(file, _LAUNCH)
    if other := next((word for word in keys.command.words if _OTHER.search(word.text)), None):
        raise FormatError(
            f"trains with a reference, rewards or pairs ({other.text[-40:]}): supervised only", other.line
        )
    if keys.has_elided_options or keys.find("mesh_dim", "batch_size") is None:
        raise NothingStarted("has no command that starts EasyLM with a mesh or a batch")
    builder.set("workload.kind", "train", keys.line("batch_size", "mesh_dim"))
    _set_model(keys, builder)
    replicas = _set_mesh(keys, builder)
    _set_batch(keys, replicas, builder)
    set_choice(keys, "workload.precision", ("dtype",), _DTYPES, builder)
    set_choice(keys, "workload.optimizer", ("optimizer.type",), {"adamw": "adamw", "lion": "lion"}, builder)
    list_unused(keys, builder)
    return builder.reading()


def _set_model(keys: Keys, builder: ImportBuilder) -> None:
    """Set the model by the name of its configuration, unless the launch changes it."""
    named, line = str(keys.get(*_NAMED) or ""), keys.line(*_NAMED)
    if changed := str(keys.get("update_llama_config") or ""):
        why = "changes the configuration of the model: state what it changes"
        builder.unknown(f"update_llama_config: {excerpt(changed)}", why, keys.line("update_llama_config"))
    if known := _CONFIGURATIONS.get(named):
        builder.set("workload.model", known, line)
    elif named:
        set_model(named, builder, line)


def _set_mesh(keys: Keys, builder: ImportBuilder) -> int | None:
    """Set the degrees of the mesh; returns the replicas where they are known."""
    stated, line = str(keys.get("mesh_dim") or ""), keys.line("mesh_dim")
    parts = [each.rpartition(":")[2] for each in stated.lstrip("!").split(",")]
    names = [each.rpartition(":")[0] for each in stated.lstrip("!").split(",")]
    in_order = names in ([""] * len(names), ["dp", "fsdp", "mp"])
    if len(parts) not in {3, 4} or not in_order or not all(re.fullmatch(r"-1|[1-9]\d{0,6}", part) for part in parts):
        if stated:
            builder.unknown(f"mesh_dim: {excerpt(stated)}", "no mesh of three or four degrees", line)
        return None
    degrees = [None if part == "-1" else int(part) for part in parts]
    copies, sharded = degrees[:2]
    builder.set("layout.tp", degrees[-1], line)
    if len(degrees) == 4:
        builder.set("layout.cp", degrees[2], line)
    if sharded == 1 and copies != 1:
        builder.set("layout.sharding", "none", line)
    elif copies == 1:
        builder.set("layout.sharding", "fsdp", line)
    elif copies and copies > 1:
        builder.set("layout.sharding", "hsdp", line)
        builder.set("layout.shard_group", sharded, line)
    if None in degrees:
        why = "the devices that the other degrees leave: the launch does not count them"
        builder.unknown(f"mesh_dim: {excerpt(stated)}", why, line)
        return None
    replicas = (copies or 1) * (sharded or 1)
    builder.set("layout.dp", replicas, line)
    return replicas


def _set_batch(keys: Keys, replicas: int | None, builder: ImportBuilder) -> None:
    """Set the batch and the length of the training data, which are named after the kind of the data."""
    own = Keys({name: held for name, held in keys.values.items() if name.startswith("train_dataset.")})
    batch, line = own.integer("batch_size"), own.line("batch_size")
    steps = keys.integer("optimizer.accumulate_gradient_steps") or 1
    if "optimizer.accumulate_gradient_steps" in keys.values:
        builder.count("gradient_accumulation_steps", steps, keys.line("optimizer.accumulate_gradient_steps"))
    if batch:
        builder.set("workload.global_batch", batch * steps, line)
        if replicas and batch % replicas == 0:
            builder.set("layout.micro_batch", batch // replicas, line)
    builder.set("workload.sequence_length", own.integer("seq_length"), own.line("seq_length"))
    keys.used |= own.used
