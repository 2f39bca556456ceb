"""Training designs that Megatron-LM refuses, and its defaults for what a design leaves open.

Lines of the conditions: Megatron-LM 0.20, commit d98e8a64, below ``megatron/core``, read 2026-11-28.
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Layout, Workload
from clusterspec.exchange.exporters.registry import NotExportable

OPTIMIZERS = {"adam": "adam", "adamw": "adam", "sgd": "sgd", "momentum": "sgd", "lion": "lion", "muon": "muon"}
PRECISIONS = {
    "fp8": "--bf16 --fp8-format hybrid",
    "fp4": "--bf16 --fp4-format e2m1",
    "bf16": "--bf16",
    "fp16": "--fp16",
    "fp32": "",
    "tf32": "",
}
RECIPES = {"delayed": "delayed", "current": "tensorwise", "blockwise": "blockwise", "mxfp8": "mxfp8"}
STRATEGIES = {"zero2": "optim_grads", "fsdp": "optim_grads_params", "hsdp": "optim_grads_params"}
PIPELINE_FIRST = ("tp", "cp", "ep", "pp", "dp")
_MODULES = {
    "norm": "layernorm",
    "activation": "moe_act",
    "attention": "core_attn",
    "latent": "mla_up_proj",
    "mlp": "mlp",
    "shared_experts": "shared_experts",
    "expert": "moe",
}
_UNDELAYED = {"layernorm", "moe_act"}
"""Modules that cannot be recomputed with delayed scaling (transformer/transformer_config.py, line 1997)."""


def require_known_parts(work: Workload) -> None:
    """Raise `NotExportable` for parts of a model or run for which Megatron-LM has no arguments."""
    model = work.model
    parts = {
        "linear attention": model.linear,
        "sparse attention": model.sparse,
        "compressed attention": model.compressed,
        "keys and values shared between layers": model.shared_kv,
        "layers without a feed-forward network": model.stated_ffn_layers not in {None, model.layers},
        "layers without attention": model.stated_attention_layers not in {None, model.layers},
        "windows of their own head sizes": model.window and (model.window.heads or model.window.head_dim),
        "values of another width than keys": not model.latent and model.value_width != model.head_dim,
        f"the optimizer {work.optimizer}": work.optimizer not in OPTIMIZERS,
        f"the precision {work.precision}": work.precision not in PRECISIONS,
    }
    if lacking := [name for name, present in parts.items() if present]:
        raise NotExportable(f"these arguments of Megatron-LM cannot say {', '.join(lacking)}")


def require_accepted(layout: Layout, work: Workload) -> None:
    """Raise `NotExportable` for combinations that Megatron-LM rejects."""
    refused = [*_refused_training(layout, work), *_refused_layout(layout, work.model), *_refused_scaling(layout, work)]
    if refused:
        raise NotExportable(f"Megatron-LM refuses {'; '.join(refused)}")


def _refused_training(layout: Layout, work: Workload) -> Iterator[str]:
    """Rejected combinations with an optimizer or with the training of further layers."""
    model, optimizer = work.model, OPTIMIZERS[work.optimizer]
    if layout.sharding in STRATEGIES and optimizer not in {"adam", "sgd"}:  # training/arguments.py, line 1150
        yield f"Megatron-FSDP, which is {layout.sharding}, with {work.optimizer}"
    if layout.offload_optimizer and optimizer != "adam":  # optimizer/optimizer_config.py, line 434
        yield f"to offload other than the states of Adam ({work.optimizer})"
    if (
        layout.offload_optimizer and layout.sharding == "none" and layout.dp * layout.cp > 1
    ):  # optimizer/__init__.py, line 1054
        yield "to offload optimizer states without the distributed optimizer: state a sharding, such as zero1"
    if work.precision == "fp16" and optimizer in {"lion", "muon"}:  # optimizer/__init__.py, line 776
        yield f"{work.optimizer} in fp16"
    if model.predicted and model.block is not None and model.block.positions != "rope":  # training/arguments.py, 883
        yield "multi-token prediction without rotary positions"


def _refused_layout(layout: Layout, model: Model) -> Iterator[str]:
    """Rejected combinations of degrees with each other and with parts of a model."""
    if model.experts and layout.tp > 1 and not layout.sequence_parallel:  # transformer/moe/moe_layer.py, line 636
        yield "experts with tp and without sequence parallelism"
    biased = model.block is not None and model.block.bias == "all"
    if model.experts and biased and layout.expert_tp > 1:  # transformer/transformer_config.py, line 2612
        yield f"biases of experts with expert_tp {layout.expert_tp}"
    if layout.order == PIPELINE_FIRST and layout.pp > 1 and layout.expert_dp != layout.dp:  # parallel_state.py, 880
        yield f"this order of ranks where experts have other data-parallel ranks ({layout.expert_dp}, not {layout.dp})"
    if layout.sharding == "hsdp" and layout.expert_dp % shard_groups(layout):  # parallel_state.py, line 1447
        yield f"{shard_groups(layout)} shard groups for {layout.expert_dp} data-parallel ranks of experts"
    if model.window and layout.cp > 1 and layout.cp_method == "ring":
        # TransformerEngine d0067d0d (2.20.0.dev0), context_parallel.py of its PyTorch attention, line 5057
        yield "windows with context parallelism by rings: Transformer Engine has them by all-gather or all-to-all"


def _refused_scaling(layout: Layout, work: Workload) -> Iterator[str]:
    if work.precision == "fp8" and work.recipe == "delayed" and (parts := _undelayed_parts(layout, work)):
        yield f"delayed scaling with {' and '.join(parts)}"


def _undelayed_parts(layout: Layout, work: Workload) -> list[str]:
    """The parts of a run that exclude delayed scaling (transformer/transformer_config.py, lines 1526 and 1997)."""
    again = sorted(_UNDELAYED.intersection(recomputed_modules(layout, work.model)))
    wide = ["layers in 16 bits"] if any(work.model.wide_layers) else []
    return [*(f"the recomputation of {name}" for name in again), *wide]


def shard_groups(layout: Layout) -> int:
    """The groups of data-parallel ranks that each hold all of the parameters."""
    return max(1, layout.dp * layout.cp // layout.shard_group)


def recomputed_modules(layout: Layout, model: Model) -> list[str]:
    """The recomputed modules that the model has. Megatron-LM refuses or ignores others
    (transformer/transformer_config.py, lines 1965 to 1971).
    """
    parts = layout.recompute if isinstance(layout.recompute, tuple) else ()
    absent = set() if model.experts else {"activation", "expert", "shared_experts"}
    absent |= set() if model.latent else {"latent"}
    return [_MODULES[part] for part in parts if part not in absent]


def scaling_recipe(layout: Layout, work: Workload) -> str:
    """The value of ``--fp8-recipe``; empty for Megatron-LM's own, delayed scaling, if the design states none.

    Where the design states none and delayed scaling would stop the run, current scaling by tensor.
    """
    if work.precision != "fp8":
        return ""
    return RECIPES.get(work.recipe or "", "tensorwise" if _undelayed_parts(layout, work) else "")
