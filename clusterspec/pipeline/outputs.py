"""The results of a study, one function per command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clusterspec.document import file_names
from clusterspec.results import (
    BillReport,
    CheckReport,
    CollectiveReport,
    EstimateReport,
)
from clusterspec.results.provenance import Provenance

if TYPE_CHECKING:
    from clusterspec.cost.collectives import CollectiveRow
    from clusterspec.results.acceptance import PlannedTest
    from clusterspec.results.cost import CostReport
    from clusterspec.results.influence import Influence

from clusterspec.pipeline.studies import Checked, Settings, Study


def check(studies: Sequence[Study | Checked], settings: Settings) -> CheckReport:
    """The findings of all files in one report; findings in a common base appear once."""
    findings = tuple(file_names.without_repeats([(one.input.name, one.findings) for one in studies]))
    sources = {name: source for one in studies for name, source in one.sources.items()}
    pointed = file_names.file_names(dict.fromkeys([*sources, *(finding.span.file for finding in findings)]))
    waived = tuple(each for one in studies for each in (one.checked if isinstance(one, Study) else one).waived)
    inputs = tuple(one.input for one in studies)
    return CheckReport(settings.tool, inputs, findings, sources, pointed, waived=waived)


def estimate(one: Study) -> EstimateReport:
    """The estimate of a design: memory, time and communication."""
    checked = one.checked
    return EstimateReport(
        one.settings.tool,
        one.input,
        one.plan,
        checked.findings,
        one.sources,
        checked.waived,
        one.settings.today,
        Provenance(one.document, one.settings.catalog),
    )


def influences(one: Study) -> tuple[Influence, ...]:
    """The assumptions that move the step time or the memory of a design by more than 1 %, largest first."""
    from clusterspec.results.influence import influences as found

    return found(one.plan, one.settings.catalog)


def collective(
    one: Study,
    name: str,
    ranks: int,
    sizes: Sequence[float],
    algorithm: str | None = None,
    *,
    asked: Sequence[str] = (),
) -> CollectiveReport:
    """A collective of ``ranks`` ranks over ``sizes`` in bytes; ``asked`` are the sizes as given by the user.

    Without rows, but with the reason, if the cluster cannot be resolved or its ranks are not connected.
    """
    from clusterspec.cost.collectives import CollectiveUnavailableError, table

    rows: tuple[CollectiveRow, ...] = ()
    why = "the cluster cannot be resolved; `clusterspec check` reports the reason"
    if one.design.cluster is not None:
        try:
            rows, why = table(one.design.cluster, name, ranks, sizes, algorithm), ""
        except CollectiveUnavailableError as fault:
            why = str(fault)
    return CollectiveReport(one.settings.tool, one.input, rows, why, one.checked.findings, tuple(asked))


def bill(one: Study) -> BillReport:
    """The bill of materials with prices."""
    from clusterspec.procurement.bill import bill as counted

    return BillReport(one.settings.tool, one.input, counted(one.design, one.settings.switch), one.checked.findings)


def cost(one: Study) -> CostReport:
    """The cost of a design over its term, by year, by run and by token."""
    from clusterspec.procurement.bill import bill as counted
    from clusterspec.procurement.cost import cost as worked_out
    from clusterspec.procurement.neighbor import cheaper_neighbor
    from clusterspec.results.cost import CostReport

    items = counted(one.design, one.settings.switch)
    found = worked_out(one.design, one.plan, items)
    neighbor = cheaper_neighbor(one.design, items)
    return CostReport(one.settings.tool, one.input, found, neighbor, one.checked.findings)


def planned_tests(one: Study) -> tuple[PlannedTest, ...]:
    """The acceptance tests of the tiers of the machine, each with its prediction and its command."""
    from clusterspec.procurement.acceptance import acceptance_tests
    from clusterspec.results.acceptance import planned

    tests = acceptance_tests(one.design.cluster) if one.design.cluster else ()
    rows = [(test, collective(one, test.collective, test.ranks, (test.size,)).rows) for test in tests]
    return tuple(planned(test, found[0]) for test, found in rows if found)
