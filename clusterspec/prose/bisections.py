"""Bisections that are injections: what one accelerator sends, or the sum of all that goes in."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.prose.document import ProseText
from clusterspec.prose.expressions import equations
from clusterspec.prose.lexicon import Channel, FigureScope, Hint, Mark
from clusterspec.prose.scan import Token, words_of
from clusterspec.prose.sentence import Sentence
from clusterspec.prose.told import Told
from clusterspec.units import say
from clusterspec.units.slips import near


def bisections(sentence: Sentence, text: ProseText) -> Iterator[Told]:
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


_OF_BISECTION = words_of(
    "bandwidth width of is are : = at ( the a full total its per gpu direction bidirectional ~ about"
)


def _bisection(sentence: Sentence, at: int, text: ProseText) -> Iterator[Told]:
    token = sentence.words[at]
    if sentence.scope(at) is FigureScope.DEVICE and _injected(token.value, text):
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


def _injected(value: float, text: ProseText) -> bool:
    """Whether a value is the injection of an accelerator that the text names, in either direction."""
    return any(
        near(value, fact.value * way, 0.05)
        for ids in text.families.values()
        for id_ in ids
        for fact in text.known.entry("interconnect", id_)
        if fact.scope is FigureScope.DEVICE and fact.channel is Channel.SCALE_UP
        for way in (1, 2)
    )


def _bisection_of_platform(sentence: Sentence, token: Token, text: ProseText) -> Iterator[Told]:
    """All accelerators of a node together, called its bisection."""
    for named in sentence.named:
        facts = text.known.of(named.subject) if named.subject.kind == "platform" else ()
        scale_up = [fact for fact in facts if fact.channel is Channel.SCALE_UP]
        halves = [fact.value for fact in scale_up if fact.scope is FigureScope.SUM]
        for fact in (fact for fact in scale_up if fact.scope is FigureScope.NODE):
            if near(token.value, 2 * fact.value, 0.04) and not any(
                near(token.value, h * w, 0.05) for h in halves for w in (1, 2)
            ):
                message = f"{token.written} is {fact.what} of {fact.whose}: all that goes in, twice the bisection"
                yield Told("injection-called-bisection", token, message, f"write {say(token.value / 2, 'B/s')} duplex")
                return
