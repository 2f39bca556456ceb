"""Options of ``clusterspec catalog list|show|search|compare|diff|export|audit|check|new``."""

from __future__ import annotations

import argparse

from clusterspec.cli.options import formats, path, positive, shared_options
from clusterspec.cli.options.check import FORMATS

KINDS = "accelerator, interconnect, nic, switch, platform, model or stack"


def describe(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    shared = shared_options()
    listing = actions.add_parser("list", help="list the entries of a kind, or all", parents=[shared])
    _kinds(listing)
    listing.add_argument("--vendor", default="", metavar="TEXT", help="entries of vendors whose name holds this text")
    listing.add_argument("--since", type=positive, metavar="YEAR", help="entries first shipped in this year or later")
    show = actions.add_parser("show", help="one entry, each figure with its source and equivalents", parents=[shared])
    show.add_argument("entry", metavar="ENTRY", help="an id, or kind/id if two kinds share it")
    search = actions.add_parser("search", help="entries that mention some words", parents=[shared])
    search.add_argument("words", nargs="+", metavar="WORD")
    compare = actions.add_parser("compare", help="several entries side by side in one convention", parents=[shared])
    compare.add_argument("entries", nargs="+", metavar="ENTRY")
    diff = actions.add_parser("diff", help="two entries side by side, as their sources print them", parents=[shared])
    diff.add_argument("old", metavar="ENTRY")
    diff.add_argument("new", metavar="ENTRY")
    export = actions.add_parser("export", help="every fact with its source, licensed CC BY 4.0", parents=[shared])
    _kinds(export)
    audit = actions.add_parser(
        "audit", help="check sums, related facts, addresses and dates of all entries", parents=[shared]
    )
    check = actions.add_parser("check", help="check company catalog folders", parents=[shared])
    check.add_argument("folders", nargs="*", metavar="FOLDER", type=path, help="default: those of the configuration")
    check.add_argument(
        "--format", choices=FORMATS, action="append", default=[], help="output format, as of `clusterspec check`"
    )
    check.add_argument(
        "--output",
        metavar="FILE",
        type=path,
        action="append",
        default=[],
        help="output file instead of standard output",
    )
    new = actions.add_parser("new", help="print a commented template of an entry", parents=[shared])
    new.add_argument("kind", metavar="KIND", help=KINDS)
    new.add_argument("id", metavar="ID", nargs="?", help="the id of the entry (default: my-KIND)")
    new.add_argument("--into", metavar="FOLDER", type=path, help="write it to this catalog folder instead")
    for action in (listing, show, search, compare, diff, audit):
        formats(action, "text", "json")
    formats(export, "csv", "json")


def _kinds(action: argparse.ArgumentParser) -> None:
    action.add_argument("of", nargs="*", metavar="KIND", help=KINDS)
    action.add_argument("--kind", dest="kinds", action="append", default=[], metavar="KIND", help="as KIND; repeatable")
