"""What a page of the site weighs, and an index of search that a visitor can load with the first page."""

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
LONGEST = 250_000
"""The same for the few pages that are one long list, such as all accelerators of the catalog."""
LINKED = re.compile(r'(?:src|href)="?(?:\.{0,2}/)*(assets/[^">\s]+\.(?:js|css))')
CODE = re.compile(r"<pre>.*?</pre>", re.DOTALL)
WITHOUT_SECTIONS = "rules/"
"""Pages found by their title and first lines: a rule repeats its words in every section."""
TITLES_ONLY = "formulas/"


def shortened(index: Mapping[str, Any]) -> dict[str, Any]:
    """The index of search without code blocks, without the sections of rules and the texts of formulas.

    Zensical loads the index with every page.
    """
    items = []
    for one in index["items"]:
        page, _, section = str(one["location"]).partition("#")
        if section and page.startswith(WITHOUT_SECTIONS):
            continue
        text = "" if page.startswith(TITLES_ONLY) else re.sub(r"\s+", " ", CODE.sub("", one["text"])).strip()
        items.append({**one, "text": text})
    return {**index, "items": items}


def shorten_index(site: Path) -> None:
    """Write the index of search of a built site anew."""
    path = site / "search.json"
    index = shortened(json.loads(path.read_text("utf-8")))
    path.write_text(json.dumps(index, ensure_ascii=False, separators=(",", ":")), "utf-8")


def weights(site: Path) -> Iterator[tuple[int, str]]:
    """The bytes that each page of a built site transfers, compressed: with its styles, its scripts and the index."""
    searched = sum(_sent(path) for path in [site / "search.json", *site.glob("assets/javascripts/workers/*.js")])
    for path in sorted(site.rglob("*.html")):
        name = path.relative_to(site)
        if name.parts[0] != "playground":
            linked = {*LINKED.findall(path.read_text("utf-8"))}
            yield searched + _sent(path) + sum(_sent(site / one) for one in linked), name.as_posix()


@cache
def _sent(path: Path) -> int:
    return len(gzip.compress(path.read_bytes(), 6))
