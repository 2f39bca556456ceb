"""What is made from the rules: their index (``clusterspec/rules/index.py``) and ``docs/rules.md``."""

from __future__ import annotations

import ast
from pathlib import Path

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

RULES: dict[str, tuple[str, tuple[str, ...]]] = {{
{"".join(rows)}}}

THRESHOLDS = frozenset(
    {{
{"".join(f'        "{name}",{chr(10)}' for name in thresholds())}    }}
)
"""The rules whose threshold a team may set."""
'''


def thresholds() -> list[str]:
    """The rules that ask for a threshold."""
    paths = (path for path in RULES.glob("*/*.py") if is_rule(path))
    return sorted(path.stem.replace("_", "-") for path in paths if ".threshold(RULE" in path.read_text("utf-8"))


def row(name: str, group: str, parameters: tuple[str, ...]) -> str:
    inside = ", ".join(f'"{parameter}"' for parameter in parameters) + ("," if len(parameters) == 1 else "")
    return f'    "{name}": ("{group}", ({inside})),\n'


def pages() -> str:
    """The text of ``docs/rules.md``: a table of all rules, then every page."""
    from clusterspec.rules.index import RULES
    from clusterspec.rules.pages import listing, page

    RULES.clear()
    RULES.update({name: (group, parameters) for name, group, parameters in rules()})  # as the index is about to be
    rows = listing()
    table = [
        f"| [{row.rule.name}](#{row.rule.name}) | {row.rule.group} | {row.rule.severity} | {row.summary} |"
        for row in rows
    ]
    head = (
        "# Rules\n\n"
        f"All {len(rows)} rules, group by group. Severity is the usual one: where the cost model can tell the\n"
        "loss, the loss decides. `clusterspec explain RULE` prints a page; a comment\n"
        "`# clusterspec: ignore[RULE]: reason` on the line of a finding waives it.\n"
        "This file is made from the docstrings in `clusterspec/rules` by `make docs`.\n\n"
        "| rule | group | severity | |\n|---|---|---|---|\n"
    )
    texts = (f'<a id="{row.rule.name}"></a>\n\n' + deeper(page(row.rule.name).text) for row in rows)
    return head + "\n".join(table) + "\n\n" + "\n".join(texts)


def deeper(text: str) -> str:
    """A page as a part of a larger one: its headings one step down, those inside examples left alone."""
    lines, fenced = [], False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        lines.append(f"#{line}" if line.startswith("#") and not fenced else line)
    return "\n".join(lines) + "\n"
