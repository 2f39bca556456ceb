"""``python -m tools.site.second PROPERDOCS SITE``: the sources of a built site with another builder; the same pages.

``make site`` leaves the sources next to the site. ProperDocs with the theme Material builds them in strict mode, where
a link that leads nowhere fails, and each page must have the same text.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path

from tools.site.links import broken_links

ARTICLE = re.compile(r"<article[^>]*>(.*?)</article>", re.DOTALL)
NOT_TEXT = re.compile(r"<(script|style|nav|form|button|aside|thead)\b.*?</\1>|<[^>]+>|¶", re.DOTALL)
"""Elements that a theme adds to the text, and table headings, which the parts of a long table repeat."""


def pages(site: Path) -> dict[str, Path]:
    """The pages of a site by path, without the playground's, which is copied."""
    found = {path.relative_to(site).as_posix(): path for path in site.rglob("*.html")}
    return {name: path for name, path in found.items() if not name.startswith("playground/")}


def text(page: str) -> str:
    """The text of a page without spaces."""
    article = ARTICLE.search(page)
    return "".join(unescape(NOT_TEXT.sub("", article[1])).split()) if article else ""


def differences(path: Path, two: Path) -> Iterator[str]:
    """How the pages of two builds of the same sources differ, and where links of the second lead nowhere."""
    here, there = pages(path), pages(two)
    yield from (f"in {path if name in here else two} alone: {name}" for name in sorted({*here} ^ {*there}))
    for name in sorted({*here} & {*there}):
        if text(here[name].read_text("utf-8")) != text(there[name].read_text("utf-8")):
            yield f"another text: {name}"
    yield from (f"leads nowhere: {link}" for link in broken_links(two))


def main(program: str, site: Path) -> int:
    """Build the sources next to a site again; the status of the builder, or 1 where the pages differ."""
    other = site.with_name("site-properdocs")
    configuration = site.with_name("site-sources") / "mkdocs.yml"
    # With --quiet, strict mode would pass over warnings.
    call = [program, "build", "--strict", "--clean", "-f", str(configuration), "-d", str(other)]
    status = subprocess.run(call, check=False).returncode
    if status:
        return status
    found = [*differences(site, other)]
    print("".join(f"{one}\n" for one in found[:20]), end="")
    print(f"{len(pages(other))} pages built with ProperDocs; {len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]).resolve()))
