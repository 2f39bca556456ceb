"""Training designs as a launch of Megatron Bridge: its ``run_recipe.py`` with overrides of ``ConfigContainer``.

The recipe ``vanilla_gpt_pretrain_config`` has the defaults of Megatron-LM's ``pretrain_gpt.py``, so that each argument
of Megatron-LM is an override of one field. Fields, and where Bridge differs from Megatron-LM:
NVIDIA-NeMo/Megatron-Bridge 0.7.0, commit 067f987d, below src/megatron/bridge: recipes/gpt/h100/vanilla_gpt.py (the
recipe), models/gpt_provider.py (line 126, the model), training/config.py (lines 89 to 500 and 2101) and
training/mixed_precision.py; docs/megatron-lm-to-megatron-bridge.md; fields of Megatron Core at NVIDIA/Megatron-LM
d98e8a64.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from clusterspec.cluster.model import Layout, Workload
from clusterspec.exchange.exporters.megatron import launch_groups, launch_head
from clusterspec.exchange.exporters.megatron_limits import OPTIMIZERS, PIPELINE_FIRST, STRATEGIES, scaling_recipe
from clusterspec.exchange.exporters.registry import ExportedFile, ExportInput, NotExportable, training_design

_RECIPE = "vanilla_gpt_pretrain_config"
_MODEL_NAMES = frozenset(
    (
        *("tensor-model-parallel-size", "pipeline-model-parallel-size", "context-parallel-size"),
        *("expert-model-parallel-size", "expert-tensor-parallel-size", "sequence-parallel"),
        *("pipeline-model-parallel-layout", "cp-comm-type", "tp-comm-overlap", "overlap-moe-expert-parallel-comm"),
        *("recompute-granularity", "recompute-method", "recompute-num-layers", "recompute-modules"),
        *("num-layers", "hidden-size", "num-attention-heads", "ffn-hidden-size", "kv-channels", "num-query-groups"),
        *("attention-dropout", "hidden-dropout", "normalization", "position-embedding-type"),
        *("rotary-base", "rotary-percent", "rope-scaling-factor", "add-qkv-bias", "qk-layernorm"),
        *("window-size", "window-attn-skip-freq", "mtp-num-layers", "fp32-residual-connection"),
        *("moe-router-topk", "moe-ffn-hidden-size", "moe-grouped-gemm", "moe-latent-size", "moe-layer-freq"),
        *("moe-shared-expert-intermediate-size", "moe-router-score-function", "moe-router-pre-softmax"),
        *("moe-router-num-groups", "moe-router-group-topk", "moe-router-topk-scaling-factor"),
        *("moe-router-enable-expert-bias", "moe-token-dispatcher-type", "moe-flex-dispatcher-backend"),
        *("moe-expert-capacity-factor", "cuda-graph-impl", "cross-entropy-loss-fusion"),
    )
)
"""Arguments of Megatron-LM that are fields of the model with the same name."""
_FIELDS = {
    "num-virtual-stages-per-pipeline-rank": "model.virtual_pipeline_model_parallel_size",
    "norm-epsilon": "model.layernorm_epsilon",
    "vocab-size": "tokenizer.vocab_size",  # padded as in Megatron-LM where the model has none: training/setup.py, 762
    "use-rope-scaling": "model.rope_scaling",
    "num-experts": "model.num_moe_experts",
    "micro-batch-size": "train.micro_batch_size",
    "global-batch-size": "train.global_batch_size",
    "train-iters": "train.train_iters",
    "sgd-momentum": "optimizer.sgd_momentum",
    "optimizer-cpu-offload": "optimizer.optimizer_cpu_offload",
    "optimizer-offload-fraction": "optimizer.optimizer_offload_fraction",
    "use-precision-aware-optimizer": "optimizer.use_precision_aware_optimizer",
    "main-params-dtype": "optimizer.main_params_dtype",
    "exp-avg-dtype": "optimizer.exp_avg_dtype",
    "exp-avg-sq-dtype": "optimizer.exp_avg_sq_dtype",
    "overlap-grad-reduce": "ddp.overlap_grad_reduce",
    "overlap-param-gather": "ddp.overlap_param_gather",
    "data-parallel-sharding-strategy": "ddp.data_parallel_sharding_strategy",
    "num-distributed-optimizer-instances": "ddp.num_distributed_optimizer_instances",
    "ckpt-format": "checkpoint.ckpt_format",
    "use-tp-pp-dp-mapping": "dist.use_tp_pp_dp_mapping",
}
"""Arguments of Megatron-LM that are fields with another name or of another part."""
_SEVERAL = {
    "seq-length": ("model.seq_length", "dataset.seq_length"),
    "use-megatron-fsdp": ("dist.use_megatron_fsdp", "ddp.use_megatron_fsdp"),
}
_FALSE = {
    "disable-bias-linear": "model.add_bias_linear",
    "untie-embeddings-and-output-weights": "model.share_embeddings_and_output_weights",
}
"""Arguments of Megatron-LM that turn a field off."""
_DISTRIBUTED = ("ddp.use_distributed_optimizer", "optimizer.use_distributed_optimizer")
"""Both parts state it; the recipe's optimizer has it on, which turns on the other (training/config.py, line 2114)."""
_ELSEWHERE = frozenset(
    (
        *("group-query-attention", "swiglu", "optimizer", "use-distributed-optimizer", "no-overlap-p2p-communication"),
        *("bf16", "fp16", "fp8-format", "fp8-recipe", "fp4-format", "first-last-layers-bf16"),
        *("num-layers-at-start-in-bf16", "num-layers-at-end-in-bf16", "attention-backend"),
        *("grad-reduce-in-bf16", "accumulate-allreduce-grads-in-fp32", "max-position-embeddings"),
    )
)
"""Arguments that other fields imply, or that `_written` and `_unsaid` write or list."""
_MIXED = {"bf16": "bf16_mixed", "fp16": "fp16_mixed", "fp4": "bf16_with_nvfp4_mixed"}
_MIXED_FP8 = {
    "delayed": "bf16_with_fp8_delayed_scaling_mixed",
    "tensorwise": "bf16_with_fp8_current_scaling_mixed",
    "blockwise": "bf16_with_fp8_subchannel_scaling_mixed",
    "mxfp8": "bf16_with_mxfp8_mixed",
}
_GATHERED_NARROW = frozenset({*_MIXED_FP8.values(), _MIXED["fp4"]} - {_MIXED_FP8["blockwise"]})
"""Recipes of mixed precision that gather the weights in the narrow format (training/mixed_precision.py)."""
_KEPT_WIDE = {_MIXED_FP8["tensorwise"]: (1, 1)}
"""The first and last layers that a recipe of mixed precision keeps in 16 bits."""
_NOT_STATED = (
    "tokenizer, data, learning rate{}, validation and checkpoints, which are those of the recipe: see tokenizer.*, "
    "--dataset, optimizer.lr, validation.eval_iters, checkpoint.save"
)


def write(source: ExportInput) -> ExportedFile:
    """The launch, one group of overrides per line. Raises `NotExportable` if no overrides describe the design."""
    layout, work = training_design(source, "megatron-bridge")
    if work.model.latent:
        why = f"the recipe {_RECIPE} of Megatron Bridge has no latent attention"
        raise NotExportable(
            f"{why}: the recipes of such models have a layout to override, and `export megatron` states all"
        )
    if layout.sharding in STRATEGIES and layout.order == PIPELINE_FIRST and layout.pp > 1:
        raise NotExportable(
            "Megatron Bridge refuses this order of ranks with Megatron-FSDP (training/config.py, line 1124)"
        )
    groups, left = launch_groups(source)
    omitted = [_NOT_STATED.format("" if work.tokens else ", iterations"), *map(_in_fields, left[1:])]
    arguments = [list(_arguments(group)) for group in groups if group]
    names = {name for group in arguments for name, _ in group}
    lines = [*(" ".join(_overrides(group)) for group in arguments), *_written(names, layout, work)]
    omitted += _unsaid(source, layout, work)
    program = f"scripts/training/run_recipe.py --recipe {_RECIPE} --mode pretrain"
    body = " \\\n".join(f"  {line}" for line in lines if line)
    return ExportedFile("\n".join([*launch_head(source, program), body, ""]), tuple(omitted))


def _arguments(group: str) -> Iterator[tuple[str, list[str]]]:
    """The arguments of a line of options, each with the words after it."""
    words = shlex.split(group)
    starts = [n for n, word in enumerate(words) if word.startswith("--")]
    for start, end in zip(starts, [*starts[1:], len(words)], strict=True):
        yield words[start].removeprefix("--"), words[start + 1 : end]


def _overrides(group: Sequence[tuple[str, list[str]]]) -> Iterator[str]:
    """The overrides that say what arguments of Megatron-LM say."""
    for name, values in group:
        if name in _ELSEWHERE or values == ["fp8"]:
            continue
        if name in _FALSE:
            yield f"{_FALSE[name]}=false"
            continue
        value = _field_text(name, values)
        for field in _SEVERAL.get(name) or (_FIELDS[name] if name in _FIELDS else _model_field(name),):
            yield shlex.quote(f"{field}={value}")


def _model_field(name: str) -> str:
    if name not in _MODEL_NAMES:
        raise AssertionError(f"no field of Megatron Bridge for --{name}")
    return f"model.{name.replace('-', '_')}"


def _field_text(name: str, values: Sequence[str]) -> str:
    """A value in the grammar of overrides: ``true``, a word, or a list.

    >>> _field_text("sequence-parallel", []), _field_text("window-size", ["127,0"])
    ('true', '[127,0]')
    >>> _field_text("moe-layer-freq", ["([0]*2+[1]*3)"])
    '[0,0,1,1,1]'
    >>> _field_text("recompute-modules", ["core_attn", "mlp"]), _field_text("moe-layer-freq", ["2"])
    ('[core_attn,mlp]', '2')
    """
    if name == "recompute-modules":
        return f"[{','.join(values)}]"
    if name == "window-size":
        return f"[{values[0]}]"
    if name == "moe-layer-freq" and (runs := re.findall(r"\[([01])\]\*(\d+)", values[0])):
        return f"[{','.join(mark for mark, count in runs for _ in range(int(count)))}]"
    return values[0] if values else "true"


def _written(names: set[str], layout: Layout, work: Workload) -> Iterator[str]:
    """Overrides of fields whose value in the recipe differs from the default of Megatron-LM, or that one argument sets
    together.

    Muon divided among the data-parallel ranks is an optimizer of its own (training/optim.py, line 109), for which the
    recipes turn the distributed optimizer off. Messages between stages overlap in Megatron-LM with virtual stages
    (megatron/training/arguments.py, line 1000).
    """
    divided, muon = "use-distributed-optimizer" in names, work.optimizer == "muon"
    yield f"optimizer.optimizer={'dist_' if divided and muon else ''}{OPTIMIZERS[work.optimizer]}"
    yield " ".join(f"{field}={'true' if divided and not muon else 'false'}" for field in _DISTRIBUTED)
    gated = "true model.activation_func=silu" if work.model.gated_ffn else "false"
    yield f"model.gated_linear_unit={gated}"
    if work.model.tied_embeddings:
        yield "model.share_embeddings_and_output_weights=true"
    if layout.virtual_stages > 1 and "no-overlap-p2p-communication" not in names:
        yield "model.overlap_p2p_comm=true model.batch_p2p_comm=false"
    mixed = _mixed(layout, work)
    yield f"mixed_precision={mixed}" if mixed else "mixed_precision=null optimizer.bf16=false"


def _mixed(layout: Layout, work: Workload) -> str:
    """The recipe of mixed precision; empty for a run in 32 bits."""
    if work.precision == "fp8":
        return _MIXED_FP8[scaling_recipe(layout, work) or "delayed"]
    return _MIXED.get(work.precision, "")


def _unsaid(source: ExportInput, layout: Layout, work: Workload) -> Iterator[str]:
    """What overrides cannot say, or say differently."""
    asked, mixed = source.design.spec.workload, _mixed(layout, work)
    reduced = "fp16" if mixed == _MIXED["fp16"] else "fp32"
    if asked is not None and asked.gradient_precision and asked.gradient_precision != reduced:
        yield f"gradients in {asked.gradient_precision}: {mixed or 'the recipe'} reduces them in {reduced}"
    if asked is not None and asked.attention:
        yield f"attention {asked.attention}: an override does not set the enumeration model.attention_backend"
    states = source.design.spec.layout and source.design.spec.layout.optimizer_states
    if states and states.moments == "fp8":
        yield "optimizer_states: moments fp8, for which overrides have no name (utils/activation_map.py, line 95)"
    kept = _KEPT_WIDE.get(mixed, (0, 0))
    if tuple(work.model.wide_layers or (0, 0)) != kept:
        first, last = kept
        stated = (
            f"the first {first} and the last {last} layers stay in 16 bits"
            if any(kept)
            else "no layers stay in 16 bits"
        )
        yield f"layers in 16 bits: with {mixed}, {stated}"
    if mixed in _GATHERED_NARROW:
        yield f"weights are gathered in the narrow format with {mixed}"
    positions = work.model.block.positions if work.model.block else "learned"
    if positions == "learned" and (work.model.max_sequence_length or 0) > work.sequence_length:
        yield f"learned positions for {work.model.max_sequence_length} tokens: model.seq_length states those of the run"


def _in_fields(text: str) -> str:
    """A note about arguments of Megatron-LM with the fields of Megatron Bridge in their place.

    >>> _in_fields("captured_graphs: see --cuda-graph-impl"), _in_fields("see --lr")
    ('captured_graphs: see model.cuda_graph_impl', 'see --lr')
    """

    def field(match: re.Match[str]) -> str:
        name = match[1]
        if name in _FIELDS:
            return _FIELDS[name]
        return f"model.{name.replace('-', '_')}" if name in _MODEL_NAMES else match[0]

    return re.sub(r"--([a-z0-9]+(?:-[a-z0-9]+)*)", field, text)
