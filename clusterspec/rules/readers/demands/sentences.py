"""The sentences of a text in which demands are read: with digits for numbers as words, and joined where one speaks of the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, permutations

from clusterspec.quantity import DAY, HOUR
from clusterspec.rules.readers.clauses import is_eastern, refers_to_before
from clusterspec.rules.readers.demands.figures import KEPT
from clusterspec.rules.readers.numerals import with_digits
from clusterspec.rules.readers.passages import with_numerals
from clusterspec.rules.readers.units import TIME_WORDS, with_percent_signs, word_set
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.standard import pattern

MOST_SENTENCES = 200
_DIGIT = pattern(r"\d")
_EACH_OF_THEM = pattern(
    r"(?i)^\W*(?:(?:each|every one)(?: one)? (?:of (?:them|these|those)|sends?|asks?|makes?|puts?|gets?|has|may)|jede\w{0,2} (?:von ihnen|davon)?|chacune?|cada un[oa](?: de ell[oa]s)?|ognun[oa]|ciascun[oa]|ieder(?:een)?(?: van hen)?|elk van hen|cada uma?(?: del[ea]s)?)\b"
)
"""The first words of a sentence about each of the things that the one before counts."""


def plain_sentences(text: str) -> Iterator[str]:
    """The first sentences of a text, with digits for numbers as words and a sign for percents."""
    if is_eastern(text):
        from clusterspec.rules.readers.glosses import glossed  # most texts have no character of the East

        text = glossed(text)
    text = (
        _DAY_OF_MONTH.sub(r"\1 ", " ".join(text.split()))
        .replace("ten hoogste", "hoogstens")
        .replace("ten minste", "minstens")
    )
    plain = _with_ones(with_numerals(with_digits(with_percent_signs(text))))
    return islice(sentences_of(plain), MOST_SENTENCES)


_DAY_OF_MONTH = pattern(
    r"(?i)\b(\d{1,2})\. (?=(?:januar|jänner|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember)\b)"
)
"""The day of a German date, whose point ends no sentence."""
_ARTICLES = word_set("a an one ein eine einem einen einer un une una uno één een um uma d'un d'une")
_LIMITS = word_set(
    "than most within inside under to höchstens maximal binnen innerhalb von als plus d' maximum dans de máximo massimo di entro dan "
    "hoogstens hooguit menos"
)
"""Words before a limit of one unit of time: `more than one hour`, `plus d'une heure`."""
_ALONE = word_set("single einzige einzigen seule seul sola solo enkele enkel única único")
_BETWEEN = word_set(
    "derniers dernières últimos últimas ultimi ultime letzten letzte laatste last full whole volle ganze entiers entières completos "
    "completas completi interi hele working consecutive prochains próximos prossimi nächsten"
)
"""Words between a number and a unit of time: `les 10 derniers jours`."""
_EACH_TIME = word_set("per a an every each por pro par al je alla ogni cada elke in à")
"""Words before a unit of time in which something comes once: `una pregunta por minuto`."""


def _with_ones(text: str) -> str:
    """A text with a digit for the article of what comes once in a time, and of a limit of one unit of time.

    >>> _with_ones("cada uno envía una pregunta por minuto"), _with_ones("each sends one a day, no more than one hour.")
    ('cada uno envía 1 pregunta por minuto', 'each sends one a day, no more than 1 hour.')
    """
    pieces = text.split(" ")
    words = [each.strip(".,;:()").lower() for each in pieces]
    for at, word in enumerate(words[:-1]):
        if word in _ARTICLES and (_is_limit_of_one(words, at) or _is_once_in_a_time(words, at)):
            pieces[at] = f"{'d’' if word.startswith('d') else ''}1"
        if words[at + 1] in _BETWEEN and at + 2 < len(words) and word.isdigit() and words[at + 2] in TIME_WORDS:
            pieces[at], pieces[at + 1] = pieces[at + 1], pieces[at]
    found = _QUARTER_HOUR.sub("15 minutes", " ".join(pieces))
    found = _with_once(found)
    found = _TIMES.sub(lambda each: f"{_TIMES_OF[each[0].lower()]} times", found)
    if _HALF.search(text) is None:
        return found
    return _ONE_AND_A_HALF.sub(
        lambda each: f"1.5 {each['unit'] or each['behind']}", _HALF_HOUR.sub("30 minutes", found)
    )


_TIMES_OF = {
    "twice": 2,
    "thrice": 3,
    "zweimal": 2,
    "dreimal": 3,
    "viermal": 4,
    "fünfmal": 5,
    "tweemaal": 2,
    "driemaal": 3,
    "dwukrotnie": 2,
}
_TIMES_OF |= {"trzykrotnie": 3, "czterokrotnie": 4}
_ONCE = pattern(
    r"(?i)\b(?P<ahead>(?:at most|only|no more than|not more than|more than|just|nur|höchstens|nicht mehr als|mehr als|najwyżej|więcej niż|tylko)) (?:once|(?:ein einziges mal|einmal)|raz)\b|"
    r"\bonce (?:and no more|only|and not again)\b|\b(?:plus d['’]|más de |più d['’i] ?|meer dan |mais de )?(?:une seule fois|una sola vez|una sola volta|(?:één|een) enkele keer|slechts (?:één|een) keer|uma (?:única|só) vez)\b"
)
"""What happens at most once."""


def _with_once(text: str) -> str:
    """A text with a limit of one time for the words of it.

    >>> _with_once("read at most once"), _with_once("shown once and no more"), _with_once("once a day")
    ('read at most 1 times', 'shown at most 1 times', 'once a day')
    """
    return _ONCE.sub(lambda each: f"{each['ahead'] or 'at most'} 1 times", text)


_TIMES = pattern(rf"(?i)\b(?:{'|'.join(_TIMES_OF)})\b")
"""Words for a number of times."""
_QUARTER_HOUR = pattern(
    r"(?i)\b(?:(?:a|one|1) quarter of an hour|(?:eine[rn]? |1 )?viertelstunde|(?:un |1 )?quart d['’]heure|(?:un |1 )?cuarto de hora|(?:un |1 )?quarto d['’]ora|(?:een |1 )?kwartier|(?:um |1 )?quarto de hora|kwadrans\w*)\b"
)
_HALF = pattern(r"(?i)half|halb|demi|medi[ao]\b|mezz|mei[ao]\b|anderthalb|anderhal")
_ONE_AND_A_HALF = pattern(
    r"(?i)\b(?:(?:one|1) and a half|anderthalb|anderhalve|anderhalf) (?P<unit>[^\W\d]+)|\b(?:une?|una?|uno|uma?|1) (?P<behind>[^\W\d]+) (?:et demie?|y medi[ao]|e mezz[ao]|e mei[ao])\b"
)
_HALF_HOUR = pattern(
    r"(?i)\b(?:half an hour|an? half[ -]hour|eine[rn]? halben? stunde|une demi-heure|media hora|mezz['’]ora|een half uur|meia hora)\b"
)


def _is_limit_of_one(words: Sequence[str], at: int) -> bool:
    """Whether an article stands between a word that limits a time and a unit of time."""
    unit = at + 2 if words[at + 1] in _ALONE and at + 2 < len(words) else at + 1
    is_limited = words[at].startswith("d'") or (at > 0 and words[at - 1] in _LIMITS)
    return is_limited and words[unit] in TIME_WORDS and len(words[unit]) > 1


def _is_once_in_a_time(words: Sequence[str], at: int) -> bool:
    """Whether an article stands before a thing, one of the words for each time, and a unit of up to an hour."""
    if words[at + 2 : at + 4] == ["in", "der"]:
        words = [*words[: at + 3], *words[at + 4 :]]
    words = [*words[: at + 1], *(each for each in words[at + 1 : at + 6] if not each.isdigit())]
    return any(
        words[link] in _EACH_TIME and TIME_WORDS.get(words[link + 1], DAY) <= HOUR and len(words[link + 1]) > 1
        for link in (at + 2, at + 3)
        if link + 1 < len(words)
    )


def joined_sentences(sentences: Iterable[str]) -> Iterator[str]:
    """Sentences, and after one without a figure that begins with a pronoun, this one joined to the one before."""
    before = ""
    for each in sentences:
        yield each
        is_of_before = refers_to_before(each) and _DIGIT.search(each) is None
        of_each = _RATE_OF_EACH.search(before) is not None and _DIGIT.search(each) is not None
        if _DIGIT.search(before) is not None and (
            is_of_before or of_each or _EACH_OF_THEM.match(each) is not None or _is_kept(before, each)
        ):
            yield f"{before}, {each}"
        before = each


def _is_kept(*sentences: str) -> bool:
    """Whether one of two sentences says that something is kept, and the other what comes in a day."""
    return any(
        KEPT.search(one) is not None and (_COMES.search(other) is not None) for one, other in permutations(sentences)
    )


_RATE_OF_EACH = pattern(
    r"(?i)\b(?:each|every|jede\w{0,2}|chaque|cada|ogni|elke?|iedere?) [^.;:\d]{2,40}\d+ [^\W\d]+ (?:per|an?|pro|in der|par|por|al?|all['’]|à l['’]|per) ?(?:minute|hour|minuut|uur|stunde|heure|minuto|hora|ora)"
)
"""What each of some people does in a time."""
_COMES = pattern(r"(?i)\d ?[TP](?:i?B|o)\b")
"""An amount of data that takes a store."""
