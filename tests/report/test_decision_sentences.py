"""The sentences and the waivers of a first page, and the sections of a fleet, from changed results."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from clusterspec.finding import Severity
from clusterspec.money import Money
from clusterspec.procurement.amounts import rounded_text
from clusterspec.procurement.items import Item
from clusterspec.procurement.quotes import QuotedPart
from clusterspec.records import replace
from clusterspec.report import escaped_line
from clusterspec.report.charts.bars import StackPart, StackRow
from clusterspec.report.paper import decision, fleet
from clusterspec.report.paper.materials import cost_section
from clusterspec.results.full import FullReport
from clusterspec.results.verdict import Gate, GateStatus
from tests.effort import telling
from tests.report.plain_results import FLEET, JOB, POOL
from tests.report.test_paper import SPECS, own_parts, report
from tests.report.test_paper_rows_by_hand import finding
from tests.report.test_paper_words import planned, trained


def bought(**changes: Any) -> FullReport:
    """The priced report with another purchase, and without better choices."""
    found = report(SPECS["priced"], "procurement")
    assert found.purchase is not None
    return replace(found, purchase=replace(found.purchase, **changes), choices=None)


@telling(1)
@pytest.mark.parametrize(
    ("basis", "open_", "start"),
    [
        ("prices", False, "Buy 64 nodes of DGX H100 (512 accelerators) for {} (at the prices of the spec). It trains "),
        ("rent", False, "Rent 64 nodes of DGX H100 (512 accelerators) for {} (over the term). It trains "),
        ("rent", True, "Proposed rent: 64 nodes of DGX H100 (512 accelerators) for {} (over the term). It trains "),
        ("quote", True, "Proposed purchase: 64 nodes of DGX H100 (512 accelerators) for {} (as quoted). It trains "),
    ],
)
def test_a_purchase_begins_with_its_verb_and_amount(basis: str, open_: bool, start: str) -> None:
    amount = Money.of(5e6, "USD")
    gates = (Gate("design", GateStatus.OPEN, "why", "ask"),) if open_ else ()
    found = bought(amount=amount, basis=basis, expected=None, gates=gates, risks=())
    assert decision.decision_sentence(found).startswith(start.format(rounded_text(amount)))
    assert decision.decision_sentence(replace(found, purchase=None)) == ""


def test_an_expansion_is_told_by_the_nodes_that_it_adds() -> None:
    """The quote adds 24 of 64 nodes: 40 are in place; its amount is for these, the cost for the whole machine."""
    node = QuotedPart("node", 64, 24.0, None, None, "in place")
    found = bought(
        amount=Money.of(5e6, "USD"), basis="quote", expected=Money.of(13e6, "USD"), gates=(), risks=(), parts=(node,)
    )
    assert found.purchase is not None and found.purchase.added_nodes == 24
    assert decision.decision_sentence(found).startswith(
        "Buy 24 more nodes of DGX H100 in addition to 40 in place (512 accelerators in all) for 5 M USD (as quoted; "
        "13 M USD for the whole machine at these prices). It trains "
    )
    cost = cost_section(found)
    assert cost is not None and "existing parts included" in cost.lead
    whole = bought(parts=(replace(node, state="quoted"),))
    assert whole.purchase is not None and whole.purchase.added_nodes == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"time_to_train": 864000.0, "mfu": 0.4}, "trains Llama 3.1 8B in 10 days"),
        ({"time_to_train": None, "mfu": 0.4}, "trains Llama 3.1 8B at 40 % MFU"),
        ({"time_to_train": None, "mfu": None}, "is planned to train Llama 3.1 8B"),
    ],
)
def test_the_work_is_told_by_its_run_else_by_its_rate(given: dict[str, Any], said: str) -> None:
    assert decision.work_sentence(planned(**given)) == said
    idle = replace(trained().estimate.plan.design, workload=None)
    assert decision.work_sentence(planned(design=idle)) == ""


def test_the_work_of_engines_is_told_by_their_tokens() -> None:
    found = report(SPECS["serving-pools"], "procurement")
    said = decision.work_sentence(replace(found, choices=None))
    assert said.startswith("serves Llama 3.1 70B with ") and said.endswith(" output tokens per second")
    if found.choices is not None:
        late = replace(found.choices.rows[0], holds_load=False)
        choices = replace(found.choices, rows=(late, *found.choices.rows[1:]), of_targets=True)
        assert decision.work_sentence(replace(found, choices=choices)).endswith(", outside its targets")
        free = replace(choices, of_targets=False)
        assert "outside" not in decision.work_sentence(replace(found, choices=free))


@pytest.mark.parametrize(
    ("days", "told"),
    [(None, ("no date", "never")), (0, (None, "today")), (1, (None, "in 1 day")), (1000, (None, "in 1,000 days"))],
)
def test_a_waiver_is_told_with_the_days_that_are_left(days: int | None, told: tuple[str | None, str]) -> None:
    found = own_parts(SPECS["priced"])
    first = found.estimate.waived[0]
    until = found.today + timedelta(days=days) if days is not None else None
    waived = replace(first, waiver=replace(first.waiver, until=until), finding=finding(Severity.ERROR, "m"))
    table = decision.waivers_table(replace(found, estimate=replace(found.estimate, waived=(waived, first))))
    cells = table.rows[0].cells
    assert cells[0] == "few-spines: m" and cells[1] == "error" and cells[4] == told[1]
    assert cells[3] == (told[0] or (until.isoformat() if isinstance(until, date) else ""))
    assert (table.rows[0].tone, table.rows[1].tone) == ("bad", "plain")
    assert [row.field for row in table.rows] == ["waived[0]", "waived[1]"]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("plain", "plain"),
        ("::error::x", "\\::error::x"),
        ("  ::x", "  \\::x"),
        ("a ::x", "a ::x"),
        ("##[add-mask]x", "##\\[add-mask]x"),
        ("a ##vso[x]", "a ##vso\\[x]"),
        ("::a ##[b]", "\\::a ##\\[b]"),
    ],
)
def test_commands_of_runners_are_escaped(line: str, shown: str) -> None:
    assert escaped_line(line) == shown


def test_nodes_of_a_pool_are_those_of_its_jobs_and_the_rest() -> None:
    """Of 10 nodes one job has 4 for half of the time, another 3 in addition to its own pool: 5 are without a job."""
    jobs = {
        "a": replace(JOB, pool="p", nodes=4, share=0.5),
        "b": replace(JOB, pool="q", nodes=9, beside={"p": 3}),
        "c": replace(JOB, pool="q", nodes=2),
        "d": replace(JOB, pool="p", nodes=None),
    }
    tints = dict.fromkeys(jobs, "forward")

    def parts(nodes: int | None) -> list[tuple[str, float]]:
        found = fleet._node_parts(replace(FLEET, jobs=jobs), "p", replace(POOL, nodes=nodes), tints)
        return [(part.label, part.value) for part in found]

    assert parts(10) == [("a", 2.0), ("b", 3.0), ("without a job", 5.0)]
    assert parts(5) == [("a", 2.0), ("b", 3.0)]
    assert parts(None) == [("a", 2.0), ("b", 3.0)]


@pytest.mark.parametrize(("values", "drawn"), [((0.0, 0.0), 0), ((0.0, 2.0), 1), ((1.0, 2.0), 2)])
def test_rows_without_a_value_are_not_drawn(values: tuple[float, ...], drawn: int) -> None:
    rows = [
        StackRow(f"row {at}", (StackPart("part", "forward", value, f"{value:g}"),)) for at, value in enumerate(values)
    ]
    found = list(fleet._stack_picture(rows, lambda tick: f"{tick:g}", "caption", "pools"))
    assert len(found) == (drawn > 0)
    alternatives = [picture.svg.partition('aria-label="')[2].partition('"')[0] for picture in found]
    assert [text.count("row ") for text in alternatives] == [drawn] * len(found)


def test_a_table_has_titles_whose_first_columns_are_text() -> None:
    table = fleet.text_first_table(("job", "nodes", "power"), [], "jobs", 1, "caption")
    assert [(column.label, column.align) for column in table.columns] == [
        ("Job", "left"),
        ("Nodes", "right"),
        ("Power", "right"),
    ]


def test_parts_of_a_bill_without_a_price_say_so() -> None:
    item = Item("node", "DGX H100", 1200, "counted")
    priced = replace(item, unit_price=Money.of(1, "USD"), currency="USD")
    shown = [fleet._item_cells(each)[1:] for each in (item, priced)]
    assert shown == [("1,200", "no price", "no price", "counted"), ("1,200", "1 USD", "1,200 USD", "counted")]
