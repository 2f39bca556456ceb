"""Figures of a text that name a value of a design, by their unit, their noun and the words around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from math import isnan, nan

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import clause_bounds, clauses_of, is_hypothetical, is_of_other_plan
from clusterspec.rules.readers.dimensions import Figure, figures_of, noun_of
from clusterspec.rules.readers.loads import MOST_CHARACTERS
from clusterspec.rules.readers.named_keys import SAME_PRICE, NamedKey
from clusterspec.rules.readers.numerals import fractions_in
from clusterspec.rules.readers.passages import with_numerals
from clusterspec.rules.readers.statements.named_terms import NAMED, PATTERNED
from clusterspec.rules.readers.subjects import (
    is_of_another_contract,
    is_of_another_room,
    is_share_of_another,
    is_size_of_site,
)
from clusterspec.rules.readers.written_numbers import (
    MOST_MATCHES,
    belongs_to_something_else,
    has_word,
    number_in_text,
    sentences_of,
)
from clusterspec.standard import pattern

_DIGIT = pattern(r"\d")
_PRICE = pattern(r"(?<![\d.,])\d{1,3}[.,]\d{1,4}(?![\d.,])")
LONGEST_WORDS = 48
"""Largest number of characters of a figure with its words that a message quotes."""
MOST_SENTENCES, LONGEST_SENTENCE = 200, 1500
"""Largest number of sentences of a text that are read, and of characters of one of them."""
_OTHER_MODE = pattern(
    r"(?i)\b(?:(?:(?:un)?like|as (?:with|in|for|on|by)|wie (?:bei|im|in|der|die|das)|comme)(?=[^|]{0,40}\|)|can|could|(?-i:may)|might|up to|at (?:most|least)|as (?:much|many) as|max(?:imum|imal|imally)?|min(?:imum|imal|imally)?|more|less|fewer|than|(?<!split )(?<!spread )(?<!divided )(?<!sharded )(?:over|under|below|above)(?= ?[|\d])|beyond|within reach|exceeds?|later|soon|next(?! to\b)|"
    r"future|planned|extend\w*|extension|option\w*|grow\w*|pilot|tests?|tested|trial|measured|observed|saw|seen|took|ran|offered|asked|tried|slower|faster|instead|another|other|others|of (?:which|them|these|those)|"
    r"best|worst|aims?|goal|hopes?|longest|shortest|largest|smallest|typical\w*|half|quarter|third|only|left|free|remaining|rest|some|rounds?|ramp\w*|begins?|starts?|until|since|first|last|"
    r"warm-?up|phases?|stage \d|rehearsal|fail\w*|lost|without|not|no|never|instead|except|compar\w*|versus|vs|reference|paper|competitor\w*|theirs?|"
    r"kann|können|könnte|darf|bis zu|höchstens|mindestens|maximal\w*|minimal\w*|mehr|weniger|(?:über|unter)(?= ?[|\d])|später|geplant|künftig\w*|erweiter\w*|statt|andere\w*|davon|nicht|kein\w*|ohne|hälfte|nur|noch|erst\w*|letzt\w*|"
    r"peut|peuvent|pourra\w*|jusqu\w*|au (?:plus|moins)|plus|moins|plus tard|prévu\w*|autre\w*|dont|pas|sans|moitié|seulement|encore|premi\w*|derni\w*|"
    r"puede\w*|hasta|como (?:máximo|mucho|mínimo)|al menos|más|menos|otr[oa]s?|últim[oa]s?|sin|sólo|solo|nunca|mitad|"
    r"può|possono|fino a|al (?:massimo|più)|almeno|più|meno|altr[oaie]|ultim[oaie]|senza|soltanto|metà|"
    r"kan|kunnen|hoogstens|hooguit|minstens|maximaal|minimaal|meer|minder|andere?|laatste|eerste|zonder|slechts|helft|niet|geen|"
    r"até|no (?:máximo|mínimo)|pelo menos|mais|outr[oa]s?|sem|apenas|metade|najwyżej|maksymalnie|co najmniej|inn[aey]\w*|ostatni\w*|bez|tylko)\b|[<>≤≥±]"
)
"""Words of a clause whose figure is a bound, a part, a plan, or of something else."""
_ORDER = pattern(
    r"(?i)\b(?:first|last|final|remaining|rest|other|erste\w*|letzte\w*|restliche\w*|premi\w*|derni\w*|of the)\b"
)
"""Words of an instalment, which is a part by nature."""
_ALTERNATIVE = pattern(
    r"(?i)\b(?:came at|turned down|rejected|declined|competing|alternatives?|cheaper|was quoted|were quoted|abgelehnt|verworfen|refusée?s?|écartée?s?)\b"
)
"""Words of a sentence about an option that was not chosen."""
_TERM_BEHIND = pattern(r"^ ?(?:[/×*+=]|x(?= ?\d))")
_TERM_AHEAD = pattern(r"(?:[/×*]|\bx) ?$")
"""Signs of a calculation next to one of its terms."""
_NAME_AHEAD = pattern(r"(?<=[^.;:!?] )[A-Z][a-z]+ $")
_EARLIER = pattern(r"(?i) (?:\w+ )?(?:before(?! \w)|ago)\b")
"""Words after a figure that refer it to an earlier run."""
_CONDITION = pattern(r"(?i)\W*(?:with|for|under|at|mit|bei|für|avec|pour|con|para|por)\b")
"""Words that begin a clause on which the next one depends."""
_KILOWATT_HOUR = 3.6e6
"""Joules."""
_RANGE = pattern(r"\d[\w%]{0,3} ?(?:to|or|or even|bis|oder|ou|à|[–-]) ?$")
_RANGE_BEHIND = pattern(r"^ ?(?:to|or|bis|oder|ou|à|[–-]) ?\d")
_OF_PRICE = pattern(
    r"(?i) (?:of the|of our|des|der|du|de la|del?|dell[ao]|van de|do|da) \w*(?:price|sum|amount|total|invoice|preis|kauf|summe|betrag|prix|montant|precio|importe|prezzo|importo|prijs|bedrag|preço|valor)"
)
"""Words behind a fraction of a price."""
SIZES_OF_MACHINE = frozenset({"cluster.nodes", "cluster.accelerators"})
SHARES_OF_PRICE = frozenset(
    {"procurement.discount", *(f"procurement.payment.{key}" for key in ("order", "delivery", "acceptance"))}
)


class Statement(NamedTuple):
    """A figure that a text states for a key, in SI."""

    key: NamedKey
    value: float
    words: str


class _Reading(NamedTuple):
    distance: int
    start: int
    end: int
    cue: tuple[int, int]
    statement: Statement


def wrong_statements(
    text: str, own: Mapping[str, Sequence[float]], rows: Sequence[NamedKey] = NAMED
) -> Iterator[Statement]:
    """The figures that a text states for the keys of ``rows`` and that differ from all values of ``own`` for these keys.

    A key is skipped where the text also states a right figure for it, or several wrong ones.

    >>> own = {"cluster.scale_out.nics_per_node": [8], "procurement.pue": [1.3]}
    >>> [(each.key.key, each.words) for each in wrong_statements("Four HCAs per node. The PUE is 1.3.", own)]
    [('cluster.scale_out.nics_per_node', '4 HCAs per node')]
    >>> list(wrong_statements("The old nodes had four HCAs each; a PUE of 1.2 would be good.", own))
    []
    """
    sentences = [*islice(sentences_of(plain_text(text)), MOST_SENTENCES)]
    if any(_wrong_among(sentences, own, rows)):
        from clusterspec.rules.readers.other_parties import words_of_party  # most texts have nothing wrong
        from clusterspec.rules.readers.rejections import kept_sentences, turns_down

        kept = [each for each in kept_sentences(sentences) if not (turns_down(each) or words_of_party(each))]
        yield from _wrong_among(kept, own, rows)


def _wrong_among(
    sentences: Sequence[str], own: Mapping[str, Sequence[float]], rows: Sequence[NamedKey]
) -> Iterator[Statement]:
    """The figures of sentences that differ from all values of the keys that they state."""
    found: dict[str, list[Statement]] = {}
    for sentence in sentences:
        for each in statements_in(sentence, own, rows):
            found.setdefault(each.key.key, []).append(each)
    for key, stated in found.items():
        wrong = [each for each in stated if not is_stated_value(each, own[key])]
        if len(wrong) == len(stated) and len({each.value for each in wrong}) == 1 and not isnan(wrong[0].value):
            yield wrong[0]


def plain_text(text: str) -> str:
    """A text on one line with small numbers, and fractions of a price, in digits."""
    plain = with_numerals(" ".join(text[:MOST_CHARACTERS].split()), apart=True)
    for each in [*fractions_in(plain)][::-1]:
        if _OF_PRICE.match(plain, each.end) is not None:
            plain = f"{plain[: each.start]}{100 * each.value:.3g} %{plain[each.end :]}"
    return plain


def is_stated_value(each: Statement, own: Sequence[float]) -> bool:
    return any(abs(each.value - value) <= each.key.same * abs(value) for value in own)


def statements_in(
    sentence: str, own: Mapping[str, Sequence[float]], rows: Sequence[NamedKey] = NAMED
) -> Iterator[Statement]:
    """The figures that a sentence states for the present design, each with the key that the nearest words name. A range
    has the value NaN.
    """
    if len(sentence) > LONGEST_SENTENCE:
        return
    named = [each for each in rows if own.get(each.key) and has_word(sentence, each.cues, each.starts)]
    readings = [each for row in PATTERNED if own.get(row.key) for each in _pattern_readings(sentence, row)]
    for figure in figures_of(sentence, bare=True) if named else ():
        near = sorted(_readings_of(sentence, figure, named), key=lambda each: each.distance)
        fit = [each for each in near if not _is_not_of_key(sentence, each)]
        readings += [each for each in fit or near if each.distance == (fit or near)[0].distance]
    for each in readings:
        taken = any(other.cue == each.cue and other.distance < each.distance for other in readings)
        values = own[each.statement.key.key]
        other = _is_of_another_subject(sentence, each) or _states_own_price(sentence, each, values[0])
        if not is_stated_value(each.statement, values) and other:
            continue
        if not taken and _is_of_present_design(sentence, each, values[0]):
            is_range = _is_of_range(sentence, each)
            yield each.statement._replace(value=nan) if is_range else each.statement


def _pattern_readings(sentence: str, row: NamedKey) -> Iterator[_Reading]:
    """The figures that a pattern of a key reads, such as `TP 8`, `TP2` and `4-way pipeline parallelism`."""
    if row.words is None or not has_word(sentence, row.cues, row.starts):
        return
    for match in islice(row.words.finditer(sentence), MOST_MATCHES):
        value = float(match[match.lastindex or 1].replace(",", "")) * row.least
        yield _Reading(0, match.start(), match.end(), match.span(), Statement(row, value, match[0].strip()))


def _readings_of(sentence: str, figure: Figure, rows: Sequence[NamedKey]) -> Iterator[_Reading]:
    start, end = clause_bounds(sentence, figure.start, figure.end)
    for row in rows:
        if figure.value < row.least or figure.value > row.most:
            continue
        if figure.powers not in row.powers and not (figure.bare and figure.bare in row.powers):
            continue
        if row.words is None:
            statement = Statement(row, figure.value, figure.words)
            yield _Reading(0, figure.start, figure.end, (figure.start, figure.end), statement)
            continue
        for cue in islice(row.words.finditer(sentence, start, end), MOST_MATCHES):
            distance = max(figure.start - cue.end(), cue.start() - figure.end, 0)
            between = sentence[min(cue.end(), figure.end) : max(cue.start(), figure.start)]
            if distance <= row.reach and _DIGIT.search(between) is None:
                first, last = min(cue.start(), figure.start), max(cue.end(), figure.end)
                words = sentence[first:last] if last - first <= LONGEST_WORDS else figure.words
                statement = Statement(row, figure.value, words)
                yield _Reading(distance, figure.start, figure.end, cue.span(), statement)


def _is_of_present_design(sentence: str, reading: _Reading, own: float) -> bool:
    """Whether a figure belongs to the present design, and is not a bound, a plan, or a figure of a part or of another
    thing.
    """
    if _is_of_something_else(sentence, reading) or _is_of_a_part(sentence, reading, own):
        return False
    start, end = _clause_span(sentence, reading.start, reading.end)
    clause = sentence[start:end]
    if is_hypothetical(clause) or is_of_other_plan(clause) or _is_not_of_key(sentence, reading):
        return False
    (first, begin), (behind, last) = sorted((reading.cue, (reading.start, reading.end)))
    rest = f"{sentence[start:first]}|{sentence[begin:behind]}|{sentence[max(begin, last) : end]}"
    return _OTHER_MODE.search(_ORDER.sub(" ", rest) if reading.statement.key.is_instalment else rest) is None


def _is_of_another_subject(sentence: str, reading: _Reading) -> bool:
    """Whether a share is of another party's money, a time of another contract, or a number of nodes what the site is laid out for."""
    key = reading.statement.key.key
    if key == "procurement.term":
        return is_of_another_contract(sentence, *reading.cue)
    if key == "cluster.power.budget":
        return is_of_another_room(sentence) or _others_share_power(sentence)
    if key in SIZES_OF_MACHINE:
        return is_size_of_site(sentence, reading.start)
    discount = key == "procurement.discount"
    return key in SHARES_OF_PRICE and is_share_of_another(sentence, reading.start, reading.end, discount=discount)


def _others_share_power(sentence: str) -> bool:
    """Whether a sentence gives a part of the power of a site to others."""
    from clusterspec.rules.readers.demands.remainders import gives_parts_to_others  # few texts state a budget

    return gives_parts_to_others(sentence)


def _states_own_price(sentence: str, reading: _Reading, own: float) -> bool:
    """Whether a sentence also states the own price of electricity, without its unit: `theirs costs 0.11 EUR per kWh, ours 0.14 EUR`."""
    if reading.statement.key.key != "procurement.electricity":
        return False
    found = [each for each in _PRICE.findall(sentence) if each]
    return any(abs(number_in_text(each) / (own * _KILOWATT_HOUR) - 1) < SAME_PRICE for each in found)


def _is_not_of_key(sentence: str, reading: _Reading) -> bool:
    """Whether the clause of a figure has words that show that the figure is not the value of the key."""
    unless = reading.statement.key.unless
    return (
        unless is not None and unless.search(sentence, *_clause_span(sentence, reading.start, reading.end)) is not None
    )


def _is_of_something_else(sentence: str, reading: _Reading) -> bool:
    """Whether a figure belongs to an earlier run, an alternative, a calculation or a name."""
    before, behind = sentence[: reading.start], sentence[reading.end :]
    after = sentence[max(reading.end, reading.cue[1]) :][:20]
    return (
        belongs_to_something_else(sentence, reading.start)
        or _EARLIER.match(after) is not None
        or _TERM_BEHIND.match(behind) is not None
        or _TERM_AHEAD.search(before) is not None
        or _ALTERNATIVE.search(sentence) is not None
        or (reading.statement.key.counts and _is_of_a_name(before))
    )


def _is_of_a_part(sentence: str, reading: _Reading, own: float) -> bool:
    """Whether a sentence is about a part of the thing that the key describes, or about another thing with such figures."""
    row = reading.statement.key
    if row.elsewhere is not None and row.elsewhere.search(sentence) is not None:
        return True
    return row.part is not None and reading.statement.value < own and row.part.search(sentence) is not None


def _is_of_a_name(before: str) -> bool:
    """Whether the word before a number is a name that the number may end, as in `Slingshot 11`.

    >>> [_is_of_a_name(each) for each in ("four Slingshot ", "Jeder Knoten ", "a rack of ", "Four ")]
    [True, False, False, False]
    """
    match = _NAME_AHEAD.search(before)
    return match is not None and not noun_of(match[0].strip())


def _is_of_range(sentence: str, reading: _Reading) -> bool:
    before, behind = sentence[: reading.start], sentence[reading.end :]
    return _RANGE_BEHIND.match(behind) is not None or _RANGE.search(before) is not None


def _clause_span(sentence: str, start: int, end: int) -> tuple[int, int]:
    """The clause with a figure; a clause that begins with a preposition is read with the next one."""
    first, last = clause_bounds(sentence, start, end)
    if _CONDITION.match(sentence[first:last]) is not None:
        last = next((each[1] for each in clauses_of(sentence) if each[0] >= last), last)
    return first, last
