"""Lists in prose, and values as YAML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from clusterspec.units.display import joined_words


def or_list(values: Iterable[object]) -> str:
    """A list joined by `or`.

    >>> or_list([1, 2, 4]), or_list([8])
    ('1, 2 or 4', '8')
    """
    return joined_words(values, "or")


def and_list(values: Iterable[object]) -> str:
    """A list joined by `and`.

    >>> and_list(["tp 8", "cp 2"])
    'tp 8 and cp 2'
    """
    return joined_words(values, "and")


LONGEST_NAME = 60
"""Largest number of characters of the name of a part in a message."""


def name_of_part(text: str | None) -> str:
    """The description of a quoted part for a message; a long one is cut after a whole word and marked as cut.

    >>> name_of_part("DGX H200"), name_of_part(None)
    ('DGX H200', '')
    >>> name_of_part("MPO-12/APC jumper OS2 type B, male-male (pinned both ends), 30 m")
    'MPO-12/APC jumper OS2 type B, male-male (pinned both ends) …'
    """
    name = " ".join((text or "").split())
    if len(name) <= LONGEST_NAME:
        return name
    kept = name[: LONGEST_NAME + 1].rpartition(" ")[0] or name[:LONGEST_NAME]
    return kept.rstrip(" ,;:-–—(") + " …"


def as_yaml(value: object) -> str:
    """A value as YAML; lists are on one line.

    >>> as_yaml(True), as_yaml(("tp", "pp"))
    ('true', '[tp, pp]')
    """
    if isinstance(value, bool):
        return str(value).lower()
    return f"[{', '.join(map(str, value))}]" if isinstance(value, list | tuple) else str(value)


def changed_keys(changes: Mapping[str, object], removed: Iterable[str] = ()) -> str:
    """Changed keys as written in a spec, to be put between two backticks; keys that are None are omitted. Keys that
    must be ``removed`` follow in backticks of their own.

    >>> changed_keys({"tp": 8, "dp": None, "overlap": True})
    'tp: 8, overlap: true'
    >>> f"`{changed_keys({'pp': 2}, ['stage_layers'])}`"
    '`pp: 2` without `stage_layers`'
    """
    written = ", ".join(f"{key}: {as_yaml(value)}" for key, value in changes.items() if value is not None)
    absent = " and ".join(f"`{key}`" for key in removed)
    return f"{written}` without {absent}"[:-1] if absent else written
