"""Checks of collective figures: metric, traffic, duration, and injection bandwidth called bisection."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clusterspec.prose.blocks import BlockKind
from clusterspec.prose.document import ProseText
from clusterspec.prose.expressions import equations
from clusterspec.prose.lexicon import Channel, FigureScope, Hint, PhraseMatch
from clusterspec.prose.sentence import Sentence
from clusterspec.prose.tokenize import TextProblem, Token, TokenKind, words_of
from clusterspec.units import display, plain
from clusterspec.units.display import agrees_within

METRIC_REACH = 6
"""Number of sentences before and after a figure in which the metric may be named."""
MAX_RATIO = 5
"""Maximum ratio of two rates that a sentence compares."""
ADJACENT = 3
"""Maximum distance, in tokens, between a collective and its rate."""
_RATES = words_of("bandwidth throughput rate speed achieves achieve reaches reach measured effective delivers get gets")
_SPECIFIED = words_of("theoretical advertised spec nominal line peak link interconnect fabric over at using with")
_SHARDED = re.compile(r"(?i)\b(?:zero[- ]?(?:stage[- ]?)?3|fsdp)\b")
_REPLICATED = words_of("dp ddp vanilla")
_TRAFFIC = words_of("communication bandwidth traffic volume")
SHARDED_TRAFFIC_RATIO = 1.5
"""Traffic of ZeRO-3 relative to an all-reduce: three passes against two (Rajbhandari et al., ZeRO, section 7.2)."""


def unnamed_metrics(text: ProseText) -> Iterator[TextProblem]:
    """Collective rates that are called neither algbw nor busbw; the two differ by up to a factor of two."""
    named = [at for at, sentence in enumerate(text.sentences) if sentence.has(Hint.METRIC)]
    covered = {at for where in named for at in range(where - METRIC_REACH, where + METRIC_REACH + 1)}
    for at, sentence in enumerate(text.sentences):
        if sentence.kind is BlockKind.HEADING or not sentence.has(Hint.COLLECTIVE) or not sentence.quantities:
            continue
        if at in covered or _compares_with_link_rate(sentence):
            continue
        for where in sentence.quantities:
            token = sentence.words[where]
            if token.unit == "B/s" and _is_rate(sentence, where) and not _is_link(sentence, where, text):
                message = (
                    f"{token.written} of a collective may be algbw or busbw, which differ by up to a factor of two"
                )
                yield TextProblem(
                    "measurement-without-metric",
                    token,
                    message,
                    "write `busbw` or `algbw` after it, as nccl-tests does",
                )
                break


def _compares_with_link_rate(sentence: Sentence) -> bool:
    """Whether a sentence compares the rate with the link rate, as is usual for bus bandwidth."""
    rates = [sentence.words[at].value for at in sentence.quantities if sentence.words[at].unit == "B/s"]
    share = any(token.text == "%" for token in sentence.words)
    return share or (len(rates) > 1 and min(rates) < max(rates) <= MAX_RATIO * min(rates))


def _is_rate(sentence: Sentence, at: int) -> bool:
    """Whether the words around a quantity make it the rate of a collective rather than of a link."""
    around = set(sentence.words_between(max(0, at - 10), at + 8))
    before = set(sentence.words_between(max(0, at - 2), at))
    adjacent = sentence.meanings.get(at, {}).get(Hint.COLLECTIVE, ADJACENT + 1) <= ADJACENT
    measured = adjacent or sentence.has(Hint.MEASURED) or bool(around & _RATES)
    return measured and not before & _SPECIFIED


def _is_link(sentence: Sentence, at: int, text: ProseText) -> bool:
    """Whether a rate is a link rate of the catalog that the text does not call measured."""
    return not sentence.has_meaning(at, Hint.MEASURED) and _is_catalog_rate(sentence, at, text)


def _is_catalog_rate(sentence: Sentence, at: int, text: ProseText) -> bool:
    """Whether a quantity is a catalog rate of hardware that the text names."""
    token = sentence.words[at]
    return not token.ranged and any(
        agrees_within(token.value, rate * way, 0.03) for rate in text.stated_rates(sentence.before) for way in (1, 2)
    )


def wrong_volumes(sentence: Sentence) -> Iterator[TextProblem]:
    """Wrong ratios of FSDP traffic to all-reduce traffic, which is 1.5."""
    words = sentence.words
    joined = " ".join(token.text for token in words)
    if not _SHARDED.search(joined.replace(" - ", "-")) or not _REPLICATED & set(sentence.words_between(0, len(words))):
        return
    for at, token in enumerate(words[:-1]):
        times = words[at + 1].text in ("x", "×", "times")
        behind = list(sentence.words_between(at + 2, at + 8))
        if token.kind is TokenKind.NUMBER and times and 1.8 <= token.value <= 6 and _is_traffic(behind):
            message = (
                f"ZeRO-3 sends {SHARDED_TRAFFIC_RATIO}× the traffic of an all-reduce, not {plain(token.value)}×:"
                " two all-gathers and a reduce-scatter instead of one all-gather and a reduce-scatter"
            )
            yield TextProblem("arithmetic-does-not-close", token, message, f"write {SHARDED_TRAFFIC_RATIO}×")


def _is_traffic(words: Sequence[str]) -> bool:
    return bool(_TRAFFIC & set(words)) and "memory" not in words


def wrong_times(sentence: Sentence, text: ProseText) -> Iterator[TextProblem]:
    """Collective times that need more than the one-way bandwidth of the links, but not more than both directions."""
    sizes = [sentence.words[at] for at in sentence.quantities if sentence.words[at].unit == "B"]
    spans = [sentence.words[at] for at in sentence.quantities if sentence.words[at].unit == "s"]
    rates = [at for at in sentence.quantities if sentence.words[at].unit == "B/s"]
    if len(sizes) != 1 or len(spans) != 1 or rates or not sentence.has(Hint.COLLECTIVE):
        return
    for named in sentence.named:
        subject = text.subject_with_generation(named.subject, sentence.before)
        for fact in text.known.figures_of(subject):
            if fact.scope is FigureScope.DEVICE and fact.channel is Channel.SCALE_UP and subject.kind == "interconnect":
                needed = sizes[0].value / spans[0].value
                if 1.05 < needed / fact.value < 2.1:
                    least = display(sizes[0].value / fact.value, "s")
                    message = (
                        f"{sizes[0].written} in {spans[0].written} is {display(needed, 'B/s')}, but {fact.owner} carries"
                        f" {display(fact.value, 'B/s')} in one direction: an all-reduce takes more than {least}"
                    )
                    yield TextProblem(
                        "duplex-counted-as-one-way", spans[0], message, "compute the time from the one-way figure"
                    )
                    return


# Injection bandwidth called bisection: the rate of one accelerator, or the sum over all of them


def wrong_bisections(sentence: Sentence, text: ProseText) -> Iterator[TextProblem]:
    """Bisection figures that are injection bandwidth, per accelerator or summed over all."""
    for phrase in sentence.phrases:
        if phrase.meaning is Hint.BISECTION:
            yield from _summed_injection_problems(sentence, phrase, text)
            for at in sentence.quantities:
                token = sentence.words[at]
                if token.unit == "B/s" and not token.ranged and _is_bisection(sentence, phrase, at):
                    yield from _bisection_problems(sentence, at, text)


def _summed_injection_problems(sentence: Sentence, phrase: PhraseMatch, text: ProseText) -> Iterator[TextProblem]:
    """`bisection bandwidth: 64 nodes × 3.2 Tb/s = 204.8 Tb/s`: the sum of all injection bandwidth, not halved. It is
    halved where a factor is half of what the text counts: `256 NICs. Bisection 128 × 50 GB/s = 6.4 TB/s`.
    """
    for equation in equations(sentence.words, ()):
        token = sentence.words[equation.result]
        found = list(sentence.words_between(equation.start, equation.result))
        if (
            phrase.end <= equation.start <= phrase.end + 4
            and token.unit == "B/s"
            and equation.parts > 1
            and "/" not in found
            and not _counts_twice(sentence.words[equation.start : equation.result], text)
        ):
            message = f"{token.written} is the total injection bandwidth, twice the bisection bandwidth"
            yield TextProblem("injection-called-bisection", token, message, f"write {display(token.value / 2, 'B/s')}")


def _counts_twice(factors: Sequence[Token], text: ProseText) -> bool:
    """Whether a factor is half of what the text counts anywhere."""
    counted = {count.value for each in text.sentences for count in each.counts}
    return any(token.kind is TokenKind.NUMBER and 2 * token.value in counted for token in factors)


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
    between = list(sentence.words_between(at + 1, phrase.start))
    follows = list(sentence.words_between(phrase.end, phrase.end + 1))
    return len(between) <= 4 and all(word in _OF_BISECTION for word in between) and follows == ["bandwidth"]


_OF_BISECTION = words_of(
    "bandwidth width of is are : = at ( the a full total its per gpu direction bidirectional ~ about"
)


def _bisection_problems(sentence: Sentence, at: int, text: ProseText) -> Iterator[TextProblem]:
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
            if one.unit == "B/s" and count.value > 1 and agrees_within(token.value, one.value * count.value, 0.02):
                half = display(token.value / 2, "B/s")
                message = f"{token.written} is {count.value:.0f} times {one.written}: the total injection bandwidth, twice the bisection"
                yield TextProblem("injection-called-bisection", token, message, f"write {half}, in the same direction")
                return
    yield from _platform_bisection_problems(sentence, token, text)


def _is_injection(value: float, text: ProseText) -> bool:
    """Whether a value is the scale-up bandwidth of an interconnect that the text names, one way or duplex."""
    return any(
        agrees_within(value, fact.value * way, 0.05)
        for ids in text.families.values()
        for id_ in ids
        for fact in text.known.figures_of_id("interconnect", id_)
        if fact.scope is FigureScope.DEVICE and fact.channel is Channel.SCALE_UP
        for way in (1, 2)
    )


def _platform_bisection_problems(sentence: Sentence, token: Token, text: ProseText) -> Iterator[TextProblem]:
    """The sum over all accelerators of a node, called its bisection."""
    for named in sentence.named:
        facts = text.known.figures_of(named.subject) if named.subject.kind == "platform" else ()
        scale_up = [fact for fact in facts if fact.channel is Channel.SCALE_UP]
        halves = [fact.value for fact in scale_up if fact.scope is FigureScope.SUM]
        for fact in (fact for fact in scale_up if fact.scope is FigureScope.NODE):
            if agrees_within(token.value, 2 * fact.value, 0.04) and not any(
                agrees_within(token.value, h * w, 0.05) for h in halves for w in (1, 2)
            ):
                message = f"{token.written} is {fact.what} of {fact.owner}: the total injection bandwidth, twice the bisection"
                yield TextProblem(
                    "injection-called-bisection", token, message, f"write {display(token.value / 2, 'B/s')} duplex"
                )
                return
