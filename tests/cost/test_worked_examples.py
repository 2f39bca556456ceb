"""Numbers worked by hand are what the program's own formulas give."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import pytest

from clusterspec.catalog.models import Model, Window
from clusterspec.catalog.reader import Status
from clusterspec.cost import traffic
from clusterspec.cost.compute import Shard
from clusterspec.cost.compute.attention import _blocks_of_window
from clusterspec.cost.formulas import collectives, compute, memory, topologies
from clusterspec.cost.formulas.compute import model_flops_per_token
from clusterspec.cost.layers import Mixer
from clusterspec.quantity import Quantity
from clusterspec.records import replace
from clusterspec.units import read
from clusterspec.units.readings import convert
from clusterspec.units.table import TABLE
from tests.effort import each

EXAMPLES = tomllib.loads(Path(__file__).with_name("worked_examples.toml").read_text(encoding="utf-8"))["example"]
CODES = {
    "128b/130b": collectives.PCIE_128B130B,
    "flit": collectives.PCIE_FLIT,
    "flit payload": collectives.PCIE_FLIT_PAYLOAD,
}
KINDS = {
    "size": "bytes",
    "latency": "time",
    "seconds": "time",
    "transfers": "transfer_rate",
    "peak": "peak",
    "flops": "work",
    "weights": "count",
    "unit": "count",
    "tokens": "count",
}
"""How an input is read, by its name; every other text is a bandwidth."""


def settled(name: str, given: Any) -> Any:
    """An input in SI: bandwidths per direction, peaks dense."""
    if isinstance(given, list):
        return [settled(name, one) for one in given]
    if not isinstance(given, str) or name == "code":
        return given
    quantity: Quantity = read(given, KINDS.get(name, "bandwidth"))
    return quantity.dense if quantity.unit == "FLOP/s" else quantity.per_direction


def shard(tokens: float, hidden: int, layers: int = 1) -> Shard:
    """One rank of a tensor-parallel group that holds every token (no sequence parallelism)."""
    model = Model("example", "example", "", Status("shipping", "2025-01-01"), (), hidden=hidden, layers=layers)
    return Shard(
        model=model,
        sequences=1,
        length=int(tokens),
        cp=1,
        tp=8,
        ep=1,
        expert_tp=8,
        tokens=tokens,
        rows=tokens,
        heads=8,
        kv_heads=8,
        precision="bf16",
        kept="bf16",
        flash=True,
    )


def tensor_parallel_calls(layers: int) -> float:
    """All-reduces of a forward and a backward pass over so many dense layers."""
    rank = shard(2048, 8192)
    blocks = {"token mixing": 0.0, "feed-forward": 0.0}
    transfers = (*traffic.tensor_forward_transfers(rank, blocks), *traffic.tensor_backward_transfers(rank, blocks))
    return float(layers * sum(transfer.calls for transfer in transfers))


def recomputed_work(weights: float, tokens: float, devices: int) -> float:
    flops = model_flops_per_token(weights, 0) * tokens * compute.recomputation_factor(1)
    return float(flops / devices)


def communication_over_compute(seconds: float, weights: float, tokens: float, **machine: float) -> float:
    work = model_flops_per_token(weights, 0) * tokens
    return seconds / cast(float, compute.compute_time(work, **machine))


def slot(transfers: float, lanes: int, code: str) -> float:
    return float(collectives.slot_bandwidth(transfers, lanes, CODES[code]))


COMPOSED: dict[str, Callable[..., Any]] = {
    # what units alone prove
    "tier_ratio": lambda above, below: above / below,
    "in_unit": lambda bandwidth: bandwidth,
    "in_dense_unit": lambda peak: peak,
    # formulas put together
    "slot": slot,
    "scale_up_over_slot": lambda scale_up, transfers, lanes: scale_up / slot(transfers, lanes, "128b/130b"),
    "duplex_over_one_way_slot": lambda scale_up, **pcie: (
        topologies.duplex_bandwidth(scale_up) / slot(**pcie, code="128b/130b")
    ),
    "accelerator_duplex": lambda **parts: topologies.duplex_bandwidth(topologies.accelerator_bandwidth(**parts)),
    "torus_bandwidth": lambda axes: sum(topologies.axis_bandwidth(axis, 1) for axis in axes),
    "duplex_bisection": lambda **parts: topologies.duplex_bandwidth(topologies.bisection_bandwidth(**parts)),
    "node_duplex": lambda **parts: topologies.duplex_bandwidth(topologies.node_bandwidth(**parts)),
    # at one byte per second the seconds are the bytes
    "gradient_traffic": lambda weights, width: collectives.all_reduce_time_of_many(
        memory.sharded_bytes(weights, width, 1), 1.0
    ),
    "two_tier_rate": lambda **parts: collectives.algorithm_bandwidth(1e9, topologies.all_reduce_time(1e9, **parts)),
    "time_ratio": lambda size, slower, faster: (
        collectives.all_reduce_time_of_many(size, slower) / collectives.all_reduce_time_of_many(size, faster)
    ),
    "sharded_over_replicated": lambda **group: (
        3 * collectives.gather_time(**group) / collectives.all_reduce_time(**group)
    ),
    "all_reduce_bus_bandwidth": lambda ranks, **timed: collectives.bus_bandwidth(
        **timed, factor=collectives.all_reduce_factor(ranks)
    ),
    "send_weights": lambda weights, width, bandwidth: collectives.message_time(
        0.0, memory.sharded_bytes(weights, width, 1), bandwidth
    ),
    "tensor_parallel_calls": tensor_parallel_calls,
    "activations": lambda batch, sequence, hidden: traffic.activation_bytes(shard(batch * sequence, hidden)),
    "recomputed_work": recomputed_work,
    "recomputed_time": lambda weights, tokens, devices, **machine: compute.compute_time(
        recomputed_work(weights, tokens, devices), devices=1, **machine
    ),
    "communication_over_compute": communication_over_compute,
    # no formula at all
    "product": lambda first, second: first * second,
    "quotient": lambda first, second: first / second,
}


def function_named(name: str) -> Callable[..., Any]:
    if name in COMPOSED:
        return COMPOSED[name]
    module, function = name.split(".")
    found: Callable[..., Any] = getattr(import_module(f"clusterspec.cost.formulas.{module}"), function)
    return found


def expected(example: dict[str, Any]) -> tuple[float, float]:
    """The value in SI, and the absolute tolerance."""
    scale = convert(1.0, example["unit"], TABLE[example["unit"]][0]) if "unit" in example else 1.0
    return example["value"] * scale, example.get("within", 0.0) * scale


@each("example", EXAMPLES)
def test_formulas_give_the_hand_worked_numbers(example: dict[str, Any]) -> None:
    inputs = {name: settled(name, given) for name, given in example["inputs"].items()}
    value, within = expected(example)
    found = example.get("times", 1) * function_named(example["function"])(**inputs)
    assert found == pytest.approx(value, rel=1e-9, abs=within)


def test_no_worked_example_is_repeated() -> None:
    assert [name for name, count in Counter(example["id"] for example in EXAMPLES).items() if count > 1] == []


def test_examples_of_plain_arithmetic_are_marked_and_few() -> None:
    literal = {example["id"] for example in EXAMPLES if example.get("literal")}
    plain = {example["id"] for example in EXAMPLES if example["function"] in ("product", "quotient")}
    assert literal == plain
    assert len(literal) < len(EXAMPLES) / 10


def test_a_window_reads_what_a_causal_sequence_of_two_windows_and_a_block_reads() -> None:
    """Of 10,000 tokens with a window of 1,000 and blocks of 128: keys of 2,128 tokens, of which 2,000 count."""
    windowed = replace(shard(10_000, 8192).model, window=Window(1000, 1))
    for length, reach, counted in ((10_000, 2128.0, 2000.0), (2050, 2050.0, 2000.0), (600, 600.0, 600.0)):
        within = replace(shard(length, 8192), model=windowed, mixer=Mixer.WINDOW)
        assert _blocks_of_window(within) == (reach, counted)
    assert _blocks_of_window(replace(within, mixer=Mixer.FULL)) == (600, 600)
