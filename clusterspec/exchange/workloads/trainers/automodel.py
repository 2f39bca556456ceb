"""Recipes of NeMo Automodel (YAML): PyTorch with FSDP 2 over models of Hugging Face.

Names: NVIDIA-NeMo/Automodel 36044ad3, examples/llm_finetune and llm_benchmark (``distributed`` with the degrees,
``step_scheduler`` with the batches, ``packed_sequence``, ``peft``). With pipeline stages the batch of a rank is divided
into micro-batches of ``pp_microbatch_size``.
"""

from __future__ import annotations

import fnmatch
import re

from clusterspec.exchange.documents import read_yaml
from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, Value, excerpt
from clusterspec.exchange.workloads.keys import Keys, flat_leaves, set_counts, set_switch
from clusterspec.exchange.workloads.model_files.models import set_model
from clusterspec.exchange.workloads.trainers.deepspeed import set_adapter
from clusterspec.exchange.workloads.unused_keys import list_unused

AUTOMODEL = "nemo-automodel"
_MARKS = (
    re.compile(r"\bnemo_automodel\.", re.MULTILINE),
    re.compile(r"^step_scheduler[ \t]*:", re.MULTILINE),
)
_COUNTS = {
    "layout.tp": ("distributed.tp_size",),
    "layout.pp": ("distributed.pp_size",),
    "layout.cp": ("distributed.cp_size",),
    "layout.ep": ("distributed.ep_size",),
    "workload.global_batch": ("step_scheduler.global_batch_size",),
    "layout.nodes": ("benchmark.num_nodes",),
}
_MODEL = (
    "model.pretrained_model_name_or_path",
    "model.config.pretrained_model_name_or_path",
    "model.config.name_or_path",
)
_UNRELATED = re.compile(
    r"(?:seed|checkpoint|dist_env|loss_fn|dataset\.(?!seq_len)|validation_dataset|dataloader|validation_dataloader"
    r"|lr_scheduler|wandb|mlflow|logger|ci|rng|optimizer\.(?!_target_)|profiling)(?:\.|$)"
)
"""Keys of data, logs and learning rate, which do not describe a layout."""


def matches_nemo_automodel(file: InputFile) -> bool:
    return all(mark.search(file.text) for mark in _MARKS)


def read_nemo_automodel(file: InputFile) -> ImportResult:
    """The workload and layout of a recipe. Raises `FormatError` if it states no batches."""
    builder, keys, yaml = ImportBuilder(AUTOMODEL, file.name), Keys(), read_yaml(file)
    for name, value, line in flat_leaves(yaml.mapping, yaml.line):
        if value is not None and str(value).lower() != "none" and not _UNRELATED.match(name):
            keys.put(name, value, line)
    if keys.find("step_scheduler.global_batch_size", "step_scheduler.local_batch_size") is None:
        raise FormatError("is not a recipe: it has no batches in step_scheduler")
    _refuse_other_work(keys)
    if (recipe := str(keys.get("recipe", "recipe._target_") or "")).rpartition(".")[2].startswith("Diffusion"):
        why = "trains a model that fills in masked tokens: its attention is not causal"
        builder.unknown(f"recipe: {excerpt(recipe)}", why, keys.line("recipe", "recipe._target_"))
    builder.set("workload.kind", "train", keys.line("recipe", "step_scheduler.global_batch_size"))
    if isinstance(named := keys.get(*_MODEL), str):
        set_model(named, builder, keys.line(*_MODEL))
    _set_strategy(keys, builder)
    set_counts(keys, _COUNTS, builder)
    _set_batch(keys, builder)
    _set_lengths(keys, builder)
    _set_updates(keys, builder)
    list_unused(keys, builder)
    return builder.reading()


_OTHER_WORK = (
    ("a teacher computes targets for a student", r"KnowledgeDistillation|EmbeddingDistill"),
    (
        "trains a draft model, with the states of a model that it does not train",
        r"Eagle|DFlash|DSpark|Domino|JetSpec|Vispec",
    ),
    (
        "trains an encoder or a classifier, which predicts no tokens",
        r"BiEncoder|CrossEncoder|SequenceClassification|MineHard",
    ),
    ("trains a model of images or video", r"TrainDiffusionRecipe"),
)
"""Classes of recipes other than training of language models (nemo_automodel/recipes at 36044ad3)."""


def _refuse_other_work(keys: Keys) -> None:
    """Raise `FormatError` for a recipe that trains no language model on tokens alone."""
    recipe, line = str(keys.get("recipe", "recipe._target_") or ""), keys.line("recipe", "recipe._target_")
    for what, pattern in _OTHER_WORK:
        if re.search(pattern, recipe.rpartition(".")[2]):
            raise FormatError(f"{excerpt(recipe)}: {what}, which a spec cannot state", line)
    if teacher := next((name for name in keys.values if name.startswith("teacher_model.")), None):
        raise FormatError(f"{_OTHER_WORK[0][0]}, which a spec cannot state", keys.line(teacher))


def _set_strategy(keys: Keys, builder: ImportBuilder) -> None:
    names = ("distributed.strategy", "distributed._target_")
    word, line = str(keys.get(*names) or ""), keys.line(*names)
    if word == "fsdp2" or word.endswith("FSDP2Manager"):
        builder.set("layout.framework", "fsdp", line)
        copies = keys.integer("distributed.dp_replicate_size") or 1
        builder.set("layout.sharding", "hsdp" if copies > 1 else "fsdp", line)
        deferred = "distributed.defer_fsdp_grad_sync"
        if keys.find(deferred) == deferred:
            builder.set("layout.gradient_sync", "step" if keys.is_on(deferred) else "micro-batch", keys.line(deferred))
    elif word:
        builder.unknown(f"strategy: {word[-40:]}", "no framework of the catalog corresponds to it", line)
    for path, name in (
        ("layout.sequence_parallel", "distributed.sequence_parallel"),
        ("layout.recompute", "distributed.activation_checkpointing"),
    ):
        if keys.find(name) == name:
            states: tuple[Value, Value] = ("none", "full") if path == "layout.recompute" else (False, True)
            set_switch(keys, path, (name,), builder, states)


def _set_batch(keys: Keys, builder: ImportBuilder) -> None:
    stages = keys.integer("distributed.pp_size") or 1
    names = ("pp_microbatch_size",) if stages > 1 else ("step_scheduler.local_batch_size",)
    builder.set("layout.micro_batch", keys.integer(*names), keys.line(*names))
    if stages > 1 and (local := keys.integer("step_scheduler.local_batch_size")):
        builder.count("local_batch_size", local, keys.line("step_scheduler.local_batch_size"))


def _set_lengths(keys: Keys, builder: ImportBuilder) -> None:
    names = ("packed_sequence.packed_sequence_size", "packed_sequence.pack_size")  # of language models, and with images
    packed, stated = keys.integer(*names), keys.integer("dataset.seq_len")
    if packed:
        builder.set("workload.sequence_length", packed, keys.line(*names))
    elif stated:
        builder.set("workload.sequence_length", stated, keys.line("dataset.seq_len"))
    else:
        builder.unknown("workload.sequence_length", "sequences are as long as in the data")


def _set_updates(keys: Keys, builder: ImportBuilder) -> None:
    """Set the optimizer and the adapters."""
    target = str(keys.get("optimizer._target_") or "")
    kinds = {"torch.optim.Adam": "adam", "torch.optim.AdamW": "adamw", "torch.optim.SGD": "sgd"}
    if target in kinds:
        builder.set("workload.optimizer", kinds[target], keys.line("optimizer._target_"))
    elif target:
        builder.unknown(f"optimizer {target[-40:]}", "no value of workload.optimizer", keys.line("optimizer._target_"))
    if adapters := keys.get("peft._target_"):
        _set_adapters(str(adapters).rpartition(".")[2], keys, builder)


_LINEAR = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
"""Linear layers that a pattern of modules may match."""


def _set_adapters(kind: str, keys: Keys, builder: ImportBuilder) -> None:
    """Set low-rank adapters, whose modules patterns name (components/_peft/module_matcher.py)."""
    line, patterns = keys.line("peft.dim", "peft._target_"), keys.words("peft.target_modules")
    if kind != "PeftConfig" or keys.is_on("peft.use_dora"):
        builder.unknown(f"{excerpt(kind)}, rank {keys.get('peft.dim')}", "adapters: state workload.trainable", line)
        return
    every = keys.is_on("peft.match_all_linear") and keys.find("peft.exclude_modules") is None
    named = {pattern: fnmatch.filter(_LINEAR, pattern.rpartition(".")[2]) for pattern in patterns}
    if every or (named and all(named.values())):
        names = [] if every else [name for found in named.values() for name in found]
        set_adapter("lora", keys.integer("peft.dim"), names, builder, line)
        return
    builder.set("workload.trainable.method", "lora", line)
    builder.set("workload.trainable.rank", keys.integer("peft.dim"), line)
    builder.unknown("the modules of the adapters", "not stated, or not only attention and feed-forward networks", line)
