"""The sources of the site from the documents of the repository: nothing is written twice.

The README is the first page. Links to files that the site does not have lead to the repository, long documents become
several pages (`tools.site.split`), and pages get what only a site can have (`tools.site.decorate`).
"""

from __future__ import annotations

import posixpath
import re
import shutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from tools.site.decorate import CONVENTION, DECORATED, sortable_table, with_bars, with_difference, with_examples
from tools.site.engine import ROOT
from tools.site.equations import with_equations
from tools.site.machines import dark_colors, with_machine
from tools.site.split import PARTS, ROOT_PAGES, SPLIT, Part, divided, listed, moved

REPOSITORY = "https://github.com/clusterspec/clusterspec/blob/main/"
LINK = re.compile(r"(?<=\]\()(?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?(?=\))")
MACHINES = re.compile(r"(?<=\n)\| machine \| accelerators .*?\n(?=\n)", re.DOTALL)
LISTS = ("accuracy.md", "accuracy-notes.md", "board.md", "constants.md", "reality.md", "changelog.md")
"""Long lists, whose parts would make up most of the index that every visitor loads."""
PARTS_DECORATED = {"gallery.md": with_machine, "formulas.md": with_equations}
"""Additions to the parts of a document on the site, from their text and title."""
CONFIGURATION = ROOT / "tools" / "site" / "mkdocs.yml"


def pages() -> dict[str, str]:
    """The Markdown pages by path in the site, with the path of their document in the repository."""
    found = {path.relative_to(ROOT / "docs").as_posix(): path for path in sorted((ROOT / "docs").rglob("*.md"))}
    return {target: path.relative_to(ROOT).as_posix() for target, path in found.items()} | {
        target: source for source, target in ROOT_PAGES.items()
    }


def navigation_pages(nav: object) -> Iterator[str]:
    """The pages that a navigation names."""
    if isinstance(nav, str):
        yield nav
    for inner in nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else ():
        yield from navigation_pages(inner)


def navigation() -> list[dict[str, list[object]]]:
    """The navigation, with pages that it does not name under *How to*; pages of rules and entries have lists."""
    nav: list[dict[str, list[object]]] = yaml.safe_load(CONFIGURATION.read_text("utf-8"))["nav"]
    known = {*navigation_pages(nav)}
    others = [name for name in pages() if not name.startswith(("rules/", "catalog/")) and name not in known]
    next(part for part in nav if "How to" in part)["How to"] += others
    return nav


def place_in_site(path: str) -> str | None:
    """The path in the site of a file of the repository; None if the site does not have it."""
    if path in ROOT_PAGES:
        return ROOT_PAGES[path]
    inside = path.removeprefix("docs/")
    if inside != path and inside.endswith(".html") and inside.replace(".html", ".md") in SPLIT:
        return inside.replace(".html", ".md")  # the page has the table
    return inside if inside != path and (ROOT / path).is_file() else None


def with_links(text: str, source: str, target: str) -> str:
    """The text of a document with its relative links as the page at ``target`` needs them."""

    def linked(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[1]))
        place = place_in_site(path)
        if place is None:
            return f"{REPOSITORY}{path}{match[2] or ''}"
        place, anchor = moved(place, match[2] or "")
        return posixpath.relpath(place, posixpath.dirname(target) or ".") + anchor

    return LINK.sub(linked, text)


@dataclass(frozen=True)
class Written:
    """A page of the site: its path, its text, and whether search includes it."""

    target: str
    text: str
    searched: bool = True

    def file_text(self, named: Collection[str]) -> str:
        """The text with instructions for the builder: pages outside the navigation use its space."""
        told = "" if self.searched else "search:\n  exclude: true\n"
        if 'class="sortable"' in self.text:
            told += "hide: [navigation, toc]\n"
        elif self.target not in named:
            told += "hide: [navigation]\n"
        return f"---\n{told}---\n\n{self.text}" if told else self.text


def written() -> Iterator[Written]:
    """Every page of the site, including the parts of split documents."""
    for target, source in pages().items():
        text = (ROOT / source).read_text("utf-8")
        parts: list[Part] = []
        if target in SPLIT:
            text, parts = divided(text, target)
        text = with_examples(with_links(text, source, target), target)
        text = with_parts(text, target, parts) if parts else text
        if target.startswith("rules/"):
            text = f"[Rules](../rules.md){{ .back }}\n\n{with_difference(text, target)}"
        yield Written(target, DECORATED.get(target, str)(text))
        for part in parts:
            text = with_links(part.text, source, part.target)
            text = PARTS_DECORATED.get(target, _unchanged_text)(text, part.title)
            text = with_examples(text, part.target)
            back = f"[{titled(source)}]({posixpath.relpath(target, posixpath.dirname(part.target))}){{ .back }}"
            yield Written(part.target, f"{back}\n\n{text}", target not in LISTS)


def _unchanged_text(text: str, _: str) -> str:
    return text


def with_parts(text: str, target: str, parts: list[Part]) -> str:
    """The page of a long document with a list or table of its parts."""
    if target.startswith("catalog/"):
        table = sortable_table(target.replace(".md", ".html"), {Path(part.target).stem: part.target for part in parts})
        return text.replace(PARTS, f"{CONVENTION}\n{table}")
    if target == "gallery.md":
        table = sortable_table("gallery.html", {Path(part.target).stem: part.target for part in parts})
        text = re.sub(r";\n\[gallery\.html\]\([^)]*\) sorts the table", "; a heading sorts the table", text)
        return MACHINES.sub(lambda _: table, text.replace(PARTS, ""), count=1)
    return text.replace(PARTS, listed(parts))


def titled(source: str) -> str:
    """The title of a document."""
    return (ROOT / source).read_text("utf-8").partition("\n")[0].removeprefix("# ")


def write_sources(folder: Path) -> Path:
    """Write the sources of the site into an empty folder; returns the configuration for them."""
    sources = folder / "docs"
    shutil.rmtree(folder, ignore_errors=True)
    names = {*navigation_pages(navigation())}
    for page in written():
        path = sources / page.target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(with_bars(page.file_text(names)), "utf-8")
    for path in sorted((ROOT / "docs").rglob("*")):
        if path.is_file() and path.suffix in {".svg", ".png", ".ipynb"}:
            shutil.copy(path, sources / path.relative_to(ROOT / "docs"))
    shutil.copy(ROOT / "tools" / "site" / "site.js", sources)
    shutil.copy(ROOT / "tools" / "site" / "raw_links.py", folder)
    style = (ROOT / "tools" / "site" / "site.css").read_text("utf-8")
    (sources / "site.css").write_text(style + dark_colors(), "utf-8")
    configuration = yaml.safe_load(CONFIGURATION.read_text("utf-8"))
    configuration |= {"docs_dir": "docs", "site_dir": "site", "nav": navigation()}
    made = folder / "mkdocs.yml"
    made.write_text(yaml.safe_dump(configuration, sort_keys=False), "utf-8")
    return made
