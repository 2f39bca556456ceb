"""Commented templates of catalog entries, generated from the schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from typing import Any

from clusterspec.catalog.checks import schema

HEAD = """\
# {article} {kind} of your own: {place}/{id}.yaml in a folder that the configuration names under `catalog`.
# Every commented line below `facts` is a fact with an example: uncomment it and write the figure of your source, with
# its unit. A bandwidth states its direction, scope and basis; a peak states dense or sparse. A fact without a source
# is `assumed`, with the reason. `clusterspec catalog check` reports errors.
kind: {kind}
id: {id}
name: {id}
vendor: ACME
status: {{is: announced, as_of: {today}}}
sources:
  data-sheet:
    title: "ACME, data sheet of {id}, page 1"
    url: https://example.com/data-sheet
    read: {today}
source: data-sheet
facts:
  year: {{is: {year}, assumed: "placeholder; write the year that the data sheet gives"}}
"""
TAIL = """\
#notes:
#  - Further remarks for the reader.
"""


def skeleton(kind: str, id_: str, today: date, place: str) -> str:
    """The text of a valid entry of a kind; ``place`` is the folder of its kind."""
    article = "An" if kind[0] in "aeiou" else "A"
    text = HEAD.format(article=article, kind=kind, id=id_, today=today.isoformat(), year=today.year, place=place)
    node = schema()["$defs"][f"{kind}_facts"]
    return text + "".join(f"{line}\n" for line in _lines(node, 1)) + TAIL


def _lines(node: dict[str, Any], depth: int) -> Iterator[str]:
    """The facts of a schema node, each commented out, with its description."""
    for key, fact in node.get("properties", {}).items():
        if key == "year" and depth == 1:
            continue
        indent = "  " * depth
        description = str(fact.get("description", "")).replace("\n", " ")
        if "properties" in fact:
            yield f"#{indent}{key}:  # {description}"
            yield from _lines(fact, depth + 1)
        else:
            yield f"#{indent}{key}: {_flow(fact['examples'][0])}  # {description}"


def _flow(value: Any) -> str:
    """A value in YAML flow style, quoted only if needed."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    plain = isinstance(value, str) and value[:1].isalnum() and all(c.isalnum() or c in " /._-" for c in value)
    number = plain and value.replace(".", "").replace("-", "").isdigit()
    return value if plain and not number else json.dumps(value, ensure_ascii=False)
