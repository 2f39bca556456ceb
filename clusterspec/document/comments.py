"""The comments of a document as continuous text. Consecutive comment lines that form one sentence are joined."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from clusterspec.document.model import Comment

_ENDS = (".", ":", ";", "!", "?")
"""Signs behind which the next line of a block begins another sentence."""
_ITEMS = ("-", "*", "•", "+ ", "=")
"""Signs at the beginning of an item of a list, or of a ruled line."""
WRAPPED = 60
"""Minimum length of a line, in characters, at which a line break before a capital letter may be within a sentence."""


def joined_comments(comments: Iterable[Comment]) -> list[str]:
    """The texts of comments in order.

    A comment line continues the one above it if both start in the same column and the upper one does not end a
    sentence. In addition, the lower one must start without a capital letter, or the upper one must have at least
    `WRAPPED` characters.

    >>> lines = ["# A month of 30 days allows", "# 43 minutes.", "# Two sites", "# - one engine"]
    >>> joined_comments(Comment("a", number, 1, text, True) for number, text in enumerate(lines))
    ['# A month of 30 days allows 43 minutes.', '# Two sites', '# - one engine']
    """
    found: list[list[str]] = []  # NOTE: appending to a text takes quadratic time in a block of a hostile file
    last: Comment | None = None
    for each in comments:
        if last is not None and _goes_on(last, each):
            found[-1].append(each.text.lstrip("# "))
        else:
            found.append([each.text])
        last = each
    return [" ".join(lines) for lines in found]


def _goes_on(last: Comment, line: Comment) -> bool:
    """Whether a comment line continues the sentence of the previous comment ``last``."""
    if (last.file, last.line + 1, last.column) != (line.file, line.line, line.column) or not line.alone:
        return False
    before, words = last.text.rstrip(), line.text.lstrip("# ")
    if not words or before.endswith(_ENDS) or words.startswith(_ITEMS) or not before.strip("#-= "):
        return False
    return not words[0].isupper() or len(before) >= WRAPPED


def unwrapped_text(text: str) -> str:
    """A text whose wrapped lines are joined with the next ones: a literal block of YAML keeps the breaks of its lines.

    >>> unwrapped_text("The loop of the hall is set to 190 liters per minute and, per\\nrack, to 10 K.\\n\\n- a\\n- b")
    'The loop of the hall is set to 190 liters per minute and, per rack, to 10 K.\\n\\n- a\\n- b'
    """
    lines = text.split("\n")
    joined = [
        line + (" " if len(line) >= WRAPPED and following.strip() and not _begins_item(following) else "\n")
        for line, following in pairwise(lines)
    ]
    return "".join([*joined, lines[-1]])


def running_text(text: str) -> str:
    """A text as sentences: its wrapped lines joined, and the items of its lists ended.

    >>> running_text("Plan\\n- eight nodes\\n- four spares")
    'Plan\\n- eight nodes.\\n- four spares.'
    """
    return with_ended_items(unwrapped_text(text))


def with_ended_items(text: str) -> str:
    """A text with a full stop behind each item of a list that has no other sign there: an item is a sentence.

    >>> with_ended_items("Per node:\\n- 8 GPUs\\n  of 80 GB\\n- 4 NICs\\n\\nTwo halls")
    'Per node:\\n- 8 GPUs\\n  of 80 GB.\\n- 4 NICs.\\n\\nTwo halls'
    """
    lines, in_item, found = text.split("\n"), False, []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        in_item = bool(line.strip()) and (in_item or _begins_item(line))
        ends = in_item and (not following.strip() or _begins_item(following)) and line.rstrip()[-1:] not in _ITEM_ENDS
        found.append(f"{line.rstrip()}." if ends else line)
    return "\n".join(found)


_ITEM_ENDS = (*_ENDS, ",", "|", "-", "=")


def _begins_item(line: str) -> bool:
    """Whether a line begins an item of a list."""
    start = line.lstrip()
    return start.startswith(_ITEMS) or (start[:1].isdigit() and start[1:3] in (". ", ") "))
