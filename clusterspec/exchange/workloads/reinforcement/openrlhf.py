"""Launches of OpenRLHF that train on samples they generate (``openrlhf.cli.train_ppo_ray``), supervised training
(``openrlhf.cli.train_sft``), training of reward models (``train_rm``) and on preferences (``train_dpo``), whose samples
are pairs, and training with a second model that gives only logits (``train_dpo``, ``train_kto``, ``train_kd``).

Names and defaults: OpenRLHF, openrlhf/cli/train_ppo_ray.py and openrlhf/utils/deepspeed/deepspeed.py, as in
lilei199908/OpenRLHF 6f1f3bf1 (``advantage_estimator`` is ``gae``, ``init_kl_coef`` 0.01 where absent; 0 leaves out the
reference model) and DavidKoplow/OpenRLHF bdd38211, lines 41, 108 and 401 (``n_samples_per_prompt`` is 1 where absent;
``colocate_actor_ref`` puts the reference model on the accelerators of the actor, ``colocate_critic_reward`` the critic
on those of the model of rewards), and the dotted names of OpenRLHF 3c3be623. ``rollout_batch_size`` counts prompts,
``train_batch_size`` samples of one optimizer step.
"""

from __future__ import annotations

import re
from itertools import islice

from clusterspec.exchange.import_result import (
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    NothingStarted,
    excerpt,
)
from clusterspec.exchange.workloads.keys import Keys, read_arguments, set_choice, set_counts
from clusterspec.exchange.workloads.launchers import set_ranks_of_module
from clusterspec.exchange.workloads.model_files.models import set_model
from clusterspec.exchange.workloads.reinforcement.samples import (
    list_cut_length,
    list_output_lengths,
    set_memory_fraction,
    set_minibatches,
)
from clusterspec.exchange.workloads.trainers.deepspeed import set_adapter
from clusterspec.exchange.workloads.unused_keys import list_unused
from clusterspec.logs.statements.required_words import first_match

OPENRLHF = "openrlhf"
_LAUNCH = re.compile(r"\bopenrlhf\.cli\.train_ppo_ray\b|\btrain_ppo_ray\.py\b")
_SUPERVISED = re.compile(r"\bopenrlhf\.cli\.train_(?:sft|rm|dpo|kto|kd)\b")
_ANY = re.compile(f"{_LAUNCH.pattern}|{_SUPERVISED.pattern}")
_FORK = re.compile(
    r"(?<![\w./])(?:\.{0,2}/){0,4}(?:[A-Za-z_][\w-]{0,40}[./]){1,8}train_(?:sft|rm|dpo|kto|kd)(?:\.py)?(?![\w./])"
)
"""A program of another package with a name of OpenRLHF's: a fork, if it takes an option that only OpenRLHF has."""
_OWN = re.compile(r"--micro_train_batch_size\b")
_PAIRS = re.compile(r"\btrain_(?:rm|dpo)\b")
_SECOND = re.compile(r"\btrain_(?P<program>dpo|kto|kd)\b")
"""Programs with a reference model (``--ref_pretrain``, by default that of ``--pretrain``) or a teacher
(``--teacher_model``): khazic/OpenRLHF_lao, openrlhf/cli/train_dpo.py, lines 41 and 302; yyht/openrlhf_async_pipline
d154c0a0, openrlhf/cli/train_kto.py, line 40, and train_kd.py, line 36."""
_GENERATES = re.compile(r"\bopenrlhf\.cli\.batch_inference\b")
MOST_INFERENCE_RUNS = 8
_COUNTS = {
    "layout.nodes": ("actor_num_nodes",),
    "layout.tp": ("ds_tensor_parallel_size",),
    "layout.cp": ("ring_attn_size",),
    "workload.rl.prompts_per_step": ("rollout_batch_size",),
    "workload.rl.samples_per_prompt": ("n_samples_per_prompt",),
    "workload.rl.epochs": ("max_epochs",),
    "workload.rl.rollout.tp": ("vllm_tensor_parallel_size",),
}
_DOTTED = {
    "actor.model_name_or_path": "pretrain",
    "model.model_name_or_path": "pretrain",
    "model.gradient_checkpointing_enable": "gradient_checkpointing",
    "data.max_len": "max_len",
    "actor.num_nodes": "actor_num_nodes",
    "actor.num_gpus_per_node": "actor_num_gpus_per_node",
    "actor.gradient_checkpointing_enable": "gradient_checkpointing",
    "rollout.batch_size": "rollout_batch_size",
    "rollout.n_samples_per_prompt": "n_samples_per_prompt",
    "rollout.max_new_tokens": "generate_max_len",
    "train.batch_size": "train_batch_size",
    "train.micro_batch_size": "micro_train_batch_size",
    "train.max_epochs": "max_epochs",
    "train.dynamic_batch_enable": "use_dynamic_batch",
    "train.colocate_all": "colocate_all_models",
    "train.async_enable": "async_train",
    "vllm.num_engines": "vllm_num_engines",
    "vllm.tensor_parallel_size": "vllm_tensor_parallel_size",
    "vllm.gpu_memory_utilization": "vllm_gpu_memory_utilization",
    "algo.advantage.estimator": "advantage_estimator",
    "algo.kl.init_coef": "init_kl_coef",
    "ds.zero_stage": "zero_stage",
    "ds.tensor_parallel_size": "ds_tensor_parallel_size",
    "ds.ring_attn_size": "ring_attn_size",
    "ds.adam_offload": "adam_offload",
    "ds.lora.rank": "lora_rank",
    "ds.lora.target_modules": "target_modules",
    "ds.load_in_4bit": "load_in_4bit",
}
_ROLES = ("ref", "critic", "reward")
_JOINED = {"colocate_actor_ref": "ref", "colocate_critic_reward": "critic"}
"""Options that put a role on the accelerators of another role, and that other role."""
_STAGES = {"0": "none", "1": "zero1", "2": "zero2", "3": "fsdp"}
_ESTIMATORS = {"gae": "ppo", "group_norm": "grpo", "rloo": "rloo"}


def matches_openrlhf(file: InputFile) -> bool:
    return bool(_ANY.search(file.text) or _is_fork(file))


def _is_fork(file: InputFile) -> bool:
    """Whether a file starts a training of a fork under another name."""
    text = file.uncommented
    return bool(first_match(_FORK, text) and first_match(_OWN, text) and not _ANY.search(text))


def read_openrlhf(file: InputFile) -> ImportResult:
    """The samples, roles and layout of a launch. Raises `FormatError` if it has none, or is a round of several
    programs, `SeveralParts` for several.
    """
    fork = _is_fork(file)
    keys, builder = read_arguments(file, _FORK if fork else _ANY), ImportBuilder(OPENRLHF, file.name)
    started = keys.command.text if keys.values else file.text
    if fork and (named := _FORK.search(started)):
        why = "not a module of OpenRLHF: read by the options of OpenRLHF, which this program takes"
        builder.unknown(excerpt(named[0]), why, keys.command.line)
    if fork or (_SUPERVISED.search(started) and not _LAUNCH.search(started)):
        if (rounds := _GENERATES.search(file.text)) and _SECOND.search(started):
            why = f"generates the samples of each round by another program ({rounds[0]}): no single workload"
            raise FormatError(why, file.line_at(rounds.start()))
        _list_inference(file, builder)
        return _read_supervised(keys, builder, file)
    _take_dotted_names(keys)
    if keys.find("pretrain", "actor_num_nodes", "actor_num_gpus_per_node", "rollout_batch_size") is None:
        raise NothingStarted("has no launch of openrlhf.cli.train_ppo_ray with its options")
    builder.set("workload.kind", "rl", keys.command.line)
    if isinstance(named := keys.get("pretrain"), str):
        set_model(named, builder, keys.line("pretrain"))
    set_counts(keys, _COUNTS, builder)
    builder.count("ranks_per_node", keys.integer("actor_num_gpus_per_node"), keys.line("actor_num_gpus_per_node"))
    _set_algorithm(keys, builder)
    _set_minibatches(keys, builder)
    _set_engines(keys, builder)
    _set_trainer(keys, builder)
    list_unused(keys, builder)
    return builder.reading()


def _list_inference(file: InputFile, builder: ImportBuilder) -> None:
    """List the runs that write samples or rewards, which a round of rejection sampling has before its training."""
    for found in islice(_GENERATES.finditer(file.text), MOST_INFERENCE_RUNS):
        why = "writes samples or rewards for the training of the same round: its options and time are not in this spec"
        builder.unknown(found[0], why, file.line_at(found.start()))


def _read_supervised(keys: Keys, builder: ImportBuilder, file: InputFile) -> ImportResult:
    """The workload and sharding of supervised training, in which ``train_batch_size`` is the global batch."""
    _take_dotted_names(keys)
    if keys.find("pretrain", "train_batch_size", "zero_stage") is None:
        raise NothingStarted("has no launch of openrlhf.cli.train_sft, train_rm or train_dpo with its options")
    if second := _SECOND.search(keys.command.text):
        kind = "teacher" if second["program"] == "kd" else "reference model"
        why = f"a {kind} runs forward on every sample, which a spec of training does not describe"
        builder.unknown(f"openrlhf.cli.train_{second['program']}", why, keys.command.line)
    else:
        builder.set("workload.kind", "train", keys.command.line)
    if isinstance(named := keys.get("pretrain"), str):
        set_model(named, builder, keys.line("pretrain"))
    counted = {name: _COUNTS[name] for name in ("layout.tp", "layout.cp")}
    if _PAIRS.search(keys.command.text):
        why = "counts pairs of a chosen and a rejected answer, each a sequence of its own"
        for name in ("train_batch_size", "micro_train_batch_size"):
            if size := keys.integer(name):
                builder.unknown(f"{name}: {size}", why, keys.line(name))
                del keys.values[name]
    else:
        counted = counted | {"workload.global_batch": ("train_batch_size",)}
    set_counts(keys, counted, builder)
    keys.used |= set_ranks_of_module(file, builder)
    if length := keys.integer("max_len"):
        list_cut_length("max_len", length, builder, keys.line("max_len"))
    _set_trainer(keys, builder)
    list_unused(keys, builder)
    return builder.reading()


def _take_dotted_names(keys: Keys) -> None:
    """Rename dotted options to their earlier names; ``param_dtype bf16`` was ``bf16``."""
    for dotted, name in _DOTTED.items():
        if dotted in keys.values:
            keys.values[name] = keys.values.pop(dotted)
            if dotted in keys.listed:
                keys.listed[name] = keys.listed.pop(dotted)
    for name in ("ds.param_dtype", "param_dtype"):
        if keys.values.get(name, ("",))[0] == "bf16":
            keys.put("bf16", True, keys.values.pop(name)[1])


def _set_algorithm(keys: Keys, builder: ImportBuilder) -> None:
    name, divergence = "advantage_estimator", "init_kl_coef"
    if re.fullmatch(r"0*\.?0*", str(keys.get(divergence) or "0.01")):
        why = "no reference model takes part, as in dapo: state the algorithm"
        builder.unknown(f"{divergence}: 0", why, keys.line(divergence))
    elif keys.find(name) or keys.is_undecided(name) or keys.has_elided_options:
        set_choice(keys, "workload.rl.algorithm", (name,), _ESTIMATORS, builder)
    else:
        builder.set("workload.rl.algorithm", "ppo", keys.command.line)


def _set_minibatches(keys: Keys, builder: ImportBuilder) -> None:
    """Set the optimizer steps per generation step: samples generated divided by samples per optimizer step."""
    name = "n_samples_per_prompt"
    prompts, samples, batch = (keys.integer(each) for each in ("rollout_batch_size", name, "train_batch_size"))
    if prompts and not (keys.find(name) or keys.is_undecided(name) or keys.has_elided_options):
        samples = 1
        builder.set("workload.rl.samples_per_prompt", samples, keys.command.line)
    line = keys.line("train_batch_size")
    if filtered := keys.find("dynamic_filtering", "algo.dynamic_filtering_enable"):
        why = "more samples are generated than trained: prompts whose rewards are all alike are left out"
        builder.unknown(filtered, why, keys.line(filtered))
        keys.used.add(filtered)
    if not set_minibatches((prompts or 0) * (samples or 0), batch, builder, line) and batch:
        why = "the samples of a step are not stated, or not a multiple of it"
        builder.unknown(f"train_batch_size: {batch}", why, line)


def _set_engines(keys: Keys, builder: ImportBuilder) -> None:
    """Set the engines and their placement; record the known lengths."""
    if keys.integer("vllm_num_engines"):
        builder.set("workload.rl.rollout.framework", "vllm", keys.line("vllm_num_engines"))
    set_memory_fraction(keys, ("vllm_gpu_memory_utilization",), builder)
    if keys.is_on("async_train"):
        why = "engines generate while the trainer works on earlier samples: state workload.rl.max_staleness"
        builder.unknown("async_train", why, keys.line("async_train"))
    elif keys.is_on("colocate_all_models"):
        builder.set("workload.rl.placement", "colocated", keys.line("colocate_all_models"))
    elif keys.integer("vllm_num_engines"):
        joined = {role for option, role in _JOINED.items() if keys.is_on(option)}
        counted = [name for name in _ROLES if keys.integer(f"{name}_num_nodes", f"{name}_num_gpus_per_node")]
        roles = [name for name in counted if name not in joined]
        why = "each on accelerators of its own: state workload.rl.placement and their nodes"
        shown = ", ".join(f"{name} ({_accelerators_text(keys, name)})" for name in roles)
        line = keys.line("vllm_num_engines")
        builder.unknown(f"the engines{', ' if shown else ''}{shown}", why, line)
    if keys.find("remote_rm_url"):
        why = "a program of its own gives the rewards: state workload.rl.reward if it is a model"
        builder.unknown("remote_rm_url", why, keys.line("remote_rm_url"))
        keys.get("remote_rm_url")
    for name in ("prompt_max_len", "generate_max_len"):
        builder.count(name, keys.integer(name), keys.line(name))
    if keys.find("generate_max_len"):
        list_output_lengths(builder, keys.line("generate_max_len"))


def _accelerators_text(keys: Keys, role: str) -> str:
    """The nodes of a role and the accelerators of each."""
    nodes, ranks = (keys.integer(f"{role}_{name}") or "?" for name in ("num_nodes", "num_gpus_per_node"))
    return f"{nodes} × {ranks}"


def _set_trainer(keys: Keys, builder: ImportBuilder) -> None:
    """Set the sharding, precision and memory of the ranks that train."""
    set_choice(keys, "layout.sharding", ("zero_stage",), _STAGES, builder)
    builder.set("layout.framework", "deepspeed", keys.line("zero_stage") or keys.command.line)
    if keys.is_on("use_dynamic_batch"):
        why = "micro batches are filled up to a number of tokens"
        builder.unknown("layout.micro_batch", why, keys.line("use_dynamic_batch"))
    else:
        set_counts(keys, {"layout.micro_batch": ("micro_train_batch_size",)}, builder)
    for option, path, value in (
        ("bf16", "workload.precision", "bf16"),
        ("gradient_checkpointing", "layout.recompute", "full"),
        ("adam_offload", "layout.offload.optimizer", 1),
        ("flash_attn", "workload.attention", "flash"),
    ):
        if keys.is_on(option):
            builder.set(path, value, keys.line(option))
    if rank := keys.integer("lora_rank"):
        words = [word for word in keys.words("target_modules") if word != "all-linear"]
        set_adapter("qlora" if keys.is_on("load_in_4bit") else "lora", rank, words, builder, keys.line("lora_rank"))
