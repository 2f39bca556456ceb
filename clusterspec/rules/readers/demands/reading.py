"""What texts demand of a design: a figure, its subject, and how it binds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from functools import lru_cache
from itertools import islice

from clusterspec.rules.readers.clauses import clause_bounds, clauses_of, is_hypothetical
from clusterspec.rules.readers.demands.demand import Demand, binding_demands
from clusterspec.rules.readers.demands.energies import DemandFigure
from clusterspec.rules.readers.demands.figures import MEASURES, demand_figures
from clusterspec.rules.readers.demands.phrases import phrases_in
from clusterspec.rules.readers.demands.quantity_subjects import QUANTITY_SUBJECTS
from clusterspec.rules.readers.demands.quantity_words import WORDS as QUANTITY_WORDS
from clusterspec.rules.readers.demands.remainders import less_parts_of_others
from clusterspec.rules.readers.demands.segments import MOST_PARTS, parts_of, parts_of_others, without_named_places
from clusterspec.rules.readers.demands.sentences import joined_sentences, plain_sentences
from clusterspec.rules.readers.demands.subjects import (
    ABOVE,
    BELOW,
    CAPPED,
    OTHER,
    SAID,
    SUBJECTS,
    Subject,
)
from clusterspec.rules.readers.demands.sums import LENGTH
from clusterspec.rules.readers.demands.words import SUBJECTS as SUBJECT_WORDS
from clusterspec.rules.readers.demands.words import WORDS
from clusterspec.rules.readers.lexicon import Lexicon, Mention
from clusterspec.rules.readers.numerals import ITALIAN, fractions_in, language_of
from clusterspec.rules.readers.rejections import kept_sentences
from clusterspec.standard import pattern

LONGEST_SENTENCE = 600
_DIGIT = pattern(r"\d")
_ONLY_IF = pattern(
    r"(?i)\b(?:only|nur|seulement|ne \w+ que|solo|sólo|só|alleen|slechts),? (?:if|wenn|falls|si|se|als)\b"
)
"""A condition that is a demand: `pays only if`."""
_CONSEQUENCE = pattern(
    r"(?i)\b(?:ends|end|lapses?|void|forfeit\w*|terminat\w+|expires?|penalt\w+|fined?|repay|pays? back|is (?:lost|refused|withdrawn|cut)|pays? nothing|cuts|closes|shuts|switch(?:es)? off|zahlt (?:nicht|nichts)|sperrt|schaltet|ne paie|coupe|ferme|no paga|cierra|corta|non paga|chiude|stacca|betaalt niets|sluit|não paga|fecha|nie płaci|odcina|breach\w*|stops?|"
    r"endet|erlischt|erlöschen|entfällt|entfallen|verfällt|verwirkt|vertragsstrafe\w*|bußgeld|zurückzahlen|gekündigt|kündig\w+|"
    r"caduque|perdue?s?|résilié\w*|pénalité\w*|amende|rembours\w+|rompu\w*|caduca\w*|se pierde\w*|penaliza\w*|multa\w*|rescind\w+|resuelve|devolver|"
    r"decade|decadono|si perde|penale|penali|risolto|restituire|vervalt|vervallen|boetes?|ontbonden|terugbetal\w+|perde-se|resolvido|wygasa|kara|traci|zwrot\w*)\b"
)
"""What follows if a demand is not met: a condition with it is a demand, `the permit ends if it draws more than`."""
_CONSENT = pattern(
    r"(?i)\b(?:consent\w*|agree[sd]?|accepts?|permits?|zustimm\w*|stimm(?:t|en) zu|erlaub\w*|akzeptier\w*|acceptent?|autorisent?|consienten?|aceptan?|acconsent\w*|accettano?|aanvaard\w*|stemt in|concordam?|aceitam?|zgadza\w*)\b[^.;]{0,120}\b(?:if|wenn|falls|sofern|si|se|als|indien|jeśli)\b"
)
"""A consent with its condition, which is a demand: `the estate consents if no book is seen twice`."""
_CONDITION = pattern(r"(?i)\b(?:if|unless|when|wenn|falls|sofern|si|se|als|indien|jeśli|gdy)\b[^,;]{1,200}")
_SHORT_OF = pattern(
    r"(?i)\b(?:less than|fewer than|under|below|short of|weniger als|unter|moins de|menos de|meno di|sotto i|minder dan|onder|mniej niż|poniżej) (?:the |les |los |i )?$"
)
"""Words of such a condition that make its figure a lower limit."""
_BEYOND = pattern(
    r"(?i)\b(?:more than|above|over|beyond|exceeds|mehr als|über|plus de|más de|più di|meer dan|mais de|więcej niż|powyżej) (?:the |les |los |i )?$"
)
"""Words of such a condition that make its figure an upper limit."""
_JOINED = pattern(r"(?i)\b(?:and|und|et|y|e|en)\b")
_LESS = pattern(
    r"(?i)\b(?:less|without|excluding|net of|minus|not counting|hors|sans|moins|déduction faite d\w*|ohne|abzüglich|nach abzug|sin|menos|descontad\w+|aparte de|senza|meno|zonder|na aftrek van|sem|exceto)\b[^.;:()]{0,40}$"
)
_LEFT_OUT = pattern(
    r"(?i)^[^,.;]{0,12}? (?:(?:is |are |not|non|nicht|no|niet|não) {0,2}){1,2}(?:compris\w*|included|counted|enthalten|eingerechnet|inbegriffen|incluid\w+|comprese?o?|inbegrepen|incluíd\w+)\b|^[^,.;]{0,12}? (?:excluded|escluso|esclusa|excluid[oa])\b"
)
_CEILINGS = frozenset({"ceil", "maydraw"})
"""Meanings of upper limits."""
_BEHIND = 20
"""Characters from a number to the words that it counts."""
_NEXT = 8
"""Characters between a figure and the words that make it a lower limit."""
_FAR = 50
"""Characters by which a time is farther from the words of a subject than the one that is meant."""
_CLAUSE = 25
"""Characters that a clause between a figure and a word counts as."""
_LEXICON = Lexicon((*WORDS, *SUBJECT_WORDS, *QUANTITY_WORDS))
ALL_SUBJECTS = (*SUBJECTS, *QUANTITY_SUBJECTS)
_FLOORS, _UPPERS = frozenset({"floor", "lower"}), frozenset({*_CEILINGS, "upper"})
"""Meanings next to a figure that make it a lower limit, and an upper one."""


def lexicon() -> Lexicon:
    """The words of demands and of their subjects."""
    return _LEXICON


def demands_in(text: str) -> Iterator[Demand]:
    """The demands of a text.

    >>> [(each.subject.name, each.value) for each in demands_in("The hall gives us no more than 160 kW. The bidder has 90 kW.")]
    [('power', 160000.0)]
    """
    found: list[Demand] = []
    for sentence in joined_sentences(without_named_places(kept_sentences([*plain_sentences(text)]))):
        has_number = _DIGIT.search(sentence) is not None or next(fractions_in(sentence), None) is not None
        if has_number and len(sentence) <= LONGEST_SENTENCE:
            found += less_parts_of_others(sentence, demands_of_sentence(sentence))
    yield from binding_demands(found) if len(found) > 1 else found


@lru_cache(256)
def demands_of_sentence(sentence: str) -> Sequence[Demand]:
    """The demands of a sentence."""
    found = lexicon().mentions(sentence)
    found += phrases_in(sentence)
    found += [each._replace(meaning="most") for each in found if each.meaning in _CEILINGS]
    mentions = [each for each in found if not _is_left_out(sentence, each)]
    meanings = {each.meaning for each in mentions}
    rows = _subjects_named(meanings)
    parts = parts_of_others(sentence, mentions) if rows else ()
    if not rows or (0, len(sentence)) in parts:
        return ()
    demands = [
        each
        for figure in demand_figures(sentence)
        if not (
            any(start <= figure.start < end or start < figure.end <= end for start, end in parts)
            and not _is_route(figure)
        )
        and (each := _demand_of(sentence, figure, mentions, rows))
    ]
    return [each for each in demands if not any(_is_nearer(other, each) or _is_part(each, other) for other in demands)]


def _is_route(figure: DemandFigure) -> bool:
    """Whether a figure is the length of a route, which may go through another building."""
    return figure.is_computed and figure.powers == LENGTH


@lru_cache(256)
def _sets_of(names: str) -> Sequence[frozenset[str]]:
    """Sets of meanings, as a table writes them."""
    return [frozenset(each.split("+")) for each in names.split()]


@lru_cache(1)
def _sets_by_meaning() -> dict[str, list[tuple[frozenset[str], int]]]:
    """The sets of meanings that name subjects, with the index of each, by the first meaning of the set."""
    found: dict[str, list[tuple[frozenset[str], int]]] = {}
    for index, subject in enumerate(ALL_SUBJECTS):
        for each in f"{subject.about} {subject.facts}".split():
            found.setdefault(each.partition("+")[0], []).append((frozenset(each.split("+")), index))
    return found


def _subjects_named(meanings: Set[str]) -> list[Subject]:
    """The subjects that some meanings name, in the order of their table."""
    sets = _sets_by_meaning()
    found = {index for each in meanings for names, index in sets.get(each, ()) if names <= meanings}
    return [ALL_SUBJECTS[index] for index in sorted(found)]


def _contain_set(sets: str, meanings: Set[str]) -> bool:
    """Whether meanings contain one of some sets of meanings."""
    return any(each <= meanings for each in _sets_of(sets))


def _is_left_out(sentence: str, mention: Mention) -> bool:
    """Whether a figure is net of the cooling that a word names: `less pumps and cooling`, `refroidissement non compris`."""
    return mention.meaning in {"cooling", "servicenot", "inclcooling"} and (
        _LESS.search(sentence[: mention.start]) is not None or _LEFT_OUT.match(sentence[mention.end :]) is not None
    )


def _is_part(one: Demand, other: Demand) -> bool:
    """Whether a figure is a part of a computed one, of the same subject."""
    return one.subject is other.subject and len(one.words) < len(other.words) and one.words in other.words


def _is_nearer(one: Demand, other: Demand) -> bool:
    """Whether a figure is nearer to the words of the same subject than another one; of times that are about as near, each may be meant."""
    if one.subject is not other.subject:
        return False
    if one.subject.measures == "time":
        return other.nearness - one.nearness > _FAR
    return (other.is_named, -other.nearness) < (one.is_named, -one.nearness)


def _demand_of(
    sentence: str, figure: DemandFigure, mentions: Sequence[Mention], rows: Sequence[Subject]
) -> Demand | None:
    start, end = clause_bounds(sentence, figure.start, figure.end)
    clause = sentence[start:end]
    inside = {each.meaning for each in mentions if start <= each.start < end} | {
        f"!{each.meaning}" for each in mentions if each.start < figure.end
    }
    if _is_of_another(sentence, figure, (start, end), mentions) or (
        _supposes(sentence, clause)
        and "fails" not in inside
        and _ONLY_IF.search(sentence) is None
        and not _has_consequence(sentence)
        and _CONSENT.search(sentence) is None
    ):
        return None
    found = [
        (_distance(sentence, figure, mentions, each), each)
        for each in rows
        if figure.powers in MEASURES[each.measures]
        and not (figure.is_computed and each.measures == "bare")
        and each.least <= figure.value <= each.most
        and (not each.counted or is_counted_by(sentence, figure, mentions, each.counted))
    ]
    if figure.is_computed:
        inside -= {"each"} if _is_mean_count(figure, mentions) else {"each", "mean"}
    found = sorted(
        (each for each in found if inside.isdisjoint(each[1].unless.split())),
        key=lambda each: (each[0], -_size(each[1])),
    )
    if not found or any(
        (each[0], _size(each[1])) == (found[0][0], _size(found[0][1])) and each[1].name != found[0][1].name
        for each in found[1:]
    ):
        return None
    distance, subject = found[0]
    hurts = _hurt_of(sentence, figure, mentions, subject)
    if distance > subject.reach or not hurts:
        return None
    return Demand(
        subject, figure.value, figure.words, sentence, distance, bool(figure.powers or subject.counted), hurts
    )


def _has_consequence(sentence: str) -> bool:
    """Whether a sentence says, outside its condition, what follows if a demand is not met.

    >>> _has_consequence("The permit ends if it draws more than 60 kW"), _has_consequence("20 days if a tenth is lost")
    (True, False)
    """
    return _CONSEQUENCE.search(_CONDITION.sub(" ", sentence)) is not None


def _is_in_condition(sentence: str, figure: DemandFigure) -> bool:
    """Whether a figure stands in a condition of its sentence."""
    return any(each.start() <= figure.start < each.end() for each in islice(_CONDITION.finditer(sentence), MOST_PARTS))


def _is_mean_count(figure: DemandFigure, mentions: Sequence[Mention]) -> bool:
    """Whether the count of a computed figure is a mean, by the words right before it: `the average file has 900 words`."""
    return any(each.meaning == "mean" and 0 <= figure.start - each.end < _BEHIND for each in mentions)


def _supposes(sentence: str, clause: str) -> bool:
    """Whether a clause of a sentence supposes something; the Italian `si` does not.

    >>> _supposes("Nella sala non si superano i 90 kW di una linea", "non si superano i 90 kW"), _supposes("Si la salle donne", "Si la salle donne")
    (False, True)
    """
    return is_hypothetical(_SI.sub(" ", clause) if language_of(sentence) == ITALIAN else clause)


_SI = pattern(r"(?i)\bsi\b")


def _size(subject: Subject) -> int:
    """The meanings that name a subject: one with more of them is more special."""
    return max(each.count("+") for each in (*subject.about.split(), *subject.facts.split()))


def _is_of_another(sentence: str, figure: DemandFigure, clause: tuple[int, int], mentions: Sequence[Mention]) -> bool:
    """Whether the clause of a figure, in its part of the sentence, has a word for another thing."""
    part = next((each for each in parts_of(sentence) if each[0] <= figure.start < each[1]), (0, len(sentence), False))
    start, end = max(clause[0], part[0]), min(clause[1], part[1])
    return any(
        each.meaning == "other" and start <= each.start < end and not _is_within(each, figure) for each in mentions
    )


def _is_within(mention: Mention, figure: DemandFigure) -> bool:
    """Whether a word stands between the figures of a computed one, `drei Institute je acht Knoten, zwei weitere je sechs`, or
    right before an amount of money, which it adds to others: `another 90,000 EUR`.
    """
    is_added = ("money", 1) in figure.powers and mention.end <= figure.start <= mention.end + 1
    return is_added or (figure.is_computed and figure.start <= mention.start < figure.end)


def _hurt_of(sentence: str, figure: DemandFigure, mentions: Sequence[Mention], subject: Subject) -> str:
    """Which values of the design break a figure of a subject; empty where its words bind the other way, or not at all."""
    is_floor, is_ceiling = (
        any(each.meaning in meanings and _gap(sentence, figure, each) < _NEXT for each in mentions)
        for meanings in ({"floor"}, _CEILINGS)
    )
    if subject in QUANTITY_SUBJECTS:
        return _hurt_of_quantity(sentence, figure, mentions, subject)
    if subject.hurts == ABOVE and is_floor:
        return ""
    if subject.hurts == SAID:
        return BELOW if is_floor else ABOVE if is_ceiling else ""
    if not _contain_set(subject.about, {each.meaning for each in mentions}):
        return "" if is_floor or is_ceiling else OTHER if subject.hurts == BELOW else subject.hurts
    return subject.hurts


def _hurt_of_quantity(sentence: str, figure: DemandFigure, mentions: Sequence[Mention], subject: Subject) -> str:
    """Which values of a quantity of the design break a figure; empty where its words bind the other way."""
    is_floor, is_ceiling = (
        any(each.meaning in meanings and _gap(sentence, figure, each) < _NEXT for each in mentions)
        for meanings in (_FLOORS, _UPPERS)
    )
    if _has_consequence(sentence) and _is_in_condition(sentence, figure):
        ahead = sentence[: figure.start]
        if _SHORT_OF.search(ahead) is not None:
            is_floor, is_ceiling = not is_floor, False
        elif _BEYOND.search(ahead) is not None:
            is_floor, is_ceiling = False, True
    if subject.hurts == ABOVE:
        return "" if is_floor else ABOVE
    if subject.hurts == SAID:
        return BELOW if is_floor or figure.is_computed else ABOVE if is_ceiling else ""
    if subject.hurts == CAPPED:
        return BELOW if is_floor else ABOVE
    if subject.hurts == OTHER:
        return BELOW if is_floor else ABOVE if is_ceiling else OTHER
    return ABOVE if is_ceiling else BELOW


def _distance(sentence: str, figure: DemandFigure, mentions: Sequence[Mention], row: Subject) -> int:
    """The characters from a figure to the farthest meaning that its subject needs, in the nearest set of them."""
    return min(
        max(
            min((_gap(sentence, figure, each) for each in mentions if each.meaning == meaning), default=10**6)
            for meaning in one
        )
        for one in (*_sets_of(row.about), *_sets_of(row.facts))
    )


def _gap(sentence: str, figure: DemandFigure, mention: Mention) -> int:
    """The characters between a figure and a word, each clause between them counted as further ones."""
    if mention.start >= figure.start and mention.end <= figure.end:
        return 0
    first, last = (figure.end, mention.start) if mention.start >= figure.end else (mention.end, figure.start)
    ends = sum(1 for _, end in clauses_of(sentence) if first <= end <= last)
    joined = sum(1 for _ in _JOINED.finditer(sentence, first, last))
    return last - first + _CLAUSE * (ends + joined)


_COUNTABLE = frozenset(
    {
        "engineword",
        "nodeend",
        "rack",
        "rackplace",
        "devicemem",
        "nicword",
        "checkpoint",
        "sample",
        "question",
        "password",
    }
)
"""Meanings of what numbers count."""


def is_counted_by(sentence: str, figure: DemandFigure, mentions: Sequence[Mention], meaning: str) -> bool:
    """Whether the first words right behind a number that it may count have a meaning."""
    behind = [
        each
        for each in mentions
        if each.meaning in _COUNTABLE and each.start >= figure.start and _gap(sentence, figure, each) < _BEHIND
    ]
    first = min((each.start for each in behind), default=0)
    return any(each.meaning == meaning for each in behind if each.start == first)
