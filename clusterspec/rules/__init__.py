"""Rules: the checks of an expert reviewer. A rule is one file with its page, examples, metadata and check.

`judge` runs every rule, `choose` applies the configuration of a team, `explain` returns a page. A folder is a group of
rules; `knowledge` holds what several rules share, `advice` estimates other layouts before a rule proposes them.
"""

from __future__ import annotations

from clusterspec.rules.configured import bounded, choose
from clusterspec.rules.engine import RulesFailedError, judge
from clusterspec.rules.facts import Facts
from clusterspec.rules.headlines import name_headlines
from clusterspec.rules.incomplete import estimable, judge_incomplete
from clusterspec.rules.pages import (
    OWN,
    explain,
    known,
    listing,
    listing_text,
    may_be_waived,
    nearest,
    of_group,
    page,
    summary_of,
)

__all__ = [
    "OWN",
    "Facts",
    "RulesFailedError",
    "bounded",
    "choose",
    "estimable",
    "explain",
    "judge",
    "judge_incomplete",
    "known",
    "listing",
    "listing_text",
    "may_be_waived",
    "name_headlines",
    "nearest",
    "of_group",
    "page",
    "summary_of",
]
