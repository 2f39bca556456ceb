"""Waits, steps and shares of reinforcement learning, from the seconds of its roles."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cluster.samples import Rl
from clusterspec.cost.reinforcement.memory import RlMemory
from clusterspec.cost.reinforcement.roles import OwnRole
from clusterspec.cost.reinforcement.rollout import _StepLine
from clusterspec.cost.reinforcement.times import _mean_peak, _role_waits, _step_seconds, engine_nodes
from clusterspec.records import replace
from tests.cost.test_reinforcement import times

SPLIT = {"rollout": {"nodes": 2}, "placement": "split"}


def rl_of(placement: str, **changes: Any) -> Rl:
    return replace(times().rl, placement=placement, **changes)


def role(name: str, seconds: float) -> OwnRole:
    return OwnRole(name, 1, seconds, 8, None)


WAITS = [  # roles on nodes of their own, placement, steps ahead, and the wait for 100 s of rollout, 10 and 30 s
    ((), "split", 0, 0.0),
    ((("reward", 100.0),), "split", 0, 0.0),
    ((("reward", 107.0),), "split", 0, 7.0),
    ((("reference", 110.0),), "split", 0, 0.0),
    ((("reference", 117.0),), "split", 0, 7.0),
    ((("critic", 40.0),), "split", 0, 0.0),
    ((("critic", 47.0),), "split", 0, 7.0),
    ((("reward", 105.0), ("critic", 47.0), ("reference", 111.0)), "split", 0, 7.0),
    ((("reward", 207.0), ("reference", 217.0)), "split", 1, 0.0),  # scores run ahead with the samples
    ((("reward", 207.0), ("critic", 47.0)), "split", 1, 7.0),
    ((("reward", 107.0),), "colocated", 1, 7.0),
]


@pytest.mark.parametrize(("roles", "placement", "ahead", "wait"), WAITS)
def test_a_trainer_waits_for_what_its_own_work_does_not_hide(
    roles: tuple[tuple[str, float], ...], placement: str, ahead: int, wait: float
) -> None:
    rl = rl_of(placement, max_staleness=ahead)
    assert _role_waits(rl, tuple(role(*each) for each in roles), 100.0, 10.0, 30.0) == pytest.approx(wait)


def test_a_step_is_composed_by_its_placement() -> None:
    """100 s of rollout of which 70 drain, 60 s of training, 5 s to sync, 3 s to switch, and 80 s to produce."""
    rollout = replace(times().rollout, batch=100.0, drained=70.0, busy=80.0)
    serial = 100 + 60 + 5 + 3
    for placement, ahead in (("colocated", 0), ("colocated", 2), ("split", 0)):
        rl = rl_of(placement, max_staleness=ahead)
        assert _step_seconds(rl, rollout, 60.0, 5.0, 3.0, producing=80.0) == pytest.approx(serial)
    one = _step_seconds(rl_of("split", max_staleness=1), rollout, 60.0, 5.0, 3.0, producing=80.0)
    assert one == pytest.approx(max(60 + 5, 80 + 5, 100))
    # the longest 30 s run on nodes of their own during training, but for the last of four minibatches
    partial = rl_of("partial", minibatches=4)
    assert _step_seconds(partial, rollout, 60.0, 5.0, 3.0, producing=80.0) == pytest.approx(
        70 + max(60.0, 30 + 60 / 4) + 5 + 3
    )


def test_engines_run_on_the_nodes_of_rollout_and_on_those_that_they_share() -> None:
    for placement, nodes in (("split", 2), ("colocated", 7), ("partial", 7)):
        assert engine_nodes(rl_of(placement, rollout_nodes=2, trainer_nodes=5)) == nodes


def test_memory_and_rates_of_a_step_follow_from_its_parts() -> None:
    for order in ((3.0, 2.0, 1.0), (1.0, 3.0, 2.0), (2.0, 1.0, 3.0)):
        assert RlMemory(*order, offloaded=9.0, capacity=80.0, update=order[1]).fullest_bytes == 3.0
    found = times()
    assert found.tokens_per_second == pytest.approx(found.tokens / found.step)
    assert found.peak is not None and found.mfu == pytest.approx(found.flops / found.step / found.peak / 32)
    assert found.training_seconds == pytest.approx(found.log_probabilities + found.update + found.driver + found.waits)
    assert found.band == pytest.approx((found.step / 1.45, found.step * 1.45))


def test_the_mean_peak_weighs_accelerators_and_a_role_idles_for_what_it_does_not_work() -> None:
    """8 accelerators of a role with 100 TFLOP/s, and 32 of 989.4 TFLOP/s."""
    found = times()
    work = found.rollout.design.workload
    assert work is not None and work.peak is not None
    trainer = replace(work, rl=found.rl)
    assert _mean_peak(trainer, found.rollout, (32, 0), ()) == pytest.approx(work.peak.value)
    own = OwnRole("reward", 1, 1.0, 8, 100e12)
    wanted = (32 * work.peak.value + 8 * 100e12) / 40
    assert _mean_peak(trainer, found.rollout, (32, 0), (own,)) == pytest.approx(wanted)
    like = own._replace(peak=None)
    assert _mean_peak(trainer, found.rollout, (32, 0), (like,)) == pytest.approx(work.peak.value)
    assert _mean_peak(replace(trainer, peak=None), found.rollout, (32, 0), (own,)) is None
    beside = replace(found, roles=(role("reward", found.step / 4), role("critic", 2 * found.step)))
    assert [part.idle_share for part in beside.parts if part.role in {"reward", "critic"}] == [pytest.approx(0.75), 0.0]


@pytest.mark.parametrize(
    ("launch", "host", "context", "seconds"),
    [
        (0.002, 0.0, 0.0, 0.012),  # launches and 10 ms of kernels in succession
        (0.002, 0.03, 0.0, 0.03),  # the host launches for longer than the kernels run
        (0.002, 0.03, 3000.0, 0.042),  # 40 ms of kernels over a longer context
    ],
)
def test_a_rollout_step_takes_the_longer_of_host_and_kernels_and_then_returns_its_tokens(
    launch: float, host: float, context: float, seconds: float
) -> None:
    line = _StepLine(launch, 0.01, 1e-5, host)
    assert line.seconds(context) == pytest.approx(seconds)
    assert line._replace(returned=0.005).seconds(context) == pytest.approx(seconds + 0.005)
