"""Launches and configurations of verl (reinforcement learning): overrides on a command line, or a file of keys.

Names and defaults: verl-project/verl 1dda039b, verl/trainer/config (``actor``, ``rollout``, ``ppo_trainer.yaml``, where
``adv_estimator`` is ``gae``, which trains a critic, ``strategy`` of the actor is ``fsdp``, and ``hybrid_engine`` is on:
engines generate on the ranks that train) and verl/trainer/ppo/utils.py line 75 (a reference model takes part where a
loss or a reward of its divergence is on). Sizes of minibatches count prompts. ``n_agent`` is the name of ``n`` in
PeterGriffinJin/Search-R1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod

from clusterspec.exchange.import_result import (
    LIST,
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    NothingStarted,
    Value,
    chosen_part,
    excerpt,
)
from clusterspec.exchange.shell import script_of
from clusterspec.exchange.shell_words import Word
from clusterspec.exchange.workloads.keys import (
    Keys,
    boolean_value,
    chosen_launch,
    set_choice,
    set_counts,
)
from clusterspec.exchange.workloads.launch_commands import severed_part, whole_launches
from clusterspec.exchange.workloads.model_files.changed_models import change_overridden_model
from clusterspec.exchange.workloads.model_files.models import catalog_model, set_model
from clusterspec.exchange.workloads.overrides import file_keys, follow_references, override_words
from clusterspec.exchange.workloads.printed_configs import printed_configurations, printed_key
from clusterspec.exchange.workloads.reinforcement.samples import (
    count_lengths_and_ranks,
    set_memory_fraction,
    set_minibatches,
    set_shard_groups,
)
from clusterspec.exchange.workloads.reinforcement.verl_supervised import VERL, is_supervised, read_supervised
from clusterspec.exchange.workloads.step_logs.step_lines import step_program
from clusterspec.exchange.workloads.stopped_scripts import line_of_stop
from clusterspec.exchange.workloads.trainers.deepspeed import set_adapter
from clusterspec.exchange.workloads.unused_keys import list_unused
from clusterspec.units import plural

_MARK = re.compile(r"(?:^|\s)\+{0,2}actor_rollout_ref\.[\w.]{3,80}=", re.MULTILINE)
_FILE = re.compile(r"^actor_rollout_ref[ \t]*:", re.MULTILINE)
_PRINTED = printed_key("actor_rollout_ref")
_ACTOR, _ROLLOUT = "actor_rollout_ref.actor.", "actor_rollout_ref.rollout."
_COUNTS = {
    "layout.nodes": ("trainer.nnodes",),
    "layout.tp": (f"{_ACTOR}megatron.tensor_model_parallel_size",),
    "layout.pp": (f"{_ACTOR}megatron.pipeline_model_parallel_size",),
    "layout.virtual_stages": (f"{_ACTOR}megatron.virtual_pipeline_model_parallel_size",),
    "layout.cp": (
        f"{_ACTOR}megatron.context_parallel_size",
        f"{_ACTOR}fsdp_config.ulysses_sequence_parallel_size",
        f"{_ACTOR}ulysses_sequence_parallel_size",
    ),
    "layout.ep": (f"{_ACTOR}megatron.expert_model_parallel_size",),
    "layout.expert_tp": (f"{_ACTOR}megatron.expert_tensor_parallel_size",),
    "workload.rl.prompts_per_step": ("data.train_batch_size",),
    "workload.rl.samples_per_prompt": (f"{_ROLLOUT}n", f"{_ROLLOUT}n_agent"),
    "workload.rl.epochs": (f"{_ACTOR}ppo_epochs",),
    "workload.rl.rollout.tp": (f"{_ROLLOUT}tensor_model_parallel_size",),
    "workload.rl.rollout.pp": (f"{_ROLLOUT}pipeline_model_parallel_size",),
    "workload.rl.rollout.ep": (f"{_ROLLOUT}expert_parallel_size",),
    "workload.rl.rollout.max_sequences": (f"{_ROLLOUT}max_num_seqs",),
}
_CRITIC = "critic.model.path"
_QUANTIZED: Mapping[str, Value] = {"fp8": "fp8", "none": None, "null": None}
_ENGINES = {"vllm": "vllm", "sglang": "sglang"}


def matches_verl(file: InputFile) -> bool:
    return any(mark.search(file.text) for mark in (_MARK, _FILE, _PRINTED)) or is_supervised(file)


def read_verl(file: InputFile) -> ImportResult:
    """The samples, roles and layout of a launch. Raises `FormatError` if it has none, `SeveralParts` for several."""
    if not any(mark.search(file.text) for mark in (_MARK, _FILE, _PRINTED)) and is_supervised(file):
        return read_supervised(file)
    if (keys := printed_keys(file, "actor_rollout_ref")) is None:
        keys = launch_keys(file, _MARK, _FILE, "verl (actor_rollout_ref.…=…)")
    first = min((line for _, line in keys.values.values()), default=0)
    builder, line = ImportBuilder(VERL, file.name), keys.command.line if keys.command.words else first
    builder.set("workload.kind", "rl", line)
    if isinstance(named := keys.get("actor_rollout_ref.model.path"), str):
        set_model(named, builder, keys.line("actor_rollout_ref.model.path"))
        change_overridden_model(named, keys, builder)
    if keys.is_on("trainer.val_only"):
        builder.unknown("trainer.val_only", "validates, and trains nothing", keys.line("trainer.val_only"))
    if completed := _base_files(keys):
        why = "another configuration, not read: its values apply where this one states none"
        builder.unknown(f"defaults: {excerpt(', '.join(completed), LIST)}", why, keys.line("defaults"))
        keys.used.add("defaults")
    _set_algorithm(keys, builder)
    _set_roles(keys, builder)
    _set_trainer(keys, builder)
    _set_adapters(keys, builder)
    set_counts(keys, _COUNTS, builder)
    _set_minibatches(keys, builder)
    _set_rollout(keys, builder)
    count_lengths_and_ranks(keys, builder)
    list_unused(keys, builder)
    return builder.reading()


def printed_keys(file: InputFile, root: str) -> Keys | None:
    """The keys of the chosen configuration with the key ``root`` that a log holds, None if it holds none.

    Raises `SeveralParts` if they differ and no part is chosen.
    """
    found = printed_configurations(file, root)
    different = {str(sorted((name, str(held[0])) for name, held in keys.values.items())): keys for keys in found[::-1]}
    lines = ", ".join(str(min(line for _, line in keys.values.values())) for keys in found[:12])
    choices = f"holds {plural(len(different), 'configuration')} that differ, on lines {lines}"
    several = plural(len(different), "configuration")
    return chosen_part(list(different.values())[::-1], file.part, several, choices) if found else None


def configuration_keys(file: InputFile, root: re.Pattern[str], name: str) -> Keys:
    """The keys of a configuration, except those left to a launch. Raises `FormatError` without the key ``root``."""
    if not root.search(file.text):
        raise FormatError(f"is no configuration of {name}")
    keys = file_keys(file)
    keys.values = {key: held for key, held in keys.values.items() if not str(held[0]).startswith("???")}
    follow_references(keys)
    keys.values = {key: held for key, held in keys.values.items() if not str(held[0]).startswith("${")}
    return keys


def launch_keys(file: InputFile, mark: re.Pattern[str], root: re.Pattern[str], name: str) -> Keys:
    """The keys of a configuration (YAML, with the key ``root``), or of the chosen launch that has a ``mark``."""
    if root.search(file.text) and not mark.search(file.text):
        return configuration_keys(file, root, name)
    commands = script_of(file.text).commands
    launches = [override_words(command) for command in whole_launches(commands, mark)]
    found = [keys for keys in launches if keys.values or keys.undecided]  # not a wrapper of a quoted script
    for keys in found:
        keys.severed = severed_part(keys.command, commands)
        keys.stopped = line_of_stop(file, keys.command.line)
    different = {tuple((name, value) for name, (value, _) in keys.values.items()): keys for keys in reversed(found)}
    if not different and (program := step_program(file.text)):
        raise FormatError(f"has steps of {program}, and no command with overrides of {name}: import its launch")
    if not different:
        raise NothingStarted(f"has no command with overrides of {name}")
    return chosen_launch(list(different.values())[::-1], file.part)


def _set_algorithm(keys: Keys, builder: ImportBuilder) -> None:
    name = "algorithm.adv_estimator"
    if keys.get(name) in {"grpo", "rloo"} and not keys.is_on(f"{_ACTOR}use_kl_loss", "algorithm.use_kl_in_reward"):
        why = "without a loss or reward of divergence no reference model takes part, as in dapo: state the algorithm"
        builder.unknown(f"adv_estimator: {keys.get(name)}", why, keys.line(name))
    elif keys.find(name):
        set_choice(keys, "workload.rl.algorithm", (name,), {"gae": "ppo", "grpo": "grpo", "rloo": "rloo"}, builder)
    elif not keys.is_undecided(name) and not _base_files(keys) and (keys.find(_CRITIC) == _CRITIC or _starts_ppo(keys)):
        builder.set("workload.rl.algorithm", "ppo", keys.line(_CRITIC) or keys.command.line)


_TRAINERS = frozenset({"_self_", "ppo_trainer", "ppo_megatron_trainer"})
"""Names in ``defaults`` that are of the file itself, or of the configurations of verl whose defaults are known."""


def _base_files(keys: Keys) -> list[str]:
    """The configurations of a site that a file completes (``defaults``, Hydra) and whose values are not at hand."""
    listed = keys.values.get("defaults", ([], 0))[0]
    names = [str(each) for each in listed if not isinstance(each, dict)] if isinstance(listed, list) else []
    return [name for name in names if name.rpartition("/")[2] not in _TRAINERS]


def _starts_ppo(keys: Keys) -> bool:
    """Whether a launch of ``main_ppo`` states all its options, so that the defaults apply to absent ones."""
    return not keys.has_elided_options and _main_ppo(keys) is not None


def _main_ppo(keys: Keys) -> Word | None:
    """The word of a launch that names the program whose defaults ``ppo_trainer.yaml`` has."""
    return next((word for word in keys.command.words if word.text.endswith("main_ppo")), None)


def _set_roles(keys: Keys, builder: ImportBuilder) -> None:
    """Set a critic and a reward model that differ from the trained model; only ppo uses a critic."""
    roles = (
        ("critic", _CRITIC, str(keys.get("algorithm.adv_estimator") or "gae") == "gae"),
        ("reward", "reward_model.model.path", keys.is_on("reward_model.enable")),
    )
    trained = catalog_model(str(keys.get("actor_rollout_ref.model.path") or ""))
    for role, name, on in roles:
        if not on or keys.find(name) != name:
            continue
        named, line = str(keys.get(name)), keys.line(name)
        found = catalog_model(named)
        if found and (role == "reward" or found != trained):  # a critic is the trained model where none is named
            builder.set(f"workload.rl.{role}.model", found, line)
        elif not found:
            why = f"no catalog entry of this name: state workload.rl.{role}"
            builder.unknown(f"{role} {excerpt(named, LIST)}", why, line)


_SPLITS = tuple(
    f"{_ACTOR}{name}"
    for name in (
        "ulysses_sequence_parallel_size",
        "megatron.tensor_model_parallel_size",
        "megatron.pipeline_model_parallel_size",
        "megatron.context_parallel_size",
    )
)
"""Degrees whose ranks work on the same samples."""


def _set_shared_micro_batch(keys: Keys, builder: ImportBuilder) -> None:
    """Set the micro batch of a replica from the micro batch of all replicas, which earlier releases take.

    Source: verl as in soumyarani/verl-gaudi aefbd6cf, verl05-gaudi/verl/workers/fsdp_workers.py, line 189, and
    megatron_workers.py, line 142; the release in Search-R1 multiplies it by ``rollout.n`` (ranyuzhou654/FinAgent-R1
    3e141e02, vendor/Search-R1/verl/workers/fsdp_workers.py, line 101); read 2026-11-25.
    """
    name = f"{_ACTOR}ppo_micro_batch_size"
    shared, line = keys.integer(name), keys.line(name)
    counts = [keys.integer(f"trainer.{each}") for each in ("nnodes", "n_gpus_per_node")]
    ranks = prod(count for count in counts if count) if all(counts) else 0
    replicas = ranks // prod(keys.integer(each) or 1 for each in _SPLITS)
    samples = keys.integer("actor_rollout_ref.rollout.n") or 1
    if shared and replicas and shared % replicas == 0 and samples == 1:
        builder.set("layout.micro_batch", shared // replicas, line)
    elif shared:
        why = "of all replicas together, in early releases for each sample: state layout.micro_batch"
        builder.unknown(f"ppo_micro_batch_size: {shared}", why, line)


def _set_trainer(keys: Keys, builder: ImportBuilder) -> None:
    """Set the framework, its sharding and the batch of one rank."""
    strategy = f"{_ACTOR}strategy"
    names = ("model_engine", strategy)
    if configured := _configuration_named(keys):
        why = "another file, not read: its values apply where the launch states none"
        builder.unknown(f"--config-name {excerpt(configured[0])}", why, configured[1])
    if megatron := next((key for key in keys.values if key.startswith(f"{_ACTOR}megatron.")), None):
        builder.set("layout.framework", "megatron-core", keys.line(megatron))
        keys.get(*names)
    elif configured and "megatron" in configured[0] and not keys.find(*names):
        builder.set("layout.framework", "megatron-core", configured[1])
    elif str(keys.get(*names)) in {"fsdp", "fsdp2"} or any(
        key.startswith(f"{_ACTOR}fsdp_config.") for key in keys.values
    ):
        line = keys.line(*names) or next((at for key, (_, at) in keys.values.items() if "fsdp_config" in key), 0)
        builder.set("layout.framework", "fsdp", line)
        set_shard_groups(keys, f"{_ACTOR}fsdp_config.fsdp_size", builder, line)
    elif keys.find(strategy):
        builder.unknown(f"strategy: {excerpt(keys.get(strategy))}", "no framework is known for it", keys.line(strategy))
    elif not configured and not keys.is_undecided(strategy) and (program := _main_ppo(keys)):
        if keys.has_elided_options:
            why = "not stated: FSDP of all ranks by default, unless the arguments that are passed on choose another one"
            builder.unknown("layout.sharding", why, program.line)
        else:
            builder.set("layout.framework", "fsdp", program.line)
            set_shard_groups(keys, f"{_ACTOR}fsdp_config.fsdp_size", builder, program.line)
    _set_micro_batch(keys, builder)
    _set_recompute(keys, builder)
    for part in ("param_offload", "optimizer_offload"):
        ends = [key for key in keys.values if key.startswith(_ACTOR) and key.endswith(f".{part}")]
        if ends and keys.is_on(*ends):
            why = "moves them to the host while engines generate, not during a step of training"
            builder.unknown(part, why, keys.line(*ends))


def _set_micro_batch(keys: Keys, builder: ImportBuilder) -> None:
    size = f"{_ACTOR}ppo_micro_batch_size_per_gpu"
    if keys.is_variable(f"{_ACTOR}use_dynamic_bsz"):
        why = "a variable decides whether micro batches are filled up to a number of tokens"
        builder.unknown("layout.micro_batch", why, keys.line(f"{_ACTOR}use_dynamic_bsz"))
    elif keys.is_on(f"{_ACTOR}use_dynamic_bsz"):
        why = "micro batches are filled up to a number of tokens"
        builder.unknown("layout.micro_batch", why, keys.line(f"{_ACTOR}use_dynamic_bsz"))
    elif count := keys.integer(size):
        builder.set("layout.micro_batch", count, keys.line(size))
    elif keys.find(f"{_ACTOR}ppo_micro_batch_size") == f"{_ACTOR}ppo_micro_batch_size":
        _set_shared_micro_batch(keys, builder)


def _configuration_named(keys: Keys) -> tuple[str, int] | None:
    """The configuration that ``--config-name`` of Hydra names, with its line."""
    words = [*keys.command.words]
    for word, after in zip(words, [*words[1:], None], strict=False):
        option, equals, value = word.text.partition("=")
        if option == "--config-name":
            return (value if equals else after.text if after else "").strip("'\""), word.line
    return None


def _set_recompute(keys: Keys, builder: ImportBuilder) -> None:
    """Set the activations that are computed again. With Megatron, the switch alone recomputes nothing: the granularity
    decides, and its default is null.

    Source: volcengine/verl d13434fd, verl/workers/megatron_workers.py, lines 170 to 176; later releases read
    ``override_transformer_config`` alone; read 2026-11-25.
    """
    switch = "actor_rollout_ref.model.enable_gradient_checkpointing"
    granularity = "actor_rollout_ref.model.gradient_checkpointing_kwargs.activations_checkpoint_granularity"
    recomputed, kinds = (
        f"{_ACTOR}megatron.override_transformer_config.recompute_",
        {"full": "full", "selective": "selective"},
    )
    on, megatron = keys.is_on(switch), any(key.startswith(f"{_ACTOR}megatron.") for key in keys.values)
    if on and not megatron:
        builder.set("layout.recompute", "full", keys.line(switch))
    elif on and granularity in keys.values:
        set_choice(keys, "layout.recompute", (granularity,), kinds, builder)
    elif on and not keys.find(f"{recomputed}granularity"):
        why = "with Megatron a granularity decides, which is not stated: state layout.recompute"
        builder.unknown("enable_gradient_checkpointing", why, keys.line(switch))
    if keys.get(f"{recomputed}method") != "block":  # of some layers of a stage
        set_choice(keys, "layout.recompute", (f"{recomputed}granularity",), kinds, builder)


def _set_adapters(keys: Keys, builder: ImportBuilder) -> None:
    """Set low-rank adapters: ``lora_rank`` with FSDP, ``lora.rank`` with Megatron-Bridge; 0 turns them off."""
    names = tuple(f"actor_rollout_ref.model.{name}" for name in ("lora_rank", "lora.rank"))
    if rank := keys.integer(*names):
        modules = keys.get("actor_rollout_ref.model.target_modules", "actor_rollout_ref.model.lora.target_modules")
        words = [] if modules == "all-linear" else re.findall(r"\w+", str(modules or ""))
        set_adapter("lora", rank, words, builder, keys.line(*names))


def _set_minibatches(keys: Keys, builder: ImportBuilder) -> None:
    batch, part = keys.integer("data.train_batch_size"), keys.integer(f"{_ACTOR}ppo_mini_batch_size")
    line = keys.line(f"{_ACTOR}ppo_mini_batch_size")
    if not set_minibatches(batch, part, builder, line) and part:
        why = "the prompts of a step are not a multiple of it" if batch else "the prompts of a step are not stated"
        builder.unknown(f"ppo_mini_batch_size: {part}", why, line)


_OWN_NODES = "rollout.nnodes"
"""Nodes of the engines of ``fully_async_policy`` (verl/experimental/fully_async_policy)."""


def _set_rollout(keys: Keys, builder: ImportBuilder) -> None:
    set_choice(keys, "workload.rl.rollout.framework", (f"{_ROLLOUT}name",), _ENGINES, builder)
    set_memory_fraction(keys, (f"{_ROLLOUT}gpu_memory_utilization",), builder)
    if keys.is_on(eager := f"{_ROLLOUT}enforce_eager"):
        builder.set("workload.rl.rollout.captured_graphs", False, keys.line(eager))
    set_choice(keys, "workload.rl.rollout.parameter_precision", (f"{_ROLLOUT}quantization",), _QUANTIZED, builder)
    hybrid = "actor_rollout_ref.hybrid_engine"
    program = _main_ppo(keys)
    if keys.is_on(hybrid):
        builder.set("workload.rl.placement", "colocated", keys.line(hybrid))
    elif keys.find(hybrid) and boolean_value(keys.get(hybrid)) is False:
        builder.set("workload.rl.placement", "split", keys.line(hybrid))
        builder.set("workload.rl.rollout.nodes", keys.integer(_OWN_NODES), keys.line(_OWN_NODES))
    elif program is not None and not keys.find(hybrid):
        builder.set("workload.rl.placement", "colocated", program.line)
