"""Tables of figures made at random: each cell is the figure of its row in the JSON, below its head and aligned."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from clusterspec.records import replace
from clusterspec.report import TextStyle, _arranged_columns, layout_tables, sensitivity_text, solve_text, sweep_text
from clusterspec.report.charts.svg import text_width
from clusterspec.report.faults_text import faults_as_text
from clusterspec.report.paper.blocks import PaperTable, TableColumn, TableRow
from clusterspec.report.paper.widths import BODY, HALF, PAGE, column_shares, fits_half_width
from clusterspec.results import Input, Tool
from clusterspec.results.faults import FaultRow, FaultsReport, PairRow
from clusterspec.results.levers import LeverRow, SensitivityReport, SolveReport, SweepRow
from clusterspec.results.search import LayoutRow, RlSplit
from tests.report.columns import cut
from tests.report.pages import _UNITS

HEAD, WIDE = (Tool("1", "1"), Input("x.yaml", b"")), TextStyle(width=400)
Rows = list[dict[str, Any]]
Made = tuple[str, Rows]
"""A text that begins with a table, and the figures of its rows by head."""


def shown(cell: str) -> float:
    """The number of a cell in SI units, without marks behind it."""
    found = re.fullmatch(r"([+−]?)([\d,]+(?:\.\d+)?)(?: ?(%|[a-zA-Zµ/]+|:1))?(?: [x?*])?", cell)
    assert found, cell
    sign = -1 if found[1] == "−" else 1
    return sign * float(found[2].replace(",", "")) * {**_UNITS, ":1": 1.0, "/s": 1.0}.get(found[3] or "", 1.0)


def size(draw: Random, low: float, high: float) -> float:
    """A number of any size between two, with three digits, so that no rounding hides another figure."""
    return float(f"{low * (high / low) ** draw.random():.3g}")


def served(draw: Random) -> dict[str, Any]:
    names = ("ttft", "tpot", "output_tokens_per_second", "output_tokens_per_second_per_accelerator")
    return {name: size(draw, 0.01, 1.0) if name in names[:2] else float(draw.randint(1, 9999)) for name in names} | {
        "tokens_per_second_per_user": float(draw.randint(1, 500)),
        "accelerators": float(draw.randint(1, 99_999)),
        "concurrency": float(draw.randint(1, 9999)),
        "at_percentile": {"percentile": 95.0, "ttft": size(draw, 0.1, 10), "tpot": size(draw, 0.01, 0.1)},
    }


def sweep_of_training(draw: Random) -> Made:
    rows = [
        SweepRow({"cluster.nodes": draw.randint(1, 9999)}, size(draw, 0.01, 90), size(draw, 0.1, 0.9),
                 size(draw, 1e9, 9e11), float(draw.randint(1, 10**7)), {"tp": draw.randint(1, 64)}, fits=True)
        for _ in range(4)
    ]  # fmt: skip
    keys = {"step": "step_time", "MFU": "mfu", "memory": "memory", "cost": "cost"}
    told = [{head: row.to_json()[key] for head, key in keys.items()} | {"fits": "yes"} for row in rows]
    whole = zip(rows, told, strict=True)
    return sweep_text.sweep_as_text(rows, WIDE), [
        each | {"nodes": str(row.axes["cluster.nodes"]), "layout": f"tp {(row.layout or {})['tp']}"}
        for row, each in whole
    ]


def sweep_of_serving(draw: Random) -> Made:
    rows = [
        SweepRow({"nodes": 2}, memory=size(draw, 1e9, 9e11), cost=draw.randint(1, 9999) / 100, layout={"tp": 8},
                 serving=served(draw), fits=False)
        for _ in range(4)
    ]  # fmt: skip
    keys = {"TTFT": "ttft", "TPOT": "tpot", "tok/s": "output_tokens_per_second", "accelerators": "accelerators"}
    keys["tok/s/acc"] = "output_tokens_per_second_per_accelerator"
    return sweep_text.sweep_as_text(rows, WIDE), [
        {head: (row.serving or {})[key] for head, key in keys.items()}
        | {"memory": row.memory, "per M tokens": row.cost, "fits": "no"}
        for row in rows
    ]


def _plans(draw: Random) -> tuple[LayoutRow, ...]:
    return tuple(
        LayoutRow({"tp": draw.randint(2, 64)}, None, None, None, None, size(draw, 1e9, 9e11), True,
                  cost=draw.randint(1, 9999) / 100, serving=served(draw))
        for _ in range(11)
    )  # fmt: skip


def plans(draw: Random) -> Made:
    rows = _plans(draw)
    return sweep_text.plans_table(rows, WIDE, "EUR"), [
        {
            "engines": f"1 × tp {row.layout['tp']}",
            "accelerators": each["accelerators"],
            "TTFT p95": each["at_percentile"]["ttft"],
            "TPOT p95": each["at_percentile"]["tpot"],
            "tok/s/user": each["tokens_per_second_per_user"],
            "tok/s/acc": each["output_tokens_per_second_per_accelerator"],
            "memory": row.memory,
            "EUR per M tokens": row.cost,
        }
        for row in rows
        if (each := row.serving or {})
    ]


def front(draw: Random) -> Made:
    rows = tuple(replace(row, cost=None) for row in _plans(draw))
    return sweep_text.plans_table(rows, WIDE, "", fronted=True), [
        {
            "in flight": each["concurrency"],
            "TTFT": each["ttft"],
            "TPOT": each["tpot"],
            "tok/s/user": each["tokens_per_second_per_user"],
            "tok/s/acc": each["output_tokens_per_second_per_accelerator"],
        }
        for row in rows
        if (each := row.serving or {})
    ]


def layouts(draw: Random) -> Made:
    rows = tuple(
        LayoutRow({"tp": draw.randint(1, 64), "micro_batch": draw.randint(1, 16)}, size(draw, 0.1, 90), None, None,
                  size(draw, 0.1, 0.9), size(draw, 1e9, 9e11), True, cost=float(draw.randint(1, 10**7)))
        for _ in range(11)
    )  # fmt: skip
    return layout_tables.layouts_table(rows, WIDE, "EUR"), [
        {"tp": row.layout["tp"], "mb": row.layout["micro_batch"], "step": row.step_time, "MFU": row.mfu}
        | {"memory": row.memory, "EUR a run": row.cost}
        for row in rows
    ]


def placements(draw: Random) -> Made:
    rows = tuple(
        RlSplit("apart", draw.randint(1, 9999), draw.randint(1, 9999), draw.randint(1, 64), draw.randint(0, 16),
                size(draw, 1, 90), float(draw.randint(1, 9999)), {"rollout": draw.randint(1, 99) / 100, "update": 0.5},
                draw.choice(("spec", "best")))
        for _ in range(4)
    )  # fmt: skip
    return layout_tables.splits_table(rows, WIDE), [
        {
            "placement": "apart",
            "trainer": row.trainer_nodes,
            "rollout": row.rollout_nodes,
            "tp": row.rollout_tp,
            "ahead": row.max_staleness,
            "step": row.step_time,
            "tokens/s": row.tokens_per_second_per_accelerator,
            "rollout idle": row.idle["rollout"],
            "trainer idle": row.idle["update"],
            "layout": row.layout,
        }
        for row in rows
    ]


def faults(draw: Random) -> Made:
    rows = tuple(
        FaultRow(name, draw.randint(1, 99_999), size(draw, 0.1, 9999), "slows", 0.1, size(draw, 1, 90),
                 size(draw, 0.1, 9999), float(draw.randint(1, 10**6)), "why")
        for name in ("node", "leaf switch", "fan")
    )  # fmt: skip
    keys = {"count": "count", "per year": "failures_per_year", "step": "step_time", "hours lost": "hours_lost_per_year"}
    keys |= {"cost EUR": "cost_per_year", "failed part": "part", "job": "effect", "why": "why"}
    report = FaultsReport(*HEAD, rows, 1.0, 2.0, "EUR", None, {}, (), ())
    return faults_as_text(report, WIDE), [{head: row.to_json()[key] for head, key in keys.items()} for row in rows]


def pairs(draw: Random) -> Made:
    rows = tuple(
        PairRow(("node", name), "rack", "", draw.randint(1, 99_999), size(draw, 0.1, 9999), "slows", False,
                size(draw, 1, 90), size(draw, 0.1, 9999), None)
        for name in ("NIC", "link", "leaf switch")
    )  # fmt: skip
    row = FaultRow("node", None, None, "stops", 0.0, None, None, None, "")
    text = faults_as_text(FaultsReport(*HEAD, (row,), None, None, "", None, {}, (), (), rows), WIDE)
    return text.split("\n\n")[1], [
        {
            "they share": "a rack",
            "pairs": row.count,
            "per year": row.failures,
            "step": row.step_time,
            "hours lost": row.hours,
        }
        | {"failed pair": f"node and {row.parts[1]}"}
        for row in rows
    ]


def tried(draw: Random) -> Made:
    """Of 34 values both ends are shown, six around the boundary of 10, and four of the other 26, evenly spread."""
    probes = tuple((float(at), size(draw, 0.1, 90), at > 9) for at in range(1, 35))
    report = SolveReport(*HEAD, "nodes", "1", "step_time<=1s", 4.0, 10.0, probes=probes[::-1], metric="step_time",
                         metric_unit="s")  # fmt: skip
    text = solve_text.solve_as_text(report, WIDE)
    assert "\n34 values tried\n" in text
    return text.split("tried\n")[1], [
        {"nodes": value, "step_time": metric, "meets it": "yes" if holds else "no"}
        for value, metric, holds in probes
        if value in {1, 34, 7, 8, 9, 10, 11, 12} | {2, 16, 25, 33}
    ]


def levers(draw: Random) -> Made:
    rows = tuple(
        LeverRow("nodes", draw.randint(1, 9999), draw.randint(1, 9999), "1", size(draw, 0.1, 90), size(draw, 1e9, 9e11),
                 float(draw.randint(1, 10**7)), fits, draw.choice((-1, 1)) * draw.randint(1, 999) / 1000)
        for fits in (True, True, False)
    )  # fmt: skip
    keys = {"from": "from", "to": "to", "time per token": "effect", "step": "step_time", "memory": "memory"}
    text = sensitivity_text.sensitivity_as_text(SensitivityReport(*HEAD, 1.0, 1.0, 1.0, rows, "EUR"), WIDE)
    assert text.endswith("\nx does not fit in memory\n")
    return text.removesuffix("x does not fit in memory\n"), [
        {head: row.to_json()[key] for head, key in (keys | {"EUR a run": "cost"}).items()} | {"parameter": row.key}
        for row in rows
    ]


TABLES: dict[str, tuple[Callable[[Random], Made], str]] = {
    "sweep of training": (sweep_of_training, "step, MFU, memory, fits, cost"),
    "sweep of serving": (sweep_of_serving, "TTFT, TPOT, tok/s, tok/s/acc, accelerators, memory, fits, per M tokens"),
    "plans": (plans, ", accelerators, TTFT p95, TPOT p95, tok/s/user, tok/s/acc, memory, EUR per M tokens"),
    "front": (front, ", in flight, TTFT, TPOT, tok/s/user, tok/s/acc"),
    "layouts": (layouts, ", EUR a run"),
    "placements": (
        placements,
        "trainer, rollout, tp, ahead, step, tokens/s, rollout idle, trainer idle",
    ),
    "faults": (faults, "count, per year, step, hours lost, cost EUR"),
    "pairs": (pairs, "pairs, per year, step, hours lost"),
    "values tried": (tried, "step_time"),
    "levers": (levers, "time per token, step, memory, EUR a run"),
}
"""Tables, with the heads whose cells end at one place; the cells of the others begin at one."""


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", TABLES)
def test_a_cell_is_the_figure_of_its_row_below_its_head(name: str, seed: int) -> None:
    make, right = TABLES[name]
    text, told = make(Random(seed))
    first, *rest = text.rstrip("\n").splitlines()[: len(told) + 1]
    heads = cut(first)
    assert len(rest) == len(told) == len(text.split("\n\n")[0].rstrip("\n").splitlines()) - 1
    assert set(told[0]) <= {head for _, _, head in heads}
    for line, row in zip(rest, told, strict=True):
        for start, end, cell in cut(line):
            left, last, head = next((each for each in heads if each[0] < end and start < each[1]), (0, 0, ""))
            if head:
                assert end == last if head in right.split(", ") else start == left, (head, cell)
            value = row.get(head)
            if isinstance(value, str):
                assert cell == value, head
            elif value is not None:
                assert shown(cell) == pytest.approx(value, rel=0.0051), (head, cell, value)
        assert len(cut(line)) >= len(row), "no figure is left out"


def test_rows_of_a_table_are_numbered_and_their_numbers_end_at_one_place() -> None:
    for make in (plans, front, layouts):
        numbers = [cut(line)[0] for line in make(Random(1))[0].splitlines()[1:]]
        assert [text for _, _, text in numbers] == [str(number) for number in range(1, 12)]
        assert {end for _, end, _ in numbers} == {2}


def test_columns_of_a_printed_table_have_room_for_their_text() -> None:
    """The shares fill the table, a longer text has more of it, and numbers at the right are never broken."""
    columns = (TableColumn("Part"), TableColumn("Price", "right"), TableColumn("Why"))
    texts = ("node", "530,000,000 – 600,000,000 USD", "a long reason of many words " * 9)
    table = PaperTable(columns, (TableRow(texts, "x"),), "x")
    for half, width in ((False, PAGE), (True, HALF)):
        shares = column_shares(table, half=half)
        assert sum(shares) == pytest.approx(100, abs=0.1)
        assert shares[0] < shares[1] < shares[2] or half
        assert shares[1] / 100 * width > text_width(texts[1], BODY)
    assert column_shares(replace(table, form=True)) == ()
    row = TableRow(("link", "65 s", "exposed"), "x")
    plain, toned = (column_shares(PaperTable(columns, (replace(row, tone=tone),), "x")) for tone in ("plain", "fair"))
    assert toned[-1] > plain[-1], "the last cell of a judged row is bold, and wider"
    assert [
        fits_half_width(PaperTable(columns, (TableRow((word, "1", ""), "x"),), "x")) for word in ("w" * 9, "w" * 99)
    ] == [*(True, False)]


@pytest.mark.parametrize(
    ("columns", "beside", "gap"),
    [
        (66, [0, 1, 2, 3], "  "),  # 10 + 8 + 30 + 12, and two spaces between
        (65, [0, 1, 2, 3], " "),
        (63, [0, 1, 2, 3], " "),
        (62, [0, 1, 2], "  "),  # one too few: the words of the last column stand beneath
        (52, [0, 1, 2], "  "),
        (51, [0, 1, 2], " "),
        (50, [0, 1, 2], " "),
        (49, [0, 1], "  "),
    ],
)
def test_a_column_leaves_a_table_where_one_character_is_missing(columns: int, beside: list[int], gap: str) -> None:
    found, widths, between = _arranged_columns([10, 8, 30, 12], {3: 12}, columns)
    assert (found, between) == (beside, gap)
    assert sum(widths[each] for each in found) + len(between) * (len(found) - 1) <= columns


@pytest.mark.parametrize(
    ("columns", "beside", "gap"),
    [
        (84, [0, 1, 2, 3, 4], " "),  # 10 + 8 + 30 + 12 + 20, and a space between
        (83, [0, 1, 2, 3], "  "),
        (66, [0, 1, 2, 3], "  "),
        (65, [0, 1, 2, 3], " "),
        (63, [0, 1, 2, 3], " "),
        (62, [0, 1, 2], "  "),
        (50, [0, 1, 2], " "),
        (49, [0, 1], "  "),
        (10, [0, 1], " "),  # two stay, however narrow the terminal is
    ],
)
def test_the_last_columns_leave_a_table_one_by_one_until_the_others_fit(
    columns: int, beside: list[int], gap: str
) -> None:
    found, _, between = _arranged_columns([10, 8, 30, 12, 20], {}, columns)
    assert (found, between) == (beside, gap)
