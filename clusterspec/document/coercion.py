"""Coercion of values of the wrong type, where it is unambiguous."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from clusterspec.document.scalars import resolve
from clusterspec.document.schema_nodes import Schema

_GROUPED = re.compile(r"[0-9]{1,3}([_,][0-9]{3})+")
_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]+)?) ?%")
_TRUTH = {"yes": "true", "on": "true", "true": "true", "no": "false", "off": "false", "false": "false"}


def coerced(value: Any, field: Schema, written: str) -> str | None:
    """The YAML text of a value in the schema's type; None if there is none or it is ambiguous."""
    kind = field.get("type")
    if kind == "boolean" and isinstance(value, str):
        return _TRUTH.get(value.lower())
    if kind in ("integer", "number") and isinstance(value, str) and len(value) < 30:
        return _number(value, field)
    if kind == "string" and "enum" not in field and isinstance(value, int | float) and written:
        return json.dumps(written)
    return None


def _number(text: str, field: Schema) -> str | None:
    if match := _PERCENT.fullmatch(text):
        number: Any = float(match[1]) / 100
    else:
        number = resolve(text.replace("_", "").replace(",", "") if _GROUPED.fullmatch(text) else text)
    if not isinstance(number, int | float) or isinstance(number, bool) or not math.isfinite(number):
        return None
    if field["type"] == "integer" and number != math.floor(number):
        return None
    if not field.get("minimum", -math.inf) <= number <= field.get("maximum", math.inf):
        return None
    return f"{number:.12g}" if isinstance(number, float) else str(number)
