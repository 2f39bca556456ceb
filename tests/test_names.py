"""The names and the prose of the package do without words that had several meanings here."""

from __future__ import annotations

import io
import re
import tokenize

import pytest

from tests.source_code import PACKAGE, texts

NOT_IN_NAMES = frozenset({"apart", "around", "asked", "beside", "besides", "given", "lying", "seen", "together"})
"""Words that do not say what a function returns: state what a value is relative to, or what is done to it."""
NOT_ALONE = frozenset(
    {
        "alike",
        "amid",
        "both",
        "each",
        "either",
        "further",
        "made",
        "many",
        "one",
        "only",
        "quiet",
        "slip",
        "within",
        "without",
        "wrong",
    }
)
"""Words that are no name of a function by themselves: a caller does not see what comes back."""
FUNCTION = re.compile(r"^ *(?:async )?def (\w+)", re.MULTILINE)
DEFINITION = re.compile(r"^ *(?:async def|def|class) (\w+)", re.MULTILINE)
NOT_IN_PROSE = re.compile(r"\bbesides?\b", re.IGNORECASE)
"""It meant in addition to, with, next to, without, while and other than: write which."""


def odd_names(text: str) -> list[str]:
    """The functions and classes of a module with a word of `NOT_IN_NAMES` in their names."""
    return [name for name in DEFINITION.findall(text) if NOT_IN_NAMES & {*name.lower().split("_")}]


def lone_words(text: str) -> list[str]:
    """The functions of a module whose whole name is a word of `NOT_ALONE`."""
    return [name for name in FUNCTION.findall(text) if name.strip("_") in NOT_ALONE]


def odd_lines(text: str) -> list[int]:
    """The lines of comments and docstrings that have a word of `NOT_IN_PROSE`."""
    found = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        prose = token.type == tokenize.COMMENT or (token.type == tokenize.STRING and token.string.startswith('"""'))
        if prose:
            lines = enumerate(token.string.splitlines(), token.start[0])
            found += [number for number, line in lines if NOT_IN_PROSE.search(re.sub("`+[^`]*`+", "", line))]
    return found


@pytest.mark.parametrize(
    ("text", "names", "lines"),
    [
        ("def rate_beside_link():\n    pass\n", ["rate_beside_link"], []),
        ("def rate_of_link():\n    '''A rate.'''  # beside it\n", [], [2]),
        ('def rate():\n    """A rate.\n\n    Besides, it is one.\n    """\n', [], [4]),
        ('def rate():\n    """A rate, in the field ``beside`` or `beside`."""\n', [], []),
    ],
)
def test_a_word_is_found_in_names_and_in_prose(text: str, names: list[str], lines: list[int]) -> None:
    assert odd_names(text) == names
    assert odd_lines(text) == lines


def test_a_lone_word_is_found_in_functions_and_methods() -> None:
    methods = "    def _amid(self):\n        pass\n\n    def amid_prompts(self):\n        pass\n"
    text = f"def without(a):\n    pass\n\n\nclass Each:\n{methods}"
    assert lone_words(text) == ["without", "_amid"]


def test_no_function_is_named_by_a_lone_generic_word() -> None:
    found = {str(path.relative_to(PACKAGE)): lone_words(text) for path, text in texts().items()}
    assert {path: names for path, names in found.items() if names} == {}


def test_no_function_is_named_by_a_word_that_does_not_say_what_it_returns() -> None:
    found = {str(path.relative_to(PACKAGE)): odd_names(text) for path, text in texts().items()}
    assert {path: names for path, names in found.items() if names} == {}


def test_no_comment_or_docstring_has_a_word_of_several_meanings() -> None:
    candidates = ((path.relative_to(PACKAGE).as_posix(), text) for path, text in texts().items())
    found = {path: odd_lines(text) for path, text in candidates if NOT_IN_PROSE.search(text)}
    assert {path: lines for path, lines in found.items() if lines} == {}
