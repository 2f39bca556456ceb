"""The sources of the site from the documents of the repository: nothing is written twice.

The README is the first page. Links to files that the site does not have lead to the repository, blocks that hold a
whole spec get a link that opens it in the playground, and the examples of a rule show what `check` says about them.
"""

from __future__ import annotations

import base64
import posixpath
import re
import shutil
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import yaml

from clusterspec.cli.editor.verbs import Session
from tools.site.engine import ROOT
from tools.site.playground import examples

REPOSITORY = "https://github.com/clusterspec/clusterspec/blob/main/"
ROOT_PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
}
"""Pages of the root of the repository, and where the site has them."""
LINK = re.compile(r"(?<=\]\()(?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?(?=\))")
FENCE = re.compile(r"^```(\w+)[^\n`]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGE_IN_HTML = re.compile(r'(?<![\w-])href="(?!https?:)([^":]+)\.md(?=[#"])')
UNSEARCHED = "---\nsearch:\n  exclude: true\n---\n\n"
LISTS = ("accuracy.md", "reality.md", "review.md", "gallery.md", "changelog.md")
"""Long lists, whose words would make up most of the index that every visitor loads."""
CONFIGURATION = ROOT / "tools" / "site" / "mkdocs.yml"


def pages() -> dict[str, str]:
    """The Markdown pages of the site by their path in it, with the path of their document in the repository."""
    found = {path.relative_to(ROOT / "docs").as_posix(): path for path in sorted((ROOT / "docs").rglob("*.md"))}
    return {target: path.relative_to(ROOT).as_posix() for target, path in found.items()} | {
        target: source for source, target in ROOT_PAGES.items()
    }


def named(nav: object) -> Iterator[str]:
    """The pages that a navigation names."""
    if isinstance(nav, str):
        yield nav
    for inner in nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else ():
        yield from named(inner)


def navigation() -> list[dict[str, list[object]]]:
    """The navigation, with pages that it does not name under *How to*; pages of rules and entries have lists."""
    nav: list[dict[str, list[object]]] = yaml.safe_load(CONFIGURATION.read_text("utf-8"))["nav"]
    known = {*named(nav)}
    others = [name for name in pages() if not name.startswith(("rules/", "catalog/")) and name not in known]
    next(part for part in nav if "How to" in part)["How to"] += others
    return nav


def place_in_site(path: str) -> str | None:
    """The path in the site of a file of the repository; None if the site does not have it."""
    if path in ROOT_PAGES:
        return ROOT_PAGES[path]
    inside = path.removeprefix("docs/")
    return inside if inside != path and (ROOT / path).is_file() else None


def with_links(text: str, source: str, target: str) -> str:
    """The text of a document with its relative links as the page at ``target`` needs them."""

    def linked(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[1]))
        place = place_in_site(path)
        if place is None:
            return f"{REPOSITORY}{path}{match[2] or ''}"
        return posixpath.relpath(place, posixpath.dirname(target) or ".") + (match[2] or "")

    return LINK.sub(linked, text)


def permalink(spec: str) -> str:
    """The fragment of an address that opens a spec in the playground, as web/src/permalink.js reads it."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(spec.encode()) + packer.flush()
    return "#spec=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def with_examples(text: str, target: str, rule: str = "") -> str:
    """The text with a link to the playground under each block that holds a whole spec.

    On the page of a ``rule``, blocks in which it finds something also show its findings.
    """
    to_playground = posixpath.relpath("playground/index.html", posixpath.dirname(target) or ".")

    def shown(match: re.Match[str]) -> str:
        language, body = match[1], match[2]
        block = f"```{language}\n{body}```"
        if language != "yaml" or not re.search(r"^clusterspec: 1\b", body, re.MULTILINE):
            return block
        said = findings(body, rule) if rule else ""
        said = f"\n\n```console\n$ clusterspec check cluster.yaml --select {rule}\n{said}```" if said else ""
        return f"{block}{said}\n\n[Open in the playground]({to_playground}{permalink(body)}){{ .try }}"

    return FENCE.sub(shown, text)


def findings(spec: str, rule: str) -> str:
    """What a rule finds in a spec, as the command line prints it; empty if nothing, or if it needs more files."""
    session = Session("cluster.yaml", [f"--select={rule}"])
    answer = session.answer({"verb": "check", "format": "text", "text": spec})
    return str(answer["out"]) if f"[{rule}]" in str(answer["out"]) else ""


def with_start(text: str) -> str:
    """The first page with a link to the playground above the first block."""
    start = "[Try it in this browser](playground/index.html){ .md-button .md-button--primary }"
    more = "[The first hour](first-hour.md){ .md-button }"
    return text.replace("\n```", f"\n{start} {more}\n\n```", 1)


def with_machines(text: str) -> str:
    """The page of the gallery with a link that opens each machine in the playground."""
    names = examples()["Gallery"]

    def headed(match: re.Match[str]) -> str:
        if match[1] not in names:
            return match[0]
        return f"{match[0]}\n\n[Open in the playground](playground/index.html#example={match[1]}){{ .try }}"

    return re.sub(r"^## (.+)$", headed, text, flags=re.MULTILINE)


DECORATED: dict[str, Callable[[str], str]] = {"index.md": with_start, "gallery.md": with_machines}
"""What a page has on the site besides what its document has."""


def write_sources(folder: Path) -> Path:
    """Write the sources of the site into an empty folder; returns the configuration for them."""
    sources = folder / "docs"
    shutil.rmtree(folder, ignore_errors=True)
    for target, source in pages().items():
        text = (ROOT / source).read_text("utf-8")
        rule = Path(target).stem if target.startswith("rules/") else ""
        path = sources / target
        path.parent.mkdir(parents=True, exist_ok=True)
        head = UNSEARCHED if target.startswith("catalog/") or target in LISTS else ""
        text = with_examples(with_links(text, source, target), target, rule)
        path.write_text(head + DECORATED.get(target, str)(text), "utf-8")
    for path in sorted((ROOT / "docs").rglob("*")):
        if path.is_file() and path.suffix in {".svg", ".html", ".png", ".ipynb"}:
            copy = sources / path.relative_to(ROOT / "docs")
            if path.suffix == ".html":  # beside pages in folders of their own
                copy.write_text(PAGE_IN_HTML.sub(r'href="\1/', path.read_text("utf-8")), "utf-8")
            else:
                shutil.copy(path, copy)
    shutil.copy(ROOT / "tools" / "site" / "site.css", sources)
    configuration = yaml.safe_load(CONFIGURATION.read_text("utf-8"))
    configuration |= {"docs_dir": "docs", "site_dir": "site", "nav": navigation()}
    written = folder / "mkdocs.yml"
    written.write_text(yaml.safe_dump(configuration, sort_keys=False), "utf-8")
    return written
