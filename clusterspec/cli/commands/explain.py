"""``clusterspec explain RULE``."""

from __future__ import annotations

import argparse

from clusterspec import rules
from clusterspec.cli import OK, UsageFault
from clusterspec.cli.inputs import headed
from clusterspec.cli.terminal import say
from clusterspec.report.findings_machines import dumps


def run(asked: argparse.Namespace) -> int:
    """Prints the page of a rule, or the list of all."""
    if asked.rule is None:
        listing = rules.listing()
        say(
            dumps(headed(asked, {"rules": [row.to_json() for row in listing]}))
            if asked.format == "json"
            else rules.listing_text(listing)
        )
        return OK
    if not rules.known(asked.rule):
        near = rules.nearest(asked.rule)
        raise UsageFault(f"no rule is called {asked.rule!r}" + (f"; did you mean {', '.join(near)}?" if near else ""))
    page = rules.explain(asked.rule)
    say(dumps(headed(asked, {"rule": asked.rule, "page": page})) if asked.format == "json" else page)
    return OK
