"""Command lines and shell scripts: ``--name value`` and ``--name=value``, with shell variables expanded."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from clusterspec.exchange.import_result import FormatError
from clusterspec.exchange.input_file import InputFile
from clusterspec.exchange.workloads.keys import Keys

_ASSIGNED = re.compile(r"^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=([^\s;&|()]*|\"[^\"]*\"|'[^']*')\s*(?:#.*)?$")
_VARIABLE = re.compile(
    r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)(?::?-([^}]{0,1000}))?\}|([A-Za-z_][A-Za-z0-9_]*)|\(\(([^()]{1,80})\)\))"
)
_PRODUCT = re.compile(
    r"\s*\$?\{?([A-Za-z_][A-Za-z0-9_]*|[0-9]+)\}?\s*([*/])\s*\$?\{?([A-Za-z_][A-Za-z0-9_]*|[0-9]+)\}?\s*"
)
_OPTION = re.compile(r"--?[A-Za-z][A-Za-z0-9_.-]*")
MOST_WORDS = 100_000


def read_arguments(file: InputFile) -> Keys:
    """The options of all commands in a text; the last value of a name applies. Values are text, flags are True."""
    variables = _variables(file.lines)
    keys = Keys()
    words = list(_words(file.lines, variables))
    for at, (word, line) in enumerate(words):
        if not _OPTION.fullmatch(word.split("=", 1)[0]) or not word.startswith("-"):
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if equals:
            keys.put(name, value, line)
        elif at + 1 < len(words) and not _is_option(words[at + 1][0]):
            keys.put(name, words[at + 1][0], line)
        else:
            keys.put(name, True, line)
    return keys


def overrides(file: InputFile) -> Keys:
    """Words of the form ``a.b=value`` or ``+a.b=value``, as used by Hydra and MaxText."""
    keys = Keys()
    for word, line in _words(file.lines, _variables(file.lines)):
        if match := re.fullmatch(r"\+{0,2}([A-Za-z_][A-Za-z0-9_.]*)=(.*)", word):
            keys.put(match[1], match[2], line)
    return keys


def _is_option(word: str) -> bool:
    return bool(_OPTION.fullmatch(word.split("=", 1)[0])) and not re.fullmatch(r"-[0-9.]+", word)


def _variables(lines: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        if match := _ASSIGNED.match(line):
            found[match[1]] = _filled(match[2].strip("\"'"), found)
    return found


def _words(lines: tuple[str, ...], variables: dict[str, str]) -> Iterator[tuple[str, int]]:
    """The words of a script with their lines, without comments."""
    count = 0
    for number, line in enumerate(lines, 1):
        if "-" not in line and "=" not in line:
            continue
        text = _filled(line.strip().rstrip("\\").strip(), variables)
        text = re.sub(r"^[A-Za-z_][A-Za-z0-9_]*\+?=[\"'(]?\s*(?=--)", "", text)
        try:
            parts = shlex.split(text, comments=True)
        except ValueError:  # a quote that continues on the next line
            parts = text.replace('"', " ").replace("'", " ").split()
        for part in parts:
            for word in part.strip("()[],\"'").split():
                count += 1
                if count > MOST_WORDS:
                    raise FormatError(f"more than {MOST_WORDS:,} words in its commands", number)
                yield word.strip("\"',"), number


def _filled(text: str, variables: dict[str, str]) -> str:
    """A text with known variables expanded once."""

    def value(match: re.Match[str]) -> str:
        if match[4]:
            return _product(match[4], variables) or match[0]
        name = match[1] or match[3]
        return variables.get(name, match[2] if match[2] is not None else match[0])

    return _VARIABLE.sub(value, text)[:100_000]


def _product(text: str, variables: dict[str, str]) -> str:
    match = _PRODUCT.fullmatch(text)
    if not match:
        return ""
    one, other = (variables.get(name, name) for name in (match[1], match[3]))
    if not (one.isdecimal() and other.isdecimal() and len(one + other) < 18) or (match[2] == "/" and int(other) == 0):
        return ""
    return str(int(one) * int(other) if match[2] == "*" else int(one) // int(other))
