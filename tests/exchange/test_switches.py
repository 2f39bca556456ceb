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


@pytest.mark.parametrize(
    ("flags", "layers"),
    [
        ("--first-last-layers-bf16", {"first": 1, "last": 1}),
        (
            "--first-last-layers-bf16 --num-layers-at-start-in-bf16 0 --num-layers-at-end-in-bf16 4",
            {"first": 0, "last": 4},
        ),
        ("--num-layers-at-end-in-bf16 4", {}),
    ],
)
def test_layers_in_16_bits_are_one_at_each_end_unless_numbers_say_otherwise(flags: str, layers: dict[str, int]) -> None:
    """Without the switch Megatron-LM does not read the numbers."""
    model = "--tensor-model-parallel-size 1 --num-layers 8 --hidden-size 512 --num-attention-heads 8"
    found = given(read(f"torchrun pretrain_gpt.py {model} --fp8-format hybrid {flags}\n", "megatron"))
    base = "workload.bf16_layers."
    assert {key.removeprefix(base): value for key, value in found.items() if key.startswith(base)} == layers


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


PASSED = """\
source "models/small.sh"
SIZES=(--tensor-model-parallel-size 2)
torchrun train.py "${SIZES[@]}" ${MODEL_ARGS[@]}
"""


def test_a_sourced_file_whose_array_a_launch_takes_is_named() -> None:
    reading = read(PASSED)
    assert given(reading)["layout.tp"] == 2
    assert 'source "models/small.sh": another file, not read: the launch takes the options in MODEL_ARGS' in unknown(
        reading
    )
    assert "models/small.sh" not in unknown(read(PASSED.replace(" ${MODEL_ARGS[@]}", "")))
    both = read('source "models/small.sh"\nTP="${TP:-4}"\nvllm serve a/b --tensor-parallel-size "$TP" "${MORE[@]}"\n')
    assert "such as that of TP, and the launch takes the options in MORE" in unknown(both)


VERL = "python3 -m verl.trainer.main_ppo actor_rollout_ref.model.enable_gradient_checkpointing=True {}\n"
GRANULARITY = "actor_rollout_ref.model.gradient_checkpointing_kwargs.activations_checkpoint_granularity="
OVERRIDDEN = "+actor_rollout_ref.actor.megatron.override_transformer_config.recompute_granularity="


@pytest.mark.parametrize(
    ("options", "recompute", "listed"),
    [
        ("actor_rollout_ref.actor.strategy=fsdp", "full", ""),
        ("actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2", None, "a granularity decides"),
        (f"actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2 {GRANULARITY}selective", "selective", ""),
        (f"{OVERRIDDEN}full", "full", ""),
    ],
)
def test_the_trainer_of_verl_decides_what_is_computed_again(options: str, recompute: str | None, listed: str) -> None:
    reading = read(VERL.format(options))
    assert given(reading).get("layout.recompute") == recompute
    assert listed in unknown(reading)


def test_the_checkpoint_of_engines_names_the_model_of_slime() -> None:
    launch = "python3 train.py --actor-num-gpus-per-node 4 --tensor-model-parallel-size 2 --rollout-batch-size 32 "
    assert given(read(f"{launch} --hf-checkpoint /root/Qwen3-4B/"))["workload.model"] == "qwen3-4b"
    assert "model /root/own: no catalog entry" in unknown(read(f"{launch} --hf-checkpoint /root/own"))
