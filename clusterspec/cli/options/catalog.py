"""Options of ``clusterspec catalog list|show|search|diff``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import everywhere, formats


def describe(one: argparse.ArgumentParser) -> None:
    """Adds them to a parser."""
    actions = one.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    shared = everywhere()
    listing = actions.add_parser("list", help="the entries of a kind, or of all", parents=[shared])
    listing.add_argument(
        "kind", nargs="?", metavar="KIND", help="accelerator, interconnect, nic, switch, platform or model"
    )
    show = actions.add_parser("show", help="one entry, each figure with its source and every reading", parents=[shared])
    show.add_argument("entry", metavar="ENTRY", help="an id, or kind/id where two kinds share it")
    search = actions.add_parser("search", help="entries that mention some words", parents=[shared])
    search.add_argument("words", nargs="+", metavar="WORD")
    diff = actions.add_parser("diff", help="two entries side by side", parents=[shared])
    diff.add_argument("old", metavar="ENTRY")
    diff.add_argument("new", metavar="ENTRY")
    for action in (listing, show, search, diff):
        formats(action, "text", "json")
