"""Bandwidth of host memory, and the update of optimizers in it, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cost.estimate import estimate
from clusterspec.cost.host_memory import LPDDR_RATE, SOCKETS, UPDATE_SHARE, host_memory_figure
from clusterspec.cost.plan import Plan
from clusterspec.cost.step import host_times
from clusterspec.source import Assumed, Written
from tests.cluster.resolving import clean

WORK = "workload: {model: llama-3.1-70b, sequence_length: 4096, global_batch: 16}\n"
LAYOUT = "layout: {framework: %s, sharding: %s, offload: {optimizer: 1}, recompute: full}\n"


def offloaded(cluster: str = "platform: dgx-h100", framework: str = "deepspeed", sharding: str = "fsdp") -> Plan:
    return estimate(clean(f"cluster: {{{cluster}, nodes: 1}}\n{WORK}{LAYOUT % (framework, sharding)}"))


@pytest.mark.parametrize(
    ("cluster", "rate"),
    [
        ("platform: dgx-h100", 2 * 8 * 4800e6 * 8),  # two processors of eight channels of 8 bytes
        ("platform: dgx-a100", 2 * 8 * 3200e6 * 8),
        ("platform: gb200-nvl72", 2 * 512e9),  # two Grace processors with 480 GB for four accelerators
        ("accelerator: mi300a, accelerators_per_node: 4", 4 * 5.3e12),  # its processors have no other memory
        ("platform: dgx-h100, host: {memory_bandwidth: 717 GB/s}", 717e9),
    ],
)
def test_host_memory_is_as_fast_as_its_channels_or_as_stated(cluster: str, rate: float) -> None:
    found = clean(f"cluster: {{{cluster}, nodes: 1}}\n{WORK}layout: {{tp: 1}}\n").cluster
    assert found is not None
    figure = host_memory_figure(found)
    assert figure.value == pytest.approx(rate, rel=1e-2)
    assert isinstance(figure.origin, Written) == ("host:" in cluster)


def test_the_slots_and_modules_have_their_figures() -> None:
    assert [SOCKETS[each].value for each in sorted(SOCKETS)] == [256e9, 409.6e9, 614.4e9, 1228.8e9]
    assert LPDDR_RATE.value == 512 / 480


def test_an_update_on_the_host_takes_the_bytes_of_adam_and_the_weights_come_back() -> None:
    """Each of eight ranks has 70.55e9 / 8 weights: 34 bytes of each at a quarter of an eighth of 614.4 GB/s, and 2
    bytes over a slot of 63 GB/s. 4 bytes of each gradient, 0.56 s, pass behind the backward passes of DeepSpeed.
    """
    step = offloaded().step
    assert step is not None
    found, weights = host_times(step.inputs, step.choices), 70.55e9 / 8
    assert found.gradients == 0
    assert found.update == pytest.approx(34 * weights / (614.4e9 / 8 / 4), rel=1e-3)
    assert found.weights == pytest.approx(2 * weights / 63e9, rel=1e-2)
    assert step.times.offload == pytest.approx(sum(found))


def test_gradients_that_stay_on_the_accelerator_are_copied_after_the_last_backward_pass() -> None:
    cases = ("deepspeed", "fsdp", False), ("deepspeed", "zero1", True), ("custom", "fsdp", True)
    for framework, sharding, waits in cases:
        step = offloaded(framework=framework, sharding=sharding).step
        assert step is not None
        assert (host_times(step.inputs, step.choices).gradients > 0.5) is waits, (framework, sharding)


def test_the_assumed_bandwidth_is_listed_and_writing_it_changes_nothing() -> None:
    plan = offloaded()
    known: dict[str, Any] = {key: figure for key, figure, _ in plan.assumptions}
    assert known["offload.update.share"].value == UPDATE_SHARE.value
    figure = known["cluster.host.memory_bandwidth"]
    assert isinstance(figure.origin, Assumed) and figure.value == 614.4e9
    stated = offloaded("platform: dgx-h100, host: {memory_bandwidth: 614.4 GB/s}")
    assert stated.step_seconds == pytest.approx(plan.step_seconds)
    assert "cluster.host.memory_bandwidth" not in {key for key, _, _ in stated.assumptions}
    twice = offloaded("platform: dgx-h100, host: {memory_bandwidth: 1228.8 GB/s}")
    assert twice.step_seconds is not None and plan.step_seconds is not None
    assert twice.step_seconds < plan.step_seconds - 7
