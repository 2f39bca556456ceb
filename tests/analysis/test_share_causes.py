"""Too little work for the degree of a launch, by hand-worked times."""

from __future__ import annotations

import pytest

from clusterspec.analysis.diagnosis.share_causes import CALL, CALLS, LAYERS, LEAST
from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import read

NODE = "{platform: dgx-a100, nodes: 1}"
SLOW = "Our server is slow, GPU utilization is below 50 %. vllm serve Llama-3-{}b --tensor-parallel-size {}"


@pytest.mark.parametrize(
    ("size", "degree", "few"),
    [
        # an A100 of 80 GB reads 2.04 TB/s: 2 GB in 1 ms, 8 GB in 3.9 ms, 17.5 GB in 8.6 ms; calls take 0.96 ms
        (8, 8, True),
        (8, 2, False),
        (70, 8, False),
        (1, 4, True),
    ],
)
def test_calls_outweigh_the_reading_of_small_shares(size: int, degree: int, few: bool) -> None:
    reading = size * 1e9 * 2 / degree / 2.039e12
    assert (LEAST * reading <= LAYERS * CALLS * CALL) is few
    found = read(NODE, SLOW.format(size, degree), 8)
    assert found is not None
    stated = [each for each in found.causes if each.name == "small-work" and "all-reduces" in each.evidence]
    assert bool(stated) is few


def test_a_run_that_nobody_calls_slow_has_enough_work() -> None:
    found = read(NODE, "vllm serve Llama-3-8b --tensor-parallel-size 8\nCUDA out of memory. Tried to allocate 2 GiB", 8)
    assert found is None or "small-work" not in names(found)
