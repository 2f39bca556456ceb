"""The parts of a sentence that words or signs set against each other, and those about another machine, order or time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.rules.readers.lexicon import Mention
from clusterspec.rules.readers.rejections import goes_on, turns_down, turns_down_what_is_before
from clusterspec.standard import pattern

MOST_PARTS = 20
_SEGMENT_END = pattern(
    r";|: |[()]|[—–]|, (?:which|whom|welche[rs]?|laquelle|lequel|lo que|il che)\b|, (?:and|und|et|y|e|en) |,? \b(?:but|while|whereas|although|though|aber|während|hingegen|mais|tandis que|alors que|pero|mientras(?: que)?|ma|mentre|maar|terwijl|mas|enquanto)\b"
)
"""What sets one part of a sentence against another."""
_RELATIVE = pattern(r"(?i), (?:which|whom|welche[rs]?|laquelle|lequel|lo que|il che)$")
_OWN = pattern(
    r"(?i)\b(?:we|our|ours|us|this|wir|unser\w*|uns|diese\w?|nous|notre|nos|cette?|nosotros|nuestr\w+|est[ae]|noi|nostr\w+|quest\w|wij|we|ons|onze|deze|dit|nós|noss\w+|est[ae])\b"
)
"""Words of a part of a sentence about this machine."""


_NAMED_PLACE = pattern(
    r"\b[Tt]he [A-ZÀ-Ž][\w-]+ (?P<place>halls?|rooms?|sites?|buildings?|centres?|centers?|campus|plants?)\b|"
    r"\b(?:[Dd]ie|[Ll]a|[Ll]e|[Ee]l|[Ii]l|[Dd]e) (?P<site>Halle|Anlage|salle|site|sala|sede|sito|hal|zaal) (?:in|à|de|en|a|di|van|te) (?=[A-ZÀ-Ž])"
)
"""Pattern of a hall, room or site with the name of its place."""


def without_named_places(sentences: Sequence[str]) -> list[str]:
    """Sentences without those about a hall, room or site with a name, where others are about one without, that of this
    machine.

    >>> without_named_places(["the hall is old", "the Perth hall carries 35 kW"]), without_named_places(["The Perth hall carries 35 kW"])
    (['the hall is old'], ['The Perth hall carries 35 kW'])
    """
    named = [
        (at, each["place"] or each["site"]) for at, one in enumerate(sentences) for each in _NAMED_PLACE.finditer(one)
    ]
    if not named:
        return [*sentences]
    text = " ".join(sentences).lower()
    others = {at for at, noun in named if text.count(noun.lower()) > sum(noun == other for _, other in named)}
    return [one for at, one in enumerate(sentences) if at not in others or _OWN.search(one) is not None]


def parts_of_others(sentence: str, mentions: Sequence[Mention]) -> Sequence[tuple[int, int]]:
    """The parts of a sentence that are about another machine, order or time. What such a part is set against goes on
    about it, unless it names this machine: `a site offered a low price but only 180 kW`.
    """
    former = [each.start for each in mentions if each.meaning == "former"]
    if not former and not words_of_another(sentence) and not turns_down(sentence):
        return ()
    found: list[tuple[int, int]] = []
    before, rejected = 0, -1
    for start, end, is_set_against in parts_of(sentence):
        part = sentence[start:end]
        is_rejected = turns_down(part)
        is_other = is_rejected or any(start <= each < end for each in former) or bool(words_of_another(part))
        follows = bool(found) and found[-1][1] == start
        is_continued = follows and (
            (is_set_against and _OWN.search(part) is None) or (rejected == start and goes_on(part))
        )
        if is_rejected and turns_down_what_is_before(part):
            found.append((before, start))
        if is_other or is_continued:
            found.append((start, end))
        before, rejected = start, end if is_rejected or (is_continued and rejected == start) else -1
    return found


def parts_of(sentence: str) -> Iterator[tuple[int, int, bool]]:
    """The start and the end of each part of a sentence, and whether words set it against the one before."""
    ends = [*islice(_SEGMENT_END.finditer(sentence), MOST_PARTS)]
    yield 0, ends[0].start() if ends else len(sentence), False
    for each, following in pairwise((*ends, None)):
        if each is not None:
            yield (
                each.start(),
                following.start() if following else len(sentence),
                any(map(str.isalpha, each[0])) and _RELATIVE.match(each[0]) is None,
            )
