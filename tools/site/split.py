"""Long documents of the repository as several pages of the site: one for each entry of the catalog, each group of
formulas, each machine of the gallery, each long table of the evidence.

In the repository a document stays one file. On the site its page keeps the introduction, the sections that are not
split off and a list of the parts; links to a heading lead to the page that contains it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tools.site.engine import ROOT


@dataclass(frozen=True)
class Split:
    """Sections of a level that become pages: those with matching titles, from ``smallest`` characters on."""

    level: int
    titles: str = ".*"
    smallest: int = 0


@dataclass(frozen=True)
class Part:
    """A section on a separate page: its title, its path in the site and its text."""

    title: str
    target: str
    text: str

    @property
    def first_line(self) -> str:
        """The paragraph under the title if it is one line of plain text."""
        paragraph = self.text.partition("\n\n")[2].partition("\n\n")[0].strip()
        return paragraph if re.fullmatch(r"[^\n|\[#`>]+", paragraph) else ""


PARTS = "<!-- parts -->\n\n"
NAME = r"[a-z0-9][a-z0-9.-]*"
KINDS = ("accelerator", "cdu", "failure-rate", "framework", "interconnect", "kernels", "library", "model", "nic",
         "optics", "platform", "stack", "storage-system", "switch")  # fmt: skip
SPLIT: Mapping[str, Split] = {f"catalog/{kind}.md": Split(2, NAME) for kind in KINDS} | {
    "commands.md": Split(2, "`.*"),
    "formulas.md": Split(2),
    "spec.md": Split(2),
    "gallery.md": Split(2, NAME),
    "accuracy.md": Split(2, smallest=5_000),
    "accuracy-notes.md": Split(2, smallest=5_000),
    "constants.md": Split(2, smallest=5_000),
    "board.md": Split(3, smallest=20_000),
    "catalog.md": Split(2, smallest=20_000),
    "exchange.md": Split(3, "How the readers are tested"),
}
"""The documents that are split, by the path of their page."""
ROOT_PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
}
"""Pages of the root of the repository, and where the site has them."""


def document(target: str) -> Path:
    """The document of the repository from which a page of the site is made."""
    in_root = {page: name for name, page in ROOT_PAGES.items()}
    return ROOT / in_root[target] if target in in_root else ROOT / "docs" / target


def slug(title: str) -> str:
    """The anchor of a heading, as GitHub and the builder of the site make it."""
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", title.replace("`", "")).strip().lower())


def headings(text: str) -> Iterator[tuple[int, int, str]]:
    """The headings outside of code blocks: offset, level and title."""
    fenced, at = False, 0
    for line in text.splitlines(keepends=True):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and (heading := re.match(r"(#+) (.+)", line)):
            yield at, len(heading[1]), heading[2].strip()
        at += len(line)


def divided(text: str, target: str) -> tuple[str, list[Part]]:
    """The text without the sections that become pages (with `PARTS` in place of the first), and these pages."""
    how = SPLIT[target]
    kept, parts, at = "", list[Part](), 0
    starts = [*headings(text), (len(text), 0, "")]
    for index, (start, level, title) in enumerate(starts):
        if level != how.level or start < at or not re.fullmatch(how.titles, title):
            continue
        end = next(other for other, depth, _ in starts[index + 1 :] if depth <= level)
        if end - start < how.smallest:
            continue
        kept += text[at:start] + ("" if parts else PARTS)
        raised = re.sub(rf"^#{{{level - 1}}}(?=#+ )", "", text[start:end], flags=re.MULTILINE)
        parts.append(Part(title, f"{target.removesuffix('.md')}/{slug(title)}.md", raised))
        at = end
    return kept + text[at:], parts


def listed(parts: Sequence[Part]) -> str:
    """The list of the parts for the page that they were split from."""
    links = (f"- [{part.title}]({'/'.join(part.target.split('/')[-2:])})" for part in parts)
    ends = (f": {part.first_line}\n" if part.first_line else "\n" for part in parts)
    return "".join(link + end for link, end in zip(links, ends, strict=True)) + "\n"


@cache
def pages_of_headings() -> Mapping[tuple[str, str], str]:
    """For the headings of split documents: the page of the part, by (page, anchor)."""
    found: dict[tuple[str, str], str] = {}
    for target in SPLIT:
        for part in divided(document(target).read_text("utf-8"), target)[1]:
            for _, _, title in headings(part.text):
                found.setdefault((target, slug(title)), part.target)
    return found


def moved(target: str, anchor: str) -> tuple[str, str]:
    """The page and anchor (empty, or with its ``#``) to which a link to a page and an anchor leads."""
    page = pages_of_headings().get((target, anchor.removeprefix("#")))
    if page is None:
        return target, anchor
    return page, "" if page.endswith(f"/{anchor.removeprefix('#')}.md") else anchor
