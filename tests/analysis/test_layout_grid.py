"""The layouts and wire times that a report varies: those with figures pass check, and measured links stay measured."""

from __future__ import annotations

import pytest

from clusterspec.analysis.full_report import layout_grid
from clusterspec.analysis.levers.survival import survival, varied_design
from clusterspec.cluster.variation import layout_changes
from clusterspec.studies import variation
from clusterspec.units import display
from tests.analysis.jobs import study_of
from tests.effort import ALL_CASES, diagonal, telling, thorough

JOB = """
cluster: {{platform: dgx-h100, nodes: 16, scale_out: {{technology: infiniband-ndr}}}}
workload: {{model: {model}, sequence_length: 8192, global_batch: 256}}
layout: {{framework: {framework}, tp: 4, pp: 2, dp: 16, micro_batch: 1}}
"""
MEASURED = """
measured:
  - {collective: all-reduce, nodes: 16, size: 8 GiB, busbw: 200 GB/s duplex}
"""


@thorough
@pytest.mark.parametrize(
    ("framework", "model"), diagonal(3, ["torchtitan", "megatron-core", "deepspeed"], ["llama-3.1-70b", "llama-3.2-3b"])
)
def test_a_cell_has_figures_exactly_where_check_finds_no_error_in_the_degrees(framework: str, model: str) -> None:
    one = study_of(JOB.format(framework=framework, model=model))
    grid = layout_grid(one.plan)
    assert grid is not None
    # 64 heads and 80 layers, 24 heads and 28 layers: the powers of two up to them, and at most 64
    widest = max(cell.tp for cell in grid.cells), max(cell.pp for cell in grid.cells)
    assert widest == ((64, 64) if model == "llama-3.1-70b" else (16, 16))
    for cell in grid.cells[:: (5 if framework == "deepspeed" else 4) if ALL_CASES else 11]:
        other = one if cell.present else variation.rewritten_study(one, layout_changes({"tp": cell.tp, "pp": cell.pp}))
        errors = {each.rule for each in other.errors}
        assert bool(cell.errors) is (cell.step_time is None) and bool(cell.why) is bool(cell.errors)
        assert not cell.errors or errors & set(cell.errors)
        assert cell.errors or not {rule for rule in errors if "indivisible" in rule or "mismatch" in rule}


SLOW_OR_LARGE = {
    *("activations-exceed-memory", "states-exceed-memory", "degrees-beyond-need"),
    *("tp-crosses-scale-up-domain", "tp-communication-exposed", "dp-reduction-exposed", "oversubscribed-fabric"),
    "fsdp-gather-exposed",
}
"""Errors about layouts that run: the cell says how slow one is, or that it does not fit."""
STAGED = """
cluster: {platform: dgx-h100, nodes: 16, scale_out: {technology: infiniband-ndr}}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256}
"""


@telling(1)
@pytest.mark.parametrize(
    ("layout", "drawn", "refused"),
    [
        # 80 layers on pp 16 are 5 a rank, which 2 virtual stages do not divide; pp 32 and 64 do not divide 80
        (
            "{framework: megatron-core, tp: 8, pp: 4, virtual_stages: 2}",
            (1, 2, 4, 8),
            {16: "layers-indivisible-by-stages", 32: "layers-indivisible-by-pp", 64: "world-size-mismatch"},
        ),
        # without virtual stages, Megatron Core distributes 80 layers over 32 stages of 2 and 3
        ("{framework: megatron-core, tp: 4, pp: 4}", (1, 2, 4, 8, 16, 32), {64: "world-size-mismatch"}),
        # 128 ranks over tp 8 × pp: a group of 8 divides 16 to 8, and does not divide 4
        ("{framework: torchtitan, tp: 8, pp: 1, sharding: hsdp, shard_group: 8}", (1, 2),
         {4: "shard-group-not-dividing-dp", 8: "shard-group-not-dividing-dp"}),
        # a batch of 256 in micro-batches of 32 on tp 8 are pp / 2, and torchtitan needs one for each stage
        ("{framework: torchtitan, tp: 8, pp: 2, micro_batch: 32}", (),
         {1: "global-batch-indivisible", 2: "fewer-microbatches-than-stages", 4: "fewer-microbatches-than-stages"}),
    ],
)  # fmt: skip
def test_a_cell_is_drawn_exactly_where_check_finds_that_the_layout_runs(
    layout: str, drawn: tuple[int, ...], refused: dict[int, str]
) -> None:
    one = study_of(STAGED + f"layout: {layout}\n")
    assert one.design.layout is not None
    grid = layout_grid(one.plan)
    assert grid is not None
    cells = {cell.pp: cell for cell in grid.cells if cell.tp == one.design.layout.tp}
    for pp in (*drawn, *refused):
        cell = cells[pp]
        other = variation.rewritten_study(one, layout_changes({"tp": cell.tp, "pp": pp}))
        errors = {each.rule for each in other.errors} - SLOW_OR_LARGE
        assert bool(errors) is (pp in refused) is (cell.step_time is None), (pp, errors)
        assert (other.plan.step_seconds is None) is (cell.step_time is None)
        assert pp not in refused or refused[pp] in errors & set(cell.errors), (pp, errors)


def test_torchtitan_gives_eight_key_value_heads_to_no_more_than_eight_ranks() -> None:
    grid = layout_grid(study_of(JOB.format(framework="torchtitan", model="llama-3.1-70b")).plan)
    assert grid is not None
    wide = [cell for cell in grid.cells if cell.tp in (16, 32)]
    assert wide and all("kv-heads-indivisible-by-tp" in cell.errors and cell.step_time is None for cell in wide)


@thorough
def test_wire_times_keep_the_measured_shares() -> None:
    text = JOB.format(framework="megatron-core", model="llama-3.1-8b")
    plain, measured = study_of(text).design, study_of(text + MEASURED).design
    assert measured.cluster is not None and measured.cluster.measured
    other = varied_design(measured, 16, "llama-3.1-8b", 2, "DDP")
    assert other is not None and other.cluster is not None and other.cluster.measured == measured.cluster.measured
    slower, faster = survival(measured, live=False), survival(plain, live=False)
    assert slower is not None and faster is not None
    times = [{case.strategy: case.curve.to_json() for case in one.cases} for one in (slower, faster)]
    assert times[0]["DDP"] != times[1]["DDP"]


TOO_LARGE = """
cluster: {{platform: dgx-h100, nodes: {nodes}}}
workload: {{model: {model}, sequence_length: 8192, global_batch: 512}}
layout: {{framework: megatron-core, tp: {tp}, pp: {pp}, micro_batch: {micro_batch}}}
"""


@telling(1)
@pytest.mark.parametrize(
    "keys",
    [
        {"nodes": 32, "model": "llama-3.1-70b", "tp": 2, "pp": 2, "micro_batch": 1},
        {"nodes": 16, "model": "llama-3.1-70b", "tp": 1, "pp": 4, "micro_batch": 2},
        {"nodes": 8, "model": "llama-3.1-8b", "tp": 1, "pp": 1, "micro_batch": 4},
        {"nodes": 64, "model": "mixtral-8x22b", "tp": 1, "pp": 2, "micro_batch": 1},
    ],
)
def test_advice_on_memory_names_the_layout_that_the_report_recommends(keys: dict[str, object]) -> None:
    """The first row of the report's fastest layouts is the advice, unless a change of recomputation is faster."""
    one = study_of(TOO_LARGE.format(**keys))
    grid = layout_grid(one.plan)
    assert grid is not None
    (found,) = (each for each in one.errors if each.rule in {"states-exceed-memory", "activations-exceed-memory"})
    fitting = [cell for cell in grid.cells if cell.fits_with_reserve and cell.step_time]
    assert found.help and fitting and grid.capacity is not None
    assert all(0 < (cell.memory or 0.0) <= 0.95 * grid.capacity for cell in fitting)
    best = min(fitting, key=lambda cell: cell.step_time or 0.0)
    degrees = (("tp", best.tp, keys["tp"]), ("pp", best.pp, keys["pp"]))
    words = ", ".join(f"{axis}: {new}" for axis, new, old in degrees if new != old)
    offered = found.help.split("these fit: ")[1].split("; or ")
    seconds = display(best.step_time or 0.0, "s")
    named = [text for text in offered if text.startswith(f"`{words}` (") and f"{seconds} per step" in text]
    faster = [text for text in offered if "tp" not in text.split("`")[1] and "pp" not in text.split("`")[1]]
    assert named or len(faster) == 2, (found.help, words, seconds)
