"""Rules: the checks of an expert reviewer. A rule is one file with its page, examples, metadata and check.

`run_rules` runs every rule, `configured_findings` applies the configuration of a team, `page` returns a page. A folder
is a group of rules; `knowledge` holds what several rules share, `readers` reads the texts of a spec, `advice` estimates
other layouts before a rule proposes them.
"""

from __future__ import annotations

from clusterspec.rules.configured import bounded_problems, configured_findings
from clusterspec.rules.engine import (
    RulesFailedError,
    check_incomplete,
    collected_problems,
    is_estimable,
    run_rules,
    unchecked_rules,
    unsuperseded_problems,
)
from clusterspec.rules.facts import Facts
from clusterspec.rules.headlines import name_headlines
from clusterspec.rules.pages import (
    OWN,
    groups,
    is_rule_name,
    listing_text,
    nearest_rules,
    page,
    page_markdown,
    rule_exists,
    rule_rows,
    rules_of_group,
    summary_of,
)
from clusterspec.rules.parts import PlannedDesign

__all__ = [
    "OWN",
    "Facts",
    "PlannedDesign",
    "RulesFailedError",
    "bounded_problems",
    "check_incomplete",
    "collected_problems",
    "configured_findings",
    "groups",
    "is_estimable",
    "is_rule_name",
    "listing_text",
    "name_headlines",
    "nearest_rules",
    "page",
    "page_markdown",
    "rule_exists",
    "rule_rows",
    "rules_of_group",
    "run_rules",
    "summary_of",
    "unchecked_rules",
    "unsuperseded_problems",
]
