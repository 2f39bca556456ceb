"""The keys of a spec that the code of a package names, each of which the schema has."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

from clusterspec.document.conforms import node_at
from clusterspec.source import Path as KeyPath
from clusterspec.spec import schema
from tests.source_code import PACKAGE, texts

KEY = re.compile(r'["\']((?:cluster|workload|layout|operations|procurement|acceptance|measured)(?:\.[a-z_]+)+\.?)["\']')
"""A text of code that is a key and nothing else."""
NEW_LINE = "\n"
LISTS = ("acceptance", "measured", "levels", "tariff", "pool_links", "cache_tiers")
"""Keys that hold a list of mappings."""


def unknown_keys(package: str) -> list[str]:
    """The texts in the code of a package that look like a key of a spec and are none, with their places."""
    return [
        f"{path.relative_to(PACKAGE)}:{text.count(NEW_LINE, 0, match.start()) + 1}: {match[1]}"
        for path, text in texts().items()
        if path.is_relative_to(PACKAGE / package) and path.name != "index.py"
        for match in KEY.finditer(text)
        if not _is_key(match[1])
    ]


@cache
def _is_key(name: str) -> bool:
    return bool(node_at(schema(), _key_path(name)))


def _key_path(key: str) -> KeyPath:
    names = key.rstrip(".").split(".")
    below = [part for above, name in pairwise(names) for part in ((0, name) if above in LISTS else (name,))]
    return (names[0], *below)
