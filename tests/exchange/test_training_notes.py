"""What exports of a training design say of steps, packed samples, documents and context ranks."""

from __future__ import annotations

import pytest

from clusterspec.exchange.exporters.registry import exporter_of
from tests.exchange.test_exporters import exported, pod

DENSE = (
    "workload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: 512{}}}\nlayout: {{tp: 1, micro_batch: 1}}\n"
)
TARGETS = ["megatron", "megatron-bridge", "torchtitan", "deepspeed"]


def notes(target: str, rest: str) -> str:
    return "\n".join(exporter_of(target).write(pod(nodes=8, rest=rest)).omitted)


@pytest.mark.parametrize("target", TARGETS)
def test_a_mask_of_documents_is_left_to_the_data(target: str) -> None:
    text = "attention within documents (`document_tokens`)"
    assert text in notes(target, DENSE.format(", document_tokens: 1000"))
    assert text not in notes(target, DENSE.format(""))


@pytest.mark.parametrize(
    ("target", "written"), [("torchtitan", "config.training.steps = 239"), ("maxtext", "steps: 239")]
)
def test_the_tokens_of_a_run_give_its_steps(target: str, written: str) -> None:
    """1 G tokens / (512 × 8192) are 238.4 steps."""
    rest = DENSE.format(", tokens: 1000000000")
    assert written in exported(target, pod(nodes=8, rest=rest))
    assert "written as 239 whole steps of 4,194,304" in notes(target, rest)
    assert "steps" in notes(target, DENSE.format("")).split("\n")[0]
    assert "steps" not in notes(target, rest).split("\n")[0]


RL = """
workload:
  kind: rl
  model: llama-3.1-8b
  sequence_length: 9216
  precision: bf16
  rl:
    algorithm: rloo
    prompts_per_step: 256
    samples_per_prompt: 8
    input_tokens: 1024
    output_tokens: {mean: 2000, p99: 8000, max: 8192}
    minibatches: 2
    placement: colocated
    rollout: {framework: vllm, tp: 1}
layout: {tp: 2, micro_batch: 1, sharding: zero1, recompute: full}
"""


@pytest.mark.parametrize("target", TARGETS[:2] + TARGETS[3:])
def test_samples_of_an_update_are_packed_into_the_written_batch(target: str) -> None:
    """256 × 8 samples in two updates; each sequence of 9216 tokens holds several."""
    assert "the packing of 1,024 samples of an update into 512 sequences" in notes(target, RL)


@pytest.mark.parametrize(
    ("target", "sharding", "note"),
    [
        ("torchtitan", "none", "sharding none: the 2 context ranks divide all states"),
        ("maxtext", "none", "sharding none: the 2 context ranks divide all states"),
        ("maxtext", "zero1", "zero1: the 2 context ranks divide parameters as well"),
    ],
)
def test_context_ranks_that_share_states_are_told(target: str, sharding: str, note: str) -> None:
    layout = f"layout: {{tp: 1, cp: 2, micro_batch: 1, sharding: {sharding}}}\n"
    rest = DENSE.format("").split("layout")[0]
    assert note in notes(target, rest + layout)
    assert "context ranks" not in notes(target, rest + layout.replace("cp: 2, ", ""))
