"""The samples and engines of GRPO with the options of TRL, whose trainer takes those of Hugging Face.

Names and defaults: huggingface/trl f2cd5771, trl/trainer/grpo_config.py. ``per_device_train_batch_size`` counts samples
(prompts in release 0.14), ``num_iterations`` is 1 and ``num_generations`` 8 where absent. ``beta`` is 0.04 where absent
until release 0.18, 0 from it on (7359ddcc): then no reference model takes part.
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import ImportBuilder, InputFile
from clusterspec.exchange.workloads.keys import Keys, set_counts
from clusterspec.exchange.workloads.reinforcement.samples import list_output_lengths, set_memory_fraction
from clusterspec.logs.text_lines import line_at

_COUNTS = {
    "workload.rl.samples_per_prompt": ("num_generations",),
    "workload.rl.epochs": ("num_iterations",),
    "workload.rl.rollout.tp": ("vllm_tensor_parallel_size",),
}
_PLACES = {"colocate": "colocated", "server": "split"}
_SERVER = re.compile(
    r"\btrl[ ]vllm-serve\b(?:[^\n;&|]|(?<=\\)\n){0,1200}?"
    r"[ \t]--tensor[_-]parallel[_-]size[ \t=]+[\"']?(?P<degree>[1-9]\d{0,2})\b"
)
"""A server of samples that the script of a trainer starts (trl/scripts/vllm_serve.py), with its degree."""
_ZERO = re.compile(r"0*\.?0*")


def set_samples(keys: Keys, builder: ImportBuilder, line: int) -> None:
    """Set the kind, samples, algorithm and engines of a run that trains on generated samples."""
    builder.set("workload.kind", "rl", line)
    set_counts(keys, _COUNTS, builder)
    _set_algorithm(keys, builder, line)
    _set_engines(keys, builder)
    size = "per_device_train_batch_size"
    why = "counts samples of one rank, in TRL 0.14 prompts; the prompts of a step follow from the ranks"
    builder.unknown(f"{size}: {keys.integer(size)}", why, keys.line(size))
    for name in ("max_prompt_length", "max_completion_length"):
        builder.count(name, keys.integer(name), keys.line(name))
    if keys.find("max_completion_length"):
        list_output_lengths(builder, keys.line("max_completion_length"))


def set_server_degree(file: InputFile, keys: Keys, builder: ImportBuilder) -> None:
    """Set the degree of the engines by the only server of samples that the script starts, where the trainer uses it."""
    text = file.uncommented
    servers = list(_SERVER.finditer(text))
    if len(servers) != 1 or text.count("trl vllm-serve") != 1:
        return
    if keys.is_on("use_vllm") and str(keys.get("vllm_mode") or "server") == "server":
        line = line_at(text, servers[0].start("degree"))
        builder.set("workload.rl.rollout.tp", int(servers[0]["degree"]), line)


def _set_algorithm(keys: Keys, builder: ImportBuilder, line: int) -> None:
    """Set grpo where a divergence is part of the loss; without it no reference model takes part."""
    share = keys.get("beta")
    at = keys.line("beta") or line
    if share is None:
        why = "beta is not stated: a reference model takes part by default until TRL 0.18, none from 0.19 on"
        builder.unknown("workload.rl.algorithm", why, at)
    elif _ZERO.fullmatch(str(share)):
        builder.unknown("beta: 0", "no reference model takes part, as in dapo: state the algorithm", at)
    else:
        builder.set("workload.rl.algorithm", "grpo", at)


def _set_engines(keys: Keys, builder: ImportBuilder) -> None:
    if not keys.is_on("use_vllm"):
        if keys.find("use_vllm"):
            why = "the trainer generates itself: no engine of the catalog"
            builder.unknown("workload.rl.rollout", why, keys.line("use_vllm"))
        keys.used |= {name for name in keys.values if name.startswith("vllm_")}
        return
    builder.set("workload.rl.rollout.framework", "vllm", keys.line("use_vllm"))
    set_memory_fraction(keys, ("vllm_gpu_memory_utilization",), builder)
    place = _PLACES.get(str(keys.get("vllm_mode")))
    builder.set("workload.rl.placement", place, keys.line("vllm_mode"))
    if place is None:
        why = "vllm_mode is not stated: engines on accelerators of their own or on those of the trainer, by the release"
        builder.unknown("workload.rl.placement", why, keys.line("use_vllm"))
