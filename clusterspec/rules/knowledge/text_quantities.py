"""Quantities in the sentences of a training plan: numbers with their units, and the products that a text writes out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice

from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.text_units import SCALE_WORDS, TIME_WORDS
from clusterspec.rules.knowledge.written_numbers import belongs_to_something_else, sentences_of
from clusterspec.standard import pattern, recent

MOST_QUANTITIES = 200
"""Quantities of one text that are read; a hostile text may have a million."""
STEP, TOKEN, SEQUENCE, NODE, ACCELERATOR = "step", "token", "sequence", "node", "accelerator"
ACCELERATOR_HOUR, NODE_HOUR, FLOP, FLOP_PER_SECOND = "accelerator hour", "node hour", "FLOP", "FLOP/s"
HOURS = (ACCELERATOR_HOUR, NODE_HOUR)
TOKEN_PER_SECOND, SECOND, SHARE, BYTE, BARE = "token/s", "s", "%", "B", ""
_DIGITS = (
    r"(?<![\w.,/:'-])(?:(?P<grouped>\d{1,3}(?:[,'\u2009\u202f\u00a0]\d{3}){1,5}(?:\.\d{1,6})?(?!\d|,\d))|(?P<points>\d{1,3}(?:\.\d{3}){1,4})(?!\d|[.,]\d)"
    r"|(?P<spaced>\d{1,3}(?: \d{3}){1,4})(?!\d|[.,]\d)|(?P<plain>\d{1,15}(?:\.\d{1,9})?|\d{1,6},\d{1,3})(?:[eE](?P<exponent>[+-]?\d{1,2}))?(?![.,]?\d))"
    r"(?: ?[x×·*] ?10(?:\^|\*\*)(?P<power>\d{1,2}))?"
)
_SCALE = (
    r"(?: ?(?P<prefix>bn|[kKMBGT])(?:(?![\w%/-])|(?=GPU-?h))|[ -](?P<scale>thousand|million|billion|trillion|tausend|Tausend|Mio\.?|Mrd\.?|Millionen|Milliarden|"
    r"Billionen|mille|millions|milliards|millones|mil millones|billones)\b)?"
)
_FLOP_PREFIX = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18, "Z": 1e21, "Y": 1e24}
_BYTE_PREFIX = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_LETTERS = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "bn": 1e9, "G": 1e9, "T": 1e12}
_PART = r"(?:[\w-]{0,8}\d[\w-]{0,8} |quad-[\w-]{1,8} )?"
_UNIT = (
    r"(?:(?P<accelerator_hour>(?:[A-Z]{1,2}\d{1,3}\w?[ -]|real )?(?:GPU|chip|accelerator|TPU|card)[ -]?(?:hours?|hrs?|h)|GPUh|GPU-?Stunden|heures[ -](?:de )?GPU|horas[ -](?:de )?GPU)"
    r"|(?P<node_hour>(?:node|instance|server|VM)[ -]?(?:hours?|hrs?|h)|Knoten-?[Ss]tunden|heures[ -](?:de )?n(?:œ|oe)uds?|horas[ -](?:de )?nodo)"
    r"|(?P<token_per_second>tokens?(?:/s(?:ec)?|/second| (?:per|a|each) second| pro Sekunde| par seconde| por segundo))"
    r"|(?P<step>(?:(?:training|optimizer|warm-?up|decay|gradient) )?(?:steps?|iterations?|iters?|updates)|(?:Optimierer|Trainings|Warmup-)?[Ss]chritten?|pas|étapes|itérations|pasos|iteraciones)"
    r"|(?P<token>(?:(?:unique|training|distinct|pre-?training|new|consumed|more|clean|high-quality|raw) )?[Tt]okens?|jetons)"
    r"|(?P<sequence>sequences?|Sequenzen|séquences|secuencias)"
    r"|(?P<flops>(?P<per_second>[kMGTPE]?(?:FLOP/s|FLOPS|FLOPs/s|FLOPs? per second))|(?P<total>[kMGTPEZY]?FLOPs?))"
    r"|(?P<time>s|sec|seconds?|min|minutes?|h|hrs?|hours?|days?|weeks?|Sekunden?|Minuten|Stunden?|Std|Tagen?|Tag|Wochen?|secondes?|heures?|jours?|semaines?|segundos?|minutos?|horas?|d[ií]as?|semanas?)"
    rf"|(?P<node>{_PART}(?:nodes?|servers?|instances?|VMs?|Knoten|n(?:œ|oe)uds|nodos))"
    rf"|(?P<accelerator>{_PART}(?:GPUs?|accelerators?|chips?|TPUs?|cards)|[ABH][123]00s?|MI\d{{3}}[AX]s?|GH200s?)"
    r"|(?P<size>[kMGTPE]?B|bytes?|Bytes?))(?![\w/-]|[ -]?(?:hours|Stunden)\b)"
)
_QUANTITY = pattern(
    rf"{_DIGITS}(?:{_SCALE}(?:[ -]?{_UNIT})|[ -]?(?P<percent>%|percent\b|per cent\b|Prozent\b)|(?: ?(?P<bare>bn|[kKMBGT])(?![\w%/])|[ -](?P<amount>thousand|million|billion|trillion)\b)?)"
)
"""A number and its unit, as English, German, French and Spanish plans write both."""
_ABBREVIATION = pattern(r"\b(Mio|Mrd|ca|approx|incl|Std|i\.e|e\.g|d\.h|z\.B)\.")
_OF_OTHER_LANGUAGE = pattern(
    r"(?:chritte|stunden|Stunden|Tage|Wochen|Knoten|Sekunden|Sequenzen|étapes|pas$|itérations|heures|jours|semaines|séquences|pasos|iteraciones|horas|d[ií]as|semanas|nodos|Tokens?$)"
)
"""Units behind which points stand between thousands."""
_OPERATOR = pattern(
    r"(?: ?(?!(?:and|or|to|plus|of|with|at|per|und|et|y)\b)[^\W\d_][\w/-]{0,15}){0,3} ?([x×*·/]|\btimes\b|\bmal\b|\bfois\b|\bpor\b) ?(?:about |~)?"
)
"""What stands between two factors: nouns of the first one, and the sign."""
_OF_DURATION = pattern(r"(?:,)? (?:each )?(?:for|over|during|running|während|für|pendant|durante) (?:about |the )?")
"""What stands between machines and the time for which they run."""
_EQUALS = pattern(
    r"(?: ?(?!(?:and|or|und|et|y)\b)[^\W\d_][\w/-]{0,15}){0,3}(?: ?=|,? (?:are|is|makes?|gives?|equals?|or|i\.e|sind|ergeben|ergibt|sont|font|donnent|son|hacen|dan))? ?(?:(?:an?|the) (?:global )?(?:batch|total|sum) of)? ?(?:[≈~=]|about|roughly|some)? ?"
)


class TextQuantity(NamedTuple):
    """A number of a text in the unit of its kind: times in seconds, sizes in bytes, shares as ratios, others as counts."""

    value: float
    unit: str
    start: int
    end: int
    words: str
    step: float
    """The value of the last digit written."""

    def agrees(self, value: float, tolerance: float = 0.02) -> bool:
        """Whether a computed value is this figure, rounded or cut at its last digit.

        >>> TextQuantity(7.05e24, FLOP, 0, 0, "", 1e22).agrees(7.054e24)
        True
        """
        return abs(self.value - value) <= max(tolerance * abs(value), 1.001 * self.step)


class TextProduct(NamedTuple):
    """A product or quotient that a text writes out, with the quantity that the text calls its result."""

    factors: tuple[TextQuantity, ...]
    divided: tuple[bool, ...]
    """Whether each factor divides."""
    result: TextQuantity
    words: str

    @property
    def value(self) -> float:
        """The product of the factors, in their units."""
        return math.prod(
            1 / each.value if under else each.value for each, under in zip(self.factors, self.divided, strict=True)
        )


@recent(2)
def sentence_quantities(text: str) -> tuple[tuple[str, tuple[TextQuantity, ...]], ...]:
    """The sentences of a text that hold quantities, each with them in order.

    >>> [(each.value, each.unit) for each in sentence_quantities("12 T tokens in 480,000 steps; 3.04e17 FLOP/s at 30 %")[0][1]]
    [(12000000000000.0, 'token'), (480000.0, 'step')]
    >>> [(each.value, each.unit) for each in sentence_quantities("480.000 Schritte, 21 Tage")[0][1]]
    [(480000.0, 'step'), (1814400.0, 's')]
    """
    found, left = [], MOST_QUANTITIES
    for sentence in sentences_of(_ABBREVIATION.sub(r"\1", " ".join(text.split()))):
        quantities = tuple(islice(_quantities(sentence), left))
        left -= len(quantities)
        if quantities:
            found.append((sentence, quantities))
    return tuple(found)


def _quantities(sentence: str) -> Iterator[TextQuantity]:
    for match in _QUANTITY.finditer(sentence):
        groups = match.groupdict()
        unit, factor = _unit(groups)
        digits, written = _digits(groups, match[0])
        letter, word = groups["prefix"] or groups["bare"], groups["scale"] or groups["amount"]
        scale = _LETTERS[letter] if letter else SCALE_WORDS[word.lower().rstrip(".")] if word else 1.0
        power = 10.0 ** (int(groups["exponent"] or 0) + int(groups["power"] or 0))
        last = 10.0 ** -len(digits.partition(".")[2]) if "." in digits else 1.0
        if groups["power"] is None and match[0].endswith(("/", "-")):
            continue
        whole = scale * power * factor
        if math.isfinite(float(digits) * whole):
            yield TextQuantity(float(digits) * whole, unit, match.start(), match.end(), written, last * whole)


def _digits(groups: dict[str, str | None], words: str) -> tuple[str, str]:
    """The digits of a number with a point before its decimals, and the words of the quantity."""
    if groups["points"] is not None:
        foreign = groups["points"].count(".") > 1 or _OF_OTHER_LANGUAGE.search(words) is not None
        return groups["points"].replace(".", "") if foreign else groups["points"], words
    digits = groups["grouped"] or groups["spaced"] or groups["plain"] or "0"
    if groups["plain"] is not None:
        return digits.replace(",", "."), words
    return "".join(each for each in digits if each.isdigit() or each == "."), words


def _unit(groups: dict[str, str | None]) -> tuple[str, float]:
    """The unit of a match, and its factor in the unit of its kind."""
    if (word := groups["time"]) is not None:
        return SECOND, TIME_WORDS[word.lower()]
    if (word := groups["size"]) is not None:
        return BYTE, 1.0 if word.lower().startswith("byte") else _BYTE_PREFIX[word[:-1]]
    if (word := groups["per_second"]) is not None:
        return FLOP_PER_SECOND, _FLOP_PREFIX[word.partition("F")[0]]
    if (word := groups["total"]) is not None:
        return FLOP, _FLOP_PREFIX[word.partition("F")[0]]
    if groups["percent"] is not None:
        return SHARE, 0.01
    names = {"accelerator_hour": ACCELERATOR_HOUR, "node_hour": NODE_HOUR, "token_per_second": TOKEN_PER_SECOND}
    named = next(
        (each for each in (*names, STEP, TOKEN, SEQUENCE, NODE, ACCELERATOR) if groups[each] is not None), BARE
    )
    return names.get(named, named), 1.0


def is_own(sentence: str, quantity: TextQuantity) -> bool:
    """Whether a quantity is one of this plan, and not one that it replaces or is compared with."""
    return not belongs_to_something_else(sentence, quantity.start)


@recent(2)
def text_products(text: str) -> tuple[TextProduct, ...]:
    """The products of a text with their results, before or in brackets behind them.

    >>> [(each.value / 3600, each.result.value) for each in text_products("64 nodes x 504 h = 32,256 node-hours")]
    [(32256.0, 32256.0)]
    >>> [round(each.value) for each in text_products("32,256 GPU-hours (64 nodes x 504 h)")]
    [116121600]
    """
    return tuple(each for sentence, quantities in sentence_quantities(text) for each in _products(sentence, quantities))


def _products(sentence: str, quantities: tuple[TextQuantity, ...]) -> Iterator[TextProduct]:
    at = 0
    while at < len(quantities) - 1:
        last, divided = at, [False]
        while last + 1 < len(quantities):
            between = sentence[quantities[last].end : quantities[last + 1].start]
            sign = _OPERATOR.fullmatch(between)
            if sign is None and (_OF_DURATION.fullmatch(between) is None or quantities[last + 1].unit != SECOND):
                break
            divided.append(sign is not None and sign[1] == "/")
            last += 1
        if last > at:
            result = _result_of(sentence, quantities, at, last)
            if result is not None:
                factors = quantities[at : last + 1]
                if all(each.value for each in factors):
                    start, end = min(factors[0].start, result.start), max(factors[-1].end, result.end)
                    yield TextProduct(factors, tuple(divided), result, sentence[start:end])
        at = last + 1 if last > at else at + 1


def _result_of(sentence: str, quantities: tuple[TextQuantity, ...], first: int, last: int) -> TextQuantity | None:
    """The quantity behind a product that an equals sign or a verb joins to it, or the one before its bracket."""
    if last + 1 < len(quantities):
        behind = sentence[quantities[last].end : quantities[last + 1].start]
        if _EQUALS.fullmatch(behind) is not None and not _is_only_nouns(behind):
            return quantities[last + 1]
        if behind.strip() == "," and quantities[last + 1].unit in HOURS:
            return quantities[last + 1]
    before = sentence[quantities[first - 1].end : quantities[first].start] if first else ""
    written_first = first and quantities[first - 1].unit in (*HOURS, TOKEN, FLOP, STEP)
    if written_first and before.strip() in ("(", "(=", "=", ", i.e", ", that is"):
        return quantities[first - 1]
    return None


def _is_only_nouns(between: str) -> bool:
    """Whether nothing between two quantities equates them."""
    return not any(each in between for each in "=≈~") and not any(
        f" {verb} " in f" {between.strip(' ,')} "
        for verb in (
            "are",
            "is",
            "make",
            "makes",
            "give",
            "gives",
            "equal",
            "equals",
            "sind",
            "ergeben",
            "ergibt",
            "sont",
            "font",
            "donnent",
            "son",
            "hacen",
            "dan",
            "or",
            "about",
        )
    )
