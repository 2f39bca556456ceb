"""The host's time for sharded weights: how often a micro-batch gathers and reduces them, and its cost, by hand."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from clusterspec.catalog.stacks import Stack
from clusterspec.cluster.model import Layout
from clusterspec.cost.compute.layer import SoftwareBehavior
from clusterspec.cost.estimate import estimate, step_of_host
from clusterspec.cost.layer_tables import PartTime
from clusterspec.cost.layers import FeedForward, Layer, Mixer
from clusterspec.cost.plan import StepRecord
from clusterspec.cost.sharded_layers import ShardedPasses, layer_matrices
from clusterspec.quantity import Figure
from clusterspec.source import Assumed
from tests.cost.batch.test_batch import alone, assert_alike, rows, together, variants
from tests.cost.plans import design, spec
from tests.effort import telling
from tests.settings import SETTINGS

SHORT: dict[str, Any] = {"sequence_length": 512, "global_batch": 32}
DENSE, ROUTED = Layer(Mixer.FULL, FeedForward.DENSE), Layer(Mixer.FULL, FeedForward.EXPERTS)


def layout_of(**changes: Any) -> tuple[Layout, Stack]:
    """A layout on one node, and its software."""
    found = design(spec({"nodes": 1}, workload=SHORT, layout={"framework": "fsdp", "tp": 1, **changes})).layout
    assert found is not None and found.stack is not None
    return found, found.stack


def step(seconds: float | None = None, sequence: int = 512, **changes: Any) -> StepRecord:
    """A step of one layout, whose gathers and reductions take the host ``seconds`` each."""
    work = {"sequence_length": sequence, "global_batch": 32}
    whole = design(spec({"nodes": 1}, workload=work, layout={"framework": "fsdp", "tp": 1, **changes}))
    assert whole.layout and whole.layout.stack
    stack, given = whole.layout.stack, {}
    if seconds is not None:
        name = "launch.matrix" if "launch.matrix" in stack.achievable else "launch.layer"
        given = {name: Figure(seconds, "s", Assumed("x", "a test"))}
    held = replace(stack, achievable={**stack.achievable, **given})
    found = estimate(replace(whole, layout=replace(whole.layout, stack=held))).step
    assert found is not None
    return found


def layer(record: StepRecord) -> PartTime:
    return next(part for part, _ in record.parts if part.name == "dense_layer")


def test_full_sharding_gathers_before_both_passes_and_reduces_after_the_second() -> None:
    assert ShardedPasses.of(*layout_of(sharding="fsdp"), by_matrix=False) == (1, 1, 1, False)


def test_weights_that_stay_gathered_are_not_gathered_again() -> None:
    """FSDP that shards gradients alone frees the weights after the backward pass."""
    assert ShardedPasses.of(*layout_of(sharding="zero2"), by_matrix=False) == (1, 0, 1, False)


def test_gradients_reduced_once_in_a_step_do_not_count_in_a_micro_batch() -> None:
    found = ShardedPasses.of(*layout_of(sharding="fsdp", gradient_sync="step"), by_matrix=False)
    assert found == (1, 1, 0, False)


def test_deepspeed_reduces_many_layers_at_once() -> None:
    """And its stage 2 gathers weights once, after the update."""
    found = {
        sharding: ShardedPasses.of(*layout_of(framework="deepspeed", sharding=sharding), by_matrix=True)
        for sharding in ("fsdp", "zero2")
    }
    assert found == {"fsdp": (1, 1, 0, True), "zero2": (0, 0, 0, True)}


@pytest.mark.parametrize("changes", [{"sharding": "zero1"}, {"framework": "torchtitan", "sharding": "fsdp", "pp": 2}])
def test_whole_weights_are_not_gathered(changes: dict[str, Any]) -> None:
    """Neither where the optimizer alone is sharded, nor where pipelines keep gathered weights."""
    assert ShardedPasses.of(*layout_of(**changes), by_matrix=False) == ShardedPasses()


@pytest.mark.parametrize(
    ("name", "kind", "matrices"),
    [
        ("llama-3.1-8b", DENSE, 7),  # queries, keys, values, output; gate, up, down
        ("gpt-22b", DENSE, 6),  # no gate
        ("mixtral-8x7b", ROUTED, 6),  # four of attention, a router, and all experts
        ("deepseek-v3", ROUTED, 10),  # both latents into and out, output; router, experts, three shared
        ("llama-3.1-8b", Layer(Mixer.LINEAR, FeedForward.NONE), 2),
        ("llama-3.1-8b", Layer(Mixer.NONE, FeedForward.DENSE), 3),
    ],
)
def test_the_matrices_of_a_layer_by_count(name: str, kind: Layer, matrices: int) -> None:
    model = SETTINGS.catalog.model(name)
    assert layer_matrices(model, kind) == matrices
    assert ShardedPasses(1, 1, 1, by_matrix=False).launched(model, kind) == (1, 2)
    assert ShardedPasses(1, 1, 0, by_matrix=True).launched(model, kind) == (matrices, matrices)


def test_hooks_add_to_the_launches_of_a_host() -> None:
    """Ten launches of 45 us and two hooks of 1.04 ms: 2.53 ms."""
    software = SoftwareBehavior.of(layout_of(software_year=2024)[1])
    assert software.host_seconds(10, 0, 0, shards=2) == pytest.approx(2_530e-6)


def test_a_bound_host_waits_for_one_hook_forward_and_two_backward() -> None:
    usual, slow = (layer(step(each, sharding="fsdp")) for each in (1e-3, 3e-3))
    assert usual.forward.launch > 0 and usual.backward.launch > 0
    assert slow.forward.launch - usual.forward.launch == pytest.approx(2e-3)
    assert slow.backward.launch - usual.backward.launch == pytest.approx(4e-3)
    assert slow.forward.launches == usual.forward.launches


def test_deepspeed_gathers_seven_matrices_in_either_pass() -> None:
    usual, slow = (layer(step(each, framework="deepspeed", sharding="fsdp")) for each in (380e-6, 1_380e-6))
    assert usual.forward.launch > 0 and usual.backward.launch > 0
    assert slow.forward.launch - usual.forward.launch == pytest.approx(7e-3)
    assert slow.backward.launch - usual.backward.launch == pytest.approx(7e-3)


def test_recomputation_uses_the_weights_of_the_backward_pass() -> None:
    usual, slow = (layer(step(each, sharding="fsdp", recompute="full")) for each in (1e-3, 3e-3))
    assert usual.recomputation.launches > 0
    assert slow.recomputation.launch == usual.recomputation.launch


def test_long_kernels_hide_hooks() -> None:
    assert step(1e-3, 32_768, sharding="fsdp").seconds == step(0.0, 32_768, sharding="fsdp").seconds


@pytest.mark.parametrize("changes", [{"sharding": "zero1"}, {"sharding": "fsdp", "captured_graphs": True}])
def test_replicas_and_captured_graphs_run_no_hooks(changes: dict[str, Any]) -> None:
    assert step(9e-3, **changes).seconds == step(0.0, **changes).seconds


def test_a_slower_host_runs_its_hooks_slower() -> None:
    record = step(5e-3, sharding="fsdp")
    parts = tuple((part, count) for part, count in record.parts if part.name == "dense_layer")
    bound = replace(record, parts=parts)
    added = (step_of_host(bound, 2.0) - bound.seconds) / record.inputs.micro_batches
    phases = [(phase, count) for part, count in parts for _, phase in part.phases if phase.launches]
    assert added == pytest.approx(
        sum(count * (45e-6 * phase.launches + 5e-3 * phase.shards) for phase, count in phases)
    )


@telling(1)
@pytest.mark.parametrize("framework", ["torchtitan", "fsdp", "deepspeed"])
def test_a_batch_whose_hooks_bound_its_passes_equals_its_single_layouts(framework: str) -> None:
    """With one pipeline stage and with several, whose frameworks differ in what they keep."""
    work = {"model": "llama-3.1-8b", "sequence_length": 512, "global_batch": 512}
    cut = {"tp": 1, "framework": framework, "sharding": "fsdp", "overlap": {"tp": "none"}}
    whole = design(spec({"nodes": 2}, workload=work, layout=cut))
    assert whole.layout
    choices, columns = variants(whole.layout), rows(whole, "fsdp", "1f1b", 12, Random(framework))
    assert len(set(columns["pp"])) > 1
    assert_alike(together(whole, choices, columns), alone(whole, choices, columns))
