"""Variables of the environment that a text gives to a container, in code, manifests, templates, scripts or properties.

A literal is a value; in code, a name or a call that the text does not resolve is an open value, written ``${…}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.exchange.import_result import InputFile
from clusterspec.exchange.shell import variables_of

_CODE = re.compile(
    r"^(?:import|from|const|let|var)[ \t]+[\w{]|^[ \t]*(?:resource|locals|variable)[ \t]+[\"{]|\"cells\"[ \t]*:",
    re.MULTILINE,
)
"""Lines of Python, JavaScript, Terraform or a notebook, in which a bare word is a name."""
_AFTER_NAME = (
    r"\\?[\"']?(?:[ \t]*(?:=|:)[ \t]*|[\"']?,?\s*\n?\s*[\"']?[Vv]alue[\"']?[ \t]*[:=][ \t]*)"
    r"(?:\\?\"(?P<double>(?:[^\"\\\n]|\\[^\"\n])*)\\?\"|'(?P<single>[^'\n]*)'|(?P<bare>[^\s,}\"'][^\s,}\"']*))?"
)
"""What follows a name: a value that is assigned, or a ``value`` of its own (a list of names and values)."""
_NUMBER_IN_CALL = re.compile(r"(?:str|json\.dumps|tostring|String)\([ \t]*(\d{1,9}(?:\.\d{1,6})?)[ \t]*\)?")
_DEFAULTED = re.compile(r"\$\{\w{1,60}:?-([^}$]{0,200})\}")
_NAME_ALONE = re.compile(r"\$\{?([A-Za-z_]\w*)\}?")
Variable = tuple[str, str, int]
"""A name, its value, and its line."""


def stated_variables(file: InputFile, names: str) -> list[dict[str, tuple[str, int]]]:
    """The groups of variables whose names match a pattern, in the order of the text: a group ends where one of its
    names has another value. Groups that are alike count once.
    """
    groups: list[dict[str, tuple[str, int]]] = [{}]
    for name, value, line in _variables(file, names):
        if name in groups[-1] and groups[-1][name][0] != value:
            groups.append({})
        groups[-1].setdefault(name, (value, line))
    different = {
        tuple((name, held[0]) for name, held in sorted(each.items())): each for each in reversed(groups) if each
    }
    return list(different.values())[::-1]


def _variables(file: InputFile, names: str) -> Iterator[Variable]:
    text, in_code = file.uncommented, bool(_CODE.search(file.text))
    line, at, assigned = 1, 0, {} if in_code else variables_of(text)
    for found in re.finditer(rf"(?<![\w.$])(?P<name>{names}){_AFTER_NAME}", text):
        line, at = line + text.count("\n", at, found.start()), found.start()
        value = _stated_value(found, in_code=in_code)
        if (named := _NAME_ALONE.fullmatch(value)) and named[1] != found["name"] and named[1] in assigned:
            held = assigned[named[1]].text
            value = held if "$" not in held else value
        yield found["name"], value, line


def _stated_value(found: re.Match[str], *, in_code: bool) -> str:
    """The literal of a match; in code, any other value is open."""
    quoted = found["double"] if found["double"] is not None else found["single"]
    if quoted is not None:
        quoted = _DEFAULTED.sub(r"\1", quoted)
        return f"${{{quoted}}}" if in_code and "{" in quoted and not quoted.startswith(("{", "[", "$")) else quoted
    bare = _DEFAULTED.sub(r"\1", (found["bare"] or "").rstrip(";\\"))
    if number := _NUMBER_IN_CALL.fullmatch(bare):
        return number[1]
    literal = re.fullmatch(r"[\d.]+|[Tt]rue|[Ff]alse", bare)
    return bare if literal or not in_code or bare.startswith("$") else f"${{{bare}}}"
