"""A team's settings (`clusterspec.toml`): discovery, validation against the schema, and typed values."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from clusterspec import resources
from clusterspec.finding import Severity
from clusterspec.records import dataclass, field, replace
from clusterspec.standard import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The exception for invalid configurations


class ConfigFault(ValueError):
    """Raised for an invalid configuration, with a one-line message that names the file."""


# Validation of a configuration against its schema (``schemas/config.schema.json``)

Schema = dict[str, "Any"]
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "number": (int, float),
}
_WORDS = {
    "object": "a table of rule names",
    "array": "a list",
    "string": "text",
    "boolean": "true or false",
    "number": "a number",
}
_SHOWN = 60
TOP = "the configuration"


@cache
def schema() -> Schema:
    """The schema of the configuration."""
    loaded: Schema = json.loads((resources.schemas() / "config.schema.json").read_text("utf-8"))
    return loaded


def check(value: Any, node: Schema, name: str = TOP) -> None:
    """Raises `ConfigFault` for the first violation of the schema."""
    if "enum" in node:
        _check_choice(value, node["enum"], name)
        return
    kind: str = node["type"]
    allowed: Any = _TYPES[kind]
    if not isinstance(value, allowed) or (isinstance(value, bool) and kind != "boolean"):
        raise ConfigFault(f"{name} is {_expected_text(node)}, not {_shown_value(value)}")
    if kind == "number" and not node["minimum"] <= value <= node["maximum"]:  # nan is not allowed
        raise ConfigFault(f"{name} is a number, not {_shown_value(value)}")
    if kind == "string" and not node.get("minLength", 0) <= len(value) <= node.get("maxLength", 10_000):
        raise ConfigFault(
            f"{name} is a text of {node.get('minLength', 0)} to {node.get('maxLength', 10_000)} characters"
        )
    if kind == "array":
        _check_items(value, node, name)
    if kind == "object":
        _check_table(value, node, name)


def _check_choice(value: Any, choices: list[str], name: str) -> None:
    if value in choices:
        return
    from difflib import get_close_matches

    near = get_close_matches(str(value)[:_SHOWN].lower(), choices, n=1)
    meant = f"; did you mean {near[0]}?" if near else ""
    raise ConfigFault(f"{name} is {', '.join(choices[:-1])} or {choices[-1]}, not {_shown_value(value)}{meant}")


def _check_items(value: list[Any], node: Schema, name: str) -> None:
    if len(value) < node.get("minItems", 0):
        raise ConfigFault(f"{name} is empty")
    for item in value:
        if node["items"].get("type") == "string" and (not isinstance(item, str) or not item or "\0" in item):
            raise ConfigFault(f"{name} is {_expected_text(node)}")
        check(item, node["items"], f"[[{name}]]" if node["items"].get("type") == "object" else f"an item of {name}")


def _check_table(value: dict[str, Any], node: Schema, name: str) -> None:
    known = node.get("properties", {})
    others = node["additionalProperties"]
    prefix = f"{name}." if name != TOP else ""
    for key, item in value.items():
        if key in known:
            check(item, known[key], prefix + key)
        elif others:
            check(item, others, prefix + _shown_key(key))
        else:
            from difflib import get_close_matches

            near = get_close_matches(key[:_SHOWN], known, n=1)
            advice = f"did you mean {near[0]}?" if near else f"the keys are {', '.join(sorted(known))}"
            where = f" in `{name}`" if name != TOP else ""
            raise ConfigFault(f"unknown key `{_shown_key(key)}`{where}; {advice}")
    for key in node.get("required", ()):
        if key not in value:
            raise ConfigFault(f"{name} lacks {key}")


def _shown_key(key: str) -> str:
    """A key on one line, shortened."""
    return "".join(letter if letter.isprintable() else "?" for letter in key[:_SHOWN])


def _expected_text(node: Schema) -> str:
    if node["type"] == "array" and node["items"].get("type") == "string":
        return 'a list of words, such as ["one", "two"]'
    return _WORDS[node["type"]]


def _shown_value(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**_SHOWN:
        return "a number of more than 60 digits"
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


__all__ = [
    "DEEPEST",
    "FILE",
    "LARGEST",
    "Config",
    "ConfigFault",
    "Override",
    "discover",
    "has_deeply_dotted_key",
    "load",
    "read",
]

FILE = "clusterspec.toml"
LARGEST = 1024 * 1024
"""The largest file read, in bytes."""
_PYPROJECT = "pyproject.toml"
_MAY_HAVE_TABLE = pattern(
    rb"""tool["']?[ \t]*\.[ \t]*["']?clusterspec|^[ \t]*(?:\[[ \t]*)?["']?tool["']?[ \t]*[\]=]|\\[uUx]""", re.MULTILINE
)
"""A pattern that matches every ``pyproject.toml`` with the table ``tool.clusterspec``, even if the key has escapes."""
DEEPEST = 16
"""Maximum number of dotted parts of a key; a configuration needs three."""


@dataclass(frozen=True)
class Override:
    """Settings for the files that match one of the patterns."""

    paths: tuple[str, ...]
    ignore: tuple[str, ...] = ()
    error: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    profile: str | None = None


@dataclass(frozen=True)
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
    text: tuple[str, ...] = ()
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
            if _matches_pattern(override.paths, self.root, path):
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
        return _matches_pattern(self.exclude, self.root, path, folder=folder)

    def includes_text(self, path: str) -> bool:
        """Whether a search of folders checks a running text."""
        return _matches_pattern(self.text, self.root, path)


def _matches_pattern(patterns: tuple[str, ...], root: Path, path: str, *, folder: bool = False) -> bool:
    if not patterns:
        return False
    from clusterspec.config.patterns import matches

    return matches(patterns, root, path, folder=folder)


def discover(folder: Path, cache: dict[Path, Config] | None = None) -> Config:
    """The configuration of the nearest parent folder that has one, up to the project root (the folder of ``.git``).

    ``cache`` caches the configurations read, for other folders below them. Raises `ConfigFault`.
    """
    folder, cache = folder.resolve(), {} if cache is None else cache
    for candidate in (folder, *folder.parents):
        for name in (FILE, _PYPROJECT):
            path = candidate / name
            if path not in cache and os.path.isfile(path):  # noqa: PTH113 — a folder we may not enter has none
                cache[path] = load(path)
            if path in cache and cache[path].file is not None:
                return cache[path]
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
    """The configuration in the bytes of a file. A file that configures other tools only is not parsed. Raises
    `ConfigFault`.
    """
    if len(data) > LARGEST:
        raise ConfigFault(f"{path}: larger than {LARGEST // 1024} KiB, the maximum")
    if path.name == _PYPROJECT and not _MAY_HAVE_TABLE.search(data):
        return Config()
    import tomllib  # most projects configure other tools only

    try:
        text = data.decode("utf-8")
        if has_deeply_dotted_key(text):
            raise ConfigFault(f"{path}: a key of more than {DEEPEST} parts")
        table: Any = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise (
            error if isinstance(error, ConfigFault) else ConfigFault(f"{path}: not TOML: {_toml_error_reason(error)}")
        ) from None
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
    return _typed_config(table, path)


def _toml_error_reason(error: Exception) -> str:
    """The reason why a text is not TOML, for the error message."""
    if isinstance(error, RecursionError):
        return "lists or tables nested too deeply"
    return "a number of more than 4300 digits" if "integer string conversion" in str(error) else str(error)


def has_deeply_dotted_key(text: str) -> bool:
    """Whether a key of a TOML text has more than `DEEPEST` dotted parts, for which tomllib needs quadratic memory."""
    if text.count(".") <= DEEPEST:
        return False
    part = r"""(?:(?<![\w-])[\w-]+|(?<![\\\w])"(?:[^"\\\n]|\\.){0,1000}"|'[^'\n]{0,1000}')[ \t]*\.[ \t]*"""
    return re.search(f"(?:{part}){{{DEEPEST},}}", text, re.ASCII) is not None


def _typed_config(table: dict[str, Any], path: Path) -> Config:
    """The typed configuration of a validated table."""
    values = {key.replace("-", "_"): _hashable_value(value) for key, value in table.items()}
    for key in ("catalog", "rules"):
        if key in values:
            values[key] = tuple(path.parent / folder for folder in values[key])
    values["overrides"] = tuple(
        Override(**{key: _typed_value(key, _hashable_value(value)) for key, value in one.items()})
        for one in table.get("overrides", ())
    )
    return Config(file=path, **{key: _typed_value(key, value) for key, value in values.items()})


def _hashable_value(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _typed_value(key: str, value: Any) -> Any:
    if key == "severity":
        return {rule: Severity(word) for rule, word in value.items()}
    if key == "thresholds":
        return {rule: float(number) for rule, number in value.items()}
    return Severity(value) if key == "fail_on" else value
