"""Options of a launch of Megatron by hand: lengths, tokens of the run, kernels and precision."""

from __future__ import annotations

from tests.effort import each
from tests.exchange.imports import given, read, unknown

LAUNCH = "torchrun pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 {}\n"


@each(
    ("options", "stated"),
    [
        ("", {}),
        ("--seq-length 4096", {"sequence_length": 4096}),
        # 1,000 steps of 512 sequences of 4,096 tokens
        (
            "--seq-length 4096 --train-iters 1000 --global-batch-size 512",
            {"sequence_length": 4096, "global_batch": 512, "tokens": 1000 * 512 * 4096},
        ),
        ("--seq-length 4096 --train-samples 6000", {"sequence_length": 4096, "tokens": 6000 * 4096}),
        # the samples are stated, whatever the steps
        (
            "--seq-length 4096 --train-samples 6000 --train-iters 10 --global-batch-size 512",
            {"sequence_length": 4096, "global_batch": 512, "tokens": 6000 * 4096},
        ),
        ("--seq-length 4096 --train-tokens 300000000000", {"sequence_length": 4096, "tokens": 300_000_000_000}),
        # the run of Megatron-DeepSpeed ends at the first of its limits
        (
            "--seq-length 2048 --train-tokens 300000000000 --train-iters 100 --global-batch-size 8192",
            {"sequence_length": 2048, "global_batch": 8192, "tokens": 100 * 8192 * 2048},
        ),
        (
            "--seq-length 2048 --train-tokens 300000000000 --train-samples 900000000 --global-batch-size 512",
            {"sequence_length": 2048, "global_batch": 512, "tokens": 300_000_000_000},
        ),
        # one limit of tokens is open: that of the samples is not the length of the run
        ("--seq-length 4096 --train-samples 6000 --train-tokens $BUDGET", {"sequence_length": 4096, "tokens": None}),
        # a batch that grows does not give the samples
        (
            "--seq-length 4096 --train-iters 1000 --global-batch-size 512 --rampup-batch-size 16 16 1000",
            {"sequence_length": 4096, "tokens": None},
        ),
        ("--train-iters 1000 --global-batch-size 512", {"global_batch": 512, "tokens": None}),
        ("--use-flash-attn", {"attention": "flash"}),
        ("--attention-backend unfused", {"attention": "plain"}),
        ("--attention-backend fused", {"attention": "flash"}),
        ("--attention-backend auto", {"attention": None}),
        ("--bf16", {"precision": "bf16"}),
        ("--fp16", {"precision": "fp16"}),
    ],
)
def test_a_launch_states_its_lengths_its_tokens_and_its_kernels(options: str, stated: dict[str, object]) -> None:
    found = given(read(LAUNCH.format(options)))
    for name in ("sequence_length", "global_batch", "tokens", "attention", "precision"):
        if name in stated or name in ("tokens", "attention"):
            assert found.get(f"workload.{name}") == stated.get(name), name


def test_two_lengths_are_listed_and_not_chosen_from() -> None:
    reading = read(LAUNCH.format("--seq-length 4096 --encoder-seq-length 2048 --train-samples 10"))
    assert "workload.sequence_length" not in given(reading) and "workload.tokens" not in given(reading)
    assert "stated twice: " in unknown(reading)
    same = given(read(LAUNCH.format("--seq-length 4096 --encoder-seq-length 4096 --train-samples 10")))
    assert (same["workload.sequence_length"], same["workload.tokens"]) == (4096, 40_960)


def test_sizes_in_addition_to_images_are_those_of_the_decoder() -> None:
    sizes = "--num-layers 12 --hidden-size 624 --num-attention-heads 12 --seq-length 1024"
    assert "img_h" not in unknown(read(LAUNCH.format(sizes)))
    reading = read(LAUNCH.format(f"{sizes} --img-h 336 --img-w 336 --patch-dim 14"))
    assert given(reading)["workload.model.layers"] == 12
    assert "img_h: trains on images" in unknown(reading)
