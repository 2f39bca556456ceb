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
