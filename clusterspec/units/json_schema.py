"""The texts of a quantity as a JSON Schema, for editors that do not run this program.

The pattern is a regular expression of ECMA 262 without flags. It accepts every text that `read` accepts; the number of
digits and the largest value are left to `read`. A test compares both.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from clusterspec.quantity import Direction, Sparsity
from clusterspec.units import QUALIFIERS
from clusterspec.units.symbols import COUNTS, KINDS, Kind, time_spellings

_GROUPED = r"[0-9]{1,3}(?:(?:,[0-9]{3}){2,}|,[0-9]{3}(?=\.))"
"""Digits with thousand separators that cannot be read as a decimal comma."""
_NUMBER = rf"(?:(?:{_GROUPED}|[0-9]+)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_WHOLE = _NUMBER.replace(_GROUPED, "[0-9]{1,3}(?:,[0-9]{3})+")
_TIMES = r"(?:[1-9][0-9]{0,8}\s*[x×*]\s*)?"
_DECIMAL = ("kilo", "mega", "giga", "tera", "peta", "exa")
_BINARY = ("kibi", "mebi", "gibi", "tebi", "pebi", "exbi")


@cache
def quantity_schema(kind: str) -> dict[str, Any]:
    """The schema of a key that takes a quantity: a text with its unit, or a number where the kind has none.

    >>> quantity_schema("ratio")["anyOf"][1]
    {'type': 'number', 'exclusiveMinimum': 0}
    """
    wanted = KINDS[kind]
    number = _TIMES + (_WHOLE if wanted.whole else _NUMBER)
    text = {"type": "string", "pattern": rf"^\s*{number}\s*{_suffix_pattern(wanted, kind)}\s*$"}
    if wanted.unit != "1":
        return text
    return {"anyOf": [text, {"type": "integer" if wanted.whole else "number", "exclusiveMinimum": 0}]}


def _suffix_pattern(expected: Kind, kind: str) -> str:
    """The unit and the qualifier; of a ratio the uplinks."""
    if kind == "ratio":
        return rf"(?:(?::|to)\s*{_NUMBER})?"
    if expected.unit == "1":
        return rf"(?:{_either_pattern(name for name in COUNTS if name)})?\s*(?:tokens)?" if expected.whole else ""
    return _unit_patterns()[expected.unit] + _qualifier_pattern(expected, kind)


def _qualifier_pattern(expected: Kind, kind: str) -> str:
    """The direction or the sparsity after a unit, where the kind takes one."""
    type_ = Sparsity if expected.unit == "FLOP/s" else Direction if expected.directed else None
    if type_ is None:
        return ""
    word = _either_pattern(
        _caseless_pattern(text) for text, meaning in QUALIFIERS.items() if isinstance(meaning, type_)
    )
    word = r"[\s-]*" + word.replace(" ", r"[\s-]+") + r"[\s-]*"
    found = rf"(?:\s*\({word}\)|\s*,{word}|\s{word})"
    return found if kind in ("bandwidth", "peak") else f"{found}?"


@cache
def _unit_patterns() -> dict[str, str]:
    """The spellings of the units of each measure, as in `symbols`."""
    seconds = r"s(?:ecs?|econds?)?"
    per = rf"(?:\s*/\s*{seconds}|ps|\s+per\s+s(?:ec|econd)?)"
    per_any_case = (
        per.replace("ps", "[pP][sS]").replace(seconds, _seconds_pattern()).replace("per", _caseless_pattern("per"))
    )
    per_any_case = per_any_case.replace(
        "s(?:ec|econd)", f"[sS](?:{_caseless_pattern('ec')}|{_caseless_pattern('econd')})"
    )
    decimal, binary = (
        _either_pattern(map(_caseless_pattern, _DECIMAL)),
        _either_pattern(map(_caseless_pattern, _BINARY)),
    )
    word = (
        rf"(?:{decimal}|{binary}|[kmgtpeKMGTPE][iI]?)?(?:{_caseless_pattern('bit')}|{_caseless_pattern('byte')})[sS]?"
    )
    letter = r"(?:(?!ki?b)(?:[kKMGTPE]i?|[ZY])?[bB])"
    flop = rf"(?:{decimal}|[kmgtpezyKMGTPEZY])?{_caseless_pattern('flop')}"
    words_of_time = _either_pattern(f"{_caseless_pattern(word)}[sS]?" for word in time_spellings(words=True))
    return {
        "B": f"(?:{word}|{letter})",
        "B/s": f"(?:{word}{per_any_case}|{letter}{per}|[GT]bE)",
        "FLOP/s": f"(?:{flop}(?:[sS]{per_any_case}?|{per_any_case}))",
        "W": f"(?:[kMGTPEZY]?W|KW|kw|(?:{decimal})?{_caseless_pattern('watt')}[sS]?)",
        "m": f"(?:[ck]?m|{_either_pattern(map(_caseless_pattern, ('meter', 'metre')))}[sS]?)",
        "V": f"(?:k?V|{_caseless_pattern('volt')}[sS]?)",
        "A": f"(?:k?A|{_caseless_pattern('amp')}(?:{_caseless_pattern('ere')})?[sS]?)",
        "s": f"(?:{words_of_time}|{_either_pattern(time_spellings(words=False))})",
    }


def _seconds_pattern() -> str:
    return f"[sS](?:{_caseless_pattern('ec')}[sS]?|{_caseless_pattern('econd')}[sS]?)?"


def _either_pattern(texts: Iterable[str]) -> str:
    """Alternatives, the longest first."""
    return f"(?:{'|'.join(sorted(dict.fromkeys(texts), key=lambda one: (-len(one), one)))})"


def _caseless_pattern(text: str) -> str:
    return "".join(f"[{one.lower()}{one.upper()}]" if one.isalpha() else one for one in text)
