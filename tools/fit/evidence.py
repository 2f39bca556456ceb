"""How many sources of published runs a range rests on, and how wide it is where one of them had not been published."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import hypot, sqrt

from clusterspec import resources
from clusterspec.cost.compute.rates import share_precision
from clusterspec.cost.estimate import PART_SPREAD, UNSEEN_KIND, UNSEEN_PART
from tools.fit.constants import left_out, rated_family
from tools.fit.runs import Run

CUSTOM = ".custom"
"""How the record of a program with a framework of its own ends: the catalog holds nothing of it."""


def part_spread(sources: int) -> float:
    """The half-width that the range of a step gains on a chip used by this many sources of published runs.

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
    """The sources of published runs on the accelerators whose rate is fitted together, and those of each precision and
    framework on a family of chips.
    """

    chips: Mapping[str, frozenset[str]]
    kinds: Mapping[tuple[str, str], frozenset[str]]

    @classmethod
    def of(cls, runs: Iterable[Run]) -> Evidence:
        """The evidence of some runs, without those that are not fitted to."""
        chips: defaultdict[str, set[str]] = defaultdict(set)
        kinds: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for run in runs:
            if run.id not in left_out():
                chips[run.rated_family].add(run.source)
                kinds[run.family, run.record].add(run.source)
        return cls(
            {name: frozenset(found) for name, found in chips.items()},
            {name: frozenset(found) for name, found in kinds.items()},
        )

    def half_width_without_source(self, run: Run) -> float:
        """The relative half-width of a run's range without the uncertainty of its software, if its source had not been
        published: what a user has whose run resembles it.
        """
        assert run.design.cluster is not None and run.design.workload is not None
        rate = f"sustained.{share_precision(run.design.workload.precision)}"
        if rate not in run.design.cluster.accelerator.achievable:
            return run.spread_without_software(UNSEEN_PART.value)
        others = self.chips.get(run.rated_family, frozenset()) - {run.source}
        alike = self.kinds.get((run.family, run.record), frozenset()) - {run.source}
        kind = 0.0 if alike and not run.record.endswith(CUSTOM) else UNSEEN_KIND.value
        return run.spread_without_software(hypot(part_spread(len(others)), kind))

    def write(self) -> None:
        """Puts the half-width of each chip into the entries of its accelerators whose sustained rate is known."""
        for file in sorted((resources.catalog() / "accelerators").glob("*.yaml")):
            text, sources = file.read_text("utf-8"), self.chips.get(rated_family(file.stem), frozenset())
            if (found := with_part_spread(text, len(sources))) != text:
                file.write_text(found, "utf-8")


def with_part_spread(text: str, sources: int) -> str:
    """The text of an entry with the half-width for this number of sources, ahead of the published utilizations; without
    it where no sustained rate is known or no source ran.
    """
    text = re.sub(rf"^  {re.escape(PART_SPREAD)}: .*\n", "", text, flags=re.MULTILINE)
    before, key, after = text.partition("\nachievable:\n")
    figures = re.match(r"(?: .*\n)*", after)
    if not figures or not sources or not re.search(r"^  sustained\.[a-z]+\d+:", figures[0], re.MULTILINE):
        return text
    own, mfu, reached = figures[0].partition("  mfu.")
    return before + key + own + _line(sources) + mfu + reached + after[figures.end() :]


def _line(sources: int) -> str:
    many, most = "one source" if sources == 1 else f"{sources} sources", f"{UNSEEN_PART.value:g}"
    why = f"{many} published runs on it: {most} / √(1 + {sources}), with {most} for a chip that nobody ran"
    return f'  {PART_SPREAD}: {{is: {part_spread(sources):.2g}, of: "the predicted step", assumed: "{why}"}}\n'
