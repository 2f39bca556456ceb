"""Launches and configurations of the Hugging Face Trainer, of TRL, ms-swift, and scripts with its options.

Names: ``TrainingArguments`` (huggingface/transformers, src/transformers/training_args.py), ``SFTConfig`` and
``ModelConfig`` (huggingface/trl f2cd5771, trl/trainer; adapters where ``use_peft`` is on), ms-swift (its page
Command-line-parameters; adapters of rank 8 on all linear layers where ``tuner_type`` is absent), and ``zero_stage``,
``offload`` (of parameters and states of the optimizer) and ``lora_dim`` of scripts in the form of DeepSpeed-Chat
(deepspeedai/DeepSpeedExamples, applications/DeepSpeed-Chat/dschat/utils/ds_utils.py).
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import (
    LIST,
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    NothingStarted,
    excerpt,
)
from clusterspec.exchange.workloads.jobs.slurm_jobs import set_job_nodes
from clusterspec.exchange.workloads.keys import (
    OPEN_VALUE,
    Keys,
    set_choice,
    set_counts,
    set_switch,
)
from clusterspec.exchange.workloads.launcher_options import take_swift_environment
from clusterspec.exchange.workloads.model_files.models import set_trained_model
from clusterspec.exchange.workloads.overrides import launch_or_file_keys
from clusterspec.exchange.workloads.reinforcement.samples import list_cut_length
from clusterspec.exchange.workloads.reinforcement.trl_samples import set_samples, set_server_degree
from clusterspec.exchange.workloads.trainers.accelerate import STAGES, set_launcher
from clusterspec.exchange.workloads.trainers.deepspeed import (
    OPTIMIZERS,
    list_offloaded_parameters,
    set_adapter,
    set_trainer_accumulation,
)
from clusterspec.exchange.workloads.trainers.llama_factory import UNRELATED, is_run, set_run
from clusterspec.exchange.workloads.trainers.trainer_fsdp import set_fsdp_of_trainer, set_recomputation
from clusterspec.exchange.workloads.unused_keys import list_unused

TRAINER = "trainer"
_OPTION = re.compile(r"--(?:[a-z]{1,20}\.)?per[_-]device[_-]train[_-]batch[_-]size\b")
_FILE = re.compile(r"^per_device_train_batch_size[ \t]*:", re.MULTILINE)
_JSON = re.compile(r"\s*\{[^{}]*\"per_device_train_batch_size\"[ \t]*:")
"""The key in the outermost mapping of a file, as ``HfArgumentParser`` reads it; a deeper key belongs to another
program.
"""
_LAYOUT = {
    "layout.nodes": ("nnodes", "num_machines", "num_nodes", "nodes"),
    "layout.cp": ("sequence_parallel_size", "context_parallel_size", "seq_parallel_size"),
}
_SPLIT = re.compile(r"micro_(?:train_)?batch|ubatch")
"""Options of other programs that state the samples of one pass."""
_MODEL = ("model_name_or_path", "model_id_or_path", "model", "model_id", "model_name", "base_model", "base_model_name")
_LENGTHS = ("max_seq_length", "max_length", "model_max_length", "max_seq_len", "sequence_len")
_PACKED = ("packing", "sample_packing", "use_packed_ds")
_QUANTIZED = ("qlora", "use_qlora", "q_lora")
_SWITCHES = ("use_peft", "use_peft_lora", "use_lora", "lora_enable", "lora", *_QUANTIZED)
_FOUR_BITS = ("load_in_4bit", "use_4bit_quantization", "use_4bit")
_RANKS = ("lora_r", "lora_rank", "lora_dim")
_BITS = ("quant_bits", "bits", "load_in_bits", "load_in_kbits")
_OTHER_ADAPTERS = ("use_adalora", "use_dora")
_MODULES = ("lora_target_modules", "target_modules", "lora_module_name")
_OF_ADAPTERS = re.compile(r"(?:^|_)(?:q?lora|peft)(?=[_.])", re.IGNORECASE)
"""Names of programs that train adapters (``finetune_lora.py``, ``run_clm_sft_with_peft.py``)."""
_METHODS = ("tuner_type", "train_type", "sft_type", "train_mode")
DEFAULT_RANK = 8
"""Rank of adapters of ms-swift where ``lora_rank`` is absent."""
_SWIFT = re.compile(r"(?:^|/)swift$|(?:^|/)swift/\S{0,80}\bsft\.py$")
"""The program of ms-swift, or its script; another script may have the same name."""
_OTHER_LOSS = re.compile(r"(?:dpo|grpo|ppo|rlhf|kto|orpo|rloo|gkd|reward\w{0,20})", re.IGNORECASE)
_OTHER_KEYS = (
    *("ref_model_name_or_path", "actor_model_name_or_path", "critic_model_name_or_path"),
    *("num_generations", "reward_funcs", "num_ppo_epochs", "sft_model_path", "reward_model_path"),
    *("train_group_size", "query_max_len", "passage_max_len"),
)
"""The second and third are of the last step of DeepSpeed-Chat (dschat, step3_rlhf_finetuning/main.py), the last three
of embedders and rankers, whose samples are a query with its passages (FlagOpen/FlagEmbedding,
FlagEmbedding/abc/finetune/embedder/AbsArguments.py; Tevatron has the same names).
"""
_GROUPS = frozenset({"grpo", "rlhf", "num_generations", "reward_funcs"})
"""Words for the training on groups of samples; ``swift rlhf`` names its loss in ``rlhf_type``."""
_PRESET = re.compile(r"zero([0-3])(_offload)?")
"""Configurations of DeepSpeed that ms-swift has by name."""
_PROJECTORS = ("tune_mm_mlp_adapter", "tune_mm_projector_only")
"""Switches of LLaVA (llava/train/train.py) with which only the projector of images is trained."""
_ATTENTION = ("attn_impl", "attn_implementation")
_KERNELS = {
    **dict.fromkeys(("flash_attention_2", "flash_attn", "flash_attention"), "flash-2"),
    "flash_attention_3": "flash",
    "eager": "plain",
}
"""Attention of Transformers and ms-swift; which kernel ``sdpa`` takes, PyTorch decides."""
_DTYPES = {"bfloat16": "bf16", "bf16": "bf16", "float16": "fp16", "fp16": "fp16"}


_ENCODERS = re.compile(
    r"(?:^|/)run_(?:flax_|seq2seq_)?(?:qa|squad|glue|xnli|ner|mlm|plm|swag|translation|summarization|speech|audio|image|wav2vec2"
    r"|clip|mae|t5)(?:_\w{1,60})?\.py$"
)
"""Programs of the examples of Transformers for other models (huggingface/transformers, examples/pytorch and flax)."""


def matches_trainer(file: InputFile) -> bool:
    return bool(_OPTION.search(file.text) or _FILE.search(file.text) or _JSON.match(file.text))


def read_trainer(file: InputFile) -> ImportResult:
    """The workload and layout of supervised training, or of GRPO.

    Raises `FormatError` if it trains on other pairs or rewards, `SeveralParts` for several launches.
    """
    return read_training(file, launch_or_file_keys(file, _OPTION), ImportBuilder(TRAINER, file.name))


def read_training(file: InputFile, keys: Keys, builder: ImportBuilder) -> ImportResult:
    """The workload and layout of a run whose options have the names of the Trainer. Raises as `read_trainer` does."""
    name = "per_device_train_batch_size"
    if not keys.find(name) and not keys.is_undecided(name):
        raise NothingStarted("has no command with options of the Hugging Face Trainer (--per_device_train_batch_size)")
    if is_run(keys):
        set_counts(keys, _LAYOUT, builder)
        set_job_nodes(file, keys, builder)
        _set_ranks(keys, builder)
        set_run(keys, builder)
        return builder.reading()
    generates = _generates(keys)
    if _is_swift(keys):
        take_swift_environment(keys.values, keys.command, file.text)
    line = keys.line(name) or keys.command.line
    if generates:
        set_samples(keys, builder, line)
        set_server_degree(file, keys, builder)
    elif program := next((word for word in keys.command.words if _ENCODERS.search(word.text)), None):
        why = "trains an encoder, alone or with a decoder: a spec describes only text decoders"
        builder.unknown(program.text.rpartition("/")[2], why, program.line)
    elif other := _evaluation_alone(keys):
        why = "without do_train the Trainer's own programs only evaluate: whether this one trains, it decides itself"
        builder.unknown(other, why, keys.line(other))
    else:
        builder.set("workload.kind", "train", line)
    if isinstance(named := keys.get(*_MODEL), str):
        set_trained_model(named, builder, keys.line(*_MODEL))
    _set_job(file, keys, builder)
    if generates:
        steps = keys.integer("gradient_accumulation_steps")
        builder.count("gradient_accumulation_steps", steps, keys.line("gradient_accumulation_steps"))
    else:
        set_trainer_accumulation(keys, builder)
    if other := keys.get("config_file", "config"):
        builder.unknown(f"{excerpt(other)}", "a separate file: import it as well", keys.line("config_file", "config"))
    _refuse_other_program(keys, builder)
    keys.used |= {name for name in keys.values if UNRELATED.match(name)}
    list_unused(keys, builder)
    return builder.reading()


def _set_job(file: InputFile, keys: Keys, builder: ImportBuilder) -> None:
    """The nodes and the layout of a training run, its lengths, precisions and optimizer."""
    _set_micro_batch(keys, builder)
    set_counts(keys, _LAYOUT, builder)
    set_job_nodes(file, keys, builder)
    _set_ranks(keys, builder)
    _set_length(keys, builder)
    _set_precision(keys, builder)
    _set_sharding(keys, builder)
    _set_adapters(keys, builder)
    _set_kernels(keys, builder)
    _list_parts(keys, builder)
    set_choice(keys, "workload.optimizer", ("optim", "optimizer"), OPTIMIZERS, builder)
    if str(keys.get("optim", "optimizer")).strip().lower() == "adamw_torch":  # torch.optim.AdamW without fused=True
        builder.set("layout.fused_optimizer", False, keys.line("optim", "optimizer"))


def _evaluation_alone(keys: Keys) -> str | None:
    """The switch by which a launch evaluates where none says that it trains; None for others.

    Source: huggingface/transformers, src/transformers/training_args.py (``do_train`` is off where it is absent).
    """
    if keys.find("do_train") or not keys.command.words:
        return None
    return next((name for name in ("do_eval", "do_predict") if keys.is_on(name)), None)


def _generates(keys: Keys) -> bool:
    """Whether a run generates samples in groups (GRPO). Raises `FormatError` for losses other than that of a language
    model.
    """
    words = [word for word in keys.command.words if not word.text.startswith("-")][:12]
    programs = [word for word in words if word.text.endswith(".py") or word.text.isalpha()]
    parts = [(part, word.line) for word in programs for part in re.split(r"[/_.]", word.text)]
    found = [(part.lower(), part, line) for part, line in parts if _OTHER_LOSS.fullmatch(part)]
    named = keys.find("rlhf_type") or ("task_type" if _OTHER_LOSS.fullmatch(str(keys.get("task_type"))) else None)
    if key := named or keys.find(*_OTHER_KEYS):
        found.append((str(keys.get(key)).lower() if named else key, key, keys.line(key)))
    other = next((each for each in found if each[0] not in _GROUPS), None)
    if not found and "beta" in keys.values:  # DPOConfig and others of TRL; TrainingArguments have no such option
        other = "beta", "beta", keys.line("beta")
    if other is not None:
        raise FormatError(f"trains with a reference, rewards or pairs ({other[1]}): supervised and GRPO only", other[2])
    return bool(found)


def _set_micro_batch(keys: Keys, builder: ImportBuilder) -> None:
    """Set the micro batch, unless an option that the Trainer does not have splits it further."""
    name = "per_device_train_batch_size"
    size, line = keys.integer(name), keys.line(name)
    other = _splitting_option(keys)
    if other is None:
        builder.set("layout.micro_batch", size, line)
        return
    builder.unknown(f"{name}: {size}", f"{other} states another size: no option of the Trainer of Hugging Face", line)


def _splitting_option(keys: Keys) -> str | None:
    """An option that the Trainer does not have and that states the samples of one pass; None if there is none."""
    return next((each for each in keys.values if _SPLIT.search(each)), None)


def _refuse_other_program(keys: Keys, builder: ImportBuilder) -> None:
    """Raise `FormatError` if a program has an option that splits the batch and shares no other with the Trainer."""
    other = _splitting_option(keys)
    if other is not None and all(each.path == ("workload", "kind") for each in builder.given):
        raise FormatError(
            f"{other} is no option of the Trainer of Hugging Face, and no other is read", keys.line(other)
        )


def _is_swift(keys: Keys) -> bool:
    """Whether ms-swift is launched, which trains adapters unless it is told otherwise."""
    words = keys.command.words
    return any(_SWIFT.search(word.text) for word in words) or (not words and keys.find("tuner_type") == "tuner_type")


def _set_ranks(keys: Keys, builder: ImportBuilder) -> None:
    for name, options in (
        ("ranks_per_node", ("nproc_per_node", "num_gpus", "ntasks_per_node")),
        ("ranks", ("num_processes",)),
    ):
        builder.count(name, keys.integer(*options), keys.line(*options))


def _list_parts(keys: Keys, builder: ImportBuilder) -> None:
    """List encoders of images, and switches with which only a part of the model is trained."""
    if tower := keys.find("vision_tower", "mm_projector_type", "mm_projector"):
        why = "images pass an encoder and a projector before the model, which a spec does not describe"
        builder.unknown(tower, why, keys.line(tower))
    if keys.integer("pre_seq_len"):  # of THUDM/ChatGLM2-6B, ptuning/main.py
        why = "trains only a prefix of each layer: workload.trainable has no such value"
        builder.unknown("pre_seq_len", why, keys.line("pre_seq_len"))
        keys.used.add("pre_seq_len")
    tuned = keys.words("mm_tunable_parts")
    parts = {part for word in tuned for part in word.split(",") if part}
    if parts and parts != {"mm_language_model"}:
        why = "trains only these parts: workload.trainable has no such value"
        builder.unknown(f"mm_tunable_parts: {excerpt(' '.join(tuned), LIST)}", why, keys.line("mm_tunable_parts"))
    for name in _PROJECTORS:
        if keys.is_on(name):
            builder.unknown(name, "trains only the projector: workload.trainable has no such value", keys.line(name))
    for name in keys.values:
        if name.startswith("freeze_") and keys.is_on(name):
            builder.unknown(name, "trains a part of the model: state workload.trainable", keys.line(name))


def _set_kernels(keys: Keys, builder: ImportBuilder) -> None:
    """Set the recomputation and the fused kernels."""
    set_recomputation(keys, builder, swift=_is_swift(keys))
    set_switch(keys, "layout.fused_kernels", ("torch_compile",), builder)
    if str(keys.get(*_ATTENTION)).lower() in _KERNELS:
        builder.set("workload.attention", _KERNELS[str(keys.get(*_ATTENTION)).lower()], keys.line(*_ATTENTION))
    elif keys.is_on("use_flash_attention_2"):
        builder.set("workload.attention", "flash-2", keys.line("use_flash_attention_2"))
    if keys.is_on("use_liger_kernel"):
        builder.set("layout.fused_kernels", True, keys.line("use_liger_kernel"))
        builder.set("layout.loss", "chunked", keys.line("use_liger_kernel"))


def _set_length(keys: Keys, builder: ImportBuilder) -> None:
    """Set the length of sequences that are filled: packed, or cut from one text (``block_size`` of ``run_clm.py``)."""
    if block := keys.integer("block_size"):
        builder.set("workload.sequence_length", block, keys.line("block_size"))
        return
    length, line = keys.integer(*_LENGTHS), keys.line(*_LENGTHS)
    if length and any(keys.is_on(name) for name in _PACKED):
        builder.set("workload.sequence_length", length, line)
    elif length:
        list_cut_length("max_length", length, builder, line)


def _set_precision(keys: Keys, builder: ImportBuilder) -> None:
    for name in ("bf16", "fp16"):
        if keys.is_on(name):
            builder.set("workload.precision", name, keys.line(name))
            return
        if keys.is_variable(name):
            builder.unknown(f"{name}: {excerpt(keys.get(name))}", OPEN_VALUE, keys.line(name))
            return
    names = ("mixed_precision", "precision", *(("torch_dtype",) if _is_swift(keys) else ()))
    if str(keys.get(*names) or "no").lower() != "no":
        set_choice(keys, "workload.precision", names, _DTYPES, builder)


def _set_sharding(keys: Keys, builder: ImportBuilder) -> None:
    if {"use_deepspeed", "use_fsdp"} & keys.values.keys() and not {"deepspeed", "fsdp"} & keys.values.keys():
        set_launcher(keys, builder)
        return
    config, line = keys.get("deepspeed", "deepspeed_config", "deepspeed_config_file"), keys.line("deepspeed")
    if config is not None and config is not False:
        builder.set("layout.framework", "deepspeed", line)
    if keys.find("zero_stage"):
        builder.set("layout.framework", "deepspeed", keys.line("zero_stage"))
        set_choice(keys, "layout.sharding", ("zero_stage",), STAGES, builder)
        if keys.is_on("offload"):
            builder.set("layout.offload.optimizer", 1, keys.line("offload"))
            list_offloaded_parameters(builder, keys.line("offload"))
    elif preset := _PRESET.fullmatch(str(config)):
        builder.set("layout.sharding", STAGES[preset[1]], line)
        builder.set("layout.offload.optimizer", 1 if preset[2] else None, line)
    elif isinstance(config, str):
        builder.unknown(f"deepspeed: {excerpt(config)}", "a separate file: import it as well", line)
    elif keys.words("fsdp"):
        set_fsdp_of_trainer(keys, builder, swift=_is_swift(keys))


def _trains_adapters(keys: Keys) -> bool:
    """Whether a launch runs a program whose name says that it trains adapters."""
    programs = (word.text.rpartition("/")[2] for word in keys.command.words if word.text.endswith(".py"))
    return any(_OF_ADAPTERS.search(name) for name in programs)


def _set_adapters(keys: Keys, builder: ImportBuilder) -> None:
    """Set low-rank adapters where a switch or ms-swift turns them on."""
    keys.used |= {name for name in ("lora_alpha", "lora_dropout") if name in keys.values}
    swift = _is_swift(keys)
    method = str(keys.get(*_METHODS) or ("lora" if swift else "full"))
    switched = any(keys.is_on(name) for name in _SWITCHES) or keys.integer("lora_dim")  # DeepSpeed-Chat: 0 is off
    rank, modules = keys.integer(*_RANKS), [name for word in keys.words(*_MODULES) for name in word.split(",") if name]
    switched = switched or (rank is not None and method == "full" and _trains_adapters(keys))
    on = method if method != "full" else "lora" if switched else ""
    line = keys.line(*_METHODS, *_SWITCHES, *_RANKS) or keys.line("per_device_train_batch_size")
    if not on:
        if rank:
            builder.unknown(f"adapters of rank {rank}", "no option turns them on", keys.line(*_RANKS))
        return
    if other := next((name for name in _OTHER_ADAPTERS if keys.is_on(name)), None):
        builder.unknown(other, "an adapter that a spec cannot say", keys.line(other))
        return
    if kept := keys.words("modules_to_save"):
        why = "trained in full in addition to the adapters: no value of workload.trainable"
        builder.unknown(f"modules_to_save: {excerpt(' '.join(kept))}", why, keys.line("modules_to_save"))
    four = keys.integer(*_BITS) == 4 or any(keys.is_on(name) for name in (*_FOUR_BITS, *_QUANTIZED))
    keys.used |= {name for name in (*_FOUR_BITS, *_QUANTIZED) if name in keys.values}
    stated = modules or swift
    names = [] if modules in ([], ["all-linear"]) else modules
    rank = rank or (DEFAULT_RANK if swift else None)
    if stated:
        set_adapter("qlora" if four and on == "lora" else on, rank, names, builder, line)
        return
    builder.set("workload.trainable.method", "qlora" if four else "lora", line)
    builder.set("workload.trainable.rank", rank, line)
    builder.unknown("the modules of the adapters", "not stated: PEFT has a default for each model", line)
