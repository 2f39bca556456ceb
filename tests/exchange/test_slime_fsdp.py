"""Laws of launches of slime whose trainer is FSDP."""

from __future__ import annotations

from contextlib import suppress

import pytest

from clusterspec.exchange.import_result import FormatError

from .imports import given, read, unknown

OPTIONS = (
    "--train-backend fsdp --hf-checkpoint Qwen/Qwen3-4B --rollout-batch-size 8 --n-samples-per-prompt 4"
    " --global-batch-size 16 --actor-num-nodes 2 --actor-num-gpus-per-node 4 --context-parallel-size 2"
    " --micro-batch-size 1 --rollout-num-gpus-per-engine 2 --sglang-mem-fraction-static 0.6"
)


def launched(more: str = "") -> str:
    return f"#!/bin/bash\nARGS=({OPTIONS}{more})\nray job submit -- python3 train.py ${{ARGS[@]}}\n"


def test_the_samples_and_the_layout_are_read() -> None:
    reading = read(launched())
    found = given(reading)
    assert reading.kind == "slime"
    assert (found["workload.kind"], found["workload.model"]) == ("rl", "qwen3-4b")
    assert (found["layout.nodes"], found["layout.cp"], found["layout.micro_batch"]) == (2, 2, 1)
    assert (found["layout.framework"], found["layout.sharding"], found["layout.recompute"]) == ("fsdp", "fsdp", "none")
    assert (found["workload.rl.prompts_per_step"], found["workload.rl.samples_per_prompt"]) == (8, 4)
    assert (found["workload.rl.minibatches"], found["workload.rl.rollout.tp"]) == (2, 2)


def test_states_in_host_memory_and_recomputation_are_read() -> None:
    reading = read(launched(" --gradient-checkpointing --fsdp-cpu-offload --bf16"))
    found = given(reading)
    assert (found["layout.recompute"], found["layout.offload.optimizer"]) == ("full", 1)
    assert found["workload.precision"] == "bf16"
    assert "parameters offloaded" in unknown(reading)


def test_batches_by_tokens_state_no_micro_batch() -> None:
    reading = read(launched(" --use-dynamic-batch-size --max-tokens-per-gpu 8192"))
    assert "layout.micro_batch" not in given(reading)
    assert "max_tokens_per_gpu" in unknown(reading)


@pytest.mark.parametrize("text", [launched().replace(" fsdp", " megatron"), launched().replace("--rollout-b", "--b")])
def test_another_trainer_or_no_samples_are_not_slime_by_fsdp(text: str) -> None:
    with suppress(FormatError):
        assert read(text).kind != "slime"
