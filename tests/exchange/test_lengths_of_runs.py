"""What the sizes of a batch and the steps of a configuration say of the ranks and the length of a run."""

from __future__ import annotations

import pytest

from tests.exchange.imports import counts, given, read, unknown

BATCH = '{"train_batch_size": 512, "train_micro_batch_size_per_gpu": 4, STEPS"zero_optimization": {"stage": 3}}'


@pytest.mark.parametrize(
    ("steps", "replicas"),
    [
        ('"gradient_accumulation_steps": 2, ', 64),  # 512 / (4 × 2)
        ('"gradient_accumulation_steps": 1, ', 128),
        ('"gradient_accumulation_steps": 3, ', None),  # 512 is no multiple of 12, which DeepSpeed refuses
        ("", None),  # the ranks, which the file does not state, give the accumulation
    ],
)
def test_three_sizes_of_a_batch_of_deepspeed_leave_one_number_of_replicas(steps: str, replicas: int | None) -> None:
    reading = read(BATCH.replace("STEPS", steps), "deepspeed", "ds.json")
    assert given(reading).get("layout.dp") == replicas
    assert ("gradient_accumulation_steps" in counts(reading)) is bool(steps)
    assert not [each for each in unknown(reading) if "gradient_accumulation_steps" in each]


TRAINING = """\
    [model]
    name = "llama3"
    flavor = "70B"
    [training]
    {keys}
    [parallelism]
    tensor_parallel_degree = 8
    """


@pytest.mark.parametrize(
    ("keys", "tokens"),
    [
        ("global_batch_size = 512\n    seq_len = 8192\n    steps = 1000", 512 * 8192 * 1000),
        ("local_batch_size = 2\n    seq_len = 8192\n    steps = 1000", None),  # of all replicas, which are not stated
        ("global_batch_size = 512\n    seq_len = 8192", None),
        ("global_batch_size = 512\n    steps = 1000", None),
    ],
)
def test_the_steps_of_torchtitan_give_the_tokens_of_a_run_of_known_batch_and_length(
    keys: str, tokens: int | None
) -> None:
    reading = read(TRAINING.format(keys=keys), "torchtitan", "job.toml")
    assert given(reading).get("workload.tokens") == tokens
