"""Test thresholds in texts: the test, the figure, and what the figure applies to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.units import NUMBER_WORDS
from clusterspec.rules.readers.written_numbers import (
    MOST_MATCHES,
    NUMBER,
    count_in_text,
    number_in_text,
    without_other_machines,
)
from clusterspec.standard import pattern

_FLOPS = rf"{NUMBER} ?(t|p|e)(?:era|eta|xa)?(?:flop/?s?\b|f\b|flop/s\b)"
_FIGURE = pattern(_FLOPS)
_LINK_FIGURE = pattern(rf"{NUMBER} ?(g|t)(?:b(?:it)?(?:/s|ps)|b(yte)s?/s)(?![a-z])")
"""A rate in bits or bytes per second. Bytes are written `gbyte/s`, because `b` is ambiguous in a lowercase text."""
_BYTES_FIGURE = pattern(rf"{NUMBER} ?(g|t)(i)?b(?:yte)?(?:s)?/s(?![a-z])")
_SCALE = {"g": 1e9, "t": 1e12, "p": 1e15, "e": 1e18}
TESTS = {
    "hpl": r"(?:hpl|linpack|rmax)\b(?!-| ?mxp| ?ai)|fp64\b|double[- ]precision|doppelter genauigkeit|double précision|doble precisión",
    "hpcg": r"hpcg\b",
    "verbs": r"(?:ib_(?:write|read|send)_bw|perftest|rdma write test)\b",
    "memory": r"(?:stream(?: triad)?|babelstream|hbm (?:copy|read|bandwidth)|device[- ]memory bandwidth)\b",
}
"""For each test, the pattern of its names; the first match applies."""
_TEST = pattern("|".join(rf"\b(?P<{name}>(?:{words}))" for name, words in TESTS.items()))
_OTHER_PRECISION = pattern(
    r"\b(?:mxp|hpl-ai|mixed|emulat\w*|ozaki|fp8|fp16|bf16|fp4|tf32|fp32|int8|gemischt\w*|mixte|mixta)\b"
)
_WITHOUT = pattern(
    r"\b(?:without|no|not|neither|nor|excluding|never|ohne|keine?|sans|sin)\b(?: an?y?| the| any)?(?: [a-z-]{2,14}){0,2}? (?:mxp|mixed|emulat\w*|ozaki|fp8|fp16|bf16|fp4|tf32|fp32|int8|gemischt\w*|mixte|mixta)(?:[- ]precision\w*)?"
)
_PER_DEVICE = pattern(
    r"\b(?:per|each|every|a|an|je|pro|jede\w*|par|chaque|por|cada) (?:gpu|accelerator|device|card|chip|gcd|beschleuniger|carte)\b|/ ?gpu\b"
)
_PER_NODE = pattern(
    r"\b(?:per|each|every|a|je|pro|jede\w*|par|chaque|por|cada|one|single) (?:node|server|system|machine|host|knoten|nœud|nodo|servidor)\b|/ ?node\b"
)
_NODES = pattern(
    rf"(?<![\w.,])(\d{{1,3}}(?:,\d{{3}})+|\d{{1,5}}|{'|'.join(NUMBER_WORDS)}) (?:dgx |hgx |gpu |compute )?(?:[a-z]{{1,2}}\d{{2,3}}[a-z]? )?(?:nodes?|servers?|systems?|machines|knoten|nœuds|nodos|servidores)\b"
)
_DEVICES = pattern(r"(?<![\w.,])(\d{1,3}(?:,\d{3})+|\d{1,6}) (?:gpus|accelerators|gcds|beschleuniger)\b")
_NOT_ASKED = pattern(
    r"\b(?:peak|rpeak|theoretical|nameplate|paper|spitze\w*|théorique|teóric\w*|pico|instead of|rather than|not (?!less|below|under|lower|fewer|worse)|was|were|reached|had|would|cannot|could not|predecessor|old|frontier|top500)\b"
)
"""Pattern of words before a figure that is not a threshold of a test."""
_NOT_REACHED = pattern(
    r"^[^.;,]{0,24}\b(?:would|exceeds?|cannot|could not|is (?:above|more than|beyond|impossible)|are (?:above|beyond|impossible)|wäre|übersteigt|dépasse\w*|superaría|excede)\b"
)
"""Pattern of words after a figure that is not a threshold of a test."""
_BOTH_WAYS = pattern(
    r"(?:^|\s)(?:-b|--bidirectional)(?![\w-])|\b(?:bi-?directional\w*|bidir\w*|both (?:ways|directions)|full[- ]duplex|beide\w* richtungen|bidirektional\w*|bidirectionnel\w*|deux sens|bidireccional\w*|ambas direcciones)\b"
)
_LATER = pattern(r"\b(?:upgrade\w*|next[- ]generation|later|future|nachrüst\w*|später|ultérieur\w*)\b")
_TOGETHER = pattern(
    r"\b(?:together|combined|aggregated?|in total|in sum|zusammen|insgesamt|ensemble|au total|en total|juntos)\b"
)
_ITEM = pattern(r"\(\d{1,2}\)|\(?[a-h]\)|;|\. |, then\b")


class TestFigure(NamedTuple):
    """A figure that a test must reach, in SI units (FLOP/s or B/s per direction).

    ``nodes`` or ``devices`` is the number that run the test together; both are None if the figure is for the whole
    machine.
    """

    test: str
    text: str
    value: float
    nodes: int | None
    devices: int | None


def test_figures(text: str) -> Iterator[TestFigure]:
    """The thresholds of tests in a text in lower case, without those of another machine.

    >>> [*test_figures("(1) hpl in native fp64 on all 48 systems, without emulation, at least 9.0 pflop/s; (2) other")]
    [TestFigure(test='hpl', text='9.0 pflop/s', value=9000000000000000.0, nodes=48, devices=None)]
    >>> [*test_figures("ib_write_bw on every port at 380 gb/s or more")]
    [TestFigure(test='verbs', text='380 gb/s', value=47500000000.0, nodes=None, devices=None)]
    >>> [*test_figures("hpl of 400 tflop/s per node"), *test_figures("hpl-mxp 40 pflop/s"), *test_figures("fp64 peak of 2 pflop/s")]
    [TestFigure(test='hpl', text='400 tflop/s', value=400000000000000.0, nodes=1, devices=None)]
    """
    for item in _ITEM.split(text):
        if not without_other_machines(item):
            continue
        for match in islice(_TEST.finditer(item), 1):
            test = match.lastgroup or ""
            yield from _figures_of(test, item, match.start())


def _figures_of(test: str, item: str, start: int) -> Iterator[TestFigure]:
    kind = {"verbs": _LINK_FIGURE, "memory": _BYTES_FIGURE}.get(test, _FIGURE)
    found = [*islice(kind.finditer(item), MOST_MATCHES)]
    if test in {"hpl", "hpcg"} and _OTHER_PRECISION.search(_WITHOUT.sub("", item)) is not None:
        return
    if test == "verbs" and (_BOTH_WAYS.search(item) or _LATER.search(item)) is not None:
        return  # the sum of both directions, or other ports
    for match in found:
        between = item[max(0, min(start, match.start()) - 30) : match.start()]
        if _NOT_ASKED.search(between) is not None or _NOT_REACHED.search(item[match.end() :]) is not None:
            continue
        nodes, devices = _test_scope(item, match)
        if test == "verbs" and _TOGETHER.search(item) is not None:
            nodes, devices = 1, None
        yield TestFigure(test, match[0].strip(), _si_value(test, match), nodes, devices)


def _si_value(test: str, match: re.Match[str]) -> float:
    """The FLOP/s of a figure, or its B/s; link rates may be written in bits."""
    value = number_in_text(match[1]) * _SCALE[match[2]]
    if test == "verbs":
        return value if match[3] else value / 8
    return value


def _test_scope(item: str, match: re.Match[str]) -> tuple[int | None, int | None]:
    """The number of nodes, or of devices, that reach a figure together; both None if the text states neither."""
    around = item[max(0, match.start() - 40) : match.end() + 40]
    if _PER_DEVICE.search(around) is not None:
        return None, 1
    if _PER_NODE.search(around) is not None:
        return 1, None
    devices = {int(each.replace(",", "")) for each in _DEVICES.findall(item)}
    if len(devices) == 1:
        return None, devices.pop()
    nodes = {count_in_text(each.replace(",", "")) for each in _NODES.findall(item)}
    return (nodes.pop(), None) if len(nodes) == 1 else (None, None)
