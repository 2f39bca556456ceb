"""Tensors that DTensor shards: copies between layouts, and operations that the host dispatches on them."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.cost import assumed_figure
from clusterspec.cost.compute import SHARDED, Kernel, Role, Shard, Work, is_product, streaming_work
from clusterspec.cost.compute.frozen import matrices_of_kernel

DISPATCHES = (
    assumed_figure(
        SHARDED,
        "dispatches",
        4.0,
        "operations that PyTorch dispatches for one matrix that tensor parallelism splits: a transposition,"
        " two views and a product (torch.nn.functional.linear on three dimensions); by count",
    ).value,
    assumed_figure(
        SHARDED,
        "dispatches.backward",
        8.0,
        "backward-pass operations that PyTorch dispatches for one matrix that tensor parallelism splits: two "
        "products, three transpositions and three views; by count",
    ).value,
)


def sharded_parts(parts: Mapping[str, Work], shard: Shard, copies: float, launches: float) -> dict[str, Work]:
    """The work that tensor parallelism adds to a layer: ``copies`` of gathered rows, and dispatches of operations. A
    dispatch takes the host as long as ``launches`` launches, 0 if a compiler removes it.
    """
    found = {}
    if copies and shard.sequence_parallel and shard.gathers_whole:
        found["copies"] = gather_copies(shard, copies)
    if launches:
        found["sharded tensors"] = dispatch_work(parts, shard, launches)
    return found


def gather_copies(shard: Shard, copies: float) -> Work:
    """Copies between the layout that collectives use and the layout that GEMMs read, each of the rows of all
    tensor-parallel ranks.

    DTensor keeps the batch before the sequence, but NCCL joins and divides only along the first dimension.
    """
    moved = copies * 2 * shard.width * shard.tokens * shard.model.hidden
    return streaming_work("copies of gathered rows", (moved, moved), copies, Role.COUNTED)


def dispatch_work(parts: Mapping[str, Work], shard: Shard, launches: float) -> Work:
    """The dispatches of a layer's sharded matrices, each as long as ``launches`` launches on the host. Routed experts
    and the operations between products use plain tensors and add none.
    """
    cut = (kernel for work in parts.values() for kernel in work.forward if is_product(kernel))
    matrices = sum(matrices_of_kernel(shard, each) for each in cut if each.shape is None or not each.shape.experts)
    there, back = (
        Kernel("sharded tensors", 0.0, 0.0, launches=launches * each * matrices, role=Role.COUNTED)
        for each in DISPATCHES
    )
    return Work((there,), (back,))
