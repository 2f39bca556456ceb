"""The keys of a framework configuration, each with its line, and which of them were used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clusterspec.exchange.import_result import ImportBuilder, Value
from clusterspec.records import dataclass, field
from clusterspec.units import plural

LARGEST_COUNT = 10**12
Table = Mapping[str, tuple[str, ...]]
"""Keys of the spec, and the names that a framework has for each."""


@dataclass(slots=True)
class Keys:
    """Flat dotted keys, with hyphens as underscores; ``used`` are the keys that were imported."""

    values: dict[str, tuple[Any, int]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def put(self, name: str, value: Any, line: int) -> None:
        self.values[name.replace("-", "_")] = (value, line)

    def find(self, *names: str) -> str | None:
        """The first of some names that exists, as a full key or as the end of a dotted one."""
        for name in names:
            if name in self.values:
                return name
        for name in names:
            ending = f".{name}"
            if found := next((key for key in self.values if key.endswith(ending)), None):
                return found
        return None

    def get(self, *names: str) -> Any:
        """The value of a key by any of its names; None if it is absent."""
        found = self.find(*names)
        if found is None:
            return None
        self.used.add(found)
        return self.values[found][0]

    def line(self, *names: str) -> int:
        found = self.find(*names)
        return self.values[found][1] if found else 0

    def whole(self, *names: str) -> int | None:
        """A positive integer; None if the key is absent or has another value."""
        return whole_of(self.get(*names))

    def on(self, *names: str) -> bool:
        """Whether a flag is on; a flag without a value is."""
        return truth(self.get(*names)) is True

    def unused(self) -> list[str]:
        return [key for key in self.values if key not in self.used]


def whole_of(value: Any) -> int | None:
    """A positive integer from a number or its text, else None.

    >>> whole_of("8"), whole_of(8.0), whole_of("8_192"), whole_of(True), whole_of("x"), whole_of(0)
    (8, 8, 8192, None, None, None)
    """
    if isinstance(value, str) and value.replace("_", "").isdecimal() and len(value) < 20:
        value = int(value.replace("_", ""))
    if isinstance(value, float) and abs(value) < LARGEST_COUNT and value == int(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LARGEST_COUNT:
        return None
    return value


def truth(value: Any) -> bool | None:
    """A boolean as frameworks write it; None if it is not one."""
    if isinstance(value, bool) or value is None:
        return value
    return {"true": True, "1": True, "yes": True, "on": True, "": True}.get(str(value).strip().lower()) or (
        False if str(value).strip().lower() in {"false", "0", "no", "off"} else None
    )


def flat(value: Any, line_of: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str, Any, int]]:
    """The leaves of a mapping with dotted name, value and line; ``line_of`` maps a path to its line."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from flat(inner, line_of, (*path, key))
    elif path:
        yield ".".join(map(str, path)), value, line_of(*path)


def set_counts(keys: Keys, table: Table, builder: ImportBuilder) -> None:
    """Set the counts of a table of paths and key names; a value that is not a count is recorded as unknown."""
    for path, names in table.items():
        found = keys.find(*names)
        if found is None:
            continue
        value = keys.get(*names)
        count = whole_of(value)
        if count is not None:
            builder.set(path, count, keys.line(*names))
        elif value is not None and str(value) not in {"-1", "0", "None", "null", "False", "false"}:
            builder.unknown(
                f"{found}: {str(value)[:60]}", "not an integer: a variable, or computed elsewhere", keys.line(*names)
            )


def set_choice(
    keys: Keys, path: str, names: tuple[str, ...], choices: Mapping[str, Value], builder: ImportBuilder
) -> None:
    """Set a key from a framework's word for its value; an unmapped word is recorded as unknown."""
    value = keys.get(*names)
    if value is None:
        return
    word = str(value).strip().lower()
    if word in choices:
        builder.set(path, choices[word], keys.line(*names))
    else:
        builder.unknown(f"{keys.find(*names)}: {word[:60]}", f"no value of {path} corresponds to it", keys.line(*names))


def list_unused(keys: Keys, builder: ImportBuilder) -> None:
    """Record the keys that were not used, in one entry."""
    unused = keys.unused()
    if unused:
        shown = ", ".join(unused[:12]) + (", …" if len(unused) > 12 else "")
        builder.unknown(plural(len(unused), "key"), f"not imported: {shown}")
