"""``clusterspec catalog list|show|search|diff``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from clusterspec.catalog import BrokenEntry, Catalog, UnknownEntry, rows, shelf, tables
from clusterspec.cli import OK, UsageFault
from clusterspec.cli.choices import configured, headed, opened
from clusterspec.cli.terminal import ink, say, say_json

Told = tuple[str, dict[str, Any]]
"""What an action says: as text, and as the body of a JSON document."""


def run(asked: argparse.Namespace) -> int:
    """Prints what one action says; a name that the catalog does not know is the caller's fault."""
    actions = {"list": listed, "show": shown, "search": searched, "diff": compared}
    try:
        text, body = actions[asked.action](asked, opened(asked, configured(asked, Path.cwd())))
    except (UnknownEntry, BrokenEntry, shelf.AmbiguousName) as fault:
        raise UsageFault(str(fault)) from None
    if asked.format == "json":
        say_json(headed(asked, body))
    else:
        say(text)
    return OK


def listed(asked: argparse.Namespace, catalog: Catalog) -> Told:
    if asked.kind and asked.kind not in catalog.kinds:
        raise UsageFault(f"no kind is called {asked.kind!r}; there are {', '.join(catalog.kinds)}")
    found = rows.rows(catalog, (asked.kind,) if asked.kind else ())
    return tables.list_text(found, ink(asked).width), {"entries": [row.to_json() for row in found]}


def shown(asked: argparse.Namespace, catalog: Catalog) -> Told:
    view = shelf.show(catalog, asked.entry)
    return tables.show_text(view, ink(asked).measure), {"entry": view.to_json()}


def searched(asked: argparse.Namespace, catalog: Catalog) -> Told:
    found = rows.search(catalog, " ".join(asked.words))
    return tables.list_text(found, ink(asked).width), {"entries": [row.to_json() for row in found]}


def compared(asked: argparse.Namespace, catalog: Catalog) -> Told:
    comparison = shelf.compare(catalog, asked.old, asked.new)
    return tables.compare_text(comparison, ink(asked).width), comparison.to_json()
