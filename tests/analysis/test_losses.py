"""What limits a step sums to the whole, and what shortens it is legal, fits, and keeps the machine."""

from __future__ import annotations

import pytest

from clusterspec.analysis.full_report import report, roofline
from clusterspec.analysis.losses import single_change_gains, utilization_losses
from clusterspec.cost.plan import Plan
from clusterspec.report.charts.bars import FallBar, waterfall_chart
from clusterspec.results.machine import LayoutCell, LayoutGrid
from clusterspec.studies import study_text
from tests.settings import SETTINGS

TEXT = """
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 128, DRAWN}
layout: {tp: 8, pp: 4, micro_batch: 1, framework: megatron-core}
"""


def planned(text: str) -> Plan:
    return study_text(text, SETTINGS).plan


@pytest.mark.parametrize(("platform", "ranks"), [("dgx-h100", 1), ("mi250x-4", 2)])
def test_a_roofline_sums_the_kernels_with_arithmetic_by_name(platform: str, ranks: int) -> None:
    text = TEXT.replace("DRAWN", "precision: bf16").replace("dgx-h100", platform)
    plan = planned(text)
    found, record = roofline(plan), plan.step
    cluster, work = plan.design.cluster, plan.design.workload
    assert found is not None and record is not None and cluster is not None and work is not None
    memory = cluster.accelerator.memory_bandwidth
    assert cluster.ranks_per_accelerator == ranks and memory is not None and work.peak is not None
    assert (found.peak * ranks, found.bandwidth * ranks) == (work.peak.value, memory.value)
    kernels = [
        (kernel, seconds, count)
        for part, count in record.parts
        for _, phase in part.phases
        for kernel, seconds in phase.kernels
        if kernel.flops and kernel.traffic
    ]
    assert len({each.name for each in found.kernels}) == len(found.kernels) > 3
    assert {each.name for each in found.kernels} == {kernel.name.split(":")[0] for kernel, _, _ in kernels}
    for name, sums in (("flops", [k.flops * n for k, _, n in kernels]), ("seconds", [s * n for _, s, n in kernels])):
        assert sum(getattr(each, name) for each in found.kernels) == pytest.approx(sum(sums))
    for each in found.kernels:
        assert each.intensity == pytest.approx(each.flops / each.traffic)
        assert each.rate == pytest.approx(each.flops / each.seconds)
    assert roofline(planned(text.split("workload")[0])) is None


@pytest.mark.parametrize("drawn", ["precision: bf16", "precision: fp8"])
@pytest.mark.parametrize("recompute", ["none", "full"])
def test_the_losses_and_what_is_achieved_are_the_whole(drawn: str, recompute: str) -> None:
    plan = planned(TEXT.replace("DRAWN", drawn).replace("tp: 8,", f"tp: 8, recompute: {recompute},"))
    found = utilization_losses(plan)
    assert plan.mfu is not None and plan.step_time is not None
    assert sum(loss.share for loss in found) + plan.mfu == pytest.approx(1, abs=0.005)
    assert all(loss.seconds == pytest.approx(loss.share * plan.step_time.value) for loss in found)
    by_name = {loss.name: loss for loss in found}
    assert by_name["pipeline_bubble"].seconds == next(
        part.value for part in plan.step_time.parts if part.name == "pipeline_bubble"
    )
    assert ("recomputation" in by_name) == (recompute == "full")


def test_launches_that_the_kernels_wait_for_are_a_loss_of_their_own() -> None:
    """94 layers of 128 experts on 72 GB200 with tp 8 have many short kernels, which the host launches slower than the
    device runs them. A dense model with long kernels waits for none.
    """
    sparse = planned(
        "clusterspec: 1\ncluster: {platform: gb200-nvl72, nodes: 18}\n"
        "workload: {model: qwen3-235b-a22b, sequence_length: 8192, global_batch: 72, precision: fp8}\n"
        "layout: {framework: megatron-core, tp: 8, ep: 8, expert_tp: 1, micro_batch: 1, recompute: full}\n"
    )
    shares = {loss.name: loss.seconds for loss in utilization_losses(sparse)}
    assert sparse.step_time is not None
    parts = {part.name: part.value for each in sparse.step_time.parts[:2] for part in each.parts}
    waits = parts["forward_launching"] + parts["backward_launching"]
    kernels = parts["forward_memory_bound"] + parts["backward_memory_bound"]
    assert shares["launching"] == pytest.approx(waits) and shares["memory"] == pytest.approx(kernels)
    assert waits > kernels > 0
    dense = utilization_losses(planned(TEXT.replace("DRAWN", "precision: bf16")))
    assert "launching" not in {loss.name for loss in dense}


def test_a_plan_without_a_step_has_no_losses() -> None:
    assert utilization_losses(planned("clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 2}\n")) == ()


def test_gains_are_sorted_and_of_the_same_machine() -> None:
    found = report(study_text(TEXT.replace("DRAWN", "precision: bf16"), SETTINGS), "design", live=False)
    assert found.gains
    assert [gain.share for gain in found.gains] == sorted(gain.share for gain in found.gains)
    assert all(gain.share < -0.01 and gain.key not in {"nodes", "accelerators"} for gain in found.gains)
    document = found.to_json()
    assert [each["effect"] for each in document["gains"]] == [gain.share for gain in found.gains]


def test_only_a_layout_that_fits_is_a_gain() -> None:
    plan = planned(TEXT.replace("DRAWN", "precision: bf16"))
    step = plan.step_seconds
    assert step
    cells = (
        LayoutCell(8, 4, step, 1.0, True, "", True),
        LayoutCell(4, 4, 0.5 * step, 1.0, False, "", False),
        LayoutCell(4, 2, 0.7 * step, 1.0, True, "", False),  # it leaves no reserve
        LayoutCell(4, 8, 0.8 * step, 1.0, True, "", False, fits_with_reserve=True),
        LayoutCell(8, 8, 0.9 * step, 1.0, True, "", False, fits_with_reserve=True),
    )
    (gain,) = single_change_gains(plan, None, LayoutGrid((4, 8), (4, 8), cells, None))
    assert (gain.key, gain.before, gain.after, gain.field) == ("layout", "tp 8, pp 4", "tp 4, pp 8", "layouts.cells[3]")
    assert gain.share == pytest.approx(-0.2)


def test_a_bar_begins_where_the_last_one_ended() -> None:
    drawn = waterfall_chart(
        [FallBar("a", "forward", 0.25, "−25 %"), FallBar("b", "tp", 0.5, "−50 %")],
        FallBar("left", "good", 0.25, "25 %"),
        "alternative",
        start="peak",
    )
    places = [float(part.split('"')[0]) for part in drawn.split('<rect x="')[1:]]
    widths = [float(part.split('width="')[1].split('"')[0]) for part in drawn.split("<rect ")[1:]]
    start, whole = places[0], widths[0]
    assert places == pytest.approx([start, start + 0.75 * whole, start + 0.25 * whole, start], abs=0.6)
    assert widths == pytest.approx([whole, 0.25 * whole, 0.5 * whole, 0.25 * whole], abs=0.6)
