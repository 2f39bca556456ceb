"""InfiniBand and RoCE side by side, for machines that can have either."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.report.paper.blocks import Block, PaperTable, TableColumn, TableRow, Text
from clusterspec.results.full import NetworkChoice
from clusterspec.units import display, portion

SAME = 1e-4
"""Relative difference of two steps below which they are called equal."""


def network_blocks(choices: Sequence[NetworkChoice], held: str | None) -> tuple[Block, ...]:
    """A table of two technologies, and a text on its columns; empty for fewer.

    ``held`` is the condition under which the predicted step times hold.
    """
    if len(choices) < 2:
        return ()
    columns = (
        TableColumn("Network", key="name"),
        TableColumn("Lossless by", key="lossless"),
        TableColumn("Adapter to adapter", "right", "wire"),
        TableColumn("Message, same leaf", "right", "near"),
        TableColumn("Message, whole fabric", "right", "far"),
        TableColumn("All send, each way", "right", "predicted"),
        TableColumn("Step", "right", "step"),
        TableColumn("NIC", "right", "nic_price"),
        TableColumn("Leaf switch", "right", "leaf_price"),
    )
    present = next(one for one in choices if one.present)
    rows = tuple(TableRow(tuple(_cells(one, present)), f"networks[{number}]") for number, one in enumerate(choices))
    caption = "InfiniBand and RoCE on this machine, with the same NICs and switch counts"
    return PaperTable(columns, rows, "networks", caption=caption), Text(
        " ".join(_latency_remarks(choices, held)), "networks"
    )


def _cells(one: NetworkChoice, present: NetworkChoice) -> Iterator[str]:
    yield f"{one.name}, as designed" if one.present else one.name
    yield one.lossless or "–"
    yield display(one.wire, "s") if one.wire else "–"
    yield display(one.near, "s") if one.near else "–"
    yield display(one.far, "s") if one.far else "–"
    yield display(one.predicted, "B/s") if one.predicted else "–"
    yield f"{display(one.step, 's')}{_change_text(one, present)}" if one.step else "–"
    yield one.nic_price or "–"
    yield one.leaf_price or "–"


def _change_text(one: NetworkChoice, present: NetworkChoice) -> str:
    """The change of the step relative to the design's step."""
    if one.present or not one.step or not present.step:
        return ""
    change = one.step / present.step - 1
    if abs(change) < SAME:
        return ", no change"
    return f", {'+' if change > 0 else '−'}{portion(abs(change))}"


def _latency_remarks(choices: Sequence[NetworkChoice], held: str | None) -> Iterator[str]:
    """The sources of the latencies between adapters, and the contents of the other columns."""
    for one in choices:
        if one.wire_basis:
            yield f"Adapter to adapter on {one.name}: {one.wire_basis.replace('assumed: ', 'assumed, ', 1)}."
    yield "Messages include the launch and the library."
    if any(one.step for one in choices):
        yield f"Steps are predicted{f' {held}' if held else ''}."
    priced = any(one.nic_price or one.leaf_price for one in choices)
    yield "Prices come from the spec." if priced else "Prices of NICs and switches are not stated for either."
