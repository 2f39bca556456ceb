"""Configurations of torchtune (YAML) and its launches (``tune run``).

Names and defaults: meta-pytorch/torchtune bd2a0fc7, recipes/configs and recipes/full_finetune_distributed.py (line 382:
all is sharded unless ``fsdp_reshard_after_forward`` is false), torchtune/modules/loss (losses over chunks of the
output). A recipe ``*_distributed`` shards with FSDP, one ``*_single_device`` runs on one accelerator.
"""

from __future__ import annotations

import re
from itertools import pairwise

from clusterspec.exchange.import_result import (
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    NothingStarted,
    without_comments,
)
from clusterspec.exchange.workloads.jobs.slurm_jobs import set_job_nodes
from clusterspec.exchange.workloads.keys import (
    Keys,
    boolean_value,
    set_choice,
    set_counts,
)
from clusterspec.exchange.workloads.launch_commands import GAP
from clusterspec.exchange.workloads.model_files.models import catalog_model, set_model
from clusterspec.exchange.workloads.overrides import file_keys, follow_references, launch_with_overrides
from clusterspec.exchange.workloads.reinforcement.samples import list_cut_length
from clusterspec.exchange.workloads.reinforcement.torchtune_samples import SAMPLES, refuse_roles, set_group_samples
from clusterspec.exchange.workloads.trainers.deepspeed import list_accumulation, set_adapter, set_fsdp_offload
from clusterspec.exchange.workloads.unused_keys import list_unused
from clusterspec.logs.statements.required_words import first_match

TORCHTUNE = "torchtune"
_COMPONENT = re.compile(r"^[ \t]*_component_[ \t]*:[ \t]*torchtune\.", re.MULTILINE)
_LAUNCH = re.compile(rf"\btune{GAP}run\b")
_RECIPE = re.compile(r"(?:[\w/.-]{0,120}/)?\w{0,60}_(?P<kind>distributed|single_device)(?:\.py)?")
_BUILTIN = re.compile(r"(?P<family>(?:code_)?[a-z]+[0-9]?(?:_[0-9])?)/(?P<size>[0-9][\w.]*?B)_\w+")
"""A configuration that torchtune has itself, of a family and size of models (``llama3_1/8B_full``)."""
_COUNTS = {
    "layout.nodes": ("nnodes",),
    "layout.micro_batch": ("batch_size",),
    "layout.tp": ("tensor_parallel_dim",),
    "layout.cp": ("context_parallel_dim",),
    "layout.ep": ("expert_parallel_dim",),
}
_SHARDED = ("data_parallel_shard_dim", "data_parallel_replicate_dim", "fsdp_cpu_offload", "fsdp_reshard_after_forward")
_OTHER_RUNS = ("teacher_model", "policy_model", "reward_and_value_model", "ref_policy_checkpointer")
_OTHER_LOSS = re.compile(r"\.rlhf\.|DPO|PPO|GRPO|ForwardKL|\.kd_losses", re.IGNORECASE)
_OTHER_RECIPE = re.compile(r"dpo|ppo|grpo|knowledge_distillation|generate|eval|quantize|early_exit")
_OPTIMIZERS = {"adam": "adam", "adamw": "adamw", "sgd": "sgd"}
_DTYPES = {"bf16": "bf16", "fp16": "fp16", "fp32": "fp32"}
_UNRELATED = re.compile(
    r"(?:tokenizer|checkpointer|dataset|dataset_val|metric_logger|lr_scheduler|profiler|logger)\."
    r"|(?:output_dir|seed|shuffle|epochs|device|log_\w+|resume_\w+|save_\w+|max_steps_per_epoch|exp_name|batch_size_val"
    r"|run_val_every_n_steps)$|optimizer\.(?!_component_)"
)
"""Keys of data, logs and learning rate, which do not describe a layout."""


def matches_torchtune(file: InputFile) -> bool:
    text = without_comments(file.text)
    return bool(first_match(_COMPONENT, text) or first_match(_LAUNCH, text))


def read_torchtune(file: InputFile) -> ImportResult:
    """The workload and layout of a run on texts.

    Raises `FormatError` if it does not train, or with other models or rewards, `SeveralParts` for several launches.
    """
    builder = ImportBuilder(TORCHTUNE, file.name)
    keys = _configuration_keys(file) if _COMPONENT.search(file.text) else _launch_keys(file)
    groups = SAMPLES in keys.values
    if groups:
        set_group_samples(keys, builder)
    else:
        _refuse_other_runs(keys)
        line = keys.line("model._component_", "optimizer._component_") or keys.command.line
        builder.set("workload.kind", "train", line)
    _set_model(keys, builder)
    set_counts(keys, {path: names for path, names in _COUNTS.items() if not groups or "batch" not in path}, builder)
    set_job_nodes(file, keys, builder)
    builder.count("ranks_per_node", keys.integer("nproc_per_node"), keys.line("nproc_per_node"))
    if not groups:
        _set_length(keys, builder)
    _set_sharding(keys, builder)
    _set_kernels(keys, builder)
    _set_updates(keys, builder)
    list_accumulation(keys, builder)
    keys.used |= {name for name in keys.values if _UNRELATED.match(name)}
    list_unused(keys, builder)
    return builder.reading()


def _configuration_keys(file: InputFile) -> Keys:
    """The keys of a configuration. Raises `FormatError` if it has no optimizer: it does not train."""
    keys = file_keys(file)
    follow_references(keys)
    refuse_roles(keys)
    if not any(name.startswith("optimizer") for name in keys.values):
        raise FormatError("is no configuration of training: it has no optimizer")
    return keys


def _launch_keys(file: InputFile) -> Keys:
    """The options and overrides of a launch. Raises `FormatError` if there is none."""
    keys = launch_with_overrides(file, _LAUNCH)
    if not keys.command.words:
        raise NothingStarted("has no command with tune run and its options")
    return keys


def _refuse_other_runs(keys: Keys) -> None:
    """Raise `FormatError` for a run that does not train, or with other models, rewards or pairs of answers."""
    loss = keys.values.get("loss._component_", keys.values.get("loss", ("", 0)))
    other = next(((name, keys.line(name)) for name in _OTHER_RUNS if keys.find(name)), None)
    if other is None and any(name.startswith(f"{each}.") for each in _OTHER_RUNS for name in keys.values):
        other = next((name, keys.line(name)) for name in keys.values if name.partition(".")[0] in _OTHER_RUNS)
    if other is None and _OTHER_LOSS.search(str(loss[0])):
        other = str(loss[0])[-40:], loss[1]
    recipe = _recipe_and_line(keys)
    if other is None and recipe and _OTHER_RECIPE.search(recipe[0]):
        other = recipe
    if other is not None:
        raise FormatError(f"does not train on texts alone ({other[0]}): supervised training only", other[1])


def _recipe_and_line(keys: Keys) -> tuple[str, int] | None:
    """The recipe that a launch runs, and its line: the word before ``--config``, or a word that is the name of a
    recipe.
    """
    words = keys.command.words
    for word, after in pairwise(words):
        if after.text == "--config" and not word.text.startswith("-"):
            return word.text, word.line
    return next(((word.text, word.line) for word in words if _RECIPE.fullmatch(word.text)), None)


def _set_model(keys: Keys, builder: ImportBuilder) -> None:
    """Set the model of a builder function (``torchtune.models.llama3_1.lora_llama3_1_8b``) or a configuration."""
    if stated := keys.get("model._component_", "model"):
        line = keys.line("model._component_", "model")
        named = _model_of(str(stated))
        if named and catalog_model(named):
            set_model(named, builder, line)
        else:
            builder.unknown(f"model {str(stated)[-60:]}", "no catalog entry of this name: state workload.model", line)
        return
    config = str(keys.get("config") or "")
    line = keys.line("config")
    if match := _BUILTIN.fullmatch(config):
        set_model(_hub_name(match["family"]) + "-" + match["size"].lower(), builder, line)
        builder.unknown(config, "a configuration of torchtune itself: what is not overridden is as it says", line)
    elif config:
        builder.unknown(config[-60:], "a separate file: import it as well", line)


def _model_of(component: str) -> str | None:
    """The name of the model that a builder function of torchtune makes; None for another function.

    >>> _model_of("torchtune.models.llama3_1.qlora_llama3_1_8b")
    'llama-3.1-8b'
    >>> _model_of("torchtune.models.qwen2_5.qwen2_5_0_5b_base")
    'qwen2.5-0.5b'
    >>> _model_of("torchtune.models.gemma2.lora_gemma2_9b"), _model_of("my.models.net")
    ('gemma-2-9b', None)
    """
    module, _, function = component.rpartition(".")
    family = module.rpartition(".")[2]
    match = re.fullmatch(rf"(?:q?lora_|q?dora_)?{re.escape(family)}_(?P<size>\w+?)(?:_instruct|_base)?", function)
    if not component.startswith("torchtune.models.") or match is None:
        return None
    return f"{_hub_name(family)}-{re.sub(r'(?<=[0-9])_(?=[0-9])', '.', match['size'])}"


def _hub_name(family: str) -> str:
    """A family of models as hubs write it.

    >>> _hub_name("llama3_1"), _hub_name("gemma2"), _hub_name("qwen2_5"), _hub_name("mistral")
    ('llama-3.1', 'gemma-2', 'qwen2.5', 'mistral')
    """
    name = family.replace("_", ".")
    return re.sub(r"^(llama|gemma|phi)(?=[0-9])", r"\1-", name)


def _set_length(keys: Keys, builder: ImportBuilder) -> None:
    """Set the length of packed sequences; without packing the longest of a batch decides."""
    name = "tokenizer.max_seq_len"
    length, line = keys.integer(name), keys.line(name)
    if keys.is_on("dataset.packed", "packed"):
        builder.set("workload.sequence_length", length, line)
    elif length:
        list_cut_length("max_seq_len", length, builder, line)
    else:
        builder.unknown("workload.sequence_length", "sequences are as long as those of the data", line)


def _set_sharding(keys: Keys, builder: ImportBuilder) -> None:
    """Set FSDP if the recipe or the keys are for several ranks."""
    recipe = _recipe_and_line(keys)
    found = _RECIPE.fullmatch(recipe[0]) if recipe else None
    kind, line = (found["kind"], recipe[1]) if found and recipe else ("", keys.line(*_SHARDED, "tensor_parallel_dim"))
    if kind == "single_device":
        builder.set("layout.nodes", 1, line)
        builder.count("ranks_per_node", 1, line)
        builder.set("layout.sharding", "none", line)
        return
    again = boolean_value(keys.get("fsdp_reshard_after_forward"))
    copies, shard = keys.integer("data_parallel_replicate_dim") or 1, keys.integer("data_parallel_shard_dim")
    if kind or any(name in keys.values for name in _SHARDED):
        builder.set("layout.framework", "fsdp", line)
        builder.set("layout.sharding", "hsdp" if copies > 1 else "zero2" if again is False else "fsdp", line)
        builder.set("layout.shard_group", shard if copies > 1 else None, keys.line("data_parallel_shard_dim"))
    else:
        builder.unknown("layout.framework", "the recipe that the launch names decides: one device, or FSDP")
    if keys.is_on("fsdp_cpu_offload"):
        set_fsdp_offload(builder, keys.line("fsdp_cpu_offload"))


def _set_kernels(keys: Keys, builder: ImportBuilder) -> None:
    """Set precision, recomputation, compilation and the loss."""
    set_choice(keys, "workload.precision", ("dtype",), _DTYPES, builder)
    name = "enable_activation_checkpointing"
    if (on := boolean_value(keys.get(name))) is not None and keys.find("ac_mode") is None:
        builder.set("layout.recompute", "full" if on else "none", keys.line(name))
    if keys.is_on("enable_activation_offloading"):
        why = "activations move to the memory of the host between the passes: state layout.offload"
        builder.unknown("enable_activation_offloading", why, keys.line("enable_activation_offloading"))
    keys.get("enable_activation_offloading")
    if (on := boolean_value(keys.get("compile"))) is not None:
        builder.set("layout.fused_kernels", on, keys.line("compile"))
    names = ("loss._component_", "loss")
    if re.search(r"(?:CEWithChunkedOutput|LinearCrossEntropy)Loss$", str(keys.get(*names))):
        builder.set("layout.loss", "chunked", keys.line(*names))


def _set_updates(keys: Keys, builder: ImportBuilder) -> None:
    """Set the optimizer and low-rank adapters."""
    names = ("optimizer._component_", "optimizer")
    stated = str(keys.get(*names) or "")
    module, _, kind = stated.rpartition(".")
    if module == "torch.optim" and kind.lower() in _OPTIMIZERS:
        builder.set("workload.optimizer", _OPTIMIZERS[kind.lower()], keys.line(*names))
    elif stated:
        builder.unknown(f"optimizer {stated[-40:]}", "no value of workload.optimizer", keys.line(*names))
    function = str(keys.get("model._component_", "model") or "").rpartition(".")[2]
    match = re.match(r"(?P<four>q?)(?P<method>lora|dora)_", function)
    if match is None:
        if (recipe := _recipe_and_line(keys)) and not function and re.search(r"(?:^|[/_])q?(?:lora|dora)_", recipe[0]):
            why = "a recipe that trains adapters, whose rank and modules its configuration states"
            builder.unknown(recipe[0][-60:], why, recipe[1])
        return
    if match["method"] == "dora" or keys.is_on("model.use_dora"):
        builder.unknown("dora", "an adapter that a spec cannot say", keys.line("model._component_", "model"))
        return
    modules = [str(word) for word in keys.words("model.lora_attn_modules")]
    if keys.is_on("model.apply_lora_to_mlp"):
        modules += ["gate_proj", "up_proj", "down_proj"]
    if keys.is_on("model.apply_lora_to_output"):
        modules.append("lm_head")
    keys.used |= {name for name in ("model.lora_alpha", "model.lora_dropout") if name in keys.values}
    rank, line = keys.integer("model.lora_rank"), keys.line("model.lora_rank", "model._component_")
    set_adapter("qlora" if match["four"] else "lora", rank, modules, builder, line)
