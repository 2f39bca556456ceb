"""Sweeps: the best layout for each point of a grid of specs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import product
from math import isfinite, prod
from pathlib import Path

from clusterspec import document as documents
from clusterspec import pipeline
from clusterspec.cluster.variation import Changes, under
from clusterspec.document import schema_nodes
from clusterspec.exploration.layouts import SearchOptions, search
from clusterspec.exploration.studied import Studied, errors_of
from clusterspec.pipeline import Settings, Study
from clusterspec.records import dataclass, replace
from clusterspec.results.search import LayoutRow, SweepRow
from clusterspec.spec.schema import schema

MOST_POINTS = 100_000
KEYS = ("base", "axes", "layout")


class SweepFault(ValueError):
    """Raised for an invalid sweep file, with a one-line message."""


@dataclass(frozen=True, slots=True)
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
    """The axes of a sweep file; its base is relative to it. Raises `SweepFault`, and `OSError` if the file cannot be
    read."""
    data = documents.read_bytes(path)
    document, problems = documents.parse(documents.decode(str(path), data))
    if document is None or problems:
        raise SweepFault(f"{path}: {problems[0].message if problems else 'no YAML'}")
    value = document.value
    if not isinstance(value, dict) or set(value) - set(KEYS) or not {"base", "axes"} <= set(value):
        raise SweepFault(f"{path}: a sweep file has the keys `base` (a spec), `axes`, and `layout` (best or fixed)")
    axes, layout = value["axes"], value.get("layout", "best")
    if not isinstance(value["base"], str) or layout not in ("best", "fixed"):
        raise SweepFault(f"{path}: `base` names a spec, and `layout` is best or fixed")
    if not isinstance(axes, dict) or not axes or not all(isinstance(each, list) and each for each in axes.values()):
        raise SweepFault(f"{path}: `axes` maps keys of the spec, such as cluster.nodes, to lists of values")
    for name, values in axes.items():
        if not schema_nodes.at(schema(), tuple(name.split("."))):
            raise SweepFault(f"{path}: the spec has no key {name[:80]!r}")
        if not _finite(values):
            raise SweepFault(f"{path}: {name} has a value that is not finite")
    found = Axes(path.parent / value["base"], tuple((k, tuple(v)) for k, v in axes.items()), layout == "best")
    if found.size > MOST_POINTS:
        raise SweepFault(f"{path}: {found.size:,} points; the maximum is {MOST_POINTS:,}")
    return found


def _finite(value: object) -> bool:
    """Whether all numbers in a value are finite."""
    if isinstance(value, dict | list):
        return all(map(_finite, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, float) or isfinite(value)


def point(axes: Axes, values: Sequence[object], catalogs: tuple[Path, ...] = ()) -> SweepRow:
    """A point of a sweep; results that cannot be computed are None, with the reason."""
    one = _base(axes.base, catalogs)
    assert one.document is not None
    changes: Changes = {tuple(name.split(".")): value for name, value in zip(axes.names, values, strict=True)}
    studied, varied = Studied(one), pipeline.rewritten(one, changes)
    row = SweepRow(dict(zip(axes.names, values, strict=True)))
    if axes.best_layout:
        return _best(studied, varied, row, changes)
    refused = studied.refused(varied)
    if refused:
        held = (varied.plan.memory_bytes, varied.plan.fits) if varied.possible else (None, None)
        return row.refused(*held, refused, _reason(varied, refused, changes))
    return replace(row.of(_fixed(varied, studied)), errors=tuple(sorted(errors_of(varied))))


def _best(studied: Studied, varied: Study, row: SweepRow, changes: Changes) -> SweepRow:
    """The row of the best layout of a point; without figures where the machine or the workload has errors."""
    alone = Studied(varied).with_layout(None)
    refused = tuple(sorted(errors_of(alone) - Studied(studied.one).machine_errors)) or _unreadable(varied)
    if refused:
        return row.refused(None, None, refused, _reason(varied, refused, changes))
    report = search(varied, SearchOptions({}, top=1))
    found = next(iter(report.layouts), None)
    if found is None:
        return row.without(report.why)
    return replace(row.of(found), errors=tuple(sorted(errors_of(alone))))


def _unreadable(study: Study) -> tuple[str, ...]:
    """The rules that report a key as unreadable or unknown, on which figures would rest."""
    if study.possible:
        return ()
    return tuple(sorted({one.rule for one in study.found_errors if one.path[:1] != ("layout",)}))


def _reason(study: Study, refused: Collection[str], changes: Changes) -> str:
    """The first error of a refused point, of a changed key if there is one, with the name of its rule."""
    found = [one for one in study.found_errors if one.rule in refused]
    first = min(found, key=lambda one: not under(one.path, changes), default=None)
    return f"{first.rule}: {first.message}" if first else ", ".join(refused)


def _fixed(study: Study, base: Studied) -> LayoutRow:
    """The row of a study as its spec describes it."""
    plan = study.plan
    if plan.serving is not None:
        from clusterspec.exploration.serving import present

        return present(Studied(study))
    layout = study.document.value.get("layout") or {} if study.document else {}
    cost = base.cost(study.design, plan)
    return LayoutRow(layout, plan.step_seconds, None, None, plan.mfu, plan.memory_bytes, plan.fits, cost)


@lru_cache(maxsize=4)
def _base(path: Path, catalogs: tuple[Path, ...]) -> Study:
    return pipeline.study_file(path, Settings.of(path.resolve().parent, catalogs))
