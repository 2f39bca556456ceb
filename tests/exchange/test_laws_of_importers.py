"""Values that an importer derives from several keys of a trainer, the key that each gives, and names by rates."""

from __future__ import annotations

import pytest

from clusterspec.exchange.machines.links import technology_of
from tests.exchange.imports import given, read
from tests.exchange.test_formats_of_other_trainers import OWN, _recipe
from tests.exchange.test_hyperpod_adapter import PLAIN, RUN


@pytest.mark.parametrize(
    ("absent", "batch"),
    [
        ("", 64),  # 8 × 4 ranks with two samples each
        ("devices: 8, ", None),
        (", num_nodes: 4", None),
        ("devices: 8, num_nodes: 4, ", None),
        ("  train_batch_size: 2\n", None),
        ("  tensor_model_parallel_degree: 1\n", 64),  # 1 where it is not stated
        ("  context_parallel_degree: 1\n", 64),
    ],
)
def test_samples_of_all_ranks_are_counted_where_nodes_and_devices_are_stated(absent: str, batch: int | None) -> None:
    text = RUN.format(**PLAIN)
    assert absent in text
    assert given(read(text.replace(absent, ""), "hyperpod-recipe")).get("workload.global_batch") == batch


@pytest.mark.parametrize(
    ("written", "key", "value"),
    [
        ("ring_attn_size: 4", "layout.cp", 4),
        ("micro_train_batch_size: 6", "layout.micro_batch", 6),
        ("train_batch_size: 96", "workload.global_batch", 96),
    ],
)
def test_a_setting_of_the_own_trainer_of_recipes_gives_one_key(written: str, key: str, value: int) -> None:
    name = written.partition(":")[0]
    lines = [line for line in (OWN % ("{}", "sft", "true")).split("\n") if not line.strip().startswith(f"{name}:")]
    at = next(number for number, line in enumerate(lines) if "training_args:" in line) + 1
    text = "\n".join([*lines[:at], f"    {written}", *lines[at:]])
    found = given(read(_recipe("llm_finetuning_aws", text)))
    assert found[key] == value
    without = given(read(_recipe("llm_finetuning_aws", "\n".join(lines))))
    assert key not in without and {k: v for k, v in found.items() if k != key} == without


@pytest.mark.parametrize(
    ("rate", "technology"),
    [
        # four lanes of 25, 50, 100 and 200 Gb/s
        (100.0, "infiniband-edr"),
        (200.0, "infiniband-hdr"),
        (400.0, "infiniband-ndr"),
        (800.0, "infiniband-xdr"),
        (799.6, "infiniband-xdr"),
        (801.0, None),
        (50.0, None),
        (0.0, None),
        (None, None),
    ],
)
def test_a_rate_of_infiniband_names_its_generation(rate: float | None, technology: str | None) -> None:
    assert technology_of(rate, "infiniband") == technology
    assert technology_of(rate, "roce") == "roce-v2" and technology_of(rate, "slingshot") == "slingshot-11"
    assert technology_of(rate, "") is technology_of(rate, "tcp") is None


CODE = """\
from torchtitan.trainer import Trainer


def llama3_8b() -> Trainer.Config:
    return Trainer.Config(
        hf_assets_path="./assets/hf/Llama-3.1-8B",
        training=TrainingConfig({}),
        parallelism=ParallelismConfig({}),
    )
"""


@pytest.mark.parametrize(
    ("training", "parallelism", "micro", "batch"),
    [
        ("num_tokens_per_microbatch_per_dp_rank=2 * 8192", "tensor_parallel_degree=4", 2, None),
        ("local_batch_size=6, num_tokens_per_train_step=64 * 8192", "tensor_parallel_degree=4", 6, 64),
        ("local_batch_size=6", "pipeline_parallel_microbatch_size=3", 3, None),  # of the six sequences of a rank
        ("num_tokens_per_microbatch_per_dp_rank=2 * 8192, local_batch_size=6", "tensor_parallel_degree=4", 2, None),
        ("num_tokens_per_microbatch_per_dp_rank=8193", "tensor_parallel_degree=4", None, None),  # no whole sequences
    ],
)
def test_a_micro_batch_of_torchtitan_is_counted_by_its_tokens_or_by_its_sequences(
    training: str, parallelism: str, micro: int | None, batch: int | None
) -> None:
    found = given(read(CODE.format(f"max_context_length=8192, {training}", parallelism)))
    assert (found.get("layout.micro_batch"), found.get("workload.global_batch")) == (micro, batch)
    assert found["workload.sequence_length"] == 8192
