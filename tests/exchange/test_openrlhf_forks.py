"""Laws of trainings by forks of OpenRLHF whose packages have other names."""

from __future__ import annotations

from contextlib import suppress

import pytest

from clusterspec.exchange.import_result import FormatError

from .imports import given, read, unknown

OPTIONS = (
    "--pretrain Qwen/Qwen2.5-7B-Instruct --train_batch_size 64 --micro_train_batch_size 2 --zero_stage 3 --bf16"
    " --gradient_checkpointing --ring_attn_size 2 --max_len 4096"
)


@pytest.mark.parametrize(
    "program", ["deepspeed --module team.train_sft", "torchrun -m own.cli.train_sft", "deepspeed src/train_sft.py"]
)
def test_options_that_only_openrlhf_has_are_read_as_its_own(program: str) -> None:
    reading = read(f"#!/bin/bash\n{program} {OPTIONS}\n")
    found = given(reading)
    assert reading.kind == "openrlhf"
    assert found["workload.model"] == "qwen2.5-7b"
    assert (found["workload.global_batch"], found["layout.micro_batch"], found["layout.cp"]) == (64, 2, 2)
    assert (found["layout.sharding"], found["layout.recompute"]) == ("fsdp", "full")
    assert "not a module of OpenRLHF" in unknown(reading)


def test_a_fork_that_trains_on_pairs_states_no_batch_of_sequences() -> None:
    reading = read(f"#!/bin/bash\ndeepspeed --module team.train_dpo {OPTIONS}\n")
    assert "workload.global_batch" not in given(reading)
    assert "counts pairs" in unknown(reading)


@pytest.mark.parametrize(
    "text",
    [
        f"deepspeed --module team.train_sft {OPTIONS.replace('--micro_train_batch_size', '--micro_batch')}",
        f"deepspeed --module team.fit {OPTIONS}",
        f"# deepspeed --module team.train_sft {OPTIONS}",
    ],
)
def test_another_program_or_other_options_are_not(text: str) -> None:
    with suppress(FormatError):
        assert read(f"#!/bin/bash\n{text}\n").kind != "openrlhf"


def test_a_launch_of_openrlhf_itself_is_no_fork() -> None:
    assert "not a module" not in unknown(read(f"#!/bin/bash\ndeepspeed --module openrlhf.cli.train_sft {OPTIONS}\n"))
