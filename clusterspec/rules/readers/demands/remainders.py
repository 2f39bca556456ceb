"""Limits of which others have a part: what a site gives, less the part of a sentence that others keep or take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.rules.readers.demands.energies import DemandFigure
from clusterspec.rules.readers.demands.figures import demand_figures
from clusterspec.rules.readers.written_numbers import NUMBER, number_in_text
from clusterspec.standard import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.rules.readers.demands.demand import Demand

OF_LIMITS = frozenset({"power", "heat", "heat to water", "heat to air"})
"""Subjects whose limits others may share."""
_OF_WHICH = pattern(
    r"(?i)\b(?:of which|of these|of them|of this|davon|wovon|von denen|dont|di cui|dei quali|delle quali|de los (?:que|cuales)|de las cuales|waarvan|daarvan|dos quais|das quais|de que|z czego|z których|less|minus)\b[^.;\d]{0,40}$"
)
"""The end of the text before a part of an amount."""
_CLAIM = pattern(
    r"(?i)\b(?:(?:first|prior) (?:claim|right|call) (?:on|to)|is entitled to|keeps?|retains?|has reserved|hat (?:das )?(?:vorrecht|vorrang) (?:auf|bei)|behält|beansprucht|(?:est|reste) prioritaire (?:pour|sur)|a la priorité sur|garde|conserve|"
    r"tiene (?:prioridad|preferencia) sobre|se queda con|conserva|ha la (?:priorità|precedenza) su|tiene per sé|mantiene|heeft voorrang op|houdt|tem prioridade sobre|mantém|fica com|ma pierwszeństwo do|zachowuje)\b[^.;\d]{0,12}$"
)
"""The end of the text before a part that others claim."""
_GIVEN = pattern(
    r"(?i)^ (?:beim|bei|dem|der|für|an|auf|einem|einer|naar|voor|bij) [^.;,\d]{2,40} (?:bleiben|bleibt|gehören|gehört|gehen|zustehen|zusteht|reserviert|vorbehalten|gaa[nt]|blijft|blijven|zijn)\b|"
    r"^[^.;,\d]{0,24}?\b(?:(?:stay|remain|go|goes|belong|are|is) (?:\w+ )?(?:with|to|for)|(?:bleiben|gehören|gehen|stehen|sind)(?: \w+)? (?:dem|der|den|des|für|beim|bei|an|einem|einer)|(?:restent|reviennent|vont|appartiennent|sont réservés)(?: \w+)? (?:au|aux|à|pour)|"
    r"(?:restano|spettano|vanno|sono riservati|toccano) (?:agli|alle|ai|al|alla|all['’]|a|per)|(?:quedan|corresponden|van|se reservan|pertenecen|son) (?:al?|para|en)|(?:blijven|gaan|zijn)(?: \w+)? (?:bij|voor|naar|van)|"
    r"(?:ficam|cabem|vão|pertencem|são) (?:com|para|a[os]?|d[oa]s?)|(?:zostaje|zostają|przypada|należy|należą) (?:dla|do|w)?)\b"
)
"""The text behind a part that others get."""
_OURS = pattern(
    r"(?i)\b(?:us|ours?|we|this|it|nodes?|servers?|machine|cluster|racks?|gpus?|switch\w*|unser\w*|uns|knoten|server\w*|maschine|anlage|schränke\w*|nous|notre|nos|nœuds?|serveurs?|grappe|baies?|nosotros|nuestr\w+|nodos?|servidor\w*|máquina|clúster|"
    r"noi|nostr\w+|nodi|macchina|ons|onze|knooppunten|nós|noss\w+|máquina|nam|nas|nasz\w*|węzł\w*|serwer\w*|this design)\b"
)
"""Words of this machine."""
_CLAUSE = pattern(r"[,;.:()]")
_VERB_AHEAD = pattern(
    r"(?i)\b(?:gehör\w*|bleib\w*|steh\w*|entfall\w*|gehen|gaan|blijven|horen|restent|quedan|restano|spettano|corresponden|ficam|cabem|belong|remain|stay) $"
)
"""The verb of a part before it: `davon gehören 80 kW dem Institut`."""
_GIVEN_TO = pattern(
    r"(?i)^ (?:dem|der|den|des|für|beim|bei|an|auf|einem|einer|with|to|for|au|aux|à|pour|al|a|para|en|agli|alle|ai|alla|per|naar|voor|bij|com|d[oa]s?)\b|^ naar\b"
)
_OF_WHOLE = pattern(r"(?i)^ (?:of|out of|von|der|des|de|du|di|dei|van|z|da|das|dos)\b")
_NUMBER = pattern(NUMBER)
REACH = 60
"""Characters behind a part in which the name of its owner stands."""


def less_parts_of_others(sentence: str, demands: Sequence[Demand]) -> Iterator[Demand]:
    """The demands of a sentence, without the parts of a limit that it gives to others, which are deducted from the limit.

    >>> from clusterspec.rules.readers.demands.reading import demands_in
    >>> [each.value for each in demands_in("The hall gives us at most 120 kW, of which 30 kW stay with the laboratory.")]
    [90000.0]
    >>> [each.value for each in demands_in("The city has first claim on 40 kW of the 120 kW of the substation.")]
    [80000.0]
    """
    limits = [each for each in demands if each.subject.name in OF_LIMITS]
    parts = [*_parts_of_others(sentence)] if limits else []
    for each in demands:
        if not parts or each not in limits:
            yield each
            continue
        own = [one for one in parts if one.words == each.words]
        if own:
            yield from _whole_less(sentence, each, own[0])
            continue
        taken = [one for one in parts if one.powers <= _powers_of(sentence, each) and _in_unit(each, one) < each.value]
        less = sum(_in_unit(each, one) for one in taken)
        words = " less ".join((each.words, *(one.words for one in taken)))
        yield each._replace(value=each.value - less, words=words) if 0 < less < each.value else each


def gives_parts_to_others(sentence: str) -> bool:
    """Whether a sentence gives a part of an amount to others.

    >>> gives_parts_to_others("The hall gives 120 kW, of which 30 kW stay with the laboratory."), gives_parts_to_others("The hall gives 120 kW.")
    (True, False)
    """
    return next(_parts_of_others(sentence), None) is not None


def _whole_less(sentence: str, part: Demand, figure: DemandFigure) -> Iterator[Demand]:
    """The demand of what is left of the whole right behind a part of others; none without such a whole."""
    if _OF_WHOLE.match(sentence[figure.end :]) is None:
        return
    whole = next(
        (
            each
            for each in demand_figures(sentence)
            if figure.end < each.start < figure.end + 24 and each.powers == figure.powers
        ),
        None,
    )
    if whole is not None and whole.value > figure.value:
        yield part._replace(value=whole.value - figure.value, words=f"{whole.words} less {figure.words}")


def _parts_of_others(sentence: str) -> Iterator[DemandFigure]:
    """The figures of a sentence that are parts of others."""
    for each in demand_figures(sentence):
        ahead, behind = sentence[: each.start], _CLAUSE.split(sentence[each.end : each.end + REACH], 1)[0]
        claimed = _CLAIM.search(ahead)
        owner = behind if _goes_to_others(ahead, behind) else ahead[-REACH:] if claimed is not None else ""
        if owner and _OURS.search(owner) is None:
            yield each


def _goes_to_others(ahead: str, behind: str) -> bool:
    """Whether the words around a part say that others get it."""
    if _OF_WHICH.search(ahead) is None:
        return False
    return _GIVEN.match(behind) is not None or (
        _VERB_AHEAD.search(ahead) is not None and _GIVEN_TO.match(behind) is not None
    )


def _powers_of(sentence: str, demand: Demand) -> frozenset[tuple[str, int]]:
    """The powers of the figure of a demand."""
    return next((each.powers for each in demand_figures(sentence) if each.words == demand.words), frozenset())


def _in_unit(demand: Demand, part: DemandFigure) -> float:
    """A part in SI, in the unit of a demand where it has none: `240 kW, of which 35 go to the offices`."""
    if part.powers:
        return part.value
    match = _NUMBER.search(demand.words)
    number = number_in_text(match[1]) if match is not None else 0.0
    return part.value * demand.value / number if number else 0.0
