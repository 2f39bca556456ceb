"""The comments of a document as a reader takes them: lines that go on with a sentence are one text."""

from __future__ import annotations

from collections.abc import Iterable

from clusterspec.document.model import Comment

_ENDS = (".", ":", ";", "!", "?")
"""Signs behind which the next line of a block begins another sentence."""
_ITEMS = ("-", "*", "•", "+ ", "=")
"""Signs at the beginning of an item of a list, or of a ruled line."""
FILLED = 60
"""Characters of a line from which on the next one goes on with it, whatever letter it begins with."""


def joined_comments(comments: Iterable[Comment]) -> list[str]:
    """The texts of comments in order.

    A line on its own below another one, in the same column, is a part of it where the sentence of that one is not at
    its end, and the line begins with no capital letter or the one before is filled.

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
    """Whether a comment is the next line of the sentence of the ``last`` one."""
    if (last.file, last.line + 1, last.column) != (line.file, line.line, line.column) or not line.alone:
        return False
    before, words = last.text.rstrip(), line.text.lstrip("# ")
    if not words or before.endswith(_ENDS) or words.startswith(_ITEMS) or not before.strip("#-= "):
        return False
    return not words[0].isupper() or len(before) >= FILLED
