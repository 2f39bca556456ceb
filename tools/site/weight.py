"""Transfer sizes of the site's pages, and a search index that a visitor can load with the first page."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

LARGEST = 200_000
"""Bytes that a page may transfer with its styles, scripts and the index of search, without the playground."""
LINKED = re.compile(r'(?:src|href)="?(?:\.{0,2}/)*((?:assets/[^">\s]+|site)\.(?:js|css))')
CODE = re.compile(r"<pre>.*?</pre>", re.DOTALL)
KEY = re.compile(r"<code>[\w.\[\]]*?(\w+)</code>")
"""The last word of a path in the pages of the spec, which are found by their keys alone."""
TAG = re.compile(r"<[^>]+>")
CALL = re.compile(r"<code>(\w+)\(.*")
"""The title of a formula, which is found by its name."""
HOST = re.compile(r"\b[\w-]+(?:\.[\w-]+)*\.(?:ai|com|dev|edu|gov|io|net|org)\b")
"""The address of a reference of the glossary."""
LISTS = ("accuracy/", "board/", "reality/", "review/", "changelog/", "documented-facts/")
WITHOUT_SECTIONS = ("rules/", "catalog/", "gallery/", *LISTS)
"""Pages found by their title and first lines: a rule repeats its words in every section, and lists have many."""
TITLES_ONLY = ("formulas/", "architecture/", "contributing/")
LONGEST_TEXT = {
    "rules/": 30,
    "catalog/": 30,
    "gallery/": 120,
    "exchange/": 250,
    **{f"{page}/": 300 for page in ("serving", "fleet", "power")},
    **dict.fromkeys(LISTS, 160),
}
"""Characters of the text that pages of a folder are found by, up to a whole word."""


def shortened_index(index: Mapping[str, Any]) -> dict[str, Any]:
    """The index of search without code blocks, without the sections of rules, entries and machines, with the names
    alone of formulas, and each word of the glossary once.

    Zensical loads the index with every page.
    """
    items = []
    for one in index["items"]:
        page, _, section = str(one["location"]).partition("#")
        if not section or not page.startswith(WITHOUT_SECTIONS):
            title = CALL.sub(r"<code>\1</code>", one["title"]) if page.startswith(TITLES_ONLY) else one["title"]
            items.append({**one, "title": title, "text": _searched_text(page, one["text"]), "path": []})
    return {**index, "items": items}


def _searched_text(page: str, text: str) -> str:
    """The words, in addition to the title's, by which search finds a section of a page."""
    if page.startswith(TITLES_ONLY):
        return ""
    if page.startswith("spec/"):
        return " ".join(dict.fromkeys(KEY.findall(text)))
    plain = " ".join(TAG.sub(" ", CODE.sub("", text)).split())
    if page == "glossary/":
        return " ".join(dict.fromkeys(HOST.sub(" ", plain).split()))
    longest = next((most for folder, most in LONGEST_TEXT.items() if page.startswith(folder)), len(plain))
    return plain if len(plain) <= longest else plain[:longest].rpartition(" ")[0]


def shorten_index(site: Path) -> None:
    """Write the index of search of a built site anew."""
    path = site / "search.json"
    index = shortened_index(json.loads(path.read_text("utf-8")))
    path.write_text(json.dumps(index, ensure_ascii=False, separators=(",", ":")), "utf-8")


def weights(site: Path) -> Iterator[tuple[int, str]]:
    """The compressed bytes that each page of a built site transfers, including styles, scripts and the index."""
    searched = sum(_sent_bytes(path) for path in [site / "search.json", *site.glob("assets/javascripts/workers/*.js")])
    for path in sorted(site.rglob("*.html")):
        name = path.relative_to(site)
        if name.parts[0] != "playground":
            linked = {*LINKED.findall(path.read_text("utf-8"))}
            yield searched + _sent_bytes(path) + sum(_sent_bytes(site / one) for one in linked), name.as_posix()


@cache
def _sent_bytes(path: Path) -> int:
    return len(gzip.compress(path.read_bytes(), 6))
