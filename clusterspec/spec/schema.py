"""The JSON Schema of specs, read once."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from clusterspec import resources


@cache
def schema() -> dict[str, Any]:
    """The schema shared by editors and the reader. Annotations: ``x-quantity`` is the kind of a
    quantity, ``x-maximum`` its largest SI value, ``x-zero`` allows zero, ``x-unused`` marks a key
    that nothing uses yet, ``x-synonyms`` are synonyms of choices, ``x-rule`` is the rule of errors.
    """
    text = (resources.schemas() / "spec.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded
