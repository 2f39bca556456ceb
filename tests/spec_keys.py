"""The keys of a spec that the code of a package names, each of which the schema has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from clusterspec.document.conforms import node_at
from clusterspec.source import Path as KeyPath
from clusterspec.spec.reader import schema

PACKAGE = Path(__file__).resolve().parents[1] / "clusterspec"
KEY = re.compile(r"(cluster|workload|layout|operations|procurement|acceptance|measured)(\.[a-z_]+)+\.?")
LISTS = ("acceptance", "measured", "levels")
"""Keys that hold a list of mappings."""


def unknown_keys(package: str) -> list[str]:
    """The texts in the code of a package that look like a key of a spec and are none, with their places."""
    return [
        f"{path.relative_to(PACKAGE)}:{line}: {key}"
        for path in sorted((PACKAGE / package).rglob("*.py"))
        if path.name != "index.py"
        for line, key in _named_keys(path)
        if not node_at(schema(), _key_path(key))
    ]


def _named_keys(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and KEY.fullmatch(node.value):
            yield node.lineno, node.value


def _key_path(key: str) -> KeyPath:
    names = key.rstrip(".").split(".")
    below = [part for above, name in pairwise(names) for part in ((0, name) if above in LISTS else (name,))]
    return (names[0], *below)
