"""A switch that a variable gives is neither on nor off, and a file that a script sources is named."""

from __future__ import annotations

import pytest

from tests.exchange.imports import given, read, unknown

OPEN = {
    "megatron": (
        "torchrun pretrain_gpt.py --tensor-model-parallel-size 2 --num-layers 8 --use-distributed-optimizer $SHARD\n",
        "layout.sharding",
    ),
    "trainer": (
        "per_device_train_batch_size: 2\nlearning_rate: 1.0e-5\nnum_train_epochs: 1\noutput_dir: a\n"
        "gradient_checkpointing: ${CHECKPOINT}\n",
        "layout.recompute",
    ),
    "llm-foundry": (
        "model:\n  name: mpt_causal_lm\n  d_model: 512\n  n_layers: 2\nglobal_train_batch_size: 8\n"
        "fsdp_config:\n  sharding_strategy: FULL_SHARD\n  activation_checkpointing: ${variables.checkpoint}\n",
        "layout.recompute",
    ),
}


@pytest.mark.parametrize("kind", OPEN)
def test_a_switch_that_a_variable_gives_is_not_off(kind: str) -> None:
    text, path = OPEN[kind]
    reading = read(text, kind)
    assert path not in given(reading)
    assert "neither true nor false" in unknown(reading)


def test_a_switch_that_is_stated_is_set() -> None:
    text = OPEN["trainer"][0]
    assert given(read(text.replace("${CHECKPOINT}", "true"), "trainer"))["layout.recompute"] == "full"
    assert given(read(text.replace("${CHECKPOINT}", "false"), "trainer"))["layout.recompute"] == "none"
    text = OPEN["megatron"][0]
    assert given(read(text.replace(" $SHARD", ""), "megatron"))["layout.sharding"] == "zero1"


SOURCED = 'source common.sh\nTP="${TP:-4}"\nvllm serve Qwen/Qwen3-8B --tensor-parallel-size "$TP"\n'


def test_a_sourced_file_that_may_replace_a_default_is_named() -> None:
    reading = read(SOURCED)
    assert given(reading)["layout.tp"] == 4
    assert "source common.sh: another file, not read" in unknown(reading)


@pytest.mark.parametrize(
    "text",
    [
        SOURCED.replace("common.sh", "env/bin/activate"),
        SOURCED.replace("${TP:-4}", "4"),
        SOURCED.replace("source common.sh\n", "") + "source common.sh\n",
    ],
)
def test_no_other_sourced_file_is_named(text: str) -> None:
    assert "source" not in unknown(read(text))
