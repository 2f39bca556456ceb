"""Readings of the facts in the text of a data sheet, written as in a catalog entry."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from clusterspec.exchange.data_sheets.rows import Row
from clusterspec.records import NamedTuple

Value = int | float | str | list[str] | dict[str, object]
LONGEST_PRINT = 80
NUMBER = r"(\d{1,3}(?:,\d{3}){1,4}(?:\.\d{1,4})?|\d{1,7}(?:\.\d{1,4})?)"


class Reading(NamedTuple):
    """A fact by its dotted name, its value as written in an entry, the text that states it, and its line.

    ``lacks`` names a required part that the text does not state; such a reading is not yet a figure.
    """

    fact: str
    value: Value
    prints: str
    line: int
    lacks: str = ""


class Rule(NamedTuple):
    """Where a fact is found: patterns for its label and its value. ``write`` makes the value from the match."""

    fact: str
    label: re.Pattern[str] | None
    value: re.Pattern[str]
    write: Callable[[re.Match[str]], Value]


def rule(fact: str, label: str, value: str, write: Callable[[re.Match[str]], Value]) -> Rule:
    """A rule; without a label it applies to sentences. ``#`` in a value stands for a number, with or without commas."""
    labels = re.compile(label, re.IGNORECASE) if label else None
    return Rule(fact, labels, re.compile(value.replace("#", NUMBER), re.IGNORECASE), write)


def readings_of(rows: Sequence[Row], rules: Sequence[Rule]) -> Iterator[Reading]:
    """The readings of rules on the rows, in the order of the rules. Rules with labels are not applied to sentences."""
    for each in rules:
        for row in rows:
            if bool(row.label) != (each.label is not None) or (each.label and not each.label.search(row.label)):
                continue
            for match in each.value.finditer(row.value):
                yield Reading(each.fact, each.write(match), printed_text(match[0]), row.line)
                if each.label:
                    break


def printed_text(text: str) -> str:
    """A text of the sheet as an entry prints it: on one line, shortened."""
    return " ".join(text.split())[:LONGEST_PRINT]


def printed_number(text: str) -> float:
    """A number as sheets print it.

    >>> printed_number("1,979"), printed_number("3.35")
    (1979.0, 3.35)
    """
    return float(text.replace(",", ""))


def figure(value: float, unit: str) -> str:
    """A number with its unit, without unnecessary decimals.

    >>> figure(3.35 * 1000, "GB/s"), figure(0.5, "W")
    ('3350 GB/s', '0.5 W')
    """
    return f"{round(value, 4):g} {unit}" if value < 1e6 else f"{value:.0f} {unit}"


def watts(match: re.Match[str]) -> str:
    """The power that a match of a number and a unit states.

    >>> watts(re.match("(.*) (kW)", "10.2 kW"))
    '10.2 kW'
    """
    return figure(printed_number(match[1]), "kW" if match[2].lower() == "kw" else "W")


# Peaks: which precisions a label names, and whether a figure is with sparsity

_PRECISION = re.compile(
    r"\b(bf16|bfloat16|fp16|half[- ]precision|fp8|nvfp4|mxfp4|fp4|tf32|fp32|int8)\b(?! ?(?:accum|output))",
    re.IGNORECASE,
)
_NAMES = {"bfloat16": "bf16", "nvfp4": "fp4", "mxfp4": "fp4"}
_RATE = re.compile(rf"{NUMBER}\s?(?:([TP])(?:era|eta)?\s?)(?:FLOPS?|FLOP/s|OPS?|OP/s)\b", re.IGNORECASE)
_SPARSE, _DENSE = (
    re.compile(r"(?<!without )(?<!w/o )\b(?:sparsity|sparse)\b", re.IGNORECASE),
    re.compile(r"\bdense\b|without (?:structured )?sparsity", re.IGNORECASE),
)
_ALL_SPARSE = re.compile(r"(?:all|specifications?|shown|figures)\b[^.]{0,90}\bwith sparsity", re.IGNORECASE)
_MARK = re.compile(r"[*¹²³†‡]|\s\d$")
_MARKED_SPARSE = re.compile(r"(?:^|\s)[*¹²³†‡]{1,3}\s{0,3}[^.]{0,60}\b(?:with|include[sd]?) sparsity", re.IGNORECASE)


def peak_readings(rows: Sequence[Row]) -> Iterator[Reading]:
    """The peaks of an accelerator, dense and sparse.

    A figure is sparse if its row, the footnote at its mark or the sheet says so. If one of two figures of the same
    precision is twice the other, the larger is sparse. What no text decides lacks the word.
    """
    whole = " ".join(row.value for row in rows if not row.label)
    found = [each for row in rows if row.label and "fp64" not in row.label.lower() for each in _peaks_of(row, whole)]
    values: dict[str, set[float]] = {}
    for name, rate, *_ in found:
        values.setdefault(name, set()).add(rate)
    for name, rate, said, text, line in found:
        double, half = 2 * rate in values[name], rate / 2 in values[name]
        kind = said or ("dense" if double else "sparse" if half else "")
        place = "sparse_peak" if kind == "sparse" else "peak"
        lacks = "" if kind else "the text says neither dense nor with sparsity"
        yield Reading(f"{place}.{name}", f"{figure(rate, 'TFLOP/s')} {kind}".strip(), text, line, lacks)


def _peaks_of(row: Row, whole: str) -> Iterator[tuple[str, float, str, str, int]]:
    """The peaks of a row: precision, TFLOP/s, `dense` or `sparse` if the sheet states it, the text, and the line."""
    rates = [(printed_number(m[1]) * (1000 if m[2].lower() == "p" else 1), m) for m in _RATE.finditer(row.value)]
    for word in dict.fromkeys(_PRECISION.findall(row.label)):
        name = _NAMES.get(word.lower(), "fp16" if "half" in word.lower() else word.lower())
        for rate, match in rates:
            kind = "dense" if name == "fp32" else _kind_of(row, match, whole)
            yield name, rate, kind, printed_text(match[0]), row.line


def _kind_of(row: Row, match: re.Match[str], whole: str) -> str:
    context = row.label + row.value[match.end() : match.end() + 40]
    if _DENSE.search(context):
        return "dense"
    if _SPARSE.search(context):
        return "sparse"
    if _MARK.search(row.value[match.end() : match.end() + 3]) and _MARKED_SPARSE.search(whole):
        return "sparse"
    return "sparse" if _ALL_SPARSE.search(whole) and not _MARK.search(row.value[: match.end() + 3]) else ""
