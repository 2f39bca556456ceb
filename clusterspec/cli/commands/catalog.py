"""``clusterspec catalog list|show|search|compare|diff|export|audit|check|new``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clusterspec.catalog import BrokenEntry, Catalog, UnknownEntry, lookup, rows, tables
from clusterspec.cli import FOUND, OK, UsageFault
from clusterspec.cli.choices import configured, headed, opened, today
from clusterspec.cli.terminal import ink, print_error, print_json, print_text

WHOLE = ("list", "search", "export", "audit")
"""The actions that read all entries, and leave out those of a company that are broken."""
Answer = tuple[str, dict[str, Any]]
"""What an action prints: as text, and as the body of a JSON document."""


def run(asked: argparse.Namespace) -> int:
    """Print the result of an action. The exit status is 1 for faults, including invalid company entries.

    Raises `UsageFault` for an unknown name or kind.
    """
    if asked.action in ("check", "new"):
        from clusterspec.cli.commands import catalog_company

        return int(getattr(catalog_company, asked.action)(asked))
    actions = {
        "list": listed,
        "show": shown,
        "search": searched,
        "compare": compared,
        "diff": differing,
        "export": exported,
        "audit": audited,
    }
    try:
        catalog = opened(asked, configured(asked, Path.cwd()))
        catalog, broken = catalog.readable() if asked.action in WHOLE else (catalog, ())
        text, body = actions[asked.action](asked, catalog)
    except (UnknownEntry, BrokenEntry, lookup.AmbiguousName) as fault:
        raise UsageFault(str(fault)) from None
    if broken:
        body = body | {"faults": [*map(str, broken), *body.get("faults", ())]}
    if asked.format == "json":
        print_json(headed(asked, body))
    else:
        print_text(text)
        for one in broken:
            print_error(f"clusterspec: {one}")
    return FOUND if body.get("faults") else OK


def listed(asked: argparse.Namespace, catalog: Catalog) -> Answer:
    found = rows.rows(catalog, _kinds(catalog, [*asked.of, *asked.kinds]))
    found = rows.filtered(found, asked.vendor, asked.since)
    return tables.list_text(found, _width(asked)), {"entries": [row.to_json() for row in found]}


def shown(asked: argparse.Namespace, catalog: Catalog) -> Answer:
    view = lookup.show(catalog, asked.entry)
    return tables.show_text(view, ink(asked).measure), {"entry": view.to_json()}


def searched(asked: argparse.Namespace, catalog: Catalog) -> Answer:
    found = rows.search(catalog, " ".join(asked.words))
    return tables.list_text(found, _width(asked)), {"entries": [row.to_json() for row in found]}


def compared(asked: argparse.Namespace, catalog: Catalog) -> Answer:
    from clusterspec.catalog.side_by_side import side_by_side_text

    if len(asked.entries) < 2:
        raise UsageFault("compare takes two entries or more")
    found = lookup.compare_all(catalog, asked.entries)
    return side_by_side_text(found), found.to_json()


def differing(asked: argparse.Namespace, catalog: Catalog) -> Answer:
    comparison = lookup.compare(catalog, asked.old, asked.new)
    return tables.compare_text(comparison, _width(asked)), comparison.to_json()


def exported(asked: argparse.Namespace, catalog: Catalog) -> Answer:
    from clusterspec.catalog.export import export_csv, export_json

    kinds = _kinds(catalog, [*asked.of, *asked.kinds])
    return ("", export_json(catalog, kinds)) if asked.format == "json" else (export_csv(catalog, kinds), {})


def audited(asked: argparse.Namespace, catalog: Catalog) -> Answer:
    from clusterspec.catalog.audit import audit, audit_text

    found = audit(catalog, today(asked))
    return audit_text(found), found.to_json()


def _kinds(catalog: Catalog, asked: Sequence[str]) -> tuple[str, ...]:
    """The kinds given by a call, singular or plural, without duplicates. Raises `UsageFault` for an unknown kind."""
    named = {word: kind for kind in catalog.kinds for word in (kind, f"{kind}s", f"{kind}es")}
    for word in asked:
        if word not in named:
            raise UsageFault(f"no kind is called {word!r}; there are {', '.join(catalog.kinds)}")
    return tuple(dict.fromkeys(named[word] for word in asked))


def _width(asked: argparse.Namespace) -> int:
    """The width of the terminal; 0 (no limit) if output is not a terminal."""
    return ink(asked).width if sys.stdout is not None and sys.stdout.isatty() else 0
