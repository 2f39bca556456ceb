"""Configurations of MaxText: YAML, and ``key=value`` words of a command line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod

from clusterspec.exchange.documents import read_yaml
from clusterspec.exchange.exporters.maxtext_models import MODELS
from clusterspec.exchange.import_result import LIST, FormatError, ImportBuilder, ImportResult, InputFile, excerpt
from clusterspec.exchange.machines.tpu_slices import set_started_slices
from clusterspec.exchange.workloads.keys import (
    Keys,
    boolean_value,
    flat_leaves,
    positive_integer_of,
    set_choice,
    set_counts,
)
from clusterspec.exchange.workloads.model_files.models import set_parameters
from clusterspec.exchange.workloads.overrides import overrides_of_launch
from clusterspec.exchange.workloads.run_tokens import set_tokens_of_steps
from clusterspec.exchange.workloads.trainers.maxtext_named import SIZES, STUDENT, lists_scale, set_named_model
from clusterspec.exchange.workloads.unused_keys import list_unused
from clusterspec.logs.statements.required_words import first_match

# MaxText: model and job configurations (YAML), and ``key=value`` words of a command line.
#
# Names: AI-Hypercomputer/maxtext, MaxText/configs/base.yml. A degree of -1 is computed by MaxText at run time

MAXTEXT = "maxtext"
_VISITED = "workload.model.experts_per_token"
_LATENT = {
    "workload.model.head_dim": ("qk_nope_head_dim",),
    "workload.model.latent_attention.q": ("q_lora_rank",),
    "workload.model.latent_attention.kv": ("kv_lora_rank",),
    "workload.model.latent_attention.rope": ("qk_rope_head_dim",),
    "workload.model.value_head_dim": ("v_head_dim",),
}
"""Keys of latent attention, for which base.yml has values that other attention ignores."""
_APART = {"gemma4", "deepseek4", "qwen3_next", "qwen3_5", "kimi_linear", "gpt_oss_next"}
"""Decoder blocks whose layers mix tokens in several ways."""
_AXES = {
    "layout.tp": ("tensor", "tensor_sequence"),
    "layout.cp": ("context",),
    "layout.ep": ("expert",),
    "layout.pp": ("pipeline",),
}
_STRATEGIES = {"all_gather": "all-gather", "ring": "ring", "ulysses": "all-to-all"}
_REMAT = {
    "full": "full",
    "none": "none",
    "minimal": "selective",
    "minimal_with_context": "selective",
    "save_qkv_proj": "selective",
}

_TENSORS = (
    *("context", "qkv_proj", "query_proj", "key_proj", "value_proj", "out_proj", "query_wa_proj", "kv_wa_proj"),
    *("mlpwi", "mlpwi_0", "mlpwi_1", "mlpwo", "moe_mlpwi_0", "moe_mlpwi_1", "moe_mlpwo"),
)
"""Tensors that a custom policy may keep (``device``), ``offload``, or compute again (``remat``, the default)."""

_QUANTIZATIONS: Mapping[str, tuple[str, str | None]] = {
    **dict.fromkeys(("fp8", "fp8_full", "fp8_gpu", "fp8_nanoo", "nanoo_fp8"), ("fp8", None)),
    **dict.fromkeys(("fp8_e4m3", "fp8_e5m2"), ("fp8", None)),
    "te_fp8_delayedscaling": ("fp8", "delayed"),
    "te_fp8_currentscaling": ("fp8", "current"),
    "te_mxfp8": ("fp8", "mxfp8"),
    "te_nvfp4": ("fp4", "nvfp4"),
    "te_nvfp4_no_rht": ("fp4", "nvfp4"),
    "int8": ("int8", None),
}
"""Precision and recipe by quantization. Source: MaxText e591f30c, configs/types.py, ``QuantizationType``."""


def matches_maxtext(file: InputFile) -> bool:
    if first_match(_DIFFUSION, file.text):
        return False
    if re.search(r"^base_config\s*:\s*[\"']?base\.yml", file.text, re.MULTILINE) and "model_name" in file.text:
        return True
    if _TRAINER.search(file.text) and re.search(r"\b(?:model_name|per_device_batch_size)=", file.text):
        return True
    return bool(re.search(r"base_emb_dim|base_num_decoder_layers|(ici|dcn)_\w+_parallelism", file.text))


_TRAINER = re.compile(
    r"\bMaxText[/.](?:sft[/.])?(?:sft_)?train|\bmaxtext[/.]trainers[/.]pre_train|\bMaxText[/.]configs/base\.yml",
    re.IGNORECASE,
)
"""The program that a MaxText launch starts."""


_PYTHON = re.compile(r"\bpython3?(?:\s|[\"'],)")
"""The interpreter, as a word of a command or of a list of words."""
_DIFFUSION = re.compile(r"\bmaxdiffusion[/.](?:train|generate|configs|models)", re.IGNORECASE)
"""Programs of MaxDiffusion, which has the names of MaxText's axes and trains other models."""


_SERVES = re.compile(
    r"MaxText[./](?:maxengine_server|decode|inference_microbenchmark)\w*(?:\.py)?\b"
    r"|(?<![\w-])(?:maxengine_server|inference_microbenchmark\w{0,20})\.py\b",
    re.IGNORECASE,
)
_TRAINS = re.compile(r"MaxText[./]\S{0,40}train\w*(?:\.py)?\b|\btrain\.py", re.IGNORECASE)
_CONVERTS = re.compile(
    r"MaxText[./](?:\w{1,40}[./]){0,3}\w{0,60}(?:_to_hf|orbax_to|_ckpt|_only_checkpoint|convert_\w{1,40}|to_maxtext|to_huggingface)"
    r"(?:_\w{1,40})?(?:\.py)?(?![\w/])",
    re.IGNORECASE,
)
"""Programs of MaxText that serve, that train, and that convert checkpoints."""
_OF_RUN = re.compile(r"run_name|steps|\w{0,60}(?:path|directory|dataset|tokenizer|checkpoint|profile|token)\w{0,60}")
"""Options in which launches of one machine and model may differ."""


def read_maxtext(file: InputFile) -> ImportResult:
    """The model and the layout of a configuration. Raises `FormatError` if it has neither."""
    builder, keys = ImportBuilder(MAXTEXT, file.name), Keys()
    if re.search(r"^[ \t]*\w++\s*:", file.text, re.MULTILINE) and not _PYTHON.search(file.text):
        yaml = read_yaml(file)
        if "jetstream" in yaml.mapping:  # values of a chart
            raise FormatError("starts MaxText for inference: only its training is read", yaml.line("jetstream"))
        for name, value, line in flat_leaves(yaml.mapping, yaml.line):
            keys.put(name, value, line)
    else:
        keys = overrides_of_launch(file, _TRAINS, _OF_RUN.fullmatch)
        for program, does in ((_SERVES, "for inference"), (_CONVERTS, "to convert a checkpoint")):
            if not _TRAINS.search(file.text) and (started := program.search(file.text)):
                why = f"starts MaxText {does}: only its training is read"
                raise FormatError(why, file.line_at(started.start()))
    if keys.find("base_emb_dim", "base_num_decoder_layers", "model_name", "per_device_batch_size") is None and not any(
        key.endswith("_parallelism") for key in keys.values
    ):
        raise FormatError("has neither model size nor parallelism keys of MaxText")
    stated = ("base_emb_dim", "model_name", "ici_fsdp_parallelism", "per_device_batch_size")
    builder.set("layout.framework", "maxtext", keys.line(*stated))
    _set_maxtext_model(keys, builder)
    devices = set_started_slices(file, builder)
    if _is_diloco(keys):
        why = "replicas step alone and meet every diloco_sync_period steps: no key describes that"
        builder.unknown("enable_diloco", why, keys.line("enable_diloco"))
        devices = None
    _fill_open_axes(keys, devices, builder)
    _set_layout(keys, builder)
    set_parameters(builder, keys.line("base_num_decoder_layers"))
    _set_global_batch(keys, devices, builder)
    set_tokens_of_steps(keys.integer("steps"), builder, keys.line("steps"))
    if own := next((word for word in keys.command.words if _CONFIGURATION.search(word.text)), None):
        builder.unknown(excerpt(own.text, LIST), "a separate file: import it as well", own.line)
    if other := next((word for word in keys.command.words if _LEARNS.search(word.text)), None):
        why = "trains on samples that it generates, or on those of another model: work that these keys do not describe"
        builder.unknown(excerpt(other.text, LIST), why, other.line)
    list_unused(keys, builder)
    return builder.reading()


def _is_diloco(keys: Keys) -> bool:
    """Whether groups of replicas synchronize only now and then (src/maxtext/configs/base.yml, ``enable_diloco``)."""
    return keys.find("enable_diloco") is not None and keys.is_on("enable_diloco")


_OPTIMIZERS = {name: name for name in ("adamw", "sgd", "muon")} | {"adam_pax": "adam", "adam": "adam"}
_TYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
_LEARNS = re.compile(r"post_train[./](?:rl|dpo|distillation)\b|\btrain_(?:rl|dpo|distill)\w*")
"""Programs of MaxText that train with rewards, pairs of answers or a teacher."""
_CONFIGURATION = re.compile(r"^[^=]{1,200}(?<!/base)(?<!^base)\.ya?ml$")
"""The configuration that a launch names in place of base.yml."""
_OPEN = {"ici": "fsdp", "dcn": "data"}
"""The axis of each mesh that takes the remaining devices unless a key states its size (``-1`` in base.yml)."""


def _fill_open_axes(keys: Keys, devices: int | None, builder: ImportBuilder) -> None:
    """Set the degree of the open axis (the one that takes all remaining devices), within slices and across them, on the
    machine of the launch.
    """
    slices, at = next(((each.value, each.at.line) for each in builder.counts if each.name == "slices"), (None, 0))
    if devices is None or not isinstance(slices, int):
        return
    for mesh, whole in (("ici", devices // slices), ("dcn", slices)):
        axes = re.compile(rf"{mesh}_\w+_parallelism")
        degrees = {name: positive_integer_of(value) for name, (value, _) in keys.values.items() if axes.fullmatch(name)}
        degrees.setdefault(f"{mesh}_{_OPEN[mesh]}_parallelism", None)
        left = [name for name, degree in degrees.items() if degree is None]
        others = prod(degree for degree in degrees.values() if degree)
        if len(left) == 1 and whole % others == 0:
            keys.put(left[0], whole // others, at)


def _set_maxtext_model(keys: Keys, builder: ImportBuilder) -> None:
    name = str(keys.get(f"{STUDENT}model_name", "model_name") or "default")
    scaled = lists_scale(keys, builder)
    if keys.find("base_emb_dim") is None:
        if name != "default" and not scaled:
            plain = name.removesuffix("-2dfsdp")  # the same sizes, sharded along two dimensions
            known = next((entry for entry, named in MODELS.items() if named == plain), plain)
            set_named_model(known, keys, builder)
        return
    latent = str(keys.get("attention_type")) == "mla"
    experts = keys.integer("num_experts") or 1
    sizes = {path: names for path, names in SIZES.items() if experts > 1 or path != _VISITED}
    set_counts(keys, sizes | _LATENT if latent else sizes, builder)
    if not latent:
        keys.used |= {name for names in _LATENT.values() for name in names}
    keys.used |= {"num_experts_per_tok"} & keys.values.keys()
    if experts > 1:
        builder.set("workload.model.experts", experts, keys.line("num_experts"))
    activations = keys.get("mlp_activations")
    builder.set(
        "workload.model.gated_ffn",
        len(activations) > 1 if isinstance(activations, list) else None,
        keys.line("mlp_activations"),
    )
    builder.set(
        "workload.model.tied_embeddings",
        boolean_value(keys.get("logits_via_embedding")),
        keys.line("logits_via_embedding"),
    )
    dense, layers = keys.integer("first_num_dense_layers"), keys.integer("base_num_decoder_layers")
    every = keys.integer("interleave_moe_layer_step")
    if dense and layers:
        builder.set("workload.model.moe_layers", layers - dense, keys.line("first_num_dense_layers"))
    elif every and every > 1 and layers and keys.find("num_experts"):
        builder.set("workload.model.moe_layers", layers // every, keys.line("interleave_moe_layer_step"))
    block = str(keys.get("decoder_block") or "")
    if block == "gemma2" and layers:  # a block of Gemma 2 is a windowed layer and one with full attention
        builder.given[:] = [g for g in builder.given if g.path != ("workload", "model", "layers")]
        builder.set("workload.model.layers", 2 * layers, keys.line("base_num_decoder_layers"))
    if block in _APART:
        apart = {("workload", "model", name) for name in ("hidden", "kv_heads", "head_dim")}
        builder.given[:] = [g for g in builder.given if g.path not in apart]
        builder.unknown(
            f"decoder_block: {block}",
            "its attention has unsupported keys: import its config.json",
            keys.line("decoder_block"),
        )


def _set_layout(keys: Keys, builder: ImportBuilder) -> None:
    for path in _AXES:
        degrees = [(name, keys.get(name)) for name in _degree_names(path) if keys.find(name)]
        _set_degree(path, degrees, keys, builder)
    _set_sharding(keys, builder)
    set_counts(keys, {"workload.sequence_length": ("max_target_length",)}, builder)
    _set_micro_batch(keys, builder)
    _set_recomputation(keys, builder)
    set_choice(keys, "layout.cp_method", ("context_parallel_strategy",), _STRATEGIES, builder)
    if (builder.reading().value(("layout", "pp")) or 1) != 1 and (stages := keys.integer("num_pipeline_repeats")):
        builder.set("layout.virtual_stages", stages, keys.line("num_pipeline_repeats"))
    _set_precision(keys, builder)
    _set_kernels(keys, builder)
    set_choice(keys, "workload.optimizer", ("opt_type",), _OPTIMIZERS, builder)
    if keys.is_on("optimizer_memory_host_offload"):
        builder.set("layout.offload.optimizer", 1, keys.line("optimizer_memory_host_offload"))


_KERNELS = {"dot_product": "plain", "flash": "flash", "cudnn_flash_te": "flash"}


def _set_kernels(keys: Keys, builder: ImportBuilder) -> None:
    """Set the kernel of attention, the loss and the precision of gradients (configs/base.yml)."""
    builder.set("workload.attention", _KERNELS.get(str(keys.get("attention"))), keys.line("attention"))
    if (keys.integer("num_vocab_tiling") or 1) > 1:
        builder.set("layout.loss", "chunked", keys.line("num_vocab_tiling"))
    builder.set("workload.gradient_precision", _TYPES.get(str(keys.get("grad_dtype"))), keys.line("grad_dtype"))


def _set_recomputation(keys: Keys, builder: ImportBuilder) -> None:
    """Set the recomputation. With ``custom``, all tensors are recomputed except those that other keys keep or offload
    (configs/base.yml). The result depends on which tensors are kept in addition to the input of each layer.
    """
    if keys.get("remat_policy") != "custom":
        set_choice(keys, "layout.recompute", ("remat_policy",), _REMAT, builder)
        return
    kept = {name: str(keys.get(name)) for name in _TENSORS if keys.find(name) and str(keys.get(name)) != "remat"}
    line = keys.line("remat_policy")
    if kept:
        shown = ", ".join(f"{name} {where}" for name, where in kept.items())
        builder.unknown(f"remat_policy: custom, {shown}", "no value of layout.recompute keeps these tensors", line)
    else:
        builder.set("layout.recompute", "full", line)
    if keys.get("decoder_layer_input") == "offload":
        why = "inputs of layers in host memory: see layout.offload.activations"
        builder.unknown("decoder_layer_input: offload", why, keys.line("decoder_layer_input"))


def _set_precision(keys: Keys, builder: ImportBuilder) -> None:
    """Set the precision of products: the quantization's if there is one, else the type of activations."""
    word, line = str(keys.get("quantization") or "").strip().lower(), keys.line("quantization")
    if word in _QUANTIZATIONS:
        precision, recipe = _QUANTIZATIONS[word]
        builder.set("workload.precision", precision, line)
        builder.set("workload.recipe", recipe, line)
    elif word not in {"", "none", "null"}:
        builder.unknown(f"quantization: {excerpt(word)}", "no value of workload.precision corresponds to it", line)
    else:
        set_choice(keys, "workload.precision", ("dtype",), _TYPES, builder)


def _set_sharding(keys: Keys, builder: ImportBuilder) -> None:
    """Set sharding and replicas from the axes fsdp, data and expert; the last one divides dense layers like fsdp."""
    names = [f"{mesh}_{axis}_parallelism" for mesh in ("ici", "dcn") for axis in ("fsdp", "fsdp_transpose", "data")]
    line = keys.line(*names)
    if not line:
        return
    fsdp = _axis_degree(keys, ("fsdp", "fsdp_transpose"), builder)
    data = _axis_degree(keys, ("data",), builder)
    experts = _axis_degree(keys, ("expert",), builder)
    if fsdp == 1 and data is not None:
        stated = data * (experts or 1)
        sharded = "zero1" if keys.is_on("shard_optimizer_over_data") else "none"
        builder.set("layout.sharding", "fsdp" if stated == 1 else sharded, line)
    elif data is not None:
        builder.set("layout.sharding", "hsdp" if data > 1 else "fsdp", line)
        context = _axis_degree(keys, ("context",), builder)  # configs/base.yml: `embed` is divided over it, too
        if data > 1 and fsdp and experts and context:
            builder.set("layout.shard_group", fsdp * experts * context, line)
    if fsdp and data and experts:
        builder.set("layout.dp", fsdp * data * experts, line)


def _stated_axes(keys: Keys) -> str:
    """The stated axes of sharding and replicas, in brackets; empty if there are none."""
    names = (f"{mesh}_{axis}_parallelism" for mesh in ("ici", "dcn") for axis in ("fsdp", "fsdp_transpose", "data"))
    stated = [f"{name} {degree}" for name in names if (degree := keys.integer(name))]
    return f" ({', '.join(stated)})" if stated else ""


def _axis_degree(keys: Keys, axes: tuple[str, ...], builder: ImportBuilder) -> int | None:
    """The degree of the given axes over slices and within one; None if MaxText computes it when it runs.

    Without a key the value of base.yml applies: 1, except that ici_fsdp and dcn_data take all remaining devices.
    """
    degree = 1
    for name in (f"{mesh}_{axis}_parallelism" for mesh in ("ici", "dcn") for axis in axes):
        if keys.find(name) is None:
            if name in {"ici_fsdp_parallelism", "dcn_data_parallelism"}:
                builder.unknown(name, f"not stated: it takes the devices that other axes leave{_stated_axes(keys)}")
                return None
            continue
        stated = positive_integer_of(keys.get(name))
        if stated is None:
            builder.unknown(f"{name}: {keys.get(name)}", "computed at run time", keys.line(name))
            return None
        degree *= stated
    return degree


def _set_micro_batch(keys: Keys, builder: ImportBuilder) -> None:
    """Set the micro-batch of a replica: the sequences of each device in one pass, times the devices that share a
    sequence, over the micro-batches of a pipeline.

    Accumulated passes add sequences to the step, not to a pass (types.py, line 3464).
    """
    stated, line = keys.get("per_device_batch_size"), keys.line("per_device_batch_size")
    if stated is None:
        return
    shared = [path for path in ("layout.tp", "layout.cp", "layout.pp") if keys.find(*_degree_names(path))]
    given = builder.reading()
    degrees = {path: given.value(tuple(path.split("."))) for path in shared}
    steps = keys.integer("gradient_accumulation_steps") or 1
    stages = degrees.get("layout.pp") or 1
    parts = (keys.integer("num_pipeline_microbatches") or stages) if stages != 1 else 1
    counts = [degree for degree in degrees.values() if isinstance(degree, int)]
    known = len(counts) == len(degrees) and isinstance(parts, int)
    try:
        share = float(stated)
    except (TypeError, ValueError):
        known, share = False, 0.0
    whole = share * prod(counts) if known else 0.0
    if known and isinstance(parts, int) and whole >= 1 and whole == int(whole) and int(whole) % parts == 0:
        builder.set("layout.micro_batch", int(whole) // parts, line)
        replicas = given.value(("layout", "dp"))
        if isinstance(replicas, int):
            builder.set("workload.global_batch", int(whole) * replicas * steps, line)
        return
    why = "sequences of each device; those of a replica need its degrees and the stages of its pipeline"
    builder.unknown(f"per_device_batch_size: {stated}", why, line)


def _set_global_batch(keys: Keys, devices: int | None, builder: ImportBuilder) -> None:
    """Set the sequences of a step from the sequences of each device if the number of devices is known."""
    stated, known = keys.get("per_device_batch_size"), builder.reading().value(("workload", "global_batch"))
    if stated is None or devices is None or known is not None:
        if known is None and (steps := keys.integer("gradient_accumulation_steps")):
            builder.count("gradient_accumulation_steps", steps, keys.line("gradient_accumulation_steps"))
        return
    try:
        whole = float(stated) * devices * (keys.integer("gradient_accumulation_steps") or 1)
    except (TypeError, ValueError):
        return
    if 1 <= whole == int(whole):
        builder.set("workload.global_batch", int(whole), keys.line("per_device_batch_size"))


def _degree_names(path: str) -> list[str]:
    return [f"{mesh}_{axis}_parallelism" for mesh in ("ici", "dcn") for axis in _AXES[path]]


def _set_degree(path: str, degrees: list[tuple[str, object]], keys: Keys, builder: ImportBuilder) -> None:
    """Set the product of an axis over slices and hosts; record a degree that MaxText computes itself."""
    if not degrees:
        return
    counts = [positive_integer_of(value) for _, value in degrees]
    if None in counts:
        name, value = next((name, value) for (name, value), count in zip(degrees, counts, strict=True) if count is None)
        builder.unknown(f"{name}: {value}", f"{path} is computed at run time", keys.line(name))
        return
    builder.set(path, prod(count for count in counts if count), keys.line(degrees[0][0]))
