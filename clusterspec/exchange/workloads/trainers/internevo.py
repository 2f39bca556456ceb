"""Configurations of InternEvo (Python): ``data``, ``model`` and ``parallel`` as dictionaries.

Names and defaults: InternLM/InternEvo 24180aa8 (as Sullivan-24/InternEvo has it), internlm/initialize/launch.py, lines
72 to 170: a step has ``micro_num`` passes of ``micro_bsz`` samples, filled to ``seq_len`` tokens each, and degrees that
are absent are 1. internlm/initialize/initialize_tensor.py and docs of ``parallel``: ``mtp`` divides matrices as
Megatron-LM does, ``msp`` and ``fsp`` divide sequences by the same ranks as well, ``isp`` divides sequences and weights
by groups of their own.
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, excerpt
from clusterspec.exchange.workloads.config_code import CodeConfig, read_assignments
from clusterspec.exchange.workloads.keys import OPEN_COUNT, Keys, set_choice, set_counts
from clusterspec.exchange.workloads.unused_keys import list_unused

INTERNEVO = "internevo"
_MARKS = (
    re.compile(r"^data[ \t]*=[ \t]*(?:dict\(|\{)", re.MULTILINE),
    re.compile(r"\bmicro_bsz\b"),
    re.compile(r"^(?:parallel|model)[ \t]*=[ \t]*(?:dict\(|\{)", re.MULTILINE),
)
_COUNTS = {
    "layout.micro_batch": ("data.micro_bsz",),
    "workload.sequence_length": ("data.seq_len",),
    "workload.model.layers": ("model.num_layers",),
    "workload.model.hidden": ("model.hidden_size",),
    "workload.model.heads": ("model.num_attention_heads",),
    "workload.model.kv_heads": ("model.num_kv_attention_heads",),
    "workload.model.vocab": ("model.vocab_size",),
}
_EXPERTS = {
    "workload.model.experts": ("model.num_experts",),
    "workload.model.experts_per_token": ("model.top_k", "moe.top_k"),
}
_DTYPES = {"torch.bfloat16": "bf16", "torch.float16": "fp16", "torch.half": "fp16", "torch.float32": "fp32"}
_ALIKE = frozenset({"mtp", "msp", "fsp"})
_UNRELATED = re.compile(
    r"(?:[A-Z][A-Z0-9_]*|cudnn_\w+|use_\w+)$|(?:ckpt|grad_scaler|hybrid_zero_optimizer|loss|adam|lr_scheduler"
    r"|beta2_scheduler|monitor|tokenizer)\."
)


def matches_internevo(file: InputFile) -> bool:
    return file.name.endswith(".py") and all(mark.search(file.text) for mark in _MARKS)


def read_internevo(file: InputFile) -> ImportResult:
    """The model, the batch and the layout of a run. Raises `FormatError` if it states no micro-batch."""
    builder, config, keys = ImportBuilder(INTERNEVO, file.name), read_assignments(file), Keys()
    keys.values = {name: held for name, held in config.values.items() if held[0] is not None}
    if keys.find("data.micro_bsz") is None:
        raise FormatError("is no configuration of InternEvo: it has no data.micro_bsz")
    builder.set("workload.kind", "train", keys.line("data.micro_bsz"))
    builder.set("layout.framework", INTERNEVO, keys.line("data.micro_bsz"))
    set_counts(keys, _COUNTS, builder)
    _set_experts(keys, builder)
    if passes := keys.integer("data.micro_num"):
        builder.count("gradient_accumulation_steps", passes, keys.line("data.micro_num"))
    set_choice(keys, "workload.precision", ("model.dtype",), _DTYPES, builder)
    _set_recompute(keys, builder)
    if "parallel" in file.text:
        _set_layout(keys, config, builder)
    keys.used |= {name for name in keys.values if _UNRELATED.match(name)}
    list_unused(keys, builder)
    return builder.reading()


def _set_experts(keys: Keys, builder: ImportBuilder) -> None:
    """Set the experts of a model that has several."""
    if (keys.integer("model.num_experts") or 1) > 1:
        set_counts(keys, _EXPERTS, builder)


def _set_recompute(keys: Keys, builder: ImportBuilder) -> None:
    """Set the recomputation of all layers or of none; list a share of them."""
    share = keys.get("model.checkpoint")
    if share in (0, 1):
        builder.set("layout.recompute", "full" if share else "none", keys.line("model.checkpoint"))
    elif share is not None:
        why = "the share of layers that are computed again: state layout.recompute"
        builder.unknown(f"checkpoint: {excerpt(share)}", why, keys.line("model.checkpoint"))


def _set_layout(keys: Keys, config: CodeConfig, builder: ImportBuilder) -> None:
    """Set the degrees and the sharding; a degree that is absent is 1."""
    held = [line for name, (_, line) in keys.values.items() if name.startswith("parallel")]
    line = min(held, default=0)
    stages = ("parallel.pipeline.size", "parallel.pipeline")
    if (degree := _degree(keys, config, *stages)) is not None:
        builder.set("layout.pp", degree, keys.line(*stages) or line)
    else:
        builder.unknown("pipeline: its size", OPEN_COUNT, keys.line(*stages) or line)
    size, mode = ("parallel.tensor.size", "parallel.tensor"), str(keys.get("parallel.tensor.mode") or "mtp")
    degree = _degree(keys, config, *size)
    if degree is not None and (mode in _ALIKE or degree == 1):
        builder.set("layout.tp", degree, keys.line(*size) or line)
        builder.set("layout.sequence_parallel", True if mode in {"msp", "fsp"} and degree > 1 else None, line)
    else:
        why = "divides sequences, and weights by groups of their own, which layout.tp does not describe"
        builder.unknown(f"tensor: {excerpt(mode)} of {degree} ranks", why, keys.line(*size) or line)
    _set_sharding(keys, config, builder, line)


def _set_sharding(keys: Keys, config: CodeConfig, builder: ImportBuilder, line: int) -> None:
    """Set the sharding of the optimizer by all ranks, or of the parameters as well."""
    names = ("parallel.zero1.size", "parallel.zero1")
    group, whole = keys.get(*names), keys.is_on("parallel.zero1.fsdp")
    if whole or (group in (None, -1, 0) and not config.is_open(*names)):
        builder.set("layout.sharding", "fsdp" if whole else "zero1", keys.line("parallel.zero1.fsdp") or line)
    elif group == 1:
        builder.set("layout.sharding", "none", line)
    else:
        why = "groups of ranks: the file does not say whether they are all ranks or only some"
        builder.unknown(f"zero1: {excerpt(group)}", why, line)


def _degree(keys: Keys, config: CodeConfig, *names: str) -> int | None:
    """A degree, which is 1 where it is absent; None if the file does not decide it."""
    if keys.find(*names) is None:
        return None if config.is_open(*names) else 1
    return keys.integer(*names)
