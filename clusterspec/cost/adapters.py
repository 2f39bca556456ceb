"""The weights of low-rank adapters on one rank (LoRA, QLoRA), counted from the GEMMs of a layer."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost.compute import Kernel, Shard
from clusterspec.cost.compute.attention import mixing_parts
from clusterspec.cost.compute.expert_layer import Routing, expert_work
from clusterspec.cost.compute.frozen import EXPERTS, matrices_of_kernel, module_of_kernel
from clusterspec.cost.compute.layer import dense_network_work
from clusterspec.cost.formulas.compute import larger
from clusterspec.cost.formulas.memory import adapter_weights
from clusterspec.cost.layers import Chunk, FeedForward, Layer, stage_chunks
from clusterspec.cost.parameters import Share
from clusterspec.records import replace
from clusterspec.standard import sum_of


def share_with_adapters(share: Share, workload: Workload, layout: Layout, held: tuple[Chunk, ...]) -> Share:
    """The weights ``share`` of a rank, with the weights of its adapters added; ``held`` are the chunks of its pipeline
    stage.
    """
    dense, expert, unit = _adapters_of_chunks(workload, layout, held)
    return replace(share, adapters=dense, expert_adapters=expert, adapter_unit=unit)


def _adapters_of_chunks(workload: Workload, layout: Layout, held: tuple[Chunk, ...]) -> tuple[float, float, float]:
    """Weights of the adapters of the given chunks on a rank: outside routed experts, of its experts, and most of a
    layer.
    """
    dense, expert, unit = 0.0, 0.0, 0.0
    for layer, count in _layer_counts(held):
        own, routed = _adapters_of_layer(workload, layout, layer)
        dense, expert, unit = dense + count * own, expert + count * routed, larger(unit, own + routed)
    return dense, expert, unit


def model_adapters(workload: Workload, layout: Layout) -> float:
    """The weights of all adapters of a model; 0 if all weights are trained."""
    whole = replace(layout, tp=1, cp=1, ep=1, expert_tp=1, pp=1)
    held = tuple(chunk for chunks in stage_chunks(workload.model, layout) for chunk in chunks)
    return sum_of(_adapters_of_chunks(workload, whole, held)[:2])


def _layer_counts(held: tuple[Chunk, ...]) -> Iterator[tuple[Layer, int]]:
    for chunk in held:
        yield from chunk.kinds


def _adapters_of_layer(workload: Workload, layout: Layout, layer: Layer) -> tuple[float, float]:
    """Adapter weights of one layer on a rank: outside routed experts, and inside them."""
    shard = Shard.of(workload, layout, layer.mixer, layer.wide)
    dense, expert = [0.0], [0.0]
    for part, kernel in _forward_kernels(shard, layer):
        module = module_of_kernel(part, kernel)
        if module is not None and shard.trainable and module in shard.trainable.modules:
            (expert if module == EXPERTS else dense).append(_adapter_weights(shard, kernel))
    return sum_of(dense), sum_of(expert)


def _forward_kernels(shard: Shard, layer: Layer) -> Iterator[tuple[str, Kernel]]:
    parts = dict(mixing_parts(shard))
    if layer.network is FeedForward.DENSE:
        parts["feed-forward"] = dense_network_work(shard, shard.model.ffn_hidden)
    if layer.network is FeedForward.EXPERTS:
        parts["experts"] = expert_work(shard, Routing.of(shard, 0.0))
    return ((name, kernel) for name, work in parts.items() for kernel in work.forward)


def _adapter_weights(shard: Shard, kernel: Kernel) -> float:
    """Weights of the adapters of one GEMM on the rank."""
    shape, trainable = kernel.shape, shard.trainable
    assert shape is not None and trainable is not None
    inputs = shape.k * matrices_of_kernel(shard, kernel)
    return shape.batch * adapter_weights(inputs, shape.n, trainable.rank)
