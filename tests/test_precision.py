"""One table of precisions: bytes with block scales, and the peaks that products run at."""

from __future__ import annotations

import pytest

from clusterspec.document.conforms import node_at, node_branches
from clusterspec.quantity import PRECISIONS, activation_width, operand_width, peak_name, precision_width
from clusterspec.spec import schema
from tests.effort import each


@each(
    ("name", "size"),
    [
        ("fp64", 8),
        ("fp32", 4),
        ("tf32", 4),  # products round it, memory keeps 32 bits
        ("bf16", 2),
        ("fp16", 2),
        ("fp8", 1),
        ("int8", 1),
        ("fp4", 0.5),
        ("none", 0),
        ("mxfp8", 33 / 32),  # 32 elements and one byte of scale
        ("mxfp4", 17 / 32),  # 32 halves of a byte and one byte
        ("nvfp4", 9 / 16),  # 16 halves of a byte and one byte
        ("int4", 66 / 128),  # 128 halves of a byte and two bytes
    ],
)
def test_a_number_takes_its_bits_and_its_share_of_the_scale(name: str, size: float) -> None:
    assert precision_width(name) == size


def test_an_unknown_precision_is_an_error() -> None:
    for ask in (precision_width, activation_width, operand_width):
        with pytest.raises(KeyError):
            ask("fp7")


@pytest.mark.parametrize(
    ("work", "activation", "operand"),
    [("bf16", 2, 2), ("fp16", 2, 2), ("fp32", 4, 4), ("tf32", 4, 4), ("fp8", 2, 33 / 32), ("fp4", 2, 9 / 16)],
)
def test_narrow_work_keeps_16_bits_between_products(work: str, activation: float, operand: float) -> None:
    assert (activation_width(work), operand_width(work)) == (activation, operand)


@pytest.mark.parametrize(
    ("name", "peaks", "found"),
    [
        ("fp4", {"fp4", "fp8", "bf16"}, "fp4"),
        ("mxfp4", {"fp8", "bf16"}, "fp8"),  # arithmetic at least as wide as the numbers
        ("nvfp4", {"bf16"}, "bf16"),
        ("int4", {"int8", "bf16"}, "int8"),
        ("int8", {"fp8", "bf16"}, "bf16"),
        ("fp16", {"bf16"}, "bf16"),
        ("bf16", {"fp8"}, None),  # never narrower
        ("none", {"bf16"}, None),
    ],
)
def test_products_run_at_the_narrowest_peak_that_is_wide_enough(name: str, peaks: set[str], found: str | None) -> None:
    assert peak_name(name, peaks) == found


KEYS = ("precision", "parameter_precision", "expert_parameter_precision", "kv_precision", "gradient_precision")


@pytest.mark.parametrize("key", KEYS)
def test_every_precision_of_the_format_is_in_the_table(key: str) -> None:
    words = node_at(schema(), ("workload", key))["enum"]
    assert set(words) <= PRECISIONS.keys()


def test_every_precision_of_the_layout_is_in_the_table() -> None:
    for key in ("master", "moments"):
        assert set(node_at(schema(), ("layout", "optimizer_states", key))["enum"]) <= PRECISIONS.keys()
    node = node_at(schema(), ("layout", "dispatcher", "precision"))
    assert {word for one in node_branches(node, schema()) for word in one.get("enum", ())} <= PRECISIONS.keys()
