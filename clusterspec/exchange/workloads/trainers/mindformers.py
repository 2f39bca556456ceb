"""Configurations of MindSpore Transformers (MindFormers), which trains on Ascend (YAML).

Names and defaults: mindspore-lab/mindformers fd4deebc: mindformers/trainer/base_trainer.py, lines 180 to 281 (the
global batch; outside of the parallel modes 1 and 2 every degree is 1), tools/register/template.py (mode 1 where none is
stated), modules/transformer/transformer.py, line 589 (degrees, 1 where absent) and models/llama/llama.py, lines 857 to
866 (the width of a gated network that ``ffn_dim_multiplier`` states). ``data_parallel`` counts replicas, ``batch_size``
the sequences that one of them passes at a time, in copies that overlap where ``micro_batch_interleave_num`` is above 1.
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, excerpt
from clusterspec.exchange.workloads.keys import Keys, boolean_value, set_choice, set_counts, set_switch
from clusterspec.exchange.workloads.model_files.models import set_parameters
from clusterspec.exchange.workloads.overrides import file_keys
from clusterspec.exchange.workloads.unused_keys import list_unused

MINDFORMERS = "mindformers"
_PARALLEL = re.compile(r"^parallel_config[ \t]*:", re.MULTILINE)
_DEGREE = re.compile(r"^[ \t]+(?:model_parallel|pipeline_stage|data_parallel)[ \t]*:", re.MULTILINE)
_RUNNER = re.compile(r"^(?:runner_config|recompute_config|use_parallel|run_mode)[ \t]*:", re.MULTILINE)
_DEGREES = {
    "layout.tp": "model_parallel",
    "layout.pp": "pipeline_stage",
    "layout.cp": "context_parallel",
    "layout.ep": "expert_parallel",
    "layout.dp": "data_parallel",
}
_MODES = {"0": False, "1": True, "2": True, "3": False}
_NAMED_MODES = {"data_parallel": False, "semi_auto_parallel": True, "auto_parallel": True, "hybrid_parallel": False}
_MODEL = {
    "workload.model.layers": ("num_layers", "num_hidden_layers"),
    "workload.model.hidden": ("hidden_size",),
    "workload.model.heads": ("num_heads", "num_attention_heads"),
    "workload.model.kv_heads": ("n_kv_heads", "num_key_value_heads", "multi_query_group_num"),
    "workload.model.vocab": ("vocab_size", "padded_vocab_size"),
    "workload.model.head_dim": ("head_dim",),
}
_EXPERTS = {
    "workload.model.experts": ("moe_config.expert_num", "model.model_config.num_experts"),
    "workload.model.experts_per_token": (
        "moe_config.num_experts_chosen",
        "model.model_config.num_experts_per_tok",
    ),
    "workload.model.expert_ffn_hidden": (
        "moe_config.moe_intermediate_size",
        "model.model_config.moe_intermediate_size",
    ),
    "workload.model.shared_experts": ("moe_config.shared_expert_num",),
}
_GATED = frozenset({"LlamaConfig", "DeepseekV2Config", "DeepseekV3Config", "Qwen2Config", "Qwen3Config"})
_DTYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
_METHODS = {"colossalai_cp": "ring", "ring": "ring", "ulysses_cp": "all-to-all"}
_MULTIPLE = 256
_OF_PLACES = re.compile(
    r"(?:context|callbacks|eval_\w{1,20}|train_dataset\w{0,10}|processor|metric|lr_schedule|runner_wrapper|trainer|profile\w{0,30}"
    r"|auto_\w{1,30}|load_\w{1,30}|remote_save_url|resume_training|output_dir|seed|swap_config|monitor_config|tensorboard"
    r"|layer_scale|layer_decay|lr_scale\w{0,10}|filepath_prefix|autotune\w{0,20}|init_start_profile|train_precision_sync"
    r"|infer_precision_sync|src_strategy\w{0,20}|only_save_strategy|use_legacy|optimizer|parallel|print_\w{1,30}|transform_\w{1,20}"
    r"|convert_\w{1,20}|do_eval|eval_step_interval|micro_batch_interleave_num|run_mode|use_parallel|generation)(?:\.|$)"
)
"""Parts of a configuration that describe neither a model nor a layout, or are read otherwise."""


def matches_mindformers(file: InputFile) -> bool:
    return all(mark.search(file.text) for mark in (_PARALLEL, _DEGREE, _RUNNER))


def read_mindformers(file: InputFile) -> ImportResult:
    """The model, the batch and the layout of a training run. Raises `FormatError` if it only generates or converts."""
    builder, keys = ImportBuilder(MINDFORMERS, file.name), file_keys(file)
    mode = str(keys.values.get("run_mode", ("train", 0))[0])
    if mode not in {"train", "finetune"}:
        raise FormatError(f"is of MindFormers' run_mode {excerpt(mode)}: training only", keys.line("run_mode"))
    first = next((name for name in _DEGREES.values() if f"parallel_config.{name}" in keys.values), None)
    if first is None:
        raise FormatError("is no configuration of MindFormers: its parallel_config has no degree")
    builder.set("workload.kind", "train", keys.line("runner_config.batch_size", f"parallel_config.{first}"))
    _set_model(keys, builder)
    divided = _is_divided(keys, builder)
    if divided:
        _set_degrees(keys, builder)
    _set_batch(keys, builder, divided=divided)
    _set_options(keys, builder)
    keys.used |= {name for name in keys.values if _OF_PLACES.match(name) or name.endswith(".type")}
    list_unused(keys, builder)
    return builder.reading()


def _set_model(keys: Keys, builder: ImportBuilder) -> None:
    """Set the sizes of the model; the width of its network where the file states how it is gated."""
    own = Keys({name: held for name, held in keys.values.items() if name.startswith("model.model_config.")})
    table = {path: tuple(f"model.model_config.{name}" for name in names) for path, names in _MODEL.items()}
    set_counts(own, table, builder)
    if (own.integer("num_experts") or keys.integer("moe_config.expert_num") or 1) > 1:
        set_counts(keys, _EXPERTS, builder)
    width, line = own.integer("intermediate_size"), own.line("intermediate_size", "ffn_dim_multiplier", "hidden_size")
    kind, act = str(own.get("type") or ""), str(own.get("hidden_act") or "").lower()
    gated = True if kind in _GATED or act in {"swiglu", "fusedswiglu"} else False if act in {"gelu", "relu"} else None
    hidden, factor = own.integer("hidden_size"), own.get("ffn_dim_multiplier")
    if not width and hidden and kind == "LlamaConfig" and (factor is None or isinstance(factor, (int, float))):
        whole = 4 * hidden if factor is None else int((factor + 0.01) * 4 * hidden)
        multiple = own.integer("multiple_of") or _MULTIPLE
        width = -(-int(2 * whole / 3) // multiple) * multiple
    builder.set("workload.model.ffn_hidden", width, line)
    if gated is not None:
        builder.set("workload.model.gated_ffn", gated, line)
    elif width:
        why = "whether its network is gated, the file does not say: state workload.model.gated_ffn"
        builder.unknown(f"model_config.type: {excerpt(kind)}", why, own.line("type", "intermediate_size"))
    if isinstance(tied := own.get("tie_word_embeddings"), bool):
        builder.set("workload.model.tied_embeddings", tied, own.line("tie_word_embeddings"))
    set_counts(own, {"workload.sequence_length": ("model.model_config.seq_length",)}, builder)
    set_parameters(builder, own.line("num_layers", "num_hidden_layers"))
    keys.used |= own.used | {name for name in own.values if name.rpartition(".")[2] in {"multiple_of", "batch_size"}}


def _is_divided(keys: Keys, builder: ImportBuilder) -> bool:
    """Whether the degrees of the file hold: its parallel mode is one that divides a model, and parallelism is on."""
    if boolean_value(keys.get("use_parallel")) is False:
        why = "runs on one device, whatever degrees it states"
        builder.unknown("use_parallel: False", why, keys.line("use_parallel"))
        return False
    mode = keys.get("parallel.parallel_mode")
    stated = "1" if mode is None else str(mode).strip().lower()
    held = _MODES.get(stated, _NAMED_MODES.get(stated))
    if held is not True:
        why = "sets every degree to 1: its devices are replicas" if held is False else "no mode that is known"
        builder.unknown(f"parallel_mode: {excerpt(stated)}", why, keys.line("parallel.parallel_mode"))
    return held is True


def _set_degrees(keys: Keys, builder: ImportBuilder) -> None:
    set_counts(keys, {path: (f"parallel_config.{name}",) for path, name in _DEGREES.items()}, builder)
    set_switch(keys, "layout.sequence_parallel", ("parallel_config.use_seq_parallel",), builder)
    if (keys.integer("parallel_config.context_parallel") or 1) > 1:
        set_choice(keys, "layout.cp_method", ("parallel_config.context_parallel_algo",), _METHODS, builder)
    copies, name = keys.integer("model.model_config.pp_interleave_num"), "model.model_config.pp_interleave_num"
    if (copies or 1) > 1 and keys.is_on("parallel.pipeline_config.pipeline_interleave"):
        builder.set("layout.schedule", "interleaved", keys.line(name))
        builder.set("layout.virtual_stages", copies, keys.line(name))
    sharded = "parallel.enable_parallel_optimizer"
    if keys.is_on(sharded):
        why = (
            "divides states and weights among replicas and gathers the weights once a step or more, by its level: "
            "state layout.sharding"
        )
        builder.unknown("enable_parallel_optimizer: True", why, keys.line(sharded))
    elif keys.find(sharded):
        builder.set("layout.sharding", "none", keys.line(sharded))
    keys.used |= {f"parallel_config.{name}" for name in ("gradient_aggregation_group", "vocab_emb_dp", "mem_coeff")}


def _set_batch(keys: Keys, builder: ImportBuilder, *, divided: bool) -> None:
    """Set the micro batch, and the global batch where the degrees of the file hold."""
    size, line = keys.integer("runner_config.batch_size"), keys.line("runner_config.batch_size")
    copies = keys.integer("micro_batch_interleave_num") or 1
    if not size:
        return
    builder.set("layout.micro_batch", size * copies, line)
    staged = (keys.integer("parallel_config.pipeline_stage") or 1) > 1
    name = "parallel_config.micro_batch_num" if staged else "runner_config.gradient_accumulation_steps"
    steps = keys.integer(name) if keys.find(name) else 1
    builder.count("passes_of_a_step", steps, keys.line(name))
    replicas = keys.integer("parallel_config.data_parallel") if "parallel_config.data_parallel" in keys.values else 1
    if divided and steps and replicas:
        builder.set("workload.global_batch", size * copies * steps * replicas, line)
    keys.used |= {"parallel_config.micro_batch_num", "runner_config.gradient_accumulation_steps"}
    keys.used |= {
        f"runner_config.{name}" for name in ("epochs", "sink_mode", "sink_size", "sink_per_epoch", "stop_step")
    }


def _set_options(keys: Keys, builder: ImportBuilder) -> None:
    """Set precision, recomputation and optimizer."""
    set_choice(keys, "workload.precision", ("model.model_config.compute_dtype",), _DTYPES, builder)
    whole, part = "recompute_config.recompute", "recompute_config.select_recompute"
    if keys.values.get(whole, (None, 0))[0] is True:
        builder.set("layout.recompute", "full", keys.line(whole))
    elif (stated := keys.get(whole)) not in (None, False):
        builder.unknown(f"recompute: {excerpt(stated)}", "layers of stages: state layout.recompute", keys.line(whole))
    elif isinstance(chosen := keys.get(part), bool):
        if not chosen:
            builder.set("layout.recompute", "none", keys.line(whole, part))
        else:
            builder.unknown(
                "select_recompute: True", "operators that it chooses: state layout.recompute", keys.line(part)
            )
    keys.used |= {name for name in keys.values if name.startswith("recompute_config.")}
    words = {"adamw": "adamw", "fp32stateadamweightdecay": "adamw", "adam": "adam", "pmaadamw": "adamw"}
    set_choice(keys, "workload.optimizer", ("optimizer.type",), words, builder)
    if keys.is_on("model.model_config.use_flash_attention"):
        builder.set("workload.attention", "flash", keys.line("model.model_config.use_flash_attention"))
    if pet := keys.find("model.model_config.pet_config.pet_type"):
        why = "trains adapters: state workload.trainable"
        builder.unknown(f"pet_type: {excerpt(keys.get(pet))}", why, keys.line(pet))
