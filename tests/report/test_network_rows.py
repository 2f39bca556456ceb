"""Technologies side by side, and failure rates from logs, as text: figures and labels from results given by hand."""

from __future__ import annotations

from clusterspec.records import replace
from clusterspec.report import TextStyle
from clusterspec.report.failure_rates_text import SHOWN, failure_rates_text
from clusterspec.report.paper.blocks import PaperTable, Text
from clusterspec.report.paper.network_rows import network_blocks
from clusterspec.results import Input, Tool
from clusterspec.results.diagnosis import FigureChange
from clusterspec.results.faults import METHOD, FailureRateRow, FailureRates
from clusterspec.results.full import NetworkChoice
from tests.effort import each

OWN = NetworkChoice(
    technology="infiniband-ndr",
    name="InfiniBand NDR",
    present=True,
    lossless="credits",
    reduces=True,
    wire=600e-9,
    wire_basis="measured",
    near=2.5e-6,
    far=4.1e-6,
    predicted=48.5e9,
    step=2.0,
    nic_price="1,200 USD",
    leaf_price="36,000 USD",
)
BARE = NetworkChoice("roce-v2", "RoCE v2", False, "", False, None, "", None, None, None, None)


def blocks(*choices: NetworkChoice, held: str | None = None) -> tuple[PaperTable, Text]:
    table, text = network_blocks(choices, held)
    assert isinstance(table, PaperTable) and isinstance(text, Text)
    return table, text


def test_each_technology_has_a_row_with_its_figures_under_their_heads() -> None:
    table, _ = blocks(OWN, BARE)
    heads = [(column.label, column.key) for column in table.columns]
    assert heads == [
        ("Network", "name"),
        ("Lossless by", "lossless"),
        ("Adapter to adapter", "wire"),
        ("Message, same leaf", "near"),
        ("Message, whole fabric", "far"),
        ("All send, each way", "predicted"),
        ("Step", "step"),
        ("NIC", "nic_price"),
        ("Leaf switch", "leaf_price"),
    ]
    first, second = table.rows
    assert first.cells == (
        "InfiniBand NDR, as designed",
        "credits",
        "600 ns",
        "2.5 µs",
        "4.1 µs",
        "48.5 GB/s",
        "2 s",
        "1,200 USD",
        "36,000 USD",
    )
    assert second.cells == ("RoCE v2", *["–"] * 8)
    assert [row.field for row in table.rows] == ["networks[0]", "networks[1]"]


def test_one_technology_is_no_comparison() -> None:
    assert network_blocks([OWN], None) == network_blocks([], None) == ()


@each(
    ("step", "present", "cell"),
    [
        (2.0, 2.0, "2 s, no change"),
        (2.00019, 2.0, "2 s, no change"),  # a relative difference of 0.95e-4
        (2.00021, 2.0, "2 s, +0.011 %"),
        (2.1, 2.0, "2.1 s, +5 %"),
        (1.5, 2.0, "1.5 s, −25 %"),
        (4.0, 2.0, "4 s, +100 %"),
        (4.0, None, "4 s"),
        (None, 2.0, "–"),
    ],
)
def test_the_step_of_another_technology_is_compared_with_that_of_the_design(
    step: float | None, present: float | None, cell: str
) -> None:
    for order in (1, -1):
        rows = (replace(OWN, step=present), replace(BARE, step=step))[::order]
        table, _ = blocks(*rows)
        assert table.rows[order == 1].cells[6] == cell


def test_remarks_name_sources_the_condition_and_where_prices_come_from() -> None:
    _, text = blocks(OWN, replace(BARE, wire_basis="stated"), held="if the fabric is idle")
    assert text.text == (
        "Adapter to adapter on InfiniBand NDR: measured. Adapter to adapter on RoCE v2: stated. Messages include the "
        "launch and the library. Steps are predicted if the fabric is idle. Prices come from the spec."
    )
    plain = replace(OWN, wire_basis="", step=None, nic_price="", leaf_price="")
    _, text = blocks(plain, BARE, held="if the fabric is idle")
    none = "Prices of NICs and switches are not stated for either."
    assert text.text == f"Messages include the launch and the library. {none}"
    for priced in (replace(plain, nic_price="1 USD"), replace(plain, leaf_price="1 USD")):
        assert blocks(priced, BARE)[1].text.endswith("Prices come from the spec.")
    assert "Steps are predicted. " in blocks(OWN, BARE)[1].text


RATES = FailureRates(
    Tool("1", "1"),
    Input("spec.yaml", b""),
    (
        FailureRateRow("nic", 1_234, 5_678, 1234.5, 1.0004, 0.9531, 1.0487),
        FailureRateRow("leaf", 0, 8, 2.0, None, 0.0, 1.49787),
    ),
    90 * 86_400.0,
    (),
)


def lines(report: FailureRates) -> list[str]:
    return failure_rates_text(report, TextStyle(width=400)).split("\n")


def test_rates_stand_in_a_row_for_each_part_and_without_a_failure_only_the_upper_end() -> None:
    head, *rows = (" ".join(line.split()) for line in lines(RATES))
    assert head == "part failures parts part-years per part and year at 90 % between"
    assert lines(RATES)[1].startswith("nic      1,234  5,678        1234                  1  0.953")
    assert "nic 1,234 5,678 1234 1 0.953 and 1.05" in rows, rows
    assert "leaf 0 8 2 – 0 and 1.5" in rows, rows
    assert f"Time observed: 90 days. Method: {METHOD}" in " ".join(rows)
    alone = "Parts without a failure have only an upper limit; their rates are not written."
    assert alone in rows
    assert alone not in lines(replace(RATES, rows=RATES.rows[:1]))


def test_reasons_are_counted_most_frequent_first_and_the_rest_is_a_number() -> None:
    undecided = [("own.csv:1", "reason 0"), ("own.csv:2", "reason 1"), ("own.csv:3", "reason 1")]
    assert [line for line in lines(replace(RATES, undecided=tuple(undecided))) if line.startswith("Not decided")] == [
        "Not decided, 2 lines: reason 1.",
        "Not decided, 1 line: reason 0.",
    ]
    many = tuple((f"own.csv:{n}", f"reason {n}") for n in range(SHOWN))
    said = [line for line in lines(replace(RATES, undecided=many)) if line.startswith("Not decided")]
    assert len(said) == SHOWN == 8
    more = (*many, ("own.csv:98", "reason 98"), ("own.csv:99", "reason 99"))
    said = [line for line in lines(replace(RATES, undecided=more)) if line.startswith("Not decided")]
    assert len(said) == SHOWN + 1
    assert said[-1] == "Not decided: 2 other reasons; --format json lists every line."


def test_the_goodput_is_told_before_and_after_and_what_was_written() -> None:
    report = replace(
        RATES, goodput=FigureChange(0.9512, 0.8734), kept=("a.b: 1",), written=("own.yaml",), notes=("A note.",)
    )
    said = lines(report)
    moved = "Goodput: 95.12 % with the rates of the spec and of publications, 87.34 % with the rates of the log."
    assert said[-5:-1] == ["A note.", moved, "Not written: a.b: 1", "wrote own.yaml"]
    for none in (FigureChange(None, 0.5), FigureChange(0.5, None)):
        assert "Goodput" not in failure_rates_text(replace(report, goodput=none))
