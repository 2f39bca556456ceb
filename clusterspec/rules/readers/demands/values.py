"""The values of a design that the demands of texts are about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.demands.demand import Demand
from clusterspec.rules.readers.demands.energies import DemandFigure
from clusterspec.rules.readers.demands.figures import MEASURES, demand_figures
from clusterspec.rules.readers.demands.places import PLACES, Place, stated_values, value_of_key, written_value
from clusterspec.rules.readers.demands.reading import demands_in, is_counted_by, lexicon
from clusterspec.rules.readers.demands.sentences import plain_sentences
from clusterspec.rules.readers.demands.subjects import ABOVE, BELOW, OTHER, Subject
from clusterspec.rules.readers.written_numbers import NUMBER, number_in_text, numbers_within
from clusterspec.spec.model import Spec
from clusterspec.standard import pattern

SLACK = 0.05
"""Relative difference up to which a value keeps a demand: both may be rounded, as 32k and 32,768."""
ROUGH = 0.3
"""Relative difference up to which a value keeps a demand of about a figure."""
_ABOUT = pattern(
    r"(?i)\b(?:about|some|roughly|around|approximately|rund|etwa|ungefähr|circa|ca\.|environ|autour de|unos|unas|alrededor de|aproximadamente|circa|ongeveer|zo'n|cerca de) $"
)
SAME = 0.005
"""Relative difference up to which a figure of the sentence is that of the key."""
_NUMBER = pattern(NUMBER)
FARTHEST = 20.0
"""Ratio of a value to a demand from which the demand is probably of something else."""


_HALF = 0.5
"""Share from which the rest is compared."""
PROMISES = ("workload.serving.targets.", "operations.")
"""The first names of keys that may be stricter than what a text demands."""
BOUNDS = {ABOVE: "may be at most", BELOW: "has to be at least", OTHER: "is"}
"""The words of messages for how a demand binds."""


FARTHEST_COMPUTED = 100.0
"""The same ratio of a value that is computed from several keys."""
COMPUTED = frozenset(name for name, places in PLACES.items() if any(each.of is not None for each in places))


class Broken(NamedTuple):
    """A demand that a key breaks, with the key and its value as written."""

    demand: Demand
    place: Place
    written: str

    @property
    def what(self) -> str:
        """The subject of the demand, for messages."""
        return self.place.what

    @property
    def bound(self) -> str:
        """How the demand binds, for messages."""
        return BOUNDS[self.demand.hurts]


def broken_demands(text: str, spec: Spec, others: frozenset[str] = frozenset()) -> Iterator[Broken]:
    """The demands of a text that a key of a spec breaks, one for each key, without those of ``others``; a text that also
    states what the key keeps has none.
    """
    own = {
        name: found for name, places in PLACES.items() if name not in others and (found := stated_values(spec, places))
    }
    demands: dict[str, list[Demand]] = {}
    for each in demands_in(text) if own else ():
        if each.subject.name in own and not is_of_nodes(each, spec):
            demands.setdefault(each.subject.name, []).append(each)
    for name, stated in demands.items():
        place, values = own[name]
        if all(_is_broken(each, one) for each in stated for one in values) and not _states(text, stated[0], values):
            yield Broken(stated[0], place, written_value(spec, place))


def kept_limits(text: str, spec: Spec) -> Mapping[str, Sequence[float]]:
    """For each target and each time of operations, the limits in SI of a text that it keeps, told from values by words that bind. A
    design may promise itself more than others demand; what a site gives is a fact, which the key repeats.
    """
    found: dict[str, list[float]] = {}
    for each in demands_in(text):
        own = stated_values(spec, PLACES.get(each.subject.name, ()))
        if own is None or each.hurts == OTHER or not _is_bound_by_words(each.subject):
            continue
        place, values = own
        if place.key.startswith(PROMISES) and all(
            value <= each.value if each.hurts == ABOVE else value >= each.value for value in values
        ):
            found.setdefault(place.key, []).append(each.value)
    return found


def _is_bound_by_words(subject: Subject) -> bool:
    """Whether only a sentence with a word that binds demands something of a subject."""
    return bool(subject.about) and all("+" in each for each in subject.about.split())


def _states(text: str, demand: Demand, values: Sequence[float]) -> bool:
    """Whether a text that states a value as a fact, without words that bind, elsewhere states the right one."""
    counted = demand.subject.counted
    if not demand.subject.facts or not counted:
        return False
    return any(
        abs(each.value / value - 1) < SAME
        for sentence in plain_sentences(text)
        for each in demand_figures(sentence)
        for value in values
        if is_counted_by(sentence, each, lexicon().mentions(sentence), counted)
    )


def unkept(text: str, subject: str, value: float) -> float:
    """The largest demand of a subject that a value breaks and none of its sentences states; 0 without one."""
    found = [each for each in demands_in(text) if each.subject.name == subject]
    return (
        max((each.value for each in found), default=0.0)
        if found and all(_is_broken(each, value) for each in found)
        else 0.0
    )


def _is_broken(demand: Demand, value: float) -> bool:
    """Whether a value breaks a demand, unless its sentence also states the value, or the value is so far from it that the demand is of
    something else.
    """
    ratio = value / demand.value if demand.value else 0.0
    if demand.hurts == BELOW and demand.subject.measures == "share" and _HALF < demand.value < 1 and value < 1:
        ratio = (1 - demand.value) / (1 - value)  # what a share leaves decides: 95 % are not 97 %
    farthest = FARTHEST_COMPUTED if demand.subject.name in COMPUTED else FARTHEST
    if not 1 / farthest < ratio < farthest:
        return False
    if has_value(demand, value, SAME):
        return False
    before, _, _ = demand.sentence.partition(demand.words)
    slack = ROUGH if _ABOUT.search(before) is not None else SLACK
    above, below = ratio > 1 + slack, ratio < 1 - slack
    return above if demand.hurts == ABOVE else below if demand.hurts == BELOW else above or below


def has_value(demand: Demand, value: float, within: float) -> bool:
    """Whether the sentence of a demand also states a value, up to a relative difference."""
    unit = _unit_of(demand)
    return bool(value) and any(
        abs(each.value * factor / value - 1) < within for each in _like(demand) for factor in (1.0, unit)
    )


def _unit_of(demand: Demand) -> float:
    """The unit of a demand in SI, which other figures of its sentence may leave out: `nine days, at most fifteen`."""
    match = _NUMBER.search(demand.words)
    number = number_in_text(match[1]) if match is not None else 0.0
    return demand.value / number if number else 1.0


def _like(demand: Demand) -> list[DemandFigure]:
    """The figures of the sentence of a demand that have its measure, or no unit, and count what it counts."""
    measures, sentence = MEASURES[demand.subject.measures], demand.sentence
    found = [each for each in demand_figures(sentence) if not each.powers or each.powers in measures]
    if not demand.subject.counted:
        return found
    mentions = lexicon().mentions(sentence)
    return [each for each in found if is_counted_by(sentence, each, mentions, demand.subject.counted)]


def is_of_nodes(demand: Demand, spec: Spec) -> bool:
    """Whether a power is that of some nodes of the design, which a rack or a site has to carry."""
    node = next(iter(numbers_within(value_of_key(spec, "cluster.power.node"))), 0.0)
    return "power" in demand.subject.name and is_multiple(demand.value, node)


def is_multiple(power: float, node: float) -> bool:
    """Whether a power is that of a whole number of nodes, up to 2 % of one.

    >>> is_multiple(40.8e3, 10.2e3), is_multiple(38e3, 10.2e3), is_multiple(38e3, 0.0)
    (True, False, False)
    """
    number = round(power / node) if node else 0
    return 0 < number <= 64 and abs(power / node - number) < 0.02
