"""Configuration of a team: ``clusterspec.toml``, or ``[tool.clusterspec]`` in ``pyproject.toml``.

The keys are described in ``schemas/config.schema.json``, from which docs/configuration.md is generated.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clusterspec.config.config_fault import ConfigFault
from clusterspec.finding import Severity
from clusterspec.records import dataclass, field, replace

__all__ = [
    "DEEPEST",
    "FILE",
    "LARGEST",
    "Config",
    "ConfigFault",
    "Override",
    "deeply_dotted",
    "discover",
    "load",
    "read",
]

FILE = "clusterspec.toml"
LARGEST = 1024 * 1024
"""The largest file read, in bytes."""
_PYPROJECT = "pyproject.toml"
DEEPEST = 16
"""Dotted parts of one key; a configuration needs three."""


@dataclass(frozen=True, slots=True)
class Override:
    """Settings for the files that match one of the patterns."""

    paths: tuple[str, ...]
    ignore: tuple[str, ...] = ()
    error: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    profile: str | None = None


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of a team. An empty ``select`` means all rules; folders of ``catalog`` may not exist."""

    file: Path | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    error: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    profile: str = "default"
    fail_on: Severity = Severity.ERROR
    catalog: tuple[Path, ...] = ()
    thresholds: Mapping[str, float] = field(default_factory=dict)
    rules: tuple[Path, ...] = ()
    exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True
    required_version: str | None = None
    catalog_version: str | None = None
    overrides: tuple[Override, ...] = ()

    @property
    def root(self) -> Path:
        """The folder to which patterns are relative."""
        return self.file.parent if self.file else Path.cwd()

    def for_path(self, path: str) -> Config:
        """The configuration of a file with its matching overrides applied; the last has precedence."""
        applicable = self
        for override in self.overrides:
            if _named(override.paths, self.root, path):
                applicable = replace(
                    applicable,
                    ignore=(*applicable.ignore, *override.ignore),
                    error=(*applicable.error, *override.error),
                    severity={**applicable.severity, **override.severity},
                    profile=override.profile or applicable.profile,
                )
        return applicable

    def excludes(self, path: str, *, folder: bool = False) -> bool:
        """Whether a search of folders skips a path."""
        return _named(self.exclude, self.root, path, folder=folder)


def _named(patterns: tuple[str, ...], root: Path, path: str, *, folder: bool = False) -> bool:
    if not patterns:
        return False
    from clusterspec.config.patterns import matches

    return matches(patterns, root, path, folder=folder)


def discover(folder: Path) -> Config:
    """The configuration of the nearest parent folder that has one, up to the project root (the folder of ``.git``).

    Raises `ConfigFault`.
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
    """The configuration in a file; the default for a ``pyproject.toml`` without ``[tool.clusterspec]``.

    Raises `ConfigFault` if the file cannot be read, is too large, is not TOML, or has unknown keys.
    """
    try:
        if not path.is_file():
            raise ConfigFault(f"{path}: {'not a file' if path.exists() else 'No such file'}")
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise ConfigFault(f"{path}: {error.strerror}") from None
    return read(path, data)


def read(path: Path, data: bytes) -> Config:
    """The configuration in the bytes of a file. Raises `ConfigFault`."""
    import tomllib

    from clusterspec.config.schema import check, schema

    if len(data) > LARGEST:
        raise ConfigFault(f"{path}: larger than {LARGEST // 1024} KiB, the maximum")
    try:
        text = data.decode("utf-8")
        if deeply_dotted(text):
            raise ConfigFault(f"{path}: a key of more than {DEEPEST} parts")
        table: Any = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise error if isinstance(error, ConfigFault) else ConfigFault(f"{path}: not TOML: {_why(error)}") from None
    if path.name == _PYPROJECT:
        tool = table.get("tool")
        table = tool.get("clusterspec") if isinstance(tool, dict) else None
        if table is None:
            return Config()
    try:
        if not isinstance(table, dict):
            raise ConfigFault("tool.clusterspec is a table")
        check(table, schema())
    except ConfigFault as fault:
        raise ConfigFault(f"{path}: {fault}") from None
    return _built(table, path)


def _why(error: Exception) -> str:
    """The reason why a text is not TOML, for the error message."""
    if isinstance(error, RecursionError):
        return "lists or tables nested too deeply"
    return "a number of more than 4300 digits" if "integer string conversion" in str(error) else str(error)


def deeply_dotted(text: str) -> bool:
    """Whether a key of a TOML text has more than `DEEPEST` dotted parts, for which tomllib needs quadratic memory."""
    if text.count(".") <= DEEPEST:
        return False
    part = r"""(?:(?<![\w-])[\w-]+|(?<![\\\w])"(?:[^"\\\n]|\\.){0,1000}"|'[^'\n]{0,1000}')[ \t]*\.[ \t]*"""
    return re.search(f"(?:{part}){{{DEEPEST},}}", text, re.ASCII) is not None


def _built(table: dict[str, Any], path: Path) -> Config:
    """The typed configuration of a validated table."""
    values = {key.replace("-", "_"): _value(value) for key, value in table.items()}
    for key in ("catalog", "rules"):
        if key in values:
            values[key] = tuple(path.parent / folder for folder in values[key])
    values["overrides"] = tuple(
        Override(**{key: _typed(key, _value(value)) for key, value in one.items()})
        for one in table.get("overrides", ())
    )
    return Config(file=path, **{key: _typed(key, value) for key, value in values.items()})


def _value(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _typed(key: str, value: Any) -> Any:
    if key == "severity":
        return {rule: Severity(word) for rule, word in value.items()}
    if key == "thresholds":
        return {rule: float(number) for rule, number in value.items()}
    return Severity(value) if key == "fail_on" else value
