"""Every command writes the format that ``--format`` names, and text without it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import BASE, Call

PRICED = BASE + "procurement: {currency: USD, prices: {node: 310000}}\n"
HEADS = [
    ("bom", "text", "part "),
    ("bom", "csv", "kind,part,quantity,derivation,assumed,unit_price,price"),
    ("bom", "price-sheet", "kind,part,quantity,unit_price,price,currency,delivery_weeks,warranty_years,remark"),
    ("cost", "text", "total "),
    ("cost", "csv", "part,year,amount,low,high,currency,formula"),
    ("faults", "text", "failed part "),
    ("faults", "csv", "part,count,failures_per_year,effect,bandwidth_lost,step_time,"),
    ("estimate", "text", ""),
    ("diff", "text", "spec.yaml -> spec.yaml"),
    ("diff", "markdown", "**clusterspec diff**: `spec.yaml` to `spec.yaml`"),
    *((verb, "json", "{") for verb in ("bom", "cost", "faults", "estimate", "diff")),
]


@pytest.mark.parametrize(("verb", "format_", "head"), HEADS)
def test_a_command_writes_the_format_that_is_named(verb: str, format_: str, head: str, call: Call) -> None:
    Path("spec.yaml").write_text(PRICED)
    specs = ("spec.yaml", "spec.yaml") if verb == "diff" else ("spec.yaml",)
    done = call(verb, *specs, *(() if format_ == "text" else ("--format", format_)))
    assert (done.status, done.error) == (0, "")
    assert done.out.startswith(head)
    if format_ == "json":
        assert json.loads(done.out)["version"] == 1
    else:
        assert not done.out.startswith("{")
