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
from clusterspec.cli.terminal import given_columns, ink, print_error, print_json, print_text

WHOLE = ("list", "search", "export", "audit")
"""The actions that read all entries, and leave out those of a company that are broken."""
Answer = tuple[str, dict[str, Any]]
"""What an action prints: as text, and as the body of a JSON document."""


def run(args: argparse.Namespace) -> int:
    """Print the result of an action. The exit status is 1 for faults, including invalid company entries.

    Raises `UsageFault` for an unknown name or kind.
    """
    if args.action in ("check", "new"):
        from clusterspec.cli.commands import catalog_company

        return int(getattr(catalog_company, args.action)(args))
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
        catalog = opened(args, configured(args, Path.cwd()))
        catalog, broken = catalog.readable() if args.action in WHOLE else (catalog, ())
        text, body = actions[args.action](args, catalog)
    except (UnknownEntry, BrokenEntry, lookup.AmbiguousName) as fault:
        raise UsageFault(str(fault)) from None
    if broken:
        body = body | {"faults": [*map(str, broken), *body.get("faults", ())]}
    if args.format == "json":
        print_json(headed(args, body))
    else:
        print_text(text)
        for one in broken:
            print_error(f"clusterspec: {one}")
    return FOUND if body.get("faults") else OK


def listed(args: argparse.Namespace, catalog: Catalog) -> Answer:
    found = rows.rows(catalog, _kinds(catalog, [*args.of, *args.kinds]))
    found = rows.filtered(found, args.vendor, args.since)
    if args.vendor and not found and (near := rows.nearest_vendors(rows.rows(catalog), args.vendor)) is not None:
        offer = f"did you mean {', '.join(near)}?" if near else "`clusterspec catalog list` shows all entries"
        raise UsageFault(f"no vendor's name holds {args.vendor!r}; {offer}")
    return tables.list_text(found, _width(args)), {"entries": [row.to_json() for row in found]}


def shown(args: argparse.Namespace, catalog: Catalog) -> Answer:
    view = lookup.show(catalog, args.entry)
    return tables.show_text(view, ink(args).measure), {"entry": view.to_json()}


def searched(args: argparse.Namespace, catalog: Catalog) -> Answer:
    found = rows.search(catalog, " ".join(args.words))
    return tables.list_text(found, _width(args)), {"entries": [row.to_json() for row in found]}


def compared(args: argparse.Namespace, catalog: Catalog) -> Answer:
    from clusterspec.catalog.side_by_side import side_by_side_text

    if len(args.entries) < 2:
        raise UsageFault("compare takes two entries or more")
    found = lookup.compare_all(catalog, args.entries)
    return side_by_side_text(found), found.to_json()


def differing(args: argparse.Namespace, catalog: Catalog) -> Answer:
    comparison = lookup.compare(catalog, args.old, args.new)
    return tables.compare_text(comparison, _width(args)), comparison.to_json()


def exported(args: argparse.Namespace, catalog: Catalog) -> Answer:
    from clusterspec.catalog.export import export_csv, export_json

    kinds = _kinds(catalog, [*args.of, *args.kinds])
    return ("", export_json(catalog, kinds)) if args.format == "json" else (export_csv(catalog, kinds), {})


def audited(args: argparse.Namespace, catalog: Catalog) -> Answer:
    from clusterspec.catalog.audit import audit, audit_text

    found = audit(catalog, today(args))
    return audit_text(found), found.to_json()


def _kinds(catalog: Catalog, asked: Sequence[str]) -> tuple[str, ...]:
    """The kinds given by a call, singular or plural, without duplicates. Raises `UsageFault` for an unknown kind."""
    named = {word: kind for kind in catalog.kinds for word in (kind, f"{kind}s", f"{kind}es")}
    for word in asked:
        if word not in named:
            raise UsageFault(f"no kind is called {word!r}; there are {', '.join(catalog.kinds)}")
    return tuple(dict.fromkeys(named[word] for word in asked))


def _width(args: argparse.Namespace) -> int:
    """The width of the terminal or of `COLUMNS`; 0 (no limit) where there is neither."""
    limited = given_columns() or (sys.stdout is not None and sys.stdout.isatty())
    return ink(args).width if limited else 0
