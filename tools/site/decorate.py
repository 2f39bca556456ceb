"""Additions to the documents on the site: links to the playground, findings, differences, and sortable, searchable
tables.
"""

from __future__ import annotations

import base64
import difflib
import posixpath
import re
import zlib
from collections.abc import Callable, Mapping
from datetime import date
from functools import cache
from html import escape
from pathlib import Path

from clusterspec import analysis, studies
from clusterspec.catalog import Catalog
from clusterspec.config import Config
from clusterspec.document.model import apply_edits
from clusterspec.report import findings_text
from clusterspec.results import CheckReport
from clusterspec.source import Source
from clusterspec.studies import Settings
from clusterspec.studies.prose_files import checked_prose
from tools.site.engine import ROOT
from tools.site.split import slug

CATALOG = Catalog.open()
NAMES = {"yaml": "cluster.yaml", "markdown": "design.md"}
"""The names of examples, by the language of their block."""
FENCE = re.compile(r"^```(\w+)[^\n`]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROW_OF_TEXT = re.compile(r"^\|.*\|$", re.MULTILINE)
CODE = re.compile(r"`[^`\n]+`")
TABLE = re.compile(r"<thead>.*</tbody>", re.DOTALL)
ROW = re.compile(r"(?<=<tr><td>)([\w.-]+)")
CONVENTION = """A heading sorts the table by its column. Bandwidths are per direction, peaks dense, bytes decimal;
the page of an entry names the source of every figure.
"""


def permalink(spec: str) -> str:
    """The fragment of an address that opens a spec in the playground, as web/src/permalink.js reads it."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(spec.encode()) + packer.flush()
    return "#spec=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def is_whole(language: str, text: str) -> bool:
    """Whether a block is a spec that can be opened."""
    return language == "yaml" and re.search(r"^clusterspec: \d", text, re.MULTILINE) is not None


def is_example(language: str, text: str) -> bool:
    """Whether a block of the page of a rule is one of its examples: a spec, or a text in Markdown."""
    return language == "markdown" or is_whole(language, text)


def playground_from(target: str) -> str:
    """The path of the playground from a page."""
    return posixpath.relpath("playground/index.html", posixpath.dirname(target) or ".")


def with_examples(text: str, target: str) -> str:
    """The text with a link to the playground under each block that contains a whole spec.

    On the page of a rule, blocks in which the rule fires also show its findings.
    """
    rule = Path(target).stem if target.startswith("rules/") else ""

    def shown(match: re.Match[str]) -> str:
        language, body = match[1], match[2]
        block = f"```{language}\n{body}```"
        if not is_example(language, body):
            return block
        found = checked(language, body, rule) if rule and heading_of(text, match.start()) == "Fires" else None
        said = findings_text.findings_as_text(found) if found and found.findings else ""
        said = f"\n\n```console\n$ clusterspec check {NAMES[language]} --select {rule}\n{said}```" if said else ""
        link = f"\n\n[Open in the playground]({playground_from(target)}{permalink(body)}){{ .try }}"
        return f"{block}{said}{link if language == 'yaml' else ''}"

    return FENCE.sub(shown, text)


def with_bars(text: str) -> str:
    """The text with plain bars in the code of tables: GitHub requires escapes, and Python-Markdown would show them."""
    return ROW_OF_TEXT.sub(lambda row: CODE.sub(lambda code: code[0].replace("\\|", "|"), row[0]), text)


def heading_of(text: str, at: int) -> str:
    """The heading of level 2 above an offset."""
    return text[:at].rpartition("\n## ")[2].partition("\n")[0]


@cache
def checked(language: str, text: str, rule: str) -> CheckReport:
    """The findings of ``clusterspec check --select`` in a spec, or in a text in Markdown."""
    settings, name = Settings(CATALOG, Config(select=(rule,)), date.today()), NAMES[language]
    if language == "markdown":
        return analysis.check([checked_prose(Source(name, text), text.encode(), settings)], settings)
    return analysis.check([studies.study_text(text, settings, name)], settings)


def with_difference(text: str, target: str) -> str:
    """The page of a rule with a corrected example and its difference from the faulty one.

    The rule's fix writes the correction; without a fix, the correction is the silent example that differs least from a
    firing one.
    """
    rule, (fires, heading, silent) = Path(target).stem, text.partition("\n## Silent\n")
    sections = fires.partition("\n## Fires\n")[2], silent.partition("\n## ")[0]
    wrong, right = ([block for block in FENCE.findall(part) if is_example(*block)] for part in sections)
    fixed = next(((body, after) for kind, body in wrong if (after := mended(kind, body, rule)) != body), None)
    if not heading or not wrong or not (right or fixed):
        return text
    pairs = [(one, two) for _, one in wrong for _, two in right]
    old, new = fixed or min(pairs, key=lambda pair: len(changed_lines(*pair)))
    if fixed and wrong[0][0] == "yaml":
        link = f"[Open in the playground]({playground_from(target)}{permalink(new)}){{ .try }}"
        words = f"The fix that the finding offers writes\n\n```yaml\n{new}```\n\n{link}\n\nand changes"
    else:
        words = "An example that it reports, and the nearest one that it does not:"
    block = f"\n## The difference\n\n{words}\n\n```diff\n{''.join(changed_lines(old, new))}```\n"
    return f"{fires}{heading}{sections[1]}{block}{silent[len(sections[1]) :]}"


def mended(language: str, text: str, rule: str) -> str:
    """The text with the first sufficient fix of a rule; the unchanged text if there is none."""
    edits = next((one.edits for one in checked(language, text, rule).findings if one.edits), ())
    after = apply_edits(text, edits)
    return text if checked(language, after, rule).findings else after


def changed_lines(old: str, new: str) -> list[str]:
    """The lines of two texts, those that differ marked with ``-`` and ``+``."""
    return [
        line for line in difflib.ndiff(old.splitlines(keepends=True), new.splitlines(keepends=True)) if line[0] != "?"
    ]


def sortable_table(page: str, pages: Mapping[str, str]) -> str:
    """The table of an HTML page of ``docs/``, with links from the names in its first column to ``pages``, by anchor."""
    found = TABLE.search((ROOT / "docs" / page).read_text("utf-8"))
    assert found is not None, page

    def linked(match: re.Match[str]) -> str:
        place = pages.get(slug(match[1]))
        if place is None:
            return match[1]
        return f'<a href="{Path(place).parent.name}/{slug(match[1])}/">{escape(match[1])}</a>'

    title = page.removesuffix(".html").replace("/", ", ")
    count = found[0].count("<tr>") - 1
    return (
        '<p class="filter"><input type="search" placeholder="Words that a row must have" '
        f'aria-label="Keep the rows with these words"> <output>{count} rows</output></p>\n\n'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{title}">\n'
        f'<table class="sortable">\n{ROW.sub(linked, found[0])}\n</table>\n</div>\n\n'
    )


def with_start(text: str) -> str:
    """The first page with a link to the playground above the first block."""
    start = "[Try it in this browser](playground/index.html){ .md-button .md-button--primary }"
    more = "[The first hour](first-hour.md){ .md-button } [Common tasks](tasks.md){ .md-button }"
    return text.replace("\n```", f"\n{start} {more}\n\n```", 1)


DECORATED: Mapping[str, Callable[[str], str]] = {"index.md": with_start}
"""Additions to a page of the site, by document."""
