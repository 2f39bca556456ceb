"""The fonts of reports, and the text for characters that no font has."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
import unicodedata
from collections.abc import Iterable
from functools import cache

from clusterspec import resources
from clusterspec.records import NamedTuple

FACES = (
    ("Inter-Regular.woff2", "Inter", 400),
    ("Inter-SemiBold.woff2", "Inter", 600),
    ("JetBrainsMono-Regular.woff2", "JetBrains Mono", 400),
)
"""Inter 4.0 and, for code, JetBrains Mono 2.242 (both SIL Open Font License 1.1, `templates/fonts/LICENSE.txt`), cut to
Latin, Greek, Cyrillic and signs."""
OTHER_FACES = (
    ("NotoSansArabic-Regular.woff2", "Noto Sans Arabic"),
    ("NotoSansHebrew-Regular.woff2", "Noto Sans Hebrew"),
    ("NotoSansDevanagari-Regular.woff2", "Noto Sans Devanagari"),
    ("NotoSansThai-Regular.woff2", "Noto Sans Thai"),
    ("NotoSansCJK-Regular.woff2", "Noto Sans CJK SC"),
)
"""The fonts of PDF reports with text in other scripts (SIL Open Font License 1.1): Noto Sans CJK 2.004, cut to GB 2312,
Big5 level 1, JIS X 0208 and KS X 1001, Arabic 2.005, Hebrew 3.000, Devanagari 2.001 and Thai 2.000."""
SHIPPED = "clusterspec-font:"
"""Address scheme of these files in the page of a PDF. Embedded fonts would be parsed several times."""
RANGES = (
    *((0x09, 0x0D), (0x20, 0x7E), (0xA0, 0x17F), (0x192, 0x192), (0x218, 0x21B), (0x2C6, 0x2DD), (0x384, 0x3CE)),
    *((0x400, 0x45F), (0x490, 0x491), (0x1E80, 0x1E85), (0x1E9E, 0x1E9E), (0x2000, 0x206F)),
)
"""Character ranges that all of `FACES` contain, so that the font files need not be read."""
_TAGS = re.compile(r"<style[^<]*</style>|<[^<>]*>", re.DOTALL)
LATIN = "Inter, sans-serif"
"""The fonts of drawings and of the lines at the foot of a page."""
MOST_NAMED = 8
Ranges = tuple[tuple[int, int], ...]
"""Characters as first and last code."""


class DrawablePage(NamedTuple):
    """A page in which every character has a font. ``note`` lists the characters that were replaced by names; empty if
    there are none.
    """

    html: str
    note: str


@cache
def font_faces(embedded: bool) -> str:
    """CSS with the faces of Latin, Greek and Cyrillic: embedded, or by the addresses that `shipped_font` reads."""
    return "".join(_face_rule(name, family, weight, embedded) for name, family, weight in FACES)


def _face_rule(name: str, family: str, weight: int, embedded: bool) -> str:
    content = base64.b64encode(shipped_font(SHIPPED + name)).decode() if embedded else ""
    address = f"data:font/woff2;base64,{content}" if embedded else SHIPPED + name
    return f"@font-face{{font-family:'{family}';font-weight:{weight};src:url({address}) format('woff2')}}"


def shipped_font(address: str) -> bytes:
    """The font file at an address. Raises `ValueError` for an address that is not one of the shipped fonts."""
    name = address.removeprefix(SHIPPED)
    if address not in {SHIPPED + one[0] for one in (*FACES, *OTHER_FACES)}:
        raise ValueError(f"{address} is no font of reports")
    return (resources.templates() / "fonts" / name).read_bytes()


@cache
def _font_characters(name: str) -> frozenset[int]:
    """The code points of a face."""
    from fontTools.ttLib import TTFont

    with TTFont(resources.templates() / "fonts" / name) as font:
        return frozenset(font.getBestCmap())


def drawable_page(page: str, others: Ranges | None = None) -> DrawablePage:
    """The page with the shipped fonts that its text needs, and names in place of characters that no font has.

    Other fonts draw characters that the shipped fonts lack; ``others`` has the ranges of those, by default of the
    system's fonts.
    """
    codes = {ord(char) for char in set(_TAGS.sub("", page))}
    foreign = {code for code in codes if not _is_plain_character(code) and code not in _font_characters(FACES[0][0])}
    if not foreign:
        return DrawablePage(page, "")
    needed, foreign = _other_faces(foreign)
    ranges = _system_ranges() if others is None and foreign else others or ()
    unknown = sorted(code for code in foreign if not any(first <= code <= last for first, last in ranges))
    return DrawablePage(
        _with_faces(page.translate({code: spelled_sign(chr(code)) for code in unknown}), needed),
        _missing_font_note(unknown),
    )


def _other_faces(codes: set[int]) -> tuple[list[tuple[str, str]], set[int]]:
    """The additional shipped fonts needed for the characters, and the characters that no shipped font has."""
    needed, left = [], set(codes)
    for name, family in OTHER_FACES:
        had = left & _font_characters(name)
        if had:
            needed.append((name, family))
            left -= had
    return needed, left


def _with_faces(page: str, faces: Iterable[tuple[str, str]]) -> str:
    """The page with additional fonts embedded. They draw characters that the main fonts lack, in text, code and
    drawings.
    """
    faces = list(faces)
    if not faces:
        return page
    named = ", ".join(f"'{family}'" for _, family in faces)
    style = "".join(_face_rule(name, family, 400, embedded=False) for name, family in faces)
    style += f"html{{font-family:Inter,{named}}}code,pre{{font-family:'JetBrains Mono',{named}}}"
    return page.replace("</style>", f"{style}</style>", 1).replace(LATIN, f"Inter, {named}")


_LETTER = re.compile(r"(?:LETTER|SYLLABLE|CHARACTER|VOWEL SIGN|VOWEL|DIGIT|SIGN) ([A-Z -]{1,80})$")


def spelled_sign(char: str) -> str:
    """The text for a character without a font: the sound of a letter, or the meaning of a sign, by its Unicode name.

    >>> spelled_sign("ሀ"), spelled_sign("ក"), spelled_sign("🚀"), spelled_sign("\U00020bb7")
    ('ha', 'ka', '(rocket)', '(cjk unified ideograph-20bb7)')
    """
    name = unicodedata.name(char, "")
    letter = _LETTER.search(name) if unicodedata.category(char)[0] in "LMN" else None
    return letter[1].lower() if letter else f"({name.lower() or 'unnamed character'})"


def _missing_font_note(unknown: list[int]) -> str:
    """The sentence on characters that no font has."""
    if not unknown:
        return ""
    named = ", ".join(f"U+{code:04X}" for code in unknown[:MOST_NAMED])
    more = f" and {len(unknown) - MOST_NAMED} more" if len(unknown) > MOST_NAMED else ""
    return (
        f"No font on the machine that made this document has {named}{more}; the Unicode name of each character is "
        "printed instead. The packages fonts-noto-core and fonts-noto-cjk of Debian have most characters."
    )


@cache
def _system_ranges() -> Ranges:
    """The characters that the system's fonts have, as ranges of codes; empty without fontconfig's `fc-list`.

    Pango, which draws the text of a PDF, takes other fonts from fontconfig.
    """
    program = shutil.which("fc-list")
    if program is None:
        return ()
    try:
        done = subprocess.run([program, ":", "charset"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return ()
    found = {each for line in done.stdout.splitlines() for each in line.partition("charset=")[2].split()}
    ends = (each.partition("-") for each in found if each.replace("-", "").isalnum())
    return tuple(sorted((int(first, 16), int(last or first, 16)) for first, _, last in ends))


def _is_plain_character(code: int) -> bool:
    return any(low <= code <= high for low, high in RANGES)
