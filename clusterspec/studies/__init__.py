"""Studies: a spec resolved as far as possible, with findings, waivers and plan, and the single way to vary it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path as FilePath

import clusterspec
from clusterspec import document as documents
from clusterspec import rules
from clusterspec.catalog import BrokenEntry, Catalog
from clusterspec.cluster.model import Design
from clusterspec.cluster.variation import design_of_spec
from clusterspec.config import Config, discover
from clusterspec.document import Document, model, place_of_base, with_hidden_keys
from clusterspec.document.schema import describes_fleet, describes_one_design
from clusterspec.finding import Finding, Problem, Severity
from clusterspec.records import dataclass, field, replace
from clusterspec.results import Input, Tool
from clusterspec.source import Path, Source, Span
from clusterspec.spec import read, schema
from clusterspec.spec.model import Spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from clusterspec.cost.measured import Measurement
    from clusterspec.cost.plan import Plan
    from clusterspec.document.waivers import WaivedFinding
    from clusterspec.rules.policy import CompanyRule
    from clusterspec.studies.fleet import FleetStudy
    from clusterspec.studies.fleet_parts import FleetPart

    Part = TypeVar("Part")


def as_written(document: Document) -> Document:
    """The document unchanged, so that all its waivers apply."""
    return document


@dataclass(frozen=True)
class Settings:
    """The settings shared by all commands: catalog, configuration, date, and which waivers apply.

    ``trusted`` removes the comments from a document whose waivers do not apply.
    """

    catalog: Catalog
    config: Config
    today: date
    trusted: Callable[[Document], Document] = as_written
    own_rules: tuple[CompanyRule, ...] = ()

    @classmethod
    def from_folder(cls, folder: FilePath, catalogs: Sequence[FilePath] = (), today: date | None = None) -> Settings:
        """The settings of a folder; ``catalogs`` have precedence over configured ones.

        Raises `ConfigFault`, and `NotADirectoryError` if a catalog folder does not exist.
        """
        config = discover(folder)
        return cls(Catalog.open([*config.catalog, *catalogs]), config, today or datetime.now(UTC).date())

    @property
    def tool(self) -> Tool:
        return Tool(clusterspec.__version__, self.catalog.version)


@dataclass(frozen=True)
class CheckedFile:
    """The findings of one file, as kept by a report of many files.

    ``fault`` is the exception of a rule that failed; the findings come from the other rules. ``logs`` are the names
    of the logs of measurements, ``extends`` is the place of the name of the base.
    """

    input: Input
    findings: tuple[Finding, ...]
    sources: Mapping[str, Source]
    fault: Exception | None = None
    waived: tuple[WaivedFinding, ...] = ()
    logs: tuple[str, ...] = ()
    extends: Span | None = None


@dataclass(frozen=True)
class Study:
    """A spec, resolved as far as possible. The result of a stage that failed is ``None``."""

    settings: Settings
    input: Input
    source: Source
    document: Document | None
    spec: Spec
    design: Design
    problems: tuple[Problem, ...]
    folder: FilePath = field(default_factory=FilePath.cwd)
    measurements: tuple[Measurement, ...] = ()
    """The section `measured:` with its logs read; the design uses the measured shares."""
    loading: tuple[Problem, ...] = ()
    """The problems of the texts, and of the logs of measurements."""
    reading: tuple[Problem, ...] = ()
    """The problems of keys and values; ``problems`` also has the problems of the catalog lookup."""
    failures: list[tuple[str, Exception]] = field(default_factory=list, compare=False, repr=False)
    """The parts of results that could not be computed because of an internal error, with the exception."""
    fleet_part: tuple[Document, FleetPart] | None = None
    """For a study of one pool or job of a fleet: the document of the fleet, and the place of the pool or job in it."""
    is_variation: bool = False
    """Whether keys differ from the text. The text's description may then state other numbers."""
    advises: bool = True
    """Whether findings have their remedies; some remedies need estimates of changed layouts."""

    @cached_property
    def fleet(self) -> FleetStudy | None:
        """The studies of the pools and jobs of a fleet; None for a spec of one cluster."""
        if self.document is None or self.fleet_part is not None or not describes_fleet(self.document.value):
            return None
        from clusterspec.studies.fleet import FleetStudy

        return FleetStudy(self, self.document)

    @property
    def sources(self) -> dict[str, Source]:
        """The texts that findings may refer to, by name."""
        return {self.source.name: self.source} | (dict(self.document.sources) if self.document else {})

    @property
    def logs(self) -> tuple[str, ...]:
        """The names of the logs of measurements."""
        if self.fleet is not None:
            return tuple(dict.fromkeys(log for each in self.fleet.jobs.values() for log in each.logs))
        named = (name for one in self.spec.measured or () for name in (one.log, one.step_log, one.load_test) if name)
        return tuple(str(self.folder / name) for name in named)

    @property
    def extends(self) -> Span | None:
        """The place of the name of the base; None without one."""
        return place_of_base(self.document, self.source)

    @cached_property
    def _planned(self) -> rules.PlannedDesign:
        return rules.PlannedDesign(self.design)

    @property
    def plan(self) -> Plan:
        """The plan of the design, without a time where the layout cannot run; computed on first access."""
        return self._planned.plan

    @cached_property
    def checked(self) -> CheckedFile:
        """The findings of this file, selected by the configuration, waived, and sorted by position.

        Raises `BrokenEntry` if a rule needs an unreadable entry of a company catalog.
        """
        problems = rules.bounded_problems(self.problems_in_file)
        written = self._whole_document
        findings = [model.to_finding(problem, written, self.source) for problem in problems]
        waived: list[WaivedFinding] = []
        document = None if written is None else self.settings.trusted(written)
        if document is not None and document.may_have_waivers:
            from clusterspec.document import waivers  # most specs have none

            findings, waived = waivers.open_and_waived(
                findings, document, self.settings.today, is_rule=self._exists, alike=self._similar_rules
            )
        if self.fleet_part is not None or self.is_variation:  # another part, or the spec as written, may need it
            findings = [finding for finding in findings if finding.rule != "unused-waiver"]
        config, configured = self.settings.config, rules.configured_findings
        selected = sorted(rules.bounded_problems(configured(findings, config)), key=Finding.place_and_rule)
        chosen = (replace(one, finding=found) for one in waived for found in configured([one.finding], config))
        fault = self.problems_and_fault[1]
        return CheckedFile(self.input, tuple(selected), self.sources, fault, tuple(chosen), self.logs, self.extends)

    @cached_property
    def unchecked(self) -> frozenset[str]:
        """The rules that do not run because the spec lacks a part that they need, or cannot be resolved."""
        return rules.unchecked_rules(self.facts())

    def _exists(self, rule: str) -> bool:
        """Whether a rule that a waiver names exists."""
        return rules.rule_exists(rule, [one.name for one in self.settings.own_rules])

    def _similar_rules(self, rule: str) -> list[str]:
        """The rule with the most similar name; none if no name is similar."""
        return rules.nearest_rules(rule, limit=1, others=[one.name for one in self.settings.own_rules])

    def _reading_problems(self) -> Iterable[Problem]:
        """The problems found while reading, and the problems with headline figures."""
        document = self.document
        if document is None:
            return self.problems
        return rules.name_headlines(self.problems, self.facts(), lambda path: model.text_at(document, path))

    def _company_problems(self) -> list[Problem]:
        """The problems found by company rules."""
        if not self.settings.own_rules:
            return []
        from clusterspec.rules.policy import company_figures, run_company_rules

        written = self.document.value if self.document is not None else None
        return run_company_rules(self.settings.own_rules, company_figures(self.plan, written))

    @cached_property
    def problems_and_fault(self) -> tuple[list[Problem], Exception | None]:
        """All problems, whatever the configuration selects, and the exception of a rule that failed."""
        if self.fleet is not None:
            return self.fleet.problems_and_fault
        found, fault = self._rule_problems()
        return [*self._reading_problems(), *found], fault

    @property
    def problems_in_file(self) -> list[Problem]:
        """All problems at the keys of the file; for a part of a fleet, these differ from the keys of its spec."""
        if self.fleet_part is None:
            return self.problems_and_fault[0]
        from clusterspec.studies.fleet_parts import problem_in_fleet

        return [problem_in_fleet(*self.fleet_part, problem) for problem in self.problems_and_fault[0]]

    @property
    def errors_before_waivers(self) -> dict[tuple[str, Path], Problem]:
        """The errors by rule and key path, whatever the configuration selects and whatever is waived."""
        return {(one.rule, one.path): one for one in self.problems_and_fault[0] if one.severity is Severity.ERROR}

    def _rule_problems(self) -> tuple[list[Problem], Exception | None]:
        """The problems of all rules, and the exception of the first that failed."""
        facts, faults = self.facts(), list[Exception]()
        with rules.collected_problems(faults) as found:
            found.extend(rules.run_rules(facts))
        with rules.collected_problems(faults) as further:
            further.extend(rules.check_incomplete(facts, (*self.problems, *found)))
        with rules.collected_problems(faults) as engines:
            engines.extend(self._engine_problems(facts))
        with rules.collected_problems(faults) as told:
            told.extend(self._description_problems())
        with rules.collected_problems(faults) as own:
            own.extend(self._company_problems())
        found = self._problems_at_engines(found)
        found = rules.unsuperseded_problems([*found, *told]) if told else found
        return [*found, *further, *engines, *own], next(iter(faults), None)

    def _problems_at_engines(self, problems: list[Problem]) -> list[Problem]:
        """Problems of the layout, moved to the keys of the decode engines if the layout is stated there."""
        if self.design.layout is None or not self.design.layout.separate_engines:
            return problems
        from clusterspec.studies.engines import problem_at_decode_engines

        return [problem_at_decode_engines(self.design, each) for each in problems]

    def _description_problems(self) -> list[Problem]:
        """The problems with figures of parts in the description."""
        text = self.spec.description
        if not text or self.design.cluster is None or not any(unit in text for unit in ("B/s", "b/s", "bps", "FLOP")):
            return []
        from clusterspec.studies.prose_files import described_figures

        return described_figures(text, self.design.cluster, self.settings)

    def _engine_problems(self, facts: rules.Facts) -> list[Problem]:
        """The problems with engines that the layout does not describe: of rollout, or for prefill."""
        workload = self.design.workload
        if workload is None or (workload.rl is None and (workload.serving is None or workload.serving.prefill is None)):
            return []
        from clusterspec.studies.engines import engine_problems

        return engine_problems(self.design, facts)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are errors, neither waived nor deselected. Raises the exception of a failed rule."""
        return tuple(found for found in self.findings if found.severity is Severity.ERROR)

    @cached_property
    def error_places(self) -> frozenset[tuple[str, Path]]:
        """The rule and key path of each error, neither waived nor deselected. Raises the exception of a failed rule."""
        if "checked" in vars(self) or self.fleet is not None or not self.advises:
            return frozenset((found.rule, found.path) for found in self.errors)
        judged = replace(self, advises=False)
        vars(judged)["_planned"] = self._planned
        return judged.error_places

    @cached_property
    def has_figures(self) -> bool:
        """Whether the design has figures: the keys they need are readable, all names known, and the layout can run."""
        errors = (problem for problem in self.problems if problem.severity is Severity.ERROR)
        unknown = any(problem.rule == "unknown-catalog-id" for problem in errors)
        return not unknown and rules.is_estimable(self.spec) and not self.plan.refused

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings. Raises the exception of a failed rule, so that missing findings are not taken as success."""
        if self.checked.fault is not None:
            raise self.checked.fault
        return self.checked.findings

    def part(self, name: str, compute: Callable[[], Part], otherwise: Part) -> Part:
        """A part of a result; ``otherwise``, and an entry of ``failures``, where its computation fails.

        Raises `BrokenEntry` for an unreadable entry of a company catalog.
        """
        with self.failure_noted(name):
            return compute()
        return otherwise

    @contextmanager
    def failure_noted(self, name: str) -> Iterator[None]:
        """Makes an exception an entry of ``failures``, except for the `BrokenEntry` of a company catalog."""
        try:
            yield
        except BrokenEntry:
            raise
        except Exception as fault:
            self.failures.append((name, fault))

    def facts(self) -> rules.Facts:
        """The input of rules."""
        return rules.Facts(
            spec=self.design.spec,
            catalog=self.settings.catalog,
            design=self.design,
            today=self.settings.today,
            planned=self._planned if rules.is_estimable(self.spec) else None,
            thresholds=self.settings.config.thresholds,
            measurements=self.measurements,
            description=self.spec.description,
            document=self._whole_document,
            describes_keys=self._describes_keys,
            advises=self.advises,
        )

    @property
    def remarks(self) -> str:
        """The text of the spec, or of its fleet, outside its keys: its description and its comments."""
        return self._whole_document.remarks if self._whole_document is not None else ""

    @property
    def _whole_document(self) -> Document | None:
        """The document of the spec, or of its fleet."""
        return self.fleet_part[0] if self.fleet_part else self.document

    @property
    def _describes_keys(self) -> bool:
        """Whether the texts outside the keys are about this design only, not about a variation or several parts."""
        return not self.is_variation and describes_one_design(self.fleet_part[0].value if self.fleet_part else {})


def study(source: Source, data: bytes, settings: Settings, folder: FilePath) -> Study:
    """A study of a text; ``folder`` is the base of its ``extends`` paths."""
    document, loaded = documents.load_source(source, folder, schema()["properties"])
    return resolved_study(ReadText(Input(source.name, data), source, settings, folder), document, tuple(loaded))


@dataclass(frozen=True)
class ReadText:
    """The text of a study with the settings with which it was read."""

    input: Input
    source: Source
    settings: Settings
    folder: FilePath


def resolved_study(
    text: ReadText, document: Document | None, loaded: tuple[Problem, ...], *, whole: bool = True, steps: bool = True
) -> Study:
    """The study of a document. For a ``whole`` fleet only the keys are read; its parts are resolved when used.
    Measured ``steps`` belong to the document's job."""
    spec, found = read(document) if document is not None else (Spec(text.source.name), [])
    if not whole:
        from clusterspec.studies.fleet_parts import problems_of_part

        found = problems_of_part(found)
    design, further = Design(spec, catalog=text.settings.catalog), list[Problem]()
    if document is not None and not (whole and describes_fleet(document.value)):
        design, further = _design_with_traces(spec, text)
    measurements: tuple[Measurement, ...] = ()
    unread: list[Problem] = []
    if spec.measured:
        from clusterspec.studies.named_files import design_calibrated_by_logs

        steps = steps and not (whole and spec.jobs)
        design, measurements, unread = design_calibrated_by_logs(spec, design, text.folder, steps=steps)
    found, further = with_hidden_keys(loaded, found), with_hidden_keys(loaded, further)
    known = text.settings, text.input, text.source, document, spec, design, (*loaded, *found, *further, *unread)
    return Study(*known, text.folder, measurements, (*loaded, *unread), tuple(found))


def _design_with_traces(spec: Spec, text: ReadText) -> tuple[Design, list[Problem]]:
    """The design of a spec with the request traces that it names, and its problems."""
    work = spec.workload
    if work is None or (work.serving is None and work.rl is None):  # no other workload has requests
        return design_of_spec(spec, text.settings.catalog)
    from clusterspec.studies.named_files import summarized_traces

    traces, unusable = summarized_traces(spec, text.folder)
    design, problems = design_of_spec(spec, text.settings.catalog, traces)
    return design, [*problems, *unusable]


def study_text(text: str, settings: Settings, name: str = "spec.yaml", folder: FilePath | None = None) -> Study:
    """A study of a string."""
    return study(Source(name, text), documents.encode(text), settings, folder or FilePath.cwd())


def study_file(path: FilePath, settings: Settings | None = None) -> Study:
    """A study of a file. Raises `OSError` if it cannot be read."""
    data = documents.read_bytes(path)
    folder = path.resolve().parent
    return study(documents.decode(str(path), data), data, settings or Settings.from_folder(folder), folder)
