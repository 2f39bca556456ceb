"""Relations between figures of a service in a text: the stated figure and the one computed from the others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clusterspec.quantity import DAY
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.loads import (
    DIGITS,
    LoadFigure,
    figures_in,
    number_of,
    percentages_in,
    times_in,
    unit_of_capacity,
)
from clusterspec.rules.readers.passages import passages_of, with_numerals
from clusterspec.rules.readers.units import NUMBERS, SPELLED_TENS
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.standard import pattern
from clusterspec.units import display


class DerivedFigure(NamedTuple):
    """A stated and a computed figure of a sentence; with ``exact``, a stated figure that is too low is wrong too."""

    stated: float
    computed: float
    message: str
    sentence: str
    exact: bool = False


_SERVED = r"(?:requests?|users?|streams?|sessions?|answers?|conversations?|sequences?|calls?|anfragen|antworten|requêtes|réponses|peticiones)"
_FLYING = pattern(
    rf"(?i)(?P<count>{DIGITS})(?P<kilo>k)? (?:{_SERVED} )?(?:(?:are|is|sind|sont|being|run|running|always|then) ){{0,2}}"
    r"(?:in[- ]flight|concurrent(?:ly)?(?: requests?| users?| streams?)?|at (?:once|a time|the same time|any (?:time|moment|one time))|simultan\w{0,16}|gleichzeitig\w{0,8}|parallel\w{0,3}|en vol|en vuelo|en cours|en curso|in parallel|in progress|in the system|"
    r"in service|outstanding|active|open(?: at (?:a|any) time)?|offene?|aktive?|served|processed)\b"
    rf"|\b(?:concurrency|concurrent|in[- ]flight|parallelität|nebenläufigkeit|simultanéité|concurrence)(?: \w+)?(?: of| is| are|:| =| von| de| est){{1,2}} ?(?P<behind>{DIGITS})(?P<kilo_behind>k)?\b"
)
_PROVISIONED = pattern(
    r"(?i)\b(?:size[ds]?|sizing|provision\w*|headroom|reserve[ds]?|margin|allow\w*|(?:enough|room) for|capacity|supports?|peaks|bursts?|admits?|ausgelegt|dimensionn\w*)\b"
)
"""Pattern of words for requests within the capacity of a service."""
_ARRIVALS = pattern(
    rf"(?i)(?P<count>{DIGITS}) (?:of them |new ones |davon )?(?:arrive|come in|are sent|start|kommen|treffen|arrivent|llegan)[^.;,\d]{{0,16}} (?:per|each|every|a|pro|je|par|por|chaque|cada) ?(?:second|sekunde|seconde|segundo)\b"
)
"""Pattern of an arrival rate whose noun is elsewhere in the sentence."""
_FOLLOWS = pattern(
    r"(?i)=|→|\b(?:so|hence|thus|therefore|that is|which is|i\.e|are|is|makes?|gives?|means?|means that|also|daher|ergibt|ergeben|sind|donc|soit|font|sont|on a|por tanto|son|little)\b"
)
_ROUGH = pattern(
    r"(?i)[~≈]|\b(?:about|around|roughly|some|nearly|almost|circa|ca|etwa|rund|environ|près|unos|peak|day|night|busiest|burst|bursts|headroom|reserve|sized|limit|batch)\b"
)
"""Pattern of words for figures that are rounded or belong to other hours."""
_SPEED = pattern(
    r"(?i)^ ?(?:a|per|/|each|pro|par|por) ?(?:\w+ )?(?:tokens?|steps?|chunks?)\b|^ ?(?:ttft|tpot|to first|between|of prefill|queue|wait|timeout|peak|apart|interval|window|in advance|ago|later)"
)
_NOT_ANSWERS = pattern(
    r"(?i)\b(?:timeout|interval|every|within|window|after|ttft|tpot|first token|cold|idle|at most|up to|max\w*|limit\w*|of at least|target|p\d\d|percentile)\b"
)
_OF_REQUEST = pattern(
    r"(?i)\b(?:takes?|took|lasts?|stays?|each|apiece|latency|duration|holds?|lives?|residence|spends?|je|brauch\w*|benötig\w*|laufzeit|answers?|(?:per|an?) (?:request|call)|generation|open|dauer\w*|antwort\w*|antwortzeit|latenz|latence|temps|anfrage|réponses?|requête|chacune?|tiempo|dur\w{1,8}|respuestas?|tarda\w?)\b"
)
"""Pattern of words next to the duration of a whole request."""
_TIMES_SIGN = pattern(r"^ ?[x×*·] ?$")


def requests_in_flight(text: str) -> Iterator[DerivedFigure]:
    """The requests in flight of sentences that also state exactly one request rate and one time per request.

    >>> [(each.stated, each.computed) for each in requests_in_flight("20 requests/s that take 12 s are 120 in flight.")]
    [(120.0, 240.0)]
    """
    for sentence in passages_of(text, 3):
        flying = list(_FLYING.finditer(sentence))
        times = [each for each in times_in(sentence) if not _SPEED.match(sentence[each.end :])] if flying else []
        if (
            not times
            or _NOT_ANSWERS.search(sentence) is not None
            or _PROVISIONED.search(sentence) is not None
            or percentages_in(sentence)
        ):
            continue
        rates = [each for each in figures_in(sentence) if each.kind == "requests" and each.period]
        rates = rates or [_arrivals(each) for each in _ARRIVALS.finditer(sentence)]
        times = [each for each in times if not any(rate.start <= each.start < rate.end for rate in rates)]
        if len(flying) == len(rates) == len(times) == 1 and _is_time_of_request(sentence, rates[0], times[0]):
            yield from _flying_requests(sentence, flying[0], rates[0].per_second, times[0].value)


def _arrivals(match: re.Match[str]) -> LoadFigure:
    return LoadFigure(number_of(match["count"], whole=True), "requests", 1.0, *match.span())


def _is_time_of_request(sentence: str, rate: LoadFigure, time: LoadFigure) -> bool:
    """Whether a time is the duration of a whole request, and the rate is not for one unit."""
    near = sentence[max(0, time.start - 28) : time.end + 20]
    of_request = _OF_REQUEST.search(near) or _TIMES_SIGN.search(sentence[rate.end : time.start])
    return of_request is not None and not unit_of_capacity(sentence, rate)


def _flying_requests(sentence: str, flying: re.Match[str], rate: float, seconds: float) -> Iterator[DerivedFigure]:
    """The stated and the computed number of requests in flight, if they differ by more than rounding explains."""
    kilo = flying["kilo"] or flying["kilo_behind"]
    stated, computed = (
        number_of(flying["count"] or flying["behind"], whole=True) * (1000 if kilo else 1),
        rate * seconds,
    )
    follows = _FOLLOWS.search(sentence) is not None and _ROUGH.search(sentence) is None
    tolerance = EXACT if follows else ROUNDED
    if stated and computed and not 1 / tolerance <= stated / computed <= tolerance:
        message = f"according to the text, {rate:,.4g} requests/s of {display(seconds, 's')} each are {stated:,.10g} in flight; they are {computed:,.6g}"
        yield DerivedFigure(stated, computed, message, sentence)


ROUNDED, EXACT = 1.25, 1.1
"""Factors up to which two figures agree: in general, and if the text derives one from the other."""


_CONSTANT = pattern(
    r"(?i)\b(?:around the clock|constant\w*|steady|mean|average|on average|24 ?h|day and night|sustained|rund um die uhr|im mittel|en moyenne|de media|en promedio|at that rate)\b"
)
_BARE_RATE = pattern(
    rf"(?i)(?P<digits>{DIGITS}) ?(?:per second|a second|/s|pro Sekunde|je Sekunde|par seconde|por segundo)\b"
)
_FROM_TO = pattern(
    r"(?i)\b(?:from|between|von|zwischen|de|entre) (?P<from>\d{1,2})(?:(?::(?P<m>\d\d))| ?(?=h|uhr|am|pm|bis|to)) ?(?:uhr|h|(?P<half>am|pm))? ?(?:to|and|und|until|till|bis|à|et|a|y|-|–) (?P<to>\d{1,2})(?:(?::(?P<n>\d\d))| ?(?=h\b|uhr|am|pm)) ?(?:uhr|h|(?P<other_half>am|pm))?"
)
_HOURS = pattern(
    rf"(?i)\b(?:in|within|over|for|during|per|every|each|window of|night of|run of|takes?|lasts?|binnen|über|dans|pendant|en|durante|innerhalb von) (?:the |a |each |its |last |den |les )*(?:night of |window of |run of )?(?P<hours>{DIGITS})[ -]?(?:h|hours?|stunden|heures|horas)\b"
)
_OTHER_LOAD = pattern(
    r"(?i)\b(?:not|would|could|can|capacity|(?<!add )(?<!adds )(?<!added )up to|limit\w*|quota|sold|per (?:key|tenant|user|customer|node|engine|gpu)|each (?:node|engine|gpu|of (?:them|these|the|our|us))|each one|every one of|jede[rs]? (?:von|der)|chacune?|cada un[oa]|ognun[oa]|other|cached|elsewhere|old|former|previous|predecessor|pilot|last (?:year|month|week)|next|later|batch api)\b"
)


def counts_of_period(text: str, planned: float | None) -> Iterator[DerivedFigure]:
    """Requests or tokens per day, month or some hours, with the rate in their sentence or the ``planned`` requests/s.

    >>> text = "40 requests/s around the clock are 34 M requests a day."
    >>> [(each.stated, each.computed, each.exact) for each in counts_of_period(text, None)]
    [(34000000.0, 3456000.0, True)]
    """
    for sentence in sentences_of(with_numerals(text)):
        figures = figures_in(sentence)
        rates = [each for each in figures if 0 < each.period <= 60]
        counted = any(each.kind in _COUNTED and each not in rates for each in figures)
        bare = _BARE_RATE.search(sentence) if counted and not rates and _names_second(sentence) else None
        if not counted or (not rates and bare is None and planned is None):
            continue
        counts = list(_counts(sentence, figures))
        if not counts or any(unit_of_capacity(sentence, each) for each in rates) or _OTHER_LOAD.search(sentence):
            continue
        for count, period, what in counts:
            same = [each for each in rates if each.kind == count.kind]
            constant = _CONSTANT.search(sentence) is not None
            if bare is not None:
                rate, of = number_of(bare["digits"]), "the stated rate"
            elif len(same) == 1 and len(rates) == 1 and not percentages_in(sentence):
                rate, of = same[0].per_second, "the stated rate"
                constant = constant or _is_at_rate(sentence, same[0])
            elif not rates and planned is not None and count.kind == "requests":
                rate, of, constant = planned, "`request_rate`", False
            else:
                continue
            computed = rate * period
            message = f"according to the text, there are {count.value:,.10g} {count.kind} in {what}; at {of}, {rate:,.6g} {count.kind}/s, they are {'' if constant else 'at most '}{computed:,.0f}"
            yield DerivedFigure(count.value, computed, message, sentence, constant)


_AT = pattern(r"(?i)\b(?:at|bei|à|mit|with|a) (?:a |its |the |our |constant |rate of |an average of ){0,4}$")
_HIGHEST = pattern(
    r"(?i)\b(?:peak|up to|at most|max\w*|spitze\w*|pointe|burst\w*|höchstens|au plus|less than|more than|over|queue\w*|backlog)\b"
)


def _is_at_rate(sentence: str, rate: LoadFigure) -> bool:
    """Whether a sentence states a constant rate for its count, and not a highest rate."""
    return _AT.search(sentence[: rate.start]) is not None and _HIGHEST.search(sentence) is None


_COUNTED = ("requests", "tokens", "documents")


def _names_second(sentence: str) -> bool:
    folded = sentence.lower()
    return any(each in folded for each in ("/s", "second", "sekunde", "segundo"))


def _counts(sentence: str, figures: Sequence[LoadFigure]) -> Iterator[tuple[LoadFigure, float, str]]:
    """The counts of requests and tokens of a sentence, each with the seconds and the name of its period."""
    hours = _HOURS.search(sentence) if times_in(sentence) else None
    clock = _FROM_TO.search(sentence)
    alone = len([each for each in figures if each.kind in _COUNTED and not each.period]) == 1
    each_day = _PERIOD.search(sentence) if alone else None
    for each in figures:
        if each.kind not in _COUNTED:
            continue
        if each.period >= DAY:
            names = {1: "a day", 7: "a week"}
            yield (
                each,
                each.period,
                names.get(round(each.period / DAY), "a month" if each.period < 40 * DAY else "a year"),
            )
        elif not each.period and hours is not None and (alone or abs(hours.start() - each.end) <= 20):
            number = number_of(hours["hours"])
            yield each, number * 3600, f"{number:g} h"
        elif not each.period and alone and clock is None and len(long := _long_times(sentence)) == 1:
            yield each, long[0], f"{long[0] / 3600:g} h"
        elif not each.period and clock is not None and each.value > 1:
            minutes = _minutes_between(clock)
            yield each, 60.0 * minutes, f"{minutes / 60:g} h"
        elif not each.period and each_day is not None and each.value > 1 and hours is None:
            yield each, *_PERIODS[(each_day["of"] or each_day["adverb"])[:2].lower()]


_WINDOW = pattern(r"(?i)\b(?:night|window|shift|batch|nacht\w*|schicht|fenêtre|nuit|noche)\b")


def _long_times(sentence: str) -> list[float]:
    """The times of an hour or more, in seconds, of a sentence about a work window such as a night."""
    return [each.value for each in times_in(sentence) if each.value >= 3600] if _WINDOW.search(sentence) else []


_PERIOD = pattern(
    r"(?i)\b(?:per|each|every|a|pro|je|jeden|am|par|chaque|por|cada|al) (?P<of>day|tag|jour|día|dia|hour|stunde|heure|hora)\b|\b(?P<adverb>daily|täglich|quotidien\w*|hourly|stündlich)\b"
)
_PERIODS = {
    **dict.fromkeys(("da", "ta", "jo", "dí", "di", "tä", "qu"), (DAY, "a day")),
    **dict.fromkeys(("ho", "st", "he"), (3600.0, "an hour")),
}
"""The length in seconds and the name of a period, by the first letters of its word."""


def _minutes_between(clock: re.Match[str]) -> int:
    """The minutes between two times of day; a morning hour that follows a later hour is on the next day."""
    start, end = (
        60 * (int(clock[hour]) % 12 + 12 * (half.lower() == "pm") if half else int(clock[hour]))
        + int(clock[minute] or 0)
        for hour, minute, half in (("from", "m", clock["half"] or ""), ("to", "n", clock["other_half"] or ""))
    )
    return (end - start) % 1440 or 1440


_MAKES = pattern(r"(?i)=|\b(?:are|is|make|makes|mean|means|that is|i\.e|ergeben|sind|font|soit|son)\b")
_LENGTH = pattern(rf"(?i)(?P<digits>{DIGITS}) (?:input|output|prompt|in|out)\b")
_DIGIT = pattern(r"\d")


def _sentence_without(sentence: str, figures: Sequence[LoadFigure]) -> str:
    """The sentence with the given figures removed."""
    for each in reversed(figures):
        sentence = sentence[: each.start] + sentence[each.end :]
    return sentence


def token_rates(text: str) -> Iterator[DerivedFigure]:
    """The token rates that a sentence derives from its only request rate and the tokens per request.

    >>> text = "With 2,000 tokens in and 500 out, 20 requests/s are 5,000 tokens/s. 2,000 input tokens: 2 requests/s are 900 tokens/s."
    >>> [(each.stated, each.computed) for each in token_rates(text)]
    [(5000.0, 50000.0), (900.0, 4000.0)]
    """
    for sentence in sentences_of(text):
        figures = figures_in(sentence)
        rates = [each for each in figures if each.period == 1.0]
        if [each.kind for each in rates] != ["requests", "tokens"]:
            continue
        lengths = [each.value for each in figures if each.kind == "tokens" and not each.period]
        rest = _sentence_without(sentence, figures)
        lengths += [number_of(each["digits"], whole=True) for each in _LENGTH.finditer(rest)]
        if _DIGIT.search(_LENGTH.sub("", rest)) is not None:
            continue  # a figure that is not read may be a length
        if not 1 <= len(lengths) <= 2 or _OTHER_LOAD.search(sentence) is not None:
            continue
        if _MAKES.search(sentence[rates[0].end : rates[1].start]) is None or percentages_in(sentence):
            continue
        possible = [rates[0].value * each for each in (*lengths, sum(lengths))]
        stated = rates[1].value
        nearest = min(possible, key=lambda each: abs(stated - each))
        factor = stated / nearest if nearest else 1.0
        if factor > 1.25 or factor < 0.8:
            message = f"according to the text, {rates[0].value:,.6g} requests/s are {stated:,.10g} tokens/s; with {' and '.join(f'{each:,.10g}' for each in lengths)} tokens each they are {possible[-1]:,.10g}"
            yield DerivedFigure(stated, possible[-1], message, sentence)


_LAYERS = pattern(
    r"(?i)\b(?P<layers>two|three|four|2|3|4|zwei|drei|vier|deux|trois|dos|tres) (?:[\w-]+ ){0,2}?(?:layers|levels|hops|tiers|ebenen|schichten|niveaux|couches|capas|niveles)\b"
)
_ATTEMPTS = pattern(
    r"(?i)\b(?P<attempts>two|three|four|five|2|3|4|5|zwei|drei|deux|trois|dos|tres) (?:attempts|tries|versuche|tentatives|intentos)\b(?: each)?"
)
_TRIES = ("attempts", "tries", "versuche", "tentatives", "intentos")
_TIMES = pattern(
    rf"(?i)\b(?P<times>{DIGITS}|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen) (?:times (?:the|as)|requests|calls|attempts at the|-?fold)\b|\bfactor (?:of )?(?P<factor>{DIGITS})"
)


def amplified_attempts(text: str) -> Iterator[DerivedFigure]:
    """The attempts of several retrying layers, if a text adds the attempts of the layers instead of multiplying them.

    >>> text = "Three layers make three attempts each, so an outage brings at most nine times the load."
    >>> [(each.stated, each.computed) for each in amplified_attempts(text)]
    [(9, 27)]
    """
    for sentence in sentences_of(text):
        attempts = _ATTEMPTS.search(sentence) if any(each in sentence.lower() for each in _TRIES) else None
        layers = _LAYERS.search(sentence) if attempts is not None else None
        if layers is None or attempts is None:
            continue
        one, each = (_small_number(found) for found in (layers["layers"], attempts["attempts"]))
        for match in _TIMES.finditer(sentence):
            stated = _small_number(match["times"] or match["factor"])
            if stated == one * each != each**one:
                message = f"according to the text, {one} layers with {each} attempts each make {stated} times the load; attempts multiply: {each**one} times"
                yield DerivedFigure(stated, each**one, message, sentence)
                return


def _small_number(written: str) -> int:
    word = written.lower()
    return NUMBERS.get(word) or SPELLED_TENS.get(word) or int(number_of(written))
