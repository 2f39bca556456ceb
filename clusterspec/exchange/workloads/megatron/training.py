"""Training settings of a Megatron-LM or NeMo launch: length and tokens, precision, optimizer and sharding."""

from __future__ import annotations

import re
from math import prod

from clusterspec.exchange.import_result import ImportBuilder, excerpt
from clusterspec.exchange.workloads.keys import Keys, boolean_value, set_choice, set_counts, switch_state
from clusterspec.exchange.workloads.megatron.forks import optimizer_of_fork
from clusterspec.exchange.workloads.megatron.programs import CASTS
from clusterspec.exchange.workloads.trainers.deepspeed import set_adapter

_PROGRAM = re.compile(r"\bpretrain_\w{1,40}\.py\b")
"""Programs of Megatron-LM; other programs take the same options with different defaults."""


def set_sequence_length(keys: Keys, builder: ImportBuilder) -> None:
    """Set the sequence length. NeMo states it for the data and for the model, which may differ; a decoder after an
    encoder has its own (``decoder-seq-length``: Megatron-LM d98e8a64, megatron/training/arguments.py).
    """
    names: tuple[str, ...] = ("seq_length", "encoder_seq_length", "sequence_length")
    if keys.is_on("packing") and not keys.find("packing_length", *names):
        names = ("max_length",)  # ms-swift packs samples up to it
    elif keys.is_on("train_ds.pad_to_max_length") and not keys.find(*names):
        names = ("train_ds.max_seq_length",)  # NeMo fills samples up to it
    stated = (*names, "decoder_seq_length")
    lengths = [(name, length) for name in stated if keys.find(name) and (length := keys.integer(name))]
    if len({length for _, length in lengths}) > 1:
        shown = ", ".join(f"{keys.find(name)} {length} on line {keys.line(name)}" for name, length in lengths)
        builder.unknown("workload.sequence_length", f"stated twice: {shown}", keys.line(lengths[0][0]))
    else:
        set_counts(keys, {"workload.sequence_length": names}, builder)
        if not lengths and (longest := keys.integer("max_seq_length")):
            why = f"sequences are cut at {longest} tokens, shorter ones stay"
            builder.unknown("workload.sequence_length", why, keys.line("max_seq_length"))
    _set_tokens(keys, [length for _, length in lengths], builder)


def _set_tokens(keys: Keys, lengths: list[int], builder: ImportBuilder) -> None:
    """Set the tokens of the whole run: the number of samples, or iterations × batch size, times the sequence length.

    Source: Megatron-LM d98e8a64, megatron/training/training.py (``update_train_iters``); ``train-tokens`` is an option
    of Megatron-DeepSpeed, whose run ends at the first of its limits (``train``, training.py). With a growing batch
    (``rampup-batch-size``), iterations do not give the number of samples.
    """
    line = keys.line("train_samples", "train_iters")
    samples, steps, batch = (keys.integer(name) for name in ("train_samples", "train_iters", "global_batch_size"))
    grows = keys.find("rampup_batch_size") is not None or keys.is_undecided("rampup_batch_size")
    if samples is None and steps and batch and not grows:
        samples = steps * batch
    counted = samples * lengths[0] if samples and len(set(lengths)) == 1 else None
    if keys.find("train_tokens"):
        tokens = keys.integer("train_tokens")
        if tokens and counted and counted < tokens:
            builder.set("workload.tokens", counted, line)
            builder.unknown(f"train_tokens: {tokens}", "a larger limit than the length of the samples", line)
        elif tokens:
            builder.set("workload.tokens", tokens, keys.line("train_tokens"))
    elif counted:
        builder.set("workload.tokens", counted, line)


def set_context_method(keys: Keys, builder: ImportBuilder) -> None:
    """Set how ranks exchange the parts of a sequence; DeepSpeed exchanges its parts for heads, all to all.

    Source: K-Wu/Megatron-DeepSpeed 4799c1e5, megatron/arguments.py, line 960, and megatron/model/transformer.py,
    line 645 (``--ds-sequence-parallel-size``, ``DistributedAttention`` of DeepSpeed).
    """
    methods = {"p2p": "ring", "a2a": "all-to-all", "all_gather": "all-gather", "allgather": "all-gather"}
    set_choice(keys, "layout.cp_method", ("cp_comm_type",), methods, builder)
    if (keys.integer("ds_sequence_parallel_size") or 1) > 1:
        builder.set("layout.cp_method", "all-to-all", keys.line("ds_sequence_parallel_size"))


_FLASH = ("use_flash_attn", *(f"use_flash_attn_{version}" for version in ("v1", "v2", "triton", "builder")))
"""Options of Megatron-LM and of Megatron-DeepSpeed (K-Wu/Megatron-DeepSpeed 4799c1e5, megatron/arguments.py, line 425).
"""
_BACKENDS = {"flash": "flash", "fused": "flash", "unfused": "plain"}
"""Attention of Transformer Engine, with or without its scores in memory; ``auto`` and ``local`` decide neither."""


def _set_attention(keys: Keys, builder: ImportBuilder) -> None:
    """Set the kind of the attention kernel where the launch states it."""
    if keys.is_on(*_FLASH):
        builder.set("workload.attention", "flash", keys.line(*_FLASH))
    elif (named := keys.get("attention_backend")) and (kind := _BACKENDS.get(str(named).rpartition(".")[2])):
        builder.set("workload.attention", kind, keys.line("attention_backend"))


def _set_adapters(keys: Keys, builder: ImportBuilder) -> None:
    """Set the low-rank adapters of launches of slime and miles, which take Megatron's options."""
    if str(keys.get("peft._target_")).endswith(".peft.LoRA") and (rank := keys.integer("peft.dim")):  # NeMo 2
        builder.set("workload.trainable.method", "lora", keys.line("peft._target_"))
        builder.set("workload.trainable.rank", rank, keys.line("peft.dim"))
        why = "listed by the file, in names of NeMo" if keys.find("peft.target_modules") else "not stated"
        builder.unknown("the modules of the adapters", why, keys.line("peft._target_"))
    elif keys.find("peft.dim", "peft.alpha"):
        why = "adapters of Megatron Bridge, whose kind and modules the recipe states: not all parameters are trained"
        builder.unknown("workload.trainable", why, keys.line("peft.dim", "peft.alpha"))
    if scheme := keys.find("peft.peft_scheme"):
        _set_scheme(keys, scheme, builder)
        return
    rank, line = keys.integer("lora_rank"), keys.line("lora_rank")
    if rank is None or keys.find("actor_num_gpus_per_node") is None:
        return
    keys.used |= {name for name in ("lora_alpha", "lora_dropout") if name in keys.values}
    names = [name for word in keys.words("target_modules") for name in word.split(",") if name]
    if names:
        set_adapter("lora", rank, [] if names == ["all-linear"] else names, builder, line)
    else:
        builder.set("workload.trainable.method", "lora", line)
        builder.set("workload.trainable.rank", rank, line)
        builder.unknown("the modules of the adapters", "not stated", line)


_TARGETS = {"attention": "attention", "mlp": "ffn"}
"""Starts of the modules that adapters of NeMo extend (``attention_qkv``, ``mlp_fc1``)."""


def _set_scheme(keys: Keys, scheme: str, builder: ImportBuilder) -> None:
    """Set the adapters of NeMo; list adapters of other kinds, since these do not train all parameters either.

    Source: NVIDIA/NeMo 9421f21, examples/nlp/language_modeling/tuning/conf/megatron_gpt_finetuning_config.yaml.
    """
    kind, line = str(keys.get(scheme)).lower(), keys.line(scheme)
    if kind in OFF:
        return
    if kind not in {"lora", "qlora"}:
        builder.unknown(
            f"{scheme}: {excerpt(kind)}", "trains a part of the model: no value of workload.trainable", line
        )
        return
    builder.set("workload.trainable.method", kind, line)
    builder.set(
        "workload.trainable.rank", keys.integer("lora_tuning.adapter_dim"), keys.line("lora_tuning.adapter_dim")
    )
    names = keys.words("lora_tuning.target_modules")
    starts = [next((kind for start, kind in _TARGETS.items() if name.startswith(start)), "") for name in names]
    if names == ("all",) or (names and all(starts)):
        modules = list(_TARGETS.values()) if names == ("all",) else sorted(set(starts))
        builder.set("workload.trainable.modules", modules, keys.line("lora_tuning.target_modules"))
    else:
        builder.unknown("the modules of the adapters", "not stated, or not of attention and networks alone", line)


_RECIPES = {"delayed": "delayed", "tensorwise": "current", "blockwise": "blockwise", "mxfp8": "mxfp8"}
"""Scaling of FP8 values. Source: Megatron-LM d98e8a64, megatron/core/transformer/transformer_config.py, line 594."""
OFF = {"none", "false", "null"}


_PRECISIONS = ("trainer.precision", "MODEL_ARGS.trainer.precision", "model.precision", "precision")
"""Keys of the precision of NeMo, in the file of a run or of its model."""


_EIGHT_BITS, _FOUR_BITS = ("fp8_format", "fp8"), ("fp4_format", "fp4")


def _has_narrow_products(keys: Keys) -> bool:
    """Whether GEMMs run in 8 or 4 bits."""
    return any(str(keys.get(*names) or "none").lower() not in OFF for names in (_EIGHT_BITS, _FOUR_BITS))


def _set_precision(keys: Keys, builder: ImportBuilder) -> None:
    """Set the precision of GEMMs and the scaling of their values: FP8 or FP4 if one is on, else the precision of
    weights.
    """
    eight, four = _EIGHT_BITS, _FOUR_BITS
    for names in (eight, four):
        if "${" in (value := str(keys.get(*names) or "")):
            why = "a variable, or computed elsewhere: the precision depends on it"
            builder.unknown(f"{keys.find(*names)}: {excerpt(value)}", why, keys.line(*names))
            return
    if str(keys.get(*eight) or "none").lower() not in OFF:
        builder.set("workload.precision", "fp8", keys.line(*eight))
        set_choice(keys, "workload.recipe", ("fp8_recipe",), _RECIPES, builder)
    elif str(keys.get(*four) or "none").lower() not in OFF:
        builder.set("workload.precision", "fp4", keys.line(*four))
        set_choice(keys, "workload.recipe", ("fp4_recipe",), {"nvfp4": "nvfp4"}, builder)
    else:
        where = next((name for name in _PRECISIONS if name in keys.values), "trainer.precision")
        stated = str(keys.get(where) or "")
        for name, starts in (("bf16", "bf16"), ("fp16", ("fp16", "16"))):
            if keys.is_on(name) or stated.startswith(starts):
                builder.set("workload.precision", name, keys.line(name, where))
                return
        if stated in {"32", "32-true"}:
            cast = keys.find(*CASTS)
            builder.set("workload.precision", "bf16" if cast else "fp32", keys.line(cast or where))
            keys.used |= {cast} if cast else set()


_EVALUATES = ("skip_train", "eval_only")
"""Switches with which nothing is trained: ``--skip-train`` (Megatron-LM d98e8a64, line 141 of
megatron/training/config/training_config.py), and ``--eval-only``, as many programs of others name it.
"""


def set_training(keys: Keys, builder: ImportBuilder) -> None:
    """Set precision, attention, adapters and optimizer, and list that a launch only evaluates."""
    if keys.is_on(*_EVALUATES):
        why = "it only evaluates: no step, optimizer or recomputation of a training runs"
        builder.unknown(f"{keys.find(*_EVALUATES)}", why, keys.line(*_EVALUATES))
    _set_precision(keys, builder)
    _set_attention(keys, builder)
    _set_adapters(keys, builder)
    _set_gradients(keys, builder)
    set_choice(
        keys,
        "workload.optimizer",
        ("optimizer", "optim.name"),
        {
            "adam": "adam",
            "sgd": _sgd_optimizer(keys),
            "lion": "lion",
            "muon": "muon",
            "dist_muon": "muon",
            "adamw": "adamw",
            "distributed_fused_adam": "adam",
            "fused_adam": "adam",
        },
        builder,
    )


def _sgd_optimizer(keys: Keys) -> str:
    """Stochastic gradient descent of Megatron-LM with its momentum, of 0.9 if no flag states it
    (d98e8a64: megatron/training/arguments.py, line 2626), or of a recipe, which states its own.
    """
    stated = str(keys.get("sgd_momentum")).strip()
    return "sgd" if keys.find("optim.name") or stated in {"0", "0.0"} else "momentum"


def set_sharding(keys: Keys, builder: ImportBuilder, framework: str) -> None:
    """Set the sharding; Megatron-LM's own programs without a distributed optimizer shard nothing."""
    if keys.is_on("use_torch_fsdp2", "use_custom_fsdp", "use_megatron_fsdp"):
        strategies = {"no_shard": "none", "optim": "zero1", "optim_grads": "zero2", "optim_grads_params": "fsdp"}
        if (copies := keys.integer("num_distributed_optimizer_instances")) and copies > 1:
            _set_groups(keys, copies, builder)
        elif keys.find("data_parallel_sharding_strategy"):
            set_choice(keys, "layout.sharding", ("data_parallel_sharding_strategy",), strategies, builder)
        else:
            builder.set("layout.sharding", "fsdp", keys.line("use_torch_fsdp2", "use_custom_fsdp", "use_megatron_fsdp"))
        return
    stages = {"0": "none", "1": "zero1", "2": "zero2", "3": "fsdp"}
    stage = stages | {f"{number}.0": name for number, name in stages.items()}  # a log prints 1.0
    if framework == "megatron-deepspeed" or keys.find("zero_stage"):  # a fork that leaves the sharding to DeepSpeed
        if keys.is_on("bf16") and str(keys.get("zero_stage")) == "0":
            _set_sharding_of_bf16(keys, builder)
            return
        set_choice(keys, "layout.sharding", ("zero_stage",), stage, builder)
        if keys.find("zero_stage") is None:
            builder.unknown("layout.sharding", "a DeepSpeed configuration states it", keys.line("deepspeed"))
        return
    _set_optimizer_sharding(keys, builder)


def _set_optimizer_sharding(keys: Keys, builder: ImportBuilder) -> None:
    """Set whether the ranks share the states of the optimizer, unless a variable or a branch decides it."""
    names = ("use_distributed_optimizer",)
    line = keys.line(*names, "distributed_strategy.zero1", "optim.name")
    if keys.is_undecided(*names) and not keys.find(*names):
        return
    if other := optimizer_of_fork(keys):
        why = "an option of a fork of Megatron-LM, which may share the states of the optimizer among ranks"
        builder.unknown(f"layout.sharding: {other}", why, keys.line(other))
        return
    if keys.has_elided_options and not keys.find(*names):
        builder.unknown("layout.sharding", "options are left out of the launch (…)", keys.command.line)
        return
    state = switch_state(keys, names, builder)
    if state is None and keys.get(*names) is not None:
        return
    if state or keys.is_on("distributed_strategy.zero1") or "distributed" in str(keys.get("optim.name")):
        builder.set("layout.sharding", "zero1", line)
    elif keys.find(*names) or _PROGRAM.search(keys.command.text):
        builder.set("layout.sharding", "none", line or keys.line("tensor_model_parallel_size"))
    elif keys.command.words:
        why = "no --use-distributed-optimizer, whose default a program other than pretrain_*.py may change"
        builder.unknown("layout.sharding", why, keys.command.line)
    elif shown := keys.find("tensor_model_parallel_size", "micro_batch_size"):
        why = "use_distributed_optimizer is not stated: the program that takes these keys, or another file, decides"
        builder.unknown("layout.sharding", why, keys.line(shown))


def _set_sharding_of_bf16(keys: Keys, builder: ImportBuilder) -> None:
    """Set the sharding of bf16 at stage 0: the pipeline engine of DeepSpeed wraps the optimizer so that each
    data-parallel rank keeps a part of its states.

    DeepSpeed edaa7221, deepspeed/runtime/engine.py, line 2014, and bf16_optimizer.py, line 141.
    """
    line = keys.line("zero_stage")
    if keys.is_on("no_pipeline_parallel"):
        builder.unknown("layout.sharding", "bf16 at stage 0 without the pipeline engine depends on the release", line)
    else:
        builder.set("layout.sharding", "zero1", line)


def _set_groups(keys: Keys, copies: int, builder: ImportBuilder) -> None:
    """Set sharding within groups; the data-parallel ranks form ``copies`` groups."""
    line = keys.line("num_distributed_optimizer_instances")
    keys.get("data_parallel_sharding_strategy")
    builder.set("layout.sharding", "hsdp", line)
    counts = [keys.integer("nnodes", "num_nodes"), keys.integer("nproc_per_node", "gpus_per_node")]
    degrees = [keys.integer(f"{axis}_model_parallel_size") or 1 for axis in ("tensor", "pipeline")]
    ranks = prod(count for count in counts if count) if all(counts) else 0
    if ranks and ranks % (prod(degrees) * copies) == 0:
        builder.set("layout.shard_group", ranks // prod(degrees) // copies, line)
    else:
        builder.unknown(
            "layout.shard_group", f"the data-parallel ranks over {copies}: the file does not count them", line
        )


_GRAPHS = ("enable_cuda_graph", "external_cuda_graph", "enable_cuda_graphs")


def set_kernels(keys: Keys, builder: ImportBuilder) -> None:
    """Set what launches kernels, and the loss, where the launch states them.

    Megatron-LM, megatron/training/arguments.py: ``--cuda-graph-impl``, before it ``--enable-cuda-graph`` and
    ``--external-cuda-graph``; ``--cross-entropy-loss-fusion``. Without them neither is on.
    """
    captured = boolean_value(keys.get(*_GRAPHS))
    if named := keys.find("cuda_graph_impl"):
        captured = str(keys.get(named)).lower() not in OFF
    builder.set("layout.captured_graphs", captured, keys.line("cuda_graph_impl", *_GRAPHS))
    if keys.is_on("cross_entropy_loss_fusion"):
        builder.set("layout.loss", "fused", keys.line("cross_entropy_loss_fusion"))


_CAPACITY = ("moe_expert_capacity_factor", "moe_train_capacity_factor")
"""Options of Megatron-LM and of Megatron-DeepSpeed for the tokens that an expert takes; the latter's holds unless
``--disable-moe-token-dropping`` is given.
"""
_ACCUMULATED = ("accumulate_allreduce_grads_in_fp32", "grad_reduce_in_fp32")
"""Options of gradients in 32 bits, which are the default of Megatron-LM."""
_OTHERWISE = ("grad_reduce_in_fp32", "main_grads_dtype")
"""Options that decide the precision of gradients where ``--bf16`` alone does not."""


def _set_gradients(keys: Keys, builder: ImportBuilder) -> None:
    """Set the precisions of gradients and of hidden states where they are stated (d98e8a64,
    megatron/training/arguments.py, lines 1209 to 1219), and the number of tokens that an expert takes.

    ``--bf16`` alone sums gradients in fp32, also where GEMMs run in 8 or 4 bits, for which recipes of NeMo sum them in
    16 bits.
    """
    if keys.is_on("grad_reduce_in_bf16"):
        builder.set("workload.gradient_precision", "bf16", keys.line("grad_reduce_in_bf16"))
    elif keys.is_on(*_ACCUMULATED):
        builder.set("workload.gradient_precision", "fp32", keys.line(*_ACCUMULATED))
    elif keys.is_on("bf16") and _has_narrow_products(keys) and keys.find(*_OTHERWISE) is None:
        builder.set("workload.gradient_precision", "fp32", keys.line("bf16"))
    if keys.is_on("fp32_residual_connection"):
        builder.set("workload.residual_precision", "fp32", keys.line("fp32_residual_connection"))
    factor = str(keys.get(*_CAPACITY) or "")
    if keys.is_on("disable_moe_token_dropping"):
        return
    if re.fullmatch(r"[0-9]{1,3}(?:\.[0-9]{1,6})?", factor) and float(factor) > 0:
        builder.set("layout.capacity_factor", float(factor), keys.line(*_CAPACITY))
