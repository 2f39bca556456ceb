"""Designs for tests of memory, settled by hand: a model, a layout, an accelerator."""

from __future__ import annotations

from functools import cache
from typing import Any

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator
from clusterspec.catalog.models import Model
from clusterspec.catalog.reader import Status
from clusterspec.catalog.stacks import Stack
from clusterspec.cluster.degrees import even_stages
from clusterspec.cluster.layout import resolve_software
from clusterspec.cluster.model import Cluster, Design, Layout, Overlap, ScaleUp, Workload
from clusterspec.cluster.resolution import Lookup, ResolutionLog
from clusterspec.quantity import Bandwidth, Figure
from clusterspec.source import Assumed
from clusterspec.spec.model import LayoutSpec, Spec

STATUS = Status("shipping", "2026-01-01")
TEST = Assumed("test", "a test")


def model(**sizes: Any) -> Model:
    """A dense Llama of eight layers unless sizes say otherwise."""
    base: dict[str, Any] = {
        "layers": 8,
        "hidden": 1024,
        "heads": 16,
        "kv_heads": 8,
        "ffn_hidden": 4096,
        "vocab": 32000,
        "gated_ffn": True,
    }
    chosen = {**base, **sizes}
    chosen.setdefault("head_dim", chosen["hidden"] // chosen["heads"])
    return Model(id="", name="test", vendor="", status=STATUS, notes=(), **chosen)


def experts(**sizes: Any) -> Model:
    """The same with experts in all but its first layer."""
    return model(
        **{
            "experts": 16,
            "experts_per_token": 2,
            "expert_ffn_hidden": 512,
            "moe_layers": 7,
            "shared_experts": 1,
            **sizes,
        }
    )


def layout(of: Model, **cut: Any) -> Layout:
    """A layout of one rank unless degrees say otherwise; dp is what is left of ``ranks``."""
    tp, cp, pp, dp = (cut.pop(axis, 1) for axis in ("tp", "cp", "pp", "dp"))
    ranks = tp * cp * pp * dp
    ep, expert_tp, virtual = cut.pop("ep", 1), cut.pop("expert_tp", 1), cut.pop("virtual_stages", 1)
    sharding = cut.get("sharding", "zero1")
    base: dict[str, Any] = {
        "framework": "megatron-core",
        "software_year": 2025,
        "nodes": 1,
        "expert_dp": max(1, ranks // (ep * expert_tp * pp)),
        "sequence_parallel": tp > 1,
        "cp_method": "ring",
        "sharding": sharding,
        "shard_group": 1 if sharding == "none" else dp * cp,
        "order": ("tp", "cp", "ep", "dp", "pp"),
        "schedule": "interleaved" if virtual > 1 else "1f1b",
        "stage_layers": even_stages(of.layers, pp * virtual),
        "micro_batch": 1,
        "micro_batches": 8,
        "recompute": "none",
        "offload_optimizer": 0.0,
        "offload_activations": 0.0,
        "master_precision": "fp32",
        "moments_precision": "fp32",
        "gradient_compression": 1.0,
        "overlap": Overlap(),
    }
    whole = {**base, **cut}
    whole.setdefault("stack", stack(whole["framework"], whole["software_year"]))
    return Layout(tp=tp, cp=cp, pp=pp, dp=dp, ep=ep, expert_tp=expert_tp, ranks=ranks, virtual_stages=virtual, **whole)


@cache
def stack(framework: str, year: int) -> Stack | None:
    """The generation of software of a year, of the shipped catalog."""
    spec = LayoutSpec(framework=framework, software_year=year)
    lookup = Lookup(Catalog.open(), ResolutionLog(Spec("test.yaml")))
    return resolve_software(spec, lookup).stack


def workload(of: Model, **said: Any) -> Workload:
    """Training in bf16 on sequences of 2,048 tokens unless it is said otherwise."""
    base: dict[str, Any] = {
        "kind": "train",
        "sequence_length": 2048,
        "global_batch": 64,
        "precision": "bf16",
        "parameter_precision": "bf16",
        "expert_parameter_precision": "bf16",
        "kv_precision": "bf16",
        "gradient_precision": "fp32",
        "optimizer": "adam",
        "attention": "flash",
        "peak": None,
    }
    return Workload(model=of, **{**base, **said})


def design(
    of: Model | None = None, work: dict[str, Any] | None = None, *, ranks_per_accelerator: int = 1, **cut: Any
) -> Design:
    """A design of one node of 80 GB accelerators."""
    chosen = of or model()
    memory = Figure(80e9, "B", TEST)
    accelerator = Accelerator(id="test", name="test", vendor="test", status=STATUS, notes=(), memory=memory)
    rate = Bandwidth.one_way(450e9, TEST)
    cluster = Cluster(
        accelerator=accelerator,
        nodes=1,
        spare_nodes=0,
        accelerators_per_node=8,
        ranks_per_accelerator=ranks_per_accelerator,
        scale_up=ScaleUp(8, "switched", rate, rate),
        scale_out=None,
    )
    placed = layout(chosen, **cut)
    asked = work or {}
    if placed.stack is not None:
        usual = placed.stack.memory.gradient_precision(asked.get("precision", "bf16"))
        asked = {"gradient_precision": usual, **asked}
    return Design(Spec("test.yaml"), cluster, workload(chosen, **asked), placed)
