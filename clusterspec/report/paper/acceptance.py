"""The section on acceptance tests: limits, the form to be filled in, commands and remedies."""

from __future__ import annotations

from clusterspec.report.paper.blocks import Block, Bullets, PaperTable, Section, TableColumn, TableRow
from clusterspec.report.paper.running import binary_size
from clusterspec.results.diagnosis import PlannedTest
from clusterspec.results.full import FullReport
from clusterspec.units import display, plural

LEAD = (
    "Bus bandwidth as the benchmark counts it, per direction. Where the spec demands no threshold, the low end of the "
    "predicted range is proposed. `clusterspec accept --format csv` fills in this form from the logs."
)


def acceptance_section(report: FullReport) -> Section | None:
    """The acceptance tests with commands, and blanks for measurements."""
    blocks = acceptance_blocks(report)
    return Section("acceptance", "Acceptance plan", tuple(blocks), lead=LEAD) if blocks else None


def acceptance_blocks(report: FullReport, root: str = "acceptance", of_pool: str = "") -> list[Block]:
    """The form of the tests, their commands and remedies, and the tests that the spec requires. JSON fields are below
    ``root``. For a fleet, the captions name the pool.
    """
    demanded = report.estimate.design.spec.acceptance or ()
    blocks: list[Block] = []
    if report.tests:
        plan = f"{root}.plan"
        form = _form_table(report.tests, plan, f"Tests of {of_pool}" if of_pool else "")
        title = f"Commands for {of_pool}" if of_pool else "Commands"
        blocks += [form, _commands_table(report.tests, plan, title), _remedy_bullets(report.tests, plan)]
    if demanded:
        columns = (
            TableColumn("Demanded", key="collective"),
            TableColumn("Nodes", "right", "nodes"),
            TableColumn("Size", "right", "size"),
            TableColumn("At least", "right", "busbw"),
            TableColumn("Algorithm", key="algorithm"),
            TableColumn("Where", key="scope"),
            TableColumn("Passes", key="passes"),
            TableColumn("Duration", "right", "duration"),
        )
        rows = tuple(_demand_row(one, f"{root}.demanded[{number}]") for number, one in enumerate(demanded))
        caption = f"Tests of {of_pool} required by the spec" if of_pool else "Tests required by the spec"
        blocks.append(PaperTable(columns, rows, f"{root}.demanded", caption=caption))
    return blocks


def _form_table(tests: tuple[PlannedTest, ...], field: str, caption: str) -> PaperTable:
    """The form of the acceptance tests: required and predicted values, and blanks for the measured value and the
    witness."""
    columns = (
        TableColumn("Test", key="collective"),
        TableColumn("On", key="nodes"),
        TableColumn("Size", "right", "size"),
        TableColumn("Demanded", "right", "demanded"),
        TableColumn("Proposed", "right", "threshold"),
        TableColumn("Predicted", "right", "predicted"),
        TableColumn("Ceiling", "right", "ceiling"),
        TableColumn("Measured"),
        TableColumn("Log hash"),
        TableColumn("Witness"),
        TableColumn("Pass"),
    )
    rows = tuple(
        TableRow(
            (
                f"{number + 1}. {test.collective}, {test.tier}",
                f"{plural(test.nodes, 'node')}, {plural(test.ranks, 'rank')}",
                binary_size(test.size),
                display(test.demanded, "B/s") if test.demanded is not None else "–",
                "–" if test.demanded is not None else display(test.threshold, "B/s"),
                display(test.predicted, "B/s"),
                display(test.ceiling, "B/s"),
                "",
                "",
                "",
                "□",
            ),
            f"{field}[{number}]",
        )
        for number, test in enumerate(tests)
    )
    return PaperTable(columns, rows, field, caption=caption, form=True)


def _commands_table(tests: tuple[PlannedTest, ...], field: str, caption: str) -> PaperTable:
    rows = tuple(
        TableRow(
            (f"{number + 1}. {test.tool}", test.command or "by the benchmark of the vendor"),
            f"{field}[{number}]",
        )
        for number, test in enumerate(tests)
    )
    columns = (
        TableColumn("Tool", key="tool"),
        TableColumn("Command", key="command"),
    )
    coded = any(test.command for test in tests)
    return PaperTable(columns, rows, field, caption=caption, code=coded)


def _remedy_bullets(tests: tuple[PlannedTest, ...], field: str) -> Bullets:
    """The action after a failed test, each with the numbers of its tests."""
    by_remedy: dict[str, list[int]] = {}
    for number, test in enumerate(tests):
        by_remedy.setdefault(test.remedy, []).append(number)
    items = tuple(
        (
            f"{'test' if len(numbers) == 1 else 'tests'} {', '.join(f'{number + 1}' for number in numbers)}: {remedy}",
            f"{field}[{numbers[0]}].remedy",
        )
        for remedy, numbers in by_remedy.items()
    )
    return Bullets("If a test fails", items)


def _demand_row(demand: object, field: str) -> TableRow:
    """An acceptance test required by the spec, as written; absent values are dashes."""
    read = {name: getattr(demand, name) for name in ("busbw", "algbw", "size", "duration")}
    metric = "busbw" if read["busbw"] is not None else "algbw"
    figure = read[metric]
    words = {name: getattr(demand, name) for name in ("collective", "nodes", "algorithm", "scope", "passes")}
    cells = (
        words["collective"] or "–",
        f"{words['nodes']:,}" if words["nodes"] else "–",
        read["size"].written if read["size"] else "–",
        f"{figure.written} {metric}" if figure else "–",
        words["algorithm"] or "any",
        (words["scope"] or "–").replace("-", " "),
        words["passes"] or "–",
        read["duration"].written if read["duration"] else "–",
    )
    return TableRow(cells, field)
