"""The arithmetic that messages state, worked out from the figures printed with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from math import prod

import pytest

UNIT = "[kMGTP]?(?:b/s|B/s|B|W|FLOP/s|ms|s|min|h|days)"
FIGURE = rf"(?<![\w.])(?<!× )([\d,]*\.?\d+ ?{UNIT})(?: duplex| unidirectional| dense)?\b"
BARE = r"(?<![\w.])([\d,]+)"
MONEY = r"(?<![\w.])([\d,]+(?:\.\d+)?) [A-Z]{3}"
PERCENT = r"([\d.]+) %"
SECONDS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "days": 86400.0}


def si(figure: str) -> float:
    """A printed figure in bytes, seconds, watts or operations; a count as it stands."""
    number, prefix, unit = re.fullmatch(r"([\d,.]+) ?([kMGTP]?)([A-Za-z/]*)", figure).groups()  # type: ignore[union-attr]
    scale = SECONDS.get(unit, 1 / 8 if unit.startswith("b") else 1.0)
    return float(number.replace(",", "")) * 1000.0 ** " kMGTP".index(prefix or " ") * scale


def product(factors: str) -> float:
    return prod(map(si, re.findall(r"\d[\d,]*", factors)))


def share_of(sign: int) -> Callable[..., float]:
    """The ratio that a percentage above (1) or below (-1) states."""
    return lambda _, percentage, __: 1 + sign * percentage / 100


STATED: list[tuple[str, Callable[..., float], Callable[..., float]]] = [
    # a form of sentence, what it states, and what its figures give
    (
        rf"{FIGURE}[^\d,;:]* (?:is|are)(?: only)? ([\d.]+) % of the {FIGURE}",
        lambda a, p, b: p / 100,
        lambda a, p, b: a / b,
    ),
    (rf"{FIGURE}[^\d,;:]* (?:is|are) ([\d.]+) times the {FIGURE}", lambda a, r, b: r, lambda a, r, b: a / b),
    (rf"{FIGURE}[^\d,;:]* (?:is|are) 1/([\d.]+) of the {FIGURE}", lambda a, r, b: 1 / r, lambda a, r, b: a / b),
    (
        rf"predicted {FIGURE} per step, {FIGURE} [^(;]*\((?:[^();]*, )?([\d.]+) % less",
        lambda a, b, p: 1 - p / 100,
        lambda a, b, p: b / a,
    ),
    (
        rf"{BARE} output tokens per second, {BARE} [^(]*\(([\d.]+) % more",
        lambda a, b, p: 1 + p / 100,
        lambda a, b, p: b / a,
    ),
    (rf"{BARE} [a-z ]+ stated, ([\d.]+) % more than the {BARE} n", lambda a, p, b: 1 + p / 100, lambda a, p, b: a / b),
    (rf"{BARE} nodes of (\d+) are {BARE} ranks", lambda n, of, ranks: ranks, lambda n, of, ranks: n * of),
    *(
        (
            rf"{one}(?: or more)?[^\d;:]* {PERCENT} {word} the (?:budget of )?{one}",
            share_of(sign),
            lambda a, p, b: a / b,
        )
        for one in (FIGURE, MONEY)
        for word, sign in (("above", 1), ("below", -1))
    ),
    *(
        (rf"has ([\d.]+)B parameters, {PERCENT} {word} than the ([\d.]+)b", share_of(sign), lambda a, p, b: a / b)
        for word, sign in (("more", 1), ("fewer", -1))
    ),
    (
        rf"{FIGURE}, {PERCENT} of the (?:(?:step|interval) of )?{FIGURE}",
        lambda a, p, b: p / 100,
        lambda a, p, b: a / b,
    ),
    (
        rf"take {FIGURE} over [^;]*, {PERCENT} of the term of {FIGURE}",
        lambda a, p, b: p / 100,
        lambda a, p, b: a / b,
    ),
    (
        rf"{FIGURE} offloaded by \d+ accelerators are {PERCENT} of the {FIGURE}",
        lambda a, p, b: p / 100,
        lambda a, p, b: a / b,
    ),
    (
        rf"draws {FIGURE}, {PERCENT} of (\d+) [a-z ]+(?:\([^)]*\) )?of {FIGURE}",
        lambda a, p, n, b: p / 100,
        lambda a, p, n, b: a / (n * b),
    ),
    (
        rf"take {FIGURE} of a decode step of {FIGURE} \({PERCENT}\)",
        lambda a, b, p: p / 100,
        lambda a, b, p: a / b,
    ),
    (rf"{FIGURE} is ([\d.]+) times {FIGURE}", lambda a, r, b: r, lambda a, r, b: a / b),
    (
        rf"prefill takes {PERCENT} of the engines' time: of {FIGURE} per output token, {FIGURE} are decoding",
        lambda p, a, b: p / 100,
        lambda p, a, b: 1 - b / a,
    ),
    (
        rf"predicted {BARE} output tokens per second, {BARE} [^(;]*\({PERCENT} lost\)",
        lambda a, b, p: p / 100,
        lambda a, b, p: 1 - a / b,
    ),
    (
        rf"{BARE} output tokens per second instead of {BARE} \({PERCENT} lost\)",
        lambda a, b, p: p / 100,
        lambda a, b, p: 1 - b / a,
    ),
    (
        rf"demand {FIGURE} to {FIGURE}, (\d+) to (\d+) % of the predicted {FIGURE}",
        lambda low, high, least, most, whole: least / 100 + most,
        lambda low, high, least, most, whole: low / whole + round(100 * high / whole),
    ),
    (
        rf"{BARE} nodes that each fail every {FIGURE} fail every {FIGURE} together",
        lambda n, each, together: together,
        lambda n, each, together: each / n,
    ),
    (
        rf"(?<!and ){BARE} checkpoints of {FIGURE} are {FIGURE}",
        lambda n, each, together: together,
        lambda n, each, together: n * each,
    ),
    (
        rf"{FIGURE} of data and {BARE} checkpoints? of {FIGURE} are {FIGURE}",
        lambda data, n, each, together: together,
        lambda data, n, each, together: data + n * each,
    ),
    (rf"MFU of {PERCENT} is {PERCENT} of the {PERCENT}", lambda a, p, b: p / 100, lambda a, p, b: a / b),
    (
        rf"{BARE} spare nodes? in addition to {BARE} that work make up {PERCENT} of the machine",
        lambda a, b, p: p / 100,
        lambda a, b, p: a / (a + b),
    ),
    (rf"{BARE} spare nodes are {PERCENT} of {BARE} nodes", lambda a, p, b: p / 100, lambda a, p, b: a / b),
    (rf"{BARE} of {BARE} nodes, {PERCENT}, run", lambda a, b, p: p / 100, lambda a, b, p: a / b),
    (rf"{BARE} of {BARE} nodes ha(?:s|ve) no job \({PERCENT}\)", lambda a, b, p: p / 100, lambda a, b, p: a / b),
]
PRODUCT = re.compile(r"((?:\d[\d,]*|[a-z_]+ \d+)(?: × (?:[a-z_]+ )?\d[\d,]*)+) (?:=|is) ([\d,]+)(?! [kMGTP]?[bB])")


def arithmetic(message: str) -> Iterator[tuple[str, float, float]]:
    """The statements of a message: the text, the number that it states, and that of its figures."""
    for form, stated, given in STATED:
        for match in re.finditer(form, message):
            figures = [si(figure) for figure in match.groups()]
            yield match[0], stated(*figures), given(*figures)
    for match in PRODUCT.finditer(message):
        yield match[0], si(match[2].rstrip(",")), product(match[1])


def wrong_arithmetic(message: str) -> list[tuple[str, float, float]]:
    """The statements of a message that its figures do not give, in the digits printed: three or more, or two."""
    return [
        (text, stated, given)
        for text, stated, given in arithmetic(message)
        if stated != pytest.approx(given, rel=0.012, abs=0.006) and f"{stated:.3g}" != f"{float(f'{given:.2g}'):.3g}"
    ]
