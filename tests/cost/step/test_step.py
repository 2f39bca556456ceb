"""The composition of a step, worked by hand."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from clusterspec.cost import step
from clusterspec.cost.step import (
    HostUpdate,
    ReplicaOverlap,
    ReplicaSeconds,
    ReplicaWork,
    StageTime,
    StepChoices,
    StepInputs,
    composed_step,
    host_times,
    owned_weights,
)
from clusterspec.quantity import Figure
from clusterspec.source import Computed
from tests.cost.plans import plan

HIDES = ReplicaOverlap(hides=True, hides_across=True, gathers_again=True, interference=0.0)
NO_TRAFFIC = ReplicaSeconds(0.0, 0.0, 0.0, 0.0)


def choices(**changed: Any) -> StepChoices:
    base: dict[str, Any] = {
        "schedule": "1f1b",
        "layer_by_layer": False,
        "overlap": HIDES,
        "hides_sends": False,
        "bytes_each": 34.0,
        "bandwidth": 3.4e12,
        "offloaded": 0.0,
        "host": None,
        "data_loading": 0.0,
        "overhead": 0.0,
        "jitter": 0.0,
    }
    return StepChoices(**{**base, **changed})


def inputs(**changed: Any) -> StepInputs:
    base: dict[str, Any] = {
        "stage": StageTime(1.0, 2.0, 0.5),
        "every": 3.5,
        "stages": 1.0,
        "virtual_stages": 1.0,
        "micro_batches": 8.0,
        "layers": 10.0,
        "send": 0.0,
        "replicas": NO_TRAFFIC,
        "weights": 0.0,
        "nodes": 1.0,
    }
    return StepInputs(**{**base, **changed})


def test_one_stage_does_its_micro_batches_and_nothing_else() -> None:
    """8 micro-batches of 1 + 2 + 0.5 seconds."""
    times, exposures = composed_step(inputs(), choices())
    assert times.work == times.total == 28.0
    assert times.bubble == times.sends == times.replicas == times.update == times.straggling == 0.0
    assert step.exposed_seconds(exposures) == 0.0


def test_four_equal_stages_idle_three_micro_batches_and_wait_for_six_sends() -> None:
    """Filling and draining take (4 × 3.5 - 3.5) seconds, and 2 × 3 sends of 0.1; each stage sends 2 × 8 times."""
    times, _ = composed_step(inputs(stages=4.0, every=14.0, send=0.1), choices())
    assert times.idle == 10.5
    assert times.fill_sends == pytest.approx(0.6)
    assert times.bubble == pytest.approx(11.1)
    assert times.sends == pytest.approx(1.6)
    assert times.total == pytest.approx(28 + 11.1 + 1.6)


def test_virtual_stages_divide_the_bubble_and_multiply_the_sends() -> None:
    twice = inputs(stages=4.0, every=14.0, send=0.1, virtual_stages=2.0)
    times, _ = composed_step(twice, choices(schedule="interleaved"))
    assert (times.idle, times.sends) == pytest.approx((5.25, 3.2))
    hidden, _ = composed_step(twice, choices(schedule="interleaved", hides_sends=True))
    assert (hidden.idle, hidden.sends, hidden.fill_sends) == pytest.approx((5.25, 0.0, 0.6))


def test_zero_bubble_and_dualpipe_fill_the_bubble_with_weight_gradients() -> None:
    """The weight gradients are half of the 2 seconds of the backward pass. ZB-H1 idles 3 × (1 + 1.5 - 1) seconds;
    DualPipe (4 / 2 - 1) × (3.5 + 2.5 - 3)."""
    several = inputs(stages=4.0, every=14.0)
    assert composed_step(several, choices(schedule="zero-bubble"))[0].idle == pytest.approx(4.5)
    assert composed_step(several, choices(schedule="dualpipe"))[0].idle == pytest.approx(3.0)


HOST = HostUpdate(
    gradient_bytes=4.0,
    update_bytes=34.0,
    weight_bytes=2.0,
    bandwidth=4e10,
    memory=68e9,
    share=Figure(0.25, "1", Computed("stated")),
    copies_behind_backward=False,
)


def test_the_optimizer_moves_its_bytes_at_memory_speed_and_the_host_updates_the_rest() -> None:
    """1e9 weights × 34 bytes at 3.4 TB/s are 10 ms. Of half of them 0.5e9 × 4 bytes go to the host at 40 GB/s, 50 ms;
    0.5e9 × 34 bytes at a quarter of 68 GB/s take the processors 1 s; 0.5e9 × 2 bytes come back in 25 ms.
    """
    assert composed_step(inputs(weights=1e9), choices())[0].update == pytest.approx(0.010)
    half, _ = composed_step(inputs(weights=1e9), choices(offloaded=0.5, host=HOST))
    assert half.update == pytest.approx(0.005)
    assert host_times(inputs(weights=1e9), choices(offloaded=0.5, host=HOST)) == pytest.approx((0.05, 1.0, 0.025))
    assert half.offload == pytest.approx(1.075)
    assert half.total == pytest.approx(28.005 + 1.075)


@pytest.mark.parametrize(("weights", "exposed"), [(1e9, 0.0), (50e9, 0.0), (60e9, 8 * 0.5)])
def test_gradients_that_the_host_keeps_are_copied_behind_each_backward_pass(weights: float, exposed: float) -> None:
    """The 2.5 s of a backward pass hide 25e9 × 4 bytes at 40 GB/s; each of eight micro-batches copies 5e9 more."""
    behind = HOST._replace(copies_behind_backward=True)
    found = host_times(inputs(weights=weights), choices(offloaded=0.5, host=behind))
    assert found.gradients == pytest.approx(exposed)
    assert found.update == pytest.approx(weights / 1e9) and found.weights == pytest.approx(weights / 40e9)


def test_stragglers_stretch_everything_else() -> None:
    """The longest of 100 delays of 1 % is ln 100 = 4.605 % late, of 28 + 1 + 2 seconds."""
    times, _ = composed_step(inputs(nodes=100.0), choices(jitter=0.01, overhead=1.0, data_loading=2.0))
    assert times.straggling == pytest.approx(0.01 * 4.60517 * 31, rel=1e-4)
    assert times.total == pytest.approx(31 + times.straggling)


def test_states_of_a_rank_are_its_share_of_weights_and_of_the_fewer_replicas_of_experts() -> None:
    assert owned_weights(8e9, 4e9, 8, 2) == 1e9 + 2e9
    assert owned_weights(8e9, 4e9, 8, 64) == 1e9 + 0.5e9
    assert owned_weights(8e9, 4e9, 1, 4) == 12e9


def test_the_slowest_stage_is_the_first_of_the_longest() -> None:
    stages = [StageTime(1.0, 2.0, 0.0), StageTime(1.0, 2.5, 0.5), StageTime(2.0, 2.0, 0.0), StageTime(0.5, 1.0, 0.0)]
    assert step.slowest_stage(stages) == (stages[1], 1.0)
    column = [StageTime(numpy.array([1.0, 5.0]), *rest) for rest in ((2.0, 0.0), (2.5, 0.0))]  # type: ignore[arg-type]
    column[0] = column[0]._replace(backward=numpy.array([2.0, 9.0]))  # type: ignore[arg-type]
    stage, index = step.slowest_stage(column)
    assert numpy.asarray(index).tolist() == [1.0, 0.0]
    assert numpy.asarray(stage.total).tolist() == [3.5, 14.0]


def test_a_stage_adds_its_parts_and_a_chunk_of_dualpipe_runs_half_of_them() -> None:
    layer, head = StageTime(1.0, 2.0, 0.5), StageTime(0.25, 0.5, 0.0)
    assert step.stage_time([(layer, 4), (head, 1)], 1.0) == (4.25, 8.5, 2.0)
    assert step.stage_time([(layer, 4), (head, 1)], 0.5) == (2.125, 4.25, 1.0)


WORK = ReplicaWork(forward=1.0, backward=2.5, layers=10.0, micro_batches=8.0, turns=1.0)
TRAFFIC = ReplicaSeconds(gather=2.0, reduce=4.0, outside=0.3, across=0.7)


def exposed(found: tuple[step.Exposure, ...]) -> dict[str, float]:
    return {one.name: one.repeats * one.exposed for one in found}


def test_a_step_gathers_during_its_first_forward_pass_and_reduces_during_its_last_backward_pass() -> None:
    """2 - 1 seconds and 4 - 2.5 seconds remain; of what fits, the last bucket of ten, 0.07 of 0.7, cannot hide."""
    found = exposed(step.once_per_step_exposures(TRAFFIC, WORK, HIDES))
    assert found == pytest.approx({"gather": 1.0, "reduction": 1.5, "sum_across_shard_groups": 0.07})


def test_virtual_stages_leave_more_passes_that_hide_communication() -> None:
    """Four micro-batches pass through a chunk in turn: 4 and 10 seconds hide all but a bucket of ten."""
    assert step.consecutive_micro_batches(4, 8, 2) == 4.0
    assert step.consecutive_micro_batches(4, 2, 2) == 2.0
    assert step.consecutive_micro_batches(4, 8, 1) == 1.0
    gather, reduction, _ = step.once_per_step_exposures(TRAFFIC, WORK._replace(turns=4.0, forward=1.5), HIDES)
    assert (gather.overlap_window, reduction.overlap_window) == (6.0, 10.0)  # four passes of 1.5 and 2.5 seconds
    found = exposed(step.once_per_step_exposures(TRAFFIC, WORK._replace(turns=4.0), HIDES))
    assert found == pytest.approx({"gather": 0.2, "reduction": 0.4, "sum_across_shard_groups": 0.07})


def test_full_sharding_hides_each_layer_behind_the_next() -> None:
    """Of one layer 0.2 s of gathering during 0.1 s forward, 0.2 + 0.4 s during 0.25 s backward, 8 × 10 times;
    the first and the last layer and 0.3 s outside the layers overlap nothing."""
    seconds = ReplicaSeconds(gather=0.2, reduce=0.4, outside=0.3, across=0.7)
    found = exposed(step.layer_by_layer_exposures(seconds, WORK, HIDES))
    assert found == pytest.approx(
        {
            "gather_of_a_layer": 80 * 0.1,
            "gather_before_the_last_backward": 0.0,
            "reduction_of_a_layer": 80 * 0.35,
            "first_and_last_layer": 0.6,
            "embedding_and_head": 8 * 0.3,
            "embedding_and_head_once": 0.0,
            "sum_across_shard_groups": 0.07,
        }
    )
    kept = exposed(step.layer_by_layer_exposures(seconds, WORK, HIDES._replace(gathers_again=False)))
    assert kept["reduction_of_a_layer"] == pytest.approx(80 * 0.15)


def test_gradients_synchronized_once_are_reduced_in_the_last_of_eight_micro_batches() -> None:
    """Seven backward passes hide 0.3 s of gathering of a layer in 0.25 s, the eighth 0.3 + 0.4 s; 0.6 s of sums outside
    the layers follow once.
    """
    seconds = ReplicaSeconds(gather=0.3, reduce=0.4, outside=0.2, across=0.0, outside_once=0.6)
    once = HIDES._replace(reduces_once=True)
    found = exposed(step.layer_by_layer_exposures(seconds, WORK, once))
    assert found["gather_of_a_layer"] == pytest.approx(80 * 0.2)
    assert found["gather_before_the_last_backward"] == pytest.approx(70 * 0.05)
    assert found["reduction_of_a_layer"] == pytest.approx(10 * 0.45)
    assert (found["embedding_and_head"], found["embedding_and_head_once"]) == pytest.approx((8 * 0.2, 0.6))
    kept = exposed(step.layer_by_layer_exposures(seconds, WORK, once._replace(gathers_again=False)))
    assert kept["gather_before_the_last_backward"] == 0.0
    assert kept["reduction_of_a_layer"] == pytest.approx(10 * 0.15)


def test_traffic_without_overlap_is_exposed_in_full() -> None:
    bare = HIDES._replace(hides=False)
    assert exposed(step.once_per_step_exposures(TRAFFIC, WORK, bare)) == pytest.approx(
        {"gather": 2.0, "reduction": 4.0, "sum_across_shard_groups": 0.7}
    )
    found = exposed(step.layer_by_layer_exposures(ReplicaSeconds(0.2, 0.4, 0.3, 0.7), WORK, bare))
    assert found["first_and_last_layer"] == 0.0
    assert found["gather_of_a_layer"] == pytest.approx(80 * 0.2)
    apart = exposed(step.once_per_step_exposures(TRAFFIC, WORK, HIDES._replace(hides_across=False)))
    assert apart["sum_across_shard_groups"] == pytest.approx(0.7)


def test_overlapped_traffic_slows_the_computation() -> None:
    """2 seconds that overlap 1 second: one is exposed, and the other costs a tenth."""
    found = exposed(step.once_per_step_exposures(TRAFFIC, WORK, HIDES._replace(interference=0.1)))
    assert found["gather"] == pytest.approx(1.0 + 0.1)
    assert found["reduction"] == pytest.approx(1.5 + 0.25)


SENDS = [  # stages, chunks of a rank, and for each distance the share of both neighbors of a stage that are so far
    (4, 1, {"scale-out": 0.5, "scale-up": 0.5}),  # stages 0 and 1 on one node, 2 and 3 on the other
    (8, 1, {"scale-out": 0.5, "scale-up": 0.5}),
    (2, 1, {"scale-out": 0.5}),  # a stage on each node, which has no other neighbor
    (2, 2, {"scale-out": 1.0}),  # the last stage sends on to the first
]


@pytest.mark.parametrize(("stages", "virtual", "shares"), SENDS)
def test_at_most_one_neighbor_of_a_stage_is_on_another_node(
    stages: int, virtual: int, shares: dict[str, float]
) -> None:
    """Two nodes of eight H100: a micro-batch of 8,192 tokens of 4,096 numbers in 16 bits is 64 MiB."""
    schedule = {"schedule": "interleaved", "virtual_stages": virtual} if virtual > 1 else {}
    record = plan({"nodes": 2}, layout={"tp": 1, "pp": stages, **schedule}).step
    assert record is not None
    sent = {one.cost.tier: one.transfer.calls for one in record.sends}
    assert sent == shares
    assert {one.transfer.size for one in record.sends} == {8192 * 4096 * 2}
    send = sum(one.transfer.calls * one.cost.device_seconds for one in record.sends)
    assert record.inputs.send == pytest.approx(send)
    if not record.choices.hides_sends:
        assert record.times.sends == pytest.approx(2 * record.inputs.micro_batches * virtual * send)
    far, *near = (one.cost.device_seconds for one in record.sends)
    assert not near or near[0] < far
