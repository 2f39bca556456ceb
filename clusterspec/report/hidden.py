"""Characters that show nothing, or change how the text around them is shown, such as those that reverse a line."""

from __future__ import annotations

import re

from clusterspec.patterns import pattern

_HIDDEN = pattern(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e0fff\ud800-\udfff]"
)
r"""Controls except tabs and line ends, zero-width and bidirectional characters, line separators, tags, and surrogates
without a partner.

A fixed list, since Unicode's categories differ between versions of Python. Source: Unicode Technical Report 36, and
Boucher and Anderson, Trojan Source, 2021.
"""


def escaped(text: str) -> str:
    r"""A text with its hidden characters as ``\uXXXX``, which JSON reads back as the same characters.

    >>> print(escaped("tp\u202e: 8"), escaped("\U000e0041"), escaped("\x1b[2J"))
    tp\u202e: 8 \udb40\udc41 \u001b[2J
    """
    return _HIDDEN.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
