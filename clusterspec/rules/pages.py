"""The page of a rule: its docstring, parsed into headings, examples and sources."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import groupby
from types import ModuleType

from clusterspec.finding import current_name
from clusterspec.records import dataclass
from clusterspec.rules.index import RULES
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern

HEADINGS = (
    "What it finds",
    "Why it matters",
    "What to do",
    "When to ignore it",
    "Options",
    "Fix safety",
    "Fires",
    "Silent",
    "Sources",
)
OPTIONAL = frozenset({"Options", "Fix safety"})
"""The headings that only rules with a threshold, and rules with fixes, have."""
_EXAMPLE = pattern(
    r"^```(?P<language>yaml|markdown)(?: (?P<path>\S+))?\n(?P<text>(?:(?!```)[^\n]*\n)*)```$", re.MULTILINE
)


@dataclass(frozen=True)
class Example:
    """A spec on a page, and the dotted key path at which the rule must fire (empty: the rule must be silent).

    With ``prose`` it is a text instead of a spec, and a line number instead of a path.
    """

    text: str
    path: str = ""
    prose: bool = False


@dataclass(frozen=True)
class Page:
    """A rule's documentation: metadata, a one-line summary, and the text under each heading."""

    rule: Rule
    summary: str
    sections: Mapping[str, str]

    @property
    def fires(self) -> tuple[Example, ...]:
        return _examples(self.sections["Fires"])

    @property
    def silent(self) -> tuple[Example, ...]:
        return _examples(self.sections["Silent"])

    @property
    def text(self) -> str:
        """The page as Markdown."""
        facts = f"{self.rule.severity}, {self.rule.confidence}; group {self.rule.group}"
        if self.rule.aliases:
            facts += f"; formerly {', '.join(self.rule.aliases)}"
        sections = "".join(f"\n## {heading}\n\n{text}\n" for heading, text in self.sections.items())
        return f"# {self.rule.name}\n\n{self.summary}\n\n*{facts}*\n{sections}"


@cache
def module(name: str) -> ModuleType:
    """The module of a rule. Raises `KeyError` for an unknown name."""
    name = current_name(name)
    group, _ = RULES[name]
    return import_module(f"clusterspec.rules.{group}.{name}".replace("-", "_"))


@cache
def page(name: str) -> Page:
    """The page of a rule. Raises `KeyError` for an unknown name."""
    from inspect import getdoc

    summary, *parts = re.split(r"^## (.+)$", getdoc(module(name)) or "", flags=re.MULTILINE)
    sections = {heading.strip(): text.strip() for heading, text in zip(parts[::2], parts[1::2], strict=True)}
    return Page(module(name).RULE, summary.strip(), sections)


@dataclass(frozen=True)
class RuleRow:
    """One line of the list of all rules."""

    rule: Rule
    summary: str

    def to_json(self) -> dict[str, str]:
        rule = self.rule
        return {
            "rule": rule.name,
            "group": rule.group,
            "severity": str(rule.severity),
            "confidence": str(rule.confidence),
            "summary": self.summary,
        }


def is_rule_name(name: str) -> bool:
    """Whether a rule has this name or had it earlier."""
    return current_name(name) in RULES


OWN = "own/"
"""Prefix of the names of company rules (see `clusterspec.rules.policy`)."""


def groups() -> tuple[str, ...]:
    """The names of all groups; company rules are in the group `own`."""
    return (*dict.fromkeys(group for group, _ in RULES.values()), OWN.rstrip("/"))


def rules_of_group(name: str, own: Collection[str] = ()) -> tuple[str, ...]:
    """The rules of a group (``own`` for company rules); empty if no group has this name."""
    if name == OWN.rstrip("/"):
        return tuple(own)
    return tuple(rule for rule, (group, _) in RULES.items() if group == name)


def rule_exists(name: str, own: Collection[str] = ()) -> bool:
    """Whether a rule exists. If ``own``, the names of the company rules, is empty, every name with their prefix is
    accepted.
    """
    return is_rule_name(name) or (name.startswith(OWN) and (not own or name in own))


def rule_rows() -> list[RuleRow]:
    """All rules, by group."""
    return [RuleRow(page(name).rule, page(name).summary) for name in RULES]


NARROWEST = 24
"""Smallest width of the summary column next to the rule names; narrower output has the summaries below the names."""


def listing_text(rows: Sequence[RuleRow], columns: int = 0) -> str:
    """The list for display: one paragraph per group, one row per rule, wrapped to ``columns`` (0: not wrapped)."""
    lines: list[str] = []
    width = max((len(row.rule.name) for row in rows), default=0)
    for group, members in groupby(rows, key=lambda row: row.rule.group):
        lines += ["", group] if lines else [group]
        for row in members:
            lines += _rule_lines(f"  {row.rule.name:<{width}}  {row.rule.severity:<7}  ", row.summary, columns)
    return "\n".join(lines)


def _rule_lines(head: str, summary: str, columns: int) -> list[str]:
    """The row of one rule."""
    from textwrap import wrap

    if not columns or len(head) + len(summary) <= columns:
        return [head + summary]
    if columns - len(head) >= NARROWEST:
        return wrap(summary, columns, initial_indent=head, subsequent_indent=" " * len(head))
    return [f"  {' '.join(head.split())}", *wrap(summary, columns, initial_indent="    ", subsequent_indent="    ")]


def summary_of(name: str) -> str:
    """The one-line summary of a rule; its name where it has no page."""
    return page(name).summary if is_rule_name(name) else name


def page_markdown(name: str) -> str:
    """The page of a rule as Markdown. Raises `KeyError` for an unknown name."""
    return page(name).text


def nearest_rules(name: str, limit: int = 3, others: Iterable[str] = ()) -> list[str]:
    """The names of rules and of ``others`` most similar to ``name``: first near spellings, then names that contain it,
    then the rest.
    """
    from difflib import get_close_matches

    names = [*RULES, *others]
    holding = [one for one in names if name and name in one]
    near = get_close_matches(name, names, n=limit, cutoff=0.8)
    return list(dict.fromkeys((*near, *holding, *get_close_matches(name, names, n=limit, cutoff=0.5))))[:limit]


def _examples(section: str) -> tuple[Example, ...]:
    found = _EXAMPLE.finditer(section)
    return tuple(Example(each["text"], each["path"] or "", each["language"] == "markdown") for each in found)
