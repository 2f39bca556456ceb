"""A key as `explain` tells it in JSON: its own row, the rows inside it, and what its values are."""

from __future__ import annotations

import pytest

from clusterspec.cli.commands.reference import key_page
from clusterspec.report import PLAIN


@pytest.mark.parametrize(
    ("name", "inside", "values"),
    [
        ("cluster.nodes", set(), None),
        ("cluster.scale_out.nic_bandwidth", set(), "A line rate is the rate of one port"),
        ("operations.checkpoint", {"interval", "write_time"}, None),
        ("acceptance", {"collective", "busbw"}, None),
    ],
)
def test_a_key_is_told_with_the_keys_inside_it(name: str, inside: set[str], values: str | None) -> None:
    found = key_page(name, PLAIN)
    assert found is not None
    text, body = found
    rows = body["keys"]
    assert body["key"] == name and isinstance(rows, list) and bool(rows) is bool(inside)
    assert inside <= {row["key"].rpartition(".")[2] for row in rows} and name not in {row["key"] for row in rows}
    assert all(row["takes"] and row["meaning"] and f"`{row['key']}`" in text for row in rows)
    assert body["values"] is None if values is None else str(body["values"]).startswith(values)
