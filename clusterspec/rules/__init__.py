"""What an expert reviewer would say. A rule is one file: its page, its examples, its metadata, its check.

`judge` asks every rule, `choose` applies the choices of a team, `explain` prints a page. A folder
is a group of rules; what several of them know alike stands in `knowledge`, the advice that is
worked out before it is given in `advice`, and what reads running text in `prose`.
"""

from __future__ import annotations

from clusterspec.rules.choices import choose
from clusterspec.rules.engine import RulesFailedError, judge
from clusterspec.rules.facts import Facts
from clusterspec.rules.pages import explain, known, listing, listing_text, nearest, page, summary_of
from clusterspec.rules.provisional import estimable, judge_incomplete

__all__ = [
    "Facts",
    "RulesFailedError",
    "choose",
    "estimable",
    "explain",
    "judge",
    "judge_incomplete",
    "known",
    "listing",
    "listing_text",
    "nearest",
    "page",
    "summary_of",
]
