"""Numbers of running text with their units: money, power, energy, times, sizes and percents; signs of calculations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice

from clusterspec.quantity import HOUR
from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.ranges import UNITS_PER_DOLLAR
from clusterspec.rules.readers.units import LETTERS, SCALE_WORDS, TIME_WORDS, word_set
from clusterspec.rules.readers.written_numbers import numbers_of
from clusterspec.standard import pattern

MOST_TOKENS = 4000
"""Largest number of tokens of a text that are read."""
_DIGITS = r"\d{1,2}(?:,\d{2}){1,4},\d{3}(?!\d)|\d{1,3}(?P<between>[ ,.'’\u00a0\u2009\u202f])\d{3}(?:(?P=between)\d{3})*(?!\d)(?:[.,]\d{1,9}(?!\d))?|\d{1,15}(?:[.,]\d{1,12})?"
"""The digits of a number with any sign between thousands and before decimals, and in lakhs and crores."""
_TOKEN = pattern(
    r"(?P<date>20\d\d-\d\d-\d\d)(?!\d)"
    r"|(?P<op>(?<=[\d)\s])[x×*·∗](?=\s?[\d(€$£¥₹₩])|(?<=\s)[x×*·∗](?=\s)|(?<=[\d)\s])[/÷+−](?=\s?[\d(€$£¥₹₩])|(?<=\s)[/÷:+−-](?=\s)|(?<![<>=!~])=(?![=>])|≈|[()])"
    rf"|(?P<number>(?:(?<![\w.,])|(?<=\d[x×*/]))(?:{_DIGITS}))"
    r"|(?P<sign>[€$£¥₹₩%‰])"
    r"|(?P<word>[^\W\d_](?:[\w’'-]*\w)?)"
    r"|(?P<other>\S)"
)
"""A date, a sign of a calculation, a number, a sign of a unit, a word, or another sign."""
_ITEM_SIGNS = frozenset("*·+-−")
"""Signs that begin an item of a list, or are operators elsewhere."""
SCALES = {
    **SCALE_WORDS, "k": 1e3, "m": 1e6, "mm": 1e6, "crore": 1e7, "lakh": 1e5, "億": 1e8, "万": 1e4, "억": 1e8, "만": 1e4,
}  # fmt: skip
"""Words that scale the number before them; single letters only next to money."""
_COUNT_SCALES = {**LETTERS, "bn": 1e9}
"""Letters that scale a count, at its end or before one of the words in `_COUNTED`."""
Dimensions = tuple[int, int, int, int]
"""Powers of money, watts, seconds and bytes."""
_NONE, _MONEY, _WATT, _TIME, _BYTE = (0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)
_ENERGY, _RATE = (0, 1, 1, 0), (0, 0, -1, 1)


_COUNTED = word_set(
    "token tokens jetons sequence sequences sample samples example examples document documents docs page pages word words "
    "image images file files prompt prompts answer answers request requests parameter parameters params step steps"
)


def _units_of(dimensions: Dimensions, value: float, words: str) -> dict[str, tuple[float, Dimensions]]:
    return dict.fromkeys(words.split(), (value, dimensions))


UNITS: Mapping[str, tuple[float, Dimensions]] = {
    **_units_of(_MONEY, 1.0, " ".join(UNITS_PER_DOLLAR)),
    **_units_of(_MONEY, 1.0, "€ $ £ ¥ ₹ ₩ euro euros dollar dollars pounds francs yen won zł kr kronor kroner"),
    **_units_of(
        _MONEY,
        1.0,
        "Dollar dólar dólares dollari dollaro dolarów dolary Franken franken franchi francos franków sterline "
        "złotych złote coroas coronas corone kronen Kronen",
    ),
    **_units_of(_MONEY, 0.01, "cents"),
    **_units_of(_MONEY, 1e3, "kEUR TEUR kUSD kGBP kCHF"),
    **_units_of(_MONEY, 1e6, "MEUR MUSD MGBP MCHF"),
    **_units_of(_WATT, 1.0, "W watt watts"),
    **_units_of(_WATT, 1e3, "kW KW"),
    **_units_of(_WATT, 1e6, "MW"),
    **_units_of(_WATT, 1e9, "GW"),
    **_units_of(_ENERGY, HOUR, "Wh"),
    **_units_of(_ENERGY, 1e3 * HOUR, "kWh KWh kwh"),
    **_units_of(_ENERGY, 1e6 * HOUR, "MWh mwh"),
    **_units_of(_ENERGY, 1e9 * HOUR, "GWh gwh"),
    "Std": (HOUR, _TIME),
    **{word: (seconds, _TIME) for word, seconds in TIME_WORDS.items()},
    **_units_of(_BYTE, 1.0, "byte bytes octet octets"),
    **_units_of(_BYTE, 1e3, "kB KB"),
    **_units_of(_BYTE, 1e6, "MB"),
    **_units_of(_BYTE, 1e9, "GB Go"),
    **_units_of(_BYTE, 1e12, "TB To"),
    **_units_of(_BYTE, 1e15, "PB Po"),
    **_units_of(_BYTE, 1e18, "EB"),
    **{name: (1024.0**power, _BYTE) for power, name in enumerate(("KiB", "MiB", "GiB", "TiB", "PiB"), start=1)},
    **_units_of(_BYTE, 1e9 / 8, "Gb Gbit"),
    **_units_of(_BYTE, 1e12 / 8, "Tb Tbit"),
    **_units_of(_RATE, 1e9 / 8, "Gbps"),
    **_units_of(_RATE, 1e12 / 8, "Tbps"),
    "%": (0.01, _NONE),
    "‰": (0.001, _NONE),
}
"""The units of texts, words in lower case: their value in SI and their dimensions."""
_NAMES_OF_MONEY = frozenset(name for name, (_, dimensions) in UNITS.items() if dimensions == _MONEY)
_SIGNS_OF_MONEY = tuple(name for name in _NAMES_OF_MONEY if not name.isalpha())
_AROUND = ".,;:()'0123456789"


def names_money(text: str) -> bool:
    """Whether a text names a currency; the patterns of amounts are only compiled for such a text.

    >>> names_money("0.162 EUR/kWh"), names_money("3 TEUR."), names_money("$4,000"), names_money("9.5 kW per rack")
    (True, True, True, False)
    """
    if any(sign in text for sign in _SIGNS_OF_MONEY):
        return True
    words = [word.strip(_AROUND) for word in text.replace("/", " ").split()]
    return any(word in _NAMES_OF_MONEY or word.lower() in _NAMES_OF_MONEY for word in words)


PER = word_set("per a an every pro je par por al alla im")
"""Words between an amount and its purpose."""
_GERMAN_ARTICLES = word_set("der die das den dem einen einem eine einer")
_AND = word_set("and und et y e en och og")
_OF = word_set("de di")
"""Words between millions and their unit: `millones de euros`."""


class Token(NamedTuple):
    """A token of a text.

    ``kind`` is `number`, `op`, `word`, `date` or `other`. A number has the values that its digits may have, in units of
    ``unit``; ``per`` are the units after it that it refers to (`EUR per kWh`).
    """

    kind: str
    text: str
    start: int
    end: int
    values: tuple[float, ...] = ()
    unit: str = ""
    per: tuple[str, ...] = ()
    factor: float = 1.0
    """What a letter or a word after the digits multiplies them by: `million`, `k`."""

    @property
    def dimensions(self) -> Dimensions:
        """The powers of money, watts, seconds and bytes; units of things, such as nodes, have none."""
        powers = UNITS[self.unit][1] if self.unit else _NONE
        for each in self.per:
            powers = _dimensions_less(powers, UNITS[each][1]) if each in UNITS else powers
        return powers

    @property
    def scale(self) -> float:
        """The value of one unit in SI."""
        scale = UNITS[self.unit][0] if self.unit else 1.0
        for each in self.per:
            scale /= UNITS[each][0] if each in UNITS else 1.0
        return scale


def _dimensions_less(powers: Dimensions, other: Dimensions) -> Dimensions:
    money, watts, seconds, size = (one - each for one, each in zip(powers, other, strict=True))
    return money, watts, seconds, size


@lru_cache(64)
def plain_tokens(text: str) -> Sequence[Token]:
    """The words, numbers, dates and signs of a text, without values.

    >>> [each.kind for each in plain_tokens("64 * 2") if each.text == "*"]
    ['op']
    >>> [each.kind for each in plain_tokens("64 per pair\\n* 2 x 50") if each.text == "*"]
    ['other']
    """
    matches = islice(_TOKEN.finditer(text), MOST_TOKENS)
    return [Token(_kind_of(each, text), each[0], each.start(), each.end()) for each in matches]


def _kind_of(match: re.Match[str], text: str) -> str:
    """The kind of a token: a sign that begins an item of a list is no operator."""
    begins_item = match["op"] is not None and match["op"] in _ITEM_SIGNS and _is_first_of_line(text, match.start())
    return "other" if begins_item else str(match.lastgroup)


def _is_first_of_line(text: str, at: int) -> bool:
    """Whether only spaces are between a position and the beginning of its line."""
    while at and text[at - 1] != "\n" and text[at - 1].isspace():
        at -= 1
    return not at or text[at - 1] == "\n"


@lru_cache(256)  # a sentence is read by many rules
def tokens_of(text: str, decimal: str | None = None) -> Sequence[Token]:
    """The tokens of a text as written; ``decimal`` is the sign before decimals of the text that it is a part of.

    >>> [(each.values, each.unit, each.per) for each in tokens_of("USD 1,404.00, 0.162 EUR per kWh, 9.5 kW") if each.values]
    [((1404.0,), 'USD', ()), ((0.162,), 'EUR', ('kWh',)), ((9.5,), 'kW', ())]
    >>> [each.values for each in tokens_of("2.3 million EUR, 40 TB/month, H100, 4.2 M tokens, 3 M of fiber") if each.values]
    [(2300000.0,), (40.0,), (4200000.0,), (3.0,)]
    """
    plain = plain_tokens(text)
    if decimal is None:
        decimal = decimal_sign([each.text for each in plain if each.kind == "number"])
    return tuple(_with_units(plain, decimal))


_POINT = pattern(r"\.(?:\d{1,2}|\d{4,})$|,\d{3}[,.]")
_COMMA = pattern(r",(?:\d{1,2}|\d{4,})$|\.\d{3}[,.]")
"""Digits that show which sign stands before decimals."""


def decimal_sign(digits: list[str]) -> str:
    """The sign before the decimals of a text, from the numbers that show it; empty if no number shows it, or numbers
    show both signs.

    >>> decimal_sign(["84,200", "1.17"]), decimal_sign(["9.944.352", "49.722"]), decimal_sign(["84,200"])
    ('.', ',', '')
    """
    point = any(_POINT.search(each) is not None for each in digits)
    comma = any(_COMMA.search(each) is not None for each in digits)
    return "" if point == comma else "." if point else ","


def _with_units(plain: Sequence[Token], decimal: str) -> Iterator[Token]:
    at, taken = 0, 0
    while at < len(plain):
        token = plain[at]
        if token.kind != "number":
            if not (_is_money(token) and at + 1 < len(plain) and plain[at + 1].kind == "number"):
                yield token  # a sign of money before a number is its unit
            at += 1
            continue
        before = plain[at - 1] if at > taken and _is_money(plain[at - 1]) else None
        found, at = _number_token(plain, at, before, decimal)
        taken = at
        yield found


def _is_money(token: Token) -> bool:
    return token.text in UNITS and UNITS[token.text][1] == _MONEY and (token.kind == "sign" or token.text.isupper())


def unit_of(word: str) -> str:
    """The unit that a word is, as `UNITS` spells it; empty without one.

    >>> unit_of("kW"), unit_of("Jahren"), unit_of("H"), unit_of("MWh")
    ('kW', 'jahren', '', 'MWh')
    """
    if word in UNITS:
        return word
    return word.lower() if len(word) > 2 and word.lower() in UNITS and not word.isupper() else ""


def _number_token(plain: Sequence[Token], at: int, before: Token | None, decimal: str) -> tuple[Token, int]:
    """A number with its scale and its unit, and the index of the token after them."""
    token, start = plain[at], at
    values = numbers_of(token.text)
    if decimal and len(values) > 1:
        values = values[1:] if decimal in token.text else values[:1]
    at += 1
    follows = plain[at].text if at < len(plain) else ""
    scale = SCALES.get(follows.lower(), 1.0)
    after = unit_of(plain[at + 1].text) if at + 1 < len(plain) else ""
    of_money = before is not None or (after != "" and UNITS[after][1] == _MONEY)
    counts = _scale_of_count(plain, at)
    if counts != 1.0 and not of_money:
        scale, at = counts, at + 1
    elif scale != 1.0 and (len(follows) > 2 or of_money or not follows.isascii()):
        at += 1
        if at < len(plain) and plain[at].text == "." and follows.lower() in ("mio", "mrd", "tsd"):
            at += 1
        elif at < len(plain) and scale == 1e3 and SCALES.get(plain[at].text.lower(), 1.0) >= 1e6:
            scale *= SCALES[plain[at].text.lower()]  # `mil millones`
            at += 1
    else:
        scale = 1.0
    unit = before.text if before is not None else ""
    if _is_bytes(plain, start):
        scale, unit = 1.0, "byte"
    elif not unit and at < len(plain) and not _is_article(plain, at):
        at += scale >= 1e6 and plain[at].text.lower() in _OF and at + 1 < len(plain) and bool(_unit_at(plain, at + 1))
        unit = _unit_at(plain, at)
        at += bool(unit)
    per: list[str] = []
    while unit and unit not in "%‰" and at + 1 < len(plain) and len(per) < 3 and plain[at + 1].kind == "word":
        joined = is_for_each(plain, at)
        noun = unit_of(plain[at + 1].text)
        if plain[at].text == "an" and plain[at + 1].text in _GERMAN_ARTICLES:
            break  # `1,6 Tb/s an die Leafs`
        if not joined and not (per and noun and plain[at].text.lower() in _AND):
            break
        per.append(noun or plain[at + 1].text.lower())
        at += 2
    if len(values) > 1 and scale == 1.0 and unit and UNITS[unit] == (1.0, _MONEY) and not per:
        values = values[:1]  # an amount has no three decimals
    values = tuple(value * scale for value in values)
    return Token("number", token.text, token.start, plain[at - 1].end, values, unit, tuple(per), scale), at


def is_for_each(tokens: Sequence[Token], at: int) -> bool:
    """Whether the token at an index joins a figure to what it is for each of; the German `im` does only before a unit of time.

    >>> [is_for_each(plain_tokens(each), 1) for each in ("GWh im Jahr", "s im Speicher", "kW per rack", "EUR / GPU")]
    [True, False, True, True]
    """
    word = tokens[at].text.lower()
    if word == "im":
        unit = unit_of(tokens[at + 1].text) if at + 1 < len(tokens) else ""
        return bool(unit) and UNITS[unit][1] == _TIME
    return word in PER or word == "/"


def _unit_at(plain: Sequence[Token], at: int) -> str:
    """The unit that the token at an index is, also after the article of `millions d'euros`; empty without one."""
    word = plain[at].text
    return unit_of(word[2:] if word[:2] in ("d'", "d’") else word) if plain[at].kind in ("word", "sign") else ""


def _is_article(plain: Sequence[Token], at: int) -> bool:
    """Whether a token is the article of `an hour`, and no French year."""
    return plain[at].text == "an" and at + 1 < len(plain) and _unit_at(plain, at + 1) != ""


def _is_bytes(plain: Sequence[Token], at: int) -> bool:
    """Whether a number is the bytes of one value, the last factor of a product: `x 2 B =`."""
    factor = at and plain[at - 1].kind == "op" and plain[at - 1].text in "x×*·∗" and len(plain[at].text) == 1
    if not factor or at + 1 >= len(plain) or plain[at + 1].text != "B" or plain[at + 1].start == plain[at].end:
        return False
    behind = plain[at + 2].text if at + 2 < len(plain) else "."
    return behind in "=≈/.,;)"


def _scale_of_count(plain: Sequence[Token], at: int) -> float:
    """The scale of a count that the token at an index is; 1 without one."""
    scale = _COUNT_SCALES.get(plain[at].text, 1.0) if at < len(plain) else 1.0
    behind = plain[at + 1] if at + 1 < len(plain) else None
    ends = behind is None or behind.kind == "op" or behind.text in ",.;:"
    return scale if ends or (behind is not None and behind.text.lower() in _COUNTED) else 1.0


_GERMAN = word_set(
    "und der das von bei nach auf ist den dem mit zum wird sind ein eine einer einem je pro über für zu die im"
)
"""Words: a German text has several of them, an English text hardly two."""


def sign_of_decimals(text: str) -> str:
    """The sign before the decimals of a text, as its numbers show it; empty if none does, or if they disagree."""
    return decimal_sign([each.text for each in plain_tokens(text) if each.kind == "number"])


def has_decimal_comma(sentence: str, of_text: str = "") -> bool:
    """Whether a sentence has decimal commas, so that points separate thousands: a number shows it, or several German
    words. ``of_text`` is the decimal sign of its text, which decides for a sentence whose numbers show none.

    >>> has_decimal_comma("3.958 TFLOP/s x 0,35"), has_decimal_comma("bei Schritt 450.000 ist sie null"), has_decimal_comma("1.250 s")
    (True, True, False)
    """
    sign = sign_of_decimals(sentence) or of_text
    return sign == "," or (not sign and len(_GERMAN.intersection(sentence.split())) > 1)
