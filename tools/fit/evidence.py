"""The number of sources behind a range, and the width of the range if one of them had not been published."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import takewhile
from math import hypot, sqrt

from clusterspec import resources
from clusterspec.cost.compute.rates import share_precision
from clusterspec.cost.estimate import PART_SPREAD, UNSEEN_KIND, UNSEEN_PART
from tools.accuracy.cases import published_runs
from tools.accuracy.split import BEFORE, training_source
from tools.fit.constants import rated_family, unfitted_runs
from tools.fit.runs import Run

CUSTOM = ".custom"
"""How the record of a program with a framework of its own ends: the catalog holds nothing of it."""


def effective_sources(counts: Collection[int]) -> float:
    """The number of sources with equally many runs that weigh as much as sources with ``counts`` runs, to which a rate
    is fitted run by run: (Σ n)² / Σ n² (Kish, Survey Sampling, 1965, section 11.7).

    >>> effective_sources([5, 5, 5]), round(effective_sources([10, 1, 1]), 2), effective_sources([])
    (3.0, 1.41, 0.0)
    """
    return sum(counts) ** 2 / sum(count**2 for count in counts) if counts else 0.0


def sources_before(source: str) -> frozenset[str]:
    """The sources that were entered before this one; those that were read before the split come first.

    >>> "bloom" in sources_before("nemo"), "modalities" in sources_before("nemo"), "nemo" in sources_before("nemo")
    (True, True, False)
    """
    entered = list(dict.fromkeys(training_source(run["id"]) for run in published_runs("new_runs")))
    return BEFORE | {*takewhile(lambda other: other != source, entered)}


def part_spread(sources: float) -> float:
    """The half-width that the range of a step gains on a chip used by this many sources of published runs, each with
    one weight.

    Without any it is `UNSEEN_PART`. What is taken from a source holds for its machines, and errors with it as much as
    another source's machines differ, so that the square falls as one over one more than their number: the variance of
    a mean whose prior is as wide as the scatter of one source (Gelman et al., Bayesian Data Analysis, 2013, section
    2.5). Errors of 52 sources left out of the fit hardly tell it from 1 / (1 + k / 2); their width is 0.4 to 0.5.

    >>> part_spread(0) == UNSEEN_PART.value, round(part_spread(1), 3), round(part_spread(8), 3)
    (True, 0.297, 0.14)
    """
    return UNSEEN_PART.value / sqrt(1 + sources)


@dataclass(frozen=True)
class Evidence:
    """The published runs of each source on the accelerators whose rate is fitted together, and the sources of each
    precision and framework on a family of chips.
    """

    chips: Mapping[str, Mapping[str, int]]
    kinds: Mapping[tuple[str, str], frozenset[str]]

    @classmethod
    def of(cls, runs: Iterable[Run]) -> Evidence:
        """The evidence of some runs, without those that are not fitted to."""
        chips: defaultdict[str, Counter[str]] = defaultdict(Counter)
        kinds: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for run in runs:
            if run.id not in unfitted_runs():
                chips[run.rated_family][run.source] += 1
                kinds[run.family, run.record].add(run.source)
        return cls(
            chips,
            {name: frozenset(found) for name, found in kinds.items()},
        )

    def evidence_before(self, source: str) -> Evidence:
        """The evidence of the sources that were entered before this one: what a first prediction for it rested on."""
        earlier = sources_before(source)
        chips = {
            name: {other: count for other, count in counts.items() if other in earlier}
            for name, counts in self.chips.items()
        }
        return Evidence(chips, {kind: found & earlier for kind, found in self.kinds.items()})

    def half_width_without_source(self, run: Run) -> float:
        """The relative half-width of a run's range without the uncertainty of its software, if its source had not been
        published: what a user has whose run resembles it.
        """
        assert run.design.cluster is not None and run.design.workload is not None
        if not _has_rate(run):
            return run.spread_without_software(UNSEEN_PART.value)
        others = [count for name, count in self.chips.get(run.rated_family, {}).items() if name != run.source]
        kind = 0.0 if self.saw_framework(run) else UNSEEN_KIND.value
        return run.spread_without_software(hypot(part_spread(effective_sources(others)), kind))

    def saw_framework(self, run: Run) -> bool:
        """Whether another source ran the precision and framework of a run on its family of chips."""
        alike = self.kinds.get((run.family, run.record), frozenset()) - {run.source}
        return bool(alike) and not run.record.endswith(CUSTOM) and _has_rate(run)

    def write(self) -> None:
        """Puts the half-width of each chip into the entries of its accelerators whose sustained rate is known."""
        for file in sorted((resources.catalog() / "accelerators").glob("*.yaml")):
            text, sources = file.read_text("utf-8"), self.chips.get(rated_family(file.stem), {})
            if (found := with_part_spread(text, sources.values())) != text:
                file.write_text(found, "utf-8")


def _has_rate(run: Run) -> bool:
    """Whether the rate that the accelerator sustains is known in the precision of a run."""
    assert run.design.cluster is not None and run.design.workload is not None
    rate = f"sustained.{share_precision(run.design.workload.precision)}"
    return rate in run.design.cluster.accelerator.achievable


def with_part_spread(text: str, counts: Collection[int]) -> str:
    """The text of an entry with the half-width for sources with ``counts`` runs, ahead of the published utilizations;
    without it where no sustained rate is known or no source ran.
    """
    text = re.sub(rf"^  {re.escape(PART_SPREAD)}: .*\n", "", text, flags=re.MULTILINE)
    before, key, after = text.partition("\nachievable:\n")
    figures = re.match(r"(?: .*\n)*", after)
    if not figures or not counts or not re.search(r"^  sustained\.[a-z]+\d+:", figures[0], re.MULTILINE):
        return text
    own, mfu, reached = figures[0].partition("  mfu.")
    return before + key + own + _line(counts) + mfu + reached + after[figures.end() :]


def _line(counts: Collection[int]) -> str:
    alike, most = effective_sources(counts), f"{UNSEEN_PART.value:g}"
    runs = "published runs on this chip"
    sources = (
        f"one source has {runs}"
        if len(counts) == 1
        else f"{len(counts)} sources with {runs} count as {alike:.1f} sources with equally many runs"
    )
    why = f"{most} / √(1 + {alike:.2g}): {sources}; {most} applies to a chip without published runs"
    return f'  {PART_SPREAD}: {{is: {part_spread(alike):.2g}, of: "the predicted step", assumed: "{why}"}}\n'
