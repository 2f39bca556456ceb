"""Generated pages are current, and no page is left of a rule that is gone."""

from __future__ import annotations

import re

from tests.effort import ALL_CASES, each
from tools.generate import ROOT, pages

PAGES = pages()
SLOW = {
    *("docs/first-hour.md", "docs/gallery.md", "docs/gallery.html", "docs/notebook.ipynb"),
    "docs/understand-areas.svg",
}
"""Pages of reports and searches, which take a second each: `make docs` writes them, `make test-all` compares them."""
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#]+)")


@each("name", [name for name in PAGES if ALL_CASES or name not in SLOW])
def test_generated_pages_are_current(name: str) -> None:
    assert (ROOT / name).read_text("utf-8") == PAGES[name](), f"{name} is stale: run `make docs`"


def test_every_rule_page_belongs_to_a_rule() -> None:
    there = {str(path.relative_to(ROOT)) for path in (ROOT / "docs" / "rules").glob("*.md")}
    assert there == {name for name in PAGES if name.startswith("docs/rules/")}


@each("name", [name for name in PAGES if name.startswith("docs/rules")])
def test_links_between_rule_pages_lead_somewhere(name: str) -> None:
    for target in LINK.findall((ROOT / name).read_text("utf-8")):
        assert ((ROOT / name).parent / target).is_file(), target
