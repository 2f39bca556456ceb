"""The arithmetic that messages state, worked out from the figures printed beside it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from math import prod

FIGURE = r"(?<![\w.])([\d,]*\.?\d+ ?[kMGTP]?(?:b/s|B/s|B|W|FLOP/s|ms|s|min|h))(?: duplex| unidirectional| dense)?\b"
BARE = r"(?<![\w.])([\d,]+)"
SECONDS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


def si(figure: str) -> float:
    """A printed figure in bytes, seconds, watts or operations; a count as it stands."""
    number, prefix, unit = re.fullmatch(r"([\d,.]+) ?([kMGTP]?)([A-Za-z/]*)", figure).groups()  # type: ignore[union-attr]
    scale = SECONDS.get(unit, 1 / 8 if unit.startswith("b") else 1.0)
    return float(number.replace(",", "")) * 1000.0 ** " kMGTP".index(prefix or " ") * scale


def product(factors: str) -> float:
    return prod(map(si, re.findall(r"\d[\d,]*", factors)))


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
        rf"predicted {FIGURE} per step, {FIGURE} [^(]*\(([\d.]+) % less",
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
