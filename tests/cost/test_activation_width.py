"""Activations have one width, in memory and on the wire."""

from __future__ import annotations

import pytest

from tests.cost.plans import plan


def sent(axis: str, **sections: object) -> float:
    found = plan(**sections)  # type: ignore[arg-type]
    return sum(row.bytes for row in found.communication if row.axis == axis)


@pytest.mark.parametrize(
    ("axis", "layout"),
    [("tp", {"tp": 4}), ("cp", {"tp": 1, "cp": 4}), ("pp", {"tp": 1, "pp": 4}), ("ep", {"tp": 1, "ep": 8})],
)
def test_wide_activations_take_twice_the_bytes_on_the_wire(axis: str, layout: dict[str, int]) -> None:
    model = {"model": "mixtral-8x7b"} if axis == "ep" else {}
    narrow, wide, eight = (
        sent(axis, workload={**model, "precision": name}, layout=layout) for name in ("bf16", "tf32", "fp8")
    )
    assert wide == pytest.approx(2 * narrow)
    assert eight == pytest.approx(narrow)  # fp8 narrows the operands of products, not what travels between them
