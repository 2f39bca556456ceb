"""Sweeps: the best layout for each point of a grid of specs."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, lru_cache
from itertools import product
from math import isfinite, prod
from pathlib import Path
from typing import Any

from clusterspec import document as documents
from clusterspec import resources, studies
from clusterspec.analysis.levers.keys import LEVERS, lever_of, uses_part
from clusterspec.analysis.searches.candidates import OF_ONE_MACHINE, OF_ONE_QUOTE, section_of_spec
from clusterspec.analysis.searches.layouts import best_layout
from clusterspec.analysis.searches.studied import StudyVariations, errors_of
from clusterspec.cluster.variation import Changes, lies_under_change
from clusterspec.document import Document, conforms, to_finding
from clusterspec.document.conforms import Schema
from clusterspec.document.schema import alternatives_text
from clusterspec.finding import Problem, Severity
from clusterspec.records import dataclass, replace
from clusterspec.results.levers import SweepRow
from clusterspec.results.search import LayoutRow
from clusterspec.source import Path as KeyPath
from clusterspec.source import Source, dotted_path
from clusterspec.spec import schema
from clusterspec.studies import Settings, Study, variation

MOST_POINTS = 100_000
IDENTITY = (("cluster", "platform"), ("cluster", "accelerator"))
"""Keys that identify the machine, and so determine which node prices apply."""

AT_LOAD = frozenset({"requests-queue", "target-missed-at-load"})
"""Rules about a load that the engines serve too slowly. Such a plan can run, and its figures are for that load."""


OF_JOB = "nodes"
"""The axis for the number of nodes of a job, which `solve` also varies."""


class SweepFault(ValueError):
    """Raised for an invalid sweep file, with a one-line message."""


@dataclass(frozen=True)
class Axes:
    """A base spec and the values of some of its keys. With ``best_layout``, every point uses its best layout, else the
    layout of the spec."""

    base: Path
    axes: tuple[tuple[str, tuple[object, ...]], ...]
    best_layout: bool

    @property
    def size(self) -> int:
        return prod(len(values) for _, values in self.axes)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.axes)

    def points(self) -> Iterator[tuple[object, ...]]:
        """Every combination of values, the last axis varying fastest."""
        yield from product(*(values for _, values in self.axes))


def read_axes(path: Path) -> Axes:
    """The axes of a sweep file; its base is relative to it. Raises `SweepFault` with file, line and column, and
    `OSError` if the file cannot be read."""
    source = documents.decode(str(path), documents.read_bytes(path))
    document, problems = documents.parse(source)
    if document is None:
        raise _sweep_fault(problems[0], document, source)
    problems = [*problems, *documents.validate(document, sweep_schema()), *_axis_problems(document.value)]
    if problems:
        raise _sweep_fault(problems[0], document, source)
    value: dict[str, Any] = document.value
    base, best = path.parent / value["base"], value.get("layout", "best") == "best"
    axes = tuple((_axis_name(name, base, best_layout=best), tuple(values)) for name, values in value["axes"].items())
    found = Axes(base, axes, best)
    if not axes or found.size > MOST_POINTS:
        number = f"{found.size:,} points; the maximum is {MOST_POINTS:,}" if axes else "`axes` names no key"
        raise _sweep_fault(Problem("wrong-type", ("axes",), number, ""), document, source)
    return found


def _axis_name(name: str, base: Path, *, best_layout: bool) -> str:
    """The dotted path of an axis. If the base's job uses only part of its cluster, `nodes` keeps its name, as in
    `solve`.
    """
    if name == OF_JOB and not best_layout and base.is_file() and uses_part(_base_study(base, ()).design):
        return name
    return dotted_path(key_path(name))


@cache
def sweep_schema() -> Schema:
    """The schema of a sweep file."""
    loaded: Schema = json.loads((resources.schemas() / "sweep.schema.json").read_text("utf-8"))
    return loaded


def _sweep_fault(problem: Problem, document: Document | None, source: Source) -> SweepFault:
    """The first problem of a sweep file: its place and the remedy, in one line."""
    return SweepFault(located_text(problem, document, source))


def located_text(problem: Problem, document: Document | None, source: Source) -> str:
    """A problem with its place and remedy, in one line."""
    found = to_finding(problem, document, source)
    at = found.span.start
    advice = f"; {found.help}" if found.help else ""
    return f"{source.name}:{at.line}:{at.column}: {found.message}{advice}"


def _axis_problems(value: object) -> Iterator[Problem]:
    """The problems of axes that are not keys of a spec, or have values that are not finite or not valid for the key."""
    axes = value.get("axes") if isinstance(value, dict) else None
    for name, values in axes.items() if isinstance(axes, dict) else ():
        if unknown := unknown_key_problem(("axes", name), name):
            yield unknown
        elif not _is_finite(values):
            yield Problem("wrong-type", ("axes", name), f"{name} has a value that is not finite", "")
        elif isinstance(values, list):
            node = conforms.node_at(schema(), key_path(name))
            for at, each in enumerate(values):
                if isinstance(each, str | int | float) and not conforms.conforms(each, node, schema()):
                    message = f"{name} does not take the value {str(each)[:80]!r}"
                    yield Problem("wrong-type", ("axes", name, at), message, "docs/spec.md has the values of each key")


def unknown_key_problem(place: KeyPath, name: str) -> Problem | None:
    """The problem at a place that names a key which the spec does not have; None if it has the key."""
    if conforms.node_at(schema(), key_path(name)):
        return None
    near = get_close_matches(name[:80], _dotted_keys(), n=2, cutoff=0.6)
    advice = f"did you mean {alternatives_text(near)}?" if near else "write a dotted path, such as cluster.nodes"
    return Problem("unknown-key", place, f"the spec has no key {name[:80]!r}", advice, at_key=True)


def key_path(name: str) -> KeyPath:
    """The path of an axis: the key path of a lever's name, else the dotted path.

    >>> key_path("nodes"), key_path("workload.precision")
    (('cluster', 'nodes'), ('workload', 'precision'))
    """
    return LEVERS[name].path if name in LEVERS else tuple(name.split("."))


@cache
def _dotted_keys() -> tuple[str, ...]:
    """The dotted paths of the keys of a spec in mappings, and the names that `solve` takes."""
    found: list[str] = [*LEVERS]
    waiting: list[tuple[KeyPath, Schema]] = [((), schema())]
    for path, node in waiting:
        for name, sub in conforms.mapping_keys(node, schema()).items():
            found.append(dotted_path((*path, name)))
            if len(path) < 3:
                waiting.append(((*path, name), conforms.resolved_node(sub, schema())))
    return tuple(found)


def _is_finite(value: object) -> bool:
    """Whether all numbers in a value are finite."""
    if isinstance(value, dict | list):
        return all(map(_is_finite, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, float) or isfinite(value)


def sweep(axes: Axes, catalogs: tuple[Path, ...] = ()) -> Iterator[SweepRow]:
    """The row of every point, the last axis varying fastest."""
    return (row_of_point(axes, values, catalogs) for values in axes.points())


def row_of_point(axes: Axes, values: Sequence[object], catalogs: tuple[Path, ...] = ()) -> SweepRow:
    """A point of a sweep; results that cannot be computed are None, with the reason, an internal error too."""
    base, row = _base_study(axes.base, catalogs), SweepRow(dict(zip(axes.names, values, strict=True)))
    base.failures.clear()
    found = base.part("point", lambda: _point_row(base, axes, row), row)
    if not base.failures:
        return found
    name, fault = base.failures[0]
    reason = next(iter(str(fault).splitlines()), "")
    return replace(found, why=f"internal error: {name}: {type(fault).__name__}: {reason}", failed=True)


def _point_row(study: Study, axes: Axes, row: SweepRow) -> SweepRow:
    """The row of a point with its results."""
    assert study.document is not None
    changes = _changes_of_point(study, row.axes)
    studied, varied = StudyVariations(study), variation.rewritten_study(study, changes)
    found = _row_with_figures(studied, varied, axes, row, changes)
    return found if _prices_machine(varied) or not _prices_machine(study) else replace(found, cost=None)


def _prices_machine(study: Study) -> bool:
    """Whether a spec states a price for its nodes. Without one, its cost does not include the machine."""
    prices = section_of_spec(study, "procurement").get("prices")
    return isinstance(prices, dict) and any(prices.get(key) is not None for key in ("node", "node_hour"))


def _row_with_figures(studied: StudyVariations, varied: Study, axes: Axes, row: SweepRow, changes: Changes) -> SweepRow:
    if axes.best_layout:
        return _row_of_best_layout(studied, varied, row, changes)
    refused = studied.refusing_rules(varied)
    runs = varied.has_figures and varied.plan.fits is not False and AT_LOAD.issuperset(refused)
    if refused and not runs:
        exceeds = varied.has_figures and varied.plan.fits is False
        held = varied.plan.memory_bytes if exceeds else None
        return row.refused_row(held, False if exceeds else None, refused, _refusal_reason(varied, refused, changes))
    return replace(row.row_of_layout(_row_as_written(varied, studied)), errors=tuple(sorted(errors_of(varied))))


def _changes_of_point(base: Study, axes: Mapping[str, object]) -> Changes:
    """The values of a point by their paths. A point on another machine drops the prices and the quote of the base."""
    changes: Changes = {tuple(name.split(".")): value for name, value in axes.items() if name != OF_JOB}
    if OF_JOB in axes:
        lever = lever_of(OF_JOB, base.design)
        made = lever.changes(float(str(axes[OF_JOB])))
        changes = {**{path: variation.plain_value(each) for path, each in made.items()}, **changes}
    stated = {("cluster", key): value for key, value in section_of_spec(base, "cluster").items()}
    if all(changes[path] == stated.get(path) for path in IDENTITY if path in changes):
        return changes
    terms = section_of_spec(base, "procurement")
    prices = terms.get("prices")
    paths: list[KeyPath] = [("procurement", key) for key in OF_ONE_QUOTE if key in terms]
    paths += [("procurement", "prices", key) for key in OF_ONE_MACHINE if isinstance(prices, dict) and key in prices]
    return {**dict.fromkeys(paths), **changes}


def _row_of_best_layout(studied: StudyVariations, varied: Study, row: SweepRow, changes: Changes) -> SweepRow:
    """The row of the best layout of a point; without figures where the machine or the workload has errors."""
    alone = StudyVariations(varied).with_layout(None)
    refused = tuple(sorted(errors_of(alone) - StudyVariations(studied.one).machine_errors)) or _unreadable_rules(varied)
    if refused:
        return row.refused_row(None, None, refused, _refusal_reason(varied, refused, changes))
    report, found = best_layout(varied)
    return row.row_of_layout(found) if found is not None else row.without_layout(report.why)


def _unreadable_rules(study: Study) -> tuple[str, ...]:
    """The rules that report unreadable or unknown keys on which figures would depend."""
    if study.has_figures:
        return ()
    unread = (one for one in study.problems if one.severity is Severity.ERROR)
    return tuple(sorted({one.rule for one in unread if one.path[:1] != ("layout",)}))


def _refusal_reason(study: Study, rules: Collection[str], changes: Changes) -> str:
    """The first error of a refused point, of a changed key if there is one, with the name of its rule."""
    found = [one for one in study.errors if one.rule in rules]
    first = min(found, key=lambda one: not lies_under_change(one.path, changes), default=None)
    return f"{first.rule}: {first.message}" if first else ", ".join(rules)


def _row_as_written(study: Study, base: StudyVariations) -> LayoutRow:
    """The row of a study as its spec describes it."""
    plan = study.plan
    if plan.serving is not None:
        from clusterspec.analysis.searches.serving import present_row

        return present_row(StudyVariations(study))
    layout = study.document.value.get("layout") or {} if study.document else {}
    cost = base.cost(study.design, plan)
    held, errors = (plan.memory_bytes, plan.fits), tuple(sorted(errors_of(study)))
    return LayoutRow(layout, plan.whole_step.seconds, None, None, plan.whole_step.mfu, *held, cost, errors=errors)


@lru_cache(maxsize=4)
def _base_study(path: Path, catalogs: tuple[Path, ...]) -> Study:
    return studies.study_file(path, Settings.from_folder(path.resolve().parent, catalogs))
