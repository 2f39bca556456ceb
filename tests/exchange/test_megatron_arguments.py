"""The arguments of Megatron-LM for the blocks of a model, one property at a time, with and without it."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.catalog.models import Block
from clusterspec.exchange.exporters.megatron import (
    _block_arguments,
    _expert_arguments,
    _recompute_arguments,
    _window_pattern,
)
from clusterspec.records import replace
from tests.designs import TRAINED, changed, layout_of, work_of
from tests.effort import each
from tests.exchange.imports import given, read, unknown

PLAIN = Block(norm="layer", positions="alibi", bias="all")
YARN = Block(norm="rms", positions="alibi", bias="all", rope_scaling="yarn", rope_scaling_factor=40.0)
LLAMA = Block(
    norm="layer", positions="rope", bias="all", rope_base=500000, rope_scaling="llama3", rope_scaling_factor=8.0
)
NORM = "--normalization LayerNorm"


@each(
    "block, latent, arguments",
    [
        (PLAIN, False, [NORM]),
        (replace(PLAIN, norm="rms"), False, ["--normalization RMSNorm"]),
        (replace(PLAIN, norm_epsilon=1e-6), False, [f"{NORM} --norm-epsilon 1e-06"]),
        (replace(PLAIN, norm_epsilon=0.0), False, [f"{NORM} --norm-epsilon 0"]),
        (replace(PLAIN, positions="learned"), False, [NORM, "--position-embedding-type learned_absolute"]),
        (
            replace(PLAIN, positions="rope", rope_base=10000),
            False,
            [NORM, "--position-embedding-type rope --rotary-base 10000"],
        ),
        (
            replace(PLAIN, positions="rope", rope_base=10000, rope_fraction=0.5),
            False,
            [NORM, "--position-embedding-type rope --rotary-base 10000 --rotary-percent 0.5"],
        ),
        (
            LLAMA,
            False,
            [
                NORM,
                "--position-embedding-type rope --rotary-base 500000",
                "--use-rope-scaling --rope-scaling-factor 8",
            ],
        ),
        # YaRN belongs to latent attention, whose other rotary embedding has a name of its own
        (YARN, False, ["--normalization RMSNorm"]),
        (YARN, True, ["--normalization RMSNorm", "--rope-type yarn --rotary-scaling-factor 40"]),
        (
            replace(YARN, rope_mscale=1.0, rope_mscale_all_dim=0.5),
            True,
            [
                "--normalization RMSNorm",
                "--rope-type yarn --rotary-scaling-factor 40",
                "--mscale 1 --mscale-all-dim 0.5",
            ],
        ),
        (
            replace(YARN, rope_mscale=1.0),
            True,
            ["--normalization RMSNorm", "--rope-type yarn --rotary-scaling-factor 40"],
        ),
        (
            replace(YARN, rope_mscale_all_dim=1.0),
            True,
            ["--normalization RMSNorm", "--rope-type yarn --rotary-scaling-factor 40"],
        ),
        (PLAIN, True, [NORM, "--rope-type rope"]),
        (replace(PLAIN, bias="none"), False, [NORM, "--disable-bias-linear"]),
        (replace(PLAIN, bias="qkv"), False, [NORM, "--disable-bias-linear --add-qkv-bias"]),
        (replace(PLAIN, qk_norm=True), False, [NORM, "--qk-layernorm"]),
        (replace(PLAIN, qk_norm=True), True, [NORM, "--rope-type rope"]),
    ],
)
def test_a_property_of_a_block_has_its_argument(block: Block, latent: bool, arguments: list[str]) -> None:
    assert [*_block_arguments(block, latent)] == arguments


def test_the_layers_without_a_window_are_every_nth_or_marked() -> None:
    assert _window_pattern(62, 10) == "6"
    assert _window_pattern(48, 24) == "2"
    assert _window_pattern(48, 12) == "4"
    marks = _window_pattern(7, 4).strip("'[]").split(",")
    assert len(marks) == 7 and marks.count("0") == 4 and marks[-1] == "0"


@pytest.mark.parametrize(
    ("changes", "arguments"),
    [
        ({"recompute": "none"}, []),
        ({"recompute": "selective"}, ["--recompute-granularity selective"]),
        ({"recompute": "full"}, ["--recompute-granularity full --recompute-method uniform --recompute-num-layers 1"]),
        (
            {"recompute": "full", "recompute_layers": 3, "stage_layers": (6,)},
            ["--recompute-granularity full --recompute-method block --recompute-num-layers 3"],
        ),
        (
            {"recompute": "full", "recompute_layers": 3, "stage_layers": (3,)},
            ["--recompute-granularity full --recompute-method uniform --recompute-num-layers 1"],
        ),
    ],
)
def test_recomputation_has_its_granularity(changes: dict[str, Any], arguments: list[str]) -> None:
    layout = changed(layout_of(TRAINED), {"recompute_layers": None, **changes})
    assert [*_recompute_arguments(layout, work_of(TRAINED).model)] == arguments


EXPERTS = {"experts": 8, "experts_per_token": 2, "expert_ffn_hidden": 64, "expert_latent": 0, "shared_experts": 0}
FIRST = ["--num-experts 8 --moe-router-topk 2", "--moe-ffn-hidden-size 64 --moe-grouped-gemm"]


@pytest.mark.parametrize(
    ("changes", "arguments"),
    [
        ({}, []),
        ({"expert_latent": 16}, ["--moe-latent-size 16"]),
        ({"shared_experts": 1}, ["--moe-shared-expert-intermediate-size 32"]),
        # layers with experts: all, every second one, or all behind three dense ones
        ({"moe_layers": 6}, ["--moe-layer-freq 2"]),
        ({"moe_layers": 9}, ["--moe-layer-freq '([0]*3+[1]*9)'"]),
        ({"moe_layers": 5}, ["--moe-layer-freq '([0]*7+[1]*5)'"]),
        ({"block": Block(router="sigmoid")}, ["--moe-router-score-function sigmoid"]),
        ({"block": Block(router="softmax")}, []),
        (
            {"block": Block(router_groups=4, router_top_groups=2)},
            ["--moe-router-num-groups 4 --moe-router-group-topk 2"],
        ),
        ({"block": Block(router_scale=2.5)}, ["--moe-router-topk-scaling-factor 2.5"]),
        ({"block": Block(router_scale=0.0)}, ["--moe-router-topk-scaling-factor 0"]),
        ({"block": Block(expert_bias=True)}, ["--moe-router-enable-expert-bias"]),
        ({"block": Block(expert_bias=False)}, []),
    ],
)
def test_experts_have_their_arguments(changes: dict[str, Any], arguments: list[str]) -> None:
    given = {**EXPERTS, "shared_expert_ffn_hidden": 32, "layers": 12, "moe_layers": 12, "block": None}
    model = changed(work_of(TRAINED).model, given | changes)
    assert [*_expert_arguments(model)] == FIRST + arguments


@pytest.mark.parametrize(
    ("options", "stages", "open_"),
    [
        # 32 layers on 4 stages: the others share what the first and the last leave
        ("--decoder-first-pipeline-num-layers 5", [5, 9, 9, 9], ""),
        ("--decoder-last-pipeline-num-layers 8", [8, 8, 8, 8], ""),
        ("--decoder-first-pipeline-num-layers 6 --decoder-last-pipeline-num-layers 6", [6, 10, 10, 6], ""),
        ("--decoder-first-pipeline-num-layers 6", None, "26 layers are not divisible by the other 3 stages"),
        (
            "--decoder-first-pipeline-num-layers 6 --decoder-last-pipeline-num-layers 5",
            None,
            "21 layers are not divisible by the other 2 stages",
        ),
        ("--decoder-first-pipeline-num-layers 32", None, "0 layers are not divisible by the other 3 stages"),
        ("", None, ""),
    ],
)
def test_stages_between_the_ends_share_the_rest_of_the_layers(
    options: str, stages: list[int] | None, open_: str
) -> None:
    launch = "python pretrain_gpt.py --pipeline-model-parallel-size 4 --num-layers 32 --seq-length 4096 "
    reading = read(f"{launch}{options}\n")
    assert given(reading).get("layout.stage_layers") == stages
    assert open_ in unknown(reading) and ("layout.stage_layers" in unknown(reading)) == bool(open_)


def test_the_ends_of_two_stages_are_all_of_the_layers() -> None:
    launch = "python pretrain_gpt.py --pipeline-model-parallel-size 2 --num-layers 32 --seq-length 4096 "
    both = "--decoder-first-pipeline-num-layers {} --decoder-last-pipeline-num-layers 17\n"
    for first, open_ in ((15, False), (14, True)):
        reading = read(launch + both.format(first))
        assert ("layout.stage_layers" in unknown(reading)) is open_


@pytest.mark.parametrize(
    ("options", "gradients"),
    [
        ("--bf16 --fp8-format hybrid", "fp32"),
        ("--bf16 --fp4-format e2m1", "fp32"),
        ("--bf16 --fp8-format hybrid --grad-reduce-in-bf16", "bf16"),
        ("--bf16 --fp8-format hybrid --main-grads-dtype bf16", None),
        ("--bf16", None),  # fp32 is what is assumed
        ("--fp8-format hybrid", None),
    ],
    ids=["8 bits", "4 bits", "reduced in 16 bits", "kept in 16 bits", "16 bits", "the precision of weights is open"],
)
def test_megatron_sums_gradients_of_narrow_products_in_32_bits(options: str, gradients: str | None) -> None:
    """arguments.py, lines 1209 to 1219: without an option for it, ``--bf16`` accumulates and reduces in fp32."""
    reading = read(
        f"python pretrain_gpt.py --tensor-model-parallel-size 2 --num-layers 32 --seq-length 4096 {options}\n"
    )
    assert given(reading).get("workload.gradient_precision") == gradients
