"""Layers at either end that multiply in 16 bits where the others multiply in 8."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cost.layers import stage_chunks
from clusterspec.cost.plan import Plan
from tests.cost.plans import design, plan, spec

DENSE = {
    "layers": 8,
    "hidden": 8192,
    "heads": 64,
    "kv_heads": 8,
    "ffn_hidden": 28672,
    "vocab": 32000,
    "gated_ffn": True,
}


def of(wide: dict[str, int] | None, precision: str = "fp8", **layout: Any) -> Plan:
    work: dict[str, Any] = {"model": DENSE, "sequence_length": 4096, "global_batch": 64, "precision": precision}
    return plan(workload=work | ({"bf16_layers": wide} if wide is not None else {}), layout={"tp": 1, **layout})


def forward_seconds(found: Plan) -> float:
    """Seconds of one micro-batch through the layers, forward."""
    assert found.step is not None
    return sum(part.forward.total * count for part, count in found.step.parts)


@pytest.mark.parametrize(("first", "last"), [(0, 0), (1, 0), (0, 3), (2, 2), (8, 0), (5, 5)])
def test_each_wide_layer_takes_the_time_of_a_layer_in_16_bits(first: int, last: int) -> None:
    """Of 8 layers, the last ones are at most those that the first ones leave. The time is linear in their number."""
    wide = first + min(last, 8 - first)
    there, between, here = (forward_seconds(of({"first": n, "last": m})) for n, m in ((0, 0), (first, last), (8, 0)))
    assert between == pytest.approx(there + (here - there) * wide / 8)
    assert here > there


def test_the_first_and_the_last_stage_hold_the_wide_layers() -> None:
    """Three of the first four layers, and one of the last four."""
    work = {"model": DENSE, "precision": "fp8", "bf16_layers": {"first": 3, "last": 1}}
    made = design(spec(workload=work, layout={"pp": 2, "tp": 1}))
    assert made.workload and made.layout
    stages = stage_chunks(made.workload.model, made.layout)
    counts = [{layer.wide: count for chunk in held for layer, count in chunk.kinds} for held in stages]
    assert counts == [{True: 3, False: 1}, {False: 3, True: 1}]


def test_a_wide_layer_stores_its_inputs_in_16_bits() -> None:
    """Megatron Core keeps the inputs of products in 8 bits: with half of the layers wide, half of what they save."""
    sizes = [found.memory.activations.value for found in map(of, (None, {"first": 4}, {"first": 8})) if found.memory]
    assert sizes[0] < sizes[1] < sizes[2]
    assert sizes[1] == pytest.approx((sizes[0] + sizes[2]) / 2)


def test_in_16_bits_no_layer_is_wide() -> None:
    assert of({"first": 2}, "bf16").step_seconds == of(None, "bf16").step_seconds
