"""The names and the prose of the package do without words that had several meanings here."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

import pytest

from tests.source_code import PACKAGE, texts

NOT_IN_NAMES = frozenset({"apart", "around", "asked", "beside", "besides", "given", "lying", "seen", "together"})
"""Words that do not say what a function returns: state what a value is relative to, or what is done to it."""
NOT_ALONE = frozenset(
    {
        "alike",
        "amid",
        "at",
        "before",
        "below",
        "between",
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
NUMBERS = frozenset({"float", "int", "float | None", "int | None"})
ADJECTIVE = re.compile(
    r"[a-z]+(?:ed|est)|active|between|computing|ending|hidden|lasting|longer|missing|overwritten|producing|saving"
    r"|training|upper|waiting"
)
"""Words that say which number a property returns, but not a number of what."""
NOT_PLURAL = frozenset({"address", "remarks", "status", "words"})
"""Names that end in s of properties that return one text."""
FUNCTION = re.compile(r"^ *(?:async )?def (\w+)", re.MULTILINE)
METHOD = re.compile(r"^ +def (\w+)\(\w+\) -> (?:float|int|str)\b", re.MULTILINE)
"""The name of a method without parameters that returns a number or a text."""
DEFINITION = re.compile(r"^ *(?:async def|def|class) (\w+)", re.MULTILINE)
NOT_IN_PROSE = re.compile(r"\bbesides?\b", re.IGNORECASE)
"""It meant in addition to, with, next to, without, while and other than: write which."""


def odd_names(text: str) -> list[str]:
    """The functions and classes of a module with a word of `NOT_IN_NAMES` in their names."""
    return [name for name in DEFINITION.findall(text) if NOT_IN_NAMES & {*name.lower().split("_")}]


def lone_words(text: str) -> list[str]:
    """The functions of a module whose whole name is a word of `NOT_ALONE`."""
    return [name for name in FUNCTION.findall(text) if name.strip("_") in NOT_ALONE]


def properties(text: str) -> Iterator[tuple[str, str]]:
    """The methods of a module without parameters, by name, each with the type that it returns."""
    for node in ast.walk(ast.parse(text)):
        for each in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(each, ast.FunctionDef) and each.returns is not None and len(each.args.args) == 1:
                yield each.name.strip("_"), ast.unparse(each.returns)


def vague_properties(text: str) -> list[str]:
    """The properties of a module whose names are an adjective for a number, or a plural for one text."""
    names = METHOD.findall(text)
    if not any(name.endswith("s") or ADJECTIVE.fullmatch(name.strip("_")) for name in names):
        return []  # without a syntax tree, which takes milliseconds of each module
    return [
        name
        for name, kind in properties(text)
        if (kind in NUMBERS and ADJECTIVE.fullmatch(name))
        or (kind == "str" and name.endswith("s") and "_" not in name and name not in NOT_PLURAL)
    ]


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


def test_a_property_is_named_by_its_noun() -> None:
    kinds = {"stopped": "float", "stopped_share": "float", "usable": "bool", "bounds": "str", "words": "str"}
    methods = "".join(f"    def {name}(self) -> {kind}: ...\n" for name, kind in kinds.items())
    assert vague_properties(f"class Run:\n{methods}    def named(self, key: str) -> float: ...\n") == [
        "stopped",
        "bounds",
    ]


def test_no_property_is_named_by_an_adjective_or_a_plural_of_what_it_is_not() -> None:
    found = {str(path.relative_to(PACKAGE)): vague_properties(text) for path, text in texts().items()}
    assert {path: names for path, names in found.items() if names} == {}


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
