"""The step of a report by hand: its schedule, its roles, its passes and the evidence behind its range."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cost.collectives import CollectiveCost
from clusterspec.cost.compute import Kernel
from clusterspec.cost.estimate import RUN_TO_RUN, UNSEEN_PART
from clusterspec.cost.layer_tables import PartTime, PhaseTime, TransferTime
from clusterspec.cost.plan import StepRecord
from clusterspec.cost.reinforcement.rollout import Rollout
from clusterspec.cost.reinforcement.times import RlTimes
from clusterspec.cost.traffic import Transfer
from clusterspec.records import replace
from clusterspec.report.charts.bars import StackPart
from clusterspec.report.paper.blocks import PaperTable
from clusterspec.report.paper.steps import (
    KINDS,
    drawn_pass,
    layer_picture,
    range_text,
    rl_section,
    roles_picture,
    schedule_picture,
)
from clusterspec.results.machine import Operation, Schedule
from clusterspec.units import percent
from tests import designs
from tests.report.test_charts import shapes
from tests.report.test_paper import own_parts
from tests.report.test_paper_rows import ROLLOUT, SPREAD
from tests.report.test_paper_words import ONE_LEAF, TRAINED, planned, trained

PASSES = (Operation(0, False, 0, 0, 0.0, 1.0), Operation(1, True, 0, 0, 1.0, 4.0))
START, OVER = "Pipeline schedule (1f1b), to scale: ", " over 2 stages"


@pytest.mark.parametrize(
    ("virtual", "batches", "drawn", "end", "said"),
    [
        (1, 4, 4, 8.0, f"4 micro-batches{OVER}; the slowest stage idles 25 %"),
        (2, 4, 4, 8.0, f"4 micro-batches{OVER}, 2 virtual stages each; the slowest stage idles 25 %"),
        (1, 9, 4, 8.0, f"the first 4 of 9 micro-batches{OVER}"),
        (1, 4, 4, 0.0, f"4 micro-batches{OVER}"),
        (1, 1, 1, 8.0, f"1 micro-batch{OVER}; the slowest stage idles 25 %"),
    ],
)
def test_a_schedule_is_told_with_its_batches_and_what_it_idles(
    virtual: int, batches: int, drawn: int, end: float, said: str
) -> None:
    found = Schedule("1f1b", 2, virtual, batches, drawn, 1.0, 1.0, 2.0, 2.0, 8.5, end, PASSES)
    (picture,) = schedule_picture(found)
    assert picture.caption == START + said
    names = [each["text"] for each in shapes(picture.svg, "text")]
    assert names[:2] == ["stage 1", "stage 2"] and names[-4:] == ["forward", "recomputation", "backward", "idle"]
    assert list(schedule_picture(None)) == []


def rollout() -> RlTimes:
    times = own_parts(ROLLOUT).estimate.plan.rl
    assert times is not None
    return times


def test_the_roles_of_a_step_have_their_time_share_and_idle_share() -> None:
    """200 s of which rollout takes 100 s, and is busy for half of these."""
    times = rollout()
    shared = replace(
        times,
        step=200.0,
        band=(150.0, 250.0),
        rollout=quick(times),
        log_probabilities=20.0,
        update=60.0,
        driver=10.0,
        switch=10.0,
        waits=0.0,
        accelerators=16.0,
        flops=0.25 * 200.0 * 16.0 * 1e15,
        peak=1e15,
    )
    section = rl_section(shared)
    assert section is not None
    (table,) = section.blocks
    assert isinstance(table, PaperTable)
    rows = {row.cells[0]: row.cells[1:] for row in table.rows}
    assert rows["log probabilities"] == ("20 s", "10 %", "0 %") and rows["update"] == ("60 s", "30 %", "0 %")
    assert rows["driver"] == ("10 s", "5 %", "0 %") and rows["switch"][:2] == ("10 s", "5 %")
    assert [row.field for row in table.rows] == [f"estimate.rl.parts[{at}]" for at in range(len(table.rows))]
    rate = shared.rl.samples * shared.rl.sample_tokens / 200 / 16
    assert section.lead == (
        f"One step of reinforcement learning takes 3.33 min (range 2.5 min to 4.17 min): {rate:,.0f} tokens per second "
        "and accelerator, MFU 25 % of all roles."
    )
    silent = rl_section(replace(shared, peak=None))
    assert silent is not None and silent.lead.endswith("tokens per second and accelerator.")
    assert rl_section(None) is None


@pytest.mark.parametrize(
    ("placement", "update", "ahead"),
    [
        ("colocated", 300.0, False),  # a role that takes longer than its step runs together with none
        ("split", 300.0, True),
        ("split", 60.0, False),
        ("split", 200.0, False),  # as long as the step
    ],
)
def test_rollout_that_runs_ahead_is_told_where_a_role_takes_longer_than_the_step(
    placement: str, update: float, ahead: bool
) -> None:
    times = rollout()
    found = replace(
        times,
        rl=replace(times.rl, placement=placement, max_staleness=3),
        step=200.0,
        log_probabilities=20.0,
        update=update,
        driver=10.0,
        rollout=quick(times),
    )
    section = rl_section(found)
    assert section is not None
    said = " Rollout runs up to 3 steps ahead of the weights, so a batch of it may take longer than a step."
    assert section.lead.endswith(said) is ahead


def quick(times: RlTimes) -> Rollout:
    """A rollout of 100 s that is busy for half of them."""
    return replace(times.rollout, batch=100.0, busy=50.0)


def test_roles_are_drawn_in_sequence_on_shared_nodes_and_side_by_side_on_others() -> None:
    """Shared: 50 s of rollout, 50 s of waiting and 90 s of training; apart, rollout works 50 of 200 s."""
    given: dict[str, Any] = {
        "step": 200.0,
        "log_probabilities": 20.0,
        "update": 60.0,
        "driver": 10.0,
        "switch": 0.0,
        "waits": 0.0,
    }
    times = replace(rollout(), rollout=quick(rollout()), roles=(), **given)
    shared = roles_picture(times)
    assert shared.svg.count(">all<") == 1 and ">trainer<" not in shared.svg
    assert (
        'aria-label="all: rollout 50 s, waiting 50 s, log-probabilities 20 s, update 60 s, driver 10 s"' in shared.svg
    )
    split = roles_picture(replace(times, rl=replace(times.rl, placement="split")))
    assert (
        'aria-label="rollout: rollout 50 s, waiting 2.5 min; trainer: log-probabilities 20 s, update 60 s, '
        'driver 10 s, waiting 110 s"' in split.svg
    )
    switched = roles_picture(replace(times, switch=5.0))
    assert "driver 10 s, switch of roles 5 s" in switched.svg


def transfer(axis: str, seconds: float, exposed: float) -> TransferTime:
    """One call, with its seconds on the links."""
    figures = (2, 1e9, seconds, seconds, seconds, seconds, 1e9, 1e9, 1e9)
    cost = CollectiveCost("all-gather", "ring", "simple", "scale-up", *figures, "NVLink")
    return TransferTime(Transfer(axis, "all-gather", 1e9), cost, 0.0, 0.0, exposed)


def phase(transfers: tuple[TransferTime, ...] = (), launch: float = 0.0, exposed: float = 0.0) -> PhaseTime:
    """A second of kernels: half in GEMMs, a fifth in attention, the rest bound by memory."""
    rates = (("matmul", 0.4), ("matmul.fp8", 0.1), ("attention_forward", 0.2), ("", 0.3))
    kernels = tuple((Kernel("k", 0.0, 0.0, rate), seconds) for rate, seconds in rates)
    return PhaseTime(kernels, transfers, 1.0, exposed, 4.0, 0.0, 0.0, launch)


def shown(parts: tuple[StackPart, ...]) -> list[tuple[str, Any]]:
    return [(part.label, pytest.approx(part.value)) for part in parts]


def test_a_pass_is_its_kernels_by_kind_then_launches_and_exposed_communication() -> None:
    drawn = drawn_pass("forward", phase())
    kinds = [("GEMMs", 0.5), ("attention", 0.2), ("memory-bound kernels", 0.3)]
    assert shown(drawn.device) == kinds
    assert [part.tint for part in drawn.device] == [tint for _, tint in KINDS]
    assert (drawn.title, drawn.exposed, drawn.links) == ("forward: 1 s", (), ())
    sent = (transfer("tp", 0.4, 0.1), transfer("tp", 0.2, 0.1), transfer("cp", 0.5, 0.0))
    whole = drawn_pass("backward", phase(sent, launch=0.3, exposed=0.2))
    assert shown(whole.device) == [*kinds, ("kernel launches", 0.3)]
    assert shown(whole.exposed) == [("exposed tp", 0.2)]
    links = [(part.label, part.value, exposed) for part, exposed in whole.links]
    assert links == [("tp", pytest.approx(0.6), pytest.approx(0.2)), ("cp", 0.5, 0.0)]
    assert whole.title == f"backward: 1.5 s, {percent(0.2 / 1.5)} of it exposed; 1.1 s on the links"


@pytest.mark.parametrize(("seconds", "drawn"), [(0.002, False), (0.0021, True)])
def test_communication_below_two_thousandths_of_a_pass_is_not_drawn(seconds: float, drawn: bool) -> None:
    found = drawn_pass("forward", phase((transfer("tp", seconds, seconds),)))
    assert bool(found.links) is drawn and bool(found.exposed) is drawn
    hidden = drawn_pass("forward", phase((transfer("tp", 0.5, seconds),)))
    assert hidden.links and bool(hidden.exposed) is drawn


EMPTY = PhaseTime((), (), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def recorded(*parts: tuple[str, int, PhaseTime]) -> StepRecord:
    """The step of a plan with parts that have only a forward pass."""
    step = designs.plan_of(designs.TRAINED).step
    assert step is not None
    made = [(PartTime(name, one, EMPTY, EMPTY, 0.0, 0.0), count) for name, count, one in parts]
    return replace(step, parts=tuple(made))


def test_the_layer_that_a_stage_has_most_of_is_drawn_without_empty_passes() -> None:
    (picture,) = layer_picture(recorded(("embedding", 1, phase()), ("dense_layer", 8, phase()), ("head", 2, phase())))
    assert picture.caption == "One micro-batch through one dense layer (8 passes in a stage): exposed time hatched"
    assert 'aria-label="forward: 1 s"' in picture.svg
    (picture,) = layer_picture(recorded(("head", 1, phase())))
    assert "(1 pass in a stage)" in picture.caption
    assert list(layer_picture(recorded(("head", 1, EMPTY)))) == []
    assert list(layer_picture(recorded())) == [] and list(layer_picture(None)) == []


NARROWER = f" A measured step of this job would narrow the range to ±{percent(RUN_TO_RUN.value)} at best"


def test_a_measured_step_is_advised_where_the_range_is_wider_than_one() -> None:
    """Two runs of one job differ by up to a half-width each: a ratio of (1 + w) squared is as narrow already."""
    found, least = trained(), (1 + RUN_TO_RUN.value) ** 2
    assert range_text(found, least * 1.01).endswith(f"{NARROWER} (`measured[].step_time`).")
    assert "measured step" not in range_text(found, least)
    assert range_text(own_parts(TRAINED, "design", "tender"), 2.0) == ""
    assert range_text(own_parts(TRAINED + "measured: [{step_time: 2 s}]\n"), 2.0) == ""
    assert "measured step" not in range_text(own_parts(ROLLOUT), 2.0)


def test_the_evidence_of_a_range_is_that_of_its_kind_of_model() -> None:
    """Runs with experts for a model with experts, dense runs otherwise, and nothing without a step."""
    dense, sparse = range_text(trained(), 1.0), range_text(own_parts(SPREAD.replace("EXPERTS", "8")), 1.0)
    opening = " The range adds these uncertainties in quadrature. Software: "
    assert dense.startswith(opening) and sparse.startswith(opening)
    known = "in a precision and on a chip that a source had run with the framework before, lie within it"
    for text, kind in ((dense, "dense runs"), (sparse, "runs with experts")):
        assert f", four in five first predictions of {kind} by trainers with layers of their own, {known}" in text
    assert range_text(planned(step=None), 1.0) == ""


UNMEASURED = "{accelerator: mi355x, accelerators_per_node: 8, nodes: 4}"


def test_an_accelerator_that_nobody_has_measured_widens_the_range_and_is_named() -> None:
    unseen = own_parts(TRAINED.replace(ONE_LEAF, UNMEASURED))
    widened = f"Accelerator: ±{percent(UNSEEN_PART.value)}, no published run shows what it sustains at this precision."
    assert widened in range_text(unseen, 1.0)
    assert "sustains at this precision" not in range_text(trained(), 1.0)
    assert "sources with published runs on this chip" in range_text(trained(), 1.0)
