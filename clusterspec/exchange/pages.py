"""Markdown pages and scripts that contain files of other formats: their code blocks, and the Kubernetes objects in
these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from textwrap import dedent

from clusterspec.exchange.import_result import FormatError, InputFile, SeveralParts
from clusterspec.units import plural

MOST_OBJECTS = 50
"""Maximum number of Kubernetes objects in a page; if there are more, none is chosen."""
_FENCE = re.compile(r"[ \t>]{0,12}(```|~~~)[`~]*[ \t]*([A-Za-z]*)")
_PAGE_OR_SCRIPT = re.compile(
    r"^[ \t]{0,8}(?:```|~~~)|\A#!|^(?:sudo[ \t]+)?(?:cat|tee|kubectl|oc)\b[^\n]{0,300}<<-?[ \t]{0,9}[\"']?\w",
    re.MULTILINE,
)
"""A fence, an interpreter line, or an unindented command with a here-document."""
_YAML = frozenset({"yaml", "yml"})
_OBJECT = re.compile(r"^apiVersion[ \t]*:", re.MULTILINE)


def is_page_or_script(text: str) -> bool:
    """Whether a text is a script or a page with fenced blocks, rather than a file of its own format.

    >>> is_page_or_script("# Jobs\\n```yaml\\nkind: Job\\n```"), is_page_or_script("kind: Job")
    (True, False)
    """
    marked = any(mark in text for mark in ("```", "~~~", "<<"))
    return text.startswith("#!") or (marked and bool(_PAGE_OR_SCRIPT.search(text)))


def fenced_blocks(lines: list[str]) -> list[tuple[str, int, int]]:
    """The fenced blocks of a page: the language, and the indices of the first line and of the closing fence. Without a
    closing fence, the latter is the number of lines.

    >>> fenced_blocks(["```bash", "nproc", "```", "text", "```"])
    [('bash', 1, 2), ('', 5, 5)]
    """
    fences = [(n, opened[2].lower()) for n, line in enumerate(lines) if (opened := _FENCE.match(line))]
    ends = [*(n for n, _ in fences[1::2]), len(lines)]
    return [(language, n + 1, end) for (n, language), end in zip(fences[::2], ends, strict=False)]


def object_in_page(file: InputFile, matches: Callable[[InputFile], bool]) -> InputFile | None:
    """The Kubernetes object of a page that ``matches`` accepts, as a file in which it keeps its line numbers.

    Objects are read from blocks of YAML; of several the file's part is taken. None if the page has none.

    Raises `SeveralParts` if there are several and no part is chosen, and `FormatError` if there are too many, or if
    there is no such part.
    """
    blocks = list(islice(_objects_of_page(file.text), MOST_OBJECTS + 1))
    found = [(block, before) for block, before in blocks if matches(InputFile(file.name, block.encode()))]
    if not found:
        return None
    if len(blocks) > MOST_OBJECTS:
        raise FormatError(f"holds more than {MOST_OBJECTS} Kubernetes objects: copy the one to import to a file")
    if len(found) > 1 and file.part is None:
        lines = ", ".join(str(before + 1) for _, before in found)
        raise SeveralParts(f"holds {len(found)} objects, on lines {lines}: choose one with --part N")
    if not 1 <= (part := file.part or 1) <= len(found):
        raise FormatError(f"has {plural(len(found), 'object')}, and --part {part} is none of them")
    block, before = found[part - 1]
    return InputFile(file.name, ("\n" * before + block).encode())


def _objects_of_page(text: str) -> Iterator[tuple[str, int]]:
    """The closed YAML blocks with a Kubernetes object, each with the number of lines before it."""
    if text.startswith("#!"):
        return
    lines = text.split("\n")
    for language, start, end in fenced_blocks(lines):
        block = dedent("\n".join(lines[start:end])) if language in _YAML and end < len(lines) else ""
        if _OBJECT.search(block):
            yield block, start
