"""Lists of the work of all members of a run, and the share of a model that each accelerator has."""

from __future__ import annotations

import pytest

from clusterspec.logs.statements.work_shares import share_statements, shared_model, uneven_shares


@pytest.mark.parametrize(
    ("line", "waited"),
    [
        ("tokens per rank: [100, 100, 100, 500]", "60 %"),  # mean 200, so 300 of 500
        ("Expert loads [8, 8, 8, 16]", "38 %"),  # mean 10, so 6 of 16
        ("time of each GPU in step 12, seconds: [1.0, 1.0, 1.0, 1.25]", "15 %"),
        ("stage latencies = [2.0, 2.1, 2.0, 2.05]", ""),  # 3 %
        ("tokens per rank: [0, 0, 0, 0]", ""),
        ("losses: [1.0, 9.0]", ""),  # not of members
        ("rank 3 took [7]", ""),
    ],
)
def test_members_wait_for_the_one_with_the_most(line: str, waited: str) -> None:
    found = uneven_shares(f"step 1\n{line}")
    assert (found is not None) is bool(waited)
    if found is not None:
        assert found[0].endswith(f"the others wait {waited} of the time") and found[1] == 2


@pytest.mark.parametrize(
    ("launch", "share"),
    [
        ("vllm serve meta-llama/Llama-3.1-8B --tensor-parallel-size 4", "4 8"),
        ("python -m sglang.launch_server --model-path Qwen/Qwen2.5-1.5B --tp 2", "2 1.5"),
        ("LLM(model='Qwen2-7B', tensor_parallel_size=8)", "8 7"),
        ("vllm serve Llama-3.1-8B --tensor-parallel-size 1", ""),
        ("vllm serve Qwen3-30B-A3B --tensor-parallel-size 4", ""),  # of its active parameters only the name tells
        ("vllm serve Llama-3.1-70B --speculative-model Llama-3.2-1B --tensor-parallel-size 4", ""),  # two models
        ("vllm serve my-model --tensor-parallel-size 4", ""),
    ],
)
def test_degree_and_size_of_one_model_are_read(launch: str, share: str) -> None:
    found = shared_model(launch)
    assert (found[0] if found else "") == share


def test_even_work_has_no_statement() -> None:
    assert list(share_statements("tokens per rank: [10, 10]\nvllm serve Llama-3.1-8B")) == []
