"""Kernels of a linear-attention or state-space recurrence in one layer."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.catalog.models import LinearAttention
from clusterspec.cost import assumed_figure, cited_figure
from clusterspec.cost.compact_mixers import GATES
from clusterspec.cost.compute import (
    GemmShape,
    Kernel,
    Role,
    Shard,
    Work,
    linear_work,
    streaming_work,
)
from clusterspec.cost.compute.attention import RECURRENCE
from clusterspec.cost.formulas import attention as formulas
from clusterspec.cost.formulas.memory import share_of_heads
from clusterspec.quantity import Figure
from clusterspec.records import NamedTuple
from clusterspec.source import Cited

BACKWARD = assumed_figure(
    RECURRENCE,
    "backward",
    3.0,
    "operations of the backward pass of the recurrence, relative to the forward pass: two gradients for each "
    "product, and the forward pass again, since its states are not stored (arXiv 2412.06464, section 3.3)",
).value
_READ = "2026-11-20"
_FLA = "https://github.com/fla-org/flash-linear-attention/tree/main/fla/ops"
_MAMBA = "https://github.com/state-spaces/mamba/blob/main/mamba_ssm/ops/triton/ssd_combined.py"


class Chunks(NamedTuple):
    """The chunking of a sequence by the kernels of one kind, as arguments of `chunked_flops` and `chunked_elements`."""

    tokens: float
    key_products: float
    value_products: float
    state_products: float
    copies: float
    value_passes: float
    state_passes: float
    launches: float

    @classmethod
    def declared_chunks(cls, kind: str, source: str, url: str, *values: float) -> Chunks:
        """Chunking parameters, registered as constants with the kernel source that they come from."""

        def figure(name: str, value: float) -> Figure:
            origin = Cited(f"kernels/{kind}", name, source, url, _READ)
            return cited_figure(RECURRENCE, f"{kind}.{name}", value, origin)

        return cls(*(figure(name, value).value for name, value in zip(cls._fields, values, strict=True)))


_DELTA = Chunks.declared_chunks(
    "delta", "flash-linear-attention, ops/gated_delta_rule/chunk.py and ops/kda", _FLA, 64, 3, 2, 3, 2, 2, 2, 6
)
CHUNKS = {
    "gated-delta": _DELTA,
    "kimi-delta": _DELTA,
    "mamba-2": Chunks.declared_chunks(
        "mamba-2", "mamba, ops/triton/ssd_combined.py; chunks of Nemotron 3", _MAMBA, 128, 1, 1, 2, 0, 3, 6, 5
    ),
}
"""The chunks of each kind of recurrence."""


class Widths(NamedTuple):
    """Widths of keys, values and heads of one layer on one rank."""

    keys: float
    values: float
    heads: float


def recurrence_widths(shard: Shard, part: LinearAttention) -> Widths:
    """The widths on one tensor-parallel rank. A key head is never split."""
    keys = share_of_heads(part.key_heads, shard.tp) * part.key_head_dim
    return Widths(keys, part.value_width / shard.tp, part.value_heads / shard.tp)


def recurrence_projections(shard: Shard, part: LinearAttention) -> Work:
    """Queries, keys, values and gates."""
    keys, values, heads = recurrence_widths(shard, part)
    hidden = shard.model.hidden
    if part.kind in GATES:
        inputs = 2 * keys + 2 * values + GATES[part.kind] * heads
        return linear_work("recurrence in", GemmShape(shard.tokens, hidden, inputs), shard.precision)
    gates = (0 if part.gate_rank else keys) + (0 if part.output_gate_rank else values)
    inputs = 2 * keys + values + heads + gates
    work = linear_work("recurrence in", GemmShape(shard.tokens, hidden, inputs), shard.precision)
    work += _low_rank_gate("decay", shard, part.gate_rank, keys)
    return work + _low_rank_gate("output gate", shard, part.output_gate_rank, values)


def _low_rank_gate(name: str, shard: Shard, rank: int, outputs: float) -> Work:
    """The two GEMMs of a low-rank gate. Every tensor-parallel rank applies the whole first matrix to its own rows."""
    down = linear_work(f"{name} compression", GemmShape(shard.rows, shard.model.hidden, rank), shard.precision)
    return down + linear_work(f"{name} expansion", GemmShape(shard.tokens, rank, outputs), shard.precision, Role.LIGHT)


def convolution_work(shard: Shard, part: LinearAttention) -> Work:
    """The short causal convolution reads its input and writes its output; the backward pass also reads a gradient."""
    held = recurrence_widths(shard, part)
    moved = shard.width * shard.tokens * (2 * held.keys + held.values)
    return streaming_work("convolution", (2 * moved, 3 * moved), role=Role.LIGHT)


def recurrence_core(shard: Shard, part: LinearAttention) -> Work:
    """The chunked recurrence. It runs at the rate of attention kernels, since the catalog has no separate figure."""
    held, chunks = recurrence_widths(shard, part), CHUNKS[part.kind]
    flops = shard.tokens * formulas.chunked_flops(
        held.heads,
        part.key_head_dim,
        part.value_head_dim,
        chunk=chunks.tokens,
        key_products=chunks.key_products,
        value_products=chunks.value_products,
        state_products=chunks.state_products,
    )
    elements = formulas.chunked_elements(
        held.keys,
        held.values,
        held.heads,
        part.key_head_dim,
        chunk=chunks.tokens,
        copies=chunks.copies,
        value_passes=chunks.value_passes,
        state_passes=chunks.state_passes,
    )
    moved = shard.width * shard.tokens * elements
    shape = GemmShape(shard.length, part.value_head_dim, chunks.tokens, shard.sequences * held.heads)
    there = Kernel("recurrence", flops, moved, "attention_forward", shape, chunks.launches, Role.SCAN)
    back = there._replace(
        name="recurrence: gradient",
        flops=BACKWARD * flops,
        traffic=BACKWARD * moved,
        rate="attention_backward",
        launches=2 * chunks.launches,
    )
    return Work((there,), (back,))


def recurrence_output(shard: Shard, part: LinearAttention) -> Work:
    """The gated norm of the recurrence's output, and the output projection."""
    values = recurrence_widths(shard, part).values
    moved = shard.width * shard.tokens * values
    norm = streaming_work("gated norm", (3 * moved, 5 * moved), role=Role.LIGHT)
    return norm + linear_work("recurrence out", GemmShape(shard.tokens, values, shard.model.hidden), shard.precision)


def state_bytes(shard: Shard, part: LinearAttention) -> float:
    """Bytes of the fp32 recurrent states that context parallelism sends for one micro-batch on one rank: one state per
    sequence, for the document that continues on the next rank.
    """
    held = recurrence_widths(shard, part)
    return (
        4
        * shard.sequences
        / shard.documents
        * formulas.state_elements(held.heads, part.key_head_dim, part.value_head_dim)
    )


def recurrence_parts(shard: Shard, part: LinearAttention) -> Mapping[str, Work]:
    """The parts of a layer with a recurrence before its feed-forward network, in the order of the forward pass."""
    return {
        "projections": recurrence_projections(shard, part),
        "convolution": convolution_work(shard, part),
        "core": recurrence_core(shard, part),
        "output": recurrence_output(shard, part),
    }
