"""Answers of frameworks that they see no accelerator, also of a session that prints them on the next line."""

from __future__ import annotations

import re

from clusterspec.logs.text_lines import lines_of, shown_line

_CALL = r"\b(?:torch\.)?cuda\.(?:is_)?available\(\)"
_ANSWERED = re.compile(
    rf"{_CALL}[`'\"*]{{0,3}}\s{{0,3}}(?:(?:is|was|returns?|returned|returning|gives?|gave|prints?|printed|shows?)\s"
    r"|[=:]{1,2}>?|-?->?)?\s{0,3}(?:me )?[`'\"*]{0,3}(?:[Ff]alse|FALSE)\b"
    r"|\bCUDA is not available\b|\bcuda_is_available\b.{0,40}\b(?:False|FALSE)\b"
    r"|\bcuda\.device_count\(\)\s{0,3}(?:is|returns?|=|:)?\s{0,3}0\b"
)
"""The answer on the line of the call, as people write it, and PyTorch's own (`torch/amp/autocast_mode.py`)."""
_ASKED = re.compile(rf"^\s{{0,8}}(?:>>>|In \[[0-9]{{1,4}}\]:)?\s{{0,3}}(?:print\()?{_CALL}\)?\s*$")
"""A line of a session that only asks."""
_FALSE = re.compile(r"^\s{0,8}(?:>>>\s?|Out\[[0-9]{1,4}\]:\s?)?(?:False|Flase)\s*$")
"""The answer on a line of its own."""
_SEEN = re.compile(
    r"nvidia-smi[`'\"]{0,2},? (?:\w{1,12} ){0,2}"
    r"(?:works?|working|returns?|shows?|lists?|reports?|sees?|detects?|displays?)\b"
    r"|\bGPUs? (?:can be|is|are) (?:\w{1,10} )?(?:detected|visible|recognized)\b"
    r"|[0-9]MiB / {1,3}[0-9]{1,6}MiB \|",
    re.IGNORECASE,
)
"""Words of nvidia-smi that sees a device, and a row of its table."""
_AFTER = 3
"""Lines after a call among which its answer is, if the ones before it are blank."""


def unseen_device(text: str) -> tuple[str, int] | None:
    """The first answer that no accelerator is seen, with its line; None without any, or where tools see it.

    >>> unseen_device("I get torch.cuda.is_available() = False in the container.")
    ('I get torch.cuda.is_available() = False in the container.', 1)
    >>> unseen_device(">>> torch.cuda.is_available()\\nFalse")
    ('>>> torch.cuda.is_available()', 1)
    >>> unseen_device("if not torch.cuda.is_available(): raise RuntimeError")
    """
    return None if _SEEN.search(text) else _line_of_denied_device(text)


def unseen_by_program(text: str) -> tuple[str, int] | None:
    """The text and the line that say that a program finds no accelerator although nvidia-smi sees it: the program is
    built without accelerator support, or the driver is too old.

    >>> unseen_by_program("nvidia-smi works, but torch.cuda.is_available() returns False")
    ('nvidia-smi works, but torch.cuda.is_available() returns False', 1)
    """
    return _line_of_denied_device(text) if _SEEN.search(text) else None


def _line_of_denied_device(text: str) -> tuple[str, int] | None:
    if "available" not in text and "device_count" not in text:
        return None
    lines = list(lines_of(text))
    for number, line in enumerate(lines, 1):
        if _ANSWERED.search(line) or (_ASKED.match(line) and _is_denied_below(lines[number : number + _AFTER])):
            return shown_line(line), number
    return None


def _is_denied_below(following: list[str]) -> bool:
    """Whether the first of the next lines of a session that is not blank has the answer False."""
    return _FALSE.match(next((line for line in following if line.strip()), "")) is not None
