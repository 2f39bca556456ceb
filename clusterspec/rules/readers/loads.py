"""Loads in texts about a service: counts of requests, tokens, users, engines and nodes, their rates, times and shares, and the unit
that carries them, in English, German, French and Spanish.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache

from clusterspec.quantity import DAY
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.passages import with_numerals
from clusterspec.rules.readers.quantities import Reader, is_separate_number
from clusterspec.rules.readers.tokens import Token
from clusterspec.rules.readers.units import MINUTE, NUMBERS, TIME_WORDS, word_set
from clusterspec.rules.readers.written_numbers import numbers_of, sentences_of
from clusterspec.spec.model import Spec

MOST_CHARACTERS = 16_000
"""Largest number of characters of a text that are read: a hostile one may have millions."""
DIGITS = r"(?<![\w.,])(?:\d{1,3}(?:[,.\u2009\u202f ']\d{3}){1,4}(?![\d.,]{0,20}\d)|\d{1,15}(?:[.,]\d{1,6})?)"
"""The pattern of a number, with or without signs between thousands."""
REQUESTS = "requests"
_NOUNS = {
    REQUESTS: "request requests req reqs query queries call calls question questions prompt prompts anfrage anfragen aufrufe requête "
    "requêtes demande demandes peticion petición peticiones solicitud solicitudes consulta consultas richiesta richieste verzoek "
    "verzoeken pedido pedidos chamada chamadas requisição requisições solicitação solicitações llamada llamadas chiamata chiamate "
    "aanvraag aanvragen zapytanie zapytania zapytań żądanie żądania żądań",
    "tokens": "token tokens tok toks jeton jetons",
    "documents": "document documents page pages image images job jobs dokument dokumente seiten bilder página páginas imágenes",
    "users": "user users session sessions conversation conversations stream streams client clients nutzer sitzungen utilisateur "
    "utilisateurs usuarios sesiones",
    "nodes": "node nodes server servers host hosts machine machines instance instances knoten serveur serveurs nœud nœuds noeud "
    "noeuds nodo nodos servidor servidores",
    "engines": "engine engines replica replicas pod pods repliken replika replikate réplique répliques réplica réplicas moteur moteurs "
    "motor motores",
    "accelerators": "gpu gpus accelerator accelerators chip chips card cards karten tarjetas",
    "zones": "zone zones az azs zonen zonas site sites region regions center centers centre centres rack racks hall halls",
}
_KINDS = {word: kind for kind, words in _NOUNS.items() for word in words.split()}
"""The kind of each noun that a number of a service counts."""
UNITS = ("nodes", "engines", "accelerators", "zones")
"""The kinds that carry load."""
UNIT_NOUN = "|".join(_NOUNS[kind].replace(" ", "|") for kind in UNITS)
"""The pattern of a noun of `UNITS`."""
_NO_KINDS = word_set("of per in to and or the that which are is with for at on von de des und et y")
"""Words that no noun has between its number and itself."""
_SECONDS = TIME_WORDS | {"d": DAY}
_TIMES = {word: seconds for word, seconds in _SECONDS.items() if seconds < 7 * DAY and word != "d"} | dict.fromkeys(
    ("ms", "millisecond", "milliseconds"), 1e-3
)
_EACH = word_set("per each every a an pro je jede jeder jedem jeden jedes par chaque por cada al alla")
"""Words before the thing to which a rate applies."""
_SIGNS = {
    **dict.fromkeys(("rps", "qps", "req/s"), (REQUESTS, 1.0)),
    **dict.fromkeys(("tok/s", "t/s"), ("tokens", 1.0)),
    "rpm": (REQUESTS, MINUTE),
    "tpm": ("tokens", MINUTE),
}
"""What the signs of rates count, and in how many seconds."""
_PERCENT_SIGNS = ("%", "ercent", "cent", "rozent", "ciento")


class LoadFigure(NamedTuple):
    """A figure of a sentence: ``period`` is the seconds of a rate, else 0; positions refer to the sentence."""

    value: float
    kind: str
    period: float
    start: int
    end: int

    @property
    def per_second(self) -> float:
        return self.value / (self.period or 1.0)


def number_of(digits: str, *, whole: bool = False) -> float:
    """The value of digits of `DIGITS`. A group of three after a point counts thousands only where the number is ``whole``.

    >>> number_of("65,536"), number_of("65.536", whole=True), number_of("99.875"), number_of("2,5"), number_of("1 200 000")
    (65536.0, 65536.0, 99.875, 2.5, 1200000.0)
    """
    values = numbers_of(digits)
    return values[-1] if "." in digits and not whole else values[0]


LOADS = (REQUESTS, "tokens", "users")
"""Kinds of figures that are a load: rates of requests and tokens, and numbers of users."""


def is_load(figure: LoadFigure) -> bool:
    """Whether a figure is a load: a rate of requests or tokens, or a number of users."""
    return figure.kind in LOADS and (figure.period > 0) == (figure.kind != "users")


class _Loads(Reader):
    """The tokens of a sentence about a service."""

    def lower(self, at: int) -> str:
        return self.word(at).lower()

    def spaced(self, at: int) -> bool:
        """Whether a token stands one space or one hyphen after the one before it."""
        return self.gap(at) in (" ", "-")

    def period(self, at: int) -> tuple[float, int]:
        """The seconds of the period for which a rate holds by the words at an index, and the index after it."""
        word, gap = self.lower(at), self.gap(at)
        if word == "/" and gap in ("", " ") and self.gap(at + 1) in ("", " "):
            at += 1
        elif gap == " " and word in ("a", "à") and self.lower(at + 1) == "la":
            at += 2
        elif gap == " " and (word in _EACH or (word == "for" and self.lower(at + 1) == "each")):
            at += 1 + (word == "for")
        else:
            return 0.0, at
        seconds = _SECONDS.get(self.lower(at), 0.0)
        return seconds, at + 1

    def noun(self, at: int, most: int) -> tuple[str, int]:
        """The kind of the first noun at an index or after ``most`` words more, and the index after it."""
        words = 0
        while words <= most and self.spaced(at):
            word = self.lower(at)
            if word in _KINDS:
                return _KINDS[word], at + 1
            if word in _NO_KINDS or (len(word) < 2 and self.gap(at) == " ") or not word[0].isalpha():
                break
            words += self.gap(at + 1) != "-" and word not in ("input", "output", "prompt", "availability")
            at = at + 1 if self.gap(at + 1) in (" ", "-") else self.next_word(at)
        return "", at

    def figure(self, at: int) -> tuple[LoadFigure | None, int]:
        """The figure that begins at an index, and the index after it."""
        first, lower = self.pieces[at], self.lower(at)
        if first.kind == "number" and is_separate_number(self.sentence, first, "_.,"):
            scale, behind = self.scale(at + 1)
            value = number_of(first.text, whole=scale == 1)
            kind, period, end = self._rate_count(behind)
            if end:
                return LoadFigure(
                    number_of(first.text) * scale, kind, period, first.start, self.pieces[end - 1].end
                ), end
        elif lower in NUMBERS:
            scale, behind, value = 1.0, at + 1, float(NUMBERS[lower])
        else:
            return None, at + 1
        behind += scale != 1 and self.lower(behind) in ("de", "d")  # douze millions de requêtes
        kind, end = self.noun(behind, 2)
        if not kind:
            return None, at + 1
        period, after = self.period(end)
        end = after if period else end
        place = first.start, self.pieces[end - 1].end
        if lower in NUMBERS and value == 1 and self.sentence[slice(*place)].count(" ") > 1:
            return None, end  # the other one serves all users
        return LoadFigure(value * scale, kind, period, *place), end

    def _rate_count(self, at: int) -> tuple[str, float, int]:
        """What the sign of a rate at an index counts, its period, and the index after it; 0 without one."""
        if self.gap(at) not in ("", " "):
            return "", 0.0, 0
        for sign, end in ((self.lower(at), at + 1), ("".join(map(self.lower, range(at, at + 3))), at + 3)):
            if sign in _SIGNS:
                return *_SIGNS[sign], end
        return "", 0.0, 0


@lru_cache(64)
def reader_of(sentence: str) -> _Loads:
    """The tokens of a sentence, read once."""
    return _Loads(sentence)


@lru_cache(64)
def figures_in(sentence: str) -> Sequence[LoadFigure]:
    """The counts of a sentence and their rates.

    >>> [(each.value, each.kind, each.period) for each in figures_in("two engines hold 14 requests/s, 24k tokens a day")]
    [(2.0, 'engines', 0.0), (14.0, 'requests', 1.0), (24000.0, 'tokens', 86400.0)]
    >>> [(each.value, each.kind) for each in figures_in("65.536 Token, vier Knoten, 3,5 requêtes par seconde, 90 rpm")]
    [(65536.0, 'tokens'), (4.0, 'nodes'), (3.5, 'requests'), (90.0, 'requests')]
    """
    reader, found, at = reader_of(sentence), [], 0
    while at < len(reader.pieces):
        figure, at = reader.figure(at)
        found += [figure] if figure is not None else []
    return found


def _numbers(sentence: str) -> Iterator[tuple[_Loads, int, float]]:
    reader = reader_of(sentence)
    for at, each in enumerate(reader.pieces):
        if each.kind == "number" and is_separate_number(sentence, each, "_.,"):
            yield reader, at + 1, number_of(each.text)


@lru_cache(64)
def bare_rates_in(sentence: str) -> Sequence[LoadFigure]:
    """The numbers of a sentence that a period follows without a noun; their kind is empty.

    >>> [(each.value, each.period) for each in bare_rates_in("60 a second, 3,600 per minute, 2 GB a second")]
    [(60.0, 1.0), (3600.0, 60.0)]
    """
    found = []
    for reader, at, value in _numbers(sentence):
        period, end = reader.period(at)
        if period:
            found.append(LoadFigure(value, "", period, reader.pieces[at - 1].start, reader.pieces[end - 1].end))
    return found


@lru_cache(64)
def times_in(sentence: str) -> Sequence[LoadFigure]:
    """The durations of a sentence, in seconds.

    >>> [each.value for each in times_in("35 ms a token, 43 min a month, 8.76 Stunden, 120s")]
    [0.035, 2580.0, 31536.0, 120.0]
    """
    return [
        LoadFigure(value * _TIMES[reader.lower(at)], "time", 0.0, reader.pieces[at - 1].start, reader.pieces[at].end)
        for reader, at, value in _numbers(sentence)
        if reader.gap(at) in ("", " ", "-")
        and reader.lower(at) in _TIMES
        and sentence[reader.pieces[at].end :][:1] != "/"
    ]


@lru_cache(64)
def percentages_in(sentence: str) -> Sequence[LoadFigure]:
    """The shares of a sentence, as written from 0 to 100.

    >>> [each.value for each in percentages_in("99.95 % of 3 engines, 55% and 12,5 Prozent")]
    [99.95, 55.0, 12.5]
    """
    if not any(sign in sentence for sign in _PERCENT_SIGNS):
        return []
    return [
        LoadFigure(value, "percent", 0.0, reader.pieces[at - 1].start, reader.pieces[end - 1].end)
        for reader, at, value in _numbers(sentence)
        if (end := reader.percent_end(at)) and reader.gap(at) != "-"
    ]


def kind_of_unit(noun: str) -> str:
    """The kind of a noun of `UNITS`; empty for another word."""
    kind = _KINDS.get(noun.lower(), "")
    return kind if kind in UNITS else ""


_CARRIES = word_set(
    "held hold holds carry carries carried take takes took serve serves served handle handles handled sustain sustains sustained "
    "manage manages managed do process processes achieves does did tested measured reaches reached delivers deliver complete completes rated good schafft hält "
    "trägt bedient gemessen tient sert traite mesuré soporta atiende sirve aguanta lleva medido"
)
_ONE = word_set(
    "one a an each every per single ein eine einem einen einer jede jeder jedes pro je un une chaque par una cada por"
)
_BEFORE_LOAD = word_set("of with at à mit zu de con (")
"""Words between some units and the load of each: five nodes of 14 requests/s; four nodes (14 requests/s each)."""
_APIECE = (("each",), ("apiece",), ("chacun",), ("cada", "uno"), ("je",))


def _start(token: Token) -> int:
    return token.start


def unit_of_capacity(sentence: str, figure: LoadFigure) -> str:
    """The kind of unit that a rate or a number of users is stated for: `nodes`, `engines`, `accelerators`; else empty.

    >>> text = "one node (two engines) held 14 requests/s inside the targets"
    >>> unit_of_capacity(text, figures_in(text)[-1])
    'nodes'
    >>> text = "3.5 requests/s per engine, and 70 requests/s at the peak"
    >>> [unit_of_capacity(text, each) for each in figures_in(text)]
    ['engines', '']
    """
    reader = reader_of(sentence)
    first, behind = (bisect_left(reader.pieces, place, key=_start) for place in (figure.start, figure.end))
    return (
        _unit_after_figure(reader, behind)
        or _one_unit_before(reader, first, figure)
        or _counted_unit(reader, first)
        or _unit_of_each(reader, first, behind, figure)
    )


def _unit_kind(reader: _Loads, at: int, most: int = 2) -> tuple[str, int]:
    """The kind of the unit that stands at an index or after ``most`` words more, and its index."""
    words = 0
    while words <= most and at < len(reader.pieces):
        kind = kind_of_unit(reader.word(at))
        if kind in UNITS[:3]:
            return kind, at
        if reader.gap(at + 1) not in (" ", "-"):
            break
        words += reader.gap(at + 1) == " "
        at += 1
    return "", at


def _unit_after_figure(reader: _Loads, at: int) -> str:
    """The unit after a figure that is for each of them: `a node`, `/engine`, `(per GPU)`, `and node`, `on every server`."""
    at += reader.word(at) == ","
    at += reader.word(at) == "("
    word, two = reader.lower(at), f"{reader.lower(at)} {reader.lower(at + 1)}"
    if word in _EACH or word in ("/", "and", "und", "et", "y"):
        return _unit_kind(reader, at + 1)[0]
    if word == "is" and reader.lower(at + 1) == "the":  # is the limit of one node
        at, two = at + 3, f"{reader.lower(at + 3)} {reader.lower(at + 4)}"
        return _unit_kind(reader, at + 2)[0] if two in ("of one", "of a", "of each", "for one", "for a") else ""
    if two in ("for each", "à la", "on one", "on each", "on every", "on a", "auf einem", "sur un"):
        return _unit_kind(reader, at + 2)[0]
    return ""


def _one_unit_before(reader: _Loads, first: int, figure: LoadFigure) -> str:
    """The single unit that a verb connects with the figure after it: `a node was tested at 20 requests/s`."""
    for at in range(bisect_left(reader.pieces, figure.start - 160, key=_start), first):
        if reader.lower(at) not in _ONE:
            continue
        kind, noun = _unit_kind(reader, at + 1)
        if not kind or noun >= first or reader.gap(at + 1) != " ":
            continue
        end = reader.pieces[noun].end
        if reader.sentence[end : figure.start] in (" ", ": ") or _is_carried(reader, noun + 1, first, figure.start):
            return kind
    return ""


def _is_carried(reader: _Loads, at: int, first: int, start: int) -> bool:
    begin = reader.pieces[at - 1].end
    for each in range(at, first):
        place = reader.pieces[each]
        before, behind = reader.sentence[begin : place.start], reader.sentence[place.end : start]
        near = len(before) <= 70 and len(behind) <= 50
        joined = set(".;:").isdisjoint(before) and set(".;0123456789").isdisjoint(behind)
        if near and joined and place.text.lower() in _CARRIES:
            return True
    return False


def _counted_unit(reader: _Loads, first: int) -> str:
    """The units before a figure, and the word that gives each the figure: `five nodes of`."""
    for back in (1, 2):
        if (
            first > back
            and reader.lower(first - back) in _BEFORE_LOAD
            and (back == 1 or reader.word(first - 1).isalpha())
        ):
            kind = kind_of_unit(reader.word(first - back - 1))
            if kind in UNITS[:3]:
                return kind
    return ""


def _unit_of_each(reader: _Loads, first: int, behind: int, figure: LoadFigure) -> str:
    """The units shortly before a figure with `each` after it."""
    for words in _APIECE:
        end = behind + len(words)
        if tuple(map(reader.lower, range(behind, end))) == words and reader.gap(behind) == " ":
            if reader.word(end)[:1].isalnum() and reader.gap(end) == " ":
                return ""
            for at in range(first - 1, -1, -1):
                between = reader.sentence[reader.pieces[at].end : figure.start]
                if len(between) > 24 or not set(".;0123456789").isdisjoint(between):
                    return ""
                kind = kind_of_unit(reader.word(at))
                if kind in UNITS[:3]:
                    return kind
    return ""


def place_of(sentence: str, spec: Spec) -> str:
    """The key at which a sentence is reported: the description if it contains the sentence, else the service, for a
    sentence of a comment.
    """
    words = with_numerals(" ".join((spec.description or "").split()))
    first = with_numerals(" ".join(sentences_of(sentence)[0].split()))
    return "description" if first.rstrip(".") in words else "workload.serving"
