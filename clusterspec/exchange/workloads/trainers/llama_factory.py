"""Configurations of LLaMA-Factory (YAML).

Names and defaults: hiyouga/LLaMA-Factory ff6d4d12, src/llamafactory/hparams (``finetuning_type`` is ``lora`` and
``lora_rank`` 8 where absent; ``cutoff_len`` cuts sequences, and only packing fills them), and
src/llamafactory/model/model_utils/checkpointing.py line 184 (activations are recomputed unless
``disable_gradient_checkpointing``); with degrees of Megatron, mcore_adapter trains, whose names are Megatron's. Other
keys are ``TrainingArguments`` of Hugging Face.
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, excerpt
from clusterspec.exchange.workloads.keys import Keys, set_choice, set_counts, set_switch
from clusterspec.exchange.workloads.model_files.models import set_model_of_key
from clusterspec.exchange.workloads.overrides import file_keys, overrides_of_launch
from clusterspec.exchange.workloads.reinforcement.samples import list_cut_length
from clusterspec.exchange.workloads.trainers.deepspeed import (
    OPTIMIZERS,
    set_adapter,
    set_fsdp_offload,
    set_fsdp_words,
    set_trainer_accumulation,
)
from clusterspec.exchange.workloads.trainers.llama_factory_v1 import is_second_trainer, read_second_trainer
from clusterspec.exchange.workloads.unused_keys import list_unused

LLAMA_FACTORY = "llama-factory"
_MARKS = (
    re.compile(r"^model_name_or_path[ \t]*:", re.MULTILINE),
    re.compile(r"^(?:stage|finetuning_type|cutoff_len)[ \t]*:", re.MULTILINE),
)
_LAYOUT = {
    "layout.micro_batch": ("per_device_train_batch_size",),
    "layout.tp": ("tensor_model_parallel_size",),
    "layout.pp": ("pipeline_model_parallel_size",),
    "layout.ep": ("expert_model_parallel_size",),
    "layout.cp": ("context_parallel_size",),
    "layout.virtual_stages": ("virtual_pipeline_model_parallel_size",),
}
_STAGES = ("pt", "sft")
DEFAULT_RANK = 8
"""Rank of adapters where ``lora_rank`` is absent."""
_PARTIAL = ("use_galore", "use_apollo", "use_badam", "use_llama_pro", "use_pissa", "use_dora", "freeze_vision_tower")
"""Switches that train, freeze or decompose parts of the model."""
_PROGRAM = re.compile(r"(?:^|/)(?:llamafactory-cli|train_bash\.py)$|LLaMA-Factory/src/train\.py$")
"""The commands of LLaMA-Factory."""
UNRELATED = re.compile(
    r"(?:do_|eval_|save_|logging_|report_to|run_name|output_dir|overwrite_|plot_loss|dataset|template|max_samples|val_size"
    r"|preprocessing_|dataloader_|learning_rate|lr_scheduler|warmup_|num_train_epochs|ddp_timeout|resume_|trust_remote"
    r"|per_device_eval|use_fast_tokenizer|media_dir)"
)
"""Keys of data, evaluation and learning rate, which do not describe a layout."""


_OVERRIDDEN = re.compile(
    r"(?:\bllamafactory-cli[ ]{1,9}train|(?<![\w-])src/train\.py)[ ]{1,9}[\"']?(\S{1,200}\.(?:ya?ml|json))(?=[\"'\s]|$)"
)
"""A launch of a configuration; words of the form ``key=value`` after it override keys (parser.py line 118)."""
_BY_PATH = re.compile(r"(?<![\w-])src/train\.py[ ]{1,9}[\"']?\$\{?\w{1,60}\}?[\"']?(?=\s)")
"""A launch of a configuration that a variable names."""
_ASIDE = re.compile(r"output_dir|run_name|dataset|seed|learning_rate")
"""Overrides in which runs of one layout differ."""


def matches_llama_factory(file: InputFile) -> bool:
    return all(mark.search(file.text) for mark in _MARKS) or _is_overridden(file) or is_second_trainer(file)


def _is_overridden(file: InputFile) -> bool:
    stated = "per_device_train_batch_size=" in file.text
    return stated and bool(_OVERRIDDEN.search(file.text) or _BY_PATH.search(file.text))


def read_llama_factory(file: InputFile) -> ImportResult:
    """The workload and layout of a run.

    Raises `FormatError` if the file has no training stage, a stage with several models, or changes to parts of the
    model that a spec cannot express.
    """
    if _is_overridden(file):
        return _read_overrides(file)
    if is_second_trainer(file):
        return read_second_trainer(file, LLAMA_FACTORY)
    builder, keys = ImportBuilder(LLAMA_FACTORY, file.name), file_keys(file, with_null=True)
    set_run(keys, builder)
    return builder.reading()


def _read_overrides(file: InputFile) -> ImportResult:
    """What a launch of a configuration states itself. Raises `SeveralParts` if several launches differ."""
    builder, keys = ImportBuilder(LLAMA_FACTORY, file.name), overrides_of_launch(file, _OVERRIDDEN, _ASIDE.fullmatch)
    builder.set("workload.kind", "train", keys.command.line)
    set_model_of_key(keys, "model_name_or_path", builder)
    set_counts(keys, _LAYOUT, builder)
    _set_precision(keys, builder)
    set_choice(keys, "workload.optimizer", ("optim",), OPTIMIZERS, builder)
    set_trainer_accumulation(keys, builder)
    if started := _OVERRIDDEN.search(keys.command.text):
        builder.unknown(started[1][-60:], "a separate file: import it as well", keys.command.line)
    keys.used |= {name for name in keys.values if UNRELATED.match(name)}
    list_unused(keys, builder)
    return builder.reading()


def is_run(keys: Keys) -> bool:
    """Whether the options of a launch belong to LLaMA-Factory."""
    return keys.find("finetuning_type") is not None or any(_PROGRAM.search(word.text) for word in keys.command.words)


def set_run(keys: Keys, builder: ImportBuilder) -> None:
    """Set the workload and layout of a run from its keys. Raises `FormatError` as `read_llama_factory` does."""
    stage = str(keys.get("stage") or "")
    if stage not in _STAGES:
        fault = f"stage {excerpt(stage)} has several models or losses" if stage else "has no stage: it does not train"
        raise FormatError(f"{fault}; supported are pt and sft", keys.line("stage"))
    _refuse_without_training(keys)
    method = str(keys.get("finetuning_type") or "lora")
    why = "changes parts of the model that a spec cannot describe"
    if method not in {"full", "lora"}:
        raise FormatError(f"{why} (finetuning_type: {excerpt(method)})", keys.line("finetuning_type"))
    if partial := next((name for name in _PARTIAL if keys.is_on(name)), None):
        raise FormatError(f"{why} ({partial})", keys.line(partial))
    builder.set("workload.kind", "train", keys.line("stage"))
    set_model_of_key(keys, "model_name_or_path", builder)
    set_counts(keys, _LAYOUT, builder)
    if method == "lora":
        _set_lora(keys, builder)
    _set_length(keys, stage, builder)
    _set_precision(keys, builder)
    _set_framework(keys, builder)
    _set_kernels(keys, builder)
    set_choice(keys, "workload.optimizer", ("optim",), OPTIMIZERS, builder)
    set_trainer_accumulation(keys, builder)
    keys.used |= {name for name in keys.values if UNRELATED.match(name)}
    list_unused(keys, builder)


def _refuse_without_training(keys: Keys) -> None:
    """Raise `FormatError` for a run that only evaluates or generates: ``do_train`` is off where it is absent."""
    if keys.is_on("do_train"):
        return
    if keys.find("do_train"):
        raise FormatError("does not train: do_train is false", keys.line("do_train"))
    if other := next((name for name in ("do_predict", "do_eval") if keys.is_on(name)), None):
        raise FormatError(f"does not train: it states {other} and no do_train", keys.line(other))


def _set_kernels(keys: Keys, builder: ImportBuilder) -> None:
    """Set the kind of the attention kernel, and the kernels of Liger with its loss in parts."""
    if str(keys.get("flash_attn") or "auto") != "auto":
        kinds = {"fa2": "flash-2", "fa3": "flash", "disabled": "plain"}
        set_choice(keys, "workload.attention", ("flash_attn",), kinds, builder)
    if keys.is_on("enable_liger_kernel"):
        builder.set("layout.fused_kernels", True, keys.line("enable_liger_kernel"))
        builder.set("layout.loss", "chunked", keys.line("enable_liger_kernel"))


def _set_lora(keys: Keys, builder: ImportBuilder) -> None:
    line = keys.line("finetuning_type", "stage")
    keys.used |= {name for name in ("lora_alpha", "lora_dropout") if name in keys.values}
    width, bits = keys.get("quantization_bit"), keys.integer("quantization_bit")
    names = [name for word in keys.words("lora_target") for name in word.split(",") if name]
    rank: int | None = DEFAULT_RANK
    if keys.find("lora_rank"):
        rank = keys.integer("lora_rank")
        if rank is None:
            builder.unknown(f"lora_rank: {excerpt(keys.get('lora_rank'))}", "not a count", keys.line("lora_rank"))
    set_adapter("qlora" if bits == 4 else "lora", rank, [] if names == ["all"] else names, builder, line)
    if width is not None and bits != 4:
        why = "frozen weights of another width than 4 bits, which a spec cannot say"
        builder.unknown(f"quantization_bit: {excerpt(width)}", why, keys.line("quantization_bit"))


def _set_length(keys: Keys, stage: str, builder: ImportBuilder) -> None:
    """Set the sequence length where packing fills sequences, which is the default of pretraining only."""
    length, line = keys.integer("cutoff_len"), keys.line("cutoff_len")
    stated = keys.find("packing", "neat_packing") is not None
    packed = keys.is_on("packing") or keys.is_on("neat_packing") or (stage == "pt" and not stated)
    if length and packed:
        builder.set("workload.sequence_length", length, line)
    elif length:
        list_cut_length("cutoff_len", length, builder, line)


def _set_precision(keys: Keys, builder: ImportBuilder) -> None:
    for name in ("fp8", "bf16", "fp16"):
        if keys.is_on(name):
            builder.set("workload.precision", name, keys.line(name))
            break
    else:
        builder.set("workload.precision", "bf16" if keys.is_on("pure_bf16") else None, keys.line("pure_bf16"))
    keys.used |= {"bf16"} & keys.values.keys()
    keys.used.discard("pure_bf16")  # of weights and states as well: listed


def _set_framework(keys: Keys, builder: ImportBuilder) -> None:
    line = keys.line("stage")
    if any(keys.find(*names) for path, names in _LAYOUT.items() if path != "layout.micro_batch"):
        line = keys.line("tensor_model_parallel_size", "pipeline_model_parallel_size")
        builder.set("layout.framework", "megatron-core", line)
        if keys.is_on("use_distributed_optimizer"):
            builder.set("layout.sharding", "zero1", keys.line("use_distributed_optimizer"))
        words = {"full": "full", "selective": "selective"}
        set_choice(keys, "layout.recompute", ("recompute_granularity",), words, builder)
        words = {"alltoall": "all-to-all", "allgather": "all-gather"}
        set_choice(keys, "layout.dispatcher", ("moe_token_dispatcher_type",), words, builder)
        set_switch(keys, "layout.sequence_parallel", ("sequence_parallel",), builder)
        return
    off = keys.is_on("disable_gradient_checkpointing")
    at = keys.line("disable_gradient_checkpointing") or line
    builder.set("layout.recompute", "none" if off else "full", at)
    if other := keys.get("deepspeed"):
        builder.set("layout.framework", "deepspeed", keys.line("deepspeed"))
        why = "a separate file: import it as well"
        builder.unknown(f"deepspeed: {excerpt(other)}", why, keys.line("deepspeed"))
    elif modes := keys.words("fsdp"):
        builder.set("layout.framework", "fsdp", keys.line("fsdp"))
        set_fsdp_words(modes, builder, keys.line("fsdp"))
        if "offload" in modes:
            set_fsdp_offload(builder, keys.line("fsdp"))
