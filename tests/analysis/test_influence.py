"""Laws of the influence of assumptions: what is left out has none, and what is reused is what an estimate finds."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from clusterspec.analysis.levers import influence
from clusterspec.analysis.levers.influence import (
    OF_RANGES,
    PLUGIN,
    SIZES,
    choices_of,
    largest_influence,
    other_choices,
    ranked_influences,
)
from clusterspec.catalog import Catalog
from clusterspec.cluster.legality import layout_error_rules
from clusterspec.cluster.model import Design
from clusterspec.cluster.variation import design_with_keys, with_values
from clusterspec.cost import estimate as costs
from clusterspec.cost import memory, tables
from clusterspec.cost.estimate import estimate, plan_with_memory_of
from clusterspec.cost.memory.fullest import design_memory
from clusterspec.cost.plan import Plan
from clusterspec.cost.plan_assumptions import unused_figures
from clusterspec.cost.timing import design_tables, timed_step
from clusterspec.quantity import Figure
from clusterspec.results.verdict import Influence
from clusterspec.source import Path
from clusterspec.studies import study_text
from tests.effort import sampled, telling, thorough
from tests.settings import SETTINGS

POD = """clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 128}
layout: {framework: megatron-core, tp: 4, pp: 2}
"""
"""A machine on InfiniBand, which a library needs no plugin for."""
EFA = POD.replace("dgx-h100", "aws-p5-48xlarge")
"""A machine on a proprietary network, which needs the plugin of its vendor."""


def plan_of(text: str) -> Plan:
    return study_text(text, SETTINGS).plan


@thorough
@pytest.mark.parametrize(("text", "kept"), [(POD, 0), (EFA, 1)], ids=["InfiniBand", "EFA"])
def test_a_plugin_that_is_left_out_changes_nothing_that_one_that_is_kept_does_not(text: str, kept: int) -> None:
    plan = plan_of(text)
    assert plan.design.cluster is not None and plan.design.cluster.scale_out is not None
    present = plan.design.cluster.scale_out.collective_plugin or ""
    tried = other_choices(plan.design, PLUGIN, present)
    assert len(tried) == kept
    path: Path = ("cluster", "scale_out", "collective_plugin")
    every = {estimate(design_with_keys(plan.design, {path: one})).step_seconds for one in choices_of(PLUGIN)}
    assert every == {
        plan.step_seconds,
        *(estimate(design_with_keys(plan.design, {path: one})).step_seconds for one in tried),
    }
    assert len(every) == 1 + kept


CHANGES: list[tuple[Path, object]] = [
    (("layout", "stack", "achievable", "fusion", "value"), 0.5),
    (("layout", "stack", "achievable", "accumulation", "value"), 16.0),
    (("layout", "stack", "achievable", "loss", "value"), 24.0),
    (("layout", "stack", "achievable", "launch.interval", "value"), 1e-3),
    (("layout", "stack", "achievable", "interference", "value"), 0.5),
    (("layout", "stack", "achievable", "hidden.tensor", "value"), 0.5),
    (("layout", "stack", "achievable", "jitter", "value"), 0.05),
    (("layout", "stack", "achievable", "step", "value"), 0.1),
    (("cluster", "accelerator", "achievable", "memory", "value"), 0.5),
    (("cluster", "accelerator", "achievable", "attention.backward", "value"), 0.05),
    (("cluster", "accelerator", "achievable", "sustained.bf16", "value"), 0.5),
    (("cluster", "scale_out", "nic_bandwidth", "value"), 1e9),
    (("cluster", "scale_up", "bandwidth", "value"), 1e10),
]
"""Changes of a resolved design after which its ranks hold the same memory."""


@thorough
@pytest.mark.parametrize(("path", "value"), CHANGES, ids=str)
def test_a_plan_that_reuses_the_memory_and_groups_of_another_equals_an_estimate(path: Path, value: object) -> None:
    plan = plan_of(POD.replace("tp: 4", "tp: 8"))
    other = with_values(plan.design, {path: value})
    tables = design_tables(other)
    assert tables is not None
    again, record = plan_with_memory_of(other, plan), timed_step(other, tables)
    assert again.step == record
    assert again.stored == design_memory(other)
    assert again.step_seconds != plan.step_seconds


def changes_alone(plan: Plan, key: str, value: object) -> tuple[float, float]:
    """The changes of step time and memory under another value of a key, estimated without anything of the plan."""
    other = design_with_keys(plan.design, {tuple(key.split(".")): value})
    tables, memory = design_tables(other), design_memory(other)
    record = timed_step(other, tables) if tables else None
    assert record and memory and plan.step and plan.stored
    return record.seconds / plan.step.seconds - 1, memory.total / plan.stored.total - 1


CHOSEN = (*SIZES, "workload.attention", "layout.schedule", "layout.sharding")
ORDERED = ("layout.overlap.dp", "layout.overlap.pp", "layout.order")


@telling(2)
@pytest.mark.parametrize("key", CHOSEN)
def test_the_influence_of_a_choice_is_the_largest_of_estimates_that_share_nothing(key: str) -> None:
    plan = plan_of(POD)
    value = next(each for name, each, _ in plan.assumptions if name == key)
    others = [each for each in choices_of(key) if each != value]
    legal = [
        each for each in others if not layout_error_rules(design_with_keys(plan.design, {tuple(key.split(".")): each}))
    ]
    alone = [changes_alone(plan, key, each) for each in legal]
    largest = max(alone, key=lambda one: (max(one), max(map(abs, one))))
    assert influence_of(plan, key)[1:] == pytest.approx(largest, rel=1e-12)


@pytest.mark.parametrize("key", ORDERED)
def test_the_influence_of_order_and_overlap_is_that_of_an_estimate_that_shares_nothing(key: str) -> None:
    plan = plan_of(POD)
    found = influence_of(plan, key)
    assert found[1:] == pytest.approx(changes_alone(plan, key, found[0]), rel=1e-12)


@telling(2)
@pytest.mark.parametrize("master", ["fp32", "fp16", "none"])
@pytest.mark.parametrize("key", SIZES)
def test_of_choices_of_one_kind_the_larger_never_takes_less_of_time_or_memory(key: str, master: str) -> None:
    states = f"tp: 4, sharding: zero1, optimizer_states: {{master: {master}}}"
    plan = plan_of(POD.replace("tp: 4", states))
    kinds: dict[object, list[tuple[Any, tuple[float, float]]]] = {}
    for each in choices_of(key):
        kind, size = SIZES[key](each)
        kinds.setdefault(kind, []).append((size, changes_alone(plan, key, each)))
    assert len(kinds) < len(choices_of(key))
    for found in kinds.values():
        for (size, changes), (larger, more) in pairwise(sorted(found)):
            assert all(one <= other for one, other in zip(changes, more, strict=True))
            assert changes == more or size < larger


def influence_of(plan: Plan, key: str) -> tuple[object, float, float]:
    """The other value of an assumption with the changes of step time and memory."""
    found = largest_influence(plan, next(each for each in plan.assumptions if each[0] == key))
    assert found is not None
    return found.against, found.step_time, found.memory


def test_influences_rank_by_the_larger_change_of_either_sign_and_end_above_one_percent() -> None:
    assumption = plan_of(POD).assumptions[0]
    changes = [(0.011, 0.0), (0.02, -0.3), (0.01, -0.01), (-0.28, 0.1), (0.0, 0.0), (0.0, 0.25)]
    ranked = ranked_influences([None, *(Influence(assumption, None, *each) for each in changes)])
    assert [(one.step_time, one.memory) for one in ranked] == [(0.02, -0.3), (-0.28, 0.1), (0.0, 0.25), (0.011, 0.0)]


@pytest.mark.parametrize(
    ("key", "upper", "added"),
    [
        ("memory.context", 1.6e9, 0.8e9),  # 0.8 GB of one process, at most 1.6 GB
        ("memory.communicator", 600e6, 4 * 350e6),  # four communicators of 250 MB, each at most 600 MB
        ("memory.fragmentation", 0.12, 3 * 416_002_867.2),  # 3 % of what a framework allocates, at most 12 %
    ],
)
def test_a_figure_of_memory_with_a_range_is_compared_with_its_upper_end(key: str, upper: float, added: float) -> None:
    plan = plan_of(POD)
    full = next(each[0] for each in plan.assumptions if each[0].endswith(key))
    against, time, change = influence_of(plan, full)
    assert isinstance(against, Figure) and plan.memory is not None
    assert against.value == pytest.approx(upper)
    assert time == 0.0
    assert change == pytest.approx(added / plan.memory.total.value)


def test_gradients_of_half_the_width_save_two_bytes_for_each_weight_of_a_rank() -> None:
    """8.03e9 parameters over tp 4: two bytes of each quarter are saved; norms, which tp does not split, are few."""
    plan = plan_of(POD.replace("pp: 2", "pp: 1, sharding: none"))
    against, _, change = influence_of(plan, "workload.gradient_precision")
    assert against == "bf16"
    assert plan.memory is not None
    saved = -change * plan.memory.total.value
    fragmentation = 1.03
    assert saved == pytest.approx(2 * 8_030_261_248 / 4 * fragmentation, rel=2e-3)


def test_a_rate_that_is_a_tenth_lower_slows_a_step_by_at_most_a_ninth() -> None:
    _, step, change = influence_of(plan_of(POD), "h100-sxm-80gb sustained.bf16")
    assert 0.02 < step < 1 / 0.9 - 1
    assert change == 0.0


EXPERTS = (
    *("products.grouped", "fusion.routing", "routing.copies", "routing.biases", "routing.launches"),
    *("routing.launches.backward", "launch.expert", "unevenness"),
)


def test_the_figures_of_experts_are_unused_by_a_dense_model_alone() -> None:
    dense, routed = (Catalog.open().model(name) for name in ("llama-3.1-70b", "mixtral-8x7b"))
    assert all(name.startswith(unused_figures(dense)) for name in EXPERTS)
    assert not any(name.startswith(unused_figures(routed)) for name in EXPERTS)
    assert not any(
        name.startswith(unused_figures(dense)) for name in ("products", "fusion", "launch.interval", "spread")
    )


@telling(2)
@pytest.mark.parametrize("name", sorted({*EXPERTS, *OF_RANGES}))
def test_a_figure_that_is_left_out_changes_no_time_of_a_dense_model(name: str) -> None:
    plan = plan_of(POD.replace("pp: 2", "pp: 2, software_year: 2024") if name == "routing.copies" else POD)
    cluster, layout = plan.design.cluster, plan.design.layout
    assert cluster is not None and layout is not None and layout.stack is not None
    of_part = name in cluster.accelerator.achievable
    known = (cluster.accelerator if of_part else layout.stack).achievable[name]
    owner = ("cluster", "accelerator") if of_part else ("layout", "stack")
    path: Path = (*owner, "achievable", name, "value")
    other = estimate(with_values(plan.design, {path: 2 * known.value}))
    assert (other.step_seconds, other.memory_bytes) == (plan.step_seconds, plan.memory_bytes)


def test_a_quantity_that_is_assumed_has_quantities_as_alternatives() -> None:
    work = "workload: {model: llama-3.1-8b, serving: {input_tokens: 500, output_tokens: 100, request_rate: 1,"
    day = " day: [{from: '22:00', to: '07:00', request_rate: 0.5}], scaling: {cold_start: 60 s}}}\n"
    layout = "layout: {framework: vllm, tp: 1}\n"
    plan = plan_of(f"clusterspec: 1\ncluster: {{platform: dgx-h100, nodes: 1}}\n{work}{day}{layout}")
    assert influence_of(plan, "workload.serving.scaling.ahead")[1:] == (0.0, 0.0)


ENGINE = """clusterspec: 1
cluster: {platform: dgx-h200, nodes: 1}
workload: {kind: serve, model: deepseek-v3, serving: {input_tokens: 2000, output_tokens: 400, concurrency: 64}}
layout: {framework: sglang, tp: 8}
"""


def test_an_engine_that_does_not_fit_has_more_memory_and_no_time_to_compare() -> None:
    """Weights of 671 billion parameters in 16 bits need 168 GB on each of eight accelerators with 141 GB."""
    plan = plan_of(ENGINE)
    wide = next(each for each in plan.assumptions if each[0] == "workload.parameter_precision")
    found = largest_influence(plan, wide)
    assert plan.fits is True and found is not None
    assert (found.against, found.step_time) == ("bf16", 0.0)
    assert found.memory > 0.4


@pytest.mark.parametrize(
    ("layout", "refused"), [("tp: 8", False), ("tp: 8, expert_tp: 16", True), ("tp: 4, ep: 8", True)]
)
def test_an_engine_does_not_share_experts_with_another_one(layout: str, refused: bool) -> None:
    text = ENGINE.replace("nodes: 1", "nodes: 2").replace("tp: 8", layout)
    assert ("experts-wider-than-replica" in layout_error_rules(study_text(text, SETTINGS).plan.design)) is refused


SYNCHRONIZED = """clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {model: qwen2.5-7b, sequence_length: 2048, global_batch: 4096, gradient_precision: bf16}
layout: {framework: megatron-core, tp: 1, micro_batch: 1, sharding: zero1}
"""


@pytest.mark.parametrize("text", [POD, SYNCHRONIZED])
def test_the_end_of_a_figure_that_costs_more_counts(text: str) -> None:
    """A tenth more bytes of accumulated gradients take 1.2 % longer where a tenth less saves nothing."""
    plan = plan_of(text)
    figures = [each for each in plan.assumptions if isinstance(each[1], Figure) and each[1].unit in {"B", "s"}]
    found = [one for one in (largest_influence(plan, each) for each in figures) if one is not None]
    assert found and all(max(one.step_time, one.memory) >= -1e-12 for one in found)
    if text == SYNCHRONIZED:
        added = [one.step_time for one in found if one.assumption[0].endswith("accumulation")]
        assert added == [pytest.approx(0.012, abs=0.002)]


ROUTED = POD.replace("llama-3.1-8b", "mixtral-8x7b").replace("tp: 4", "tp: 2, ep: 4")


@thorough
@pytest.mark.parametrize("text", sampled([POD, EFA, ROUTED], 8))
def test_every_alternative_costs_what_an_estimate_finds_that_reuses_nothing(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    varied: list[Plan] = []
    reused = influence._plan_of_changed_design

    def recorded(plan: Plan, design: Design) -> Plan:
        varied.append(reused(plan, design))
        return varied[-1]

    monkeypatch.setattr(influence, "_plan_of_changed_design", recorded)
    plan = plan_of(text)
    for assumption in plan.assumptions:
        largest_influence(plan, assumption)
    assert len(varied) > 40
    for each in varied:
        for known in (costs._RECENT, tables._RECENT, memory._RECENT):
            known.kept = ()
        fresh = estimate(each.design)
        assert each.step_seconds == pytest.approx(fresh.step_seconds, rel=1e-12)
        assert each.memory_bytes == pytest.approx(fresh.memory_bytes, rel=1e-12)


@pytest.mark.parametrize(
    ("platform", "framework", "first"),
    [
        ("dgx-h100", "vllm", 2023),
        ("dgx-h100", "sglang", 2024),
        ("dgx-a100", "sglang", 2024),
        ("dgx-b200", "vllm", 2024),
        ("mi355x-ubb8", "vllm", 2025),
        ("dgx-h100", "custom", 2022),
        ("dgx-a100", "custom", 2021),
    ],
)
def test_earlier_software_is_of_a_year_that_has_the_accelerator_and_the_framework(
    platform: str, framework: str, first: int
) -> None:
    """vLLM is of 2023 and SGLang of 2024; H100 of 2022, B200 of 2024, MI355X of 2025, and A100 of before 2021."""
    text = f"""
cluster: {{platform: {platform}, nodes: 1}}
workload: {{kind: serve, model: llama-3.1-8b, serving: {{input_tokens: 1000, output_tokens: 200, concurrency: 8}}}}
layout: {{framework: {framework}, tp: 1}}
"""
    design = plan_of(text).design
    years = influence._alternative_values(design, "layout.software_year", 2026)
    assert years == [*range(first, 2026)]
    assert influence._alternative_values(design, "layout.software_year", first) == []
