"""Path patterns in ``.gitignore`` syntax, matched in bounded time, and the ``.gitignore`` files of a project."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

from clusterspec.records import dataclass
from clusterspec.standard import pattern as lazily

# Patterns of ``.gitignore``, as documented in gitignore(5), matched in time that no pattern can make exponential

MOST = 2000
"""Largest number of lines of one list; later ones have no effect."""
LONGEST = 400
"""Largest number of characters of a pattern."""
ANY = "**"
NEVER = lazily(r"(?!)")
_CLASSES = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "space": r"\s",
    "xdigit": "0-9a-fA-F",
    "blank": r" \t",
    "punct": r"!-/:-@\[-`{-~",
}


@dataclass(frozen=True)
class Pattern:
    """One line: its segments, whether it matches folders only, and whether it includes again (``!``)."""

    segments: tuple[str, ...]
    folders: bool
    includes: bool

    def matching_prefix_lengths(self, parts: list[str]) -> set[int]:
        """The lengths of the matching prefixes of a path, in segments. Whether a prefix is a folder is not checked."""
        first, *rest = self.segments
        if first == ANY and len(rest) == 1 and rest[0] != ANY:
            return {number for number, part in enumerate(parts, 1) if matches_segment(rest[0], part)}
        if ANY in self.segments:
            return _prefix_lengths(self.segments, parts)
        number = len(self.segments)
        return {number} if number <= len(parts) and all(map(matches_segment, self.segments, parts)) else set()


@lru_cache(maxsize=256)
def compiled_patterns(lines: tuple[str, ...]) -> tuple[Pattern, ...]:
    """The patterns of a list, in its order."""
    found = (parsed_pattern(line) for line in lines[:MOST] if len(line) <= LONGEST)
    return tuple(one for one in found if one is not None)


def parsed_pattern(line: str) -> Pattern | None:
    """The pattern of a line; None for a blank line, a comment and a pattern that matches nothing.

    >>> parsed_pattern("!docs/*.yaml").segments, parsed_pattern("build/").segments, parsed_pattern("# note")
    (('docs', '*.yaml'), ('**', 'build'), None)
    """
    text = _stripped_line(line.removesuffix("\r"))
    if not text or text.startswith("#"):
        return None
    includes = text.startswith("!")
    text = text[includes:]
    folders = text.endswith("/")
    text = text.removesuffix("/")
    segments = [re.sub(r"^\*{2,}$", ANY, one) for one in text.removeprefix("/").split("/")]
    if not all(segments) or any(_segment_expression(one) is NEVER for one in segments if one != ANY):
        return None
    if "/" not in text:
        segments = [ANY, *segments]
    return Pattern(tuple(segments), folders, includes)


def exclusion_decision(patterns: Iterable[Pattern], path: str, folder: bool) -> bool | None:
    """True if the patterns exclude a path, False if they include it again, None if none matches.

    The last pattern that matches the path wins over those that match only a folder above it.
    """
    parts = path.split("/")
    answer, direct = None, False
    for one in patterns:
        heads = one.matching_prefix_lengths(parts)
        if len(parts) in heads and (folder or not one.folders):
            answer, direct = not one.includes, True
        elif not direct and min(heads, default=len(parts)) < len(parts):
            answer = not one.includes
    return answer


def matches_segment(segment: str, name: str) -> bool:
    """Whether a name without slashes matches a segment of a pattern."""
    return segment == ANY or _segment_expression(segment).fullmatch(name) is not None


def _stripped_line(line: str) -> str:
    """The line without trailing spaces that no backslash protects."""
    text = line.rstrip(" ")
    slashes = len(text) - len(text.rstrip("\\"))
    return text + " " if slashes % 2 and len(text) < len(line) else text


def _prefix_lengths(segments: tuple[str, ...], parts: list[str]) -> set[int]:
    """Lengths of path prefixes that match segments with ``**``: a leading or inner ``**`` matches any number of
    folders, a final one at least one.

    ``reached[k]`` says that the segments so far match the first ``k`` parts of the path.
    """
    reached = [True] + [False] * len(parts)
    for number, segment in enumerate(segments):
        if segment != ANY:
            reached = [
                False,
                *(was and matches_segment(segment, part) for was, part in zip(reached, parts, strict=False)),
            ]
            continue
        first = reached.index(True) if True in reached else len(reached)
        first += number == len(segments) - 1
        reached = [position >= first for position in range(len(reached))]
    return {position for position, was in enumerate(reached) if was and position}


@lru_cache(maxsize=4096)
def _segment_expression(text: str) -> re.Pattern[str]:
    """A segment as a regular expression; `NEVER` for one that is not complete."""
    chunks: list[str] = [""]
    at = 0
    while at < len(text):
        letter = text[at]
        if letter == "*":
            chunks.append("")
            at += 1
            continue
        if letter == "[":
            piece, at = _bracket_expression(text, at)
        elif letter == "\\":
            piece, at = re.escape(text[at + 1 : at + 2]), at + 2
        else:
            piece, at = "." if letter == "?" else re.escape(letter), at + 1
        if not piece:
            return NEVER
        chunks[-1] += piece
    first, *rest = chunks
    inner = "".join(f"(?>.*?{chunk})" for chunk in rest[:-1] if chunk)
    last = f".*{rest[-1]}" if rest else ""
    return re.compile(first + inner + last, re.DOTALL)


def _bracket_expression(text: str, at: int) -> tuple[str, int]:
    """The characters in brackets as a regular expression, and where they end; empty for unclosed ones."""
    at += 1
    negated = text[at : at + 1] in {"!", "^"}
    at += negated
    inside, begin, before = "", at, ""
    while at < len(text) and (text[at] != "]" or at == begin):
        named = re.match(r"\[:(\w+):\]", text[at:])
        if named:
            if named[1] not in _CLASSES:
                return "", at
            inside, at, before = inside + _CLASSES[named[1]], at + len(named[0]), ""
            continue
        until = text[at] == "-" and before != "" and text[at + 1 : at + 2] not in {"]", ""}
        at += until
        at += text[at] == "\\"
        letter = text[at : at + 1]
        if until and before <= letter:  # a range that ends before it begins holds its first letter only
            inside += f"{re.escape(before)}-{re.escape(letter)}"
        elif not until:
            inside += re.escape(letter)
        before, at = "" if until else letter, at + 1
    return (f"[{'^' * negated}{inside}]", at + 1) if at < len(text) else ("", at)


LARGEST = 256 * 1024
"""Bytes of a ``.gitignore`` that are read."""
Data = Callable[[Path], bytes | None]
"""Returns the bytes of a file; None if there is none."""


def matches(patterns: Iterable[str], root: Path, path: str, *, folder: bool = False) -> bool:
    """Whether a path matches one of the patterns, which are relative to ``root``."""
    given = tuple(patterns)
    if not given:
        return False
    relative = os.path.relpath(os.path.abspath(path), root).replace(os.sep, "/")  # noqa: PTH100
    if relative.startswith("../") or relative == ".":
        return False
    return bool(exclusion_decision(compiled_patterns(given), relative, folder))


class IgnoredPaths:
    """The paths ignored by the ``.gitignore`` files of a repository."""

    def __init__(self, start: str, data: Data | None = None) -> None:
        self._data = data or _gitignore_bytes
        folder = Path(os.path.abspath(start))  # noqa: PTH100
        above = (folder, *folder.parents)
        self._root = next((one for one in above if os.path.exists(one / ".git")), folder)  # noqa: PTH110
        self._patterns: dict[Path, tuple[str, ...]] = {}
        self._above: dict[str, list[tuple[Path, tuple[str, ...]]]] = {}

    def __call__(self, path: str, *, folder: bool) -> bool:
        """Whether a file or folder is ignored; a deeper ``.gitignore`` has precedence."""
        place = os.path.abspath(path)  # noqa: PTH100
        for parent, patterns in self._patterns_above(os.path.dirname(place)):  # noqa: PTH120
            relative = Path(place).relative_to(parent).as_posix()
            answer = exclusion_decision(compiled_patterns(patterns), relative, folder)
            if answer is not None:
                return answer
        return False

    def _patterns_above(self, folder: str) -> list[tuple[Path, tuple[str, ...]]]:
        """The folders from ``folder`` up to the root that have patterns, each with its patterns."""
        if folder not in self._above:
            parents = (Path(folder), *Path(folder).parents)
            if self._root in parents:
                parents = parents[: parents.index(self._root) + 1]
            self._above[folder] = [
                (parent, patterns) for parent in parents if (patterns := self._folder_patterns(parent))
            ]
        return self._above[folder]

    def _folder_patterns(self, folder: Path) -> tuple[str, ...]:
        if folder not in self._patterns:
            self._patterns[folder] = _gitignore_lines(self._data(folder / ".gitignore"))
        return self._patterns[folder]


def _gitignore_bytes(path: Path) -> bytes | None:
    """The bytes of a ``.gitignore``; None if it is absent, not a regular file, or unreadable."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            return file.read(LARGEST)
    except OSError:
        return None


def _gitignore_lines(data: bytes | None) -> tuple[str, ...]:
    """The patterns of a ``.gitignore``."""
    text = (data or b"")[:LARGEST].decode("utf-8", "replace")
    return tuple(line for line in text.split("\n")[:MOST] if line)
