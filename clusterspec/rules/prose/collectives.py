"""Figures of collectives and of bisections: which metric, which cut, how much traffic."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clusterspec.rules.prose.document import Text
from clusterspec.rules.prose.expressions import equations
from clusterspec.rules.prose.factors import near
from clusterspec.rules.prose.lexicon import Channel, Hint, Mark, Scope
from clusterspec.rules.prose.scan import Sort, Token
from clusterspec.rules.prose.sentence import Sentence
from clusterspec.rules.prose.text import Kind
from clusterspec.rules.prose.told import Told
from clusterspec.units import plain, say

SECTION = 6
"""Sentences to each side in which the metric may be named."""
LIKE = 5
"""How many times the lesser of two rates the greater may be, where the one is held against the other."""
BESIDE = 3
"""How near a collective may stand to a rate that is then its own."""
_RATES = frozenset(
    [
        "bandwidth",
        "throughput",
        "rate",
        "speed",
        "achieves",
        "achieve",
        "reaches",
        "reach",
        "measured",
        "effective",
        "delivers",
        "get",
        "gets",
    ]
)
_SPECIFIED = frozenset(
    [
        "theoretical",
        "advertised",
        "spec",
        "nominal",
        "line",
        "peak",
        "link",
        "interconnect",
        "fabric",
        "over",
        "at",
        "using",
        "with",
    ]
)
_SHARDED = re.compile(r"(?i)\b(?:zero[- ]?(?:stage[- ]?)?3|fsdp)\b")
_PLAIN = frozenset(["dp", "ddp", "vanilla"])
_TRAFFIC = frozenset(["communication", "bandwidth", "traffic", "volume"])
SHARDED_OVER_PLAIN = 1.5
"""Two all-gathers and a reduce-scatter against an all-reduce: three passes against two (Rajbhandari et al., ZeRO, 7.2)."""


def metrics(text: Text) -> Iterator[Told]:
    """An all-reduce figure that is neither called algbw nor busbw, a factor of up to two."""
    named = [at for at, sentence in enumerate(text.sentences) if sentence.has(Hint.METRIC)]
    covered = {at for where in named for at in range(where - SECTION, where + SECTION + 1)}
    for at, sentence in enumerate(text.sentences):
        if sentence.kind is Kind.HEADING or not sentence.has(Hint.COLLECTIVE) or not sentence.quantities:
            continue
        if at in covered or _compared(sentence):
            continue
        for where in sentence.quantities:
            token = sentence.words[where]
            if token.unit == "B/s" and _is_rate(sentence, where) and not _is_link(sentence, where, text):
                message = (
                    f"{token.written} of a collective does not say whether it is algbw or busbw, a factor of up to two"
                )
                yield Told(
                    "metric-unsaid", token, message, "write `busbw` or `algbw` behind it, as nccl-tests names them"
                )
                break


def _compared(sentence: Sentence) -> bool:
    """Whether a figure is set beside the link's own: that is how bus bandwidth is judged."""
    rates = [sentence.words[at].value for at in sentence.quantities if sentence.words[at].unit == "B/s"]
    share = any(token.text == "%" for token in sentence.words)
    return share or (len(rates) > 1 and min(rates) < max(rates) <= LIKE * min(rates))


def _is_rate(sentence: Sentence, at: int) -> bool:
    """Whether a quantity is what a collective reaches: the words around it say so, and none that it is a link's."""
    around = set(sentence.between(max(0, at - 10), at + 8))
    before = set(sentence.between(max(0, at - 2), at))
    beside = sentence.said.get(at, {}).get(Hint.COLLECTIVE, BESIDE + 1) <= BESIDE
    measured = beside or sentence.has(Hint.MEASURED) or bool(around & _RATES)
    return measured and not before & _SPECIFIED


def _is_link(sentence: Sentence, at: int, text: Text) -> bool:
    """Whether a rate is a link's own, which nobody says was measured."""
    return not sentence.says(at, Hint.MEASURED) and _is_known(sentence, at, text)


def _is_known(sentence: Sentence, at: int, text: Text) -> bool:
    """Whether a quantity is a figure of hardware that the text names."""
    token = sentence.words[at]
    subjects = [text.settled(subject, sentence.before) for subject in text.subjects]
    return not token.ranged and any(
        near(token.value, fact.value * way, 0.03)
        for subject in subjects
        for fact in text.known.of(subject)
        if fact.unit == "B/s"
        for way in (1, 2)
    )


def bisections(sentence: Sentence, text: Text) -> Iterator[Told]:
    """A bisection that is an injection: per accelerator, or the sum of all that go in."""
    for mark in sentence.marks:
        if mark.meaning is Hint.BISECTION:
            yield from _summed(sentence, mark)
            for at in sentence.quantities:
                token = sentence.words[at]
                if token.unit == "B/s" and not token.ranged and _is_bisection(sentence, mark, at):
                    yield from _bisection(sentence, at, text)


def _summed(sentence: Sentence, mark: Mark) -> Iterator[Told]:
    """`bisection bandwidth: 64 nodes × 3.2 Tb/s = 204.8 Tb/s`: the sum of all that go in, without a half."""
    for equation in equations(sentence.words, ()):
        token = sentence.words[equation.result]
        said = list(sentence.between(equation.start, equation.result))
        if (
            mark.end <= equation.start <= mark.end + 4
            and token.unit == "B/s"
            and equation.parts > 1
            and "/" not in said
        ):
            message = f"{token.written} is the sum of all that goes in, twice the bisection"
            yield Told("injection-called-bisection", token, message, f"write {say(token.value / 2, 'B/s')}")


def _is_bisection(sentence: Sentence, mark: Mark, at: int) -> bool:
    """Whether a quantity is the bisection: `bisection bandwidth of 3.6 TB/s`, `3.6 TB/s of bisection bandwidth`."""
    if at >= mark.end:
        names = {index for named in sentence.named for index in range(named.start, named.end)}
        between = [
            word.text.lower()
            for index, word in enumerate(sentence.words[mark.end : at], mark.end)
            if index not in names
        ]
        return len(between) <= 6 and all(word in _OF_BISECTION for word in between)
    between = list(sentence.between(at + 1, mark.start))
    follows = list(sentence.between(mark.end, mark.end + 1))
    return len(between) <= 4 and all(word in _OF_BISECTION for word in between) and follows == ["bandwidth"]


_OF_BISECTION = frozenset(
    [
        "bandwidth",
        "width",
        "of",
        "is",
        "are",
        ":",
        "=",
        "at",
        "(",
        "the",
        "a",
        "full",
        "total",
        "its",
        "per",
        "gpu",
        "direction",
        "bidirectional",
        "~",
        "about",
    ]
)


def _bisection(sentence: Sentence, at: int, text: Text) -> Iterator[Told]:
    token = sentence.words[at]
    if sentence.scope(at) is Scope.DEVICE and _injected(token.value, text):
        message = f"{token.written} is what one accelerator can send; a bisection is of the whole system, half of all that go in"
        yield Told("injection-called-bisection", token, message, "call it injection bandwidth, or give the bisection")
        return
    for one in (sentence.words[other] for other in sentence.quantities if other != at):
        for count in sentence.counts:
            if one.unit == "B/s" and count.value > 1 and near(token.value, one.value * count.value, 0.02):
                half = say(token.value / 2, "B/s")
                message = (
                    f"{token.written} is {count.value:.0f} times {one.written}: all that goes in, twice the bisection"
                )
                yield Told("injection-called-bisection", token, message, f"write {half}, in the same direction")
                return
    yield from _bisection_of_platform(sentence, token, text)


def _injected(value: float, text: Text) -> bool:
    """Whether a value is the injection of an accelerator that the text names, in either direction."""
    return any(
        near(value, fact.value * way, 0.05)
        for ids in text.families.values()
        for id_ in ids
        for fact in text.known.entry("interconnect", id_)
        if fact.scope is Scope.DEVICE and fact.channel is Channel.SCALE_UP
        for way in (1, 2)
    )


def _bisection_of_platform(sentence: Sentence, token: Token, text: Text) -> Iterator[Told]:
    """All accelerators of a node together, called its bisection."""
    for named in sentence.named:
        facts = text.known.of(named.subject) if named.subject.kind == "platform" else ()
        scale_up = [fact for fact in facts if fact.channel is Channel.SCALE_UP]
        halves = [fact.value for fact in scale_up if fact.scope is Scope.SUM]
        for fact in (fact for fact in scale_up if fact.scope is Scope.NODE):
            if near(token.value, 2 * fact.value, 0.04) and not any(
                near(token.value, h * w, 0.05) for h in halves for w in (1, 2)
            ):
                message = f"{token.written} is {fact.what} of {fact.whose}: all that goes in, twice the bisection"
                yield Told("injection-called-bisection", token, message, f"write {say(token.value / 2, 'B/s')} duplex")
                return


def volumes(sentence: Sentence) -> Iterator[Told]:
    """Fully sharded data parallelism sends 1.5 times what an all-reduce does, not three times."""
    words = sentence.words
    said = " ".join(token.text for token in words)
    if not _SHARDED.search(said.replace(" - ", "-")) or not _PLAIN & set(sentence.between(0, len(words))):
        return
    for at, token in enumerate(words[:-1]):
        times = words[at + 1].text in ("x", "×", "times")
        behind = list(sentence.between(at + 2, at + 8))
        if token.sort is Sort.NUMBER and times and 1.8 <= token.value <= 6 and _is_traffic(behind):
            message = (
                f"ZeRO-3 sends {SHARDED_OVER_PLAIN}× what data parallelism with an all-reduce does, not {plain(token.value)}×:"
                " two all-gathers and a reduce-scatter against a reduce-scatter and an all-gather"
            )
            yield Told("arithmetic-does-not-close", token, message, f"write {SHARDED_OVER_PLAIN}×")


def _is_traffic(words: Sequence[str]) -> bool:
    return bool(_TRAFFIC & set(words)) and "memory" not in words


def times(sentence: Sentence, text: Text) -> Iterator[Told]:
    """An all-reduce that would need more than the links carry in one direction, and just what both directions sum to."""
    sizes = [sentence.words[at] for at in sentence.quantities if sentence.words[at].unit == "B"]
    spans = [sentence.words[at] for at in sentence.quantities if sentence.words[at].unit == "s"]
    rates = [at for at in sentence.quantities if sentence.words[at].unit == "B/s"]
    if len(sizes) != 1 or len(spans) != 1 or rates or not sentence.has(Hint.COLLECTIVE):
        return
    for named in sentence.named:
        subject = text.settled(named.subject, sentence.before)
        for fact in text.known.of(subject):
            if fact.scope is Scope.DEVICE and fact.channel is Channel.SCALE_UP and subject.kind == "interconnect":
                needed = sizes[0].value / spans[0].value
                if 1.05 < needed / fact.value < 2.1:
                    least = say(sizes[0].value / fact.value, "s")
                    message = (
                        f"{sizes[0].written} in {spans[0].written} is {say(needed, 'B/s')}, and {fact.whose} carries"
                        f" {say(fact.value, 'B/s')} in one direction: an all-reduce takes more than {least}"
                    )
                    yield Told(
                        "duplex-counted-as-one-way", spans[0], message, "work the time out from the one-way figure"
                    )
                    return
