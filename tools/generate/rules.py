"""What is generated from the rules: ``clusterspec/rules/index.py``, ``docs/rules.md`` and a page for each rule."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clusterspec.rules.pages import RuleRow

from tools.generate.rule_guards import guard

RULES = Path(__file__).resolve().parents[2] / "clusterspec" / "rules"

GROUPS = (
    "document",
    "units",
    "catalog",
    "node",
    "scale_up",
    "fabric",
    "networks",
    "layout",
    "placement",
    "memory",
    "communication",
    "pipeline",
    "batch",
    "measured",
    "acceptance",
    "operations",
    "procurement",
    "text",
)
"""In the order in which a reader of a design would ask."""


def rules() -> list[tuple[str, str, tuple[str, ...]]]:
    """Every rule file as (name, group, parameters of its check; none where a lower room speaks)."""
    found = {path.parent.name for path in RULES.glob("*/*.py") if is_rule(path)}
    if found != set(GROUPS):
        raise ValueError(f"groups without a place in the order, or the reverse: {sorted(found ^ set(GROUPS))}")
    return [
        (path.stem.replace("_", "-"), group.replace("_", "-"), needs(path))
        for group in GROUPS
        for path in sorted((RULES / group).glob("*.py"))
        if is_rule(path)
    ]


def is_rule(path: Path) -> bool:
    return "\nRULE = Rule.of(" in path.read_text(encoding="utf-8")


def needs(path: Path) -> tuple[str, ...]:
    """The parameters of the check in a file, read without importing it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    checks = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "check"]
    return tuple(argument.arg for check in checks for argument in check.args.args)


def index() -> str:
    """The text of the index."""
    rows = [row(name, group, parameters) for name, group, parameters in rules()]
    return f'''"""The rules there are: name → (group, what its check needs). Written by `make docs`.

A rule without needs is spoken of by a lower room; only its page is here. The index lets a rule's module stay
unread until a spec has what the rule needs.
"""

from __future__ import annotations

from collections.abc import Callable

RULES: dict[str, tuple[str, tuple[str, ...]]] = {{
{"".join(rows)}}}

# fmt: off
SILENT: dict[str, Callable[..., object]] = {{
{guards()}}}
"""When a rule has nothing to report, by the first conditions of its check, so that its module stays unread."""
# fmt: on

THRESHOLDS = frozenset(
    {{
{"".join(f'        "{name}",{chr(10)}' for name in thresholds())}    }}
)
"""The rules whose threshold a team may set."""
'''


def guards() -> str:
    """A line for each rule whose first conditions are about its parameters alone."""
    lines = []
    for name, group, parameters in rules():
        path = RULES / group.replace("-", "_") / f"{name.replace('-', '_')}.py"
        condition = guard(ast.parse(path.read_text("utf-8")))
        if condition:
            lines.append(f'    "{name}": lambda {", ".join(parameters)}: {condition},\n')
    return "".join(lines)


def thresholds() -> list[str]:
    """The rules that ask for a threshold."""
    paths = (path for path in RULES.glob("*/*.py") if is_rule(path))
    return sorted(path.stem.replace("_", "-") for path in paths if ".threshold(RULE" in path.read_text("utf-8"))


def row(name: str, group: str, parameters: tuple[str, ...]) -> str:
    inside = ", ".join(f'"{parameter}"' for parameter in parameters) + ("," if len(parameters) == 1 else "")
    return f'    "{name}": ("{group}", ({inside})),\n'


def overview() -> str:
    """The text of ``docs/rules.md``: a table of all rules, each with the address of its page."""
    current_index()
    from clusterspec.rules.pages import listing

    rows = listing()
    head = (
        "# Rules\n\n"
        f"All {len(rows)} rules, group by group. Severity is the usual one: where the cost model knows the loss, it\n"
        "decides. `clusterspec explain RULE` prints a page; a comment `# clusterspec: ignore[RULE]: reason` on the\n"
        "line of a finding waives it. This page and those of `docs/rules/` are generated from the docstrings in\n"
        "`clusterspec/rules`.\n"
    )
    groups = {row.rule.group: [each for each in rows if each.rule.group == row.rule.group] for row in rows}
    return head + "".join(f"\n## {group}\n\n{table(members)}" for group, members in groups.items())


def table(rows: Sequence[RuleRow]) -> str:
    """The rules of one group, one row each."""
    lines = (f"| [{row.rule.name}](rules/{row.rule.name}.md) | {row.rule.severity} | {row.summary} |" for row in rows)
    return "| rule | severity | finds |\n|---|---|---|\n" + "\n".join(lines) + "\n"


def rule_pages() -> dict[str, Callable[[], str]]:
    """The page of each rule, by its path: ``docs/rules/<name>.md``."""
    current_index()
    from clusterspec.rules.index import RULES

    return {f"docs/rules/{name}.md": partial(rule_page, name) for name in RULES}


def rule_page(name: str) -> str:
    """The text of one rule's page, as ``explain`` prints it, with a link to the overview."""
    from clusterspec.rules.pages import page

    return f"{page(name).text}\n[All rules](../rules.md)\n"


def current_index() -> None:
    """Sets the rules in memory to those that the index is about to have."""
    from clusterspec.rules.index import RULES

    RULES.clear()
    RULES.update({name: (group, parameters) for name, group, parameters in rules()})
