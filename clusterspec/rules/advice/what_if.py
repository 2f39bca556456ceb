"""Alternatives: other layouts of the same job that are legal, fit in memory and have an estimated time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from clusterspec.cluster.legality import forbids_pipeline
from clusterspec.cost.plan import Plan
from clusterspec.records import dataclass
from clusterspec.rules.facts import Facts
from clusterspec.rules.words import as_yaml
from clusterspec.units import percent, say

A_QUARTER = 0.25
"""Of the machine's time: from here on a flaw is an error, by the definition of severity."""
TRIED = 8
"""Layouts that are estimated for one piece of advice; each takes a few milliseconds."""
FULLEST = 0.95
"""Share of the memory above which no layout is offered: fragmentation takes the rest."""
NOTICEABLE = 0.02
"""Below a fiftieth of a step the model's own error decides, and advice would be noise."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another layout of the job: what to write, and what it would cost."""

    changes: Mapping[str, object]
    plan: Plan

    @property
    def words(self) -> str:
        """`tp: 8, pp: 4` as the spec would say it."""
        return ", ".join(f"{key}: {as_yaml(value)}" for key, value in self.changes.items() if value is not None)

    @property
    def seconds(self) -> float:
        """Seconds a step; infinite where that is not known."""
        return self.plan.step_seconds or float("inf")

    @property
    def memory(self) -> float | None:
        """Bytes on the fullest rank."""
        return self.plan.memory_bytes

    def saving(self, facts: Facts) -> float | None:
        """The share of the present step that it saves; None where either time is not known."""
        now = facts.step_time
        return 1 - self.seconds / now if now and self.plan.step else None


def fitting(facts: Facts, candidates: Iterable[Mapping[str, object]]) -> list[Alternative]:
    """The changes to the layout that are legal and take at most `FULLEST` of the memory, the fastest first.

    At most `TRIED` candidates are estimated, in the order given.
    """
    tried = (changes for changes in candidates if legal(facts, changes))
    plans = ((changes, facts.with_layout(**changes)) for changes in islice(tried, TRIED))
    found = [Alternative(changes, plan) for changes, plan in plans if plan is not None and _fits(plan)]
    return sorted(found, key=lambda alternative: alternative.seconds)


def _fits(plan: Plan) -> bool:
    """Whether the predicted memory is known and leaves headroom."""
    stored = plan.stored
    if stored is None:
        return False
    return stored.capacity is None or stored.total <= FULLEST * stored.capacity.value


def legal(facts: Facts, changes: Mapping[str, object]) -> bool:
    """Whether a change breaks no condition of the framework that holds now."""
    legality = facts.legality
    if legality is None or not legality.allows(changes):
        return False
    layout = facts.layout
    assert layout is not None
    pp, sharding = changes.get("pp", layout.pp), changes.get("sharding", layout.sharding)
    return pp == 1 or not forbids_pipeline(legality.framework, layout.software_year, str(sharding))


def severity_of(loss: float | None) -> str:
    """Error from a quarter of the machine's time on, and where the model cannot say; else warning."""
    return "error" if loss is None or loss >= A_QUARTER else "warning"


def beside(facts: Facts, best: Alternative | None) -> str:
    """The comparison as the end of a sentence; empty where there is no alternative, or no time of it."""
    return f"; {compared(facts, best)}" if best and best.saving(facts) is not None else ""


def compared(facts: Facts, best: Alternative) -> str:
    """`3.1 s a step, 1.9 s with tp: 8, pp: 4 (39 % less; 61.2 GB a rank)`."""
    now, saving = facts.step_time, best.saving(facts)
    memory = f"; {say(best.memory, 'B')} a rank" if best.memory else ""
    if now is None or saving is None:
        return f"{best.words} fits{memory}"
    less = f"{percent(abs(saving), 2)} {'less' if saving > 0 else 'more'}"
    return f"predicted {say(now, 's')} a step, {say(best.seconds, 's')} with `{best.words}` ({less}{memory})"
