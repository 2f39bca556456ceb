"""Injection bandwidth called bisection: the rate of one accelerator, or the sum over all of them."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.prose.document import ProseText
from clusterspec.prose.expressions import equations
from clusterspec.prose.lexicon import Channel, FigureScope, Hint, PhraseMatch
from clusterspec.prose.sentence import Sentence
from clusterspec.prose.text_problem import TextProblem
from clusterspec.prose.tokenize import Token, words_of
from clusterspec.units import display
from clusterspec.units.common_errors import near


def bisections(sentence: Sentence, text: ProseText) -> Iterator[TextProblem]:
    """Bisection figures that are injection bandwidth, per accelerator or summed over all."""
    for phrase in sentence.phrases:
        if phrase.meaning is Hint.BISECTION:
            yield from _summed_injection(sentence, phrase)
            for at in sentence.quantities:
                token = sentence.words[at]
                if token.unit == "B/s" and not token.ranged and _is_bisection(sentence, phrase, at):
                    yield from _bisection(sentence, at, text)


def _summed_injection(sentence: Sentence, phrase: PhraseMatch) -> Iterator[TextProblem]:
    """`bisection bandwidth: 64 nodes × 3.2 Tb/s = 204.8 Tb/s`: the sum of all injection bandwidth, not halved."""
    for equation in equations(sentence.words, ()):
        token = sentence.words[equation.result]
        found = list(sentence.between(equation.start, equation.result))
        if (
            phrase.end <= equation.start <= phrase.end + 4
            and token.unit == "B/s"
            and equation.parts > 1
            and "/" not in found
        ):
            message = f"{token.written} is the total injection bandwidth, twice the bisection bandwidth"
            yield TextProblem("injection-called-bisection", token, message, f"write {display(token.value / 2, 'B/s')}")


def _is_bisection(sentence: Sentence, phrase: PhraseMatch, at: int) -> bool:
    """Whether a quantity is the bisection: `bisection bandwidth of 3.6 TB/s`, `3.6 TB/s of bisection bandwidth`."""
    if at >= phrase.end:
        names = {index for named in sentence.named for index in range(named.start, named.end)}
        between = [
            word.text.lower()
            for index, word in enumerate(sentence.words[phrase.end : at], phrase.end)
            if index not in names
        ]
        return len(between) <= 6 and all(word in _OF_BISECTION for word in between)
    between = list(sentence.between(at + 1, phrase.start))
    follows = list(sentence.between(phrase.end, phrase.end + 1))
    return len(between) <= 4 and all(word in _OF_BISECTION for word in between) and follows == ["bandwidth"]


_OF_BISECTION = words_of(
    "bandwidth width of is are : = at ( the a full total its per gpu direction bidirectional ~ about"
)


def _bisection(sentence: Sentence, at: int, text: ProseText) -> Iterator[TextProblem]:
    token = sentence.words[at]
    if sentence.scope(at) is FigureScope.DEVICE and _is_injection(token.value, text):
        message = (
            f"{token.written} is the injection bandwidth of one accelerator; a bisection is half of the total injection"
        )
        yield TextProblem(
            "injection-called-bisection", token, message, "call it injection bandwidth, or give the bisection"
        )
        return
    for one in (sentence.words[other] for other in sentence.quantities if other != at):
        for count in sentence.counts:
            if one.unit == "B/s" and count.value > 1 and near(token.value, one.value * count.value, 0.02):
                half = display(token.value / 2, "B/s")
                message = f"{token.written} is {count.value:.0f} times {one.written}: the total injection bandwidth, twice the bisection"
                yield TextProblem("injection-called-bisection", token, message, f"write {half}, in the same direction")
                return
    yield from _bisection_of_platform(sentence, token, text)


def _is_injection(value: float, text: ProseText) -> bool:
    """Whether a value is the scale-up bandwidth of an interconnect that the text names, one way or duplex."""
    return any(
        near(value, fact.value * way, 0.05)
        for ids in text.families.values()
        for id_ in ids
        for fact in text.known.entry("interconnect", id_)
        if fact.scope is FigureScope.DEVICE and fact.channel is Channel.SCALE_UP
        for way in (1, 2)
    )


def _bisection_of_platform(sentence: Sentence, token: Token, text: ProseText) -> Iterator[TextProblem]:
    """The sum over all accelerators of a node, called its bisection."""
    for named in sentence.named:
        facts = text.known.of(named.subject) if named.subject.kind == "platform" else ()
        scale_up = [fact for fact in facts if fact.channel is Channel.SCALE_UP]
        halves = [fact.value for fact in scale_up if fact.scope is FigureScope.SUM]
        for fact in (fact for fact in scale_up if fact.scope is FigureScope.NODE):
            if near(token.value, 2 * fact.value, 0.04) and not any(
                near(token.value, h * w, 0.05) for h in halves for w in (1, 2)
            ):
                message = f"{token.written} is {fact.what} of {fact.owner}: the total injection bandwidth, twice the bisection"
                yield TextProblem(
                    "injection-called-bisection", token, message, f"write {display(token.value / 2, 'B/s')} duplex"
                )
                return
