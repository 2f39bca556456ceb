"""The whole story on one page: from the text of a spec to what is said of it.

    YAML text → Document → Spec (+ Catalog) → Design → Plan → findings → Report

Every stage returns what it could do and what it found; nothing here decides anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

import clusterspec
from clusterspec import document as documents
from clusterspec import rules
from clusterspec.catalog import BrokenEntry, Catalog
from clusterspec.catalog.entries import Switch
from clusterspec.cluster.model import Design
from clusterspec.cluster.resolve import resolve
from clusterspec.config import Config, discover
from clusterspec.cost.plan import Plan
from clusterspec.document import Document, names, places, waivers
from clusterspec.document.waivers import Waived
from clusterspec.finding import Finding, Problem
from clusterspec.records import dataclass, field, replace
from clusterspec.results import (
    BillReport,
    CheckReport,
    CollectiveReport,
    EstimateReport,
    Input,
    Tool,
)
from clusterspec.results.provenance import Provenance
from clusterspec.results.redaction import redact
from clusterspec.source import Source
from clusterspec.spec.model import Spec
from clusterspec.spec.reader import read
from clusterspec.spec.schema import schema

if TYPE_CHECKING:
    from clusterspec.cost.collectives import CollectiveRow
    from clusterspec.cost.measured import Measurement
    from clusterspec.results.acceptance import PlannedTest
    from clusterspec.results.cost import CostReport
    from clusterspec.results.full import FullReport
    from clusterspec.results.influence import Influence
    from clusterspec.results.search import SensitivityReport
    from clusterspec.rules.policy import OwnRule


def as_written(document: Document) -> Document:
    """The document itself: every waiver in it counts."""
    return document


@dataclass(frozen=True, slots=True)
class Settings:
    """What every command shares: the catalog, the configuration, the day, and whose waivers count.

    ``trusted`` takes out of a document the comments whose waivers do not count.
    """

    catalog: Catalog
    config: Config
    today: date
    trusted: Callable[[Document], Document] = as_written
    own_rules: tuple[OwnRule, ...] = ()

    @classmethod
    def of(cls, folder: FilePath, catalogs: Sequence[FilePath] = (), today: date | None = None) -> Settings:
        """The settings that hold for a folder, company catalogs over the configured ones.

        Raises `ConfigFault`, and `NotADirectoryError` for a catalog folder that is not there.
        """
        config = discover(folder)
        return cls(Catalog.open([*config.catalog, *catalogs]), config, today or datetime.now(UTC).date())

    def switch(self, id_: str) -> Switch | None:
        """The catalog entry of a switch; None where there is none."""
        entry = self.catalog.find("switch", id_)
        return entry if isinstance(entry, Switch) else None

    @property
    def tool(self) -> Tool:
        return Tool(clusterspec.__version__, self.catalog.version)


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found in one file: all that a report of many files keeps of a study.

    ``fault`` is what went wrong in a rule of ours; the findings are those of the others.
    """

    input: Input
    findings: tuple[Finding, ...]
    sources: Mapping[str, Source]
    fault: Exception | None = None
    waived: tuple[Waived, ...] = ()


@dataclass(frozen=True)
class Study:
    """One spec on its way up the stairs. What a stage could not do is ``None``."""

    settings: Settings
    input: Input
    source: Source
    document: Document | None
    spec: Spec
    design: Design
    problems: tuple[Problem, ...]
    folder: FilePath = field(default_factory=FilePath.cwd)
    measurements: tuple[Measurement, ...] = ()
    """What `measured:` holds, logs read; the design reaches what they show."""

    @property
    def sources(self) -> dict[str, Source]:
        """Every text that a finding may point into."""
        return {self.source.name: self.source} | (dict(self.document.sources) if self.document else {})

    @cached_property
    def plan(self) -> Plan:
        """What the design costs; worked out when somebody first asks."""
        from clusterspec.cost.estimate import estimate

        return estimate(self.design)

    @cached_property
    def checked(self) -> Checked:
        """Everything there is to say of this file: settled, waived, chosen and in order of place.

        Raises `BrokenEntry` where a rule needs an entry of a company's catalog that cannot be read.
        """
        found, fault = self._judged()
        problems = rules.bounded((*self._read(), *found))
        settled = [places.settle(problem, self.document, self.source) for problem in problems]
        waived: list[Waived] = []
        if self.document is not None:
            document = self.settings.trusted(self.document)
            settled, waived = waivers.split(settled, document, self.settings.today, known=rules.may_be_waived)
        config = self.settings.config
        findings = tuple(sorted(rules.bounded(rules.choose(settled, config)), key=_by_place))
        chosen = (replace(one, finding=found) for one in waived for found in rules.choose([one.finding], config))
        return Checked(self.input, findings, self.sources, fault, tuple(chosen))

    def _read(self) -> Iterable[Problem]:
        """What reading found, with the catalog's reading of headline figures."""
        document = self.document
        if document is None:
            return self.problems
        return rules.name_headlines(self.problems, self.facts(), lambda path: places.text_at(document, path))

    def _own(self) -> list[Problem]:
        """What the rules of a company find."""
        if not self.settings.own_rules:
            return []
        from clusterspec.results.estimate_json import body
        from clusterspec.rules.policy import judge_own

        written = self.document.value if self.document is not None else None
        return judge_own(self.settings.own_rules, body(self.plan) | {"spec": written})

    def _judged(self) -> tuple[list[Problem], Exception | None]:
        try:
            facts = self.facts()
            found = rules.judge(facts)
            return [*found, *rules.judge_incomplete(facts, (*self.problems, *found)), *self._own()], None
        except rules.RulesFailedError as crash:
            if isinstance(crash.__cause__, BrokenEntry):
                raise crash.__cause__ from None
            return crash.problems, crash

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found. Raises what went wrong in a rule of ours, so that nobody takes silence for praise."""
        if self.checked.fault is not None:
            raise self.checked.fault
        return self.checked.findings

    def facts(self) -> rules.Facts:
        """What rules may know."""
        return rules.Facts(
            spec=self.spec,
            catalog=self.settings.catalog,
            design=self.design,
            today=self.settings.today,
            estimated=lambda: self.plan if rules.estimable(self.spec) else None,
            thresholds=self.settings.config.thresholds,
            measurements=self.measurements,
        )


def _by_place(finding: Finding) -> tuple[str, int, int, int, str]:
    start = finding.span.start
    return (finding.span.file, start.line, start.column, finding.severity.rank, finding.rule)


def study(source: Source, data: bytes, settings: Settings, folder: FilePath) -> Study:
    """Takes one text as far up the stairs as it goes; ``folder`` is where its ``extends`` starts from."""
    document, problems = documents.load_source(source, folder, schema()["properties"])
    spec, found = read(document) if document is not None else (Spec(source.name), [])
    design, further = resolve(spec, settings.catalog) if document is not None else (Design(spec), [])
    design, measurements, unread = _measured(spec, design, folder)
    problems = [*problems, *found, *further, *unread]
    read_from = Input(source.name, data)
    return Study(settings, read_from, source, document, spec, design, tuple(problems), folder, measurements)


def study_document(document: Document, like: Study) -> Study:
    """A study of a changed document, under the settings, folder and measurements of another study."""
    spec, found = read(document)
    design, further = resolve(spec, like.settings.catalog)
    design, measurements, unread = _measured(spec, design, like.folder)
    problems = (*found, *further, *unread)
    return Study(like.settings, like.input, like.source, document, spec, design, problems, like.folder, measurements)


def _measured(spec: Spec, design: Design, folder: FilePath) -> tuple[Design, tuple[Measurement, ...], list[Problem]]:
    """The design with what was measured in place of what the catalog expects; logs lie in ``folder``."""
    if not spec.measured:
        return design, (), []
    from clusterspec.cost.measured import calibrated, settle

    measurements, problems = settle(spec.measured, design.cluster, folder)
    return calibrated(design, measurements), measurements, problems


def study_text(text: str, settings: Settings, name: str = "spec.yaml", folder: FilePath | None = None) -> Study:
    """A study of a text at hand."""
    return study(Source(name, text), text.encode("utf-8", "surrogateescape"), settings, folder or FilePath.cwd())


def study_file(path: FilePath, settings: Settings | None = None) -> Study:
    """A study of a file. Raises `OSError` when it cannot be read."""
    data = documents.read_bytes(path)
    folder = path.resolve().parent
    return study(documents.decode(str(path), data), data, settings or Settings.of(folder), folder)


def prose(source: Source, data: bytes, settings: Settings) -> Checked:
    """What is wrong with the quantities of running text."""
    from clusterspec.prose import judge

    problems = judge(source, settings.catalog, settings.today)
    settled = [places.settle(problem, None, source) for problem in rules.bounded(problems)]
    findings = tuple(sorted(rules.choose(settled, settings.config), key=_by_place))
    return Checked(Input(source.name, data), findings, {source.name: source})


def check(studies: Sequence[Study | Checked], settings: Settings) -> CheckReport:
    """The findings of all files in one report, those in a common base once."""
    findings = tuple(names.without_repeats([(one.input.name, one.findings) for one in studies]))
    sources = {name: source for one in studies for name, source in one.sources.items()}
    pointed = names.file_names(dict.fromkeys([*sources, *(finding.span.file for finding in findings)]))
    waived = tuple(each for one in studies for each in (one.checked if isinstance(one, Study) else one).waived)
    inputs = tuple(one.input for one in studies)
    return CheckReport(settings.tool, inputs, findings, sources, pointed, waived=waived)


def estimate(one: Study) -> EstimateReport:
    """What one design costs."""
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
    """A collective of some ranks over some sizes in bytes, ``asked`` as their author wrote them; no rows, and
    the reason, where the cluster cannot be resolved or its ranks are not connected.
    """
    from clusterspec.cost.collectives import NoWay, table

    rows: tuple[CollectiveRow, ...] = ()
    why = "the cluster cannot be resolved; `clusterspec check` says why"
    if one.design.cluster is not None:
        try:
            rows, why = table(one.design.cluster, name, ranks, sizes, algorithm), ""
        except NoWay as fault:
            why = str(fault)
    return CollectiveReport(one.settings.tool, one.input, rows, why, one.checked.findings, tuple(asked))


def bill(one: Study) -> BillReport:
    """What has to be bought, counted and priced."""
    from clusterspec.procurement.bill import bill as counted

    return BillReport(one.settings.tool, one.input, counted(one.design, one.settings.switch), one.checked.findings)


def cost(one: Study) -> CostReport:
    """What a design costs over its term, by year, by run and by token."""
    from clusterspec.procurement.bill import bill as counted
    from clusterspec.procurement.cost import cost as worked_out
    from clusterspec.procurement.neighbor import cheaper_neighbor
    from clusterspec.results.cost import CostReport

    items = counted(one.design, one.settings.switch)
    found = worked_out(one.design, one.plan, items)
    neighbor = cheaper_neighbor(one.design, items)
    return CostReport(one.settings.tool, one.input, found, neighbor, one.checked.findings)


def planned_tests(one: Study) -> tuple[PlannedTest, ...]:
    """The acceptance tests of the tiers that the machine has, each with its prediction and its command."""
    from clusterspec.procurement.acceptance import acceptance_tests
    from clusterspec.results.acceptance import planned

    tests = acceptance_tests(one.design.cluster) if one.design.cluster else ()
    rows = [(test, collective(one, test.collective, test.ranks, (test.size,)).rows) for test in tests]
    return tuple(planned(test, found[0]) for test, found in rows if found)


TENDER = "tender.yaml"
"""The name of a redacted spec, whatever file it was made from."""


def tender(one: Study) -> Study:
    """The study of the redacted spec: nothing computed from it can show what a tender must not show."""
    value = redact(one.document.value if one.document else None, one.spec.broken)
    return study_text(documents.dump(value), one.settings, TENDER, one.folder)


def report(
    one: Study,
    kind: str,
    audience: str | None = None,
    against: Sequence[Study] = (),
    *,
    live: bool = True,
    levers_of: Callable[[Study], SensitivityReport] | None = None,
) -> FullReport:
    """A report on one design, compared with others; its audience is the one asked for, else the spec's, else
    internal. Without ``live`` it lacks the tables that only figures in a browser read; ``levers_of`` moves the
    levers of the design that is shown.
    """
    written = one.design.spec.document.audience if one.design.spec.document else None
    readers = audience or written or "internal"
    shown = tender(one) if readers == "tender" else one
    others = [tender(other) if readers == "tender" else other for other in against]
    whole = _report(shown, kind, readers, live=live)
    if levers_of is not None and kind == "design":
        whole = replace(whole, sensitivity=levers_of(shown))
    return replace(whole, against=tuple(_compared(other, kind, readers) for other in others))


def _without_folders(one: Study) -> Provenance:
    """Provenance that names no folder of the author's machine."""
    return Provenance(one.document, one.settings.catalog, folders=False)


def _compared(one: Study, kind: str, audience: str) -> FullReport:
    """As much of a report as a comparison shows."""
    from clusterspec.results.areas import areas
    from clusterspec.results.full import FullReport
    from clusterspec.results.machine import machine
    from clusterspec.results.reliability import reliability

    cluster, counted = one.design.cluster, bill(one)
    power = one.design.spec.cluster.power if one.design.spec.cluster else None
    drawn = machine(cluster, counted.fabric, power) if cluster else None
    return FullReport(
        kind=kind,
        audience=audience,
        today=one.settings.today,
        text=one.source.text,
        estimate=replace(estimate(one), provenance=_without_folders(one)),
        bill=counted,
        cost=cost(one),
        areas=areas(one.plan, counted.bill, drawn.rack if drawn else None) if cluster else (),
        machine=drawn,
        reliability=reliability(one.plan),
    )


def _report(one: Study, kind: str, audience: str, *, live: bool) -> FullReport:
    from clusterspec.results.kernels import roofline
    from clusterspec.results.layout_grid import layout_grid
    from clusterspec.results.pod import pod
    from clusterspec.results.stage_memory import stage_memory
    from clusterspec.results.survival import survival
    from clusterspec.results.tiers import tiers

    catalog, cluster = one.settings.catalog, one.design.cluster
    power = one.design.spec.cluster.power if one.design.spec.cluster else None
    whole = replace(
        _compared(one, kind, audience),
        tiers=tiers(cluster, _without_folders(one)) if cluster else (),
        tests=planned_tests(one),
        influences=influences(one),
    )
    if kind != "design" or cluster is None:
        return whole
    return replace(
        whole,
        stages=stage_memory(one.plan),
        roofline=roofline(one.plan),
        layouts=layout_grid(one.plan, catalog),
        pod=pod(cluster, power.nodes_per_rack if power else None),
        survival=survival(one.design, catalog, live=live),
    )
