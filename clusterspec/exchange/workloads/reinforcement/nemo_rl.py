"""Configurations of NeMo RL that generate samples: ``policy`` with a trainer and ``generation``, ``grpo``, ``cluster``.

Names and meanings: NVIDIA-NeMo/RL 7ea279ab, examples/configs/grpo_math_1B.yaml and nemo_rl/algorithms/grpo.py (lines
852 to 916: engines that are not colocated take their nodes from those of the cluster, the trainer has the others; in
002cdc27 teachers with devices of their own take theirs first). A recipe states what differs from the file that
``defaults`` names.
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import ImportBuilder, ImportResult, InputFile, excerpt
from clusterspec.exchange.workloads.keys import Keys, boolean_value, set_choice, set_counts, set_switch
from clusterspec.exchange.workloads.megatron.programs import keep_enabled_backend
from clusterspec.exchange.workloads.model_files.models import set_model
from clusterspec.exchange.workloads.printed_configs import printed_key
from clusterspec.exchange.workloads.reinforcement.samples import set_memory_fraction, set_minibatches
from clusterspec.exchange.workloads.reinforcement.verl import configuration_keys, printed_keys
from clusterspec.exchange.workloads.unused_keys import list_unused

NEMO_RL = "nemo-rl"
_FILE = re.compile(r"^policy[ \t]*:", re.MULTILINE)
_GENERATES = re.compile(r"^grpo[ \t]*:|^  generation[ \t]*:", re.MULTILINE)
_BACKEND = re.compile(r"^ {2,8}(?:megatron_cfg|dtensor_cfg|vllm_cfg|sglang_cfg)[ \t]*:", re.MULTILINE)
_PRINTED = printed_key("policy"), printed_key("grpo")
_MEGATRON, _GENERATION, _ASYNC = "policy.megatron_cfg.", "policy.generation.", "grpo.async_grpo."
_CLUSTER = "cluster."
_RESOURCES = f"{_GENERATION}colocated.resources."
_TEACHERS = "on_policy_distillation.non_colocated_teachers.enabled"
_COUNTS = {
    "layout.tp": (f"{_MEGATRON}tensor_model_parallel_size",),
    "layout.pp": (f"{_MEGATRON}pipeline_model_parallel_size",),
    "layout.cp": (f"{_MEGATRON}context_parallel_size",),
    "layout.ep": (f"{_MEGATRON}expert_model_parallel_size",),
    "layout.expert_tp": (f"{_MEGATRON}expert_tensor_parallel_size",),
    "workload.rl.prompts_per_step": ("grpo.num_prompts_per_step",),
    "workload.rl.samples_per_prompt": ("grpo.num_generations_per_prompt",),
    "workload.rl.rollout.tp": (f"{_GENERATION}vllm_cfg.tensor_parallel_size",),
    "workload.rl.rollout.pp": (f"{_GENERATION}vllm_cfg.pipeline_parallel_size",),
}


def matches_nemo_rl(file: InputFile) -> bool:
    marks = (_FILE, _GENERATES, _BACKEND)
    return all(mark.search(file.text) for mark in marks) or all(mark.search(file.text) for mark in _PRINTED)


def read_nemo_rl(file: InputFile) -> ImportResult:
    """The samples, roles and layout of a recipe. Raises `FormatError` if it is no mapping."""
    builder, keys = ImportBuilder(NEMO_RL, file.name), printed_keys(file, "policy")
    if keys is None:
        keys = configuration_keys(file, _FILE, "NeMo RL")
    for name in ("train_global_batch_size", "train_micro_batch_size", "precision", "model_name"):
        if f"policy.{name}" in keys.values:  # keep_enabled_backend renames them for Megatron's reader
            keys.put(f"kept.{name}", *keys.values[f"policy.{name}"])
    keep_enabled_backend(keys)
    first = next(iter(keys.values), "")
    builder.set("workload.kind", "rl", keys.line(first))
    if isinstance(named := keys.get("kept.model_name"), str):
        set_model(named, builder, keys.line("kept.model_name"))
    counts = {path: names for path, names in _COUNTS.items() if names[0] in keys.values}
    set_counts(keys, counts, builder)
    _set_trainer(keys, builder)
    _set_samples(keys, builder)
    _set_rollout(keys, builder)
    _set_nodes(keys, builder)
    _list_others(keys, builder)
    return builder.reading()


def _set_trainer(keys: Keys, builder: ImportBuilder) -> None:
    """Set the framework and memory of the trainer, where the file says which of the two backends is enabled or set."""
    if keys.is_on("policy.dtensor_cfg.enabled"):
        why = "NeMo RL with DTensor, which the catalog does not have"
        builder.unknown("layout.framework", why, keys.line("policy.dtensor_cfg.enabled"))
    elif at := next((name for name in keys.values if name.startswith(_MEGATRON) and not name.endswith("enabled")), ""):
        builder.set("layout.framework", "megatron-core", keys.line(at))
    kinds = {"bfloat16": "bf16", "float16": "fp16"}
    set_choice(keys, "workload.precision", ("kept.precision",), kinds, builder)
    if f"{_MEGATRON}sequence_parallel" in keys.values:
        set_switch(keys, "layout.sequence_parallel", (f"{_MEGATRON}sequence_parallel",), builder)
    if f"{_MEGATRON}activation_checkpointing" in keys.values and keys.is_on(f"{_MEGATRON}activation_checkpointing"):
        builder.set("layout.recompute", "full", keys.line(f"{_MEGATRON}activation_checkpointing"))
    sharded = f"{_MEGATRON}optimizer.use_distributed_optimizer"
    if sharded in keys.values and keys.is_on(sharded):
        builder.set("layout.sharding", "zero1", keys.line(sharded))
    micro = "kept.train_micro_batch_size"
    packed = [f"policy.{name}.enabled" for name in ("sequence_packing", "dynamic_batching")]
    filled = [name for name in packed if name in keys.values and keys.is_on(name)]
    if filled:
        why = "micro-batches are filled up to a number of tokens"
        builder.unknown("layout.micro_batch", why, keys.line(filled[0]))
    elif micro in keys.values:
        builder.set("layout.micro_batch", keys.integer(micro), keys.line(micro))


def _set_samples(keys: Keys, builder: ImportBuilder) -> None:
    """Set the optimizer steps of a step, and how far the engines run ahead."""
    prompts, samples = keys.integer("grpo.num_prompts_per_step"), keys.integer("grpo.num_generations_per_prompt")
    name = "kept.train_global_batch_size"
    batch, line = keys.integer(name), keys.line(name)
    if not set_minibatches((prompts or 0) * (samples or 0), batch, builder, line) and batch:
        why = "the samples of a step are not stated here, or not a multiple of it"
        builder.unknown(f"train_global_batch_size: {batch}", why, line)
    ahead = f"{_ASYNC}max_trajectory_age_steps"
    if f"{_ASYNC}enabled" in keys.values and keys.is_on(f"{_ASYNC}enabled"):
        if ahead in keys.values:
            builder.set("workload.rl.max_staleness", keys.integer(ahead), keys.line(ahead))
        else:
            why = "engines run ahead of the weights: state workload.rl.max_staleness"
            builder.unknown("async_grpo", why, keys.line(f"{_ASYNC}enabled"))


def _set_rollout(keys: Keys, builder: ImportBuilder) -> None:
    """Set the engines, without what their weights are converted to."""
    backend = f"{_GENERATION}backend"
    if backend in keys.values:
        kinds = {"vllm": "vllm", "sglang": "sglang"}
        set_choice(keys, "workload.rl.rollout.framework", (backend,), kinds, builder)
    set_memory_fraction(keys, (f"{_GENERATION}vllm_cfg.gpu_memory_utilization",), builder)
    precision = f"{_GENERATION}vllm_cfg.precision"
    if str(keys.values.get(precision, ("",))[0]).startswith("fp8"):
        why = "of the engines, for the layers that take it: state workload.rl.rollout.parameter_precision"
        builder.unknown(f"precision: {keys.get(precision)}", why, keys.line(precision))


def _set_nodes(keys: Keys, builder: ImportBuilder) -> None:
    """Set the trainer's nodes: the nodes of the cluster minus those dedicated to engines."""
    nodes, at = keys.integer(f"{_CLUSTER}num_nodes"), keys.line(f"{_CLUSTER}num_nodes")
    builder.count("ranks_per_node", keys.integer(f"{_CLUSTER}gpus_per_node"), keys.line(f"{_CLUSTER}gpus_per_node"))
    shared, own = f"{_GENERATION}colocated.enabled", keys.integer(f"{_RESOURCES}num_nodes")
    keys.get(f"{_RESOURCES}gpus_per_node")
    if nodes:
        builder.count("nodes", nodes, at)
    if any(key.startswith("env.reward_model.") for key in keys.values):
        builder.unknown("layout.nodes", "a reward model may have nodes of its own", at)
        return
    if _TEACHERS in keys.values and boolean_value(keys.get(_TEACHERS)) is not False:
        builder.unknown("layout.nodes", "teachers have nodes of their own", keys.line(_TEACHERS))
        return
    together = boolean_value(keys.get(shared)) if shared in keys.values else None
    if together is True:
        builder.set("workload.rl.placement", "colocated", keys.line(shared))
        builder.set("layout.nodes", nodes, at)
    elif together is False and nodes and own and nodes > own:
        line = keys.line(f"{_RESOURCES}num_nodes")
        builder.set("workload.rl.placement", "split", keys.line(shared))
        builder.set("workload.rl.rollout.nodes", own, line)
        builder.set("layout.nodes", nodes - own, at)
    elif together is False:
        why = "engines have separate devices, and the file does not state the nodes of engines and trainer"
        builder.unknown("layout.nodes", why, keys.line(shared))
    elif nodes:
        why = "the file does not say whether engines share the nodes of the trainer"
        builder.unknown("layout.nodes", why, at)


def _list_others(keys: Keys, builder: ImportBuilder) -> None:
    """Record the algorithm, and list the file named by `defaults` and the unused keys as not imported."""
    penalty = "loss_fn.reference_policy_kl_penalty"
    if penalty in keys.values and re.fullmatch(r"0*\.?0*", str(keys.values[penalty][0])):
        why = "no reference model takes part, as in dapo: state the algorithm"
        builder.unknown(f"{penalty}: 0", why, keys.line(penalty))
        keys.used.add(penalty)
    elif penalty in keys.values and keys.get("grpo.adv_estimator.name") == "grpo":
        builder.set("workload.rl.algorithm", "grpo", keys.line("grpo.adv_estimator.name"))
        keys.used.add(penalty)
    if isinstance(other := keys.get("defaults"), str):
        why = "another file, not read: its values apply where this one states none"
        builder.unknown(f"defaults: {excerpt(other)}", why, keys.line("defaults"))
    renamed = ("kept.", "global_batch_size", "micro_batch_size", "trainer.precision", "model_name")
    keys.used |= {name for name in keys.values if name.startswith(renamed)}
    keys.used |= {name for name in keys.values if f"kept.{name.removeprefix('policy.')}" in keys.values}
    list_unused(keys, builder)
