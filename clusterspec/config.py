"""Choices of a team: ``clusterspec.toml``, or ``[tool.clusterspec]`` in ``pyproject.toml``.

select = ["shared-nic"]         # only these rules
ignore = ["few-spines"]
error = ["undeclared-network"]  # raised to errors
severity = {tight-memory = "note"}
profile = "strict"
fail-on = "warning"
catalog = ["hardware"]          # folders of own entries, relative to this file
thresholds = {pipeline-bubble = 0.2}
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from clusterspec.finding import Severity

FILE = "clusterspec.toml"
LARGEST = 1024 * 1024
"""The largest file read, in bytes."""
_PART = re.compile(r"""\s*["']?[A-Za-z0-9_-]+["']?\s*""")
DEEPEST = 64
"""Dotted parts of one key; a configuration needs three."""
LARGEST_THRESHOLD = 1e18
_PYPROJECT = "pyproject.toml"
_PROFILES = ("default", "strict")


class ConfigFault(ValueError):
    """What is wrong with a configuration, in one line that names the file."""


@dataclass(frozen=True, slots=True)
class Config:
    """What a team chose. ``select`` empty means every rule; ``catalog`` holds existing or absent folders."""

    file: Path | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    error: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    profile: str = "default"
    fail_on: Severity = Severity.ERROR
    catalog: tuple[Path, ...] = ()
    thresholds: Mapping[str, float] = field(default_factory=dict)


def discover(folder: Path) -> Config:
    """The configuration of the nearest folder upward that has one, no further than the project's root.

    The root is the folder of ``.git``. Raises `ConfigFault`.
    """
    folder = folder.resolve()
    for candidate in (folder, *folder.parents):
        for name in (FILE, _PYPROJECT):
            if os.path.isfile(candidate / name):  # noqa: PTH113 — a folder we may not enter has none
                config = load(candidate / name)
                if config.file is not None:
                    return config
        if os.path.exists(candidate / ".git"):  # noqa: PTH110
            break
    return Config()


def load(path: Path) -> Config:
    """The configuration in a file; in a ``pyproject.toml`` without ``[tool.clusterspec]`` the default one.

    Raises `ConfigFault` for a file that cannot be read or is too large, that is no TOML, or holds what we do not know.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise ConfigFault(f"{path}: larger than {LARGEST // 1024} KiB, the most that is read")
        text = data.decode("utf-8")
        if _deep(text):
            raise ConfigFault(f"{path}: a key of more than {DEEPEST} parts")
        table: Any = tomllib.loads(text)
    except OSError as error:
        raise ConfigFault(f"{path}: {error.strerror}") from None
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        if isinstance(error, ConfigFault):
            raise
        raise ConfigFault(f"{path}: not TOML: {error}") from None
    if path.name == _PYPROJECT:
        tool = table.get("tool")
        table = tool.get("clusterspec") if isinstance(tool, dict) else None
        if table is None:
            return Config()
    try:
        return _read(table, path)
    except ConfigFault as fault:
        raise ConfigFault(f"{path}: {fault}") from None


def _deep(text: str) -> bool:
    """Whether a key has more dotted parts than any that is meant: tomllib takes quadratic memory for them."""
    for line in text.splitlines() if text.count(".") > DEEPEST else ():
        run = 0
        for part in line.split("."):
            run = run + 1 if _PART.fullmatch(part) else 0
            if run > DEEPEST:
                return True
    return False


def _read(table: Any, path: Path) -> Config:
    if not isinstance(table, dict):
        raise ConfigFault("tool.clusterspec is a table")
    unknown = [key for key in table if key not in _READERS]
    if unknown:
        near = get_close_matches(unknown[0], _READERS, n=1)
        advice = f"did you mean {near[0]}?" if near else f"the keys are {', '.join(sorted(_READERS))}"
        raise ConfigFault(f"unknown key {unknown[0][:60]}; {advice}")
    values = {key.replace("-", "_"): _READERS[key](key, value) for key, value in table.items()}
    if "catalog" in values:
        values["catalog"] = tuple(path.parent / folder for folder in values["catalog"])
    return Config(file=path, **values)


def _words(key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(word, str) and word for word in value):
        raise ConfigFault(f'{key} is a list of words, such as ["one", "two"]')
    return tuple(value)


def _table(key: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigFault(f"{key} is a table of rule names")
    return value


def _severity(key: str, value: Any) -> Severity:
    if value not in list(Severity):
        near = get_close_matches(str(value)[:60].lower(), list(Severity), n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise ConfigFault(f"{key} is error, warning or note, not {str(value)[:60]!r}{meant}")
    return Severity(value)


def _severities(key: str, value: Any) -> dict[str, Severity]:
    return {rule: _severity(f"{key}.{rule}", word) for rule, word in _table(key, value).items()}


def _thresholds(key: str, value: Any) -> dict[str, float]:
    numbers = _table(key, value)
    for rule, number in numbers.items():
        number_like = isinstance(number, int | float) and not isinstance(number, bool)
        if not number_like or not abs(number) <= LARGEST_THRESHOLD:  # nan is no threshold either
            raise ConfigFault(f"{key}.{rule} is a number, not {str(number)[:60]}")
    return {rule: float(number) for rule, number in numbers.items()}


def _profile(key: str, value: Any) -> str:
    if value not in _PROFILES:
        raise ConfigFault(f"{key} is {' or '.join(_PROFILES)}, not {value!r}")
    return str(value)


_READERS: dict[str, Callable[[str, Any], Any]] = {
    "select": _words,
    "ignore": _words,
    "error": _words,
    "severity": _severities,
    "profile": _profile,
    "fail-on": _severity,
    "catalog": _words,
    "thresholds": _thresholds,
}
