"""Alternative layouts of a serving plan that are legal, fit and meet the targets, and their gain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from clusterspec.cost.plan import TIE
from clusterspec.cost.serving.latency import loss_factors
from clusterspec.cost.serving.targets import missed_targets
from clusterspec.records import dataclass
from clusterspec.rules.advice.proposals import Legality
from clusterspec.rules.knowledge.served import Served
from clusterspec.rules.knowledge.shares import cost_severity
from clusterspec.rules.words import changed_keys
from clusterspec.units import display, percent

TRIED = 4
"""Limit of layouts estimated for one piece of advice."""


@dataclass(frozen=True)
class Gain:
    """Another layout for the same requests, the plans before and after, and the relative gain in throughput."""

    changes: Mapping[str, object]
    before: Served
    served: Served
    share: float

    @property
    def is_worth_it(self) -> bool:
        """Whether the gain is more than repeated runs differ by."""
        return self.share >= TIE

    @property
    def severity(self) -> str:
        """Severity by the share of the machine's time that the present layout loses.

        It is an error only if a target states the latency, because a layout with less throughput may have lower
        latency.
        """
        lost = self.share / (1 + self.share)
        most = "error" if any(each.quantity in {"tpot", "itl"} for each in self.before.load.targets) else "warning"
        return cost_severity(lost, loss_factors(self.before.times), most=most)

    @property
    def words(self) -> str:
        """The changed keys as written in a spec: `tp: 1, attention_dp: 8`."""
        section = self.before.design.spec.layout
        stated, replicas = section.dp if section else None, self.served.layout.dp
        return changed_keys({**self.changes, **({} if stated in {None, replicas} else {"dp": replicas})})


def best_gain(served: Served, legality: Legality, candidates: Iterable[Mapping[str, object]]) -> Gain | None:
    """The candidate with the highest output token rate that is legal, fits, and misses no target that the present layout meets."""
    held = _with_a_load(served)
    if held is None:
        return None
    tried = (changes for changes in candidates if legality.allows(changes))
    found = [gain for changes in islice(tried, TRIED) if (gain := _gain(held, changes)) is not None]
    return max(found, key=lambda gain: gain.share, default=None)


def _with_a_load(served: Served) -> Served | None:
    """The plan with a load to compare: an offline load becomes a closed one, with as many requests in flight as the
    cache can keep. None if it cannot be estimated.
    """
    if served.load.load != "offline":
        return served
    return served.with_load(load="closed", concurrency=max(1, round(served.times.offered)))


def _gain(served: Served, changes: Mapping[str, object]) -> Gain | None:
    other = served.with_layout(**changes)
    if other is None or other.plan.fits is False:
        return None
    if set(missed_targets(other.times, other.load)) - set(missed_targets(served.times, served.load)):
        return None
    share = other.times.output_tokens_per_second / served.times.output_tokens_per_second - 1
    return Gain(changes, served, other, share)


def comparison_text(gain: Gain) -> str:
    """The gain as text: `predicted 1,200 output tokens per second, 1,900 with tp: 1, attention_dp: 8 (58 % more)`."""
    now, then = gain.before.times.output_tokens_per_second, gain.served.times.output_tokens_per_second
    more = f"{percent(abs(gain.share), 2)} {'more' if gain.share > 0 else 'less'}"
    return f"predicted {display(now, '1')} output tokens per second, {display(then, '1')} with `{gain.words}` ({more})"
