"""Parts that a sentence lists for a whole, and shares of one thing: what they sum to, and what the sentence says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import is_hypothetical
from clusterspec.rules.readers.dimensions import Figure, Powers, figures_of
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.rules.readers.numerals import with_digits
from clusterspec.rules.readers.units import with_percent_signs, word_set
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.standard import pattern, sum_of
from clusterspec.units import plain

MOST_SENTENCES, LONGEST_SENTENCE, MOST_PARTS = 200, 500, 9
SAME, FARTHEST = 0.002, 0.35
"""Relative differences of a sum and its whole: up to the first both are equal, and beyond the second the parts are of
something else.
"""
_DIVIDED = pattern(
    r"(?i)\b(?:consists? of|(?:is|are) made up of|breaks? down (?:in)?to|(?:is|are) (?:split|divided|distributed|shared out|allotted)|splits? (?:in)?to|divides? into|is composed of|"
    r"verteil\w* sich|(?:ist|sind|werden|wird) (?:verteilt|aufgeteilt)|setz\w* sich (?:\w+ )?zusammen|besteh\w* aus|gliedert sich|teil\w* sich (?:auf|in)|"
    r"se (?:répartit|répartissent|décompose\w*|compose\w*|divise\w*)|(?:est|sont) (?:réparti\w*|divisé\w*)|"
    r"se (?:reparte\w*|descompone\w*|compone\w*|divide\w*|distribuye\w*)|(?:está|están) repartid\w+|"
    r"si (?:divid\w+|ripartisc\w+|compon\w+|scompon\w+)|(?:è|sono) (?:ripartit\w|suddivis\w|divis\w)|"
    r"bestaat uit|bestaan uit|(?:is|zijn) verdeeld|valt uiteen|"
    r"(?:divide|dividem|compõe|compõem|reparte|repartem|distribui|distribuem)-se|(?:está|estão) repartid\w+)\b"
)
"""Words between a whole and all its parts."""
_CUES = word_set(
    "consist made break split divid shared distribut allotted compos verteil aufgeteilt setz besteh glieder teil répart décompos reparte compone "
    "descompone distribuye repartid divid ripart compon scompon suddivis bestaa verdeeld valt repart compõe"
)
"""Parts of words of which sentences between a whole and all its parts have one."""
_OF_THE = pattern(
    r"(?i)(?:^|[,;:] |\b(?:and|und|et|y|e|en) )(?:of|out of|from|von|unter|de|sur|parmi|dei|delle|van|dos|das) (?:(?:the|these|our|those|its|den|diesen|unseren|les|nos|ces|los|las|estos|estas|nuestros|i|gli|le|questi|queste|onze|deze|os|as|estes) )?$"
)
"""Words before a whole of which parts follow."""
_NUMBER = pattern(r"\d(?:[\d.,'’]*\d)?")
_OF_NUMBER = pattern(r"(?i)\b(?:of|from|von|unter|de|sur|parmi|dei|delle|degli|van|dos|das) (?:[^\W\d]{2,9} )?\d")
"""A number of which parts may be listed."""
_PART_OF = pattern(
    r"(?i) (?:of|von|de|sur|dei|delle|degli|van|dos|das) (?:(?:the|our|den|unseren|les|nos|los|las|nuestros|nuestras|i|gli|onze|de|os|as) )?"
)
"""Words between the first part and the whole: `30 of the 64 GPUs`."""
_OTHER_LIST = pattern(
    r"(?i)\b(?:each|every|per|apiece|times|including|included|mostly|mainly|at least|at most|up to|more than|less than|about|roughly|around|or|instead|rest|remain\w*|others?|left|free|"
    r"minus|less|plus|before|after|until|since|from|than|used|active|spare|only|first|later|of which|whom|which|"
    r"je|jede\w*|pro|davon|darunter|mindestens|höchstens|bis|rund|etwa|oder|statt|übrig\w*|rest\w*|frei|vor|nach|seit|als|nur|zuerst|"
    r"chacune?|chaque|par|dont|environ|au moins|au plus|ou|autres?|libres?|avant|après|depuis|que|seulement|"
    r"cada|por|cuales|unos|alrededor|menos|más|otr\w+|libres|antes|después|desde|sólo|solo|"
    r"ciascun\w|ogni|cui|circa|almeno|altr\w|liber\w|prima|dopo|"
    r"elk|ieder\w*|waarvan|ongeveer|minstens|ander\w*|vrij|voor|na|sinds|dan|slechts|"
    r"quais|cerca|outr\w+|livres)\b|[×*=/+<>~≈]|\bx\b"
)
"""Words and signs of figures that are no parts, or not all of them."""
_RANGE = pattern(r"[()]|\d ?[-–] ?\d")
"""An aside, or a range."""
_ALL_PARTS = pattern(
    r"(?i)\b(?:nobody else|no one else|nothing else|that is all|nothing is left|sonst niemand|nichts bleibt|personne d'autre|rien d'autre|nadie más|nada más|nessun altro|niemand anders|ninguém mais)\b"
)
_NOTHING: Powers = frozenset()
_SHARE: Powers = frozenset({("share", 1)})
_MONEY: Powers = frozenset({("money", 1)})
_YEARS = (1990, 2100)


class WrongWhole(NamedTuple):
    """A whole in the words of a text, what its parts sum to, and their number."""

    whole: str
    total: str
    parts: int


def wrong_wholes(text: str) -> Iterator[WrongWhole]:
    """The wholes of a text that their listed parts do not sum to, and shares of one thing that exceed it.

    >>> [(each.whole, each.total) for each in wrong_wholes("Of the 64 GPUs, 48 belong to physics, 12 to chemistry and 8 to teaching.")]
    [('64 GPUs', '68')]
    >>> [*wrong_wholes("Of the 64 GPUs, 40 belong to physics, 16 to chemistry and 8 to teaching.")]
    []
    >>> [each.total for each in wrong_wholes("90 % der Anfragen kommen aus dem Kundendienst, 15 % aus der Entwicklung.")]
    ['105 %']
    """
    for sentence in islice(sentences_of(with_digits(with_percent_signs(" ".join(text.split())))), MOST_SENTENCES):
        lists = (
            _DIVIDED.search(sentence) is not None or _OF_NUMBER.search(sentence) is not None or sentence.count("%") > 1
        )
        if len(sentence) > LONGEST_SENTENCE or not lists or is_hypothetical(sentence) or words_of_another(sentence):
            continue
        figures = [each for each in figures_of(sentence, bare=True) if not _is_year(each)]
        if 2 <= len(figures) <= MOST_PARTS:
            yield from _wrong_wholes_of(sentence, figures)
            yield from _wrong_shares_of(sentence, figures)


def _is_divided(sentence: str) -> bool:
    """Whether a sentence divides a whole into all its parts."""
    folded = sentence.lower()
    return any(each in folded for each in _CUES) and _DIVIDED.search(sentence) is not None


def _is_year(figure: Figure) -> bool:
    return not figure.powers and _YEARS[0] <= figure.value <= _YEARS[1] and figure.words.isdigit()


def _wrong_wholes_of(sentence: str, figures: Sequence[Figure]) -> Iterator[WrongWhole]:
    """The whole before the parts of a sentence, unless they sum to it."""
    for at, whole in enumerate(figures[:-2]):
        divided = _DIVIDED.search(sentence, whole.end, figures[at + 1].start) if _is_divided(sentence) else None
        of_the = _OF_THE.search(sentence[: whole.start]) is not None
        follows = at > 0 and _PART_OF.fullmatch(sentence, figures[at - 1].end, whole.start) is not None
        if divided is None and not (of_the and at == 0) and not follows:
            continue
        parts = [*(figures[at - 1 : at] if follows else ()), *figures[at + 1 :]]
        rest = _without_names(sentence[divided.end() if divided else whole.end :])
        is_other = _OTHER_LIST.search(rest) is not None or (divided is None and _RANGE.search(rest) is not None)
        if is_other or not all(_is_part(each, whole) for each in parts):
            return
        total = sum_of(each.value for each in parts)
        off = total / whole.value - 1
        complete = divided is not None or _ALL_PARTS.search(sentence) is not None
        if SAME < abs(off) <= FARTHEST and (off > 0 or (complete and len(parts) > 2)):
            yield WrongWhole(whole.words, _in_units_of(whole, total), len(parts))
        return


def _without_names(text: str) -> str:
    """A text without words in capitals, which name things."""
    return " ".join(each for each in text.split() if not each[:1].isupper())


def _is_part(part: Figure, whole: Figure) -> bool:
    """Whether a figure may be a part: it has the unit of the whole, or leaves it out."""
    same = whole.powers in (part.powers, part.bare)
    bare = not part.powers and (whole.powers == _MONEY or all(abs(power) == 1 for _, power in whole.powers))
    return whole.powers not in (_NOTHING, _SHARE) and (same or bare) and part.value < whole.value


def _in_units_of(whole: Figure, total: float) -> str:
    """A sum with the digits of its whole."""
    digits = whole.words.split(" ")[0] if whole.powers != _MONEY else whole.words
    scale = whole.value / _first_number(digits) if whole.powers != _MONEY else 1.0
    return f"{total / scale:,.0f}" if total >= 1000 * scale else plain(total / scale, 5)


def _first_number(words: str) -> float:
    found = figures_of(words, bare=True)
    return found[0].value if found else 1.0


_OF_ALL = pattern(r"(?i)^ (?:of|der|des|de|del|dei|delle|van|dos|das)\b")
_PLACE = pattern(
    r"(?i)^,? ?(?:of (?:the |our |all )?\w+ |der \w+ |des \w+ |de (?:las |los |la |nos )?\w+ |delle \w+ |dei \w+ |van de \w+ |dos \w+ |das \w+ )?(?:[^\W\d]+ ){0,2}?(?P<place>from|go to|goes to|belong to|belongs to|to|aus|an|für|viennent de|vont à|du|de la|des|proceden de|van a|de|vengono da|dalla?|vanno a|komen van|uit|gaan naar|vêm d\w|vão para)\b"
)
"""Words behind a share of where it comes from or goes to."""
_NESTED = pattern(
    r"(?i)\b(?:within|under|below|latency|seconds?|ms|percentile|available|availability|of (?:them|these|those|which)|davon|dont|cuales|cui|also|both|auch|aussi|también|anche|ook|utili[sz]\w*|discount|vat|tax|mwst|tva|iva|more|less|than|rabatt|nachlass|price|order|delivery|acceptance|mfu|peak|cooling|year|years|night|day)\b"
)


def _wrong_shares_of(sentence: str, figures: Sequence[Figure]) -> Iterator[WrongWhole]:
    """The shares of one thing by where they come from or go to, if they sum to more than it."""
    if not all(each.powers == _SHARE for each in figures) or _NESTED.search(sentence) is not None:
        return
    places = [_PLACE.match(sentence[each.end : each.end + 60]) for each in figures]
    named = [each["place"].lower().split()[-1] for each in places if each is not None]
    first = _OF_ALL.match(sentence[figures[0].end :])
    alike = len(named) == len(figures) and (len(set(named)) == 1 or first is not None)
    total = sum_of(each.value for each in figures)
    if alike and 1 + SAME < total < 1 + FARTHEST and all(one.end < other.start for one, other in pairwise(figures)):
        yield WrongWhole("100 %", f"{plain(100 * total, 5)} %", len(figures))
