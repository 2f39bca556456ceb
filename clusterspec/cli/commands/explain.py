"""``clusterspec explain RULE``."""

from __future__ import annotations

import argparse

from clusterspec import rules
from clusterspec.cli import OK, UsageFault
from clusterspec.cli.choices import headed
from clusterspec.cli.terminal import ink, print_json, print_text
from clusterspec.report import page_text
from clusterspec.report.ink import Ink


def run(args: argparse.Namespace) -> int:
    """Print the page of a rule, or the list of all rules."""
    text, body = listed() if args.rule is None else explained(args.rule, ink(args))
    if args.format == "json":
        print_json(headed(args, body))
    else:
        print_text(text)
    return OK


def listed() -> tuple[str, dict[str, object]]:
    """The list of rules, as text and as JSON."""
    listing = rules.listing()
    return rules.listing_text(listing) + "\n", {"rules": [row.to_json() for row in listing]}


def explained(name: str, paint: Ink) -> tuple[str, dict[str, object]]:
    """The page of a rule, as text and as JSON. Raises `UsageFault` for an unknown name."""
    if members := rules.of_group(name):
        raise UsageFault(f"{name!r} is a group of rules; each has a page: {', '.join(members)}")
    if not rules.known(name):
        near = rules.nearest(name, others=rules.groups())
        raise UsageFault(
            f"no rule is called {name!r}"
            + (f"; did you mean {', '.join(near)}?" if near else "; `clusterspec explain` lists the rules")
        )
    page = rules.explain(name)
    return page_text.text(page, paint), {"rule": name, "page": page}
