"""Group-relative policy optimization by torchtune: its samples, epochs and batches.

Source: meta-pytorch/torchtune, recipes/dev/grpo_full_finetune_distributed.py (one process group generates, scores and
trains: lines 581 to 662 generate ``grpo_samples`` answers of each prompt, and each of the ``ppo_epochs`` passes all of
them at once), read 2026-12-01.
"""

from __future__ import annotations

from clusterspec.exchange.import_result import FormatError, ImportBuilder
from clusterspec.exchange.workloads.keys import Keys

SAMPLES = "grpo_samples"
_APART = "orchestration.num_inference_workers"
"""A key of the recipe whose engines generate apart from the training (recipes/dev/async_grpo_*.py)."""


def refuse_roles(keys: Keys) -> None:
    """Raise `FormatError` if other processes than those that train generate the samples."""
    if _APART in keys.values:
        why = "generates samples in processes apart from those that train: the roles are not read"
        raise FormatError(f"{why} ({_APART})", keys.line(_APART))


def set_group_samples(keys: Keys, builder: ImportBuilder) -> None:
    """Set the algorithm, the samples and the batches of a step on groups of samples."""
    samples, prompts, line = keys.integer(SAMPLES), keys.integer("batch_size"), keys.line(SAMPLES)
    builder.set("workload.kind", "rl", line)
    builder.set("workload.rl.algorithm", "grpo", line)
    builder.set("workload.rl.samples_per_prompt", samples, line)
    builder.set("workload.rl.epochs", keys.integer("ppo_epochs"), keys.line("ppo_epochs"))
    builder.set("workload.rl.minibatches", 1, keys.line("batch_size"))
    builder.set("workload.rl.placement", "colocated", line)
    builder.set("layout.micro_batch", prompts * samples if prompts and samples else None, keys.line("batch_size"))
    builder.count("max_generated_tokens", keys.integer("max_generated_tokens"), keys.line("max_generated_tokens"))
    builder.unknown("batch_size", "prompts of one rank: those of a step follow from the ranks", keys.line("batch_size"))
    why = "only the longest is stated: the mean and the 99th percentile decide the time"
    builder.unknown("workload.rl.output_tokens", why, keys.line("max_generated_tokens"))
    why = "torchtune generates with the weights that it trains: no engine, whose options a spec describes"
    builder.unknown("workload.rl.rollout", why, line)
    keys.used |= {name for name in keys.values if name.startswith("ref_checkpointer.")}
