"""The layouts that a search proposes: candidates in the order of the objective, each checked by all rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from math import inf
from typing import Generic, TypeVar

from clusterspec.analysis.searches.space.families import layout_of, section_of
from clusterspec.analysis.searches.space.kept import Kept
from clusterspec.analysis.searches.space.run import SearchResult
from clusterspec.analysis.searches.studied import POOLS, SearchJob, Space, StudyVariations, errors_of
from clusterspec.cost.plan import TIE
from clusterspec.finding import Finding, Severity
from clusterspec.records import dataclass
from clusterspec.studies import Study

MORE_CHECKS = 12
"""Maximum number of candidates to check in addition to twice the number shown, if rules object to too many."""
LEAST_CHECKS = 32
"""Number of candidates to check even if fewer are shown, unless enough have no objection."""
VARIED = (
    *("tp", "cp", "ep", "expert_tp", "pp", "virtual_stages", "micro_batch"),
    *("sharding", "shard_group", "recompute", "schedule"),
)
"""The settings of a layout that a search varies, in addition to the order of the axes."""
OPERATIONAL_SECTIONS = (("operations",), ("procurement",), ("acceptance",))
"""Sections whose errors do not prevent a layout from running. Such errors are listed with each layout and exclude none.
"""
K = TypeVar("K")


@dataclass(frozen=True)
class Candidate(Generic[K]):
    """A layout of a search in place of the spec's.

    ``study`` is its design. It lists the rules with an error that keeps it from running, unless the machine alone has
    that error. Findings about the layout are separate from all others.
    """

    kept: K
    study: Study
    errors: frozenset[str]
    layout: tuple[Finding, ...]
    other: tuple[Finding, ...]

    @classmethod
    def of(cls, item: K, study: Study, studied: StudyVariations, ignored: frozenset[str] = frozenset()) -> Candidate[K]:
        """A candidate with the findings of its check, except those of rules in ``ignored``."""
        counted = [each for each in study.checked.findings if each.rule not in ignored]
        layout = tuple(each for each in counted if each.path[:1] == ("layout",) or each.path[:3] == POOLS)
        other = tuple(each for each in counted if each not in layout)
        errors = errors_of(study) - studied.machine_errors - ignored - _harmless_errors(counted)
        return cls(item, study, errors, layout, other)

    @property
    def finding_rules(self) -> tuple[str, ...]:
        """The rules with a finding, those about the layout first."""
        return tuple(dict.fromkeys(each.rule for each in (*self.layout, *self.other)))

    @property
    def severity_counts(self) -> tuple[int, ...]:
        """The number of findings about the layout by severity, errors first."""
        counted = Counter(each.severity.rank for each in self.layout)
        return tuple(counted[rank] for rank in range(3))

    @property
    def objection_counts(self) -> tuple[int, ...]:
        """The number of errors and of warnings about the layout: a note is no objection."""
        return self.severity_counts[:2]


def _harmless_errors(findings: Sequence[Finding]) -> set[str]:
    """The rules whose errors are all in sections that keep no layout from running."""
    errors = [each for each in findings if each.severity is Severity.ERROR]
    return {each.rule for each in errors} - {each.rule for each in errors if each.path[:1] not in OPERATIONAL_SECTIONS}


class Picks(Generic[K]):
    """Checks candidates one after another, and chooses those to show."""

    def __init__(self, top: int) -> None:
        self.top = top
        self.checked: list[Candidate[K]] = []
        self.refused: Counter[str] = Counter()
        """The rules that refuse candidates, each candidate by one of them."""
        self._first_refused: Candidate[K] | None = None

    @property
    def without_objection(self) -> list[Candidate[K]]:
        """The candidates without an objection."""
        return [each for each in self.checked if not any(each.objection_counts)]

    @property
    def best_refused(self) -> Candidate[K] | None:
        """The first candidate, if the rules refuse all; else None."""
        return None if self.checked else self._first_refused

    def add(self, candidate: Candidate[K]) -> None:
        """Adds a candidate, unless a rule finds an error in it."""
        if candidate.errors:
            self.refused.update(sorted(candidate.errors)[:1])
            self._first_refused = self._first_refused or candidate
        else:
            self.checked.append(candidate)

    @property
    def best_candidates(self) -> list[Candidate[K]]:
        """The candidates to show, sorted by their numbers of errors and warnings, and otherwise in their order.

        Notes do not change the order, because the predicted step already includes the time that they report.
        """
        return sorted(self.checked, key=lambda each: each.objection_counts)[: self.top]


def training_picks(
    studied: StudyVariations, job: SearchJob, space: Space, result: SearchResult, top: int
) -> Picks[Kept]:
    """The checked layouts of a search: the first ``top`` that pass the rules, or else the nearest ones.

    If the search is incomplete, only layouts that rank before any missing layout are checked.
    """
    picks: Picks[Kept] = Picks(top)
    ordered = tie_order(job, space, (*result.best, *result.front), result.complete_to)
    _check_layouts(picks, studied, job, space, ordered[: max(2 * top + MORE_CHECKS, LEAST_CHECKS)], count=top)
    if not picks.without_objection and result.complete_to == inf:
        others = _other_layouts(picks, job, space, result.near)
        _check_layouts(picks, studied, job, space, others, count=1)
    return picks


def _check_layouts(
    picks: Picks[Kept], studied: StudyVariations, job: SearchJob, space: Space, layouts: Iterable[Kept], *, count: int
) -> None:
    """Checks layouts within the range of the first one, until ``count`` have no objection.

    Of layouts that are tied and differ only in the order of their axes, the first is checked.
    """
    least: dict[tuple[object, ...], float] = {}
    for kept in layouts:
        if len(picks.without_objection) >= count:
            return
        settings = tuple(_layout_settings(job, space, kept))
        if kept.key >= least.get(settings, inf) / (1 + TIE) or _is_out_of_range(picks, kept):
            continue
        least[settings] = kept.key
        candidate = candidate_of(studied, job, space, kept)
        if candidate is not None:
            picks.add(candidate)


def _other_layouts(picks: Picks[Kept], job: SearchJob, space: Space, near: Sequence[Kept]) -> list[Kept]:
    """The best layouts with a setting, then with a pair of settings, that none of the checked layouts has."""
    settings = [_layout_settings(job, space, each) for each in near]
    found: list[int] = []
    for size, most in ((1, 2 * MORE_CHECKS), (2, 3 * MORE_CHECKS)):
        known = {each for one in picks.checked for each in combinations(_layout_settings(job, space, one.kept), size)}
        known |= {each for at in found for each in combinations(settings[at], size)}
        for at, some in enumerate(settings):
            fresh = set(combinations(some, size)) - known
            if fresh and len(found) < most:
                known |= fresh
                found.append(at)
    return [near[at] for at in found]


def _layout_settings(job: SearchJob, space: Space, candidate: Kept) -> list[tuple[str, object]]:
    """The settings of a layout, except the order of its axes."""
    layout = layout_of(job, space.choice(candidate.number))
    return [(key, getattr(layout, key)) for key in VARIED]


def _is_out_of_range(picks: Picks[Kept], layout: Kept) -> bool:
    """Whether a layout is slower than the upper end of the first layout's range."""
    span = picks.checked[0].study.plan.step_time_range if picks.checked else None
    return span is not None and layout.step_time > span[1]


def candidate_of(studied: StudyVariations, job: SearchJob, space: Space, layout: Kept) -> Candidate[Kept] | None:
    """A layout that the search kept, with its findings. If its check fails, the result is None and the study notes the
    failure.
    """
    section = section_of(job, space.choice(layout.number))
    part = f"layout {section}"
    return studied.one.part(part, lambda: Candidate.of(layout, studied.with_layout(section), studied), None)


def tie_order(job: SearchJob, space: Space, layouts: Iterable[Kept], end: float = inf) -> list[Kept]:
    """The layouts by key. Layouts within `TIE` of the first of a group are ordered by memory, then by the number of
    keys they set.

    Groups that may have a key above ``end`` are omitted.
    """
    rest = sorted({each.number: each for each in layouts}.values(), key=lambda each: each.key)
    found: list[Kept] = []
    while rest and (most := rest[0].key * (1 + TIE)) <= end:
        size = next((at for at, each in enumerate(rest) if each.key > most), len(rest))
        found += sorted(rest[:size], key=lambda each: _preference_key(job, space, each))
        rest = rest[size:]
    return found


def _preference_key(job: SearchJob, space: Space, layout: Kept) -> tuple[float, int, float, int]:
    keys = len(section_of(job, space.choice(layout.number)))
    return layout.memory, keys, layout.step_time, layout.number


def tied_layouts(layouts: Sequence[Kept]) -> list[Kept]:
    """The layouts whose key is within `TIE` of the best."""
    least = min(each.key for each in layouts)
    return [each for each in layouts if each.key <= least * (1 + TIE)]


def refusing_text(counts: Counter[str]) -> str:
    """The rules that refuse candidates, most frequent first, with a colon before them; empty if there are none.

    >>> refusing_text(Counter({"batch-indivisible": 2, "heads-indivisible": 7}))
    ': heads-indivisible, batch-indivisible'
    >>> refusing_text(Counter("abcd"))
    ': a, b, c and 1 more'
    """
    names = [name for name, _ in counts.most_common()]
    more = f" and {len(names) - MOST_REFUSING} more" if len(names) > MOST_REFUSING else ""
    return f": {', '.join(names[:MOST_REFUSING])}{more}" if names else ""


MOST_REFUSING = 3
