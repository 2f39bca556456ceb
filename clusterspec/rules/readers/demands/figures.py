"""The figures of a sentence that may be demanded: as written, and shares of a count, amounts of each of a count, and rates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, permutations

from clusterspec.quantity import DAY, HOUR
from clusterspec.rules.readers.demands.energies import (
    ACCELERATOR_TIME,
    CARBON,
    ENERGY,
    FLOPS,
    MONEY_RATE,
    YEARLY_CARBON,
    YEARLY_ENERGY,
    DemandFigure,
    accelerator_time_figures,
    energy_figures,
    flop_figures,
    money_rates,
)
from clusterspec.rules.readers.demands.sums import LOST, summed_figures
from clusterspec.rules.readers.dimensions import NOUNS, Powers, figures_of, product_of
from clusterspec.rules.readers.numerals import fractions_in
from clusterspec.rules.readers.units import TIME_WORDS
from clusterspec.rules.readers.written_numbers import large_number_in_text, number_in_text
from clusterspec.standard import pattern

MOST_FIGURES = 12
"""Figures of a sentence that are read: one with more of them is a table."""
FARTHEST = 120
"""Characters between two figures of one amount."""
_NOTHING: Powers = frozenset()
_SHARE: Powers = frozenset({("share", 1)})
_SIZE: Powers = frozenset({("B", 1)})
_TIME: Powers = frozenset({("s", 1)})
_KEPT_SIZE: Powers = frozenset({("B", 1), ("kept", 1)})
_FLOW: Powers = frozenset({("B", 1), ("s", -1)})
_LENGTH: Powers = frozenset({("m", 1)})
_NODES: Powers = frozenset({("node", 1)})
_ACCELERATORS: Powers = frozenset({("accelerator", 1)})
_COUNTED = frozenset(NOUNS.values()) - {"token", "failure"}
MEASURES = {
    "watts": {frozenset({("W", 1)})},
    "watts of a rack": {frozenset({("W", 1)}), frozenset({("W", 1), ("rack", -1)})},
    "watts of a row": {frozenset({("W", 1)}), frozenset({("W", 1), ("row", -1)})},
    "energy of a year": {YEARLY_ENERGY},
    "carbon of a year": {YEARLY_CARBON},
    "carbon": {CARBON},
    "steps": {frozenset({("step", 1)})},
    "flop rate": {frozenset({("flop", 1), ("s", -1)})},
    "money": {frozenset({("money", 1)})},
    "flops": {FLOPS},
    "watts of a node": {frozenset({("W", 1), ("node", -1)})},
    "requests of an engine": {
        *(frozenset({(each, 1)}) for each in ("request", "sequence")),
        *(frozenset({(each, 1), ("engine", -1)}) for each in ("request", "sequence")),
    },
    "nodes or none": {_NOTHING, _NODES},
    "size": {_SIZE},
    "kept size": {_KEPT_SIZE},
    "size of a node": {_SIZE, frozenset({("B", 1), ("node", -1)})},
    "rate": {_FLOW},
    "time": {
        _TIME,
        frozenset({("s", 1), ("token", -1)}),
        frozenset({("s", 1), ("away", 1), ("failure", -1)}),
    },
    "share": {_SHARE},
    "share of a time": {LOST},
    "length": {_LENGTH},
    "bare": {_NOTHING},
    "money/kWh": {frozenset({("money", 1), ("W", -1), ("s", -1)})},
    "tokens": {
        frozenset({("token", 1)}),
        *(frozenset({("token", 1), (each, -1)}) for each in ("request", "sequence", "sample", "person", "file")),
    },
    "tokens/s": {frozenset({("token", 1), ("s", -1)})},
    "sequences": {frozenset({("sequence", 1)}), frozenset({("sequence", 1), ("step", -1)})},
    "requests/s": {
        frozenset({("s", -1)}),
        *(frozenset({(each, 1), ("s", -1)}) for each in ("request", "person", "file")),
    },
    "count": {_NOTHING, *(frozenset({(each, 1)}) for each in _COUNTED)},
    "spares": {frozenset({("node", 1)}), frozenset({("spare", 1)})},
    "nodes": {frozenset({("node", 1)}), frozenset({("node", 1), ("rack", -1)})},
    "requests": {_NOTHING, *(frozenset({(each, 1)}) for each in ("request", "person", "sequence"))},
    "samples": {
        _NOTHING,
        frozenset({("sample", 1)}),
        frozenset({("sample", 1), ("request", -1)}),
        frozenset({("request", -1)}),
    },
    "answers of a step": {
        _NOTHING,
        frozenset({("sample", 1)}),
        frozenset({("request", 1)}),
        frozenset({("step", 1)}),  # a noun of steps behind the one that is counted: `800 respuestas por paso`
        *(frozenset({(each, 1), ("step", -1)}) for each in ("sample", "request")),
        frozenset({("step", -1)}),
    },
    "accelerators": {
        _NOTHING,
        frozenset({("accelerator", 1)}),
        frozenset({("accelerator", 1), ("engine", -1)}),
    },
    "racks": {frozenset({("rack", 1)})},
    "rack places": {_NOTHING, _NODES, frozenset({("rack", 1)}), frozenset({("rack", 1), ("node", -1)})},
    "racks of a row": {frozenset({("rack", 1)}), frozenset({("rack", 1), ("row", -1)})},
    "nics": {_NOTHING, frozenset({("nic", 1)}), frozenset({("nic", 1), ("node", -1)})},
    "checkpoints": {_NOTHING, frozenset({("checkpoint", 1)})},
    "energy": {ENERGY},
    "seconds": {_TIME},
    "size of a checkpoint": {_SIZE, frozenset({("B", 1), ("checkpoint", -1)})},
    "size of a device": {_SIZE, *(frozenset({("B", 1), (each, -1)}) for each in ("accelerator", "rank"))},
    "tokens/s of a device": {frozenset({("token", 1), ("s", -1), ("accelerator", -1)})},
    "tokens/s of a user": {frozenset({("token", 1), ("s", -1), ("person", -1)})},
    "tokens of each step": {frozenset({("token", 1), ("step", -1)})},
    "failures": {frozenset({("failure", 1)})},
    "time between failures": {_TIME, frozenset({("s", 1), ("failure", -1)})},
    "count of samples": {_NOTHING, frozenset({("sample", 1)}), frozenset({("sample", 1), ("step", -1)})},
    "samples/s": {frozenset({("sample", 1), ("s", -1)})},
    "switches": {frozenset({("switch", 1)})},
    "cables": {frozenset({("cable", 1)})},
    "modules": {frozenset({("module", 1)})},
    "rate of a node": {frozenset({("B", 1), ("s", -1), ("node", -1)})},
    "rows": {frozenset({("row", 1)})},
    "money rate": {MONEY_RATE},
    "money of a request": {frozenset({("money", 1)}), frozenset({("money", 1), ("request", -1)})},
    "money of a step": {frozenset({("money", 1)}), frozenset({("money", 1), ("step", -1)})},
    "accelerator hours": {ACCELERATOR_TIME},
    "money of tokens": {frozenset({("money", 1)}), frozenset({("money", 1), ("token", -1)})},
}
"""The powers of the figures of each measure."""
_OF_FEED: Powers = frozenset({("W", 1), ("feed", -1)})
_REQUEST: Powers = frozenset({("request", 1)})
_HOUR_AHEAD = pattern(
    r"(?i)\b(?:in|during|zur|à|dans|pendant|durant|en|durante|nell|in|na) ?(?:the|der|dieser|l|la|le|una|een|het|de|a)?['’ ]?(?:[^\W\d]+ ){0,2}(?:hour|stunde|heure|hora|ora|uur)\b[^.;:\d]{0,48}$"
)
"""The hour in which a number of requests comes, before it."""
_ASKED = pattern(
    r"(?i)^ (?:[^\W\d]+ )?(?:questions?|calls?|callers|messages?|chats?|fragen|anrufe\w*|nachrichten|appels?|preguntas|llamadas|mensajes|domande|chiamate|messaggi|vragen|oproepen|berichten|perguntas|chamadas|mensagens)\b"
)
"""What a service is asked, behind its number."""
_SOLE = pattern(
    r"(?i)\b(?:one|a single|only|sole|eine[rn]? einzige\w*|eine[rn]?|une seule|une|una sola|un solo|una única|een enkele|één|uma única|um único) (?:\w+ )?(?:of|von|zu|mit|de|d'|da|di|van) $"
)
"""Words before the power of the only feed."""
_NAMES = _COUNTED | {"token", "failure", "away", "s", "B", "W", "money", "share", "flop", "m"}
_CALCULATED, _FACTOR = pattern(r"(?:[=≈+×*]|(?<![^\W\d])x)\s?$"), pattern(r"\s?(?:[×*/=]|x(?![^\W\d]))")
"""The signs before a result or an addend, and behind a factor."""
_CURRENCY = pattern(r"\b[A-Z]{3} $")
"""The code of a currency before its amount."""
_MINUTES = pattern(r"[:h]\d\d\b")
"""The minutes of a time of the day behind its hour: `19:00`."""
_CLOCK = pattern(r"(?i)\b(?:um|à|de|dès|vers|a las|às|alle|om|from|until|till|jusqu'à) $")
"""Words before a time of the day: `à 14 h`."""
_PART = pattern(r"\s[A-Z][A-Z]*\d")
"""The name of a part behind its number: `8 H100`."""
_METERS = pattern(
    r"(?<![\w.,/])(\d{1,4}(?:[.,]\d)?) ?(?:m|meters?|metres?|mètres?|metros?|metri|metern?)\b(?! ?[²2³3/])"
)
_ONE_IN = pattern(
    r"(?i)\b(?:one|une?|uno|una|ein\w{0,2}|één|um|uma) (?:in|of|out of|(?:user |person )?in every|de cada|sur|su|von|op de|em cada|auf) (\d{1,2})\b"
)
_OF = pattern(r"(?i)^(?: \w+)?,? (?:of|von|der|des|de|du|di|dei|delle|van|do|dos|das)\b")
_OUT_OF = pattern(
    r"(?i)\b(?:of|out of|sur|von|unter|de|entre|su|van|dos|das)(?: (?:the|our|its|den|unseren|les|nos|los|las|sus|nuestros|i|gli|de|onze|os|as))? $"
)
"""Words before a count of which a share follows."""
_EACH_OF_COUNT = pattern(
    r"(?i)\b(?:each|every one|jede\w{0,2}|chacune?|cada un[oa]?|ognun[oa]|ciascun[oa]?|elk|ieder|cada uma?)(?: (?:of|de|der|des|dei|delle|van|dos|das))?(?: (?:the|los|las|les|de|our|unserer))? $"
)
_PERIOD = pattern(
    r"(?i)^(?: [^\W\d]+){0,2} (?:an?|per|each|every|alle|toutes les|ogni|elke|om de|(?:in|within) (?:that|this|the|an?|one|each) (?:\w+ )?|pro|je|in (?:der|dieser|einer) (?:\w+ )?|par|à la|(?:dans|pendant|durant) (?:cette|une|l') ?|por|cada|en (?:esa|una|la)|al|alla|ogni|à|in (?:quell'|un'|dat|een)|per|nessa|numa) ?(?:(?P<many>\d{1,2}) )?(?P<unit>second|minute|hour|Sekunde|Minute|Stunde|seconde|heure|segundo|minuto|hora|secondo|ora|uur|minuut|seconds|minutes|hours|Sekunden|Minuten|Stunden|secondes|heures|segundos|minutos|horas|minuti|ore|minuten|uren)\b|^(?: [^\W\d]+){1,2} (?:à l'|all')(?P<elided>heure|ora)\b"
)
"""Things that nobody knows, and the time in which a number of them comes: `28,800 callers an hour`."""
_IN_MANY = pattern(
    r"(?i)^(?: [^\W\d]+){0,2} (?:in|within|en|innerhalb von|dans|entro|em|binnen) (?P<many>\d{1,3}(?:[.,'’]\d{3})+|\d{2,5}) (?P<unit>seconds|minutes|hours|Sekunden|Minuten|Stunden|secondes|heures|segundos|minutos|horas|secondi|minuti|ore|seconden|minuten|uren)\b"
)
"""Things, and the many seconds or minutes in which they come: `216,000 questions in 21,600 seconds`."""
DAILY = pattern(
    r"(?i)^(?: [^\W\d]+){0,6}? (?:each|every|per|a|pro|am|jeden|chaque|par|cada|al|por|ogni|per|elke|ao) (?P<unit>day|night|week|month|Tag|Nacht|Woche|Monat|jour|nuit|semaine|mois|día|noche|semana|mes|giorno|notte|settimana|mese|dag|nacht|maand|dia|noite|mês)\b|^(?: [^\W\d]+){0,3} (?:täglich|daily|nightly|quotidien\w*|diari\w+|giornalier\w+|dagelijks)\b"
)
DAILY_AHEAD = pattern(
    r"(?i)\b(?:each|every|per|pro|am|jeden|jede|chaque|par|cada|al|por|ogni|elke|por) (?P<unit>day|night|week|month|Tag|Nacht|Woche|Monat|jour|nuit|semaine|mois|día|noche|semana|mes|giorno|notte|settimana|mese|dag|nacht|maand|dia|noite|mês)\b[^.;:\d]{0,48}$|\b(?:daily|täglich|diariamente|dagelijks)\b[^.;:\d]{0,32}$"
)
"""The time in which a size comes, behind it or before it: `25 TB of raw data arrive each day`."""
_OF_THEM = pattern(
    r"(?i)^ (?:of (?:them|these|those)|von ihnen|davon|d'entre (?:eux|elles)|de ell[oa]s|di loro|ervan|van hen|del[ea]s)\b"
)
_EACH = r"(?:each|every|apiece|per|je|jeweils|pro|jede\w{0,2}|chacune?|chaque|par|cada(?: un[oa])?|por|ciascun\w?|ogni|elk\w?|ieder\w?)"
_EACH_AHEAD = pattern(rf"(?i)\b{_EACH} (?:\w+ )?$")
_EACH_BEHIND = pattern(
    rf"(?i)^,? (?:\w+ )?{_EACH}\b(?! (?:counted|counting|seen|read|shown|used|gezählt|gelesen|compté|lu|contad[oa]|contat[oa])\b)"
)
_EACH_OF_THEM = pattern(
    r"(?i)\b(?:(?:each|every one) of (?:them|these|those|whom)|(?:and|und) (?:each|jede\w{0,2})|each (?:one )?(?:sends?|asks?|makes?|puts?)|jede\w{0,2} von ihnen|von denen jede\w{0,2}|chacune?|cada un[oa](?: de ell[oa]s)?|ognun[oa]|ciascun[oa]|ieder van hen|elk van hen|cada uma?(?: del[ea]s)?)\b"
)
"""Words between a count and what each of the counted does."""
_EACH_SENDS = pattern(r"(?i)\b(?:each|every|an?|one|jede\w{0,2}|chaque|cada|ogni|elke?|iedere?) [^.;:,\d]{2,40}$")
_AT_ONCE = pattern(
    r"(?i)^(?: [^\W\d]+){0,6} (?:at once|at the same time|logged in|online|connected|working|gleichzeitig|zugleich|angemeldet|à la fois|en même temps|connectés|a la vez|al mismo tiempo|conectad[oa]s|insieme|contemporaneamente|collegat[ie]|tegelijk|ingelogd|ao mesmo tempo|ligad[oa]s)\b"
)
"""Words before the rate of each person, and behind the number of those who are there."""
_TIMES_SIGN = pattern(r"^(?: \w+)? ?[x×*] ?$")
_WITHIN = pattern(
    r"(?i)\b(?:in|within|inside|over|during|binnen|innerhalb(?: von)?|en|dans|pendant|entro|durante|em|dentro de)(?: (?:at most|the|a|only|one|einem|une?|una?|window of|höchstens|máximo|les|las|le))? $"
)
KEPT = pattern(
    r"(?i)\b(?:kept|keep\w*|retain\w*|retention|stor\w+|stay\w*|hold\w*|held|aufbewahr\w*|gehalten|vorgehalten|bleib\w*|conserv\w*|gard\w*|guard\w*|mant\w*|bewa\w*)\b"
)


def demand_figures(sentence: str) -> list[DemandFigure]:
    """The figures of a sentence, and those that follow from two of them.

    >>> [(each.value, each.words) for each in demand_figures("30 % of 850 assessors at once") if each.is_computed]
    [(255.0, '30 % of 850')]
    >>> [(each.value, each.words) for each in demand_figures("240 Forschende erhalten je 5 TB") if each.is_computed]
    [(1200000000000000.0, '240 x 5 TB')]
    >>> [(each.value, each.words) for each in demand_figures("12 TB a day kept for 90 days") if each.is_computed]
    [(1080000000000000.0, '12 TB a day for 90 days')]
    """
    written = [
        _per_period(
            sentence,
            DemandFigure(
                each.value,
                _without_stray_words(each.bare if each.bare == _TIME else each.powers, sentence[: each.start]),
                each.start,
                each.end,
                each.words,
            ),
        )
        for each in figures_of(sentence, bare=True)
        if not (each.words.endswith(" h") and _CLOCK.search(sentence[: each.start]) is not None)
        and _MINUTES.match(sentence, each.start + each.words.find(":") if ":" in each.words else each.end) is None
        and not (each.start > 1 and sentence[each.start - 1] == ":" and sentence[each.start - 2].isdigit())
        and (("money", 1) in each.powers or _CURRENCY.search(sentence, max(0, each.start - 5), each.start) is None)
        and _CALCULATED.search(sentence, max(0, each.start - 4), each.start) is None
        and _FACTOR.match(sentence, each.end) is None
        and (each.powers or _PART.match(sentence, each.end) is None)
        and not (("W", 1) in each.powers and "Wh" in each.words)
    ]
    written += [
        DemandFigure(number_in_text(match[1]), _LENGTH, match.start(), match.end(), match[0])
        for match in islice(_METERS.finditer(sentence), MOST_FIGURES)
    ]
    written += [*energy_figures(sentence), *flop_figures(sentence), *accelerator_time_figures(sentence)]
    rates = [*money_rates(sentence, written)]
    if len(written) > MOST_FIGURES:
        return []
    named = {FLOPS, _LENGTH, YEARLY_ENERGY, YEARLY_CARBON, CARBON, ENERGY, ACCELERATOR_TIME}
    taken = {each.start for each in written if each.powers in named}
    written = [each for each in written if each.powers in named or each.start not in taken]
    written = [*{(each.start, each.powers): each for each in written}.values()]
    parts = [*_parts_in(sentence)]
    return [
        *written,
        *parts,
        *_computed_figures(sentence, [*written, *parts]),
        *summed_figures(sentence, written),
        *rates,
    ]


def _per_period(sentence: str, figure: DemandFigure) -> DemandFigure:
    """A figure, but a rate where it counts unknown things in a time."""
    if figure.powers == _SIZE:
        return _per_day(sentence, figure)
    if figure.powers not in (_NOTHING, _REQUEST):
        return figure
    behind = sentence[figure.end : figure.end + FARTHEST]
    match = _IN_MANY.match(behind) or _PERIOD.match(behind)
    if match is None:
        counts = figure.powers == _REQUEST or _ASKED.match(sentence[figure.end :]) is not None
        is_of_hour = counts and _HOUR_AHEAD.search(sentence[: figure.start]) is not None
        rate = figure._replace(
            value=figure.value / HOUR, powers=frozenset({("s", -1)}), words=f"{figure.words} an hour"
        )
        return rate if is_of_hour else figure
    end = figure.end + match.end()
    seconds = TIME_WORDS.get((match["unit"] or match["elided"]).lower(), 1.0) * large_number_in_text(
        match["many"] or "1"
    )
    return DemandFigure(figure.value / seconds, frozenset({("s", -1)}), figure.start, end, sentence[figure.start : end])


def _per_day(sentence: str, figure: DemandFigure) -> DemandFigure:
    """A size, but a rate where it comes in each day, week or month."""
    behind, ahead = sentence[figure.end : figure.end + FARTHEST], sentence[: figure.start]
    match = DAILY.match(behind) or DAILY_AHEAD.search(ahead)
    if match is None:
        return figure
    seconds = TIME_WORDS.get((match["unit"] or "day").lower(), DAY)
    return figure._replace(
        value=figure.value / seconds, powers=_FLOW, words=f"{figure.words} a {match['unit'] or 'day'}"
    )


def _without_stray_words(powers: Powers, ahead: str) -> Powers:
    """Powers without those of words that only stand behind a figure: `2 TB im Arbeitsspeicher`, or of the only feed."""
    sole = powers == _OF_FEED and _SOLE.search(ahead) is not None
    return frozenset(each for each in powers if each[0] in _NAMES and not (sole and each[0] == "feed"))


def _parts_in(sentence: str) -> Iterator[DemandFigure]:
    """The shares that a sentence states in words: `one in five`, `a third`."""
    for match in islice(_ONE_IN.finditer(sentence), MOST_FIGURES):
        if float(match[1]) > 1:
            yield DemandFigure(1 / float(match[1]), _SHARE, match.start(), match.end(), match[0])
    for each in islice(fractions_in(sentence), MOST_FIGURES):
        yield DemandFigure(each.value, _SHARE, each.start, each.end, each.words)


def _computed_figures(sentence: str, written: Sequence[DemandFigure]) -> Iterator[DemandFigure]:
    for one, other in permutations(written, 2):
        first, last = min(one, other, key=lambda each: each.start), max(one, other, key=lambda each: each.start)
        between = sentence[first.end : last.start]
        if first.end <= last.start and len(between) <= FARTHEST:
            value, powers, words = _rate_of_all(sentence, one, other) or _amount_of(sentence, one, other, between)
            is_count = powers in MEASURES["requests/s"]
            if words and not (is_count and any(_is_count_between(each, first, last) for each in written)):
                yield DemandFigure(value, powers, first.start, last.end, words, is_computed=True)


def _is_count_between(figure: DemandFigure, first: DemandFigure, last: DemandFigure) -> bool:
    """Whether another count, of which a rate may be, stands between two figures."""
    return figure.powers in MEASURES["count"] and figure.value > 1 and first.end <= figure.start < last.start


def _rate_of_all(sentence: str, one: DemandFigure, other: DemandFigure) -> tuple[float, Powers, str] | None:
    """The value, powers and words of the rate of all, from that of each before their number; None without both."""
    is_of_each = one.powers in MEASURES["requests/s"] and _EACH_SENDS.search(sentence[: one.start]) is not None
    is_number = other.powers in MEASURES["count"] and other.value > 1 and one.start < other.start
    if not (is_of_each and is_number and _AT_ONCE.match(sentence[other.end :]) is not None):
        return None
    return one.value * other.value, one.powers, f"{other.words} x {one.words}"


def _amount_of(sentence: str, one: DemandFigure, other: DemandFigure, between: str) -> tuple[float, Powers, str]:
    """The value, powers and words of the amount that two figures state together; no words without one."""
    if one.powers == _SHARE and other.powers in MEASURES["count"] and other.value > 1:
        of_them = one.start > other.start and _OF_THEM.match(sentence[one.end :]) is not None
        out_of = one.start > other.start and _OUT_OF.search(sentence[: other.start]) is not None
        if of_them or out_of or (one.start < other.start and _OF.match(between) is not None):
            return one.value * other.value, other.powers, f"{one.words} of {other.words}"
    if one.powers in MEASURES["count"] and one.value > 1 and one.start < other.start:
        product = product_of(one.powers, other.powers)
        plain = other.powers in (
            _SIZE,
            *MEASURES["tokens"],
            *MEASURES["watts"],
            *MEASURES["requests/s"],
            _NODES,
            _ACCELERATORS,
        )
        if product in (_SIZE,) and product != other.powers:
            return one.value * other.value, product, f"{one.words} x {other.words}"
        if plain and _is_of_each(sentence, one, other, between):
            return (
                one.value * other.value,
                frozenset(each for each in other.powers if each[1] > 0 or each[0] == "s"),
                f"{one.words} x {other.words}",
            )
    if one.powers == _FLOW and other.powers == _TIME and other.value > DAY and KEPT.search(sentence) is not None:
        return one.value * other.value, _KEPT_SIZE, f"{one.words} for {other.words}"
    is_window = one.powers == _SIZE and other.powers == _TIME and other.value < 3 * DAY
    if is_window and _WITHIN.search(sentence[: other.start]) is not None:
        return one.value / other.value, _FLOW, f"{one.words} in {other.words}"
    return 0.0, _NOTHING, ""


def _is_of_each(sentence: str, count: DemandFigure, figure: DemandFigure, between: str) -> bool:
    """Whether a figure is that of each of the things counted before it."""
    ahead, behind = sentence[: figure.start], sentence[figure.end :]
    if figure.powers in MEASURES["requests/s"]:
        return _EACH_OF_THEM.search(between) is not None
    if _EACH_OF_COUNT.search(ahead[: count.start]) is not None:
        return True
    return (
        _EACH_AHEAD.search(ahead) is not None
        or _EACH_BEHIND.match(behind) is not None
        or _TIMES_SIGN.match(between) is not None
    )
