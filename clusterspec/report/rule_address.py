"""Addresses of the pages of rules, in formats that link to them."""

from __future__ import annotations

DOCUMENTATION = "https://github.com/clusterspec/clusterspec/blob/main/docs"


def address(rule: str) -> str:
    """The address of a rule's page; of a company rule, that of the page about company rules.

    >>> address("few-spines").rpartition("/docs/")[2], address("own/no-taper").rpartition("/docs/")[2]
    ('rules/few-spines.md', 'policy.md')
    """
    return f"{DOCUMENTATION}/policy.md" if "/" in rule else f"{DOCUMENTATION}/rules/{rule}.md"
