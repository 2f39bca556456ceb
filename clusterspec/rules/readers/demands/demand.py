"""A demand of a text, and demands that are history where the text states another: what a hall was built for."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.demands.subjects import Subject
from clusterspec.standard import pattern

_BUILT = pattern(
    r"(?i)\b(?:(?:was|were|had been) (?:\w+ )?(?:built|designed|planned|laid out|made) for|a été (?:\w+ )?(?:construite?|conçue?|bâtie?|prévue?) pour|"
    r"(?:fue|fueron|fu|è stat[ao]|foi|została|został|zostało) (?:\w+ )?(?:construid\w+|diseñad\w+|concebid\w+|costruit\w+|progettat\w+|construíd\w+|projetad\w+|zbudowan\w+|zaprojektowan\w+) (?:para|per|dla|na)|se (?:construyó|diseñó) para) [^.;,\d]{0,40}$"
)
_BUILT_BEHIND = pattern(
    r"(?i)^[^.;,]{0,32}\b(?:gebaut|errichtet|entworfen|ausgelegt|konzipiert|gebouwd|ontworpen|ingericht)\b"
)
_AUXILIARY = pattern(r"(?i)\b(?:wurden?|war(?:en)?|werd(?:en)?) [^.;,\d]{0,40}\b(?:für|auf|voor|op) [^.;,\d]{0,24}$")
"""The words before and behind a figure for which something was built."""
_DESIGNED = pattern(
    r"(?i)\b(?:(?:is|are) (?:\w+ )?(?:built|designed|laid out|meant) for|est (?:conçue?|prévue?) pour|está (?:diseñad\w|pensad\w) para|è (?:progettat\w|pensat\w) per|está (?:projetad\w) para) [^.;,\d]{0,40}$"
)
"""The words before a figure for which something is designed."""


class Demand(NamedTuple):
    """A figure in SI that a text demands of a subject, with its words."""

    subject: Subject
    value: float
    words: str
    sentence: str
    nearness: int
    is_named: bool
    """Whether a unit or a noun says what its figure measures or counts."""
    hurts: str
    """Which values of the design break it: those `above` it, `below` it, or any `other` one."""


def binding_demands(demands: Sequence[Demand]) -> list[Demand]:
    """Demands without what a hall was built for where another limit of power or heat is stated, and without what it is designed
    for where another limit of the same is.
    """
    return [each for each in demands if not _is_history(each, demands)]


def _is_history(demand: Demand, demands: Sequence[Demand]) -> bool:
    ahead, _, behind = demand.sentence.partition(demand.words)
    was_built = _BUILT.search(ahead) is not None or (
        _AUXILIARY.search(ahead) is not None and _BUILT_BEHIND.match(behind) is not None
    )
    others = [each for each in demands if each is not demand and each.sentence != demand.sentence]
    if was_built:
        return any(each.subject.measures.startswith("watts") for each in others)
    return _DESIGNED.search(ahead) is not None and any(each.subject.name == demand.subject.name for each in others)
