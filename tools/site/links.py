"""Broken links of a built site, including those in HTML tables, which the builder does not check."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

LINK = re.compile(r'\shref="?([^\s">#]+)')
ELSEWHERE = re.compile(r"[a-z]+:|/")


def broken_links(site: Path) -> Iterator[str]:
    """The pages of the site and their relative links to files that do not exist."""
    for page in sorted(site.rglob("*.html")):
        if page.relative_to(site).parts[0] == "playground":
            continue
        for link in sorted({*LINK.findall(page.read_text("utf-8"))}):
            path = page.parent / unquote(link.replace("&amp;", "&"))
            if not ELSEWHERE.match(link) and not (path / "index.html" if path.is_dir() else path).is_file():
                yield f"{page.relative_to(site)}: {link}"
