"""What may hide behind computation, and how tokens reach their experts."""

from __future__ import annotations

import pytest

from clusterspec.cluster.model import Dispatcher, Overlap
from tests.cluster.resolving import assumed, clean, layout_of

H100 = "cluster: {platform: dgx-h100, nodes: 8}\n"
DENSE = "workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 128}\n"
EXPERTS = "workload: {model: deepseek-v3, sequence_length: 4096, global_batch: 128}\n"


@pytest.mark.parametrize(
    ("written", "found"),
    [("false", "none"), ("true", "full"), ("none", "none"), ("partial", "partial"), ("full", "full"), ("0.25", 0.25)],
)
def test_the_overlap_of_tp_is_a_word_or_a_share(written: str, found: str | float) -> None:
    assert layout_of(f"{H100}{DENSE}layout: {{tp: 8, overlap: {{tp: {written}}}}}").overlap.tp == found


def test_the_default_is_that_of_the_software() -> None:
    design = clean(f"{H100}{DENSE}layout: {{framework: megatron-core, software_year: 2025, tp: 8, pp: 2, cp: 2}}")
    assert design.layout is not None and design.layout.overlap == Overlap("partial", True, False, True, True)
    written = {key: why for key, _, why in design.assumptions}
    stack = design.layout.stack
    assert stack is not None
    share = stack.achievable["hidden.tensor"].value
    assert written["layout.overlap.tp"].startswith(f"what megatron-core-2025 does: it runs {share:.0%}")
    assert written["layout.overlap.dp"] == written["layout.overlap.pp"] == "megatron-core-2025 hides it"
    old = layout_of(f"{H100}{DENSE}layout: {{framework: megatron-core, software_year: 2021, tp: 8, pp: 2}}")
    assert (old.overlap.dp, old.overlap.pp) == (False, False)
    for sharding in ("zero1", "fsdp"):  # overlap_comm of DeepSpeed is on in stage 3 alone
        shards = layout_of(f"{H100}{DENSE}layout: {{framework: deepspeed, sharding: {sharding}}}")
        assert shards.overlap.dp == (sharding == "fsdp")


def test_a_default_is_listed_only_for_an_axis_that_communicates() -> None:
    keys = assumed(clean(f"{H100}{DENSE}layout: {{tp: 8}}"))
    assert {key for key in keys if ".overlap." in key} == {"layout.overlap.tp", "layout.overlap.dp"}


def test_written_overlap_has_precedence_over_the_software() -> None:
    text = "{framework: megatron-core, software_year: 2021, tp: 8, overlap: {dp: true, ep: true, cp: false}}"
    found = layout_of(f"{H100}{DENSE}layout: {text}").overlap
    assert (found.dp, found.ep, found.cp) == (True, True, False)


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("dispatcher: deepep", Dispatcher("deepep", "bf16")),
        ("dispatcher: {kind: hybrid, precision: fp8}", Dispatcher("hybrid", "fp8")),
        ("software_year: 2025", Dispatcher("all-to-all", "bf16")),
        ("software_year: 2026", Dispatcher("all-to-all", "bf16")),
        ("software_year: 2026, dispatcher: hybrid", Dispatcher("hybrid", "bf16")),
    ],
)
def test_the_dispatcher_is_as_written_or_what_the_software_does(written: str, found: Dispatcher) -> None:
    text = f"{H100}{EXPERTS}layout: {{framework: megatron-core, ep: 16, {written}}}"
    assert layout_of(text).dispatcher == found
    assert ("layout.dispatcher" in assumed(clean(text))) == ("dispatcher" not in written)


@pytest.mark.parametrize(("framework", "kind"), [("megatron-core", "hybrid"), ("torchtitan", "all-to-all")])
def test_a_domain_that_spans_nodes_has_a_dispatcher_of_its_own(framework: str, kind: str) -> None:
    racks = "cluster: {platform: gb200-nvl72, nodes: 18}\n"
    text = f"{racks}{EXPERTS}layout: {{framework: {framework}, ep: 16}}"
    assert layout_of(text).dispatcher.kind == kind


def test_limited_routing_of_an_own_framework_sends_a_token_once_to_each_node() -> None:
    limited = EXPERTS.replace("deepseek-v3", "{base: deepseek-v3, routing: {max_nodes: 4}}")
    for workload, framework, kind in (
        (limited, "custom", "deepep"),
        (EXPERTS.replace("deepseek-v3", "qwen3-30b-a3b"), "custom", "all-to-all"),
        (limited, "megatron-core", "all-to-all"),
    ):
        text = f"{H100}{workload}layout: {{framework: {framework}, software_year: 2025, ep: 16}}"
        assert layout_of(text).dispatcher.kind == kind


def test_the_dispatcher_is_listed_only_where_tokens_are_sent() -> None:
    assert "layout.dispatcher" not in assumed(clean(f"{H100}{EXPERTS}layout: {{tp: 8}}"))
    assert "layout.dispatcher" not in assumed(clean(f"{H100}{DENSE}layout: {{tp: 8}}"))


@pytest.mark.parametrize(
    ("layout", "expert_tp"),
    [
        ("{tp: 8}", 8),  # without ep, tp cuts the experts
        ("{tp: 8, framework: torchtitan}", 8),
        ("{tp: 8, ep: 2, framework: torchtitan}", 1),
        ("{tp: 8, ep: 2, framework: megatron-core}", 8),
        ("{tp: 8, ep: 2, framework: nemo}", 8),
        ("{tp: 8, expert_tp: 1}", 1),
    ],
)
def test_experts_are_sharded_by_tp_without_ep(layout: str, expert_tp: int) -> None:
    assert layout_of(f"{H100}{EXPERTS}layout: {layout}").expert_tp == expert_tp
