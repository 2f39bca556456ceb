"""Full recomputation of some layers of a stage: time and memory between those of none and of all."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cost.plan import Plan
from tests.cost.plans import design, plan, spec

LAYERS = 32


def with_layers(count: int | None, **layout: Any) -> Plan:
    return plan(layout={"recompute": "full", "recompute_layers": count, **layout})


def recomputed(found: Plan) -> float:
    assert found.step is not None
    return sum(count * part.recomputation.device for part, count in found.step.parts)


def activations(found: Plan) -> dict[str, float]:
    assert found.memory is not None
    return {part.name: part.value for part in found.memory.activations.parts if hasattr(part, "name")}


@pytest.mark.parametrize(("count", "pp", "share"), [(8, 1, 0.25), (4, 2, 0.25), (16, 2, 1.0), (40, 1, 1.0)])
def test_the_share_is_of_the_layers_of_a_stage(count: int, pp: int, share: float) -> None:
    found = design(spec(layout={"recompute": "full", "recompute_layers": count, "pp": pp})).layout
    assert found is not None
    assert found.recomputed_share == share


def test_it_counts_layers_of_a_virtual_stage() -> None:
    layout = {"recompute": "full", "recompute_layers": 2, "pp": 2, "virtual_stages": 4, "schedule": "interleaved"}
    found = design(spec(layout=layout)).layout
    assert found is not None
    assert found.recomputed_share == 0.5


def test_a_quarter_of_the_layers_takes_a_quarter_of_the_time_and_the_traffic() -> None:
    every, some = with_layers(None), with_layers(8)
    assert recomputed(some) == pytest.approx(recomputed(every) / 4)
    assert every.step is not None and some.step is not None
    for (whole, _), (part, _) in zip(every.step.parts, some.step.parts, strict=True):
        assert part.recomputation.exposed == pytest.approx(whole.recomputation.exposed / 4)
        assert part.recomputed_flops == pytest.approx(whole.recomputed_flops / 4)


def test_the_other_layers_store_their_tensors() -> None:
    none, some, every = (
        activations(plan(layout={"recompute": "none"})),
        activations(with_layers(8)),
        activations(with_layers(None)),
    )
    for name in ("normalizations", "attention", "feed_forward"):
        assert some[name] == pytest.approx(none[name] * 24 / LAYERS)
    assert some["layer_inputs"] == pytest.approx(every["layer_inputs"] * 8 / LAYERS)
    assert {"logits_and_loss", "working_space"} & some.keys() == {"logits_and_loss", "working_space"} & every.keys()


EXPERTS = {
    "layers": 4,
    "hidden": 1024,
    "heads": 16,
    "kv_heads": 8,
    "ffn_hidden": 4096,
    "vocab": 32000,
    "gated_ffn": True,
    "experts": 16,
    "experts_per_token": 2,
    "expert_ffn_hidden": 512,
    "shared_experts": 1,
}
MEGATRON, TITAN, OLDER, MAXTEXT = (
    {"framework": name, "software_year": year}
    for name, year in (("megatron-core", 2026), ("torchtitan", 2025), ("torchtitan", 2024), ("maxtext", 2025))
)
GATHERS, SCATTERS = "tp all-gather", "tp reduce-scatter"
DISPATCH, COMBINE = "ep dispatch", "ep combine"


@pytest.mark.parametrize(
    ("software", "recompute", "wanted"),
    [
        (MEGATRON, "none", {}),
        (MEGATRON, ["norm", "activation"], {}),
        (MEGATRON, "selective", {}),
        (MEGATRON, ["expert"], {DISPATCH: 1, COMBINE: 1}),
        (MEGATRON, ["mlp"], {}),
        (MEGATRON, ["shared_experts"], {GATHERS: 1, SCATTERS: 1}),
        (MEGATRON, "full", {GATHERS: 2, SCATTERS: 2, DISPATCH: 1, COMBINE: 1}),
        (TITAN, "selective", {GATHERS: 2}),
        (OLDER, "selective", {GATHERS: 2, DISPATCH: 1, COMBINE: 1}),
        (MAXTEXT, "selective", {GATHERS: 1, SCATTERS: 2, DISPATCH: 1, COMBINE: 1}),
    ],
)
def test_what_runs_again_communicates_again(software: dict[str, Any], recompute: Any, wanted: dict[str, int]) -> None:
    """A layer with shared experts on two tensor-parallel and two expert-parallel ranks gathers and scatters twice, and
    dispatches and combines once; a saved result is not sent for again.
    """
    layout = {**software, "tp": 2, "ep": 2, "expert_tp": 1, "sequence_parallel": True, "recompute": recompute}
    work = {"model": EXPERTS, "sequence_length": 2048, "global_batch": 64}
    assert calls_again(plan(workload=work, layout=layout), "expert_layer") == wanted


def calls_again(found: Plan, layer: str) -> dict[str, float]:
    """Calls of the transfers that recomputation repeats in one layer, by axis and kind."""
    assert found.step is not None
    (again,) = (part.recomputation for part, _ in found.step.parts if part.name == layer)
    calls: dict[str, float] = {}
    for one in (each.transfer for each in again.transfers):
        name = f"{one.axis} {one.purpose if one.axis == 'ep' else one.collective}"
        calls[name] = calls.get(name, 0.0) + one.calls
    return calls


def test_a_recomputed_core_exchanges_keys_and_values_again() -> None:
    """A ring of four ranks sends three times in a forward pass."""
    layout = {"framework": "megatron-core", "software_year": 2026, "cp": 4}
    none, some = (plan(layout={**layout, "recompute": chosen}) for chosen in ("none", ["attention"]))
    assert calls_again(none, "dense_layer") == {}
    assert calls_again(some, "dense_layer") == {"cp send-recv": 3}


def test_as_many_layers_as_a_stage_has_are_all() -> None:
    every, same = with_layers(None), with_layers(LAYERS)
    assert same.memory_bytes == every.memory_bytes
    assert same.step_seconds == every.step_seconds


def test_more_layers_take_longer_and_less_memory() -> None:
    found = [with_layers(count) for count in (1, 8, 16, 31)]
    times, sizes = [each.step_seconds or 0 for each in found], [each.memory_bytes or 0 for each in found]
    assert times == sorted(times)
    assert sizes == sorted(sizes, reverse=True)
