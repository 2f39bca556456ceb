"""The figures that a text about a service states: counts of requests, tokens, users, engines and nodes, their rates, times,
shares and prices, in English, German, French and Spanish.
"""

from __future__ import annotations

import re

from clusterspec.quantity import DAY
from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.text_units import MINUTE, SCALE_WORDS, TIME_WORDS
from clusterspec.rules.knowledge.written_numbers import NUMBER_WORDS, sentences_of
from clusterspec.spec.model import Spec
from clusterspec.standard import pattern

MOST_CHARACTERS = 16_000
"""Characters of a text that are read: a hostile one may have millions."""
_WORDS = NUMBER_WORDS | {
    word: number
    for number, words in enumerate(
        (
            "ein eine einem einen un une una",
            "zwei deux dos due",
            "drei trois tres tre",
            "vier quatre cuatro quattro",
            "fünf cinq cinco cinque",
            "sechs seis sei",
            "sieben sept siete sette",
            "acht huit ocho otto",
            "neun neuf nueve nove",
            "zehn dix diez dieci",
            "elf onze once undici",
            "zwölf douze doce dodici",
        ),
        start=1,
    )
    for word in words.split()
}
"""Numbers as words; `once` is read beside a noun only."""
_GROUPS = r"\d{1,3}(?:[,.\u2009\u202f ']\d{3}){1,4}(?![\d.,]{0,20}\d)"
DIGITS = rf"(?<![\w.,])(?:{_GROUPS}|\d{{1,15}}(?:[.,]\d{{1,6}})?)"
"""The pattern of a number, with or without signs between thousands."""
_SCALES = SCALE_WORDS | {"k": 1e3, "ki": 1024.0, "m": 1e6, "b": 1e9, "g": 1e9}
_SCALE = r"(?: ?(?:Ki|k|K|M|B|G)\b| (?:mn|bn|thousand|tausend|mille|mil|million(?:s|en)?|millones|billion|milli?ards|Milliarden|Millionen)\b| Mio\.?| Mrd\.?)"
_NOUNS = {
    "requests": r"requests?|reqs?|quer(?:y|ies)|calls?|prompts?|anfragen?|aufrufe|requêtes?|peticion(?:es)?|solicitud(?:es)?|consultas?",
    "tokens": r"(?:input |output |prompt )?(?:tokens?|toks?)|jetons?",
    "documents": r"documents?|pages?|images?|jobs?|dokumente?|seiten|bilder|páginas?|imágenes",
    "users": r"users?|sessions?|conversations?|streams?|clients?|nutzer|sitzungen|utilisateurs?|usuarios|sesiones",
    "nodes": r"nodes?|servers?|hosts?|machines?|instances?|knoten|serveurs?|nœuds?|noeuds?|nodos?|servidor(?:es)?",
    "engines": r"engines?|replicas?|pods?|repli(?:ken|kate?)|répli(?:que|ca)s?|réplicas?|moteurs?|motor(?:es)?",
    "accelerators": r"gpus?|accelerators?|chips?|cards?|karten|tarjetas",
    "zones": r"(?:availability )?zones?|azs?|zonen?|zonas?|sites?|regions?|data cent(?:er|re)s?|racks?|halls?",
}
"""The nouns of each kind of count."""
UNITS = ("nodes", "engines", "accelerators", "zones")
"""The kinds that carry load."""
_NOUN = "|".join(f"(?P<{kind}>{words})" for kind, words in _NOUNS.items())
_PERIOD = (
    "sekunde|seconde|segundo|second|sec|s|minute|minuto|min|stunde|heure|hora|hour|h|jour|día|dia|day|tag|d|semaine|semana|woche|week"
    "|monat|month|mois|mes|jahr|year|año|an"
)
_SECONDS = TIME_WORDS | {"d": DAY}
EACH = r"(?:per|each|every|an?|for each|pro|je|jede[rmns]?|par|chaque|por|cada|al|à la)"
"""Words before what a rate is counted for."""
_RATE = rf"(?: ?/ ?(?P<slash>{_PERIOD})\b| {EACH} (?P<each>{_PERIOD})\b)"
_FIGURE = pattern(
    rf"(?i)(?:(?P<digits>{DIGITS})(?P<scale>{_SCALE})?|\b(?P<word>{'|'.join(_WORDS)})\b)"
    rf"(?:[ -](?!(?:of|per|in|to|and|or|the|that|which|are|is|with|for|at|on|von|de|des|und|et|y)\b)[^\W\d_][\w.-]{{1,15}}){{0,2}}?[ -](?:{_NOUN})\b{_RATE}?"
    rf"|(?P<short>{DIGITS})(?P<times>{_SCALE})? ?(?P<sign>rps|qps|req/s|rpm|tpm|tok/s|t/s)\b"
)
_SIGNS = {
    **dict.fromkeys(("rps", "qps", "req/s"), ("requests", 1.0)),
    **{"rpm": ("requests", MINUTE), "tpm": ("tokens", MINUTE)},
    **dict.fromkeys(("tok/s", "t/s"), ("tokens", 1.0)),
}
_TIME_UNIT = (
    r"ms|milliseconds?|s|secs?|seconds?|mins?|minutes?|h|hours?|hrs?|days?|sekunden?|minuten?|stunden?|tagen?"
    r"|secondes?|heures?|jours?|segundos?|minutos?|horas?|días?"
)
_TIME = pattern(rf"(?i)(?P<digits>{DIGITS})[ -]?(?P<unit>{_TIME_UNIT})\b(?!/)")
_PERCENT = pattern(rf"(?P<digits>{DIGITS}) ?(?:%|percent\b|per cent\b|Prozent\b|pour cent\b|por ciento\b)")


class TextFigure(NamedTuple):
    """A figure of a sentence: ``period`` is the seconds of a rate, else 0; the places are those of the sentence."""

    value: float
    kind: str
    period: float
    start: int
    end: int

    @property
    def per_second(self) -> float:
        return self.value / (self.period or 1.0)


def number_of(digits: str, *, whole: bool = False) -> float:
    """The value of digits of `DIGITS`. A group of three behind a point counts thousands only where the number is ``whole``.

    >>> number_of("65,536"), number_of("65.536", whole=True), number_of("99.875"), number_of("2,5"), number_of("1 200 000")
    (65536.0, 65536.0, 99.875, 2.5, 1200000.0)
    """
    groups = re.split(r"[,.\u2009\u202f ']", digits)
    grouped = len(groups) > 1 and all(len(each) == len("000") for each in groups[1:])
    if grouped and (whole or "." not in digits or len(groups) > len(("1", "000"))) and groups[0] != "0":
        return float("".join(groups))
    return float(re.sub(r"(?<=\d)[ '\u2009\u202f](?=\d)", "", digits).replace(",", "."))


def figures_in(sentence: str) -> list[TextFigure]:
    """The counts of a sentence and their rates.

    >>> [(each.value, each.kind, each.period) for each in figures_in("two engines hold 14 requests/s, 24k tokens a day")]
    [(2.0, 'engines', 0.0), (14.0, 'requests', 1.0), (24000.0, 'tokens', 86400.0)]
    >>> [(each.value, each.kind) for each in figures_in("65.536 Token, vier Knoten, 3,5 requêtes par seconde, 90 rpm")]
    [(65536.0, 'tokens'), (4.0, 'nodes'), (3.5, 'requests'), (90.0, 'requests')]
    """
    found = []
    for match in _FIGURE.finditer(sentence):
        if match["sign"]:
            kind, period = _SIGNS[match["sign"].lower()]
            value = number_of(match["short"]) * _scale_of(match["times"])
        else:
            kind = next(each for each in _NOUNS if match[each])
            if match["word"] and _WORDS[match["word"].lower()] == 1 and len(match[0].split()) > len(("one", "node")):
                continue  # the other one serves all users
            scale = _scale_of(match["scale"])
            counted = number_of(match["digits"], whole=scale == 1) if match["digits"] else _WORDS[match["word"].lower()]
            value, per = counted * scale, match["slash"] or match["each"]
            period = _SECONDS[per.lower()] if per else 0.0
        found.append(TextFigure(value, kind, period, match.start(), match.end()))
    return found


def _scale_of(written: str | None) -> float:
    return _SCALES[written.strip(" .").lower()] if written else 1.0


def times_in(sentence: str) -> list[TextFigure]:
    """The durations of a sentence, in seconds.

    >>> [each.value for each in times_in("35 ms a token, 43 min a month, 8.76 Stunden, 120s")]
    [0.035, 2580.0, 31536.0, 120.0]
    """
    return [
        TextFigure(number_of(each["digits"]) * _unit_seconds(each["unit"].lower()), "time", 0.0, *each.span())
        for each in _TIME.finditer(sentence)
    ]


def _unit_seconds(unit: str) -> float:
    """Seconds of the word or sign of a unit, in the singular or the plural."""
    if unit.startswith(("ms", "milli")):
        return 1e-3
    return _SECONDS[unit]


def percentages_in(sentence: str) -> list[TextFigure]:
    """The shares of a sentence, as written from 0 to 100.

    >>> [each.value for each in percentages_in("99.95 % of 3 engines, 55% and 12,5 Prozent")]
    [99.95, 55.0, 12.5]
    """
    return [TextFigure(number_of(each["digits"]), "percent", 0.0, *each.span()) for each in _PERCENT.finditer(sentence)]


UNIT_NOUN = "|".join(_NOUNS[kind] for kind in UNITS)
"""The pattern of a noun of `UNITS`."""
_OF_UNIT = rf"(?P<unit>{'|'.join(_NOUNS[kind] for kind in UNITS[:3])})"
_FOR_EACH = pattern(
    rf"(?i)^ ?(?:,? ?\(?(?:{EACH}|/|and|und|et|y|on (?:one|each|every|a)|auf einem|sur un) ?(?:[\w-]+ ){{0,2}}?){_OF_UNIT}\b"
)
_CARRIES = (
    r"held|holds?|carr(?:y|ies|ied)|takes?|took|serves?|served|handles?|handled|sustains?|sustained|manages?|managed|does|did|tested|measured|reache[sd]"
    r"|delivers?|completes?|rated|good for|schafft|hält|trägt|bedient|gemessen|tient|sert|traite|mesuré|soporta|atiende|sirve|aguanta|lleva|medido"
)
_ONE_UNIT = pattern(
    rf"(?i)\b(?:one|an?|each|every|per|single|eine?[mnr]?|jede[rs]?|pro|je|une?|chaque|par|una|cada|por) (?:[\w.-]+ ){{0,2}}?{_OF_UNIT}\b"
    rf"(?:[^.;:]{{0,70}}?\b(?:{_CARRIES})\b[^.;\d]{{0,50}}|:? )$"
)
_COUNTED_UNITS = pattern(rf"(?i)\b{_OF_UNIT} ?(?:of|with|at|à|mit|zu|de|con|\()(?: \w{{1,8}})? ?$")
"""The end of the words before what each of some units carries: five nodes of 14 requests/s; four nodes (14 requests/s each)."""
_EACH_ONE = pattern(rf"(?i)\b{_OF_UNIT}\b[^.;\d]{{0,24}}$")
_EACH = pattern(r"(?i)^ (?:each|apiece|chacun|cada uno|je)\b(?! \w)")


def unit_of_capacity(sentence: str, figure: TextFigure) -> str:
    """The kind of unit that a rate or a number of users is stated for: `nodes`, `engines`, `accelerators`; else empty.

    >>> text = "one node (two engines) held 14 requests/s inside the targets"
    >>> unit_of_capacity(text, figures_in(text)[-1])
    'nodes'
    >>> text = "3.5 requests/s per engine, and 70 requests/s at the peak"
    >>> [unit_of_capacity(text, each) for each in figures_in(text)]
    ['engines', '']
    """
    before, behind = sentence[max(0, figure.start - 160) : figure.start], sentence[figure.end : figure.end + 48]
    match = _FOR_EACH.search(behind) or _ONE_UNIT.search(before) or _COUNTED_UNITS.search(before)
    match = match or (_EACH_ONE.search(before) if _EACH.search(behind) is not None else None)
    return kind_of_unit(match["unit"]) if match is not None else ""


def kind_of_unit(noun: str) -> str:
    """The kind of a noun of `UNITS`; empty for another word."""
    return next((kind for kind in UNITS if re.fullmatch(_NOUNS[kind], noun, re.IGNORECASE)), "")


def place_of(sentence: str, spec: Spec) -> str:
    """The key at which a sentence is reported: the description where it has it, else the service, beside a comment."""
    words = " ".join((spec.description or "").split())
    return "description" if " ".join(sentence.split()) in words else "workload.serving"


_FULL_STOP = pattern(r"(?:(?<!\bi\.e)(?<!\be\.g)(?<!\bz\.B)(?<!\bd\.h)\.|#)\s")


def whole_sentences(text: str) -> list[str]:
    """The sentences of a text with all of their parts between semicolons.

    >>> whole_sentences("Two parts of 99.9 %; so 99.8 %. Both sites")
    ['Two parts of 99.9 %; so 99.8 %', 'Both sites']
    """
    return _FULL_STOP.split(text)


def sentences_with(text: str, *cues: tuple[str, ...]) -> list[str]:
    """The sentences of a text that hold one word of each group of cues, in lower case; none where the text has none."""
    folded = text.casefold()
    if not all(any(cue in folded for cue in group) for group in cues):
        return []
    return [each for each in sentences_of(text) if all(any(cue in each.casefold() for cue in group) for group in cues)]
