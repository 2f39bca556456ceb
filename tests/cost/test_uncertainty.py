"""The range of a step depends on what was measured near it; a utilization that nobody published is questioned."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator
from clusterspec.catalog.stacks import Stack
from clusterspec.cost.estimate import (
    COMMON_TO_LAYOUTS,
    HIGHEST_MFU,
    OTHER_LAYOUT,
    PART_SPREAD,
    RUN_TO_RUN,
    SPREADS,
    UNSEEN_KIND,
    UNSEEN_PART,
    evidence_figures,
    highest_mfu,
    mfu_figure_name,
    step_range,
    unseen_spread,
)
from clusterspec.cost.plan import Plan, transfer_rows
from tests.cost.plans import plan
from tests.effort import each, sampled, thorough
from tools.accuracy.cases import published_runs, study_of
from tools.accuracy.split import BEFORE, training_source
from tools.fit import evidence, first_widths, result, spread
from tools.fit.constants import rated_family
from tools.fit.runs import runs

CATALOG = Catalog.open()
MACHINE: dict[str, Any] = {"platform": None, "accelerators_per_node": 8, "scale_out": {"nic_bandwidth": "400 Gb/s"}}


def accelerators() -> list[Accelerator]:
    found = (CATALOG.get("accelerator", name) for name in CATALOG.ids("accelerator"))
    return [entry for entry in found if isinstance(entry, Accelerator)]


def width(found: Plan) -> float:
    """The half-width of the range of a step, relative."""
    assert found.step_seconds and found.step_time_range
    return found.step_time_range[1] / found.step_seconds - 1


def of_part(name: str) -> Plan:
    return plan({**MACHINE, "accelerator": name})


def test_the_less_is_measured_the_wider_is_the_range() -> None:
    """H100 with published runs; GH200, the same chip without; MI355X, whose best product alone is measured; MI250."""
    measured, same_chip, product, nothing = map(of_part, ("h100-sxm-80gb", "gh200-144gb", "mi355x", "mi250"))
    assert [
        each and each.value
        for each in (unseen_spread(found.design) for found in (measured, same_chip, product, nothing))
    ] == [
        None,
        UNSEEN_KIND.value,
        UNSEEN_PART.value,
        UNSEEN_PART.value,
    ]
    assert width(measured) < width(same_chip) < min(width(product), width(nothing))
    assert width(product) > UNSEEN_PART.value


@each("entry", sampled(accelerators(), 120))
def test_no_part_without_a_published_run_has_the_range_of_one_with(entry: Accelerator) -> None:
    found, measured = of_part(entry.id), width(of_part("h100-sxm-80gb"))
    if found.step_time_range is None:
        assert found.step_seconds is None
        return
    published = any(name.startswith("mfu.bf16.megatron_core") for name in entry.achievable)
    assert published or width(found) > math.hypot(measured, 0.9 * UNSEEN_KIND.value) > measured


@pytest.mark.parametrize(
    "layout",
    [{"framework": "maxtext", "tp": 4}, {"framework": "custom"}, {"framework": None}, {"framework": "internevo"}],
)
def test_a_framework_without_runs_on_the_part_widens_the_range(layout: dict[str, Any]) -> None:
    b200 = {**MACHINE, "accelerator": "b200-sxm-180gb"}
    found, seen = plan(b200, layout=layout), plan(b200)
    assert unseen_spread(seen.design) is None
    assert unseen_spread(found.design) == UNSEEN_KIND
    assert any(figure == UNSEEN_KIND for _, figure, _ in found.assumptions)


def test_a_precision_without_runs_on_the_part_widens_the_range() -> None:
    machine = {**MACHINE, "accelerator": "gh200-96gb"}
    found = {
        name: unseen_spread(plan(machine, workload={"precision": name}).design) for name in ("bf16", "fp16", "fp8")
    }
    assert found == {"bf16": None, "fp16": None, "fp8": UNSEEN_KIND}


@thorough
def test_every_published_run_has_a_run_near_it() -> None:
    """But those with a framework of their own, of which the catalog holds nothing."""
    for run in published_runs():
        design = study_of(run["id"]).design
        assert design is not None
        assert (unseen_spread(design) is None) is (not str(mfu_figure_name(design)).endswith(".custom")), run["id"]


def stacks_with_a_range() -> dict[str, Stack]:
    found = {name: CATALOG.get("stack", name) for name in CATALOG.ids("stack")}
    return {name: one for name, one in found.items() if isinstance(one, Stack) and "spread" in one.achievable}


def test_each_kind_of_software_has_the_range_of_its_first_predictions() -> None:
    """Trainers one, programs whose users bring or change the layers another, wider one."""
    widths = spread.spreads(first_widths.needs_of_side(held_out=False))
    for name, one in stacks_with_a_range().items():
        for kind, fact in SPREADS.items():
            width = widths[name.startswith(spread.PROGRAMS)][kind].width
            assert one.achievable[fact].value == pytest.approx(width, rel=0.05), f"{name}: python -m tools.fit --bands"
    for seen in (False, True):
        assert widths[False][False, seen].width < widths[True][False, seen].width < widths[True][True, seen].width
        assert widths[False][False, seen].width <= widths[False][True, seen].width
    assert widths[False][False, True].width < widths[False][True, True].width
    assert widths[False][False, True].width < widths[False][False, False].width
    assert widths[True][False, True] == widths[True][False, False]  # programs that nothing was fitted to are never seen


def first(id_: str, source: str, width: float, stack: str = "megatron-core-2025") -> spread.Need:
    return spread.Need(id_, source, stack, False, True, 1.0, width)


def test_a_framework_that_nobody_ran_on_the_chip_has_a_wider_range() -> None:
    """Five sources that need 0.1 where another had run the framework, and five that need 0.3 where none had."""
    known = [first(f"{source}-1", source, 0.1) for source in "abcde"]
    new = [replace(first(f"{source}-1", source, 0.3), seen=False) for source in "fghij"]
    widths = spread.spreads([*known, *new])[False]
    assert widths[False, True] == spread.Spread(0.1, 5, 5)
    assert widths[False, False] == spread.Spread(0.3, 5, 5)


def test_few_sources_have_the_range_of_seen_and_unseen_frameworks_together() -> None:
    """Four sources are less than `FEWEST`: eight of all nine need at most 0.3, seven 0.1, and four in five are 7.2."""
    known = [first(f"{source}-1", source, 0.1) for source in "abcdefg"]
    new = [replace(first(f"{source}-1", source, 0.3), seen=False) for source in "hi"]
    widths = spread.spreads([*known, *new])[False]
    assert widths[False, True] == widths[False, False] == spread.Spread(0.3, 9, 9)


def test_what_was_seen_has_no_wider_range_than_what_was_not() -> None:
    """Sources that need 0.4 with a framework that was seen, and 0.1 without, are no reason for a smaller width of the
    latter: four in five of all ten need 0.4."""
    known = [first(f"{source}-1", source, 0.4) for source in "abcde"]
    new = [replace(first(f"{source}-1", source, 0.1), seen=False) for source in "fghij"]
    widths = spread.spreads([*known, *new])[False]
    assert widths[False, True] == widths[False, False] == spread.Spread(0.4, 10, 10)


def test_exact_first_predictions_leave_the_difference_of_two_runs_of_one_description() -> None:
    """Four sources without a need have no width of software; where two of five need 0.6, four in five do."""
    exact = [first(f"{source}-1", source, 0.0) for source in "abcd"]
    assert spread.spreads(exact)[False][False, True].width == RUN_TO_RUN.value
    far = [*exact[:3], first("x-1", "x", 0.6), first("y-1", "y", 0.6)]
    assert spread.spreads(far)[False][False, True] == spread.Spread(0.6, 5, 5)


def test_programs_do_not_widen_the_range_of_trainers() -> None:
    found = [first(f"{name}-1", name, 0.5, f"{name}-2024") for name in ("fsdp", "torchtitan", "custom", "nanotron")]
    widths = spread.spreads([*found, first("a-1", "a", 0.1)])
    assert widths[True][False, True].width == 0.5
    assert widths[False][False, True].width == 0.1


def test_a_range_with_experts_is_as_wide_as_without() -> None:
    with_experts = replace(first("b-1", "b", 0.1), experts=True)
    assert spread.spreads([first("a-1", "a", 0.4), with_experts])[False][True, True] == spread.Spread(0.4, 1, 1)


def test_the_share_of_a_next_source_is_counted_in_ranges_drawn_without_it() -> None:
    """Five sources need 0.1 to 0.5. Four in five of them need 0.4, which the last exceeds. Without one of the first
    four, four in five of the other four are all of them, up to 0.5; without the last, they need 0.4."""
    needed = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4, "e": 0.5}
    found = [first(f"{source}-1", source, width) for source, width in needed.items()]
    assert spread.share_inside(found, spread.spreads(found)) == 0.8
    assert spread.share_inside_unseen(found, found) == 0.8
    assert spread.share_inside_unseen(found[4:], found) == 0.0


def test_a_first_prediction_rests_on_the_sources_that_were_entered_before() -> None:
    """Two sources of a chip: the one entered first has none before it, the later one the first, and older ones both."""
    known = evidence.Evidence({"H100": {"primus": 4, "scicom": 8, "bloom": 2}}, {})
    assert known.evidence_before("primus").chips == {"H100": {"bloom": 2}}
    assert known.evidence_before("scicom").chips == {"H100": {"primus": 4, "bloom": 2}}


@thorough
def test_the_needs_of_first_predictions_are_those_of_the_present_ranges() -> None:
    known = evidence.Evidence.of(runs())
    stored = {one.id: one for one in first_widths.read()}
    for name in ("skywork-001", "asynctp-005", "muxas-001", "primus-002"):
        ((run, error),) = spread.first_errors([run for run in runs() if run.id == name])
        found = spread.need(run, error, known.evidence_before(run.source))
        assert found.width == pytest.approx(stored[name].width, abs=0.02), f"{name}: python -m tools.fit --bands"
        assert replace(found, width=0.0, evidence=0.0) == replace(stored[name], width=0.0, evidence=0.0)


def test_every_first_prediction_of_a_source_since_the_split_has_its_need() -> None:
    entered = [row["id"] for row in published_runs("new_runs") if training_source(row["id"]) not in BEFORE]
    assert sorted(one.id for one in first_widths.read()) == sorted(entered), "python -m tools.fit --bands"


def test_the_widths_are_those_of_the_runs_left_out() -> None:
    found = result.read()["unseen"]
    assert pytest.approx(found["part"], abs=0.005) == UNSEEN_PART.value
    assert pytest.approx(found["kind"], abs=0.005) == UNSEEN_KIND.value


def test_one_source_on_a_chip_is_less_evidence_than_twenty() -> None:
    """Gaudi 3, which one source of the fitted side ran, and H100: 0.42 over the root of two, and of one more than the
    15.3 of one size that its sources weigh."""
    alone, many = (dict(evidence_figures(of_part(name).design)) for name in ("gaudi3", "h100-sxm-80gb"))
    assert alone["gaudi3 spread.part"].value == pytest.approx(UNSEEN_PART.value / math.sqrt(2), abs=0.005)
    assert many["h100-sxm-80gb spread.part"].value == pytest.approx(UNSEEN_PART.value / math.sqrt(16.3), abs=0.005)
    assert list(many) == ["h100-sxm-80gb spread.part"]
    assert [figure for _, figure in evidence_figures(of_part("mi250").design)] == [UNSEEN_PART]
    gained = [figure.value for figure in alone.values()]
    assert width(of_part("gaudi3")) > math.hypot(*gained) > 0.29


@thorough
def test_every_chip_has_the_width_of_its_sources() -> None:
    known = evidence.Evidence.of(runs())
    for entry in accelerators():
        rates = {name for name in entry.achievable if name.startswith("sustained.")} - {"sustained.power"}
        sources = known.chips.get(rated_family(entry.id), {}).values()
        assert (PART_SPREAD in entry.achievable) is bool(rates and sources), entry.id
        if PART_SPREAD in entry.achievable:
            assert entry.achievable[PART_SPREAD].value == pytest.approx(
                evidence.part_spread(evidence.effective_sources(sources)), abs=0.005
            ), "the entry has two digits"


@thorough
def test_the_width_of_a_run_does_not_count_its_own_source() -> None:
    """One source alone ran Gaudi 3: without it nobody ran the chip, nor this precision and framework on it."""
    found = [run for run in runs() if run.family == "Gaudi3"]
    assert {run.source for run in found} == {"optimumhabana"}
    known = evidence.Evidence.of(found)
    nothing = math.hypot(UNSEEN_PART.value, UNSEEN_KIND.value)
    assert known.half_width_without_source(found[0]) == found[0].spread_without_software(nothing)
    chips = {"Gaudi3": {"a": 7, "b": 7, "optimumhabana": 5}}
    other = evidence.Evidence(chips, {("Gaudi3", found[0].record): frozenset({"a"})})
    two = UNSEEN_PART.value / math.sqrt(3)
    assert other.half_width_without_source(found[0]) == pytest.approx(found[0].spread_without_software(two))


def test_the_width_of_a_chip_is_written_ahead_of_its_utilizations() -> None:
    rate = "kind: accelerator\nachievable:\n  sustained.bf16: {is: 0.8}\n"
    rest = "  mfu.bf16.x: {is: 0.1}\nnotes:\n  - one\n"
    found = evidence.with_part_spread(rate + rest, [4, 4, 4])
    assert found.startswith(f"{rate}  spread.part: {{is: 0.21, ") and found.endswith(rest)
    assert evidence.with_part_spread(found, [4, 4, 4]) == found
    assert evidence.with_part_spread(found, []) == rate + rest
    unknown = rate.replace("sustained.bf16", "sustained.power") + rest
    assert evidence.with_part_spread(unknown, [4, 4, 4]) == unknown


def test_a_source_with_most_runs_weighs_more_than_another() -> None:
    """22 runs of one machine and 2 of another are (24)² / (22² + 2²) = 1.18 sources; 12 of each are two."""
    assert evidence.effective_sources([22, 2]) == pytest.approx(576 / 488)
    assert evidence.effective_sources([12, 12]) == 2
    one, alike = (evidence.part_spread(evidence.effective_sources(counts)) for counts in ([22, 2], [12, 12]))
    assert UNSEEN_PART.value / math.sqrt(2) > one > alike == UNSEEN_PART.value / math.sqrt(3)


def test_each_source_has_one_weight_in_the_spread_of_software() -> None:
    """A table of 40 exact rows and one run of each of four other sources that needs 0.6: four of five sources."""
    exact = [first(f"a-{row}", "a", 0.0) for row in range(40)]
    found = spread.spreads([*exact, *(first(f"{source}-1", source, 0.6) for source in "bcde")])[False][False, True]
    assert found == spread.Spread(0.6, 44, 5)


@pytest.mark.parametrize("stack", ["fsdp-2023", "fsdp-2024", "fsdp-2026"])
def test_experts_around_fsdp_are_as_uncertain_as_those_of_an_unknown_framework(stack: str) -> None:
    found, unknown = (CATALOG.get("stack", name) for name in (stack, "custom-2021"))
    assert isinstance(found, Stack) and isinstance(unknown, Stack)
    assert found.achievable["spread.experts"].value == unknown.achievable["spread.experts"].value


@thorough
def test_a_width_adds_to_the_usual_one_in_quadrature_and_groups_count_alike() -> None:
    """Ten runs of one group are off by 10 %, one of another by 40 %: half of the groups, so that its error counts."""
    few = runs()[:11]
    groups = {run.id: index < 10 for index, run in enumerate(few)}
    usual = [(run, math.exp(0.05) - 1) for run in few]
    apart = [(run, math.exp(0.1 if groups[run.id] else 0.4) - 1) for run in few]
    found = spread.unmeasured_group_width(apart, usual, lambda run: groups[run.id])
    assert found == pytest.approx(math.exp(math.sqrt(0.4**2 - 0.05**2)) - 1)
    assert spread.unmeasured_group_width(usual, apart, lambda run: groups[run.id]) == 0


@thorough
def test_the_catalog_holds_the_highest_published_utilization() -> None:
    """The stated highest of a kind of accelerator is that of its entries, and each of those is of its runs."""
    for (systolic, precision), figure in HIGHEST_MFU.items():
        kind = [entry for entry in accelerators() if (entry.array is not None) is systolic]
        reached = [
            value.value
            for entry in kind
            for name, value in entry.achievable.items()
            if name.startswith(f"mfu.{precision}.")
        ]
        assert figure.value == max(reached)
    for run in filter(spread.short_enough, runs()):
        assert run.design.cluster is not None
        known = run.design.cluster.accelerator.achievable.get(run.record)
        assert known is None or run.mfu <= known.value + 0.0005, run.id


@thorough
def test_figures_of_runs_are_written_at_the_end_of_what_is_achievable() -> None:
    kept = [run for run in runs() if run.source == "kor"]
    text = "kind: accelerator\nachievable:\n  memory: {is: 0.8}\n  mfu.bf16.old: {is: 0.1}\nnotes:\n  - one\n"
    found = spread.with_reached(text, {"mfu.bf16.megatron_core": kept})
    first, last = found.split("  mfu.bf16.megatron_core: ")
    assert first == "kind: accelerator\nachievable:\n  memory: {is: 0.8}\n"
    assert last.startswith(f'{{is: {max(run.mfu for run in kept):.3f}, of: peak.bf16, assumed: "the highest of 2 ')
    assert last.endswith("notes:\n  - one\n")
    assert spread.with_reached(found, {"mfu.bf16.megatron_core": kept}) == found


def test_the_range_of_an_unpublished_utilization_reaches_the_published_one() -> None:
    """TPU v5p, fully sharded: predicted above the 71.5 % that is the highest published."""
    tpu = {"platform": None, "accelerator": "tpu-v5p", "nodes": 16}
    work = {"model": "llama-3.1-70b", "global_batch": 64}
    found = plan(
        tpu, workload=work, layout={"framework": "maxtext", "software_year": None, "tp": 4, "sharding": "fsdp"}
    )
    highest = highest_mfu(found.design)
    assert found.mfu and found.step_seconds and found.step_time_range and highest == 0.715
    assert found.mfu > highest
    assert found.step_time_range[1] >= found.step_seconds * found.mfu / highest


def test_a_narrower_precision_without_runs_is_compared_with_every_precision() -> None:
    """No run of a TPU in 4 bits is published."""
    known = {precision: figure.value for (systolic, precision), figure in HIGHEST_MFU.items() if systolic}
    assert "fp4" not in known
    tpu = {"platform": None, "accelerator": {"like": "tpu-v7x", "peak": {"fp4": "4000 TFLOP/s dense"}}, "nodes": 16}
    found = plan(tpu, workload={"precision": "fp4"}, layout={"framework": "maxtext"})
    assert highest_mfu(found.design) == max(known.values())


@pytest.mark.parametrize(("rate", "hidden"), [("400 Gb/s", "exchange"), ("10 Gb/s", "computation")])
def test_unknown_overlap_lowers_the_low_end_by_what_computation_covers(rate: str, hidden: str) -> None:
    """A framework of one's own may hide the exchange of experts: all of it over fast NICs, else as much as the step
    computes.
    """
    machine = {"scale_out": {"nic_bandwidth": rate, "nics_per_node": 8}}
    layout = {"framework": "custom", "software_year": 2024, "tp": 1, "expert_tp": 1, "ep": 32}
    found = plan(machine, workload={"model": "mixtral-8x7b"}, layout=layout)
    assert found.step is not None and found.step_time_range is not None and found.step_seconds is not None
    low, high = found.step_time_range
    width = high / found.step_seconds
    exchange = sum(row.exposed for row, _ in transfer_rows(found.step) if row.axis == "ep")
    covered = {"exchange": exchange, "computation": found.step.computing_seconds}
    assert covered[hidden] == min(covered.values())
    assert low == pytest.approx((found.step_seconds - covered[hidden]) / width)


def test_another_layout_is_known_better_than_the_step() -> None:
    """Three tenths of the width of software, of all runs together, are common to two layouts; the rest remains beside
    the same other parts.
    """
    found = of_part("h100-sxm-80gb")
    assert found.step and found.step_seconds and found.step_time_range and found.difference_bounds
    software = found.step.software.stack.achievable
    own, every = software["spread.seen"].value, software["spread"].value
    known = found.step_time_range[1] / found.step_seconds - 1
    other = found.difference_bounds[1] - 1
    assert known**2 - other**2 == pytest.approx(own**2 - (every * (1 - COMMON_TO_LAYOUTS.value)) ** 2)


def test_a_measured_step_of_another_layout_bounds_the_errors_of_software() -> None:
    """With experts, software adds no more to a step of this machine than another layout does."""
    found = of_part("h100-sxm-80gb")
    assert found.step
    wide = step_range(found.step, experts=True)[1] / found.step.seconds - 1
    measured = step_range(found.step, experts=True, measured=True)[1] / found.step.seconds - 1
    spread_ = found.step.software.stack.achievable["spread.experts.seen"].value
    assert wide**2 - measured**2 == pytest.approx(spread_**2 - OTHER_LAYOUT.value**2)
