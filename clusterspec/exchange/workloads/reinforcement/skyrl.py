"""Launches of SkyRL: reinforcement learning (``trainer.…``, ``generator.…``) and supervised training (``main_sft``).

Names and defaults: NovaSky-AI/SkyRL a9564572, skyrl/train/config/config.py (``use_kl_loss`` is on: a reference model
takes part; ``colocate_all`` is on) and sft_config.py; engines had names such as ``generator.num_inference_engines``
before. Batches and minibatches of the trainer count prompts (skyrl/train/trainer.py, line 778); read 2026-11-26.
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import ImportBuilder, ImportResult, InputFile, NothingStarted
from clusterspec.exchange.shell import script_of
from clusterspec.exchange.workloads.keys import Keys, boolean_value, chosen_launch, set_choice, set_counts, set_switch
from clusterspec.exchange.workloads.model_files.models import set_model
from clusterspec.exchange.workloads.overrides import override_words
from clusterspec.exchange.workloads.reinforcement.samples import (
    list_cut_length,
    list_output_lengths,
    set_memory_fraction,
    set_minibatches,
    set_shard_groups,
)
from clusterspec.exchange.workloads.trainers.deepspeed import set_adapter
from clusterspec.exchange.workloads.unused_keys import list_unused
from clusterspec.logs.statements.required_words import first_match

SKYRL = "skyrl"
_MARK = re.compile(
    r"(?<![\w.])(?:trainer\.(?:placement|policy)|generator\.inference_engine)\.[\w.]{2,80}=|skyrl[\w.]{0,40}\.main_sft\b"
)
_ENGINE = "generator.inference_engine."
_DEGREES = {
    "layout.tp": ("megatron_config.tensor_model_parallel_size",),
    "layout.pp": ("megatron_config.pipeline_model_parallel_size",),
    "layout.cp": ("megatron_config.context_parallel_size", "sequence_parallel_size"),
    "layout.ep": ("megatron_config.expert_model_parallel_size",),
    "layout.expert_tp": ("megatron_config.expert_tensor_parallel_size",),
}
_OF_ROLLOUT = {
    "tp": "tensor_parallel_size",
    "pp": "pipeline_parallel_size",
    "ep": "expert_parallel_size",
    "max_sequences": "max_num_seqs",
}
_SAMPLES = {
    "layout.nodes": ("trainer.placement.policy_num_nodes",),
    "layout.micro_batch": ("trainer.micro_train_batch_size_per_gpu",),
    "workload.rl.prompts_per_step": ("trainer.train_batch_size",),
    "workload.rl.samples_per_prompt": ("generator.n_samples_per_prompt",),
    "workload.rl.epochs": ("trainer.update_epochs_per_batch",),
    **{
        f"workload.rl.rollout.{key}": (f"{_ENGINE}{name}", f"generator.inference_engine_{name}", f"generator.{name}")
        for key, name in _OF_ROLLOUT.items()
    },
}
_SUPERVISED = {
    "layout.nodes": ("placement.num_nodes",),
    "layout.micro_batch": ("micro_train_batch_size_per_gpu",),
    "workload.global_batch": ("batch_size",),
}
_RANKS = (
    ("trainer.placement.policy_num_nodes", "placement.num_nodes"),
    ("trainer.placement.policy_num_gpus_per_node", "placement.num_gpus_per_node"),
)
_FRAMEWORKS = {"fsdp": "fsdp", "fsdp2": "fsdp", "megatron": "megatron-core", "deepspeed": "deepspeed"}
_ESTIMATORS = {"gae": "ppo", "grpo": "grpo", "rloo": "rloo"}


def matches_skyrl(file: InputFile) -> bool:
    return bool(first_match(_MARK, file.text))


def read_skyrl(file: InputFile) -> ImportResult:
    """The samples, roles and layout of a launch. Raises `FormatError` if it has none, `SeveralParts` for several."""
    commands = (command for command in script_of(file.text).commands if _MARK.search(command.text))
    found = [keys for keys in map(override_words, commands) if keys.values]
    different = {tuple((name, str(value)) for name, (value, _) in keys.values.items()): keys for keys in found}
    if not different:
        raise NothingStarted("has no command with overrides of SkyRL (trainer.…=…)")
    keys = chosen_launch(list(different.values()), file.part)
    builder, supervised = ImportBuilder(SKYRL, file.name), "model.path" in keys.values
    base = "" if supervised else "trainer."
    role = "" if supervised else "trainer.policy."
    builder.set("workload.kind", "train" if supervised else "rl", keys.command.line)
    if isinstance(named := keys.get(f"{role}model.path"), str):
        set_model(named, builder, keys.line(f"{role}model.path"))
    set_counts(keys, {path: tuple(f"{role}{name}" for name in names) for path, names in _DEGREES.items()}, builder)
    set_counts(keys, _SUPERVISED if supervised else _SAMPLES, builder)
    builder.count("ranks_per_node", keys.integer(*_RANKS[1]), keys.line(*_RANKS[1]))
    _set_trainer(keys, builder, base, role)
    if supervised:
        _set_length(keys, builder)
    else:
        _set_algorithm(keys, builder)
        _set_rollout(keys, builder)
    list_unused(keys, builder)
    return builder.reading()


def _set_trainer(keys: Keys, builder: ImportBuilder, base: str, role: str) -> None:
    """Set the framework, its sharding, recomputation and adapters."""
    strategy, size = f"{base}strategy", f"{role}fsdp_config.fsdp_size"
    set_choice(keys, "layout.framework", (strategy,), _FRAMEWORKS, builder)
    if str(keys.get(strategy)).startswith("fsdp"):
        set_shard_groups(keys, size, builder, keys.line(strategy), _RANKS)
    again = (f"{role}megatron_config.transformer_config_kwargs.recompute_granularity", f"{base}gradient_checkpointing")
    if keys.find(again[0]) == again[0]:
        set_choice(keys, "layout.recompute", again[:1], {"full": "full", "selective": "selective"}, builder)
    else:
        set_switch(keys, "layout.recompute", again[1:], builder, ("none", "full"))
    if keys.is_on(moved := f"{role}fsdp_config.cpu_offload"):
        why = "keeps parameters and states on the host: state layout.offload"
        builder.unknown("cpu_offload", why, keys.line(moved))
    if keys.find(f"{base}max_tokens_per_microbatch"):
        why = "micro-batches are filled up to a number of tokens"
        builder.unknown("layout.micro_batch", why, keys.line(f"{base}max_tokens_per_microbatch"))
    if rank := keys.integer(adapters := f"{role}model.lora.rank"):
        modules = str(keys.get(f"{role}model.lora.target_modules") or "all-linear")
        words = [] if modules == "all-linear" else re.findall(r"\w+", modules)
        set_adapter("lora", rank, words, builder, keys.line(adapters))


def _set_length(keys: Keys, builder: ImportBuilder) -> None:
    """Set the length of sequences that are filled up; count the longest of others."""
    length, line = keys.integer("max_length"), keys.line("max_length")
    if length and keys.is_on("dummy_run_full_ctx"):
        builder.set("workload.sequence_length", length, line)
    elif length:
        list_cut_length("max_length", length, builder, line)


def _set_algorithm(keys: Keys, builder: ImportBuilder) -> None:
    """Set the algorithm by the estimator and its reference model, and the optimizer steps of a step."""
    name, loss = "trainer.algorithm.advantage_estimator", "trainer.algorithm.use_kl_loss"
    alone = boolean_value(keys.get(loss)) is False and not keys.is_on("trainer.algorithm.use_kl_in_reward")
    if alone and str(keys.get(name) or "grpo") in {"grpo", "rloo"}:
        why = "without a loss or reward of divergence no reference model takes part, as in dapo: state the algorithm"
        builder.unknown("use_kl_loss: false", why, keys.line(loss))
    elif keys.find(name) is None and not keys.is_undecided(name):
        why = "not stated: grpo, the default, unless a file of options states another"
        builder.unknown("workload.rl.algorithm", why, keys.command.line)
    else:
        set_choice(keys, "workload.rl.algorithm", (name,), _ESTIMATORS, builder)
    batch, part = keys.integer("trainer.train_batch_size"), keys.integer(mini := "trainer.policy_mini_batch_size")
    if not set_minibatches(batch, part, builder, keys.line(mini)) and part:
        builder.unknown(
            f"policy_mini_batch_size: {part}", "the prompts of a step are no stated multiple", keys.line(mini)
        )
    if keys.is_on(drawn := "trainer.fully_async.enabled"):
        why = "engines generate while the trainer works on earlier samples: state workload.rl.max_staleness"
        builder.unknown("fully_async", why, keys.line(drawn))


def _set_rollout(keys: Keys, builder: ImportBuilder) -> None:
    """Set the engines and their placement; count the longest prompts and answers."""
    engines = {"vllm": "vllm", "sglang": "sglang"}
    set_choice(keys, "workload.rl.rollout.framework", (f"{_ENGINE}backend", "generator.backend"), engines, builder)
    names = (f"{_ENGINE}gpu_memory_utilization", "generator.gpu_memory_utilization")
    set_memory_fraction(keys, names, builder)
    set_switch(keys, "workload.rl.placement", ("trainer.placement.colocate_all",), builder, ("split", "colocated"))
    number = (f"{_ENGINE}num_engines", "generator.num_inference_engines")
    builder.count("engines", keys.integer(*number), keys.line(*number))
    for name in ("trainer.max_prompt_length", "generator.sampling_params.max_generate_length"):
        builder.count(name.rpartition(".")[2], keys.integer(name), keys.line(name))
    if keys.find("generator.sampling_params.max_generate_length"):
        list_output_lengths(builder, keys.line("generator.sampling_params.max_generate_length"))
