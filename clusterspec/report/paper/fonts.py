"""The font of reports, and characters that it lacks."""

from __future__ import annotations

import base64
import re
from functools import cache

from clusterspec import resources

FACES = (("Inter-Regular.woff2", 400), ("Inter-SemiBold.woff2", 600))
"""Inter 4.0 (SIL Open Font License 1.1, `templates/fonts/LICENSE.txt`), cut to Latin, Greek, Cyrillic and signs."""
RANGES = (
    *((0x09, 0x0D), (0x20, 0x7E), (0xA0, 0x17F), (0x192, 0x192), (0x218, 0x21B), (0x2C6, 0x2DD), (0x384, 0x3CE)),
    *((0x400, 0x45F), (0x490, 0x491), (0x1E80, 0x1E85), (0x1E9E, 0x1E9E), (0x2000, 0x206F)),
)
"""What both faces draw without asking the file."""
_TAGS = re.compile(r"<style[^<]*</style>|<[^<>]*>", re.DOTALL)
MOST_NAMED = 8


@cache
def font_faces() -> str:
    """CSS with both font faces embedded."""
    folder = resources.templates() / "fonts"
    rules = []
    for name, weight in FACES:
        data = base64.b64encode((folder / name).read_bytes()).decode()
        source = f"url(data:font/woff2;base64,{data}) format('woff2')"
        rules.append(f"@font-face{{font-family:Inter;font-weight:{weight};src:{source}}}")
    return "".join(rules)


@cache
def _drawn() -> frozenset[int]:
    """The code points of the regular face."""
    from fontTools.ttLib import TTFont

    with TTFont(resources.templates() / "fonts" / FACES[0][0]) as font:
        return frozenset(font.getBestCmap())


def drawable(page: str) -> tuple[str, str]:
    """The page with characters that the font lacks replaced by their code, and a sentence that states this, empty if
    there are none.
    """
    unknown = {char for char in set(_TAGS.sub("", page)) if not _plain(ord(char)) and ord(char) not in _drawn()}
    if not unknown:
        return page, ""
    swapped = {ord(char): f"[U+{ord(char):04X}]" for char in unknown}
    named = ", ".join(f"U+{ord(char):04X}" for char in sorted(unknown)[:MOST_NAMED])
    more = f" and {len(unknown) - MOST_NAMED} more" if len(unknown) > MOST_NAMED else ""
    alt = f"The font of this document lacks {named}{more}; the code of each character is printed instead."
    return page.translate(swapped), alt


def _plain(code: int) -> bool:
    return any(low <= code <= high for low, high in RANGES)
