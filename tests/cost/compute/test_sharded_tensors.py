"""What DTensor adds to a layer, counted by hand: copies of gathered rows, and operations that the host dispatches."""

from __future__ import annotations

from clusterspec.cost.compute import GemmShape, Role, Shard, Work, linear_work, streaming_work
from clusterspec.cost.compute.sharded_tensors import dispatch_work, gather_copies, sharded_parts
from clusterspec.records import replace
from tests.designs import TRAINED, layout_of, work_of
from tests.effort import each

SHARD = replace(Shard.of(work_of(TRAINED), layout_of(TRAINED)), sequence_parallel=True, gathers_whole=True)
"""4,096 tokens of 4,096 numbers of two bytes; gated networks."""


def product(name: str, *, experts: bool = False) -> Work:
    return linear_work(name, GemmShape(128, 64, 64, experts=experts), "bf16")


def test_copies_move_the_rows_of_all_ranks_twice_in_each_pass() -> None:
    work = gather_copies(SHARD, 3.0)
    assert (SHARD.tokens, SHARD.width, SHARD.model.hidden) == (4096, 2.0, 4096)
    for (kernel,) in (work.forward, work.backward):
        assert (kernel.traffic, kernel.launches, kernel.role) == (3 * 2 * 2 * 4096 * 4096, 3.0, Role.COUNTED)


@each(
    ("name", "shared", "matrices"),
    [
        ("query, key, value", False, 3),
        ("query, key, value", True, 2),
        ("feed-forward in", False, 2),
        ("feed-forward out", False, 1),
        ("recurrence in", False, 1),
    ],
)
def test_a_matrix_takes_four_dispatches_forward_and_eight_backward(name: str, shared: bool, matrices: int) -> None:
    parts = {
        "dense": product(name) + streaming_work("norm", (1.0, 1.0)),
        "experts": product("expert in", experts=True),  # plain tensors
    }
    shard = replace(SHARD, model=replace(SHARD.model, shared_kv=shared))
    work = dispatch_work(parts, shard, 2.5)
    assert [kernel.launches for kernel in (*work.forward, *work.backward)] == [2.5 * 4 * matrices, 2.5 * 8 * matrices]
    assert all(kernel.flops == kernel.traffic == 0.0 for kernel in (*work.forward, *work.backward))


@each(
    ("parallel", "whole", "copies", "launches", "added"),
    [
        (True, True, 2.0, 1.0, ["copies", "sharded tensors"]),
        (False, True, 2.0, 1.0, ["sharded tensors"]),
        (True, False, 2.0, 1.0, ["sharded tensors"]),
        (True, True, 0.0, 1.0, ["sharded tensors"]),
        (True, True, 2.0, 0.0, ["copies"]),
    ],
)
def test_only_rows_gathered_whole_are_copied_and_a_compiler_removes_dispatches(
    parallel: bool, whole: bool, copies: float, launches: float, added: list[str]
) -> None:
    shard = replace(SHARD, sequence_parallel=parallel, gathers_whole=whole)
    assert list(sharded_parts({"dense": product("feed-forward in")}, shard, copies, launches)) == added
