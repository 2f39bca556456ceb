"""The samples and roles of launches of slime, miles and Megatron-LM (reinforcement learning) with Megatron's options.

Names and defaults: radixark/miles 31f1ca96, miles/utils/arguments.py (lines 129, 1082 to 1102, 1390 to 1448 and 3432),
and THUDM/slime 002fa9d6, slime/utils/arguments.py. Their global batch counts samples of one optimizer step.
"""

from __future__ import annotations

from clusterspec.exchange.import_result import ImportBuilder, excerpt
from clusterspec.exchange.workloads.keys import Keys, set_choice, set_counts
from clusterspec.exchange.workloads.model_files.models import set_model
from clusterspec.exchange.workloads.reinforcement.samples import (
    list_output_lengths,
    set_memory_fraction,
    set_minibatches,
)

_COUNTS = {
    "workload.rl.prompts_per_step": ("rollout_batch_size",),
    "workload.rl.samples_per_prompt": ("n_samples_per_prompt",),
}
_SPLITS = (
    *("sglang_dp_size", "sglang_pp_size", "sglang_enable_dp_attention"),
    *("vllm_data_parallel_size", "vllm_pipeline_parallel_size"),
)
_LOSSES = {"None", "policy_loss"}


def set_rollouts(keys: Keys, builder: ImportBuilder) -> None:
    """Set the kind, samples, minibatches and engines of a launch that trains on generated samples."""
    prompts = keys.integer("rollout_batch_size")
    if prompts is None or keys.find("actor_num_gpus_per_node", "hf_checkpoint") is None:
        return
    if str(keys.get("loss_type")) not in _LOSSES:  # such as sft_loss: its "rollouts" are read, not generated
        why = "no loss of reinforcement learning: its rollouts may be samples of a data set"
        builder.unknown(f"loss_type: {excerpt(keys.get('loss_type'))}", why, keys.line("loss_type"))
        return
    builder.set("workload.kind", "rl", keys.line("rollout_batch_size"))
    if named := not keys.find("num_layers") and keys.get("hf_checkpoint"):  # whose sizes those of the trainer must be
        set_model(str(named), builder, keys.line("hf_checkpoint"))
    set_counts(keys, _COUNTS, builder)
    _set_algorithm(keys, builder)
    _set_minibatches(keys, prompts, builder)
    if split := keys.find(*_SPLITS):
        why = "the ranks of an engine combine several degrees: state the degrees in workload.rl.rollout"
        builder.unknown(split, why, keys.line(split))
    else:
        set_counts(keys, {"workload.rl.rollout.tp": ("rollout_num_gpus_per_engine",)}, builder)
    set_memory_fraction(keys, ("sglang_mem_fraction_static", "vllm_gpu_memory_utilization"), builder)
    for framework, prefix in (("sglang", "sglang_"), ("vllm", "vllm_")):
        if engine := next((name for name in keys.values if name.startswith(prefix)), None):
            builder.set("workload.rl.rollout.framework", framework, keys.line(engine))
    if keys.is_on("colocate"):
        builder.set("workload.rl.placement", "colocated", keys.line("colocate"))
    if longest := keys.integer("rollout_max_response_len"):
        line = keys.line("rollout_max_response_len")
        builder.count("max_response_length", longest, line)
        list_output_lengths(builder, line)


def set_own_rollouts(keys: Keys, builder: ImportBuilder) -> None:
    """Set the kind and samples of a launch that generates with Megatron-LM itself.

    Names: NVIDIA/Megatron-LM d98e8a64, megatron/training/arguments.py, ``_add_rl_args``.
    """
    prompts, line = keys.integer("grpo_prompts_per_step"), keys.line("grpo_prompts_per_step")
    if prompts is None:
        return
    builder.set("workload.kind", "rl", line)
    builder.set("workload.rl.prompts_per_step", prompts, line)
    set_counts(keys, {"workload.rl.samples_per_prompt": ("grpo_group_size",)}, builder)
    why = "the ranks of training generate, by options that are not read: state workload.rl.rollout"
    builder.unknown("the engine of generation", why, line)


def _set_algorithm(keys: Keys, builder: ImportBuilder) -> None:
    name = "advantage_estimator"
    if keys.is_on("use_opd"):
        why = "a teacher judges the samples too, which no algorithm of a spec counts"
        builder.unknown("use_opd", why, keys.line("use_opd"))
    if keys.get(name) == "grpo" and not keys.is_on("use_kl_loss"):
        why = "without a KL loss there is no reference model, as in DAPO: state the algorithm"
        builder.unknown("advantage_estimator: grpo", why, keys.line(name))
    else:
        set_choice(keys, "workload.rl.algorithm", (name,), {"grpo": "grpo", "ppo": "ppo"}, builder)


def _set_minibatches(keys: Keys, prompts: int, builder: ImportBuilder) -> None:
    """Set the optimizer steps of one step of generation: stated, or its samples over the global batch."""
    steps, samples, batch = (
        keys.integer(name) for name in ("num_steps_per_rollout", "n_samples_per_prompt", "global_batch_size")
    )
    line = keys.line("global_batch_size")
    if steps:
        builder.set("workload.rl.minibatches", steps, keys.line("num_steps_per_rollout"))
    elif not set_minibatches(prompts * (samples or 0), batch, builder, line) and batch:
        why = "the samples of a step are not a multiple of it" if samples else "samples_per_prompt is not stated"
        builder.unknown("workload.rl.minibatches", why, line)
