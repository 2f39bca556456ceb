"""The relations between figures of a service that a text states together: each with the stated figure and the computed one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from clusterspec.quantity import DAY
from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.text_loads import (
    DIGITS,
    LoadFigure,
    figures_in,
    number_of,
    percentages_in,
    times_in,
    unit_of_capacity,
)
from clusterspec.rules.knowledge.text_units import NUMBERS, SPELLED_TENS, word_set
from clusterspec.rules.knowledge.written_numbers import has_word, sentences_of
from clusterspec.standard import pattern
from clusterspec.units import display


class Derived(NamedTuple):
    """A stated figure and the one that follows from the others of its sentence; ``exact`` where it may also not be lower."""

    stated: float
    computed: float
    message: str
    sentence: str
    exact: bool = False


_FLYING = pattern(
    rf"(?i)(?P<count>{DIGITS})(?P<kilo>k)? (?:(?:requests?|users?|streams?|sessions?|answers?|conversations?|sequences?|anfragen|requêtes|peticiones) )?(?:are |is )?"
    r"(?:in[- ]flight|concurrent(?:ly)?(?: requests?| users?| streams?)?|at (?:once|a time|the same time)|simultan\w{0,16}|gleichzeitig\w{0,8}|en vol|en vuelo|in parallel|open at a time|open (?:streams|requests|connections|calls|sessions))\b"
)
_SPEED = pattern(
    r"(?i)^ ?(?:a|per|/|each|pro|par|por) ?(?:\w+ )?(?:tokens?|steps?|chunks?)\b|^ ?(?:ttft|tpot|to first|between|of prefill|queue|wait|timeout|peak|apart|interval|window)"
)
_NOT_ANSWERS = pattern(
    r"(?i)\b(?:timeout|interval|every|within|window|after|ttft|tpot|first token|cold|idle|at most|up to|max\w*|limit\w*|of at least|target)\b"
)
_OF_REQUEST = pattern(
    r"(?i)\b(?:takes?|lasts?|stays?|each|answers?|(?:per|an?) (?:request|call)|generation|open|dauer\w*|antwort\w*|anfrage|réponses?|dur\w{1,8}|respuestas?|tarda\w?)\b"
)
"""Words next to the time of a whole request."""
_TIMES_SIGN = pattern(r"^ ?[x×*·] ?$")


def requests_in_flight(text: str) -> Iterator[Derived]:
    """Requests in flight, with the only rate of requests and the only time of a request in their sentence.

    >>> [(each.stated, each.computed) for each in requests_in_flight("20 requests/s that take 12 s are 120 in flight.")]
    [(120.0, 240.0)]
    """
    for sentence in sentences_of(text):
        rates = [each for each in figures_in(sentence) if each.kind == "requests" and each.period]
        if len(rates) != 1 or not times_in(sentence):
            continue
        flying = list(_FLYING.finditer(sentence))
        times = [each for each in times_in(sentence) if not _SPEED.match(sentence[each.end :])]
        times = [each for each in times if not any(rate.start <= each.start < rate.end for rate in rates)]
        if not len(flying) == len(rates) == len(times) == 1 or _NOT_ANSWERS.search(sentence) is not None:
            continue
        near = sentence[max(0, times[0].start - 28) : times[0].end + 20]
        if (
            unit_of_capacity(sentence, rates[0])
            or percentages_in(sentence)
            or not (_OF_REQUEST.search(near) or _TIMES_SIGN.search(sentence[rates[0].end : times[0].start]))
        ):
            continue
        stated = number_of(flying[0]["count"], whole=True) * (1000 if flying[0]["kilo"] else 1)
        rate, seconds = rates[0].per_second, times[0].value
        message = f"according to the text, {rate:,.4g} requests/s of {display(seconds, 's')} each are {stated:,.10g} in flight; they are {rate * seconds:,.6g}"
        if stated and rate * seconds:
            yield Derived(stated, rate * seconds, message, sentence)


_CONSTANT = pattern(
    r"(?i)\b(?:around the clock|constant\w*|steady|mean|average|on average|24 ?h|day and night|sustained|rund um die uhr|im mittel|en moyenne|de media|en promedio|at that rate)\b"
)
_BARE_RATE = pattern(
    rf"(?i)(?P<digits>{DIGITS}) ?(?:per second|a second|/s|pro Sekunde|je Sekunde|par seconde|por segundo)\b"
)
_FROM_TO = pattern(
    r"(?i)\b(?:from|between|von|de|entre) (?P<from>\d{1,2}):(?P<m>\d\d) (?:to|and|until|till|bis|à|et|a|y) (?P<to>\d{1,2}):(?P<n>\d\d)\b"
)
_HOURS = pattern(
    rf"(?i)\b(?:in|within|over|for|during|per|every|each|binnen|en|durante|innerhalb von) (?:the |a |each )?(?:night of |window of )?(?P<hours>{DIGITS}) ?(?:h|hours?|stunden|heures|horas)\b"
)
_OTHER_LOAD = pattern(
    r"(?i)\b(?:not|would|could|can|capacity|up to|limit\w*|quota|sold|per (?:key|tenant|user|customer|node|engine|gpu)|each (?:node|engine|gpu)|other|cached|elsewhere|next|later|batch api)\b"
)


def counts_of_period(text: str, planned: float | None) -> Iterator[Derived]:
    """Requests or tokens of a day, a month or a number of hours, with the rate of their sentence, or the ``planned`` one in
    requests/s.

    >>> text = "40 requests/s around the clock are 34 M requests a day."
    >>> [(each.stated, each.computed, each.exact) for each in counts_of_period(text, None)]
    [(34000000.0, 3456000.0, True)]
    """
    for sentence in sentences_of(text):
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
            elif not rates and planned is not None and count.kind == "requests":
                rate, of, constant = planned, "`request_rate`", False
            else:
                continue
            computed = rate * period
            message = f"according to the text, there are {count.value:,.10g} {count.kind} in {what}; at {of}, {rate:,.6g} {count.kind}/s, they are {'' if constant else 'at most '}{computed:,.0f}"
            yield Derived(count.value, computed, message, sentence, constant)


_COUNTED = ("requests", "tokens", "documents")


def _names_second(sentence: str) -> bool:
    folded = sentence.lower()
    return any(each in folded for each in ("/s", "second", "sekunde", "segundo"))


def _counts(sentence: str, figures: Sequence[LoadFigure]) -> Iterator[tuple[LoadFigure, float, str]]:
    """The counts of requests and tokens of a sentence, each with the seconds and the name of its period."""
    hours = _HOURS.search(sentence) if times_in(sentence) else None
    clock = _FROM_TO.search(sentence) if ":" in sentence else None
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
        elif not each.period and hours is not None and abs(hours.start() - each.end) <= len(" that are answered "):
            number = number_of(hours["hours"])
            yield each, number * 3600, f"{number:g} h"
        elif not each.period and clock is not None and each.value > 1:
            minutes = (60 * (int(clock["to"]) - int(clock["from"])) + int(clock["n"]) - int(clock["m"])) % 1440 or 1440
            yield each, 60.0 * minutes, f"{minutes / 60:g} h"


_MAKES = pattern(r"(?i)=|\b(?:are|is|make|makes|mean|means|that is|i\.e|ergeben|sind|font|soit|son)\b")
_LENGTH = pattern(rf"(?i)(?P<digits>{DIGITS}) (?:input|output|prompt|in|out)\b")
_DIGIT = pattern(r"\d")


def _sentence_without(sentence: str, figures: Sequence[LoadFigure]) -> str:
    """A sentence without some of its figures."""
    for each in reversed(figures):
        sentence = sentence[: each.start] + sentence[each.end :]
    return sentence


def token_rates(text: str) -> Iterator[Derived]:
    """Tokens per second with the only rate of requests from which they follow, and the tokens of each request.

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
            yield Derived(stated, possible[-1], message, sentence)


_PART_OF = pattern(
    r"(?i)\b(?:one|an?|eine?|une?|una?) (?:[\w-]+ )?(?:engine |replica |pod |node )?(?:of|out of|von|sur|de) (?:the |all |our )?(?P<all>\d{1,4})\b|\bone of (?:the |our )?(?P<other>\d{1,4})\b"
)
_EVENLY = pattern(
    r"(?i)\b(?:round[- ]robin|evenly|equal(?:ly)?|at random|alike|gleichmäßig|à parts égales|por igual)\b"
)
_TRAFFIC = pattern(r"(?i)\b(?:traffic|requests?|load|verkehr|anfragen|trafic|tráfico)\b")


_OF_ONE = word_set("of von sur de")
_ONE = word_set("one a an ein eine un une una")
"""Words of the part of a whole, both of which a text has that names one of the given units."""


def shares_of_traffic(text: str) -> Iterator[Derived]:
    """The share of the traffic of one engine among some that a text spreads evenly.

    >>> [(each.stated, each.computed) for each in shares_of_traffic("One of 20 engines gets 10 % of the traffic by round robin.")]
    [(10.0, 5.0)]
    """
    for sentence in sentences_of(text):
        shares = percentages_in(sentence)
        if len(shares) != 1 or not (has_word(sentence, _OF_ONE) and has_word(sentence, _ONE)):
            continue
        if _EVENLY.search(sentence) is None or _TRAFFIC.search(sentence) is None:
            continue
        match = _PART_OF.search(sentence)
        if match is None:
            continue
        computed = 100 / max(1, int(match["all"] or match["other"]))
        if not 0.8 <= shares[0].value / computed <= 1.25:
            message = f"according to the text, one of {match['all'] or match['other']} gets {shares[0].value:.10g} % of the traffic; spread evenly it gets {computed:.3g} %"
            yield Derived(shares[0].value, computed, message, sentence)


_CACHE = pattern(r"(?i)\b(?:cache|kv|key-value|caché)\b")
_EACH_BYTES = pattern(
    rf"(?i)(?P<digits>{DIGITS}) ?(?P<unit>B|bytes|kB|KB|KiB|MB|MiB)(?: (?:a|per|each|pro|je|par|por) ?(?:token|jeton)| each|/token)?\b"
)
_SIZE = pattern(rf"(?P<digits>{DIGITS}) ?(?P<unit>[MGT]i?B)\b(?!/)")
_BYTES = {
    "b": 1.0,
    "bytes": 1.0,
    "kb": 1e3,
    "kib": 1024.0,
    "mb": 1e6,
    "mib": 2.0**20,
    "gb": 1e9,
    "gib": 2.0**30,
    "tb": 1e12,
    "tib": 2.0**40,
}
_OTHER_BYTES = pattern(
    r"(?i)\b(?:weights?|memory of|hbm|left|free|requests|users|sessions|engines?|nodes?|gpus?|ranks?|tp|layers?|hit|shared)\b|/s\b"
)


def cache_sizes(text: str) -> Iterator[Derived]:
    """The size of a cache with the only number of tokens and the bytes of each in its sentence.

    >>> [(each.stated, each.computed) for each in cache_sizes("24,000 tokens x 327,680 B are 786 MB of cache.")]
    [(786000000.0, 7864320000.0)]
    """
    for sentence in sentences_of(text):
        tokens = [each for each in figures_in(sentence) if each.kind == "tokens" and not each.period and each.value > 1]
        if len(tokens) != 1 or not any(unit in sentence for unit in ("MB", "GB", "TB", "iB")):
            continue
        if _CACHE.search(sentence) is None or _OTHER_BYTES.search(sentence) is not None:
            continue
        sizes = [(each, _size_of(each["digits"], each["unit"])) for each in _SIZE.finditer(sentence)]
        small = [_size_of(each["digits"], each["unit"]) for each in _EACH_BYTES.finditer(sentence)]
        small = [each for each in small if 512 <= each <= 8e6]
        large = [size for _, size in sizes if size not in small]
        if len(tokens) == len(small) == len(large) == 1:
            computed = tokens[0].value * small[0]
            message = f"according to the text, {tokens[0].value:,.10g} tokens of {display(small[0], 'B')} are {display(large[0], 'B')} of cache; they are {display(computed, 'B')}"
            yield Derived(large[0], computed, message, sentence)


_OF_A_TOKEN = pattern(
    rf"(?i)(?P<digits>{DIGITS}) ?(?P<unit>B|bytes|kB|KB|KiB|MB|MiB)(?: (?:a|per|each|for (?:a|each|every)|pro|je|par|por) ?|/)(?:token|jeton)\b"
)
_OF_A_PART = pattern(
    r"(?i)\b(?:gpus?|ranks?|accelerators?|cards?|chips?|devices?|draft\w*|instead of|would|were|was"
    r"|(?<!\d )(?<!\d kv )(?<!key-value )(?:layers?|heads?)|each of \d+ layers)\b"
)
"""Words of sentences on a part of the model or of the machine; `80 layers` is the whole of it."""


def bytes_of_tokens(text: str) -> Iterator[tuple[str, float]]:
    """The sentences that give the bytes of cache of a token of the whole model, with these bytes.

    >>> list(bytes_of_tokens("The cache takes 64 KiB a token in bf16. Of it a rank holds 16 KiB a token."))
    [('The cache takes 64 KiB a token in bf16', 65536.0)]
    """
    for sentence in sentences_of(text):
        found = [_size_of(each["digits"], each["unit"]) for each in _OF_A_TOKEN.finditer(sentence)]
        if len(found) == 1 and _CACHE.search(sentence) is not None and _OF_A_PART.search(sentence) is None:
            yield sentence, found[0]


def _size_of(digits: str, unit: str) -> float:
    return number_of(digits, whole=unit.lower() in ("b", "bytes")) * _BYTES[unit.lower()]


_ENGINES = pattern(r"(?i)^ (?:of|with|on|à|mit|von|de) $")


def engines_of_accelerators(text: str) -> Iterator[tuple[str, int, int]]:
    """The engines that a text counts, with the accelerators of each.

    >>> [each[1:] for each in engines_of_accelerators("Nine engines of eight GPUs in one rack.")]
    [(9, 8)]
    """
    for sentence in sentences_of(text):
        figures = figures_in(sentence)
        for one, other in pairwise(figures):
            between = sentence[one.end : other.start]
            if (one.kind, other.kind) == ("engines", "accelerators") and _ENGINES.match(between):
                yield sentence, int(one.value), int(other.value)


_EACH = pattern(
    r"(?i)^ (?:each|apiece|chacun\w?|cada un[ao]|je)\b|^ (?:per|a|je|pro|par|por) (?:node|server|engine|knoten|nœud|nodo)\b"
)
_IN_ALL = pattern(r"(?i)^ (?:in (?:all|total)|altogether|together|overall|insgesamt|zusammen|au total|en total)\b|^$")


def totals_of_units(text: str) -> Iterator[Derived]:
    """A number of engines or accelerators in all, with the nodes, or engines, and the number in each from which it follows.

    >>> text = "Six nodes with eight engines each, 40 engines in all."
    >>> [(each.stated, each.computed) for each in totals_of_units(text)]
    [(40.0, 48.0)]
    """
    for sentence in sentences_of(text):
        figures = figures_in(sentence)
        for whole, part, total in zip(figures, figures[1:], figures[2:], strict=False):
            units = whole.kind in ("nodes", "engines") and part.kind == total.kind in ("engines", "accelerators")
            stated = _EACH.match(sentence[part.end :]) and _IN_ALL.match(sentence[total.end :])
            if units and whole.kind != part.kind and stated and total.value != whole.value * part.value:
                computed = whole.value * part.value
                message = f"according to the text, {whole.value:,.10g} {whole.kind} with {part.value:,.10g} {part.kind} each have {total.value:,.10g}; they have {computed:,.10g}"
                yield Derived(total.value, computed, message, sentence)


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


def amplified_attempts(text: str) -> Iterator[Derived]:
    """The load of attempts that several layers multiply, where a text gives their sum.

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
                yield Derived(stated, each**one, message, sentence)
                return


def _small_number(written: str) -> int:
    word = written.lower()
    return NUMBERS.get(word) or SPELLED_TENS.get(word) or int(number_of(written))
