"""What a framework cannot combine or divide, one number or one use beyond its limit."""

from __future__ import annotations

from typing import Any

from clusterspec.catalog.models import Window
from clusterspec.catalog.releases import Combination, Multiple
from clusterspec.cluster.demands import Demands, undecided_conditions
from clusterspec.cluster.legality import (
    broken_multiples,
    cut_blocks,
    cut_heads,
    refuses_combination,
    violated_conditions,
)
from clusterspec.records import replace
from tests.catalog.shipped import CATALOG, held
from tests.cluster.resolving import clean
from tests.cluster.test_legality import MODEL, NUMBERS
from tests.effort import each

DEMANDS = Demands(ranks=16, capabilities=held("megatron-core"), model=MODEL, batch=16, sequence=4096)
ALWAYS = Combination(())
TP, CP = Combination((frozenset({"tp"}),)), Combination((frozenset({"cp"}),))


def test_a_layout_is_refused_where_one_combination_applies() -> None:
    """The layout uses tp and no cp."""
    assert not refuses_combination(NUMBERS, DEMANDS)
    for refused, applies in (((TP,), True), ((CP,), False), ((CP, TP), True), ((TP, CP), True), ((CP, CP), False)):
        demands = replace(DEMANDS, refused=refused)
        assert refuses_combination(NUMBERS, demands) == applies, refused
        assert ("framework-lacks-feature" in violated_conditions(NUMBERS, demands)) == applies


FIRST = replace(CATALOG.model("deepseek-v3"), fp8_block=128, ffn_hidden=2048, expert_ffn_hidden=1024)
"""Three dense layers, then experts of 1,024 with one shared expert."""

BLOCKS: tuple[tuple[dict[str, Any], int, int, list[tuple[str, int, int]]], ...] = (
    ({}, 1, 1, []),
    ({}, 8, 8, []),  # 256 and 128 of each
    ({}, 16, 1, [("shared experts", 1024, 16)]),  # 64 of 1,024, and 128 of 2,048
    ({}, 32, 1, [("ffn_hidden", 2048, 32), ("shared experts", 1024, 32)]),
    ({}, 1, 16, [("expert_ffn_hidden", 1024, 16)]),
    ({}, 3, 3, []),  # no whole numbers: other rules report them
    ({"fp8_block": 0}, 32, 16, []),
    ({"fp8_block": 64}, 32, 1, [("shared experts", 1024, 32)]),
    ({"uncut_shared_experts": True}, 16, 1, []),
    ({"experts": 0}, 32, 16, [("ffn_hidden", 2048, 32)]),
    ({"ffn_hidden": 2176}, 2, 1, [("ffn_hidden", 2176, 2)]),  # 1,088 is eight blocks and a half
    ({"expert_ffn_hidden": 1152}, 1, 2, [("expert_ffn_hidden", 1152, 2)]),  # 576 is four and a half
    ({"ffn_hidden": 2176, "expert_ffn_hidden": 1152}, 1, 1, []),  # nothing is cut, odd as the widths are
    ({"moe_layers": 61}, 32, 1, [("shared experts", 1024, 32)]),  # no dense layers
)


@each(("changes", "tp", "expert_tp", "cut"), BLOCKS)
def test_blocks_of_a_checkpoint_are_cut_where_a_share_is_no_multiple_of_them(
    changes: dict[str, Any], tp: int, expert_tp: int, cut: list[tuple[str, int, int]]
) -> None:
    model = replace(FIRST, **changes)
    if "experts" not in changes:
        model = replace(model, shared_experts=1, shared_expert_ffn_hidden=1024)
    assert list(cut_blocks(model, tp, expert_tp)) == cut
    layout = replace(NUMBERS, tp=tp, expert_tp=expert_tp)
    for framework, loads in (("vllm", True), ("vllm", False), ("megatron-core", True)):
        demands = replace(DEMANDS, model=model, capabilities=held(framework), fp8_weights=loads)
        whole = held(framework).has("requires.whole_fp8_weight_blocks")
        assert ("fp8-blocks-cut-by-tp" in violated_conditions(layout, demands)) == (bool(cut) and loads and whole)
    assert "fp8-blocks-cut-by-tp" not in violated_conditions(layout, replace(DEMANDS, model=None, fp8_weights=True))


NUMBERS_OF = (  # quantity, and its number in the design
    ("tp", 2),
    ("sequence_length", 4096),
    ("heads", 32),
    ("kv_heads", 8),
    ("hidden", 4096),
    ("ffn_hidden", 14336),
    ("vocab", 128256),
)


@each(("quantity", "value"), NUMBERS_OF)
def test_a_number_that_is_no_multiple_is_reported_with_its_step(quantity: str, value: int) -> None:
    """A divisor holds; one more does not, unless what the design uses leaves the multiple out."""
    for step, broken in ((value, False), (value + 1, True)):
        for when, counts in ((ALWAYS, True), (TP, True), (CP, False)):
            wanted = Multiple(quantity, step, (), when)
            demands = replace(DEMANDS, required=(wanted,))
            found = list(broken_multiples(NUMBERS, demands))
            assert found == ([(wanted, value, step)] if broken and counts else []), (quantity, step)
            assert ("indivisible-for-framework" in violated_conditions(NUMBERS, demands)) == (broken and counts)


def test_a_multiple_counts_the_ranks_of_its_axes() -> None:
    """4,096 tokens over tp 2 and cp 4 in steps of 512: 8 × 512 divide them, 8 × 513 do not."""
    layout = replace(NUMBERS, tp=2, cp=4)
    for number, step in ((512, None), (513, 4104), (256, None)):
        wanted = Multiple("sequence_length", number, ("tp", "cp"), ALWAYS)
        found = list(broken_multiples(layout, replace(DEMANDS, required=(wanted,))))
        assert found == ([] if step is None else [(wanted, 4096, step)])
    several = tuple(Multiple("heads", number, (), TP) for number in (3, 4, 5))
    found = list(broken_multiples(layout, replace(DEMANDS, required=several)))
    assert [step for _, _, step in found] == [3, 5]


ABSENT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("kv_heads", {"latent_kv": 512}),
    ("expert_ffn_hidden", {"experts": 0, "expert_ffn_hidden": 7}),
    ("ffn_hidden", {"experts": 8, "moe_layers": 32}),
    ("linear_value_heads", {}),
)


@each(("quantity", "changes"), ABSENT)
def test_a_part_that_a_design_lacks_is_divisible_by_every_number(quantity: str, changes: dict[str, Any]) -> None:
    wanted = Multiple(quantity, 1_000_003, (), ALWAYS)
    for model in (replace(MODEL, **changes), None):
        assert not list(broken_multiples(NUMBERS, replace(DEMANDS, model=model, required=(wanted,)))), model
    open_ = replace(DEMANDS, sequence=None, required=(replace(wanted, quantity="sequence_length"),))
    assert not list(broken_multiples(NUMBERS, open_))
    linear = CATALOG.model("qwen3-next-80b-a3b")
    assert linear.linear is not None
    ((_, value, _),) = broken_multiples(
        NUMBERS, replace(DEMANDS, model=linear, required=(replace(wanted, quantity="linear_value_heads"),))
    )
    assert value == linear.linear.value_heads


def test_heads_of_every_kind_of_layer_are_cut() -> None:
    window = replace(MODEL, window=Window(tokens=128, layers=16, heads=24))
    assert cut_heads(window) == (("heads", 32), ("heads of layers with a window", 24))
    assert cut_heads(replace(window, window=Window(tokens=128, layers=16))) == (("heads", 32),)
    for tp, broken in ((8, False), (16, True), (3, True)):
        found = violated_conditions(replace(NUMBERS, tp=tp), replace(DEMANDS, model=window))
        assert ("heads-indivisible-by-tp" in found) == broken, tp


def test_conditions_are_left_to_the_layout_where_a_framework_has_any() -> None:
    design = clean(
        "cluster: {platform: dgx-h100, nodes: 2}\n"
        "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 16}\nlayout: {framework: megatron-core}"
    )
    cluster, workload, layout = design.cluster, design.workload, design.layout
    assert cluster is not None and layout is not None
    held_ = layout.capabilities
    refused, required = undecided_conditions(cluster, workload, layout)
    assert refused and required
    cases: list[tuple[dict[str, Any], object]] = [
        ({"required": ()}, (refused, ())),
        ({"refused": ()}, ((), required)),
        ({"refused": (), "required": ()}, ((), ())),
    ]
    for changes, left in cases:
        assert undecided_conditions(cluster, workload, replace(layout, capabilities=replace(held_, **changes))) == left
