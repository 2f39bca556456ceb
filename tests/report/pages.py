"""The text of a page with the JSON field that each piece of it carries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset(
    {"meta", "link", "br", "wbr", "hr", "img", "input", "circle", "rect", "line", "path", "polyline", "polygon"}
)
SILENT = frozenset({"style", "script", "title"})


@dataclass
class _Reader(HTMLParser):
    """Collects pieces of text with the nearest field around them."""

    open_: list[tuple[str, str]] = field(default_factory=list)
    pieces: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open_.append((tag, dict(attrs).get("data-field") or ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        while self.open_ and tag not in VOID:
            if self.open_.pop()[0] == tag:
                break

    def handle_data(self, data: str) -> None:
        if data.strip() and not any(tag in SILENT for tag, _ in self.open_):
            named = next((name for _, name in reversed(self.open_) if name), "")
            self.pieces.append((data.strip(), named))


def pieces(page: str) -> list[tuple[str, str]]:
    """Every piece of text with its field; the field is empty where there is none."""
    reader = _Reader()
    reader.feed(page)
    return reader.pieces


def numbers_without_a_field(page: str) -> list[str]:
    """Pieces that hold a digit and carry no field."""
    return [text for text, named in pieces(page) if re.search(r"\d", text) and not named]


_SCALES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_UNITS = {
    **{prefix + unit: scale for prefix, scale in _SCALES.items() for unit in ("B", "B/s", "FLOP/s", "W", "b/s", "J")},
    **{"%": 0.01, "ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "days": 86_400.0},
    **{"years": 31_557_600.0, "MWh": 3.6e9, "GWh": 3.6e12, "m": 1.0},
    **{
        scale + currency: value for scale, value in {"": 1, "k ": 1e3, "M ": 1e6}.items() for currency in ("USD", "EUR")
    },
}
_FIGURE = re.compile(r"([+−]?)([\d,]+)((?:\.\d+)?) (.+)")
_WHOLES = frozenset({"value", "total", "seconds", "step_time"})
"""Fields of which a percentage is a share or a change, not the value."""


def contradicts(text: str, named: str, value: object) -> bool:
    """Whether a piece that is one number with a unit differs from the number of its field beyond its last digit.

    >>> contradicts("3.06 s", "estimate.step_time", 3.0561), contradicts("3.06 s", "estimate.step_time", 3.1)
    (False, True)
    """
    found = _FIGURE.fullmatch(text)
    if not found or found[4] not in _UNITS or isinstance(value, bool) or not isinstance(value, int | float):
        return False
    sign, whole, fraction, unit = found.groups()
    if unit == "%" and named.rpartition(".")[2] in _WHOLES:
        return False
    digits = whole.replace(",", "")
    zeros = len(digits) - len(digits.rstrip("0")) if len(digits) > 3 else 0
    last = 10.0 ** (1 - len(fraction)) if fraction else 10.0**zeros
    shown = float(digits + fraction) * (-1 if sign == "−" else 1)
    return abs(shown - value / _UNITS[unit]) > 0.51 * last + 1e-9 * abs(shown)


def lookup(document: object, path: str) -> object:
    """The value at a field such as ``areas[0].value``. Raises `KeyError` or `IndexError`."""
    found = document
    for name, number in _steps(path):
        if name:
            assert isinstance(found, dict), path
            found = found[name]
        else:
            assert isinstance(found, list | tuple), path
            found = found[number]
    return found


def _steps(path: str) -> Iterator[tuple[str, int]]:
    for name, number in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path):
        yield name, int(number or 0)
