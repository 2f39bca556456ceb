"""The load of an engine over time: a fall of its throughput below a full cache, and what is none."""

from __future__ import annotations

from functools import partial

import pytest

from clusterspec.logs.statements.engine_load import starved_engine


def vllm(rate: float, waiting: int, usage: float, words: str = "Waiting") -> str:
    return (
        f"INFO metrics.py:455] Avg prompt throughput: 9.0 tokens/s, Avg generation throughput: {rate} tokens/s, "
        f"Running: 9 reqs, {words}: {waiting} reqs, GPU KV cache usage: {usage}%, CPU KV cache usage: 0.0%."
    )


def sglang(rate: float, waiting: int, usage: float) -> str:
    return (
        f"[1 TP0] Decode batch. #running-req: 9, #token: 99, token usage: {usage / 100:.2f}, cuda graph: True, gen "
        f"throughput (token/s): {rate}, #queue-req: {waiting}, "
    )


@pytest.mark.parametrize("line", [vllm, sglang, partial(vllm, words="Pending")])
@pytest.mark.parametrize(
    ("loads", "found"),
    [
        ([(1000.0, 0, 50.0), (300.0, 4, 100.0), (400.0, 9, 99.0)], ("9", "350 of 1,000", 2)),
        ([(1000.0, 0, 50.0), (600.0, 4, 100.0)], None),
        ([(1000.0, 0, 50.0), (500.0, 4, 100.0)], None),
        ([(1000.0, 0, 50.0), (499.0, 4, 100.0)], ("4", "499 of 1,000", 2)),
        ([(1000.0, 0, 50.0), (300.0, 0, 100.0)], None),
        ([(1000.0, 0, 50.0), (300.0, 4, 98.0)], None),
        ([(0.0, 4, 100.0)], None),
    ],
)
def test_a_throughput_below_half_of_the_best_while_requests_wait_for_a_full_cache_is_a_fall(
    line: object, loads: list[tuple[float, int, float]], found: tuple[str, str, int] | None
) -> None:
    assert callable(line)
    told = starved_engine("\n".join(line(*each) for each in loads))
    if found is None:
        assert told is None
    else:
        most, rates, number = found
        assert told == (f"up to {most} requests wait for a full KV cache, and {rates} tokens/s are generated", number)


def test_a_number_that_is_none_is_no_load() -> None:
    assert starved_engine(vllm(1.0, 1, 99.0).replace("throughput: 1.0 tok", "throughput: 1.2.3 tok")) is None
