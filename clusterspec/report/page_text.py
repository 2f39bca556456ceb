"""The page of a rule for a terminal: Markdown with wrapped paragraphs and optional color."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.report import PLAIN, TextStyle, wrapped_lines
from clusterspec.standard import pattern

_FENCE = "```"
_ITEM = pattern(r"^- ", re.MULTILINE)
_CODE = pattern(r"`[^`]+`")


def page_text(page: str, style: TextStyle = PLAIN) -> str:
    """The page as Markdown; headings and code are colored if enabled."""
    return "\n".join("\n".join(block_lines(part, style)) + "\n" for part in page_blocks(page))


def page_blocks(page: str) -> Iterator[str]:
    """The paragraphs, lists, headings and code blocks of a page, without empty lines between them."""
    fence: list[str] = []
    lines: list[str] = []
    for line in [*page.splitlines(), ""]:
        if fence or line.startswith(_FENCE):
            fence.append(line)
            if len(fence) > 1 and line.startswith(_FENCE):
                yield "\n".join(fence)
                fence = []
        elif line.strip():
            lines.append(line)
        elif lines:
            yield "\n".join(lines)
            lines = []


def block_lines(part: str, style: TextStyle) -> list[str]:
    """The lines of a block."""
    if part.startswith("#"):
        return [style.paint("bold", part)]
    if part.startswith(_FENCE):
        return [style.paint("cyan", line) for line in part.splitlines()]
    if part.startswith("*") and part.endswith("*"):
        return [style.paint("dim", part)]
    if part.startswith("- "):
        items = [" ".join(item.split()) for item in _ITEM.split(part) if item]
        return [
            line for item in items for line in colored_code_lines(wrapped_lines(item, style.measure, "- ", "  "), style)
        ]
    return colored_code_lines(wrapped_lines(" ".join(part.split()), style.measure), style)


def colored_code_lines(lines: list[str], style: TextStyle) -> list[str]:
    """Lines with inline code colored."""
    return [_CODE.sub(lambda found: style.paint("cyan", found[0]), line) for line in lines]
