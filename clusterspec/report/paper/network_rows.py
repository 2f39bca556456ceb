"""InfiniBand and RoCE side by side, for machines that can have either."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.report.paper.blocks import Block, PaperTable, TableColumn, TableRow, Text
from clusterspec.results.full import NetworkChoice
from clusterspec.units import display, portion

SAME = 1e-4
"""Relative difference of two steps below which they are called equal."""


def network_blocks(choices: Sequence[NetworkChoice], condition: str | None) -> tuple[Block, ...]:
    """A table of two technologies, and a text on its columns; empty for fewer.

    The predicted step times hold under ``condition``.
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
    rows = tuple(
        TableRow(tuple(_choice_cells(one, present)), f"networks[{number}]") for number, one in enumerate(choices)
    )
    caption = "InfiniBand and RoCE on this machine, with the same NICs and switch counts"
    return PaperTable(columns, rows, "networks", caption=caption), Text(
        " ".join(_latency_remarks(choices, condition)), "networks"
    )


def _choice_cells(choice: NetworkChoice, present: NetworkChoice) -> Iterator[str]:
    yield f"{choice.name}, as designed" if choice.present else choice.name
    yield choice.lossless or "–"
    yield display(choice.wire, "s") if choice.wire else "–"
    yield display(choice.near, "s") if choice.near else "–"
    yield display(choice.far, "s") if choice.far else "–"
    yield display(choice.predicted, "B/s") if choice.predicted else "–"
    yield f"{display(choice.step, 's')}{_change_text(choice, present)}" if choice.step else "–"
    yield choice.nic_price or "–"
    yield choice.leaf_price or "–"


def _change_text(choice: NetworkChoice, present: NetworkChoice) -> str:
    """The change of the step relative to the design's step."""
    if choice.present or not choice.step or not present.step:
        return ""
    change = choice.step / present.step - 1
    if abs(change) < SAME:
        return ", no change"
    return f", {'+' if change > 0 else '−'}{portion(abs(change))}"


def _latency_remarks(choices: Sequence[NetworkChoice], condition: str | None) -> Iterator[str]:
    """The sources of the latencies between adapters, and the contents of the other columns."""
    for one in choices:
        if one.wire_basis:
            yield f"Adapter to adapter on {one.name}: {one.wire_basis.replace('assumed: ', 'assumed, ', 1)}."
    yield "Messages include the launch and the library."
    if any(one.step for one in choices):
        yield f"Steps are predicted{f' {condition}' if condition else ''}."
    priced = any(one.nic_price or one.leaf_price for one in choices)
    yield "Prices come from the spec." if priced else "Prices of NICs and switches are not stated for either."
