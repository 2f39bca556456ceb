"""Figures of a text in SI with what they measure or count, the words around them, and how precisely they are written."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.dimensions import NOUNS
from clusterspec.rules.readers.tokens import (
    PER,
    SCALES,
    UNITS,
    Dimensions,
    Token,
    decimal_sign,
    plain_tokens,
    tokens_of,
    unit_of,
)
from clusterspec.rules.readers.units import word_set
from clusterspec.rules.readers.written_numbers import sentences_of

MOST_FIGURES = 60
"""Largest number of figures of a sentence, and about as many of a text, that are read."""
SAME, MOST_LINKS = 0.02, 5
"""Relative difference of one figure in two units, and the words and signs between both."""
TOKEN, STEP, RACK, NODE, RANK, ENGINE, FLOP = "token", "step", "rack", "node", "rank", "engine", "flop"
ACCELERATOR = "accelerator"
FLOWS = word_set("token parameter request")
"""What amounts are of; a number of anything else multiplies what each of them has."""
_FURTHER_NOUNS = {
    word: noun
    for noun, words in (
        (NODE, "gerät geräte geräten appareils equipos apparecchi apparaten unidades dgx hgx instancia instancias istanza istanze instância instâncias macchina macchine máquina máquinas nodi server "
               "servidores nó nós knooppunt knooppunten rechner systems system vm vms blade blades"),
        (RACK, "racks kast kasten armadi armadio armario armarios bastidor bastidores bastidors rack-schränke"),
        ("accelerator", "gpu's acceleratore acceleratori acelerador aceleradores acceleratoren beschleuniger"),
        ("port", "porta porte porty puerto puertos porta portas poort poorten ports karte karten card cards scheda schede tarjeta tarjetas "
                 "placa placas kaart kaarten carte cartes hcas"),
        (TOKEN, "gettoni token's"),
        (STEP, "passo passi paso pasos passos stap stappen"),
        ("sequence", "sequenza sequenze secuencia secuencias sequência sequências sequentie sequenties reeks reeksen"),
        ("parameter", "parametro parámetro parâmetro parametri parámetros parâmetros parametern"),
        ("request", "richiesta richieste petición peticiones pedido pedidos requisição requisições verzoek verzoeken"),
        ("engine", "motore motori motor motores motoren moteur moteurs"),
        (RANK, "rangs rangos ränge rängen rang"),
    )
    for word in words.split()
}  # fmt: skip
_SCALES = dict.fromkeys(("miliardi", "miliardo", "miljard", "miljarden", "bilhões"), 1e9) | {
    **dict.fromkeys(("milioni", "milione", "milhões", "milhão", "miljoenen"), 1e6),
    **dict.fromkeys(("mila", "duizend"), 1e3),
}
_FLOPS = {f"{prefix}FLOP": scale for prefix, scale in (("G", 1e9), ("T", 1e12), ("P", 1e15), ("E", 1e18))}
_LINKS = word_set("de di d da of van von des der × x")
"""Words between a number with its scale and what it counts: `2.000 miliardi di token`."""
_NO_COUNT = word_set(
    "and und et y e en or oder ou o of with mit avec con per in at for the to from is are by on as than times times, sind ist "
    "a an a pro je por cada each every por"
)
_SHORT_TIMES = {
    **{"ms": 1e-3, "µs": 1e-6, "μs": 1e-6, "us": 1e-6},
    **dict.fromkeys(("seconden", "seconde", "secondi", "secondo"), 1.0),
    **dict.fromkeys(("minuti", "minuto"), 60.0),
    **dict.fromkeys(("uren",), 3600.0),
}
"""Units of time that `UNITS` lacks."""
_FRENCH_BYTES = {"Kio": 1024.0, "Gio": 1024.0**3, "Tio": 1024.0**4}
"""Binary units that `UNITS` lacks; `Mio` is a million in German."""
_EACH = word_set(
    "a an each every per one ein eine einem einer jede jedes jeder jedem pro je un une chaque par cada por una uno ogni ciascun per elk elke "
    "een um uma"
)
"""Words before what a figure is for each of."""
_HAS = word_set("has reads takes holds contains needs uses draws occupies lit prend tiene toma legge leest tem lê")
"""Verbs of what has an amount."""
_ARE = word_set("are is sind sono sont son são zijn")
"""Verbs between a noun and its number."""
_APIECE = word_set("each apiece je jeweils chacun chacune ciascuno ciascuna cada elk")
"""Words next to a figure that is for each of what the figure before counts."""
_JOINS = word_set("and und et y e en und")
_PER = PER | word_set("all à op")
MOST_WORDS = 3
"""Words from a number to the noun that it counts."""
_NONE: Dimensions = (0, 0, 0, 0)
_TIME: Dimensions = (0, 0, 1, 0)


class StatedFigure(NamedTuple):
    """A number of a text in SI, and how it is written.

    ``dimensions`` are its powers of money, watts, seconds and bytes. ``noun`` is what it counts: in `8 GPUs a node` the
    GPU, and ``per`` the node. ``period`` is the seconds of a figure per hour or year. ``plain`` is the number as
    written, in units of ``scale``, and ``half`` is half a unit of its last digit. ``before`` and ``behind`` are the
    words up to its neighbors.
    """

    value: float
    dimensions: Dimensions
    noun: str
    per: str
    period: float
    start: int
    end: int
    sentence: int
    plain: float
    half: float
    scale: float
    unit: str
    before: tuple[str, ...]
    behind: tuple[str, ...]
    words: str

    @property
    def is_measure(self) -> bool:
        """Whether the figure has a unit."""
        return any(self.dimensions)

    @property
    def rounding(self) -> float:
        """Half a unit of the last digit, relative to the figure; 0 for a whole number without zeros at its end."""
        exact = not self.is_measure and self.plain == int(self.plain) and self.scale == 1.0
        return 0.0 if exact else self.half / self.plain

    def measures_like(self, other: StatedFigure) -> bool:
        """Whether two figures have the same units, or count the same."""
        return self.dimensions == other.dimensions and (self.is_measure or self.noun == other.noun != "")


class _Meaning(NamedTuple):
    """What one of a number is in SI, and the index after the words that say it."""

    scale: float
    dimensions: Dimensions
    noun: str
    per: str
    period: float
    unit: str
    end: int


def stated_figures(text: str) -> list[StatedFigure]:
    """The figures of a text with digits.

    >>> for each in stated_figures("Jedes Token belegt 327.680 Byte, 2.000 Milliarden Token; 8 ports of 400 Gb/s, 652 kW"):
    ...     print(each.value, each.noun or each.dimensions, each.per, each.before[:2])
    327680.0 (0, 0, 0, 1) token ('jedes', 'token')
    2000000000000.0 token  (',',)
    8.0 port  ()
    50000000000.0 (0, 0, -1, 1)  ('ports', 'of')
    652000.0 (0, 1, 0, 0)  (',',)
    """
    found: list[StatedFigure] = []
    sentences, offset = sentences_of(text), 0
    plain = [each for sentence in sentences for each in plain_tokens(sentence)]
    decimal = decimal_sign([each.text for each in plain if each.kind == "number"])
    for index, sentence in enumerate(sentences):
        if len(found) < MOST_FIGURES:
            _add_figures(found, sentence, index, offset, tokens_of(sentence, decimal))
        offset += len(sentence) + len(". ")
    return found


def _add_figures(found: list[StatedFigure], sentence: str, index: int, offset: int, tokens: Sequence[Token]) -> None:
    """Add the figures of a sentence, which begins at an offset of its text, to those before it."""
    numbers = [at for at, each in enumerate(tokens) if each.kind == "number" and _is_figure(tokens, at)]
    words = [each.text.lower() for each in tokens]
    for place, at in enumerate(numbers[:MOST_FIGURES]):
        before = tuple(words[numbers[place - 1] + 1 if place else 0 : at])
        read = _unit(tokens, at) if tokens[at].unit else _count(tokens, at)
        if not (read.noun or read.unit) and before[-1:] and before[-1] in _ARE:
            read = read._replace(noun=noun_of(("", *before)[-2]))  # `the steps are 57,220`
        last = numbers[place + 1] if place + 1 < len(numbers) else len(tokens)
        behind = tuple(words[max(at + 1, read.end) : last])
        per = read.per or _per_noun(before)
        if not per and found:
            per = _per_noun_of_last(read, tokens[at], found[-1], before, behind)
        found.append(_figure(sentence, tokens, at, index, offset, read._replace(per=per), before, behind))


def _per_noun_of_last(
    read: _Meaning, token: Token, last: StatedFigure, before: Sequence[str], behind: Sequence[str]
) -> str:
    """The noun behind `per` of a figure, by the figure before it: the same figure in another unit, or a count of parts
    that each have it.
    """
    value = token.values[0] * read.scale
    same = read.dimensions == last.dimensions and read.noun == last.noun and abs(value / last.value - 1) < SAME
    if same and last.per and len(before) <= MOST_LINKS:
        return last.per
    apiece = not last.is_measure and not _APIECE.isdisjoint((*before[-1:], *behind[:2]))
    return last.noun if apiece else ""  # `4,600 tokens, 320 KiB each`


def _is_figure(tokens: Sequence[Token], at: int) -> bool:
    """Whether a number is a figure: neither zero, nor a part of a name or of a date, nor a year."""
    token = tokens[at]
    if not token.values or not token.values[0]:
        return False
    follows = tokens[at + 1] if at + 1 < len(tokens) else None
    joined = follows is not None and follows.start == token.end and follows.kind == "word" and not token.unit
    is_year = not token.unit and token.factor == 1.0 and 1990 <= token.values[0] <= 2100 and len(token.text) == 4
    return not is_year and (not joined or (follows is not None and follows.text == "G"))


def _figure(
    sentence: str,
    tokens: Sequence[Token],
    at: int,
    index: int,
    offset: int,
    read: _Meaning,
    before: tuple[str, ...],
    behind: tuple[str, ...],
) -> StatedFigure:
    """The figure of a number with its meaning and its neighbors."""
    token = tokens[at]
    plain, scale = token.values[0] / token.factor, read.scale * token.factor
    stop = max(token.end, tokens[read.end - 1].end)
    return StatedFigure(
        plain * scale, read.dimensions, read.noun, read.per, read.period, offset + token.start, offset + stop, index, plain,
        _half_unit(plain), scale, read.unit, before, behind, sentence[token.start : stop],
    )  # fmt: skip


def _unit(tokens: Sequence[Token], at: int) -> _Meaning:
    """The meaning of a number with a unit."""
    token = tokens[at]
    per = next((noun for each in token.per if each not in UNITS and (noun := noun_of(each))), "")
    times = [UNITS[each][0] for each in token.per if each in UNITS and UNITS[each][1] == _TIME]
    many = next((SCALES[each] for each in token.per if len(each) > 2 and each in SCALES), 1.0)
    read = _Meaning(token.scale / many, token.dimensions, "", per, times[0] if times else 0.0, token.unit, at + 1)
    return read if token.unit in "%‰" else _for_each(tokens, read)


def _count(tokens: Sequence[Token], at: int) -> _Meaning:
    """The meaning of a number of things, or of one whose unit stands behind a scale."""
    scale, end = _scale_at(tokens, at + 1)
    follows = tokens[end] if end < len(tokens) else None
    if follows is not None and follows.text == "G" and follows.start == tokens[at].end:
        return _Meaning(1e9 / 8, (0, 0, -1, 1), "", "", 1.0, "Gb", end + 1)
    if follows is not None and (flops := _FLOPS.get(follows.text.rstrip("sS"), 0.0)):
        return _for_each(tokens, _Meaning(scale * flops, _NONE, FLOP, "", 0.0, "", end + 1))
    if tokens[at].factor != 1.0 and follows is not None and follows.text.lower() in _LINKS and end + 1 < len(tokens):
        follows, end = (tokens[end + 1], end + 1) if unit_of(tokens[end + 1].text) else (follows, end)
    if follows is not None and (scale != 1.0 or tokens[at].factor != 1.0) and (unit := unit_of(follows.text)):
        return _for_each(tokens, _Meaning(scale * UNITS[unit][0], UNITS[unit][1], "", "", 0.0, unit, end + 1))
    if follows is not None and follows.text in _SHORT_TIMES:
        return _for_each(tokens, _Meaning(_SHORT_TIMES[follows.text], _TIME, "", "", 0.0, follows.text, end + 1))
    if follows is not None and follows.text in _FRENCH_BYTES:
        return _for_each(
            tokens, _Meaning(_FRENCH_BYTES[follows.text], (0, 0, 0, 1), "", "", 0.0, follows.text, end + 1)
        )
    noun, end = _counted_noun(tokens, end)
    verb = end + 2 < len(tokens) and tokens[end + 1].text.lower() in _PER and bool(unit_of(tokens[end + 2].text))
    read = _Meaning(scale, _NONE, noun, "", 0.0, "", end + verb if noun else end)
    return _for_each(tokens, read) if noun else read


def _for_each(tokens: Sequence[Token], read: _Meaning) -> _Meaning:
    """A meaning with the thing or the time that words behind it are for each of: `/s`, `per GPU`, `a day`, `por paso`."""
    while read.end + 1 < len(tokens):
        link = tokens[read.end].text.lower()
        if link not in _PER and link != "/" and not (read.period and link in _JOINS):
            break
        word = tokens[read.end + 1].text
        unit, noun = unit_of(word), noun_of(word)
        if unit and UNITS[unit][1] == _TIME and not read.period:
            less = (*read.dimensions[:2], read.dimensions[2] - 1, read.dimensions[3])
            read = read._replace(scale=read.scale / UNITS[unit][0], dimensions=less, period=UNITS[unit][0])
        elif noun and not read.per and not _is_subject(tokens, read.end):
            read = read._replace(per=noun)
        else:
            break
        read = read._replace(end=read.end + 2)
    return read


def _is_subject(tokens: Sequence[Token], at: int) -> bool:
    """Whether an article at an index begins a clause: `of 2 trillion tokens a step reads 4 million`."""
    return at + 2 < len(tokens) and tokens[at + 2].text.lower() in _HAS


def _scale_at(tokens: Sequence[Token], at: int) -> tuple[float, int]:
    """What a word behind a number multiplies it by, and the index after it and the word that links it."""
    scale = _SCALES.get(tokens[at].text.lower(), 1.0) if at < len(tokens) else 1.0
    if scale == 1.0:
        return 1.0, at
    linked = at + 1 < len(tokens) and tokens[at + 1].text.lower() in _LINKS
    return scale, at + 1 + linked


def _counted_noun(tokens: Sequence[Token], at: int) -> tuple[str, int]:
    """What the words behind a number say that it counts, and the index after them."""
    first = at + (at + 1 < len(tokens) and tokens[at].text.lower() in _LINKS)
    for index in range(first, min(first + MOST_WORDS, len(tokens))):
        word = tokens[index].text.lower()
        if tokens[index].kind != "word" or word in _NO_COUNT:
            break
        if noun := noun_of(word) or _part_named(tokens[index].text):
            return noun, index + 1
    return "", at


def _part_named(word: str) -> str:
    """The noun of an accelerator by its name: capitals with a number, such as `MI300X`."""
    return ACCELERATOR if word.isupper() and word[-3:-1].isdigit() and len(word) > 3 else ""


def noun_of(word: str) -> str:
    """The noun that a word is; empty where none is known."""
    lower = word.lower()
    return _FURTHER_NOUNS.get(lower) or NOUNS.get(lower) or NOUNS.get(lower.rpartition("-")[2], "")


def _per_noun(before: Sequence[str]) -> str:
    """The noun behind `per` of a figure, by the words before it: `a token occupies`, `jedes Token belegt`, `each node
    has`.
    """
    for place in range(len(before) - 1, 0, -1):
        if noun := noun_of(before[place]):
            return noun if any(each in _EACH for each in before[max(0, place - 2) : place]) else ""
    return ""


def _half_unit(plain: float) -> float:
    """Half a unit of the last digit of a number; zeros at the end of a whole number may be rounded.

    >>> _half_unit(42.9), _half_unit(47700), _half_unit(512)
    (0.05, 50.0, 0.5)
    """
    digits = f"{plain:.12g}"
    if "e" in digits:
        return plain * 0.005
    decimals = len(digits.partition(".")[2])
    zeros = 0 if decimals else len(digits) - len(digits.rstrip("0"))
    return 0.5 * 10.0 ** (zeros - decimals)
