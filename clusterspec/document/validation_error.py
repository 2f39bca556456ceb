"""An error of the schema validator with the texts that describe it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from clusterspec.document import conforms
from clusterspec.document.conforms import Schema
from clusterspec.document.model import Document, text_at
from clusterspec.document.schema import alternatives_text, one_line_text
from clusterspec.document.values import is_octal, scalar_value
from clusterspec.finding import Fix, Problem
from clusterspec.records import dataclass
from clusterspec.source import Path

# Coercion of values of the wrong type, where it is unambiguous

_GROUPED = re.compile(r"[0-9]{1,3}([_,][0-9]{3})+")
_THOUSANDS = re.compile(r"([0-9]{1,6}) ?[kK]")
_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]+)?) ?%")
_SEPARATED = re.compile(r"(?<![\d.,])[0-9]{1,3}(?:[ '’\u00a0\u202f][0-9]{3})+(?![\d'])")
"""A number in the notation of the given countries: 415 000, 415'000."""
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(?P<whole>[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]+),(?P<part>[0-9]{1,2})(?!\d)")
"""A number with a decimal comma, such as 415.000,00; a comma before three digits may separate thousands."""
_POINTS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3}){2,5}")
"""A number with several points, which can only separate thousands: 9.500.000."""
_PRODUCT = re.compile(r"[0-9]{1,5}(?: ?[xX×*] ?[0-9]{1,5}){1,5}")
"""Sizes along the axes of a torus, as clouds write them: 8x8x16."""
_AMOUNT = re.compile(
    r"(?P<before>[^\d\s.,+-]{0,8}) ?(?P<number>[0-9][0-9_,]*(?:\.[0-9]+)?) ?"
    r"(?P<scale>k|mio\.?|mrd\.?|mn|m|bn|b|thousand|million|billion)?(?P<after> ?[^\d\s.,+-]{0,8})",
    re.IGNORECASE,
)
_SCALES = {"k": 3, "thousand": 3, **dict.fromkeys(("m", "mn", "mio", "million"), 6), "b": 9, "bn": 9}
_SCALES |= {"billion": 9, "mrd": 9}
"""Decimal exponents of the words after an amount."""
_TRUTH = {"yes": "true", "on": "true", "true": "true", "no": "false", "off": "false", "false": "false"}


def coerced_text(value: Any, field: Schema, written: str) -> str | None:
    """The YAML text of a value in the schema's type; None if there is none or it is ambiguous."""
    kind = field.get("type")
    if kind == "boolean" and isinstance(value, str):
        return _TRUTH.get(value.lower())
    if kind == "array" and isinstance(value, str) and (sizes := _PRODUCT.fullmatch(value)):
        return f"[{', '.join(re.findall('[0-9]+', sizes[0]))}]" if _is_list_of_integers(field) else None
    if kind in ("integer", "number") and isinstance(value, str) and len(value) < 30:
        return _number_text(_without_unit(value, field.get("x-units", ())), field)
    if kind == "string" and "enum" not in field and isinstance(value, int | float) and written:
        return json.dumps(written)
    return None


def _is_list_of_integers(field: Schema) -> bool:
    return bool(field.get("items", {}).get("type") == "integer")


def thousands_advice(value: Any, field: Schema) -> str:
    """Advice for a whole number in thousands (`32K`), which may mean multiples of 1,024 or 1,000; empty for others.

    >>> thousands_advice("32k", {"type": "integer"}), thousands_advice("32 kB", {"type": "integer"})
    ('write `32768` (32 × 1,024) or `32000`', '')
    """
    match = _THOUSANDS.fullmatch(value) if field.get("type") == "integer" and isinstance(value, str) else None
    if match is None:
        return ""
    number = int(match[1])
    return f"write `{number * 1024}` ({number:,} × 1,024) or `{number * 1000}`"


def amount_advice(value: Any, field: Schema) -> str:
    """Advice for an amount of money with its currency or in thousands (`$480k`); empty for other values and keys.

    A point before three digits may separate thousands, so it gets no advice without a decimal comma behind it.

    >>> amount_advice("480000 USD", {"x-amount": True})
    'write `480000`; `procurement.currency` names the currency'
    >>> [amount_advice(each, {"x-amount": True})[:16] for each in ("$1.2M", "0.125 EUR/kWh", "480.000 EUR")]
    ['write `1200000`;', 'write `0.125`; `', '']
    >>> [amount_advice(each, {"x-amount": True})[:15] for each in ("€ 415.000,00", "415 000 EUR", "1,2 Mio. EUR")]
    ['write `415000`;', 'write `415000`;', 'write `1200000`']
    """
    if not (field.get("x-amount") and isinstance(value, str) and len(value) < 30):
        return ""
    match = _AMOUNT.fullmatch(_with_decimal_point(value))
    if match is None or ("," in match["number"] and not _GROUPED.fullmatch(match["number"].partition(".")[0])):
        return ""
    if re.fullmatch(r"[1-9][0-9]{0,2}\.[0-9]{3}", match["number"]) and not match["scale"]:
        return ""
    number = Decimal(re.sub("[_,]", "", match["number"])).scaleb(
        _SCALES.get((match["scale"] or "").lower().rstrip("."), 0)
    )
    return f"write `{number.normalize():f}`; `procurement.currency` names the currency"


def _with_decimal_point(text: str) -> str:
    """The text of an amount with a decimal point and without thousands separators; unchanged if it could be read in two
    ways.

    >>> _with_decimal_point("415.000,00 EUR"), _with_decimal_point("415'000 CHF"), _with_decimal_point("1,200 USD")
    ('415000.00 EUR', '415000 CHF', '1,200 USD')
    """
    joined = _SEPARATED.sub(lambda match: "".join(each for each in match[0] if each.isdecimal()), text)
    return _DECIMAL_COMMA.sub(lambda match: f"{match['whole'].replace('.', '')}.{match['part']}", joined)


def _without_unit(text: str, units: Sequence[str]) -> str:
    """The text without the unit that the key implies.

    >>> _without_unit("12 req/s", ["/s", "req/s"]), _without_unit("12 ms", ["/s"])
    ('12', '12 ms')
    """
    number = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/ ")
    return number if text[len(number) :].strip().lower() in units else text


def _number_text(text: str, field: Schema) -> str | None:
    if match := _PERCENT.fullmatch(text):
        number: Any = float(match[1]) / 100
    elif _GROUPED.fullmatch(text):
        number = scalar_value(text.replace("_", "").replace(",", ""))
    elif _POINTS.fullmatch(text):
        number = scalar_value(text.replace(".", ""))
    else:
        number = scalar_value(_with_decimal_point(text) if field["type"] == "number" else text)
    if not isinstance(number, int | float) or isinstance(number, bool) or not math.isfinite(number):
        return None
    if field["type"] == "integer" and number != math.floor(number):
        return None
    if not field.get("minimum", -math.inf) <= number <= field.get("maximum", math.inf):
        return None
    return f"{number:.12g}" if isinstance(number, float) else str(number)


TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "`true` or `false`",
    "array": "a list",
    "object": "a mapping",
}


@dataclass(frozen=True)
class ValidationError:
    """An error of the validator at a path, with the document and schema needed to describe it."""

    error: Any
    path: Path
    document: Document
    schema: Schema
    field: Schema
    """The schema of the key at ``path``."""

    @property
    def value(self) -> Any:
        return self.error.instance

    @property
    def limit(self) -> Any:
        """The value of the failed keyword."""
        return self.error.validator_value

    @property
    def name(self) -> str:
        """The key, for use in a sentence."""
        if not self.path:
            return "the document"
        last = self.path[-1]
        if isinstance(last, str):
            return f"`{one_line_text(last)}`"
        return f"item {last + 1} of `{one_line_text(self.path[-2])}`" if len(self.path) > 1 else f"item {last + 1}"

    @property
    def written(self) -> str:
        """The value as written, for use in a sentence."""
        if isinstance(self.value, dict | list):
            return "a mapping" if isinstance(self.value, dict) else "a list"
        text = text_at(self.document, self.path)
        return f"`{one_line_text(text if text and not text.startswith('*') else str(self.value))}`"

    @property
    def expected(self) -> str:
        """The expected type or choices, for use in a sentence."""
        return expected_text(self.field or self.error.schema, self.schema)

    @property
    def advice(self) -> str:
        """The suggested fix, with the schema's first example."""
        line = example_line(self.path, self.field)
        if "enum" in self.field:
            return f"write {alternatives_text([str(choice) for choice in self.field['enum']])}"
        return f"write {self.expected}" + (f", such as `{line}`" if line else "")

    def problem(self, rule: str, message: str, advice: str = "", fix: Fix | None = None) -> Problem:
        return Problem(self.field.get("x-rule", rule), self.path, message, advice, fix=fix)


def expected_text(node: Schema, root: Schema) -> str:
    """The expected type or choices of a key, for use in a sentence."""
    if "x-quantity" in node:
        return "a quantity"
    if "enum" in node:
        return "one of its choices"
    if "const" in node:
        return f"`{node['const']}`"
    kinds = node.get("type", [])
    words = [TYPES[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    alternatives = (*node.get("anyOf", ()), *node.get("oneOf", ()))
    words += [expected_text(conforms.resolved_node(alternative, root), root) for alternative in alternatives]
    return " or ".join(dict.fromkeys(words)) or "another value"


def example_line(path: Path, node: Schema) -> str:
    """The first example of a key as a YAML line; empty if the schema has none."""
    if not node.get("examples"):
        return ""
    value = node["examples"][0]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False).replace('"', "")
    return f"{path[-1]}: {text}" if path and isinstance(path[-1], str) else text


def kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return "a truth value"
    if isinstance(value, float):
        return "a fraction" if math.isfinite(value) else "not a finite number"
    if isinstance(value, str) and is_octal(value):
        return f"{int(value, 8)} where YAML 1.1 is read (octal), and {int(value)} where YAML 1.2 is"
    return "a number" if isinstance(value, int) else "nothing" if value is None else "text"
