"""The kernels of a layer with a recurrence on one rank of tensor parallelism, counted by hand."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.catalog.models import LinearAttention
from clusterspec.cost.compute import GemmShape, Kernel
from clusterspec.cost.compute.recurrence import recurrence_parts, recurrence_widths, state_bytes
from clusterspec.records import replace
from tests.cost.test_worked_examples import shard

RANK = shard(1024, 512)
"""1,024 tokens of one sequence with a hidden width of 512 in bf16, on one of 8 ranks."""


def recurrence(kind: str, **more: Any) -> LinearAttention:
    """16 heads of 64 for keys, 32 of 128 for values: a rank holds keys of 128 and values of 512 in 4 heads."""
    return LinearAttention(kind, 6, 16, 32, 64, 128, **more)


def counted(kernel: Kernel) -> tuple[str, float, float, float]:
    return kernel.name, kernel.flops, kernel.traffic, kernel.launches


@pytest.mark.parametrize(
    ("kind", "chunk", "flops", "elements", "launches"),
    [
        # 2 × 4 × (64 × (3 × 64 + 2 × 128) + 3 × 64 × 128); 2 × 128 + 2 × 512 + 2 × (4 × 64 + 512) + 2 × 64 × 512 / 64
        ("gated-delta", 64, 425_984, 3840, 6),
        ("kimi-delta", 64, 425_984, 3840, 6),
        # 2 × 4 × (128 × (64 + 128) + 2 × 64 × 128); 2 × 128 + 3 × 512 + 6 × 64 × 512 / 128
        ("mamba-2", 128, 327_680, 3328, 5),
    ],
)
def test_the_gradient_of_a_recurrence_takes_three_times_its_operations_and_bytes(
    kind: str, chunk: int, flops: float, elements: float, launches: float
) -> None:
    """For each of 1,024 tokens, in bf16; the gradient calls each kernel twice."""
    core = recurrence_parts(RANK, recurrence(kind))["core"]
    (there,), (back,) = core.forward, core.backward
    moved = 2 * 1024 * elements
    assert counted(there) == ("recurrence", 1024 * flops, moved, launches)
    assert counted(back) == ("recurrence: gradient", 3 * 1024 * flops, 3 * moved, 2 * launches)
    assert there.shape == back.shape == GemmShape(1024, 128, chunk, 4)
    assert (there.rate, back.rate) == ("attention_forward", "attention_backward")


def test_the_convolution_and_the_norm_move_what_they_read_and_write() -> None:
    """The convolution: 2 × 128 + 512 of each token in and out, and in once more for the gradient. The norm: 512 of
    values, of gates and of outputs, and two more for the gradients."""
    parts = recurrence_parts(RANK, recurrence("gated-delta"))
    (there,), (back,) = parts["convolution"].forward, parts["convolution"].backward
    assert (there.traffic, back.traffic) == (2 * 2 * 1024 * 768, 3 * 2 * 1024 * 768)
    norm, out = parts["output"].forward
    assert (norm.traffic, parts["output"].backward[0].traffic) == (3 * 2 * 1024 * 512, 5 * 2 * 1024 * 512)
    assert out.shape == GemmShape(1024, 512, 512) and out.flops == 2 * 1024 * 512 * 512


@pytest.mark.parametrize(
    ("part", "shapes"),
    [
        # queries, keys, values, the output gate, and numbers of each of 4 heads: 2 of gated delta, 1 of Mamba-2
        (recurrence("gated-delta"), {"recurrence in": (1024, 512, 256 + 1024 + 8)}),
        (recurrence("mamba-2"), {"recurrence in": (1024, 512, 256 + 1024 + 4)}),
        (recurrence("kimi-delta"), {"recurrence in": (1024, 512, 256 + 512 + 4 + 128 + 512)}),
        (
            recurrence("kimi-delta", gate_rank=32),
            {
                "recurrence in": (1024, 512, 256 + 512 + 4 + 512),
                "decay compression": (1024, 512, 32),
                "decay expansion": (1024, 32, 128),
            },
        ),
        (
            recurrence("kimi-delta", gate_rank=32, output_gate_rank=16),
            {
                "recurrence in": (1024, 512, 256 + 512 + 4),
                "decay compression": (1024, 512, 32),
                "decay expansion": (1024, 32, 128),
                "output gate compression": (1024, 512, 16),
                "output gate expansion": (1024, 16, 512),
            },
        ),
    ],
)
def test_projections_are_one_gemm_aside_from_gates_of_low_rank(
    part: LinearAttention, shapes: dict[str, tuple[int, int, int]]
) -> None:
    found = recurrence_parts(RANK, part)["projections"].forward
    assert {kernel.name: kernel.shape[:3] for kernel in found if kernel.shape is not None} == shapes


@pytest.mark.parametrize(("tp", "widths"), [(1, (1024, 4096, 32)), (8, (128, 512, 4)), (32, (64, 128, 1))])
def test_a_head_of_keys_is_never_split(tp: int, widths: tuple[int, int, int]) -> None:
    assert recurrence_widths(replace(RANK, tp=tp), recurrence("gated-delta")) == widths


@pytest.mark.parametrize(("sequences", "documents", "bytes_"), [(1, 1, 131_072), (4, 1, 524_288), (4, 2, 262_144)])
def test_a_state_of_each_sequence_goes_to_the_next_rank_in_fp32(sequences: int, documents: int, bytes_: int) -> None:
    """4 bytes × 4 heads × 64 × 128 of one sequence; of two documents in each, one continues."""
    rank = replace(RANK, sequences=sequences, documents=documents)
    assert state_bytes(rank, recurrence("gated-delta")) == bytes_
