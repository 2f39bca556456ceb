"""What texts demand of a design: a figure, its subject, and how it binds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice

from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.demand_figures import MEASURES, DemandFigure, demand_figures
from clusterspec.rules.knowledge.demand_subjects import ABOVE, SUBJECTS, Subject
from clusterspec.rules.knowledge.demand_words import SUBJECTS as SUBJECT_WORDS
from clusterspec.rules.knowledge.demand_words import WORDS
from clusterspec.rules.knowledge.lexicon import Lexicon, Mention
from clusterspec.rules.knowledge.text_clauses import clause_bounds, clauses_of, is_hypothetical, refers_to_before
from clusterspec.rules.knowledge.text_doubt import words_of_another
from clusterspec.rules.knowledge.text_passages import with_numerals
from clusterspec.rules.knowledge.text_units import with_percent_signs
from clusterspec.rules.knowledge.written_numbers import sentences_of
from clusterspec.standard import pattern

MOST_SENTENCES, LONGEST_SENTENCE = 200, 600
_DIGIT = pattern(r"\d")
_ONLY_IF = pattern(
    r"(?i)\b(?:only|nur|seulement|ne \w+ que|solo|sólo|só|alleen|slechts),? (?:if|wenn|falls|si|se|als)\b"
)
"""A condition that is a demand: `pays only if`."""
_JOINED = pattern(r"(?i)\b(?:and|und|et|y|e|en)\b")
_LESS = pattern(
    r"(?i)\b(?:less|without|excluding|net of|minus|not counting|hors|sans|moins|déduction faite d\w*|ohne|abzüglich|nach abzug|sin|menos|descontad\w+|aparte de|senza|meno|zonder|na aftrek van|sem|exceto)\b[^.;:()]{0,40}$"
)
_LEFT_OUT = pattern(
    r"(?i)^[^,.;]{0,12}? (?:(?:is |are |not|non|nicht|no|niet|não) {0,2}){1,2}(?:compris\w*|included|counted|enthalten|eingerechnet|inbegriffen|incluid\w+|comprese?o?|inbegrepen|incluíd\w+)\b|^[^,.;]{0,12}? (?:excluded|escluso|esclusa|excluid[oa])\b"
)
_BEHIND = 20
"""Characters from a number to the words that it counts."""
_NEXT = 8
"""Characters between a figure and the words that make it a lower limit."""
_CLAUSE = 25
"""Characters that a clause between a figure and a word counts as."""
_LEXICON: list[Lexicon] = []


class Demand(NamedTuple):
    """A figure in SI that a text demands of a subject, with its words."""

    subject: Subject
    value: float
    words: str
    sentence: str
    nearness: int
    is_named: bool
    """Whether a unit or a noun says what its figure measures or counts."""


def lexicon() -> Lexicon:
    """The words of demands and of their subjects."""
    if not _LEXICON:
        _LEXICON.append(Lexicon((*WORDS, *SUBJECT_WORDS)))
    return _LEXICON[0]


def demands_in(text: str) -> Iterator[Demand]:
    """The demands of a text.

    >>> [(each.subject.name, each.value) for each in demands_in("The hall gives us no more than 160 kW. The bidder has 90 kW.")]
    [('power', 160000.0)]
    """
    sentences = sentences_of(with_numerals(with_percent_signs(" ".join(text.split()))))
    for sentence in _with_what_they_refer_to(islice(sentences, MOST_SENTENCES)):
        if len(sentence) <= LONGEST_SENTENCE and _DIGIT.search(sentence) is not None:
            yield from demands_of_sentence(sentence)


def _with_what_they_refer_to(sentences: Iterable[str]) -> Iterator[str]:
    """Sentences, and after one without a figure that begins with a pronoun, this one joined to the one before."""
    before = ""
    for each in sentences:
        yield each
        if refers_to_before(each) and _DIGIT.search(each) is None and _DIGIT.search(before) is not None:
            yield f"{before} {each}"
        before = each


@lru_cache(256)
def demands_of_sentence(sentence: str) -> Sequence[Demand]:
    """The demands of a sentence."""
    mentions = [each for each in lexicon().mentions(sentence) if not _is_left_out(sentence, each)]
    meanings = {each.meaning for each in mentions}
    rows = [each for each in SUBJECTS if any(meanings.issuperset(one.split("+")) for one in each.about.split())]
    if not rows or "former" in meanings or words_of_another(sentence):
        return ()
    found = [each for figure in demand_figures(sentence) if (each := _demand_of(sentence, figure, mentions, rows))]
    return [each for each in found if not any(_is_nearer(other, each) or _is_part(each, other) for other in found)]


def _is_left_out(sentence: str, mention: Mention) -> bool:
    """Whether a figure is net of the cooling that a word names: `less pumps and cooling`, `refroidissement non compris`."""
    return mention.meaning in {"cooling", "servicenot"} and (
        _LESS.search(sentence[: mention.start]) is not None or _LEFT_OUT.match(sentence[mention.end :]) is not None
    )


def _is_part(one: Demand, other: Demand) -> bool:
    """Whether a figure is a part of a computed one, of the same subject."""
    return one.subject is other.subject and len(one.words) < len(other.words) and one.words in other.words


def _is_nearer(one: Demand, other: Demand) -> bool:
    """Whether a figure is nearer to the words of the same subject than another one; of times, each may be meant."""
    if one.subject is not other.subject or one.subject.measures == "time":
        return False
    return (other.is_named, -other.nearness) < (one.is_named, -one.nearness)


def _demand_of(
    sentence: str, figure: DemandFigure, mentions: Sequence[Mention], rows: Sequence[Subject]
) -> Demand | None:
    start, end = clause_bounds(sentence, figure.start, figure.end)
    clause = sentence[start:end]
    inside = {each.meaning for each in mentions if start <= each.start < end} | {
        f"!{each.meaning}" for each in mentions if each.start < figure.end
    }
    if "other" in inside or (is_hypothetical(clause) and "fails" not in inside and _ONLY_IF.search(sentence) is None):
        return None
    found = [
        (_distance(sentence, figure, mentions, each), each)
        for each in rows
        if figure.powers in MEASURES[each.measures]
        and not (figure.is_computed and each.measures == "bare")
        and each.least <= figure.value <= each.most
        and (not each.counted or _counts(sentence, figure, mentions, each.counted))
    ]
    if figure.is_computed:
        inside.discard("each")
    found.sort(key=lambda each: each[0])
    if not found or (len(found) > 1 and found[0][0] == found[1][0]):
        return None
    distance, subject = next(
        (each for each in found if inside.isdisjoint(each[1].unless.split())), (MOST_SENTENCES, found[0][1])
    )
    if distance > subject.reach:
        return None
    if subject.hurts == ABOVE and any(
        each.meaning == "floor" and _gap(sentence, figure, each) < _NEXT for each in mentions
    ):
        return None
    return Demand(subject, figure.value, figure.words, sentence, distance, bool(figure.powers))


def _distance(sentence: str, figure: DemandFigure, mentions: Sequence[Mention], row: Subject) -> int:
    """The characters from a figure to the farthest meaning that its subject needs, in the nearest set of them."""
    return min(
        max(
            min((_gap(sentence, figure, each) for each in mentions if each.meaning == meaning), default=10**6)
            for meaning in one.split("+")
        )
        for one in row.about.split()
    )


def _gap(sentence: str, figure: DemandFigure, mention: Mention) -> int:
    """The characters between a figure and a word, each clause between them counted as further ones."""
    if mention.start >= figure.start and mention.end <= figure.end:
        return 0
    first, last = (figure.end, mention.start) if mention.start >= figure.end else (mention.end, figure.start)
    ends = sum(1 for _, end in clauses_of(sentence) if first <= end <= last)
    joined = sum(1 for _ in _JOINED.finditer(sentence, first, last))
    return last - first + _CLAUSE * (ends + joined)


def _counts(sentence: str, figure: DemandFigure, mentions: Sequence[Mention], meaning: str) -> bool:
    """Whether the words right behind a number have a meaning."""
    behind = (
        each for each in mentions if each.meaning == meaning and each.end > figure.start and each.start >= figure.start
    )
    return any(_gap(sentence, figure, each) < _BEHIND for each in behind)
