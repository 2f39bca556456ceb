"""What a reader lists at its end: keys it did not use, keys it read that set nothing, and options it cannot decide."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from clusterspec.exchange.import_result import ImportBuilder, excerpt
from clusterspec.exchange.shell import Command
from clusterspec.exchange.shell_words import Word
from clusterspec.exchange.workloads.bearing_options import list_bearing
from clusterspec.exchange.workloads.keys import OPEN_COUNT, Keys
from clusterspec.exchange.workloads.launch_commands import SHELLS
from clusterspec.exchange.workloads.offloads import list_offloads
from clusterspec.units import plural

MOST_LISTED = 60
"""Largest number of names of unused keys of learning, data and output that are listed; configurations of frameworks
hold hundreds.
"""
_ASIDE = re.compile(
    r"(?:.*[._])?(?:"
    r"lr|lrs|learning_rate|(?:min|max|base|peak|init|actor|critic|decay)_lr|lr_\w+|\w*weight_decay\w*|adam_\w+|betas?[12]?"
    r"|eps|epsilon|norm_epsilon|momentum|\w*clip_?(?:grad|norm|ratio)\w*|max_(?:grad_)?norm|grad(?:ient)?_clip\w*"
    r"|init_method\w*|initializer_range|\w*seed|\w*dropout\w*|warmup\w*|\w+_warmup\w*|\w*scheduler\w*|loss_scale\w*"
    r"|initial_loss_scale|hysteresis|entropy_coe\w*|kl_(?:loss_)?coe\w*|kl_loss_type|temperature|top_[pk]"
    r"|log|log_\w+|\w*logg(?:er|ing)\w*|verbose|print_\w+|\w+_per_print|wandb\w*|tensorboard\w*|mlflow\w*|swanlab\w*"
    r"|report_to|run_name|\w*project(?:_name)?|exp(?:eriment)?_name|description|tags|job_name|user|owner"
    r"|\w*(?:dir|dirs|path|paths|folder|file|files|url|uri|prefix|directory)|host|port|\w+_(?:host|port|addr|address)"
    r"|split|data_impl|dataset\w*|train_data|valid_data|test_data|data_cache\w*|\w*tokenizer\w*|vocab_extra_ids|template"
    r"|prompt_(?:key|template|data)|input_key|label_key|answer_key|\w*shuffle|truncation|num_workers|\w+_num_workers"
    r"|eval|evals|eval_\w+|\w+_eval\w*|val_\w+|valid\w*|test_freq|\w*(?:save|eval|log|logging|checkpoint)_(?:interval|steps"
    r"|strategy|freq|iters|top_k|limit)|save|save_\w+|load|resume\w*|ckpt_\w+|async_save|no_load_\w+|no_save_\w+|finetune"
    r"|override_opt_param_scheduler|exit_\w+|\w*timeout\w*|train_iters|num_train_epochs|total_epochs|max_epochs|max_steps"
    r"|profil\w+|nsys\w*|timing_log\w*|distributed_backend|rdzv_\w+|node_rank|machine_rank|seed_\w+|name"
    r")"
)
"""Last parts of keys about learning, data, output and paths, which change neither the memory nor the time of a step."""
_KEPT = re.compile(
    r"activation|recompute|parallel|offload|quant|cache_dtype|load_in_|(?:^|[._])model(?:_name)?(?:[._](?:name_or_)?path)?$"
)
"""Parts of keys that describe a layout although the keys end like keys about output."""
_NOTHING = frozenset(
    {"", "0", "1", "-1", "0.0", "1.0", "uniform", "none", "null", "false", "true", "off", "no", "[]", "{}"}
)
"""Values that turn something off, values of a switch, and values that change no key of the spec."""
_DECISIVE = frozenset(
    {
        *(
            "lora_r",
            "lora_rank",
            "lora_dim",
            "lora_target",
            "lora_target_modules",
            "target_modules",
            "lora_attn_modules",
        ),
        *("finetuning_type", "train_mode", "train_type", "tuner_type", "sft_type", "adapter", "rlhf_type"),
        *(
            "hidden_act",
            "hidden_activation",
            "activation_func",
            "activation",
            "v_head_dim",
            "attn_type",
            "attention_type",
            "expansion_ratio",
        ),
        *("dp_replicate_size", "parallelism_config_dp_replicate_size", "data_parallel_replicate_degree"),
        *("data_parallel_replicate_dim", "dcn_data_parallelism", "dcn_fsdp_parallelism", "dcn_expert_parallelism"),
        *("ici_data_parallelism", "ici_fsdp_parallelism", "decoder_block", "data_parallel_sharding_strategy"),
        *(
            "encoder_seq_length",
            "seq_length",
            "sequence_length",
            "strategy",
            "recompute_granularity",
            "batch_accumulation_per_replica",
            "disaggregation_mode",
            "decoding_type",
        ),
        *("model", "model_path", "extra_engine_args", "gpus_per_node", "num_nodes", "nnodes"),
    }
)
"""Last words of keys that set no value alone: they decide how other keys are read, or are factors of a value."""


def is_aside(name: str) -> bool:
    """Whether a key is about learning, data or output.

    >>> [is_aside(name) for name in ("optim.lr", "save_interval", "checkpoint_activations", "moe_router_dtype")]
    [True, True, False, False]
    """
    return bool(_ASIDE.fullmatch(name)) and not _KEPT.search(name)


def list_unused(keys: Keys, builder: ImportBuilder) -> None:
    """Record all unused keys in one entry, each option in an undecided branch that the launch does not state in the
    same way in any case, and each key that was read and sets nothing.
    """
    list_undecided(keys, builder)
    named = {each.what.partition(":")[0] for each in builder.unknowns}
    for name in [name for name in keys.values if name in keys.open and name not in named]:
        value, line = keys.values[name]
        builder.unknown(f"{name}: {excerpt(value)}", OPEN_COUNT, line)
    if (script := _script_started(keys.command)) is not None:
        why = "a script of its own, which may state more, or state otherwise: import it as well"
        builder.unknown(excerpt(script.text.rpartition("/")[2]), why, script.line)
    if placed := keys.placed_by:
        why = "starts the launch on nodes and devices that its own options count: nodes and ranks are not read"
        builder.unknown(excerpt(placed.text.rpartition("/")[2]), why, placed.line)
    for shown, line in keys.conditional:
        builder.unknown(excerpt(shown), "options of the launch only where a variable is set: not read", line)
    if keys.severed:
        why = "after a line without a backslash, or a comment, the shell takes the options as another command"
        builder.unknown(f"{excerpt(keys.severed.text)}", why, keys.severed.line)
    if keys.stopped:
        ends = f"by its own values the script ends here, before the launch on line {keys.command.line}"
        builder.unknown("exit", f"{ends}: set its variables", keys.stopped)
    if keys.severed is keys.command and keys.severed:
        why = "of a command that ends before these: not read"
        builder.unknown(f"the options above line {keys.severed.line}", why, keys.severed.line)
    _list_ineffective(keys, builder)
    lines = {each.at.line for each in builder.given} | {each.at.line for each in builder.counts}
    if defaulted := [name for name in keys.defaulted if keys.values.get(name, (None, 0))[1] in lines]:
        why = f"defaults of variables, which the environment may replace: {', '.join(defaulted)}"
        builder.unknown(plural(len(defaulted), "value"), why, keys.values[defaulted[0]][1])
    unused = list_bearing(keys.values, list_offloads(keys.values, keys.unused_names(), builder), builder)
    if unused:
        builder.unknown(plural(len(unused), "key"), f"not imported: {_shown_names(unused)}")


def list_undecided(keys: Keys, builder: ImportBuilder) -> None:
    """Record each option in an undecided branch that the launch does not state in the same way in any case."""
    stated = {f"--{name}" + ("" if v is True else f" {excerpt(v)}") for name, (v, _) in keys.values.items()}
    named: dict[str, dict[str, list[tuple[int, int]]]] = {}
    for shown, line, branch in keys.undecided:
        if shown[:2] + shown[2:].replace("-", "_", shown.partition(" ")[0].count("-") - 2) not in stated:
            name = re.split(r"[ =]", shown, maxsplit=1)[0]
            named.setdefault(name, {}).setdefault(shown, []).append((line, branch))
    for name, values in named.items():
        parts = values
        if len(values) > _MOST_VALUES:
            shown = ", ".join(excerpt(re.split(r"[ =]", each, maxsplit=1)[-1]) for each in list(values)[:_MOST_VALUES])
            parts = {f"{name} {shown}, …": [place for places in values.values() for place in places]}
        for shown, places in parts.items():
            lines = sorted({branch for _, branch in places})
            tests = "test on line" if len(lines) == 1 else "tests on lines"
            tests += f" {', '.join(map(str, lines[:8]))}{', …' * (len(lines) > 8)}"
            builder.unknown(shown, f"depends on the {tests}, which the script does not decide", places[0][0])


_MOST_VALUES = 3
"""Largest number of values of one option in branches that are listed apart; scripts with a branch for each model have
dozens.
"""


def _list_ineffective(keys: Keys, builder: ImportBuilder) -> None:
    """Record each key that was read, on a line from which nothing was set, counted or listed."""
    places = [each.at for each in builder.given] + [each.at for each in builder.counts]
    told = {place.line for place in places} | {each.at.line for each in builder.unknowns}
    texts = [f"{each.what} {each.why}" for each in builder.unknowns]
    models = {each.at.line for each in builder.given if each.path == ("workload", "model")}
    for name, (value, line) in keys.values.items():
        last = name.rpartition(".")[2]
        if name in keys.asked and str(value).startswith("$") and not is_aside(name):
            if line in models and "model" in name:  # a folder of a variable, named after the model
                continue
            if not any(last in text or str(value)[:60] in text for text in texts):
                why = "a variable, or computed elsewhere: it sets no value"
                builder.unknown(f"{name}: {excerpt(value)}", why, line)
            continue
        if name not in keys.asked or line in told or last in _DECISIVE or is_aside(name) or _states_nothing(value):
            continue
        if not any(last in text for text in texts):
            builder.unknown(f"{name}: {excerpt(value)}", "read, but it sets no value of the spec", line)


def _states_nothing(value: Any) -> bool:
    return isinstance(value, bool) or value is None or str(value).strip().lower() in _NOTHING


def _shown_names(names: Iterable[str]) -> str:
    """The names, with those about learning, data and output last, of which only the first appear."""
    listed = list(names)
    aside = [name for name in listed if is_aside(name)]
    others = [name for name in listed if name not in set(aside)]
    shown = [*others, *aside[: max(0, MOST_LISTED - len(others))]]
    return ", ".join(shown) + (", …" if len(shown) < len(listed) else "")


def _script_started(command: Command) -> Word | None:
    """The shell script to which a command passes its options (``bash train.sh --tensor-model-parallel-size 8``)."""
    words = command.words[1:2] if command.words and command.words[0].text in SHELLS else command.words[:1]
    return next((word for word in words if word.text.endswith(".sh")), None)
