"""The results of a study, one function per command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from clusterspec import document as documents
from clusterspec.document import files
from clusterspec.document.derived import FileFindings, attributed
from clusterspec.records import replace
from clusterspec.results import BillReport, CheckReport, CollectiveReport, EstimateReport
from clusterspec.results.provenance import Provenance
from clusterspec.results.redaction import redact
from clusterspec.studies.study import Checked, Settings, Study, study_text

if TYPE_CHECKING:
    from clusterspec.cluster.model import Assumption
    from clusterspec.cost.collectives import CollectiveRow
    from clusterspec.results.cost import CostReport
    from clusterspec.results.diagnosis import PlannedTest
    from clusterspec.results.full import FullReport
    from clusterspec.results.search import SearchReport, SensitivityReport
    from clusterspec.results.verdict import Influence


# The results of a study, one function per command


def check(studies: Sequence[Study | Checked], settings: Settings) -> CheckReport:
    """The findings of all files in one report, those in bases as `attributed` places them."""
    findings = tuple(attributed([_file_findings(one) for one in studies]))
    sources = {name: source for one in studies for name, source in one.sources.items()}
    pointed = files.file_names(dict.fromkeys([*sources, *(finding.span.file for finding in findings)]))
    waived = tuple(each for one in studies for each in (one.checked if isinstance(one, Study) else one).waived)
    inputs = tuple(one.input for one in studies)
    failed = tuple(one.input.name for one in studies if isinstance(one, Checked) and one.fault is not None)
    return CheckReport(settings.tool, inputs, findings, sources, pointed, waived=waived, failed=failed)


def _file_findings(one: Study | Checked) -> FileFindings:
    """The findings of one file. Raises the exception of a failed rule of a study."""
    name, extends = one.input.name, one.extends
    bases = frozenset(files.real(each) for each in one.sources if each != name) if extends else frozenset()
    return FileFindings(name, one.findings, extends, bases)


def estimate(study: Study) -> EstimateReport:
    """The estimate of a design: memory, time and communication."""
    from clusterspec.analysis.verdict import condition, verdict
    from clusterspec.cluster.degrees import accelerators_used
    from clusterspec.cost.estimate import unmeasured_step_time
    from clusterspec.cost.headline import headline

    checked, plan = study.checked, study.plan
    return EstimateReport(
        study.settings.tool,
        study.input,
        plan,
        verdict(plan, checked.findings, checked.waived),
        condition(plan),
        accelerators_used(plan.design),
        tuple(headline(plan)),
        unmeasured_step_time(plan),
        checked.findings,
        study.sources,
        checked.waived,
        study.settings.today,
        Provenance(study.document, study.settings.catalog),
    )


def influences(study: Study) -> tuple[Influence, ...]:
    """The assumptions that move the step time or the memory of a design by more than 1 %, largest first."""
    from clusterspec.analysis.influence import largest_influence, ranked

    def largest(assumption: Assumption) -> Influence | None:
        return largest_influence(study.plan, assumption)

    return ranked(
        study.part(f"influence of {each[0]}", partial(largest, each), None) for each in study.plan.assumptions
    )


def collective(
    study: Study,
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
    if study.design.cluster is not None:
        try:
            rows, why = table(study.design.cluster, name, ranks, sizes, algorithm), ""
        except CollectiveUnavailableError as fault:
            why = str(fault)
    return CollectiveReport(study.settings.tool, study.input, rows, why, study.checked.findings, tuple(asked))


def bill(study: Study) -> BillReport:
    """The bill of materials with prices."""
    from clusterspec.procurement.bill import bill as counted

    return BillReport(study.settings.tool, study.input, counted(study.design), study.checked.findings)


def cost(study: Study) -> CostReport:
    """The cost of a design over its term, by year, by run and by token."""
    from clusterspec.procurement.bill import bill as counted
    from clusterspec.procurement.cost import cost as worked_out
    from clusterspec.procurement.neighbor import cheaper_neighbor
    from clusterspec.results.cost import CostReport

    items = counted(study.design)
    plan = study.plan if study.possible else None
    found = study.part("cost", lambda: worked_out(study.design, plan, items), None)
    neighbor = study.part("cheaper neighbor", lambda: cheaper_neighbor(study.design, items), None)
    return CostReport(study.settings.tool, study.input, found, neighbor, study.checked.findings)


def planned_tests(study: Study) -> tuple[PlannedTest, ...]:
    """The acceptance tests of the tiers of the machine, each with its prediction and its command."""
    from clusterspec.analysis.acceptance import planned
    from clusterspec.procurement.acceptance import acceptance_tests

    tests = acceptance_tests(study.design.cluster) if study.design.cluster else ()
    rows = [(test, collective(study, test.collective, test.ranks, (test.size,)).rows) for test in tests]
    return tuple(planned(test, found[0]) for test, found in rows if found)


# The report of a study, alone or compared with others

TENDER = "tender.yaml"
"""The name of a redacted spec, whatever file it was made from."""


def tender(study: Study) -> Study:
    """The study of the redacted spec, from which no confidential value of a tender can be computed."""
    value = redact(study.document.value if study.document else None, study.spec.broken)
    return study_text(documents.dump(value), study.settings, TENDER, study.folder)


def report(
    study: Study,
    kind: str,
    audience: str | None = None,
    against: Sequence[Study] = (),
    *,
    live: bool = True,
    levers_of: Callable[[Study], SensitivityReport] | None = None,
    plans_of: Callable[[Study], SearchReport | None] | None = None,
) -> FullReport:
    """A report of a design, compared with others.

    ``audience`` defaults to that of the spec, else internal. Without ``live`` the report lacks the tables that only
    interactive figures use; ``levers_of`` returns the sensitivities of the reported design, ``plans_of`` other plans
    of one that serves.
    """
    written = study.design.spec.document.audience if study.design.spec.document else None
    readers = audience or written or "internal"
    shown = tender(study) if readers == "tender" else study
    others = [tender(other) if readers == "tender" else other for other in against]
    whole = _report(shown, kind, readers, live=live)
    if levers_of is not None and kind == "design":
        whole = replace(whole, sensitivity=shown.part("sensitivity", lambda: levers_of(shown), None))
    if plans_of is not None and kind == "design" and shown.plan.serving is not None:
        whole = replace(whole, plans=shown.part("other plans", lambda: plans_of(shown), None))
    whole = replace(whole, against=tuple(_compared(other, kind, readers) for other in others))
    if shown is not study:
        study.failures.extend(shown.failures)
    return whole


def _without_folders(study: Study) -> Provenance:
    """The provenance without folder names of the author's machine."""
    return Provenance(study.document, study.settings.catalog, folders=False)


def _compared(study: Study, kind: str, audience: str) -> FullReport:
    """The part of a report that a comparison needs."""
    from clusterspec.analysis.machine import machine
    from clusterspec.analysis.training import reliability
    from clusterspec.analysis.verdict import areas
    from clusterspec.results.full import FullReport

    cluster, counted = study.design.cluster, bill(study)
    power = study.design.spec.cluster.power if study.design.spec.cluster else None
    drawn = study.part("machine", lambda: machine(cluster, counted.fabric, power) if cluster else None, None)
    return FullReport(
        kind=kind,
        audience=audience,
        today=study.settings.today,
        text=study.source.text,
        estimate=replace(estimate(study), provenance=_without_folders(study)),
        bill=counted,
        cost=cost(study),
        areas=study.part("areas", lambda: areas(study.plan, counted.bill, drawn.rack if drawn else None), ())
        if cluster
        else (),
        machine=drawn,
        reliability=study.part("reliability", lambda: reliability(study.plan), None),
    )


def _report(study: Study, kind: str, audience: str, *, live: bool) -> FullReport:
    from clusterspec.analysis.machine import pod, tiers
    from clusterspec.analysis.survival import survival
    from clusterspec.analysis.training import layout_grid, roofline, stage_memory

    cluster = study.design.cluster
    power = study.design.spec.cluster.power if study.design.spec.cluster else None
    whole = replace(
        _compared(study, kind, audience),
        tiers=study.part("tiers", lambda: tiers(cluster, _without_folders(study)) if cluster else (), ()),
        tests=study.part("acceptance tests", lambda: planned_tests(study), ()),
        influences=influences(study),
    )
    if kind != "design" or cluster is None:
        return whole
    return replace(
        whole,
        stages=study.part("stage memory", lambda: stage_memory(study.plan), ()),
        roofline=study.part("roofline", lambda: roofline(study.plan), None),
        layouts=study.part("layouts", lambda: layout_grid(study.plan), None),
        pod=study.part("pod", lambda: pod(cluster, power.nodes_per_rack if power else None), None),
        survival=study.part("survival", lambda: survival(study.design, live=live), None),
    )
